#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/list.h"
#include "base/str.h"
#include "cli/cli.h"
#include "server/server.h"

static const struct flag flags[] = {
    {"socket", 0, "PATH", "listen at a unix socket instead, for many clients at once"},
    {"timeout", 0, "TIME", "of a run, if it does not say and at most: 5m"},
    {"max-runs", 0, "N", "at once; more wait: 1024"},
    {0},
};
enum { FLAG_SOCKET, FLAG_TIMEOUT, FLAG_MAX_RUNS };

enum { MAX_RUNS = 65536 };

struct service {
	const char *socket;
	uint64_t timeout_ms;
	unsigned max_runs;

	struct gb_loop loop;
	struct gb_engine *engine;
	struct gb_server *server;
	struct gb_listener *listener;
	struct gb_source signals;
	int signal_fd;
	bool stopped;
};

static bool take_max_runs(struct service *service, const char *value) {
	char *end;
	errno = 0;
	unsigned long n = strtoul(value, &end, 10);
	if (*value < '0' || *value > '9' || *end || errno || n == 0 || n > MAX_RUNS)
		return complain(
		    &command_stdio, "--max-runs: '%s' is not a number from 1 to %d", value, MAX_RUNS);
	service->max_runs = (unsigned)n;
	return true;
}

static bool on_flag(const struct flag *flag, const char *value, void *data) {
	struct service *service = data;
	if (!flag)
		return complain(&command_stdio, "takes no operand, but got '%s'", value);
	switch (flag - flags) {
	case FLAG_SOCKET:
		service->socket = value;
		return true;
	case FLAG_TIMEOUT:
		return (gb_str_parse_duration_ms(value, &service->timeout_ms) && service->timeout_ms) ||
		       complain(&command_stdio, "--timeout: '%s' is not a time like 250ms, 5s or 2m", value);
	case FLAG_MAX_RUNS:
		return take_max_runs(service, value);
	}
	return false;
}

/* So that nothing of ours comes to stand in the place of a stream that was closed. */
static void fill_standard_streams(void) {
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd)
			return;
}

/* Each run takes a few descriptors. */
static void raise_file_limit(void) {
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

/* --- signals --- */

static void on_signal(struct gb_source *source, uint32_t events) {
	(void)events;
	struct service *service = gb_container(struct service, signals, source);
	struct signalfd_siginfo info;
	service->stopped = read(service->signal_fd, &info, sizeof info) == sizeof info;
}

static bool watch_signals(struct service *service, struct gb_err *err) {
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	signal(SIGPIPE, SIG_IGN);
	if (sigprocmask(SIG_BLOCK, &set, NULL) != 0 ||
	    (service->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK)) < 0)
		return gb_fail(err, GB_ESYSTEM, errno, "signalfd");
	return gb_loop_add(&service->loop, &service->signals, service->signal_fd, EPOLLIN, on_signal, err);
}

/* --- serving --- */

static bool add_standard_streams(struct service *service, struct gb_err *err) {
	if (isatty(STDIN_FILENO))
		fprintf(stderr,
		    "glovebox stdio speaks JSON lines with a program, not with a person. But try this:\n"
		    "{\"type\":\"run\",\"run\":1,\"source\":\"export default 6*7\"}\n"
		    "Control-D ends it; 'glovebox stdio --help' tells more.\n");
	return gb_server_add(service->server, STDIN_FILENO, STDOUT_FILENO, err);
}

static bool open_service(struct service *service, struct gb_err *err) {
	const struct gb_engine_options engine = {.max_runs = service->max_runs};
	if (!gb_loop_init(&service->loop, err) || !gb_engine_create(&engine, &service->engine, err) ||
	    !watch_signals(service, err))
		return false;
	const struct gb_server_options server = {
	    .loop = &service->loop,
	    .engine = service->engine,
	    .timeout_ms = service->timeout_ms,
	    .max_runs = service->max_runs,
	};
	if (!gb_server_create(&server, &service->server, err))
		return false;
	return service->socket ? gb_listener_create(service->server, service->socket, &service->listener, err)
			       : add_standard_streams(service, err);
}

static bool serve(struct service *service, struct gb_err *err) {
	while (!service->stopped && (service->socket || gb_server_clients(service->server)))
		if (!gb_server_turn(service->server, err))
			return false;
	return true;
}

static void close_service(struct service *service) {
	gb_listener_destroy(service->listener);
	gb_server_destroy(service->server);
	gb_engine_destroy(service->engine);
	gb_loop_remove(&service->loop, &service->signals);
	gb_close_fd(&service->signal_fd);
	gb_loop_finish(&service->loop);
}

static int run(const struct command *self, int argc, char **argv) {
	struct service service = {.signal_fd = -1, .signals.fd = -1, .loop.epoll = -1};
	enum parsed parsed = parse_flags(self, argc, argv, on_flag, &service);
	if (parsed != PARSED)
		return parsed == PARSED_HELP ? EXIT_OK : EXIT_BAD_USE;
	fill_standard_streams();
	raise_file_limit();
	struct gb_err err = {0};
	bool opened = open_service(&service, &err), ok = opened && serve(&service, &err);
	if (!ok)
		complain(self, "%s", err.message);
	close_service(&service);
	return ok ? EXIT_OK : opened ? EXIT_CODE_FAILED : EXIT_REFUSED;
}

const struct command command_stdio = {
    .name = "stdio",
    .synopsis = "[--socket PATH] [OPTIONS]",
    .summary = "serve runs to a program in any language, by JSON lines",
    .details =
	"What an SDK starts. Each line in is a message, each line out another; any number of runs may be\n"
	"under way. docs/PROTOCOL.md is the whole of it. When the input ends, so do the runs.\n"
	"\n"
	"  $ (echo '{\"type\":\"run\",\"run\":1,\"source\":\"export default 6*7\"}'; sleep 1) | glovebox "
	"stdio\n"
	"  {\"type\":\"hello\",\"protocol\":1,\"version\":\"0.1.0\"}\n"
	"  "
	"{\"type\":\"result\",\"run\":1,\"result\":{\"runId\":\"…\",\"status\":\"success\",\"result\":42,…}}"
	"\n"
	"\n"
	"With --socket it serves until it gets SIGTERM or SIGINT. Only this user may connect.\n"
	"\n"
	"Exit status: 0 the input ended, 1 it could not go on, 2 bad use, 3 the wall or the socket could "
	"not\n"
	"be raised.",
    .flags = flags,
    .run = run,
};
