/* List the files and the processes of the host. */
#include <fcntl.h>
#include <stdio.h>

#include "attack.h"

static bool set_host_pid(struct stage *stage) {
	snprintf(stage->argument, sizeof stage->argument, "%d", (int)getpid());
	return true;
}

ATTACK(list_the_root, .programs_allow = true, .layers = GB_LAYER_MOUNT | GB_LAYER_LANDLOCK | GB_LAYER_SECCOMP,
    .sanitizer_allows = true) {
	char entries[4096];
	long fd = syscall(SYS_openat, AT_FDCWD, "/", O_RDONLY | O_DIRECTORY);
	if (fd < 0)
		return -1;
	long n = syscall(SYS_getdents64, fd, entries, sizeof entries);
	/* "." and ".." take 48 bytes. */
	return n >= 0 && n <= 48 ? fail_with(ENOENT) : n;
}

ATTACK(look_at_another_process, .layers = GB_LAYER_MOUNT | GB_LAYER_LANDLOCK | GB_LAYER_SECCOMP,
    .set = set_host_pid, .sanitizer_allows = true) {
	char path[64];
	snprintf(path, sizeof path, "/proc/%s/cmdline", argument);
	return syscall(SYS_openat, AT_FDCWD, path, O_RDONLY);
}

ATTACK(leave_by_the_working_directory, .programs_allow = true, .layers = GB_LAYER_MOUNT | GB_LAYER_SECCOMP) {
	return syscall(SYS_chdir, "/etc");
}
