#include "engine/workers.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/str.h"

/* The value of GLOVEBOX_NODE for "node" and so on, or NULL. */
static const char *chosen_by_environment(const char *name) {
	char variable[32] = "GLOVEBOX_";
	size_t n = strlen(variable);
	for (; *name && n + 1 < sizeof variable; name++)
		variable[n++] = (char)(*name >= 'a' && *name <= 'z' ? *name - 'a' + 'A' : *name);
	variable[n] = '\0';
	const char *chosen = getenv(variable);
	return chosen && *chosen ? chosen : NULL;
}

/* Packages may install a wrapper script instead of the program; its interpreter is not in the room. */
static bool is_script(const char *path) {
	char head[2] = "";
	/* Without O_NONBLOCK a FIFO that has replaced the file would block. */
	gb_auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	return fd >= 0 && read(fd, head, sizeof head) == sizeof head && head[0] == '#' && head[1] == '!';
}

static bool is_program(const char *path) {
	struct stat st;
	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* The first match in PATH, absolute folders only: the working directory is ignored. */
static void search_path(const char *name, char ret[PATH_MAX]) {
	const char *path = getenv("PATH");
	path = path ? path : "/usr/bin:/bin";
	*ret = '\0';
	for (struct gb_str dir, rest = {path, strlen(path)}; !*ret && rest.n;) {
		gb_str_cut(&rest, ':', &dir);
		snprintf(ret, PATH_MAX, "%.*s/%s", (int)dir.n, dir.p, name);
		if (dir.n == 0 || dir.p[0] != '/' || !is_program(ret))
			*ret = '\0';
	}
}

/* The real path: symbolic links may not resolve in a room. */
static bool resolve(const char *name, const char *found, char *ret, size_t n, struct gb_err *err) {
	char whole[PATH_MAX];
	if (!*found)
		return gb_fail(
		    err, GB_ENOENT, 0, "'%s' is not on PATH: install it, or say where it is", name);
	if (!realpath(found, whole) || access(whole, X_OK) != 0)
		return gb_fail(err, GB_ENOENT, errno, "program '%s'", found);
	if (!is_program(whole))
		return gb_fail(err, GB_ENOENT, 0, "program '%s' is not a regular file", found);
	if (is_script(whole))
		return gb_fail(err, GB_ENOENT, 0,
		    "'%s' is a script that starts the program: say where '%s' itself is", whole, name);
	if (strlen(whole) >= n)
		return gb_fail(err, GB_EINVAL, 0, "program '%s': its path is too long", found);
	memcpy(ret, whole, strlen(whole) + 1);
	return true;
}

bool gb_program_find(const char *chosen, const char *name, char *ret, size_t n, struct gb_err *err) {
	char found[PATH_MAX];
	if (!chosen)
		chosen = chosen_by_environment(name);
	if (chosen)
		snprintf(found, sizeof found, "%s", chosen);
	else
		search_path(name, found);
	return resolve(name, found, ret, n, err);
}
