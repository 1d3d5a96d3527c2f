#include "sandbox/linux/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

#include "base/cleanup.h"
#include "sandbox/linux/cause.h"
#include "sandbox/linux/plan.h"
#include "sandbox/linux/protocol.h"

enum { STACK_BYTES = 64 << 10, FIRST_FREE_FD = GB_FD_CONTROL + 1 };

/* Arguments and results of the child. It shares the parent's memory while the parent's thread waits. */
struct child_args {
	const char *program;
	bool user_namespace;
	int control, host, null;
	int error;
	const char *step;
};

/* exec clears the capabilities of a user that has no id in its namespace yet, except ambient ones. */
static const char *keep_capabilities(void) {
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct caps[2];
	if (syscall(SYS_capget, &head, caps) != 0)
		return "capabilities: read them";
	caps[0].inheritable = caps[0].permitted;
	caps[1].inheritable = caps[1].permitted;
	if (syscall(SYS_capset, &head, caps) != 0)
		return "capabilities: make them inheritable";
	for (unsigned cap = 0; cap < 64; cap++)
		if (caps[cap / 32].permitted & (1u << cap % 32))
			if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, cap, 0, 0) != 0)
				return "capabilities: keep them over exec";
	return NULL;
}

static const char *arrange_fds(const struct child_args *args) {
#ifdef __SANITIZE_ADDRESS__
	const int last_null = 1; /* a test build's sanitizer reports on stderr */
#else
	const int last_null = 2;
#endif
	for (int fd = 0; fd <= last_null; fd++)
		if (dup2(args->null, fd) < 0)
			return "wall: put stdio on /dev/null";
	if (dup2(args->control, GB_FD_CONTROL) < 0 || dup2(args->host, GB_FD_HOST) < 0)
		return "wall: hand over descriptors";
	close(GB_FD_CELL); /* the host may have a descriptor with this number */
	bool closed = syscall(SYS_close_range, GB_FD_HOST + 1, GB_FD_CONTROL - 1, 0) == 0 &&
		      syscall(SYS_close_range, GB_FD_CONTROL + 1, ~0u, 0) == 0;
	return closed ? NULL : "wall: close descriptors";
}

/* Workers get nothing of the host's environment. At its start AddressSanitizer lowers the limit on core dumps, which
 * would race with the host's setting it and looking at it (set_core_limit). */
static const char *const worker_env[] = {
#ifdef __SANITIZE_ADDRESS__
    "ASAN_OPTIONS=disable_coredump=0",
#endif
    NULL,
};

static int child_main(void *data) {
	struct child_args *args = data;
	/* A session of its own: signals from a terminal or shell to the host's process group must not reach
	 * cells. */
	const char *failed = setsid() < 0 ? "wall: leave the session" : NULL;
	if (!failed && args->user_namespace)
		failed = keep_capabilities();
	if (!failed)
		failed = arrange_fds(args);
	if (!failed) {
		/* A fixed argv[0]: the guest can read it and must not see a path of the host. */
		char *const argv[] = {(char *)"glovebox", NULL};
		execve(args->program, argv, (char *const *)worker_env);
		failed = "start the worker program";
	}
	args->error = errno;
	args->step = failed;
	_exit(127);
}

static int clone_flags(unsigned layers) {
	int flags = CLONE_VM | CLONE_VFORK | CLONE_PIDFD;
	flags |= layers & GB_LAYER_USER ? CLONE_NEWUSER : 0;
	flags |= layers & GB_LAYER_PID ? CLONE_NEWPID : 0;
	flags |= layers & GB_LAYER_NET ? CLONE_NEWNET : 0;
	flags |= layers & GB_LAYER_IPC ? CLONE_NEWIPC : 0;
	flags |= layers & GB_LAYER_UTS ? CLONE_NEWUTS : 0;
	flags |= layers & GB_LAYER_MOUNT ? CLONE_NEWNS : 0;
	return flags;
}

static bool fail_clone(int error, struct gb_err *err) {
	gb_fail(err, GB_EWALL, error, "user namespace: make new namespaces");
	return gb_cause_append(GB_LAYER_USER, err);
}

/* The numbers that child_main duplicates descriptors to must not hold one of its sources. */
static int dup_above_reserved(int fd) {
	return fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FREE_FD);
}

/* The child never returns from its functions, so AddressSanitizer keeps their frames poisoned, and would
 * report errors in whatever is mapped there next. */
static void forget_frames(char *stack) {
#ifdef __SANITIZE_ADDRESS__
	__asan_unpoison_memory_region(stack, STACK_BYTES);
#else
	(void)stack;
#endif
}

bool gb_spawn(const struct gb_spawn *spawn, pid_t *ret_pid, int *ret_pidfd, struct gb_err *err) {
	gb_auto_fd int raw_null = open("/dev/null", O_RDWR | O_CLOEXEC);
	gb_auto_fd int null = dup_above_reserved(raw_null), control = dup_above_reserved(spawn->control),
		       host = dup_above_reserved(spawn->host);
	if (null < 0 || control < 0 || host < 0)
		return gb_fail(err, GB_ESYSTEM, errno,
		    "prepare descriptors for the worker (the limit on open files must be above %d)",
		    FIRST_FREE_FD + 2);
	char *stack =
	    mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	if (stack == MAP_FAILED)
		return gb_fail(err, GB_ENOMEM, errno, "stack for the worker's start");

	struct child_args args = {
	    .program = spawn->program,
	    .user_namespace = spawn->layers & GB_LAYER_USER,
	    .control = control,
	    .host = host,
	    .null = null,
	};
	/* A signal handler of the host must not run in the child, since both share memory. */
	sigset_t all, old;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	gb_auto_fd int pidfd = -1;
	pid_t pid = clone(child_main, stack + STACK_BYTES, clone_flags(spawn->layers), &args, &pidfd);
	int error = errno;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	forget_frames(stack);
	munmap(stack, STACK_BYTES);

	if (pid < 0)
		return fail_clone(error, err);
	if (args.step) {
		waitid(P_PIDFD, (id_t)pidfd, &(siginfo_t){0}, WEXITED | __WALL);
		return gb_fail(err, GB_EWALL, args.error, "%s '%s'", args.step, spawn->program);
	}
	*ret_pid = pid;
	*ret_pidfd = gb_take_fd(&pidfd);
	return true;
}
