/* Gain privileges, or the identity of another user. */
#include <linux/capability.h>
#include <sys/prctl.h>

#include "attack.h"

ATTACK(gain_capabilities, .layers = GB_LAYER_CAPS | GB_LAYER_SECCOMP, .control = GB_LAYER_USER) {
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct all[2] = {{~0u, ~0u, 0}, {0x1ff, 0x1ff, 0}};
	return syscall(SYS_capset, &head, all);
}

ATTACK(gain_ambient_capabilities, .layers = GB_LAYER_CAPS | GB_LAYER_SECCOMP, .control = GB_LAYER_USER,
    .sanitizer_allows = true) {
	return syscall(SYS_prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_SYS_ADMIN, 0, 0);
}

/* A host without root cannot do it, either. */
ATTACK(become_root, .layers = GB_LAYER_SECCOMP, .kernel_says = {EPERM}) {
	struct tries tries = {0};
	try(&tries, syscall(SYS_setuid, 0));
	try(&tries, syscall(SYS_setgid, 0));
	try(&tries, syscall(SYS_setresuid, 0, 0, 0));
	try(&tries, syscall(SYS_setresgid, 0, 0, 0));
	return tries_end(&tries);
}

ATTACK(join_groups, .layers = GB_LAYER_SECCOMP, .kernel_says = {EPERM}) {
	return syscall(SYS_setgroups, 1, &(gid_t){0});
}

ATTACK(change_the_keeping_of_capabilities, .layers = GB_LAYER_CAPS | GB_LAYER_SECCOMP,
    .control = GB_LAYER_USER, .sanitizer_allows = true) {
	return syscall(SYS_prctl, PR_SET_SECUREBITS, 0, 0, 0, 0);
}
