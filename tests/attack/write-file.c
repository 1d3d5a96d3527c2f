/* Create a file in the host's file system, or a link for the host to follow. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "attack.h"

#define STOPPED_BY GB_LAYER_MOUNT | GB_LAYER_LANDLOCK | GB_LAYER_SECCOMP

static const char *in_dir(const char *dir, const char *name) {
	static char path[200];
	snprintf(path, sizeof path, "%s/%s", dir, name);
	return path;
}

ATTACK(write_a_file, .layers = STOPPED_BY, .set = stage_dir, .sanitizer_allows = true) {
	struct tries tries = {0};
	try(&tries, syscall(SYS_open, in_dir(argument, "a"), O_WRONLY | O_CREAT, 0600));
	try(&tries, syscall(SYS_openat, AT_FDCWD, in_dir(argument, "b"), O_WRONLY | O_CREAT, 0600));
	try(&tries, syscall(SYS_creat, in_dir(argument, "c"), 0600));
	return tries_end(&tries);
}

ATTACK(write_into_the_root, .layers = STOPPED_BY, .set = stage_dir, .sanitizer_allows = true) {
	/* Behind a mount namespace the folder is not there, but a root is. */
	long fd = syscall(SYS_openat, AT_FDCWD, in_dir(argument, "a"), O_WRONLY | O_CREAT, 0600);
	return fd < 0 && errno == ENOENT ? syscall(SYS_openat, AT_FDCWD, "/a", O_WRONLY | O_CREAT, 0600) : fd;
}

ATTACK(make_a_symlink, .layers = STOPPED_BY, .set = stage_dir) {
	struct tries tries = {0};
	try(&tries, syscall(SYS_symlink, "/etc/shadow", in_dir(argument, "a")));
	try(&tries, syscall(SYS_symlinkat, "/etc/shadow", AT_FDCWD, in_dir(argument, "b")));
	return tries_end(&tries);
}

static bool set_dir_with_file(struct stage *stage) {
	if (!stage_dir(stage))
		return false;
	int fd = open(in_dir(stage->dir, "file"), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0)
		return false;
	/* The kernel refuses links to files that the user may not write. */
	bool ok = fchmod(fd, 0666) == 0;
	close(fd);
	return ok;
}

static long link_in(const char *dir, const char *name) {
	char from[200];
	snprintf(from, sizeof from, "%s/file", dir);
	return syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, in_dir(dir, name), 0);
}

ATTACK(make_a_hard_link, .layers = STOPPED_BY, .set = set_dir_with_file) {
	return link_in(argument, "a");
}

ATTACK(make_a_folder, .layers = STOPPED_BY, .set = stage_dir) {
	struct tries tries = {0};
	try(&tries, syscall(SYS_mkdir, in_dir(argument, "a"), 0700));
	try(&tries, syscall(SYS_mkdirat, AT_FDCWD, in_dir(argument, "b"), 0700));
	return tries_end(&tries);
}

ATTACK(make_a_fifo, .layers = STOPPED_BY, .set = stage_dir) {
	struct tries tries = {0};
	try(&tries, syscall(SYS_mknod, in_dir(argument, "a"), S_IFIFO | 0600, 0));
	try(&tries, syscall(SYS_mknodat, AT_FDCWD, in_dir(argument, "b"), S_IFIFO | 0600, 0));
	return tries_end(&tries);
}

ATTACK(rename_a_file, .layers = STOPPED_BY, .set = set_dir_with_file) {
	char from[200];
	snprintf(from, sizeof from, "%s/file", argument);
	return syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, in_dir(argument, "a"), 0);
}

ATTACK(remove_a_file, .layers = STOPPED_BY, .set = set_dir_with_file) {
	struct tries tries = {0};
	try(&tries, syscall(SYS_unlink, in_dir(argument, "file")));
	try(&tries, syscall(SYS_unlinkat, AT_FDCWD, in_dir(argument, "file"), 0));
	return tries_end(&tries);
}

ATTACK(truncate_a_file, .layers = STOPPED_BY, .landlock_abi = 3, .set = set_dir_with_file) {
	return syscall(SYS_truncate, in_dir(argument, "file"), 0);
}

ATTACK(open_a_file_without_a_name, .layers = STOPPED_BY, .set = stage_dir, .sanitizer_allows = true) {
	return syscall(SYS_openat, AT_FDCWD, argument, O_WRONLY | O_TMPFILE, 0600);
}
