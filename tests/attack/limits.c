/* Raise the limits of this or of another process. */
#include <sched.h>
#include <sys/resource.h>

#include "attack.h"

enum { DESCRIPTORS = 2048 };

/* Lowering them is allowed, so the filter does not stop this: the limit is hard. */
ATTACK(raise_a_limit, .layers = GB_LAYER_RLIMIT) {
	return setrlimit(RLIMIT_NOFILE, &(struct rlimit){DESCRIPTORS, DESCRIPTORS});
}

ATTACK(raise_the_limit_of_processes, .files_allow = true, .layers = GB_LAYER_RLIMIT) {
	struct rlimit limit;
	return getrlimit(RLIMIT_NPROC, &limit) != 0 || limit.rlim_max == 0
		   ? setrlimit(RLIMIT_NPROC, &(struct rlimit){1, 1})
		   : setrlimit(RLIMIT_NPROC, &limit);
}

ATTACK(change_anothers_limit, .layers = GB_LAYER_SECCOMP) {
	struct rlimit limit;
	return syscall(SYS_prlimit64, syscall(SYS_getpid), RLIMIT_NOFILE, NULL, &limit);
}

/* The filter lets it seem to work. An ordinary user whose hard limit is 0 cannot change it anywhere. */
ATTACK(change_the_core_limit, .layers = GB_LAYER_SECCOMP, .kernel_says = {EPERM}) {
	struct rlimit before, after;
	if (syscall(SYS_prlimit64, 0, RLIMIT_CORE, NULL, &before) != 0)
		return -1;
	const struct rlimit other = {before.rlim_cur == 0, before.rlim_max ? before.rlim_max : 1};
	struct tries tries = {0};
	long returned = syscall(SYS_prlimit64, 0, RLIMIT_CORE, &other, NULL);
	(void)syscall(SYS_prlimit64, 0, RLIMIT_CORE, NULL, &after);
	try(&tries, returned == 0 && after.rlim_cur == before.rlim_cur ? fail_with(EPERM) : returned);
	returned = syscall(SYS_setrlimit, RLIMIT_CORE, &other);
	(void)syscall(SYS_prlimit64, 0, RLIMIT_CORE, NULL, &after);
	try(&tries, returned == 0 && after.rlim_cur == before.rlim_cur ? fail_with(EPERM) : returned);
	return tries_end(&tries);
}

ATTACK(move_to_another_cpu, .programs_allow = true, .layers = GB_LAYER_SECCOMP) {
	cpu_set_t all;
	for (size_t i = 0; i < sizeof all; i++)
		((unsigned char *)&all)[i] = 0xff;
	return syscall(SYS_sched_setaffinity, 0, sizeof all, &all);
}

ATTACK(change_the_priority, .programs_allow = true, .layers = GB_LAYER_SECCOMP) {
	struct tries tries = {0};
	try(&tries, syscall(SYS_setpriority, PRIO_PROCESS, 0, 19));
	try(&tries, syscall(SYS_sched_setscheduler, 0, SCHED_BATCH, &(struct sched_param){0}));
	try(&tries, syscall(SYS_ioprio_set, 1, 0, 0));
	return tries_end(&tries);
}
