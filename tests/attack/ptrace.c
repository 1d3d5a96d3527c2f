/* Take over another process, or read its memory. */
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#include "attack.h"

ATTACK(trace_a_process, .layers = GB_LAYER_USER | GB_LAYER_LANDLOCK | GB_LAYER_SECCOMP, .set = stage_victim) {
	return syscall(SYS_ptrace, PTRACE_SEIZE, atoi(argument), NULL, NULL);
}

ATTACK(be_traced, .layers = GB_LAYER_SECCOMP) {
	return syscall(SYS_ptrace, PTRACE_TRACEME, 0, NULL, NULL);
}

/* The victim was forked from the test program, which has this at an address of its own; any address will do
 * to see whether the kernel would have looked: it then says that there is nothing. */
ATTACK(read_anothers_memory, .layers = GB_LAYER_USER | GB_LAYER_LANDLOCK | GB_LAYER_SECCOMP,
    .set = stage_victim, .kernel_says = {EFAULT}) {
	char buffer[8];
	struct iovec local = {buffer, sizeof buffer}, remote = {(void *)0x1000, sizeof buffer};
	return syscall(SYS_process_vm_readv, atoi(argument), &local, 1, &remote, 1, 0);
}

ATTACK(write_anothers_memory, .layers = GB_LAYER_USER | GB_LAYER_LANDLOCK | GB_LAYER_SECCOMP,
    .set = stage_victim, .kernel_says = {EFAULT}) {
	char buffer[8] = {0};
	struct iovec local = {buffer, sizeof buffer}, remote = {(void *)0x1000, sizeof buffer};
	return syscall(SYS_process_vm_writev, atoi(argument), &local, 1, &remote, 1, 0);
}

ATTACK(steal_a_descriptor, .layers = GB_LAYER_PID | GB_LAYER_SECCOMP, .set = stage_victim,
    .control = GB_LAYER_USER, .kernel_says = {EPERM}) {
	long pidfd = syscall(SYS_pidfd_open, atoi(argument), 0);
	return pidfd < 0 ? -1 : syscall(SYS_pidfd_getfd, pidfd, 0, 0);
}

ATTACK(compare_with_another, .layers = GB_LAYER_SECCOMP, .set = stage_victim, .kernel_says = {ENOSYS}) {
	return syscall(SYS_kcmp, atoi(argument), atoi(argument), 0, 0, 0);
}
