#include "server/replies.h"

#include "gate/gate.h"

#include "base/err.h"
#include "base/fields.h"
#include "config/face.h"
#include "engine/result_json.h"
#include "glovebox/errors.h"
#include "value/json.h"
#include "value/text.h"
#include "value/wtf8.h"

typedef unsigned long long ull;

enum { PROTOCOL = 1 };

static struct gb_buf *begin(struct gb_lines *lines, const char *type) {
	struct gb_buf *out = gb_lines_begin(lines);
	gb_buf_printf(out, "{\"type\":\"%s\"", type);
	return out;
}

static struct gb_buf *begin_call(struct gb_lines *lines, const char *type, struct gb_call_name name) {
	struct gb_buf *out = begin(lines, type);
	gb_buf_printf(out, ",\"run\":%llu,\"call\":%llu", (ull)name.run, (ull)name.call);
	return out;
}

static bool fail_too_long(struct gb_err *err) {
	return gb_fail(err, GB_ELIMIT, 0, "it is longer than a line of the protocol may be");
}

static bool finish(struct gb_lines *lines, struct gb_err *err) {
	gb_buf_append_char(&lines->output, '}');
	return gb_lines_end(lines) || fail_too_long(err);
}

/* Discard the line. If it was too long, report that instead of the error of the JSON writer. */
static bool give_up(struct gb_lines *lines, struct gb_err *err) {
	bool too_long = gb_buf_failed(&lines->output);
	gb_lines_drop(lines);
	return too_long ? fail_too_long(err) : false;
}

/* End a line whose last field is a value. */
static bool finish_with(
    struct gb_lines *lines, const char *key, const struct gb_value *value, struct gb_err *err) {
	uint32_t next_id = 0;
	gb_buf_printf(&lines->output, ",\"%s\":", key);
	return gb_json_write(&lines->output, value, &next_id, err) ? finish(lines, err) : give_up(lines, err);
}

void gb_reply_hello(struct gb_lines *lines, bool agent) {
	gb_buf_printf(begin(lines, "hello"), ",\"protocol\":%d,\"version\":\"%s\"%s", PROTOCOL, GB_VERSION,
	    agent ? ",\"agent\":true" : "");
	finish(lines, NULL);
}

void gb_reply_error(struct gb_lines *lines, const struct gb_rejection *rejection) {
	gb_rejection_write(begin(lines, "error"), rejection);
	finish(lines, NULL);
}

static struct gb_buf *begin_log(struct gb_lines *lines, uint64_t run, const struct gb_log *log) {
	struct gb_buf *out = begin(lines, "log");
	gb_buf_printf(out, ",\"run\":%llu,\"level\":\"%s\",\"timestamp\":%.3f", (ull)run,
	    gb_log_level_name(log->level), log->timestamp);
	return out;
}

void gb_reply_log(struct gb_lines *lines, uint64_t run, const struct gb_log *log) {
	struct gb_err err = {0};
	begin_log(lines, run, log);
	if (finish_with(lines, "args", log->args, &err))
		return;
	struct gb_buf *out = begin_log(lines, run, log);
	gb_buf_printf(out, ",\"args\":[");
	gb_json_append_string(out, gb_str_from(err.message));
	gb_buf_append_char(out, ']');
	finish(lines, NULL);
}

bool gb_reply_report(
    struct gb_lines *lines, struct gb_call_name name, const struct gb_value *value, struct gb_err *err) {
	begin_call(lines, "report", name);
	return finish_with(lines, "value", value, err);
}

bool gb_reply_call(struct gb_lines *lines, struct gb_call_name name, uint32_t function,
    const struct gb_value *args, struct gb_err *err) {
	gb_buf_printf(begin_call(lines, "call", name), ",\"function\":%u", function);
	return finish_with(lines, "args", args, err);
}

void gb_reply_answer(
    struct gb_lines *lines, struct gb_call_name name, const struct gb_value *value, bool thrown) {
	struct gb_err err = {0};
	begin_call(lines, "answer", name);
	if (finish_with(lines, thrown ? "throw" : "return", value, &err))
		return;
	struct gb_buf *out = begin_call(lines, "answer", name);
	gb_buf_printf(out, ",\"throw\":{\"$type\":\"Error\",\"name\":\"RangeError\"");
	gb_write_text(out, "message", err.message);
	gb_buf_append_char(out, '}');
	finish(lines, NULL);
}

