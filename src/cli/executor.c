/* Runs code that calls tools, for a program in any language: JSON lines on standard input and output. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "cli/cli.h"
#include "cli/language.h"
#include "cli/local.h"
#include "cli/paths.h"
#include "cli/settings.h"
#include "face/executor.h"
#include "server/lines.h"
#include "value/codec.h"
#include "value/json.h"

enum { CODE_MAX = 16 << 20, TEXT_MAX = 16 << 20, NUMBER_MAX = 1000000000, VALUES_PER_BYTE = 64 };

struct executor {
	const struct command *command;
	struct settings_request settings;
	const char *file, *stubs_file, *tools_file, *language, *workdir;
	char workdir_path[WORKDIR_TEXT];
	struct gb_executor_request request;
	struct gb_buf code, stubs, tools;
	int result_fd;
	struct local local;
	struct gb_lines lines;
	struct gb_executor *running; /* NULL: it has ended, or was not started */
	bool input_ended;
	int status;
};

static const struct flag flags[] = {
    {"stubs", 0, "FILE", "TypeScript or Python before the code: the functions of the tools", FLAG_PATH, NULL},
    {"tools", 0, "FILE",
	"the tools, as JSON with schemas: makes the functions, and checks the arguments of calls", FLAG_PATH,
	NULL},
    {"language", 'l', "LANGUAGE", "typescript, javascript, deno or python; default: typescript", 0, NULL},
    {"timeout", 0, "TIME", "250ms, 5s or 2m; default: the setting executor.timeout", 0, NULL},
    {"max-code-size", 0, "SIZE", "of the code; default: the setting agent.maxCodeSize", 0, NULL},
    {"max-output-size", 0, "SIZE", "of the output; default: the setting agent.maxOutputSize", 0, NULL},
    {"max-tool-calls", 0, "N", "calls of tools; default: the setting executor.maxToolCalls", 0, NULL},
    {"net", 0, "HOST,...", "hosts that the code reaches, of those in the setting network.allowlist", 0, NULL},
    {"workdir", 0, "DIR", "the directory that the code reads and writes; it is /box for the code", 0, NULL},
    {"decides", 0, NULL, "the calling program has approved the code: no person is asked", 0, NULL},
    {"purpose", 0, "TEXT", "the purpose of the code: shown with the request for approval, and recorded",
	FLAG_EMPTY, NULL},
    {"conversation", 0, "ID", "the conversation of the request", 0, NULL},
    {"turn", 0, "ID", "the turn of the model: the number of calls per turn is limited", 0, NULL},
    {"result-fd", 0, "N", "write the result to this descriptor instead of standard error", 0, NULL},
    SETTINGS_FLAGS,
    {0},
};

/* --- options --- */

static bool take_number(
    struct executor *executor, const struct flag *flag, const char *value, uint64_t *ret) {
	char *end;
	errno = 0;
	unsigned long long n = strtoull(value, &end, 10);
	if (*value < '0' || *value > '9' || *end || errno || n > NUMBER_MAX)
		return report_error(executor->command, "--%s: '%s' is not a number from 0 to %d", flag->name,
		    value, NUMBER_MAX);
	*ret = n;
	return true;
}

static bool take_size(struct executor *executor, const struct flag *flag, const char *value, uint64_t *ret) {
	return (gb_str_parse_size(value, ret) && *ret) ||
	       report_error(executor->command, "--%s: '%s' is not a size like 512K or 1M", flag->name, value);
}

static bool take_text(struct executor *executor, const struct flag *flag, const char *value) {
	const struct {
		const char *name, **text;
	} texts[] = {{"stubs", &executor->stubs_file}, {"tools", &executor->tools_file},
	    {"net", &executor->request.hosts}, {"language", &executor->language},
	    {"workdir", &executor->workdir}, {"purpose", &executor->request.purpose},
	    {"conversation", &executor->request.conversation}, {"turn", &executor->request.turn}};
	for (size_t i = 0; i < GB_COUNT(texts); i++) {
		if (strcmp(texts[i].name, flag->name) != 0)
			continue;
		*texts[i].text = value;
		return true;
	}
	return false;
}

