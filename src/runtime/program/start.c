/* Starts and stops the program. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "egress/authorities.h"
#include "egress/protocol.h"
#include "runtime/program/keeper.h"
#include "runtime/program/memory.h"
#include "runtime/program/post.h"
#include "sandbox/worker.h"

/* Descriptors are first moved to ASIDE and above. */
enum { ASIDE = 64, PLACES_MAX = 4 + GB_KEEPER_EXTRA_MAX, ENVIRONMENT_MAX = 24 + GB_EGRESS_SECRETS_MAX };

static void must(bool ok) {
	if (!ok)
		_exit(1);
}

static void check_memory(void *keeper) {
	gb_keeper_check_memory(keeper);
}

void gb_keeper_init(struct gb_keeper *keeper) {
	/* Frames from the host are bounded by the host; frames from the program are bounded by the limits of
	 * each run, and before the first run by this. */
	enum { HOST_FRAME_MAX = 1 << 30, PROGRAM_FRAME_MAX = 64 << 10 };
	if (!gb_memory_init())
		_exit(GB_CELL_EXIT_NOT_COUNTED);
	*keeper = (struct gb_keeper){.host = -1,
	    .in = -1,
	    .out = {-1, -1},
	    .channel = -1,
	    .to_channel = -1,
	    .backlog_max = PROGRAM_FRAME_MAX,
	    .memory_limit = GB_KEEPER_DEFAULT_MEMORY};
	gb_frame_reader_init(&keeper->channel_reader, PROGRAM_FRAME_MAX);
	gb_frame_reader_init(&keeper->host_reader, HOST_FRAME_MAX);
	gb_buf_init(&keeper->to_program, HOST_FRAME_MAX);
	gb_buf_init(&keeper->input, HOST_FRAME_MAX);
	gb_buf_init(&keeper->result, PROGRAM_FRAME_MAX);
	gb_post_while_waiting(check_memory, keeper);
	sigset_t handled;
	sigemptyset(&handled);
	sigaddset(&handled, SIGCHLD);
	sigaddset(&handled, SIGINT);
	sigaddset(&handled, GB_SIGNAL_AGAIN);
	sigprocmask(SIG_BLOCK, &handled, NULL);
	keeper->signals = signalfd(-1, &handled, SFD_CLOEXEC | SFD_NONBLOCK);
	must(keeper->signals >= 0);
	/* A write to a program that has closed its end must not kill the keeper. */
	signal(SIGPIPE, SIG_IGN);
}

/* --- in the new process --- */

/* Move each descriptor to its target number and close all others. */
static void place_descriptors(const struct gb_extra_fd *places, size_t n) {
	int aside[PLACES_MAX];
	for (size_t i = 0; i < n; i++)
		must((aside[i] = fcntl(places[i].from, F_DUPFD_CLOEXEC, ASIDE)) >= 0);
	must(syscall(SYS_close_range, 0, ASIDE - 1, 0) == 0);
	for (size_t i = 0; i < n; i++)
		must(dup2(aside[i], places[i].to) == places[i].to);
	/* The copies above ASIDE are close-on-exec. */
}

static void reset_signals(void) {
	sigset_t none;
	sigemptyset(&none);
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Variables of the program, and in a room with a network, those of certificates. */
static void make_environment(const char *const *given, const char *to[ENVIRONMENT_MAX]) {
#define VARIABLE(name) name "=" GB_AUTHORITIES,
	static const char *const authorities[] = {GB_AUTHORITY_VARIABLES(VARIABLE)};
#undef VARIABLE
	size_t n = 0;
	for (; given[n]; n++) {
		must(n < ENVIRONMENT_MAX - GB_COUNT(authorities) - 1);
		to[n] = given[n];
	}
	for (size_t i = 0; gb_worker_has_network() && i < GB_COUNT(authorities); i++)
		to[n++] = authorities[i];
	to[n] = NULL;
}

__attribute__((noreturn)) static void become(
    const struct gb_program *program, const struct gb_extra_fd *places, size_t n) {
	must(setsid() >= 0);
	place_descriptors(places, n);
	if (program->terminal)
		must(ioctl(0, TIOCSCTTY, 0) == 0);
	reset_signals();
	const char *environment[ENVIRONMENT_MAX];
	make_environment(program->envp, environment);
	execve(program->path, (char *const *)program->argv, (char *const *)environment);
	_exit(errno == ENOENT ? 127 : 126);
}

/* --- in the keeper --- */

static void make_nonblocking(int fd) {
	int flags = fcntl(fd, F_GETFL);
	must(flags >= 0 && fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0);
}

/* Create pipes, or use the terminal for all three. The caller closes the pipe ends @theirs after fork. */
static void make_stdio(struct gb_keeper *keeper, const struct gb_program *program, int theirs[3]) {
	int ends[2];
	for (int i = 0; i < 3; i++) {
		if (program->terminal) {
			theirs[i] = program->terminal;
			continue;
		}
		must(pipe2(ends, O_CLOEXEC) == 0);
		theirs[i] = ends[i != 0];
		*(i == 0 ? &keeper->in : &keeper->out[i - 1]) = ends[i == 0];
		make_nonblocking(ends[i == 0]);
	}
}

/* Release the state of the previous program. */
static void forget_program(struct gb_keeper *keeper) {
	int *const fds[] = {
	    &keeper->in, &keeper->out[0], &keeper->out[1], &keeper->channel, &keeper->to_channel};
	for (size_t i = 0; i < GB_COUNT(fds); i++)
		gb_close_fd(fds[i]);
	struct gb_buf *const bufs[] = {
	    &keeper->to_program, &keeper->input, &keeper->result, &keeper->channel_reader.buf};
	for (size_t i = 0; i < GB_COUNT(bufs); i++)
		gb_buf_clear(bufs[i]);
	keeper->channel_reader.consumed = 0;
}

void gb_keeper_start(struct gb_keeper *keeper, const struct gb_program *program) {
	int theirs[3], ends[2] = {-1, -1};
	struct gb_extra_fd places[PLACES_MAX];
	size_t n = 0;
	forget_program(keeper);
	make_stdio(keeper, program, theirs);
	for (; n < 3; n++)
		places[n] = (struct gb_extra_fd){theirs[n], (int)n};
	if (program->channel) {
		must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
		keeper->channel = ends[0];
		make_nonblocking(ends[0]);
		must((keeper->to_channel = fcntl(ends[0], F_DUPFD_CLOEXEC, 0)) >= 0);
		places[n++] = (struct gb_extra_fd){ends[1], GB_CHANNEL_FD};
	}
	for (size_t i = 0; i < GB_KEEPER_EXTRA_MAX && program->extra[i].to; i++)
		places[n++] = program->extra[i];
	keeper->wait_status = 0;
	keeper->pid = fork();
	must(keeper->pid >= 0);
	if (keeper->pid == 0)
		become(program, places, n);
	if (!program->terminal)
		for (int i = 0; i < 3; i++)
			close(theirs[i]);
	gb_close_fd(&ends[1]);
}

void gb_keeper_stop(struct gb_keeper *keeper) {
	int status;
	/* As pid 1, signals all other processes of the namespace. */
	kill(-1, SIGKILL);
	for (pid_t pid; (pid = waitpid(-1, &status, __WALL)) > 0 || (pid < 0 && errno == EINTR);)
		if (pid == keeper->pid) {
			keeper->pid = 0;
			keeper->wait_status = status;
		}
}
