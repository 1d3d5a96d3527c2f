/* Runs code of an agent through the gate. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "cli/cli.h"
#include "cli/code_flags.h"
#include "cli/language.h"
#include "cli/paths.h"
#include "cli/run_flags.h"
#include "cli/settings.h"
#include "cli/show.h"
#include "gate/gate.h"
#include "glovebox/errors.h"
#include "limits/limits.h"

struct request {
	struct code_flags code;
	struct gb_gate_request gate;
	struct gb_values *values;
	struct settings_request settings;
};

enum { VALUES_MAX = 64 << 20 };

static const struct flag flags[] = {
    CODE_FLAGS,
    LANGUAGE_FLAG,
    {"purpose", 0, "TEXT", "the purpose of the code: shown with the request for approval, and recorded",
	FLAG_EMPTY, NULL},
    {"expected-output", 0, "TEXT", "the output that the agent expects: recorded", FLAG_EMPTY, NULL},
    {"trace", 0, "JSON", "the origin of the request: recorded", 0, NULL},
    {"conversation", 0, "ID", "the conversation of the request: 'approvals trust' applies to a conversation",
	0, NULL},
    {"turn", 0, "ID", "the turn of the model: the number of calls per turn is limited", 0, NULL},
    ARGS_FLAG,
    LIMIT_FLAGS SETTINGS_FLAGS,
    {0},
};

static bool on_flag(const struct flag *flag, const char *value, void *data) {
	struct request *request = data;
	const struct {
		const char *name, **text;
	} own[] = {
	    {"purpose", &request->gate.purpose},
	    {"expected-output", &request->gate.expected},
	    {"trace", &request->gate.trace},
	    {"conversation", &request->gate.conversation},
	    {"turn", &request->gate.turn},
	};
	bool ok;
	if (!flag)
		return code_flags_take_file(&request->code, value);
	if (settings_flag(&request->settings, flag, value))
		return true;
	if (code_flags_take(&request->code, flag, value, &ok))
		return ok;
	for (size_t i = 0; i < GB_COUNT(own); i++)
		if (strcmp(own[i].name, flag->name) == 0)
			*own[i].text = value;
	return true;
}

/* --- callbacks of the gate --- */

static void on_pending(struct gb_agent_run *run, const char *approval, int64_t expires_ms, void *data) {
	(void)run, (void)expires_ms, (void)data;
	fprintf(stderr, "waiting for approval %.8s: glovebox approvals show %.8s\n", approval, approval);
}

static void on_log(struct gb_agent_run *run, const struct gb_log *log, void *data) {
	(void)run, (void)data;
	show_log(log->level, log->args);
}

static void on_output(struct gb_agent_run *run, int stream, const char *bytes, size_t n, void *data) {
	(void)run, (void)data;
	show_output(stream, bytes, n);
}

static int show(struct request *request, const struct gb_result *result) {
	struct gb_err err = {0};
	struct shown shown = {.command = &command_execute, .source = gb_buf_str(&request->code.source)};
	if (result->status == GB_DENIED && !request->code.json)
		return show_refusal(&command_execute, false, result->error.code, result->error.message);
	gb_auto_free char *json = request->code.json ? gb_result_to_json(result, NULL, &err) : NULL;
	if (request->code.json && !json) {
		report_error(&command_execute, "%s", err.message);
		return EXIT_CODE_FAILED;
	}
	shown.json = json;
	int status = show_result(&shown, result);
	return result->status == GB_DENIED ? EXIT_REFUSED : status;
}

static volatile sig_atomic_t stop_signal;

static void on_stop(int number) {
	stop_signal = number;
}

/* The first signal withdraws a waiting request or ends the run, so that neither is left behind; the second
 * ends this process. */