void gb_reply_ended(struct gb_lines *lines, struct gb_call_name name) {
	gb_buf_printf(begin_call(lines, "answer", name), ",\"ended\":true");
	finish(lines, NULL);
}

static bool try_result(struct gb_buf *out, uint64_t run, const char *session, const struct gb_result *result,
    struct gb_err *err) {
	gb_buf_printf(out, "{\"type\":\"result\",\"run\":%llu", (ull)run);
	if (*session)
		gb_buf_printf(out, ",\"session\":\"%s\"", session);
	gb_buf_printf(out, ",\"result\":");
	bool ok = gb_result_write_json(out, result, err);
	gb_buf_append(out, "}\n", 2);
	return gb_buf_failed(out) ? fail_too_long(err) : ok;
}

void gb_reply_write_result(
    struct gb_buf *out, uint64_t run, const char *session, const struct gb_result *result) {
	struct gb_err err = {0};
	size_t begin = out->len;
	if (try_result(out, run, session, result, &err))
		return;
	out->len = begin;
	out->failed = false;
	/* The output was already sent while the run wrote it. */
	struct gb_result instead =
	    gb_result_instead(GB_FAILURE, "RangeError", GB_CODE_RESULT_SIZE, err.message, result);
	instead.truncated = true;
	try_result(out, run, session, &instead, NULL);
}

/* --- output and displays --- */

void gb_reply_output(struct gb_lines *lines, uint64_t run, int stream, const char *bytes, size_t n) {
	gb_auto_buf struct gb_buf mended;
	gb_buf_init(&mended, 3 * n + 1);
	struct gb_str text = {bytes, n};
	if (gb_wtf8_scan(bytes, n) == GB_WTF8_INVALID) {
		gb_wtf8_mend(&mended, bytes, n);
		text = gb_buf_str(&mended);
	}
	struct gb_buf *out = begin(lines, "output");
	gb_buf_printf(
	    out, ",\"run\":%llu,\"stream\":\"%s\",\"text\":", (ull)run, stream == 2 ? "stderr" : "stdout");
	gb_json_append_string(out, text);
	finish(lines, NULL);
}

void gb_reply_display(struct gb_lines *lines, uint64_t run, const struct gb_value *display) {
	struct gb_err err;
	gb_buf_printf(begin(lines, "display"), ",\"run\":%llu", (ull)run);
	finish_with(lines, "display", display, &err);
}

/* --- sessions --- */

static void write_masked(
    struct gb_buf *out, const char *key, const char *unmasked, struct gb_filter *filter) {
	enum { MASK_BYTES = 3 };
	gb_auto_buf struct gb_buf clean;
	gb_buf_init(&clean, MASK_BYTES * (strlen(unmasked) + 1));
	if (filter)
		gb_mask_text(filter, gb_str_from(unmasked), &clean);
	const char *text = gb_buf_c_str(&clean);
	gb_write_text(out, key, !filter ? unmasked : text ? text : "");
}

/* The prompt is output of the code, so it is masked. */
static void write_prompt(struct gb_buf *out, const char *prompt, struct gb_filter *filter) {
	write_masked(out, "prompt", prompt, filter);
}

static void write_exposed(struct gb_buf *out, const struct gb_exposed_port *exposed, const char *before) {
	gb_buf_printf(out, "%s{\"port\":%u", before, exposed->port);
	if (exposed->path)
		gb_write_text(out, "path", exposed->path);
	else
		gb_buf_printf(out, ",\"on\":%u", exposed->on);
	gb_buf_append_char(out, '}');
}

