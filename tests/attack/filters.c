/* Remove restrictions that are irrevocable. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>

#include "attack.h"

ATTACK(load_another_filter, .layers = GB_LAYER_SECCOMP, .sanitizer_allows = true) {
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog program = {.len = 1, .filter = &allow};
	struct tries tries = {0};
	long privileges = syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (privileges < 0)
		try(&tries, privileges);
	try(&tries, syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program));
	try(&tries, syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0));
	return tries_end(&tries);
}

/* The kernel offers no way back, either. */
ATTACK(allow_new_privileges, .layers = GB_LAYER_SECCOMP, .kernel_says = {EINVAL}, .sanitizer_allows = true) {
	return syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0);
}

ATTACK(
    become_visible_to_others, .programs_allow = true, .layers = GB_LAYER_SECCOMP, .sanitizer_allows = true) {
	return syscall(SYS_prctl, PR_SET_DUMPABLE, 1, 0, 0, 0);
}

ATTACK(rearrange_ones_own_memory_map, .layers = GB_LAYER_SECCOMP, .kernel_says = {EPERM, EINVAL},
    .sanitizer_allows = true) {
	return syscall(SYS_prctl, PR_SET_MM, PR_SET_MM_START_CODE, 1, 0, 0);
}

ATTACK(add_a_landlock_domain, .layers = GB_LAYER_SECCOMP) {
	return syscall(SYS_landlock_create_ruleset, NULL, 0, 1);
}

ATTACK(change_a_signal_handler, .files_allow = true, .layers = GB_LAYER_SECCOMP, .sanitizer_allows = true) {
	char action[64] = {0};
	return syscall(SYS_rt_sigaction, 10, action, NULL, 8);
}
