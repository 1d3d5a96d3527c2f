/* Make processes and threads without end. */
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "attack.h"

enum { ENOUGH = 200, STACK = 16 << 10 };

/* The filter has to let the zygote fork, so in its cells a limit stops it. */
ATTACK(make_many_processes, .programs_allow = true, .layers = GB_LAYER_RLIMIT) {
	pid_t children[ENOUGH];
	unsigned n = 0;
	int error = 0;
	while (n < ENOUGH && !error) {
		pid_t pid = fork();
		if (pid == 0)
			for (;;)
				pause();
		if (pid < 0)
			error = errno;
		else
			children[n++] = pid;
	}
	for (unsigned i = 0; i < n; i++) {
		kill(children[i], SIGKILL);
		waitpid(children[i], NULL, 0);
	}
	return n ? (long)n : fail_with(error);
}

/* In the child, a call that the filter does not know of would have returned twice. */
static long in_parent(long pid) {
	if (pid == 0)
		syscall(SYS_exit_group, 0);
	return pid;
}

ATTACK(fork_by_another_call, .programs_allow = true, .layers = GB_LAYER_RLIMIT | GB_LAYER_SECCOMP) {
	struct clone_args args = {.exit_signal = SIGCHLD};
	struct tries tries = {0};
	try(&tries, in_parent(syscall(SYS_fork)));
	try(&tries, in_parent(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)));
	try(&tries, in_parent(syscall(SYS_clone3, &args, sizeof args)));
	return tries_end(&tries);
}

static int rest(void *unused) {
	(void)unused;
	return (int)syscall(SYS_pause);
}

ATTACK(make_many_threads, .programs_allow = true, .layers = GB_LAYER_RLIMIT | GB_LAYER_SECCOMP) {
	const int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
	long n = 0;
	for (; n < ENOUGH; n++) {
		char *stack = malloc(STACK);
		if (!stack || clone(rest, stack + STACK, flags, NULL) < 0)
			break;
	}
	/* They end with the process. */
	return n ? n : -1;
}
