/* Prints the definition of a tool for a model, and calls it. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/cli.h"
#include "cli/local.h"
#include "cli/paths.h"
#include "cli/settings.h"
#include "cli/untrusted.h"
#include "face/tool.h"
#include "value/json.h"

enum { ARGUMENTS_MAX = 4 << 20 };

struct request {
	const struct command *command;
	const char *name, *arguments;
	struct settings_request settings;
};

static const struct flag flags[] = {SETTINGS_FLAGS, {0}};

static bool on_flag(const struct flag *flag, const char *value, void *data) {
	struct request *request = data;
	if (flag)
		return settings_flag(&request->settings, flag, value);
	if (request->arguments)
		return report_error(
		    request->command, "takes a name and arguments, and does not know '%s'", value);
	*(request->name ? &request->arguments : &request->name) = value;
	return true;
}

static void list(void) {
	const struct gb_tool *tool;
	for (size_t i = 0; (tool = gb_tool_at(i)); i++)
		printf("%s\n", tool->name);
}

static int define(const struct gb_tool *tool, const struct gb_config *config) {
	gb_auto_buf struct gb_buf out;
	gb_buf_init(&out, GB_TOOL_OUTPUT_MAX);
	tool->define(config, &out);
	gb_buf_append_char(&out, '\n');
	if (gb_buf_failed(&out))
		return EXIT_REFUSED;
	print_data(stdout, out.data, out.len);
	return EXIT_OK;
}

/* The answer of a tool is its output, whatever happened. */
static void print_output(struct gb_str output) {
	gb_auto_buf struct gb_buf json;
	gb_buf_init(&json, (size_t)GB_TOOL_OUTPUT_MAX * 8);
	gb_buf_printf(&json, "{\"output\":");
	gb_json_append_string(&json, output);
	gb_buf_printf(&json, "}\n");
	print_data(stdout, json.data, json.len);
}

static void on_event(struct gb_execution *execution, const struct gb_event *event, void *data) {
	(void)execution, (void)data;
	if (event->kind == GB_EVENT_PENDING)
		fprintf(stderr, "waiting for approval %.8s: glovebox approvals show %.8s\n", event->text.p,
		    event->text.p);
}

static const struct gb_result *submit_and_wait(
    struct local *local, const struct gb_gate_request *request, struct gb_err *err) {
	const struct gb_submission submission = {.request = *request, .on_event = on_event, .quiet = true};
	local_catch_stop_signals();
	return local_submit(local, &submission, err) ? local_wait(local, local_stop_if_signalled, err) : NULL;
}

static void call(const struct gb_tool *tool, const struct gb_tool_call *stored,
    const struct gb_gate_request *request, const struct gb_config *config, struct gb_buf *output) {
	const struct gb_service_options options = {
	    .config = config, .max_runs = 1, .engine = {.shards = 1, .warm = GB_NONE, .max_runs = 1}};
	struct local local;
	struct gb_err err = {0};
	const struct gb_result *result = NULL;
	if (local_open(&local, &options, &err) && gb_service_accept_agents(local.service, environ, &err))
		result = submit_and_wait(&local, request, &err);
	if (result)
		tool->answer(stored, result, gb_execution_timeout_ms(local.execution), config, output);
	else
		tool->refuse(&err, output);
	local_close(&local);
}

static int call_with(const struct gb_tool *tool, struct gb_str json, const struct gb_config *config) {
	struct gb_values *pool = gb_values_create((size_t)16 * ARGUMENTS_MAX);
	struct gb_gate_request request = {.transport = "cli"};
	struct gb_tool_call stored = {.config = config, .is_enabled = config->agent.enabled};
	struct gb_err err = {0};
	gb_auto_buf struct gb_buf output;
	gb_buf_init(&output, GB_TOOL_OUTPUT_MAX);
	const struct gb_value *arguments = pool ? gb_value_from_json(pool, json.p, json.n, &err) : NULL;
	if (!arguments)
		gb_wrap_field(&err, "arguments");
	if (arguments && tool->act && tool->act(arguments, &stored, &output))
		;
	else if (arguments && tool->read(arguments, &stored, &request, &err))
		call(tool, &stored, &request, config, &output);
	else
		tool->refuse(&err, &output);
	print_output(gb_buf_str(&output));
	gb_tool_call_finish(&stored);
	gb_values_destroy(pool);
	return EXIT_OK;
}

static int run_tool(struct request *request, const struct gb_config *config) {
	const struct gb_tool *tool = gb_tool_find(request->name);
	gb_auto_buf struct gb_buf text;
	gb_buf_init(&text, ARGUMENTS_MAX);
	if (!tool) {
		struct gb_nearest nearest = {.given = request->name};
		for (size_t i = 0; gb_tool_at(i); i++)
			gb_nearest_offer(&nearest, gb_tool_at(i)->name);
		report_error(request->command, "there is no tool '%s'%s; 'glovebox tool' lists them",
		    request->name, suggestion(&nearest));
		return EXIT_BAD_USE;
	}
	if (!request->arguments)
		return define(tool, config);
	if (strcmp(request->arguments, "-") != 0)
		return call_with(tool, gb_str_from(request->arguments), config);
	return read_path(request->command, "", "-", &text) ? call_with(tool, gb_buf_str(&text), config)
							   : EXIT_BAD_USE;
}

static int run(const struct command *self, int argc, char **argv) {
	struct request request = {.command = self};
	enum parsed parsed = parse_flags(self, argc, argv, on_flag, &request);
	if (parsed != PARSED)
		return parsed == PARSED_HELP ? EXIT_OK : EXIT_BAD_USE;
	if (!request.name) {
		list();
		return EXIT_OK;
	}
	const struct gb_config *config = settings_load(self, &request.settings);
	int status = config ? run_tool(&request, config) : EXIT_BAD_USE;
	gb_config_unref(config);
	return status;
}

const struct command command_tool = {
    .name = "tool",
    .synopsis = "[NAME [ARGUMENTS | -]]",
    .summary = "tools for models: print a definition, or call one",
    .details =
	"Without NAME: list the tools. With NAME: print the definition of the tool as JSON (name,\n"
	"description, JSON Schema of its parameters), to send to a model. The definition depends on the\n"
	"settings. With ARGUMENTS, one JSON object, or - for standard input: call the tool as an agent\n"
	"would, through checks, approval and audit log, and print {\"output\": TEXT}. If the call is\n"
	"refused or fails, the output says why; the exit status is 0 in these cases too.\n"
	"\n"
	"  glovebox tool core.execute\n"
	"  glovebox tool core.execute '{\"purpose\": \"a sum\", \"code\": \"return 6*7\"}'",
    .flags = flags,
    .run = run,
};
