/* Raise one's own limits, or somebody else's. */
#include <sched.h>
#include <sys/resource.h>

#include "attack.h"

enum { DESCRIPTORS = 2048 };

/* Lowering them is allowed, so the filter does not stop this: the limit is hard. */
ATTACK(raise_a_limit, .layers = GB_LAYER_RLIMIT) {
	return setrlimit(RLIMIT_NOFILE, &(struct rlimit){DESCRIPTORS, DESCRIPTORS});
}

ATTACK(raise_the_limit_of_processes, .furnished_allows = true, .layers = GB_LAYER_RLIMIT) {
	struct rlimit limit;
	return getrlimit(RLIMIT_NPROC, &limit) != 0 || limit.rlim_max == 0
		   ? setrlimit(RLIMIT_NPROC, &(struct rlimit){1, 1})
		   : setrlimit(RLIMIT_NPROC, &limit);
}

ATTACK(change_anothers_limit, .layers = GB_LAYER_SECCOMP) {
	struct rlimit limit;
	return syscall(SYS_prlimit64, syscall(SYS_getpid), RLIMIT_NOFILE, NULL, &limit);
}

ATTACK(move_to_another_cpu, .inhabited_allows = true, .layers = GB_LAYER_SECCOMP) {
	cpu_set_t all;
	for (size_t i = 0; i < sizeof all; i++)
		((unsigned char *)&all)[i] = 0xff;
	return syscall(SYS_sched_setaffinity, 0, sizeof all, &all);
}

ATTACK(change_the_priority, .inhabited_allows = true, .layers = GB_LAYER_SECCOMP) {
	struct tries tries = {0};
	try(&tries, syscall(SYS_setpriority, PRIO_PROCESS, 0, 19));
	try(&tries, syscall(SYS_sched_setscheduler, 0, SCHED_BATCH, &(struct sched_param){0}));
	try(&tries, syscall(SYS_ioprio_set, 1, 0, 0));
	return tries_end(&tries);
}
