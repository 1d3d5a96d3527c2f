/* Runs code of an agent through the gate. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "cli/cli.h"
#include "cli/code_flags.h"
#include "cli/language.h"
#include "cli/local.h"
#include "cli/paths.h"
#include "cli/run_flags.h"
#include "cli/settings.h"
#include "cli/show.h"
#include "glovebox/errors.h"

struct request {
	struct code_flags code;
	struct gb_gate_request gate;
	struct gb_values *values;
	struct settings_request settings;
};

/* An option for each text of GB_AGENT_FIELDS (glovebox/fields.h) that has one. */
#define STATED_TRAITS_ID     0
#define STATED_TRAITS_TEXT   FLAG_EMPTY
#define STATED_TRAITS_JSON   0
#define STATED_TRAITS_CHOICE 0
#define STATED_NO_FLAG(kind, flag, argument, help)
#define STATED_FLAG(kind, flag, argument, help) {(flag), 0, argument, help, STATED_TRAITS_##kind, NULL},
#define STATED_FLAG_ROW(kind, member, json, max, inputs, has_flag, flag, argument, help, doc)                \
	STATED_##has_flag(kind, flag, argument, help)

static const struct flag flags[] = {
    CODE_FLAGS,
    LANGUAGE_FLAG,
    GB_AGENT_FIELDS(STATED_FLAG_ROW) AGENT_FLAGS LIMIT_FLAGS SETTINGS_FLAGS,
    {0},
};

static bool take_tier(struct request *request, const char *value) {
	for (enum gb_tier tier = GB_TIER_ISOLATED; tier < GB_TIERS; tier++)
		if (strcmp(value, gb_tier_name(tier)) == 0) {
			request->gate.tier = tier;
			return true;
		}
	return report_error(&command_execute, "--tier: '%s' is neither isolated nor network", value);
}

static bool on_flag(const struct flag *flag, const char *value, void *data) {
	struct request *request = data;
	const struct {
		const char *name, **text;
	} own[] = {
#define SLOT_NO_FLAG(kind, flag, member)
#define SLOT_OF_ID(member)                                         &request->gate.member
#define SLOT_OF_TEXT(member)                                       &request->gate.member
#define SLOT_OF_JSON(member)                                       &request->gate.member
#define SLOT_OF_CHOICE(member)                                     NULL /* taken above */
#define SLOT_FLAG(kind, flag, member)                              {flag, SLOT_OF_##kind(member)},
#define SLOT(kind, member, json, max, inputs, has_flag, flag, ...) SLOT_##has_flag(kind, flag, member)
	    GB_AGENT_FIELDS(SLOT)};
	bool ok;
	if (!flag)
		return code_flags_take_file(&request->code, value);
	if (settings_flag(&request->settings, flag, value))
		return true;
	if (code_flags_take(&request->code, flag, value, &ok))
		return ok;
	if (strcmp(flag->name, "tier") == 0)
		return take_tier(request, value);
	for (size_t i = 0; i < GB_COUNT(own); i++)
		if (own[i].text && strcmp(own[i].name, flag->name) == 0)
			*own[i].text = value;
	return true;
}

/* --- showing --- */

static void on_event(struct gb_execution *execution, const struct gb_event *event, void *data) {
	const struct request *request = data;
	(void)execution;
	if (event->kind == GB_EVENT_PENDING)
		fprintf(stderr, "waiting for approval %.8s: glovebox approvals show %.8s\n", event->text.p,
		    event->text.p);
	else if (event->kind == GB_EVENT_LOG && !request->code.json)
		show_log(event->log.level, event->log.args);
	else if (event->kind == GB_EVENT_OUTPUT && !request->code.json)
		show_output(event->stream, event->text.p, event->text.n);
}

static int show(struct request *request, const struct gb_result *result) {
	struct gb_err err = {0};
	struct gb_run_options limits = {.language = request->gate.run.language};
	struct shown shown = {.command = &command_execute,
	    .source = gb_buf_str(&request->code.source),
	    .limits = &limits,
	    .is_agent = true};
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

static int submit_and_wait(struct request *request, struct local *local) {
	struct gb_err err = {0};
	struct gb_submission submission = {
	    .request = request->gate, .on_event = on_event, .quiet = request->code.json, .data = request};
	submission.request.face = GB_FACE_EXECUTE_CODE;
	submission.request.transport = "cli";
	local_catch_stop_signals();
	if (!local_submit(local, &submission, &err))
		return report_flag_error(&command_execute, &err) ? EXIT_BAD_USE : EXIT_REFUSED;
	const struct gb_result *result = local_wait(local, local_stop_if_signalled, &err);
	if (result)
		return show(request, result);
	show_refusal(&command_execute, request->code.json, GB_CODE_AUDIT, err.message);
	return EXIT_REFUSED;
}

/* If agents are disabled, refuse before creating sandboxes. */
static int execute(struct request *request, const struct gb_config *config) {
	const struct gb_service_options options = {.config = config,
	    .max_runs = 1,
	    .engine = {
		.shards = 1, .warm = GB_NONE, .max_runs = 1, .ready = 1u << request->gate.run.language}};
	struct local local;
	struct gb_err err = {0};
	int status = EXIT_REFUSED;
	if (!config->agent.enabled)
		return show_refusal(&command_execute, request->code.json, GB_CODE_DISABLED,
		    "agents may not run code here; the owner can allow it with the setting agent.enabled");
	if (!local_open(&local, &options, &err))
		show_refusal(&command_execute, request->code.json,
		    err.code == GB_ENOENT ? GB_CODE_RUNTIME_DISABLED : GB_CODE_WALL, err.message);
	else if (!gb_service_accept_agents(local.service, environ, &err))
		show_refusal(&command_execute, request->code.json, GB_CODE_REFUSED, err.message);
	else
		status = submit_and_wait(request, &local);
	local_close(&local);
	return status;
}

static int run(const struct command *self, int argc, char **argv) {
	struct request request = {.values = gb_values_create(CODE_VALUES_MAX)};
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
		request.gate.run.filename = NULL; /* not shown to the person who decides, so not allowed */
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
	"execute_code. Secrets in the output are masked. Output is printed after the start of the run is\n"
	"recorded in the audit log, and the result after the complete record is. Ctrl-C withdraws a\n"
	"waiting request, or ends the run.\n"
	"\n"
	"  glovebox execute -l python -e 'print(6 * 7)' --purpose 'a sum' --set agent.enabled=true\n"
	"\n"
	"Exit status: 0 success, 1 the code failed, 2 usage error, 3 refused, 124 timeout. If the program "
	"ends\n"
	"with a status of its own, as by sys.exit(3), that is the exit status.",
    .flags = flags,
    .run = run,
};
