/*
 * Attacks on the whole machine. None may ever take effect, not even in a control without layers: the arguments are
 * such that the kernel refuses the call, and the errno tells whether the call reached it.
 */
#include <string.h>
#include <sys/time.h>
#include <sys/timex.h>

#include "attack.h"

ATTACK(reboot_the_machine, .layers = GB_LAYER_SECCOMP, .control = GB_LAYER_USER | GB_LAYER_PID,
    .kernel_says = {EINVAL}) {
	const long no_magic = 0;
	return syscall(SYS_reboot, no_magic, no_magic, 0, NULL);
}

ATTACK(load_a_kernel, .layers = GB_LAYER_SECCOMP, .control = GB_LAYER_USER,
    .kernel_says = {EPERM, EINVAL, ENOSYS}) {
	const unsigned long too_many_segments = 100000;
	return syscall(SYS_kexec_load, 0, too_many_segments, NULL, 0);
}

ATTACK(load_a_kernel_module, .layers = GB_LAYER_SECCOMP, .control = GB_LAYER_USER,
    .kernel_says = {EPERM, EBADF, ENOSYS}) {
	struct tries tries = {0};
	try(&tries, syscall(SYS_finit_module, -1, "", 0));
	try(&tries, syscall(SYS_init_module, NULL, 0, ""));
	try(&tries, syscall(SYS_delete_module, "", 0));
	return tries_end(&tries);
}

ATTACK(swap_to_a_file, .layers = GB_LAYER_SECCOMP, .control = GB_LAYER_USER, .kernel_says = {EPERM, ENOSYS}) {
	struct tries tries = {0};
	try(&tries, syscall(SYS_swapon, "", 0));
	try(&tries, syscall(SYS_swapoff, ""));
	return tries_end(&tries);
}

ATTACK(set_the_clock, .layers = GB_LAYER_SECCOMP, .control = GB_LAYER_USER, .kernel_says = {EINVAL, EPERM}) {
	const struct timeval no_time = {.tv_usec = 5000000};
	const struct timespec no_time_either = {.tv_nsec = -1};
	struct tries tries = {0};
	try(&tries, syscall(SYS_settimeofday, &no_time, NULL));
	try(&tries, syscall(SYS_clock_settime, 0, &no_time_either));
	return tries_end(&tries);
}

/* Without modes it only reads. */
ATTACK(tune_the_clock, .layers = GB_LAYER_SECCOMP) {
	struct timex timex;
	memset(&timex, 0, sizeof timex);
	struct tries tries = {0};
	try(&tries, syscall(SYS_adjtimex, &timex));
	try(&tries, syscall(SYS_clock_adjtime, 0, &timex));
	return tries_end(&tries);
}

ATTACK(
    set_the_host_name, .layers = GB_LAYER_CAPS | GB_LAYER_SECCOMP, .control = GB_LAYER_USER | GB_LAYER_UTS) {
	struct tries tries = {0};
	try(&tries, syscall(SYS_sethostname, "x", 1));
	try(&tries, syscall(SYS_setdomainname, "x", 1));
	return tries_end(&tries);
}

ATTACK(learn_the_host_name, .layers = GB_LAYER_UTS | GB_LAYER_SECCOMP) {
	char names[6][65];
	if (syscall(SYS_uname, names) != 0)
		return -1;
	return strcmp(names[1], "glovebox") == 0 ? fail_with(ENOENT) : 0;
}

ATTACK(read_the_kernels_log, .layers = GB_LAYER_SECCOMP, .control = GB_LAYER_USER,
    .kernel_says = {EPERM, ENOSYS}) {
	return syscall(SYS_syslog, 10 /* how much there is */, NULL, 0);
}

ATTACK(read_a_kernel_setting, .layers = GB_LAYER_SECCOMP, .kernel_says = {ENOSYS, EFAULT}) {
	return syscall(SYS__sysctl, NULL);
}

ATTACK(
    account_processes, .layers = GB_LAYER_SECCOMP, .control = GB_LAYER_USER, .kernel_says = {EPERM, ENOSYS}) {
	return syscall(SYS_acct, "");
}

ATTACK(control_quotas, .layers = GB_LAYER_SECCOMP, .control = GB_LAYER_USER,
    .kernel_says = {EPERM, ENOSYS, ENOENT, ESRCH, ENODEV, EINVAL}) {
	return syscall(SYS_quotactl, 0x800007u << 8 /* Q_GETQUOTA */, "", 0, NULL);
}

ATTACK(learn_about_the_machine, .files_allow = true, .layers = GB_LAYER_SECCOMP, .sanitizer_allows = true) {
	char info[256];
	struct tries tries = {0};
	try(&tries, syscall(SYS_sysinfo, info));
	try(&tries, syscall(SYS_getcpu, info, info + 8, NULL));
	try(&tries, syscall(SYS_getuid));
	try(&tries, syscall(SYS_getppid));
	try(&tries, syscall(SYS_times, info));
	try(&tries, syscall(SYS_getrusage, 0, info));
	try(&tries, syscall(SYS_sched_getaffinity, 0, sizeof info, info));
	return tries_end(&tries);
}
