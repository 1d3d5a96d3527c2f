/* Enter or create namespaces, which makes much more kernel code reachable. */
#include <sched.h>
#include <signal.h>

#include "attack.h"

ATTACK(make_a_user_namespace, .layers = GB_LAYER_SECCOMP) {
	return syscall(SYS_unshare, CLONE_NEWUSER);
}

ATTACK(make_other_namespaces, .layers = GB_LAYER_CAPS | GB_LAYER_SECCOMP, .control = GB_LAYER_USER) {
	return syscall(SYS_unshare, CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS);
}

ATTACK(fork_into_a_namespace, .layers = GB_LAYER_RLIMIT | GB_LAYER_SECCOMP) {
	long pid = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);
	if (pid == 0)
		syscall(SYS_exit_group, 0);
	return pid;
}

/* A socket is no namespace: the kernel answers EINVAL if the call reaches it. */
ATTACK(enter_a_namespace, .layers = GB_LAYER_SECCOMP, .kernel_says = {EINVAL}) {
	return syscall(SYS_setns, 3, 0);
}
