/* The result of an action: the six keys of code.execute. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "face/actions.h"
#include "face/shown.h"
#include "glovebox/errors.h"
#include "value/json.h"
#include "value/text.h"

enum { ERROR_MAX = 2 * GB_ERROR_TEXT_MAX + 4096 };

/* --- the error --- */

static bool is_code(const struct gb_result *result, const char *code) {
	return result->error.code && strcmp(result->error.code, code) == 0;
}

static struct gb_str text_of(const char *text, size_t n) {
	return (struct gb_str){text ? text : "", n ? n : text ? strlen(text) : 0};
}

/* bash says what is wrong on its standard error: "NAME: line 1: syntax error near unexpected token `)'". */
static struct gb_str syntax_error_of_bash(const struct gb_result *result) {
	static const char mark[] = ": line ";
	const char *at = result->exit_code == 2 && result->stderr_bytes
			     ? memmem(result->stderr_text, result->stderr_bytes, mark, sizeof mark - 1)
			     : NULL;
	if (!at)
		return (struct gb_str){NULL, 0};
	struct gb_str rest = {at + 2, (size_t)(result->stderr_text + result->stderr_bytes - at - 2)},
		      line = {NULL, 0};
	gb_str_cut(&rest, '\n', &line);
	const bool is_syntax =
	    memmem(line.p, line.n, "syntax error", 12) || memmem(line.p, line.n, "unexpected EOF", 14);
	return is_syntax ? line : (struct gb_str){NULL, 0};
}

static void append_named(struct gb_buf *out, const struct gb_run_error *error) {
	struct gb_str name = text_of(error->name, error->name_bytes),
		      message = text_of(error->message, error->message_bytes);
	/* Kinds of syntax errors of Python. */
	if (gb_str_eq(name, GB_STR("IndentationError")) || gb_str_eq(name, GB_STR("TabError")))
		gb_buf_printf(out, "SyntaxError: ");
	gb_buf_append_str(out, name);
	if (message.n)
		gb_buf_printf(out, ": ");
	gb_buf_append_str(out, message);
	/* Messages of restricted mode have it already. */
	bool has_line = memmem(message.p, message.n, "(line ", 6);
	if (error->line && message.n && !has_line)
		gb_buf_printf(out, " (line %u)", (unsigned)error->line);
}

static void append_error(const struct gb_tool_call *call, const struct gb_result *result, uint64_t timeout_ms,
    struct gb_buf *out) {
	static const char permissive[] = " (sandbox_mode: permissive allows it, inside the same sandbox)";
	struct gb_str syntax =
	    call->language == GB_SHELL ? syntax_error_of_bash(result) : (struct gb_str){NULL, 0};
	if (result->timed_out || is_code(result, GB_CODE_CPU_LIMIT)) {
		gb_buf_printf(out, "Execution timed out after %g seconds", (double)timeout_ms / 1000);
	} else if (result->status == GB_DENIED || is_code(result, GB_CODE_EXIT_CODE)) {
		if (syntax.n)
			gb_buf_printf(out, "SyntaxError: %.*s", (int)gb_text_fit(syntax, 1000), syntax.p);
		else
			gb_buf_append_str(out, text_of(result->error.message, result->error.message_bytes));
	} else {
		append_named(out, &result->error);
		if (is_code(result, GB_CODE_RESTRICTED) && call->language == GB_SHELL)
			gb_buf_append(out, permissive, sizeof permissive - 1);
	}
}

/* --- the object --- */

static void write_mark(struct gb_buf *text, uint64_t max) {
	gb_buf_printf(text, "%s[output truncated at %llu bytes]\n",
	    text->len && text->data[text->len - 1] != '\n' ? "\n" : "", (unsigned long long)max);
}

static void write_stream(const char *key, const struct gb_buf *text, struct gb_buf *out) {
	gb_buf_printf(out, ",\"%s\":", key);
	gb_json_append_bytes(out, gb_buf_str(text));
}

static void write_streams(const struct gb_result *result, uint64_t max_output, struct gb_buf *out) {
	gb_auto_buf struct gb_buf output = {0};
	gb_auto_buf struct gb_buf errors = {0};
	gb_buf_init(&output, GB_TOOL_OUTPUT_MAX);
	gb_buf_init(&errors, GB_TOOL_OUTPUT_MAX);
	gb_buf_append_str(&output, text_of(result->stdout_text, result->stdout_bytes));
	gb_buf_append_str(&errors, text_of(result->stderr_text, result->stderr_bytes));
	/* JavaScript: what console has written. */
	for (size_t i = 0; i < result->n_logs; i++) {
		gb_shown_append(&output, result->logs[i].args);
		gb_buf_append_char(&output, '\n');
	}
	if (result->truncated)
		write_mark(errors.len > output.len ? &errors : &output, max_output);
	write_stream("stdout", &output, out);
	write_stream("stderr", &errors, out);
}

static void write_value(const struct gb_result *result, struct gb_buf *out) {
	struct gb_err err = {0};
	size_t n = 0;
	bool has_value =
	    result->status == GB_SUCCESS && result->value && gb_value_type(result->value) != GB_UNDEFINED;
	gb_auto_free char *json = has_value ? gb_value_to_json(result->value, 0, &n, &err) : NULL;
	gb_buf_printf(out, ",\"return_value\":%s", json ? "" : "null");
	if (json)
		gb_buf_append(out, json, n);
}

void gb_action_write(const struct gb_tool_call *call, const struct gb_result *result, uint64_t timeout_ms,
    struct gb_buf *out) {
	bool success = result->status == GB_SUCCESS;
	gb_auto_buf struct gb_buf error;
	gb_buf_init(&error, ERROR_MAX);
	if (!success)
		append_error(call, result, timeout_ms, &error);
	gb_buf_printf(out, "{\"success\":%s", success ? "true" : "false");
	write_streams(result, call->output_bytes, out);
	write_value(result, out);
	gb_buf_printf(out, ",\"error\":%s", success ? "null" : "");
	if (!success)
		gb_json_append_bytes(
		    out, gb_buf_failed(&error) ? GB_STR("out of memory") : gb_buf_str(&error));
	gb_buf_printf(out, ",\"execution_time_ms\":%.3f}", result->duration_ms);
}

void gb_action_write_error(const char *message, struct gb_buf *out) {
	gb_buf_printf(
	    out, "{\"success\":false,\"stdout\":\"\",\"stderr\":\"\",\"return_value\":null,\"error\":");
	gb_json_append_bytes(out, gb_str_from(message));
	gb_buf_printf(out, ",\"execution_time_ms\":0}");
}