static void handle_stop_signals(void) {
	static const int stops[] = {SIGINT, SIGTERM, SIGHUP};
	const struct sigaction action = {.sa_handler = on_stop, .sa_flags = (int)SA_RESETHAND};
	struct sigaction before;
	for (size_t i = 0; i < GB_COUNT(stops); i++)
		if (sigaction(stops[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
			sigaction(stops[i], &action, NULL);
}

static bool wait_for(struct gb_gate *gate, struct gb_agent_run *run, struct gb_err *err) {
	enum { LOOK_MS = 1000 }; /* upper bound for a signal that arrives just before the wait */
	bool ok = true;
	while (ok && !gb_agent_run_done(run)) {
		ok = gb_gate_turn(gate, LOOK_MS, err);
		if (stop_signal && !gb_agent_run_done(run)) {
			stop_signal = 0;
			gb_agent_run_terminate(run, "stopped by a signal");
		}
	}
	return ok;
}

static int submit_and_wait(struct request *request, struct gb_gate *gate) {
	struct gb_err err = {0};
	struct gb_agent_run *run;
	int status = EXIT_REFUSED;
	request->gate.face = GB_FACE_EXECUTE_CODE;
	request->gate.transport = "cli";
	request->gate.on_pending = on_pending;
	/* With --json nothing is shown before the end, so the gate only has to record the end. */
	request->gate.on_log = request->code.json ? NULL : on_log;
	request->gate.on_output = request->code.json ? NULL : on_output;
	request->gate.data = request;
	handle_stop_signals();
	if (!gb_gate_submit(gate, &request->gate, &run, &err)) {
		return report_flag_error(&command_execute, &err) ? EXIT_BAD_USE : status;
	}
	if (wait_for(gate, run, &err))
		status = show(request, gb_agent_run_result(run));
	else
		show_refusal(&command_execute, request->code.json, GB_CODE_AUDIT, err.message);
	gb_agent_run_destroy(run);
	return status;
}

/* If agents are disabled, refuse before creating sandboxes. */
static int execute(struct request *request, const struct gb_config *config) {
	const struct gb_engine_options sandboxes = {
	    .shards = 1, .warm = GB_NONE, .max_runs = 1, .ready = 1u << request->gate.run.language};
	struct gb_engine *engine = NULL;
	struct gb_gate *gate = NULL;
	struct gb_err err = {0};
	int status = EXIT_REFUSED;
	if (!config->agent.enabled)
		return show_refusal(&command_execute, request->code.json, GB_CODE_DISABLED,
		    "agents may not run code here; the owner can allow it with the setting agent.enabled");
	if (!gb_limits_engine_create(config, &sandboxes, &engine, &err))
		return show_refusal(&command_execute, request->code.json,
		    err.code == GB_ENOENT ? GB_CODE_RUNTIME_DISABLED : GB_CODE_WALL, err.message);
	if (gb_gate_open(&(struct gb_gate_options){config, engine, environ}, &gate, &err))
		status = submit_and_wait(request, gate);
	else
		show_refusal(&command_execute, request->code.json, GB_CODE_REFUSED, err.message);
	gb_gate_close(gate);
	gb_engine_destroy(engine);
	return status;
}

static int run(const struct command *self, int argc, char **argv) {
	struct request request = {.values = gb_values_create(VALUES_MAX)};
	request.code =
	    (struct code_flags){.command = self, .options = &request.gate.run, .values = request.values};
	enum parsed parsed = parse_flags(self, argc, argv, on_flag, &request);
	int status = parsed == PARSED_HELP ? EXIT_OK : EXIT_BAD_USE;
	const struct run_flags given = {.command = self, .options = &request.gate.run};
	if (!request.code.code && !request.code.file)
		request.code.file = "-";
	if (parsed == PARSED && code_flags_choose_language(&request.code, &request.gate.run.language) &&
	    run_flags_fit(&given, request.gate.run.language) && code_flags_load(&request.code)) {
		const struct gb_config *config = settings_load(self, &request.settings);
		if (config)
			status = execute(&request, config);
		gb_config_unref(config);
	}
	code_flags_finish(&request.code);
	gb_values_destroy(request.values);
	return status;
}

const struct command command_execute = {
    .name = "execute",
    .synopsis = "[FILE | -e CODE | -] [OPTIONS]",
    .summary = "run an agent's code: checked, approved, masked and recorded",
    .details =
	"Run code of an agent. This is off until the owner sets agent.enabled. Each request then waits\n"
	"for approval ('glovebox approvals watch'), unless agent.autoApprove is set or approvals.waive\n"
	"has execute_code. The guard checks the code; a run costs energy if energy.faces has\n"
	"execute_code. Secrets in the output are masked. The result is printed after its record is in\n"
	"the audit log, output after a record that the run has begun. Ctrl-C withdraws a request that\n"
	"waits and ends a run.\n"
	"\n"
	"  glovebox execute -l python -e 'print(6 * 7)' --purpose 'a sum' --set agent.enabled=true\n"
	"\n"
	"Exit status: 0 success, 1 the code failed, 2 bad use, 3 refused, 124 timeout.",
    .flags = flags,
    .run = run,
};
