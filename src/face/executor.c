#include "face/executor.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "engine/limits.h"
#include "engine/workdir.h"
#include "executor_prelude.h"
#include "face/shown.h"
#include "gate/faces.h"
#include "glovebox/errors.h"
#include "schema/schema.h"
#include "value/codec.h"
#include "value/json.h"
#include "value/text.h"

enum {
	STUBS_MAX = GB_STUBS_MAX,
	TOOLS_MAX = 16 << 20,    /* of the list of tools, as JSON */
	PARAMS_MAX = 1 << 20,    /* of the parameters of one call: they are checked in the event loop */
	VALUES_FACTOR_JSON = 64, /* memory of values per byte of JSON */
	ERROR_MAX = 64 << 10,
	FRAMES_SLACK = 64 << 10,
	FILE_CALLS = 100000, /* calls of the host that are no calls of tools */
};

/* A call that waits for its answer. */
struct waiting_call {
	struct gb_list link;
	uint64_t number;
	struct gb_call *call;
};

struct gb_executor {
	struct gb_executor_request request; /* its callbacks and limits */
	struct gb_execution *execution;
	struct gb_values *values;     /* of the tools */
	const struct gb_value *tools; /* or NULL */
	struct gb_list calls;         /* that wait for an answer */
	struct gb_call *dispatched;   /* during on_call: it has no answer yet */
	uint64_t last_call;
	uint64_t asked; /* the call that waits for approval; 0: none */
	unsigned n_calls, max_calls;
	uint64_t max_output;
	struct gb_buf output;
	bool in_stream;   /* the last output was a piece of what a program wrote */
	char failure[80]; /* the limit that has ended the code; empty: none */
	struct gb_buf error;
	struct gb_executor_result result;
};

/* --- the text around the code --- */

static const char *const functions[] = {"__glovebox_call__", NULL};

/* In a function of their own, so that tools may have any name that the functions of the face have. */
static const char before_stubs[] = "export default async () => {\n",
		  before_code[] = "\nreturn __finish__(await (async () => {\n",
		  after_code[] = "\n})());\n};\n";

/* In the stubs that 'glovebox stubs' prints, the first line declares the function for compilers. Deno would take it for
 * another variable than the function of the face. */
static void remove_declaration(struct gb_buf *out, size_t from) {
	static const char declaration[] = "declare function __callTool__(";
	const size_t n = sizeof declaration - 1;
	if (gb_buf_failed(out) || out->len < from + n || memcmp(out->data + from, declaration, n) != 0)
		return;
	char *end = memchr(out->data + from, '\n', out->len - from);
	if (end)
		memset(out->data + from, ' ', (size_t)(end - (out->data + from)));
}

static bool append_stubs(
    const char *stubs, const struct gb_value *tools, bool is_python, struct gb_buf *out, struct gb_err *err) {
	size_t n = stubs ? strlen(stubs) : 0;
	if (!n)
		return !tools || (is_python ? gb_stubs_python : gb_stubs_typescript)(tools, out, err) ||
		       gb_wrap_field(err, "tools");
	if (n > STUBS_MAX)
		return gb_fail_field(
		    err, GB_ELIMIT, "stubs", "have %zu bytes; the maximum is %d", n, STUBS_MAX);
	gb_buf_append(out, stubs, n);
	return true;
}

/* The worker of Python has the functions of the face itself: runtime/python/tools.py. */
static bool make_python_head(
    const char *stubs, const struct gb_value *tools, struct gb_buf *out, struct gb_err *err) {
	gb_buf_init(out, STUBS_MAX + 1024);
	if (!append_stubs(stubs, tools, true, out, err))
		return false;
	return gb_buf_c_str(out) || gb_fail(err, GB_ENOMEM, 0, "out of memory");
}

