#include "cli/paths.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/io.h"

/* @path relative to the working directory if it is below it, however @path spells that; else @path. */
static const char *below_here(const char *path) {
	char part[PATH_MAX];
	struct stat here, st;
	if (*path != '/' || strlen(path) >= sizeof part || stat(".", &here) != 0)
		return path;
	for (const char *end = path; *end;) {
		end += strspn(end, "/");
		end += strcspn(end, "/");
		memcpy(part, path, (size_t)(end - path));
		part[end - path] = '\0';
		if (stat(part, &st) != 0)
			return path;
		if (st.st_dev != here.st_dev || st.st_ino != here.st_ino)
			continue;
		end += strspn(end, "/");
		return *end ? end : ".";
	}
	return path;
}

/* Whether the names of @path themselves lead above the folder that it begins in. */
static bool goes_up(const char *path) {
	int depth = 0;
	while (*path && depth >= 0) {
		const size_t n = strcspn(path, "/");
		if (n == 2 && memcmp(path, "..", 2) == 0)
			depth--;
		else if (n && !(n == 1 && *path == '.'))
			depth++;
		path += n;
		path += strspn(path, "/");
	}
	return depth < 0;
}

/* Every path is below the root folder, also those of /dev/fd. */
static bool here_is_root(void) {
	struct stat here, root;
	return stat(".", &here) == 0 && stat("/", &root) == 0 && here.st_dev == root.st_dev &&
	       here.st_ino == root.st_ino;
}

/* False if @path, which was opened as @fd, is below the working directory by its names and a link leads out of it: the
 * creator of the link has chosen the file, not the user. */
static bool stays_here(const char *path, int fd) {
	const char *part = below_here(path);
	const struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_BENEATH};
	struct stat named, opened;
	if (*part == '/' || goes_up(part) || here_is_root())
		return true;
	gb_auto_fd int below = (int)syscall(SYS_openat2, AT_FDCWD, part, &how, sizeof how);
	return below >= 0 && fstat(below, &named) == 0 && fstat(fd, &opened) == 0 &&
	       named.st_dev == opened.st_dev && named.st_ino == opened.st_ino;
}

static bool open_file(const char *path, int *ret_fd, struct gb_err *err) {
	gb_auto_fd int fd = -1;
	if (!gb_open_named(path, &fd, err))
		return false;
	if (!stays_here(path, fd))
		return gb_fail(err, GB_EINVAL, 0,
		    "'%s' leads out of the working directory by a symbolic link, which is not followed; "
		    "give the path of the file itself",
		    path);
	*ret_fd = gb_take_fd(&fd);
	return true;
}

bool read_path(const struct command *command, const char *what, const char *path, struct gb_buf *buf) {
	bool standard = strcmp(path, "-") == 0;
	struct gb_err err = {0};
	gb_auto_fd int fd = standard ? dup(STDIN_FILENO) : -1;
	bool ok = standard || open_file(path, &fd, &err);
	ok = ok && gb_read_to_end(fd, standard ? "standard input" : path, buf, &err);
	return ok || report_error(command, "%s%s", what, err.message);
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
		    "'%s' is a symbolic link or below one, which is not followed here; give the folder "
		    "itself",
		    path);
	if (fd < 0)
		return gb_fail(err, GB_ENOENT, errno, "open the folder '%s'", path);
	*ret_fd = fd;
	return true;
}

/* Create the last folder of @path in the one above it, which is opened in the same way, so no link is followed. */
static bool make_last(const char *path, struct gb_err *err) {
	char above[PATH_MAX];
	size_t n = strlen(path);
	while (n > 1 && path[n - 1] == '/')
		n--;
	size_t end = n;
	while (n > 0 && path[n - 1] != '/')
		n--;
	if (end >= sizeof above)
		return gb_fail(err, GB_EINVAL, ENAMETOOLONG, "make the folder '%s'", path);
	memcpy(above, path, end);
	above[end] = '\0';
	char last[NAME_MAX + 1];
	snprintf(last, sizeof last, "%s", above + n);
	above[n] = '\0';
	gb_auto_fd int fd = -1;
	if (!make_folder(n ? above : ".", &fd, err))
		return false;
	return mkdirat(fd, last, 0777) == 0 || errno == EEXIST ||
	       gb_fail(err, GB_ESYSTEM, errno, "make the folder '%s'", path);
}

bool make_folder(const char *path, int *ret_fd, struct gb_err *err) {
	struct stat st;
	bool is_missing = *path && lstat(path, &st) != 0 && errno == ENOENT;
	return (!is_missing || make_last(path, err)) && open_folder(path, ret_fd, err);
}

bool find_workdir(const struct command *command, const char *text, char ret[WORKDIR_TEXT]) {
	static const char suffix[] = ":rw";
	const size_t n = strlen(text), n_suffix = sizeof suffix - 1;
	const bool writable = n >= n_suffix && strcmp(text + n - n_suffix, suffix) == 0;
	char path[PATH_MAX], self[32];
	gb_auto_fd int fd = -1;
	struct gb_err err = {0};
	snprintf(path, sizeof path, "%.*s", (int)(n - (writable ? n_suffix : 0)), text);
	if (n >= sizeof path || !*path)
		return report_error(command, "--workdir: '%s' is not DIR or DIR:rw", text);
	if (!open_folder(path, &fd, &err))
		return report_error(command, "--workdir: %s", err.message);
	snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
	const ssize_t length = readlink(self, ret, WORKDIR_TEXT - sizeof suffix);
	if (length <= 0)
		return report_error(command, "--workdir: '%s': %s", path, strerror(errno));
	memcpy(ret + length, suffix, sizeof suffix);
	if (!writable)
		ret[length] = '\0';
	return true;
}