static void write_session(struct gb_buf *out, const struct gb_session_info *session,
    const struct gb_gate *gate, struct gb_filter *filter) {
	bool holds_prompt =
	    session->state == GB_SESSION_AWAITING_INPUT && gate && gb_gate_holds_prompt(gate, session->id);
	gb_buf_printf(out, "{\"id\":\"%s\"", session->id);
	gb_write_text(out, "name", session->name);
	gb_write_text(out, "conversationId", session->conversation);
	gb_write_text(out, "runtime", gb_language_name(session->language));
	if (*session->profile)
		gb_write_text(out, "profile", session->profile);
	if (*session->net)
		gb_write_text(out, "net", session->net);
	if (*session->workdir)
		gb_write_text(out, "workdir", session->workdir);
	gb_write_text(
	    out, "state", gb_session_state_name(holds_prompt ? GB_SESSION_EXECUTING : session->state));
	gb_buf_printf(out,
	    ",\"createdAt\":%.0f,\"lastUsedAt\":%.0f,\"executionCount\":%llu,\"totalTokens\":%llu,"
	    "\"queued\":%u,\"trusted\":%s",
	    session->created_at, session->last_used_at, (ull)session->executions, (ull)session->tokens,
	    session->queued, session->trusted ? "true" : "false");
	if (*session->reason)
		write_masked(out, "reason", session->reason, filter);
	for (size_t i = 0; i < session->n_exposed; i++)
		write_exposed(out, &session->exposed[i], i ? "," : ",\"exposed\":[");
	if (session->n_exposed)
		gb_buf_append_char(out, ']');
	if (session->attached)
		gb_buf_printf(out, ",\"attached\":true");
	if (*session->prompt && !holds_prompt)
		write_prompt(out, session->prompt, filter);
	gb_buf_append_char(out, '}');
}

void gb_reply_tool_result(struct gb_lines *lines, uint64_t run, struct gb_str output) {
	struct gb_buf *out = begin(lines, "tool_result");
	gb_buf_printf(out, ",\"run\":%llu,\"output\":", (ull)run);
	gb_json_append_string(out, output);
	finish(lines, NULL);
}

bool gb_reply_tool_call(struct gb_lines *lines, struct gb_call_name name, struct gb_str tool,
    struct gb_str params, struct gb_err *err) {
	struct gb_buf *out = begin_call(lines, "tool_call", name);
	gb_buf_printf(out, ",\"name\":");
	gb_json_append_bytes(out, tool);
	gb_buf_printf(out, ",\"params\":");
	gb_json_append_bytes(out, params);
	return finish(lines, err);
}

void gb_reply_executor_text(struct gb_lines *lines, uint64_t run, const char *type, struct gb_str text) {
	struct gb_buf *out = begin(lines, type);
	gb_buf_printf(out, ",\"run\":%llu,\"text\":", (ull)run);
	gb_json_append_bytes(out, text);
	finish(lines, NULL);
}

void gb_reply_executor_result(struct gb_lines *lines, uint64_t run, struct gb_str json) {
	struct gb_buf *out = begin(lines, "executor_result");
	gb_buf_printf(out, ",\"run\":%llu,\"result\":", (ull)run);
	gb_buf_append_str(out, json);
	finish(lines, NULL);
}

void gb_reply_pending(struct gb_lines *lines, uint64_t run, struct gb_str approval, int64_t expires_ms) {
	gb_buf_printf(begin(lines, "pending"), ",\"run\":%llu,\"approval\":\"%.*s\",\"expiresAt\":%lld",
	    (ull)run, GB_STR_ARG(approval), (long long)expires_ms);
	finish(lines, NULL);
}

void gb_reply_prompt(struct gb_lines *lines, uint64_t run, const char *session, struct gb_str prompt) {
	struct gb_buf *out = begin(lines, "prompt");
	gb_buf_printf(out, ",\"run\":%llu,\"session\":\"%s\",\"prompt\":", (ull)run, session);
	gb_json_append_string(out, prompt);
	finish(lines, NULL);
}

void gb_reply_session(struct gb_lines *lines, uint64_t request, const struct gb_session_info *session,
    const struct gb_gate *gate, struct gb_filter *filter) {
	struct gb_buf *out = begin(lines, "session");
	gb_buf_printf(out, ",\"request\":%llu,\"session\":", (ull)request);
	write_session(out, session, gate, filter);
	finish(lines, NULL);
}

