#include "cli/paths.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/io.h"

bool read_path(const struct command *command, const char *what, const char *path, struct gb_buf *buf) {
	bool standard = strcmp(path, "-") == 0;
	struct gb_err err = {0};
	gb_auto_fd int fd = standard ? dup(STDIN_FILENO) : -1;
	bool ok = standard || gb_open_named(path, &fd, &err);
	ok = ok && gb_read_to_end(fd, standard ? "standard input" : path, buf, &err);
	return ok || complain(command, "%s%s", what, err.message);
}

/* The part of @path below the working folder; all of it if it is elsewhere. */
static const char *below_here(const char *path) {
	char here[PATH_MAX];
	size_t n = getcwd(here, sizeof here) ? strlen(here) : 0;
	if (n < 2 || strncmp(path, here, n) != 0 || path[n] != '/')
		return path;
	while (path[n] == '/')
		n++;
	return path[n] ? path + n : ".";
}

bool open_folder(const char *path, int *ret_fd, struct gb_err *err) {
	const char *part = below_here(path);
	const struct open_how how = {
	    .flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC,
	    .resolve = *part == '/' ? 0 : RESOLVE_NO_SYMLINKS,
	};
	int fd = (int)syscall(SYS_openat2, AT_FDCWD, part, &how, sizeof how);
	if (fd < 0 && errno == ELOOP)
		return gb_fail(err, GB_EINVAL, 0,
		    "'%s' is reached by a link, which is not followed here; name the folder that it leads to",
		    path);
	if (fd < 0)
		return gb_fail(err, GB_ENOENT, errno, "open the folder '%s'", path);
	*ret_fd = fd;
	return true;
}

bool find_folder(const char *path, char ret[PATH_MAX], struct gb_err *err) {
	gb_auto_fd int fd = -1;
	return open_folder(path, &fd, err) &&
	       (realpath(path, ret) || gb_fail(err, GB_ENOENT, errno, "open the folder '%s'", path));
}