static bool take_limit(struct executor *executor, const struct flag *flag, const char *value) {
	struct gb_executor_request *request = &executor->request;
	uint64_t number = 0;
	if (strcmp(flag->name, "timeout") == 0)
		return (gb_str_parse_duration_ms(value, &request->timeout_ms) && request->timeout_ms) ||
		       report_error(
			   executor->command, "--timeout: '%s' is not a time like 250ms, 5s or 2m", value);
	if (strcmp(flag->name, "max-code-size") == 0)
		return take_size(executor, flag, value, &request->max_code_bytes);
	if (strcmp(flag->name, "max-output-size") == 0)
		return take_size(executor, flag, value, &request->max_output_bytes);
	if (!take_number(executor, flag, value, &number))
		return false;
	if (strcmp(flag->name, "max-tool-calls") == 0)
		request->max_tool_calls = number ? (uint32_t)number : GB_NONE;
	else
		executor->result_fd = (int)number;
	return true;
}

static bool on_flag(const struct flag *flag, const char *value, void *data) {
	struct executor *executor = data;
	if (flag && (settings_flag(&executor->settings, flag, value) || take_text(executor, flag, value)))
		return true;
	if (flag && strcmp(flag->name, "decides") == 0)
		executor->request.embedder_decides = true;
	else if (flag)
		return take_limit(executor, flag, value);
	else if (executor->file)
		return report_error(executor->command, "takes one file, but also got '%s'", value);
	else
		executor->file = value;
	return true;
}

static bool load(struct executor *executor) {
	struct gb_executor_request *request = &executor->request;
	const struct {
		const char *what, *path;
		struct gb_buf *text;
	} files[] = {{"", executor->file, &executor->code},
	    {"--stubs: ", executor->stubs_file, &executor->stubs},
	    {"--tools: ", executor->tools_file, &executor->tools}};
	if (!executor->file)
		return report_error(executor->command, "needs a file with the code");
	for (size_t i = 0; i < GB_COUNT(files); i++) {
		if (!files[i].path)
			continue;
		if (strcmp(files[i].path, "-") == 0)
			return report_error(executor->command,
			    "%sstandard input has the answers of the tools, so this must be a file",
			    files[i].what);
		if (!read_path(executor->command, files[i].what, files[i].path, files[i].text))
			return false;
	}
	request->code = gb_buf_str(&executor->code);
	request->stubs = executor->stubs.len ? gb_buf_c_str(&executor->stubs) : NULL;
	request->tools = gb_buf_str(&executor->tools);
	if (memchr(executor->stubs.len ? executor->stubs.data : "", '\0', executor->stubs.len))
		return report_error(executor->command, "--stubs: must not hold the character U+0000");
	if (executor->result_fd > STDERR_FILENO && fcntl(executor->result_fd, F_GETFD) < 0)
		return report_error(
		    executor->command, "--result-fd: %d is not an open descriptor", executor->result_fd);
	return true;
}

/* --- lines to the program --- */

#define NO_ANSWERS "standard input has ended, so no tool can answer"

static struct gb_buf *begin_line(struct executor *executor, const char *type) {
	struct gb_buf *out = gb_lines_begin(&executor->lines);
	gb_buf_printf(out, "{\"type\":\"%s\"", type);
	return out;
}

static bool end_line(struct executor *executor) {
	gb_buf_append_char(&executor->lines.output, '}');
	bool ok = gb_lines_end(&executor->lines);
	gb_lines_flush(&executor->lines);
	return ok;
}

static void write_text(struct executor *executor, const char *type, const char *field, struct gb_str text) {
	struct gb_buf *out = begin_line(executor, type);
	gb_buf_printf(out, ",\"%s\":", field);
	gb_json_append_bytes(out, text);
	end_line(executor);
}

