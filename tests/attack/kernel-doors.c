/* System calls with a large attack surface. */
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/io_uring.h>
#include <linux/perf_event.h>
#include <string.h>

#include "attack.h"

ATTACK(set_up_io_uring, .layers = GB_LAYER_SECCOMP, .kernel_says = {EPERM, ENOSYS, ENOMEM}) {
	struct io_uring_params params = {0};
	return syscall(SYS_io_uring_setup, 1, &params);
}

ATTACK(set_up_asynchronous_io, .layers = GB_LAYER_SECCOMP, .kernel_says = {ENOSYS, EAGAIN}) {
	unsigned long context = 0;
	return syscall(SYS_io_setup, 1, &context);
}

ATTACK(make_a_bpf_map, .layers = GB_LAYER_SECCOMP, .kernel_says = {EPERM, ENOSYS}) {
	union bpf_attr attr;
	memset(&attr, 0, sizeof attr);
	attr.map_type = BPF_MAP_TYPE_ARRAY;
	attr.key_size = attr.value_size = 4;
	attr.max_entries = 1;
	return syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof attr);
}

ATTACK(handle_page_faults, .layers = GB_LAYER_SECCOMP, .kernel_says = {EPERM, ENOSYS}) {
	return syscall(SYS_userfaultfd, O_CLOEXEC | 1 /* UFFD_USER_MODE_ONLY */);
}

ATTACK(keep_a_key, .layers = GB_LAYER_SECCOMP, .kernel_says = {ENOSYS, EDQUOT}) {
	return syscall(SYS_add_key, "user", "glovebox-attack", "x", 1, -2 /* of this process */);
}

ATTACK(ask_for_keys, .layers = GB_LAYER_SECCOMP, .kernel_says = {ENOSYS, ENOKEY, EDQUOT}) {
	struct tries tries = {0};
	try(&tries, syscall(SYS_keyctl, 0 /* KEYCTL_GET_KEYRING_ID */, -2, 1));
	try(&tries, syscall(SYS_request_key, "user", "glovebox-attack", NULL, 0));
	return tries_end(&tries);
}

ATTACK(count_events, .layers = GB_LAYER_SECCOMP, .kernel_says = {EPERM, EACCES, ENOSYS, ENOENT}) {
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
	    .size = sizeof attr,
	    .config = PERF_COUNT_SW_TASK_CLOCK,
	    .exclude_kernel = 1,
	    .exclude_hv = 1};
	return syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
}

ATTACK(change_the_personality, .layers = GB_LAYER_SECCOMP) {
	return syscall(SYS_personality, 0x0040000 /* ADDR_NO_RANDOMIZE */);
}

struct handle {
	unsigned bytes;
	int type;
	unsigned char data[128];
};

ATTACK(name_a_file_by_handle, .layers = GB_LAYER_MOUNT | GB_LAYER_SECCOMP,
    .kernel_says = {EOPNOTSUPP, EOVERFLOW}) {
	struct handle handle = {.bytes = sizeof handle.data};
	int mount;
	return syscall(SYS_name_to_handle_at, AT_FDCWD, "/etc/passwd", &handle, &mount, 0);
}

ATTACK(open_a_file_by_handle, .layers = GB_LAYER_SECCOMP, .kernel_says = {EPERM, EBADF, EINVAL, ESTALE}) {
	struct handle handle = {.bytes = 8, .type = 1};
	return syscall(SYS_open_by_handle_at, -1, &handle, O_RDONLY);
}

ATTACK(make_timers_and_events, .files_allow = true, .layers = GB_LAYER_SECCOMP) {
	struct tries tries = {0};
	int id;
	try(&tries, syscall(SYS_timer_create, 0, NULL, &id));
	try(&tries, syscall(SYS_timerfd_create, 1, 0));
	try(&tries, syscall(SYS_eventfd2, 0, 0));
	try(&tries, syscall(SYS_signalfd4, -1, &(unsigned long){0}, 8, 0));
	try(&tries, syscall(SYS_epoll_create1, 0));
	try(&tries, syscall(SYS_pipe, (int[2]){0, 0}));
	return tries_end(&tries);
}