void gb_reply_sessions(struct gb_lines *lines, uint64_t request, struct gb_manager *manager,
    const char *conversation, const struct gb_gate *gate, struct gb_filter *filter) {
	struct gb_buf *out = begin(lines, "sessions");
	struct gb_session_info info;
	gb_buf_printf(out, ",\"request\":%llu,\"sessions\":[", (ull)request);
	for (size_t i = 0; gb_manager_at(manager, conversation, i, &info); i++) {
		if (i)
			gb_buf_append_char(out, ',');
		write_session(out, &info, gate, filter);
	}
	gb_buf_append_char(out, ']');
	finish(lines, NULL);
}

void gb_reply_terminal(struct gb_lines *lines, const char *session, const char *bytes, size_t n) {
	struct gb_buf *out = begin(lines, "terminal");
	gb_buf_printf(out, ",\"session\":\"%s\",\"bytes\":{\"$type\":\"Uint8Array\",\"data\":\"", session);
	gb_base64_append(out, bytes, n);
	gb_buf_append(out, "\"}", 2);
	finish(lines, NULL);
}

void gb_reply_detached(
    struct gb_lines *lines, const char *session, const char *reason, bool ended, struct gb_filter *filter) {
	struct gb_buf *out = begin(lines, "detached");
	gb_buf_printf(out, ",\"session\":\"%s\",\"ended\":%s", session, ended ? "true" : "false");
	write_masked(out, "reason", reason, filter);
	finish(lines, NULL);
}

void gb_reply_embedder(struct gb_lines *lines, uint64_t request, unsigned faces) {
	struct gb_buf *out = begin(lines, "embedder");
	const char *comma = "";
	gb_buf_printf(out, ",\"request\":%llu,\"decides\":[", (ull)request);
	for (unsigned i = 0; i < GB_FACE_COUNT; i++)
		if (faces & 1u << i) {
			gb_buf_printf(out, "%s\"%s\"", comma, gb_face_name((enum gb_face)i));
			comma = ",";
		}
	gb_buf_append_char(out, ']');
	finish(lines, NULL);
}

void gb_reply_secret(struct gb_lines *lines, uint64_t request) {
	gb_buf_printf(begin(lines, "secret"), ",\"request\":%llu", (ull)request);
	finish(lines, NULL);
}

void gb_reply_cleaned(struct gb_lines *lines, uint64_t request, unsigned count) {
	gb_buf_printf(begin(lines, "cleaned"), ",\"request\":%llu,\"count\":%u", (ull)request, count);
	finish(lines, NULL);
}

/* --- executions --- */

static void write_execution_head(struct gb_buf *out, const struct gb_execution *execution) {
	const char *session = gb_execution_session(execution);
	gb_buf_printf(out, "{\"id\":\"%s\",\"state\":\"%s\",\"agent\":%s", gb_execution_id(execution),
	    gb_execution_state(execution), gb_execution_is_agent(execution) ? "true" : "false");
	if (*session)
		gb_buf_printf(out, ",\"session\":\"%s\"", session);
}

void gb_reply_executions(struct gb_lines *lines, uint64_t request, struct gb_service *service) {
	struct gb_buf *out = begin(lines, "executions");
	const char *separator = "";
	gb_buf_printf(out, ",\"request\":%llu,\"executions\":[", (ull)request);
	for (const struct gb_execution *each = NULL; (each = gb_service_next(service, each));
	     separator = ",") {
		gb_buf_printf(out, "%s", separator);
		write_execution_head(out, each);
		gb_buf_append_char(out, '}');
	}
	gb_buf_append_char(out, ']');
	finish(lines, NULL);
}

static bool try_execution(struct gb_lines *lines, uint64_t request, const struct gb_execution *execution,
    const struct gb_result *result, struct gb_err *err) {
	struct gb_buf *out = begin(lines, "execution");
	gb_buf_printf(out, ",\"request\":%llu,\"execution\":", (ull)request);
	write_execution_head(out, execution);
	if (result) {
		gb_buf_printf(out, ",\"result\":");
		if (!gb_result_write_json(out, result, err))
			return give_up(lines, err);
	}
	gb_buf_append_char(out, '}');
	return finish(lines, err);
}

