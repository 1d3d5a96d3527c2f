/* Send a signal to a process of the host. */
#include <signal.h>
#include <stdlib.h>

#include "attack.h"

#define STOPPED_BY GB_LAYER_PID | GB_LAYER_LANDLOCK | GB_LAYER_SECCOMP

ATTACK(kill_a_process_of_the_host, .layers = STOPPED_BY, .landlock_abi = 6, .set = stage_victim) {
	return syscall(SYS_kill, atoi(argument), SIGTERM);
}

ATTACK(kill_a_thread_of_the_host, .layers = STOPPED_BY, .landlock_abi = 6, .set = stage_victim) {
	struct tries tries = {0};
	try(&tries, syscall(SYS_tkill, atoi(argument), SIGTERM));
	try(&tries, syscall(SYS_tgkill, atoi(argument), atoi(argument), SIGTERM));
	return tries_end(&tries);
}

ATTACK(queue_a_signal_to_the_host, .layers = STOPPED_BY, .landlock_abi = 6, .set = stage_victim) {
	siginfo_t info = {.si_signo = SIGTERM, .si_code = SI_QUEUE};
	return syscall(SYS_rt_sigqueueinfo, atoi(argument), SIGTERM, &info);
}

ATTACK(hold_a_process_of_the_host, .layers = GB_LAYER_PID | GB_LAYER_RLIMIT, .set = stage_victim) {
	return syscall(SYS_pidfd_open, atoi(argument), 0);
}
