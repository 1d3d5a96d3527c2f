/* Kill the zygote, the parent of all cells. */
#include <signal.h>

#include "attack.h"

/* The pid of the zygote: the filter denies getppid, but in a pid namespace it is 1. */
static pid_t zygote(void) {
	long pid = syscall(SYS_getppid);
	return pid > 1 ? (pid_t)pid : 1;
}

/* The kernel accepts and discards a signal from inside a namespace to its init. */
static long see_it_die(long sent) {
	if (sent < 0)
		return -1;
	pid_t before = zygote();
	const int max_polls = before > 1 ? 6000 : 20;
	for (int i = 0; i < max_polls && zygote() == before; i++)
		usleep(5000);
	return zygote() == before ? fail_with(EALREADY) : 0;
}

#define STOPPED_BY GB_LAYER_PID | GB_LAYER_SECCOMP

ATTACK(kill_the_zygote, .layers = STOPPED_BY, .control = GB_LAYER_USER) {
	return see_it_die(syscall(SYS_kill, zygote(), SIGKILL));
}

ATTACK(kill_the_zygotes_thread, .layers = STOPPED_BY, .control = GB_LAYER_USER) {
	return see_it_die(syscall(SYS_tgkill, zygote(), zygote(), SIGKILL));
}

ATTACK(kill_the_zygote_by_pidfd, .layers = STOPPED_BY, .control = GB_LAYER_USER) {
	long pidfd = syscall(SYS_pidfd_open, zygote(), 0);
	return pidfd < 0 ? -1 : see_it_die(syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0));
}

/* Never tried outside of a pid namespace, where it would reach every process. Inside there is no target: the
 * kernel skips the init of the namespace and the sender. */
ATTACK(kill_everybody, .layers = GB_LAYER_SECCOMP, .control = GB_LAYER_USER | GB_LAYER_PID,
    .kernel_says = {ESRCH}) {
	return syscall(SYS_kill, -1, SIGKILL);
}