void gb_reply_execution(struct gb_lines *lines, uint64_t request, const struct gb_execution *execution) {
	struct gb_err err = {0};
	const struct gb_result *result = gb_execution_result(execution);
	if (try_execution(lines, request, execution, result, &err))
		return;
	const struct gb_result instead =
	    gb_result_instead(GB_FAILURE, "RangeError", GB_CODE_RESULT_SIZE, err.message, result);
	try_execution(lines, request, execution, &instead, NULL);
}

void gb_reply_subscribed(struct gb_lines *lines, const char *type, uint64_t request) {
	gb_buf_printf(begin(lines, type), ",\"request\":%llu", (ull)request);
	finish(lines, NULL);
}

static bool write_event_value(
    struct gb_buf *out, const char *key, const struct gb_value *value, struct gb_err *err) {
	uint32_t next_id = 0;
	gb_buf_printf(out, ",\"%s\":", key);
	return gb_json_write(out, value, &next_id, err);
}

static void write_event_text(struct gb_buf *out, const char *key, struct gb_str text) {
	gb_auto_buf struct gb_buf mended;
	gb_buf_init(&mended, 3 * text.n + 1);
	if (gb_wtf8_scan(text.p, text.n) == GB_WTF8_INVALID) {
		gb_wtf8_mend(&mended, text.p, text.n);
		text = gb_buf_str(&mended);
	}
	gb_buf_printf(out, ",\"%s\":", key);
	gb_json_append_string(out, text);
}

static bool write_event(struct gb_buf *out, const struct gb_event *event, struct gb_err *err) {
	switch (event->kind) {
	case GB_EVENT_STARTED:
		return true;
	case GB_EVENT_PENDING:
		write_event_text(out, "approval", event->text);
		gb_buf_printf(out, ",\"expiresAt\":%lld", (long long)event->expires_ms);
		return true;
	case GB_EVENT_OUTPUT:
		gb_buf_printf(out, ",\"stream\":\"%s\"", event->stream == 2 ? "stderr" : "stdout");
		write_event_text(out, "text", event->text);
		return true;
	case GB_EVENT_LOG:
		gb_buf_printf(out, ",\"level\":\"%s\",\"timestamp\":%.3f",
		    gb_log_level_name(event->log.level), event->log.timestamp);
		return write_event_value(out, "args", event->log.args, err);
	case GB_EVENT_DISPLAY:
		return write_event_value(out, "display", event->value, err);
	case GB_EVENT_REPORT:
		return write_event_value(out, "value", event->value, err);
	case GB_EVENT_PROMPT:
		write_event_text(out, "prompt", event->text);
		return true;
	case GB_EVENT_FINISHED:
		gb_buf_printf(out, ",\"result\":");
		return gb_result_write_json(out, event->result, err);
	case GB_EVENT_LOST:
		gb_buf_printf(out, ",\"count\":%llu", (ull)event->count);
		return true;
	}
	return true;
}

static struct gb_buf *begin_event(struct gb_lines *lines, uint64_t subscription,
    const struct gb_execution *execution, const struct gb_event *event) {
	struct gb_buf *out = begin(lines, "event");
	gb_buf_printf(out, ",\"subscription\":%llu,\"execution\":\"%s\",\"seq\":%llu,\"event\":\"%s\"",
	    (ull)subscription, gb_execution_id(execution), (ull)event->seq, gb_event_name(event->kind));
	return out;
}

void gb_reply_event(struct gb_lines *lines, uint64_t subscription, const struct gb_execution *execution,
    const struct gb_event *event) {
	struct gb_err err = {0};
	bool ok = write_event(begin_event(lines, subscription, execution, event), event, &err);
	if (ok ? finish(lines, &err) : give_up(lines, &err))
		return;
	/* It does not fit into a line: the subscriber gets what it was, and why it is not there. */
	struct gb_buf *out = begin_event(lines, subscription, execution, event);
	write_event_text(out, "omitted", gb_str_from(err.message));
	finish(lines, NULL);
}

void gb_reply_missed(struct gb_lines *lines, uint64_t subscription, uint64_t n) {
	gb_buf_printf(begin(lines, "event"), ",\"subscription\":%llu,\"event\":\"lost\",\"executions\":%llu",
	    (ull)subscription, (ull)n);
	finish(lines, NULL);
}