static void on_call(
    struct gb_executor *running, uint64_t call, struct gb_str name, struct gb_str params, void *data) {
	struct executor *executor = data;
	if (executor->input_ended) {
		gb_executor_throw(running, call, GB_STR(NO_ANSWERS));
		return;
	}
	struct gb_buf *out = begin_line(executor, "__tool_call__");
	gb_buf_printf(out, ",\"name\":");
	gb_json_append_bytes(out, name);
	gb_buf_printf(out, ",\"params\":");
	gb_json_append_line(out, params);
	gb_buf_printf(out, ",\"call_id\":\"%llu\"", (unsigned long long)call);
	if (!end_line(executor))
		gb_executor_throw(running, call, GB_STR("the parameters are too long for a line"));
}

static void on_output(struct gb_executor *running, struct gb_str text, void *data) {
	(void)running;
	write_text(data, "__output__", "data", text);
}

static void on_debug(struct gb_executor *running, struct gb_str message, void *data) {
	(void)running;
	write_text(data, "__debug__", "message", message);
}

static void on_pending(struct gb_executor *running, struct gb_str approval, int64_t expires_ms, void *data) {
	(void)running, (void)expires_ms, (void)data;
	fprintf(stderr, "waiting for approval %.8s: glovebox approvals show %.8s\n", approval.p, approval.p);
}

/* The result for programs that read it, as one line of JSON. */
static void write_result(struct executor *executor, struct gb_buf *json) {
	gb_buf_append_char(json, '\n');
	if (!gb_buf_failed(json) && !gb_write_all(executor->result_fd, json->data, json->len))
		report_error(executor->command, "the result cannot be written: %s", strerror(errno));
}

static void on_done(struct gb_executor *running, const struct gb_executor_result *result, void *data) {
	struct executor *executor = data;
	gb_auto_buf struct gb_buf json;
	/* The last line is an __output__: the value, which has been written already, or the error. */
	if (!result->has_value)
		write_text(executor, "__output__", "data", result->success ? GB_STR("") : result->error);
	gb_buf_init(&json, 8 * (result->output.n + result->error.n) + 1024);
	gb_executor_write(result, &json);
	write_result(executor, &json);
	executor->status = result->success     ? EXIT_OK
			   : result->timed_out ? EXIT_TIMEOUT
			   : result->denied    ? EXIT_REFUSED
					       : EXIT_CODE_FAILED;
	gb_executor_release(running);
	executor->running = NULL;
}

/* Of a request that could not be submitted, after the lines are finished. */
static void refuse(struct executor *executor, const struct gb_err *err) {
	bool is_size = strcmp(err->field, "code") == 0 && err->code == GB_ELIMIT;
	gb_auto_buf struct gb_buf line, json;
	gb_buf_init(&line, 64 << 10);
	gb_buf_init(&json, 64 << 10);
	gb_buf_printf(&line, "{\"type\":\"__output__\",\"data\":");
	gb_json_append_bytes(&line, gb_str_from(err->message + (is_size ? err->detail : 0)));
	gb_buf_printf(&line, "}\n");
	if (!gb_buf_failed(&line))
		(void)gb_write_all(STDOUT_FILENO, line.data, line.len);
	gb_executor_refuse(err, &json);
	write_result(executor, &json);
	executor->status = EXIT_REFUSED;
}

/* --- lines from the program --- */

static struct gb_str text_of(const struct gb_value *object, const char *key) {
	size_t n = 0;
	const struct gb_value *value = gb_value_get(object, key);
	const char *text = gb_value_type(value) == GB_STRING ? gb_value_bytes(value, &n) : NULL;
	return (struct gb_str){text, n};
}

static bool find_call(const struct gb_value *message, uint64_t *ret) {
	struct gb_str id = text_of(message, "call_id");
	char *end = NULL;
	errno = 0;
	*ret = id.p && id.n && id.p[0] >= '0' && id.p[0] <= '9' ? strtoull(id.p, &end, 10) : 0;
	return end == (id.p ? id.p + id.n : NULL) && end && !errno;
}

