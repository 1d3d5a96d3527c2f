#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/err.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/serving.h"

static const struct flag flags[] = {
    {"socket", 0, "PATH", "listen at a unix socket instead of standard input, for many clients at once",
	FLAG_PATH, NULL},
    {"timeout", 0, "TIME", "default and maximum timeout of a run, instead of the settings limits.*", 0, NULL},
    {"max-runs", 0, "N", "maximum number of runs at once; more wait; default 1024", 0, NULL},
    SETTINGS_FLAGS,
    {0},
};
enum { FLAG_SOCKET, FLAG_TIMEOUT, FLAG_MAX_RUNS };

/* The timeout is that of a run, if neither the run nor the settings have one. */
enum { MAX_RUNS = 65536, DEFAULT_TIMEOUT_MS = 300000 };

struct stdio {
	struct serving serving;
	const char *socket;
	uint64_t timeout_ms;
	unsigned max_runs;
	struct gb_listener *listener;
};

static bool take_max_runs(struct stdio *stdio, const char *value) {
	char *end;
	errno = 0;
	unsigned long n = strtoul(value, &end, 10);
	if (*value < '0' || *value > '9' || *end || errno || n == 0 || n > MAX_RUNS)
		return report_error(
		    &command_stdio, "--max-runs: '%s' is not a number from 1 to %d", value, MAX_RUNS);
	stdio->max_runs = (unsigned)n;
	return true;
}

static bool on_flag(const struct flag *flag, const char *value, void *data) {
	struct stdio *stdio = data;
	if (!flag)
		return report_error(&command_stdio, "takes no operand, but got '%s'", value);
	if (settings_flag(&stdio->serving.settings, flag, value))
		return true;
	switch (flag - flags) {
	case FLAG_SOCKET:
		stdio->socket = value;
		return true;
	case FLAG_TIMEOUT:
		return (gb_str_parse_duration_ms(value, &stdio->timeout_ms) && stdio->timeout_ms) ||
		       report_error(
			   &command_stdio, "--timeout: '%s' is not a time like 250ms, 5s or 2m", value);
	case FLAG_MAX_RUNS:
		return take_max_runs(stdio, value);
	}
	return false;
}

/* --- serving --- */

static bool add_standard_streams(struct stdio *stdio, struct gb_err *err) {
	if (isatty(STDIN_FILENO))
		fprintf(stderr,
		    "glovebox stdio exchanges JSON lines with a program. To try it here, enter this line:\n"
		    "{\"type\":\"run\",\"run\":1,\"source\":\"export default 6*7\"}\n"
		    "Ctrl-D ends it. See 'glovebox stdio --help'.\n");
	return gb_server_add(stdio->serving.server, STDIN_FILENO, STDOUT_FILENO, err);
}

static bool open_stdio(struct stdio *stdio, struct gb_err *err) {
	const struct gb_service_options options = {.engine = {.max_runs = stdio->max_runs},
	    .timeout_ms = stdio->timeout_ms,
	    .default_timeout_ms = DEFAULT_TIMEOUT_MS,
	    .max_runs = stdio->max_runs};
	if (!serving_open(&stdio->serving, &options, err))
		return false;
	return stdio->socket ? gb_listener_create(stdio->serving.server, stdio->socket, &stdio->listener, err)
			     : add_standard_streams(stdio, err);
}

static bool serve(struct stdio *stdio, struct gb_err *err) {
	struct serving *serving = &stdio->serving;
	while (!serving->stopped && (stdio->socket || gb_server_clients(serving->server)))
		if (!gb_server_turn(serving->server, err))
			return false;
	return true;
}

static int run(const struct command *self, int argc, char **argv) {
	struct stdio stdio = {.serving = {.command = self, .agents = true, SERVING_CLOSED}};
	enum parsed parsed = parse_flags(self, argc, argv, on_flag, &stdio);
	if (parsed != PARSED)
		return parsed == PARSED_HELP ? EXIT_OK : EXIT_BAD_USE;
	serving_prepare_process();
	stdio.serving.config = settings_load(self, &stdio.serving.settings);
	if (!stdio.serving.config)
		return EXIT_BAD_USE;
	struct gb_err err = {0};
	bool opened = open_stdio(&stdio, &err), ok = opened && serve(&stdio, &err);
	if (!ok)
		report_error(self, "%s", err.message);
	gb_listener_destroy(stdio.listener);
	serving_close(&stdio.serving);
	return ok ? EXIT_OK : opened ? EXIT_CODE_FAILED : EXIT_REFUSED;
}

const struct command command_stdio = {
    .name = "stdio",
    .synopsis = "[--socket PATH] [OPTIONS]",
    .summary = "run code for a program in any language, over JSON lines",
    .details =
	"SDKs start this command. Each line of input is a message, and each line of output is a reply;\n"
	"any number of runs may be active at once. PROTOCOL.md in the documentation, which glovebox(1)\n"
	"locates, describes all messages. When the input ends, all runs are ended.\n"
	"\n"
	"  $ (echo '{\"type\":\"run\",\"run\":1,\"source\":\"export default 6*7\"}'; sleep 1) | glovebox "
	"stdio\n"
	"  {\"type\":\"hello\",\"protocol\":1,\"version\":\"0.1.0\"}\n"
	"  "
	"{\"type\":\"result\",\"run\":1,\"result\":{\"runId\":\"…\",\"status\":\"success\",\"result\":42,…}}"
	"\n"
	"\n"
	"With --socket, the command serves clients until it receives SIGTERM or SIGINT. Only this user\n"
	"may connect.\n"
	"\n"
	"Requests of an agent use the message 'execute' instead of 'run'. They are refused unless\n"
	"agent.enabled is set, wait for approval ('glovebox approvals watch') unless agent.autoApprove\n"
	"is set, and are recorded in the audit log.\n"
	"\n"
	"The settings define limits, sessions, programs and profiles: glovebox.yaml(5). SIGHUP\n"
	"makes it read them again, for runs and sessions that begin later. If they contain an error,\n"
	"the old settings stay, and the error is printed on stderr.\n"
	"\n"
	"Exit status: 0 the input ended, 1 an error while serving, 2 usage error, 3 the sandbox could not\n"
	"be started or the socket could not be opened.",
    .flags = flags,
    .run = run,
};