static bool make_head(
    const char *stubs, const struct gb_value *tools, struct gb_buf *out, struct gb_err *err) {
	gb_buf_init(out, STUBS_MAX + sizeof gb_executor_prelude + 1024);
	gb_buf_append(out, gb_executor_prelude, sizeof gb_executor_prelude);
	gb_buf_append(out, before_stubs, strlen(before_stubs));
	const size_t from = out->len;
	if (!append_stubs(stubs, tools, false, out, err))
		return false;
	remove_declaration(out, from);
	gb_buf_append(out, before_code, strlen(before_code));
	return gb_buf_c_str(out) || gb_fail(err, GB_ENOMEM, 0, "out of memory");
}

/* --- output --- */

/* The caller must not use @executor afterwards: its submitter may have released it. */
static void end_by(struct gb_executor *executor, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void end_by(struct gb_executor *executor, const char *format, ...) {
	va_list ap;
	if (*executor->failure)
		return;
	va_start(ap, format);
	vsnprintf(executor->failure, sizeof executor->failure, format, ap);
	va_end(ap);
	gb_execution_terminate(executor->execution, executor->failure);
}

static void exceed_output(struct gb_executor *executor) {
	end_by(executor, "Output exceeds max size of %llu bytes", (unsigned long long)executor->max_output);
}

/* Texts are lines; pieces of what a program wrote are joined as they are. As in end_by(). */
static void add_output(struct gb_executor *executor, struct gb_str text, bool is_piece) {
	const struct gb_executor_request *request = &executor->request;
	struct gb_buf *output = &executor->output;
	bool joins = (is_piece && executor->in_stream) || !output->len ||
		     (executor->in_stream && output->data[output->len - 1] == '\n');
	if (*executor->failure)
		return;
	size_t room = executor->max_output - output->len, needed = text.n + !joins;
	executor->in_stream = is_piece;
	if (needed > room && room) {
		gb_buf_append(output, "\n", !joins);
		gb_buf_append(output, text.p, gb_text_fit(text, room - !joins));
	}
	if (needed > room) {
		exceed_output(executor);
		return;
	}
	gb_buf_append(output, "\n", !joins);
	gb_buf_append_str(output, text);
	if (request->on_output)
		request->on_output(executor, text, request->data);
}

static void on_log(struct gb_executor *executor, const struct gb_log *log) {
	const struct gb_executor_request *request = &executor->request;
	gb_auto_buf struct gb_buf text;
	gb_buf_init(&text, GB_FACE_FRAMES * executor->max_output + FRAMES_SLACK + GB_SHOWN_MAX);
	gb_shown_append(&text, log->args);
	if (gb_buf_failed(&text))
		exceed_output(executor);
	else if (log->level != GB_LOG_DEBUG)
		add_output(executor, gb_buf_str(&text), false);
	else if (request->on_debug)
		request->on_debug(executor, gb_buf_str(&text), request->data);
}

/* --- calls of tools --- */

static void throw_text(struct gb_call *call, const char *name, struct gb_str message) {
	gb_auto_buf struct gb_buf text;
	gb_buf_init(&text, ERROR_MAX);
	gb_buf_append(&text, message.p, gb_text_fit(message, ERROR_MAX - 1));
	const char *shown = gb_buf_c_str(&text);
	gb_call_throw(
	    call, gb_value_error(gb_call_values(call), name, shown ? shown : "out of memory", NULL));
}

static struct gb_str text_at(const struct gb_value *list, size_t i) {
	struct gb_str text = {NULL, 0};
	const struct gb_value *value = gb_value_at(list, i);
	if (gb_value_type(value) == GB_STRING)
		text.p = gb_value_bytes(value, &text.n);
	return text;
}

static struct waiting_call *keep_call(struct gb_executor *executor, struct gb_call *call) {
	struct waiting_call *waiting = calloc(1, sizeof *waiting);
	if (!waiting)
		return NULL;
	waiting->number = ++executor->last_call;
	waiting->call = call;
	gb_list_append(&executor->calls, &waiting->link);
	return waiting;
}

/* NULL: there is no such call, or it has its answer. */
static struct gb_call *take_call(struct gb_executor *executor, uint64_t number) {
	gb_list_each(struct waiting_call, waiting, &executor->calls, link) {
		if (waiting->number != number)
			continue;
		struct gb_call *call = waiting->call;
		if (call == executor->dispatched)
			executor->dispatched = NULL;
		gb_list_remove(&waiting->link);
		free(waiting);
		return call;
	}
	return NULL;
}

/* All but the one with this number. */
static void drop_others(struct gb_executor *executor, uint64_t kept, struct gb_str message) {
	gb_list_each(struct waiting_call, waiting, &executor->calls, link) {
		if (waiting->number != kept)
			throw_text(take_call(executor, waiting->number), "Error", message);
	}
}

void gb_executor_drop_calls(struct gb_executor *executor, struct gb_str message) {
	/* The clock of the code stands while a person decides, so it must not continue. */
	drop_others(executor, executor->asked, message);
}

static void drop_calls(struct gb_executor *executor) {
	executor->asked = 0;
	drop_others(executor, 0, GB_STR("the code has ended"));
}

/* The parameters come from the code: they are JSON, and fit the schema of the tool. */
static bool check_params(struct gb_executor *executor, struct gb_str name, struct gb_str params,
    bool *ret_asks, struct gb_err *err) {
	struct gb_tool_spec tool = {0};
	if (executor->tools && !gb_tools_find(executor->tools, name, &tool))
		return gb_fail(
		    err, GB_ENOENT, 0, "there is no tool '%.*s'", (int)gb_text_fit(name, 100), name.p);
	if (params.n > PARAMS_MAX)
		return gb_fail(err, GB_ELIMIT, 0, "params: have %zu bytes of JSON; the maximum is %d",
		    params.n, PARAMS_MAX);
	gb_auto_values struct gb_values *pool = gb_values_create(VALUES_FACTOR_JSON * params.n + 4096);
	const struct gb_value *value = pool ? gb_value_from_plain_json(pool, params.p, params.n, err) : NULL;
	if (!value)
		return gb_wrap_field(err, "params");
	*ret_asks = tool.needs_approval;
	return !tool.input || gb_schema_check(tool.input, value, "params", err);
}

/* As in end_by(). */
static void dispatch(struct gb_executor *executor, uint64_t number, struct gb_call *call) {
	const struct gb_executor_request *request = &executor->request;
	const struct gb_value *args = gb_call_args(call);
	executor->dispatched = call;
	request->on_call(executor, number, text_at(args, 0), text_at(args, 1), request->data);
	/* Without an answer yet, the code goes on, so that it can call other tools at the same time. */
	if (executor->dispatched)
		gb_call_promise(call);
	executor->dispatched = NULL;
}

static void on_decided(bool approved, const char *reason, void *data) {
	struct gb_executor *executor = data;
	uint64_t number = executor->asked;
	executor->asked = 0;
	gb_list_each(struct waiting_call, waiting, &executor->calls, link) {
		if (waiting->number != number)
			continue;
		if (approved)
			dispatch(executor, number, waiting->call);
		else
			gb_executor_throw(executor, number, gb_str_from(reason));
		return;
	}
}

/* The code waits in its call, and does nothing else. */
static void ask(struct gb_executor *executor, uint64_t number, struct gb_call *call) {
	const struct gb_value *args = gb_call_args(call);
	struct gb_err err = {0};
	if (gb_execution_ask(
		executor->execution, text_at(args, 0), text_at(args, 1), on_decided, executor, &err))
		executor->asked = number;
	else
		gb_executor_throw(executor, number, gb_str_from(err.message));
}

/* As in end_by(). */
static void on_call(struct gb_execution *execution, struct gb_call *call, void *data) {
	struct gb_executor *executor = data;
	const struct gb_executor_request *request = &executor->request;
	struct gb_str name = text_at(gb_call_args(call), 0), params = text_at(gb_call_args(call), 1);
	bool asks = false;
	struct gb_err err = {0};
	(void)execution;
	if (!name.p || !params.p) {
		throw_text(call, "TypeError", GB_STR("a tool is called with its name and parameters"));
		return;
	}
	if (executor->n_calls == executor->max_calls) {
		throw_text(call, "RangeError", GB_STR("too many calls of tools"));
		end_by(executor, "Tool calls exceed max of %u per execution", executor->max_calls);
		return;
	}
	executor->n_calls++;
	if (!check_params(executor, name, params, &asks, &err)) {
		throw_text(call, "Error", gb_str_from(err.message));
		return;
	}
	struct waiting_call *waiting = request->on_call ? keep_call(executor, call) : NULL;
	if (!waiting) {
		throw_text(call, "Error", GB_STR("this host has no tools"));
		return;
	}
	if (asks)
		ask(executor, waiting->number, call);
	else
		dispatch(executor, waiting->number, call);
}

bool gb_executor_return(struct gb_executor *executor, uint64_t number, struct gb_str json) {
	/* The tool has not been called yet. */
	struct gb_call *call = number == executor->asked ? NULL : take_call(executor, number);
	if (!call)
		return false;
	struct gb_value *text = json.n ? gb_value_string(gb_call_values(call), json.p, json.n) : NULL;
	if (json.n && !text)
		throw_text(call, "RangeError", GB_STR("the answer of the tool is too long"));
	else
		gb_call_return(call, text);
	return true;
}

bool gb_executor_throw(struct gb_executor *executor, uint64_t number, struct gb_str message) {
	struct gb_call *call = number == executor->asked ? NULL : take_call(executor, number);
	if (call)
		throw_text(call, "Error", message);
	return call;
}

/* --- the result --- */

static void describe_error(const struct gb_run_error *error, struct gb_buf *out) {
	size_t n = error->message_bytes ? error->message_bytes : strlen(error->message);
	gb_buf_printf(out, "%s%s", error->name, *error->name && n ? ": " : "");
	gb_buf_append(out, error->message, n);
	if (error->line)
		gb_buf_printf(out, " (line %u, column %u)", error->line, error->column);
}

static void describe_end(struct gb_executor *executor, const struct gb_result *result, struct gb_buf *out) {
	if (*executor->failure)
		gb_buf_printf(out, "%s", executor->failure);
	else if (result->timed_out)
		gb_buf_printf(out, "Execution timed out after %llums",
		    (unsigned long long)gb_execution_timeout_ms(executor->execution));
	else if (result->truncated)
		gb_buf_printf(
		    out, "Output exceeds max size of %llu bytes", (unsigned long long)executor->max_output);
	else if (result->status == GB_DENIED)
		gb_buf_printf(out, "%s", result->error.message);
	else if (result->status != GB_SUCCESS)
		describe_error(&result->error, out);
}

/* As in end_by(). */
static void finish(struct gb_executor *executor, const struct gb_result *result) {
	const struct gb_executor_request *request = &executor->request;
	drop_calls(executor);
	describe_end(executor, result, &executor->error);
	if (gb_buf_failed(&executor->error) && !gb_buf_failed(&executor->output))
		gb_buf_clear(&executor->error);
	executor->result = (struct gb_executor_result){
	    .success = !executor->error.len && result->status == GB_SUCCESS,
	    .denied = result->status == GB_DENIED,
	    .timed_out = result->timed_out,
	    .has_value = result->status == GB_SUCCESS && gb_value_is_true(result->value),
	    .output = gb_buf_str(&executor->output),
	    .error = executor->error.len || result->status == GB_SUCCESS ? gb_buf_str(&executor->error)
									 : GB_STR("out of memory"),
	    .tool_calls = executor->n_calls,
	    .duration_ms = result->duration_ms,
	};
	request->on_done(executor, &executor->result, request->data);
}

static void on_event(struct gb_execution *execution, const struct gb_event *event, void *data) {
	struct gb_executor *executor = data;
	const struct gb_executor_request *request = &executor->request;
	(void)execution;
	if (event->kind == GB_EVENT_LOG)
		on_log(executor, &event->log);
	else if (event->kind == GB_EVENT_OUTPUT)
		add_output(executor, event->text, true);
	else if (event->kind == GB_EVENT_PENDING && request->on_pending)
		request->on_pending(executor, event->text, event->expires_ms, request->data);
	else if (event->kind == GB_EVENT_FINISHED)
		finish(executor, event->result);
}

void gb_executor_write(const struct gb_executor_result *result, struct gb_buf *out) {
	gb_buf_printf(out, "{\"success\":%s,\"output\":", result->success ? "true" : "false");
	gb_json_append_bytes(out, result->output);
	if (!result->success) {
		gb_buf_printf(out, ",\"error\":");
		gb_json_append_bytes(out, result->error);
	}
	gb_buf_printf(
	    out, ",\"tool_calls_made\":%u,\"duration_ms\":%.3f}", result->tool_calls, result->duration_ms);
}

void gb_executor_refuse(const struct gb_err *err, struct gb_buf *out) {
	bool is_size = strcmp(err->field, "code") == 0 && err->code == GB_ELIMIT;
	const struct gb_executor_result result = {
	    .error = gb_str_from(err->message + (is_size ? err->detail : 0))};
	gb_executor_write(&result, out);
}

/* --- the request --- */

static uint64_t lower_of(uint64_t asked, uint64_t max) {
	return asked && asked < max ? asked : max;
}

bool gb_executor_check(
    const struct gb_executor_request *request, const struct gb_config *config, struct gb_err *err) {
	uint64_t max = lower_of(request->max_code_bytes, config->agent.max_code_bytes);
	enum gb_language language = request->language;
	char text[80];
	snprintf(text, sizeof text, "Code exceeds max size of %llu bytes", (unsigned long long)max);
	if (request->code.n > max)
		return gb_fail_field(err, GB_ELIMIT, "code", "%s", text);
	return language == GB_TYPESCRIPT || language == GB_JAVASCRIPT || language == GB_DENO ||
	       language == GB_PYTHON ||
	       gb_fail_field(err, GB_EINVAL, "language",
		   "the executor runs TypeScript, JavaScript, Deno and Python, not %s",
		   gb_language_name(language));
}

static bool read_tools(struct gb_executor *executor, struct gb_str json, struct gb_err *err) {
	if (!json.n)
		return true;
	if (json.n > TOOLS_MAX)
		return gb_fail_field(
		    err, GB_ELIMIT, "tools", "have %zu bytes; the maximum is %d", json.n, TOOLS_MAX);
	executor->values = gb_values_create(VALUES_FACTOR_JSON * json.n + 4096);
	const struct gb_value *value =
	    executor->values ? gb_value_from_plain_json(executor->values, json.p, json.n, err) : NULL;
	executor->tools = value ? gb_tools_list(value, err) : NULL;
	return executor->tools || gb_wrap_field(err, "tools");
}

static struct gb_executor *create(const struct gb_executor_request *request, const struct gb_config *config) {
	struct gb_executor *executor = calloc(1, sizeof *executor);
	if (!executor)
		return NULL;
	executor->request = *request;
	executor->request.code = executor->request.tools = (struct gb_str){NULL, 0};
	executor->max_output = lower_of(request->max_output_bytes, config->agent.max_output_bytes);
	executor->max_calls = request->max_tool_calls == GB_NONE ? 0
								 : (unsigned)lower_of(request->max_tool_calls,
								       config->executor.max_tool_calls);
	gb_list_init(&executor->calls);
	gb_buf_init(&executor->output, executor->max_output + 1);
	gb_buf_init(&executor->error, 2 * GB_ERROR_TEXT_MAX + 1024);
	return executor;
}

static void destroy(struct gb_executor *executor) {
	gb_buf_finish(&executor->output);
	gb_buf_finish(&executor->error);
	gb_values_destroy(executor->values);
	free(executor);
}

/* The directory, as it is shown to the person who decides: absolute, without links. Empty: none. */
static bool find_workdir(const struct gb_executor_request *request, const struct gb_config *config,
    struct gb_buf *out, struct gb_err *err) {
	struct gb_workdir workdir;
	char setting[PATH_MAX + 4];
	const char *text = request->workdir;
	if (!text || !*text) {
		if (!*config->executor.working_dir)
			return true;
		snprintf(setting, sizeof setting, "%s:rw", config->executor.working_dir);
		text = setting;
	}
	if (!gb_workdir_open(text, &workdir, err))
		return false;
	gb_workdir_describe(&workdir, out);
	gb_workdir_finish(&workdir);
	return true;
}

static bool submit(struct gb_service_client *client, struct gb_executor *executor,
    const struct gb_executor_request *request, const char *head, struct gb_err *err) {
	const struct gb_config *config = gb_service_config(client->service);
	const bool has_hosts = request->hosts && *request->hosts;
	gb_auto_buf struct gb_buf workdir;
	gb_buf_init(&workdir, PATH_MAX + 4);
	if (!find_workdir(request, config, &workdir, err))
		return false;
	const struct gb_submission submission = {
	    .request = {.face = GB_FACE_EXECUTOR,
		.transport = request->transport,
		.embedder_decides = request->embedder_decides,
		.purpose = request->purpose,
		.conversation = request->conversation,
		.turn = request->turn,
		.tier = has_hosts ? GB_TIER_NETWORK : GB_TIER_ISOLATED,
		.hosts = has_hosts ? request->hosts : NULL,
		.workdir = workdir.len ? gb_buf_c_str(&workdir) : NULL,
		.around = {.head = head,
		    .tail = request->language == GB_PYTHON ? NULL : after_code,
		    .functions = functions,
		    .max_calls = executor->max_calls + FILE_CALLS},
		.run = {.source = request->code.n ? request->code.p : "",
		    .source_bytes = request->code.n,
		    .language = request->language,
		    .timeout_ms = lower_of(request->timeout_ms, config->executor.timeout_ms),
		    .output_bytes = GB_FACE_FRAMES * executor->max_output + FRAMES_SLACK}},
	    .on_event = on_event,
	    .on_call = on_call,
	    .data = executor};
	return gb_service_submit(client, &submission, &executor->execution, err);
}

bool gb_executor_start(struct gb_service_client *client, const struct gb_executor_request *request,
    struct gb_executor **ret, struct gb_err *err) {
	const struct gb_config *config = gb_service_config(client->service);
	gb_auto_buf struct gb_buf head = {0};
	if (!gb_executor_check(request, config, err))
		return false;
	struct gb_executor *executor = create(request, config);
	if (!executor)
		return gb_fail(err, GB_ENOMEM, 0, "out of memory");
	if (read_tools(executor, request->tools, err) &&
	    (request->language == GB_PYTHON ? make_python_head : make_head)(
		request->stubs, executor->tools, &head, err) &&
	    submit(client, executor, request, head.data, err)) {
		*ret = executor;
		return true;
	}
	destroy(executor);
	return false;
}

struct gb_execution *gb_executor_execution(struct gb_executor *executor) {
	return executor->execution;
}

void gb_executor_terminate(struct gb_executor *executor, const char *reason) {
	gb_execution_terminate(executor->execution, reason);
}

void gb_executor_release(struct gb_executor *executor) {
	if (!executor)
		return;
	gb_execution_release(executor->execution);
	drop_calls(executor);
	destroy(executor);
}