static bool give_result(
    struct executor *executor, uint64_t call, const struct gb_value *result, struct gb_err *err) {
	gb_auto_buf struct gb_buf json;
	gb_buf_init(&json, GB_LINE_MAX);
	if (result && !gb_json_write_plain(&json, result, err))
		return false;
	return gb_executor_return(executor->running, call, gb_buf_str(&json)) ||
	       gb_fail(err, GB_ENOENT, 0, "no call waits for this answer");
}

static bool handle(struct executor *executor, const struct gb_value *message, struct gb_err *err) {
	struct gb_str type = text_of(message, "type"), error = text_of(message, "error");
	uint64_t call;
	bool is_error = gb_str_eq(type, GB_STR("__tool_error__"));
	if (!is_error && !gb_str_eq(type, GB_STR("__tool_result__")))
		return gb_fail(err, GB_EFORMAT, 0, "type: must be \"__tool_result__\" or \"__tool_error__\"");
	if (!find_call(message, &call))
		return gb_fail(err, GB_EFORMAT, 0, "call_id: must be that of a __tool_call__");
	if (!is_error)
		return give_result(executor, call, gb_value_get(message, "result"), err);
	if (!error.p)
		return gb_fail(err, GB_EFORMAT, 0, "error: must be a text");
	return gb_executor_throw(executor->running, call, error) ||
	       gb_fail(err, GB_ENOENT, 0, "no call waits for this answer");
}

/* A line that is wrong is reported, and skipped: the call that it was meant for meets the time limit. */
static void on_line(struct gb_lines *lines, const char *line, size_t n) {
	struct executor *executor = gb_container(struct executor, lines, lines);
	struct gb_err err = {0};
	if (!executor->running)
		return;
	if (n > lines->line_max) {
		report_warning(executor->command, "a line has more than %zu bytes", lines->line_max);
		return;
	}
	gb_auto_values struct gb_values *pool = gb_values_create(VALUES_PER_BYTE * n + 4096);
	const struct gb_value *message = pool ? gb_value_from_plain_json(pool, line, n, &err) : NULL;
	if (!message || !handle(executor, message, &err))
		report_warning(executor->command, "a line of standard input: %s", err.message);
}

/* No answer can come any more; code that waits for one would only meet its time limit. */
static void on_end(struct gb_lines *lines) {
	struct executor *executor = gb_container(struct executor, lines, lines);
	executor->input_ended = true;
	if (executor->running)
		gb_executor_drop_calls(executor->running, GB_STR(NO_ANSWERS));
}

/* --- the command --- */

static bool open_lines(struct executor *executor, struct gb_err *err) {
	int in = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3), out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	if (in < 0 || out < 0)
		return gb_fail(err, GB_ESYSTEM, errno, "standard input and output");
	gb_lines_init(&executor->lines, &executor->local.loop, in, out, GB_LINE_MAX);
	executor->lines.on_line = on_line;
	executor->lines.on_end = on_end;
	return gb_lines_start(&executor->lines, err);
}

/* Until the code has ended and its lines are written. */
static bool wait_for_end(struct executor *executor, struct gb_err *err) {
	enum { POLL_MS = 1000 }; /* as local_wait */
	while (executor->running || (gb_lines_waiting(&executor->lines) && !executor->lines.broken)) {
		if (!gb_service_turn(executor->local.service, POLL_MS, err))
			return false;
		if (executor->running)
			local_stop_if_signalled(gb_executor_execution(executor->running));
		if (executor->local.trouble.code && executor->running) {
			*err = executor->local.trouble;
			return false;
		}
	}
	return true;
}

/* Nothing is started for a request that will be refused. */
static bool may_start(struct executor *executor, const struct gb_config *config, struct gb_err *err) {
	return gb_executor_check(&executor->request, config, err) &&
	       (config->agent.enabled || gb_fail(err, GB_EWALL, 0,
					     "agents may not run code here; the owner can allow it with the "
					     "setting agent.enabled"));
}

