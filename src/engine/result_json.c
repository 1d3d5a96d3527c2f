#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "engine/result_json.h"
#include "value/json.h"
#include "value/wtf8.h"

enum { JSON_MAX = 1 << 30 };

static void write_key(struct gb_buf *out, const char *key) {
	if (out->data[out->len - 1] != '{')
		gb_buf_append_char(out, ',');
	gb_buf_printf(out, "\"%s\":", key);
}

static void write_text(struct gb_buf *out, const char *key, const char *text) {
	write_key(out, key);
	gb_json_append_string(out, gb_str_from(text));
}

/* Ids of shared values are numbered throughout the whole result. */
struct writer {
	struct gb_buf *out;
	uint32_t next_id;
	struct gb_err *err;
};

static bool write_value(struct writer *w, const struct gb_value *value) {
	return gb_json_write(w->out, value, &w->next_id, w->err);
}

/* Invalid UTF-8 becomes the replacement character. */
static void write_bytes(struct gb_buf *out, const char *key, const char *bytes, size_t n) {
	write_key(out, key);
	if (gb_wtf8_scan(bytes ? bytes : "", bytes ? n : 0) != GB_WTF8_INVALID) {
		gb_json_append_string(out, (struct gb_str){bytes ? bytes : "", bytes ? n : 0});
		return;
	}
	gb_auto_buf struct gb_buf mended;
	gb_buf_init(&mended, 3 * n + 1);
	gb_wtf8_mend(&mended, bytes, n);
	gb_json_append_string(out, gb_buf_str(&mended));
}

static bool write_displays(struct writer *w, const struct gb_result *result) {
	if (result->n_displays == 0)
		return true;
	write_key(w->out, "displays");
	gb_buf_append_char(w->out, '[');
	for (size_t i = 0; i < result->n_displays; i++) {
		if (i)
			gb_buf_append_char(w->out, ',');
		if (!write_value(w, result->displays[i]))
			return gb_wrap(w->err, "displays[%zu]", i);
	}
	gb_buf_append_char(w->out, ']');
	return true;
}

static bool write_reports(struct writer *w, const struct gb_result *result) {
	write_key(w->out, "reports");
	gb_buf_append_char(w->out, '[');
	for (size_t i = 0; i < result->n_reports; i++) {
		if (i)
			gb_buf_append_char(w->out, ',');
		if (!write_value(w, result->reports[i]))
			return gb_wrap(w->err, "reports[%zu]", i);
	}
	gb_buf_append_char(w->out, ']');
	return true;
}

static bool write_logs(struct writer *w, const struct gb_result *result) {
	write_key(w->out, "logs");
	gb_buf_append_char(w->out, '[');
	for (size_t i = 0; i < result->n_logs; i++) {
		const struct gb_log *log = &result->logs[i];
		gb_buf_printf(
		    w->out, "%s{\"level\":\"%s\",\"args\":", i ? "," : "", gb_log_level_name(log->level));
		if (!write_value(w, log->args))
			return gb_wrap(w->err, "logs[%zu]", i);
		gb_buf_printf(w->out, ",\"timestamp\":%.3f}", log->timestamp);
	}
	gb_buf_append_char(w->out, ']');
	return true;
}

static void write_error(struct gb_buf *out, const struct gb_run_error *error) {
	write_key(out, "error");
	gb_buf_append_char(out, '{');
	const struct {
		const char *key, *text;
		size_t n; /* 0: NUL-terminated */
		bool required;
	} texts[] = {
	    {"name", error->name, error->name_bytes, true},
	    {"message", error->message, error->message_bytes, true},
	    {"code", error->code, 0, false},
	    {"stack", error->stack, error->stack_bytes, false},
	    {"specifier", error->specifier, 0, false},
	    {"filename", error->filename, 0, false},
	};
	for (size_t i = 0; i < GB_COUNT(texts); i++) {
		size_t n = texts[i].n ? texts[i].n : strlen(texts[i].text);
		if (n == 0 && !texts[i].required)
			continue;
		write_key(out, texts[i].key);
		gb_json_append_string(out, (struct gb_str){texts[i].text, n});
	}
	if (error->line) {
		write_key(out, "line");
		gb_buf_printf(out, "%u,\"column\":%u", error->line, error->column);
	}
	gb_buf_append_char(out, '}');
}

bool gb_result_write_json(struct gb_buf *out, const struct gb_result *result, struct gb_err *err) {
	struct writer w = {.out = out, .err = err};
	gb_buf_append_char(out, '{');
	write_text(out, "runId", result->run_id);
	write_text(out, "status", gb_status_name(result->status));
	/* An undefined result is omitted, as in JavaScript. */
	if (result->value && gb_value_type(result->value) != GB_UNDEFINED) {
		write_key(out, "result");
		if (!write_value(&w, result->value))
			return gb_wrap(err, "result");
	}
	if (!write_reports(&w, result) || !write_logs(&w, result))
		return false;
	if (!write_displays(&w, result))
		return false;
	if (result->files) {
		write_key(out, "files");
		if (!write_value(&w, result->files))
			return gb_wrap(err, "files");
	}
	write_bytes(out, "stdout", result->stdout_text, result->stdout_bytes);
	write_bytes(out, "stderr", result->stderr_text, result->stderr_bytes);
	gb_buf_printf(out, ",\"exitCode\":%d,\"timedOut\":%s,\"truncated\":%s", result->exit_code,
	    result->timed_out ? "true" : "false", result->truncated ? "true" : "false");
	if (result->status != GB_SUCCESS)
		write_error(out, &result->error);
	gb_buf_printf(out, ",\"durationMs\":%.3f", result->duration_ms);
	if (result->memory_used_bytes)
		gb_buf_printf(
		    out, ",\"memoryUsedBytes\":%llu", (unsigned long long)result->memory_used_bytes);
	gb_buf_append_char(out, '}');
	return !gb_buf_failed(out) || gb_fail(err, GB_ELIMIT, 0, "the result's JSON is too large");
}

char *gb_result_to_json(const struct gb_result *result, size_t *ret_n, struct gb_err *err) {
	gb_auto_buf struct gb_buf out;
	gb_buf_init(&out, JSON_MAX);
	if (!gb_result_write_json(&out, result, err) || !gb_buf_c_str(&out))
		return NULL;
	if (ret_n)
		*ret_n = out.len;
	return gb_take_pointer(&out.data);
}
