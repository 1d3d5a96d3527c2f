/* Observe what other processes do with files that they share with the sandbox: those of /usr. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/uio.h>

#include "attack.h"

/* A watch is on the inode, so it also reports accesses through other mounts. */
ATTACK(watch_folders, .layers = GB_LAYER_MOUNT | GB_LAYER_SECCOMP) {
	long fd = syscall(SYS_inotify_init1, 0);
	return fd < 0 ? -1 : syscall(SYS_inotify_add_watch, fd, "/etc", 2);
}

ATTACK(watch_folders_by_the_first_inotify_call, .layers = GB_LAYER_SECCOMP) {
	return syscall(SYS_inotify_init);
}

ATTACK(watch_the_file_system, .layers = GB_LAYER_SECCOMP, .kernel_says = {EPERM, ENOSYS, EINVAL, EMFILE}) {
	return syscall(SYS_fanotify_init, 0x200 /* FAN_REPORT_FID */, O_RDONLY);
}

/* The signal is never sent: nothing is created in /. Old kernels can be built without this. */
ATTACK(watch_a_folder_by_signal, .layers = GB_LAYER_SECCOMP, .kernel_says = {EINVAL}) {
	long fd = syscall(SYS_open, "/", O_RDONLY | O_DIRECTORY);
	return fd < 0 ? -1 : syscall(SYS_fcntl, fd, F_NOTIFY, DN_CREATE);
}

/* A file that belongs to the sandbox: in the folder of the stage, or in the room. */
static long own_file(const char *dir) {
	char path[200];
	snprintf(path, sizeof path, "%s/leased", dir);
	long fd = syscall(SYS_open, path, O_RDONLY | O_CREAT, 0600);
	return fd < 0 ? syscall(SYS_open, "/box/leased", O_RDONLY | O_CREAT, 0600) : fd;
}

/* A lease delays other processes that open the file. */
ATTACK(take_a_lease, .layers = GB_LAYER_SECCOMP, .set = stage_dir) {
	long fd = own_file(argument);
	return fd < 0 ? -1 : syscall(SYS_fcntl, fd, F_SETLEASE, F_RDLCK);
}

ATTACK(ask_for_a_lease, .layers = GB_LAYER_SECCOMP) {
	return syscall(SYS_fcntl, 0, F_GETLEASE);
}

/* Read a file only from the page cache, which shows whether another process used it. */
ATTACK(look_into_the_page_cache, .layers = GB_LAYER_SECCOMP, .kernel_says = {EAGAIN, EOPNOTSUPP}) {
	enum { NOWAIT = 8 };
	char byte;
	struct iovec iov = {&byte, 1};
	long fd = syscall(SYS_open, "/usr/bin/env", O_RDONLY);
	return fd < 0 ? -1 : syscall(SYS_preadv2, fd, &iov, 1, 0, 0, NOWAIT);
}

/* Writing is slower to pages that were merged with equal pages of other processes. Kernels can be built without this.
 */
ATTACK(merge_pages_with_others, .layers = GB_LAYER_SECCOMP, .kernel_says = {EINVAL}) {
	enum { PAGE = 4096 };
	void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return page == MAP_FAILED ? -1 : syscall(SYS_madvise, page, PAGE, MADV_MERGEABLE);
}

/* --- keep the host's disks busy --- */

/* The filter answers with success and the kernel does nothing. Only the kernel knows that the descriptor is
 * invalid, so its answer shows that the call got there. */
static void try_to_reach(struct tries *tries, long returned, int kernels_answer) {
	if (returned < 0 && errno == kernels_answer)
		try(tries, 0);
	else if (returned < 0)
		try(tries, returned);
	else
		try(tries, fail_with(EPERM));
}

ATTACK(write_the_hosts_files_to_disk, .layers = GB_LAYER_SECCOMP) {
	struct tries tries = {0};
	try_to_reach(&tries, syscall(SYS_fsync, -1), EBADF);
	try_to_reach(&tries, syscall(SYS_fdatasync, -1), EBADF);
	try_to_reach(&tries, syscall(SYS_syncfs, -1), EBADF);
	try_to_reach(&tries, syscall(SYS_sync_file_range, -1, 0, 0, 0), EBADF);
	try_to_reach(&tries, syscall(SYS_msync, 0, 4096, MS_SYNC), ENOMEM);
	return tries_end(&tries);
}

ATTACK(push_files_out_of_the_page_cache, .layers = GB_LAYER_SECCOMP) {
	struct tries tries = {0};
	try_to_reach(&tries, syscall(SYS_fadvise64, -1, 0, 0, POSIX_FADV_DONTNEED), EBADF);
	try_to_reach(&tries, syscall(SYS_readahead, -1, 0, 0), EBADF);
	return tries_end(&tries);
}