static void execute(struct executor *executor, const struct gb_config *config) {
	const struct gb_service_options options = {.config = config,
	    .max_runs = 1,
	    .engine = {
		.shards = 1, .warm = GB_NONE, .max_runs = 1, .ready = 1u << executor->request.language}};
	struct gb_err err = {0};
	struct local *local = &executor->local;
	executor->lines.in = -1;
	if (!may_start(executor, config, &err)) {
		refuse(executor, &err);
		return;
	}
	local_catch_stop_signals();
	bool ok = local_open(local, &options, &err) && open_lines(executor, &err) &&
		  gb_service_accept_agents(local->service, environ, &err) &&
		  gb_executor_start(&local->client, &executor->request, &executor->running, &err) &&
		  wait_for_end(executor, &err);
	gb_executor_release(executor->running);
	if (executor->lines.in >= 0)
		gb_lines_finish(&executor->lines);
	local_close(local);
	if (!ok)
		refuse(executor, &err);
}

/* To read and write. */
static bool take_workdir(struct executor *executor) {
	char text[WORKDIR_TEXT];
	if (!executor->workdir)
		return true;
	if ((size_t)snprintf(text, sizeof text, "%s:rw", executor->workdir) >= sizeof text)
		return report_error(executor->command, "--workdir: the path is too long");
	executor->request.workdir = executor->workdir_path;
	return find_workdir(executor->command, text, executor->workdir_path);
}

static int run(const struct command *self, int argc, char **argv) {
	struct executor executor = {.command = self,
	    .result_fd = STDERR_FILENO,
	    .status = EXIT_BAD_USE,
	    .request = {.on_call = on_call,
		.on_output = on_output,
		.on_debug = on_debug,
		.on_pending = on_pending,
		.on_done = on_done,
		.data = &executor,
		.transport = "cli"}};
	gb_buf_init(&executor.code, CODE_MAX);
	gb_buf_init(&executor.stubs, TEXT_MAX);
	gb_buf_init(&executor.tools, TEXT_MAX);
	enum parsed parsed = parse_flags(self, argc, argv, on_flag, &executor);
	if (parsed == PARSED && language_choose(self, executor.language, NULL, &executor.request.language) &&
	    load(&executor) && take_workdir(&executor)) {
		const struct gb_config *config = settings_load(self, &executor.settings);
		if (config)
			execute(&executor, config);
		gb_config_unref(config);
	}
	gb_buf_finish(&executor.code);
	gb_buf_finish(&executor.stubs);
	gb_buf_finish(&executor.tools);
	return parsed == PARSED_HELP ? EXIT_OK : executor.status;
}

const struct command command_executor = {
    .name = "executor",
    .synopsis = "FILE [--tools FILE | --stubs FILE] [OPTIONS]",
    .summary = "run an agent's code that calls tools of the calling program",
    .details =
	"Run the code in FILE: TypeScript, the body of an async function; or Python. It calls tools with\n"
	"__callTool__(name, params), or with the functions that --stubs or --tools add before it, and\n"
	"prints with output(data), debug(message) and console. The calling program executes the tools: it\n"
	"reads JSON lines from standard output, and answers on standard input:\n"
	"\n"
	"  {\"type\":\"__tool_call__\",\"name\":\"add\",\"params\":{\"a\":1,\"b\":2},\"call_id\":\"1\"}\n"
	"  {\"type\":\"__tool_result__\",\"call_id\":\"1\",\"result\":3}\n"
	"  {\"type\":\"__tool_error__\",\"call_id\":\"1\",\"error\":\"no numbers\"}\n"
	"  {\"type\":\"__output__\",\"data\":\"3\"}  {\"type\":\"__debug__\",\"message\":\"added\"}\n"
	"\n"
	"The last line is an __output__ with the value that the code returns, or the error. The result, one\n"
	"JSON object with success, output, error, tool_calls_made and duration_ms, is written to standard\n"
	"error. Code of agents is off until the owner sets agent.enabled.\n"
	"\n"
	"Exit status: 0 success, 1 the code failed, 2 usage error, 3 refused, 124 timeout.",
    .flags = flags,
    .run = run,
};
