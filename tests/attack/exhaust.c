/* Fill the disk, or the table of descriptors. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "attack.h"

enum { DESCRIPTORS = 64, BLOCK = 4096 };

ATTACK(write_much_to_a_file,
    .layers = GB_LAYER_MOUNT | GB_LAYER_RLIMIT | GB_LAYER_LANDLOCK | GB_LAYER_SECCOMP, .set = stage_dir,
    .signal = SIGXFSZ, .sanitizer_allows = true) {
	char path[200], block[BLOCK];
	memset(block, 'x', sizeof block);
	snprintf(path, sizeof path, "%s/file", argument);
	long fd = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT, 0600);
	return fd < 0 ? -1 : write((int)fd, block, sizeof block);
}

/* Locks are kernel memory that nothing bounds. Where they have no effect the filter answers with success, so
 * that only the kernel says that there is no lock at this address. */
ATTACK(lock_parts_of_files, .programs_allow = true, .layers = GB_LAYER_SECCOMP) {
	long returned = syscall(SYS_fcntl, 0, F_SETLK, NULL);
	return returned == 0 ? fail_with(EPERM) : errno == EFAULT ? 0 : -1;
}

/* A lock on a file that several cells can read is one for all of them, and for the host. Programs need locks
 * between each other, so a room with programs has them. */
ATTACK(lock_a_file_of_the_system, .programs_allow = true, .layers = GB_LAYER_SECCOMP) {
	long fd = syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDONLY | O_CLOEXEC);
	/* Where it has no effect, a lock of no known kind succeeds as well. */
	long returned = syscall(SYS_flock, fd < 0 ? 0 : (int)fd, 0);
	return returned == 0 ? fail_with(EPERM) : errno == EINVAL ? 0 : -1;
}

ATTACK(open_many_descriptors, .files_allow = true, .layers = GB_LAYER_RLIMIT | GB_LAYER_SECCOMP) {
	for (int i = 0; i < DESCRIPTORS; i++)
		if (syscall(SYS_dup, 0) < 0)
			return -1;
	return DESCRIPTORS;
}
