/*
 * Decodes frames from a worker. After the first guest instruction every byte from there is untrusted: the
 * decoders are bounded, and texts and values are copied out of the frame.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "engine/engine.h"
#include "engine/limits.h"
#include "runtime/failure.h"
#include "runtime/wire.h"
#include "value/cbor.h"
#include "value/codec.h"
#include "value/wtf8.h"

enum { LOG_LEVELS = 5, PATH_BYTES_MAX = 1024 };

_Static_assert(
    GB_FAILURE_TEXT_MAX == GB_ERROR_TEXT_MAX, "where a text of an error was cut is known by its length");

const struct gb_decode_limits gb_answer_limits = {.max_depth = 2 * GB_WIRE_DEPTH_MAX, .max_items = 4u << 20};

static bool malformed(const char *what, struct gb_err *err) {
	return gb_fail(err, GB_EFORMAT, 0, "the sandbox sent a malformed %s", what);
}

/* Prefix for the decoder's error. A graph beyond the limits is "too large", which an intact worker can
 * send. */
static bool undecodable(const char *what, struct gb_err *err) {
	return gb_wrap(
	    err, "the sandbox sent a %s %s", err->code == GB_ELIMIT ? "too large" : "malformed", what);
}

static bool read_number(struct gb_cbor_reader *in, uint64_t max, uint64_t *ret) {
	struct gb_cbor_item item;
	if (!gb_cbor_next(in, &item) || item.kind != GB_CBOR_UNSIGNED || item.argument > max)
		return false;
	*ret = item.argument;
	return true;
}

static bool read_bool(struct gb_cbor_reader *in, bool *ret) {
	struct gb_cbor_item item;
	if (!gb_cbor_next(in, &item) || item.kind != GB_CBOR_SIMPLE ||
	    (item.argument != GB_SIMPLE_TRUE && item.argument != GB_SIMPLE_FALSE))
		return false;
	*ret = item.argument == GB_SIMPLE_TRUE;
	return true;
}

/* Replaces lone surrogates by U+FFFD, which has three bytes as well. In text that is not even WTF-8, only
 * ASCII is kept. */
static void make_utf8(char *text, size_t n) {
	static const char replacement[] = {'\xef', '\xbf', '\xbd'};
	bool is_wtf8 = gb_wtf8_scan(text, n) != GB_WTF8_INVALID;
	for (size_t i = 0; i < n; i++)
		if (!is_wtf8 && (uint8_t)text[i] >= 0x80)
			text[i] = '?';
		else if (is_wtf8 && (uint8_t)text[i] == 0xed && (uint8_t)text[i + 1] >= 0xa0)
			memcpy(text + i, replacement, sizeof replacement);
}

/* Text or null; null gives the empty text. *ret_n (if not NULL) is set to the length of a text that contains
 * NULs, else left at 0. */
static bool read_text(struct gb_cbor_reader *in, struct gb_arena *texts, const char **ret, size_t *ret_n) {
	struct gb_cbor_item item;
	if (!gb_cbor_next(in, &item))
		return false;
	*ret = "";
	if (item.kind == GB_CBOR_SIMPLE)
		return item.argument == GB_SIMPLE_NULL;
	/* A text with lone surrogates is tagged bytes. They are replaced, since these texts are for
	 * display. */
	bool tagged = item.kind == GB_CBOR_TAG && item.argument == GB_CBOR_WTF8;
	if (tagged && (!gb_cbor_next(in, &item) || item.kind != GB_CBOR_BYTES))
		return false;
	if (!tagged && item.kind != GB_CBOR_TEXT)
		return false;
	char *copy = gb_arena_copy(texts, (struct gb_str){(const char *)item.bytes, item.argument});
	if (!copy)
		return false;
	if (tagged || gb_wtf8_scan(copy, item.argument) == GB_WTF8_INVALID)
		make_utf8(copy, item.argument);
	if (ret_n && memchr(copy, '\0', item.argument))
		*ret_n = item.argument;
	*ret = copy;
	return true;
}

static bool read_error(struct gb_cbor_reader *in, struct gb_arena *texts, struct gb_run_error *ret) {
	const struct {
		const char **text;
		size_t *n;
	} fields[GB_WIRE_ERROR_TEXTS] = {
	    {&ret->name, &ret->name_bytes},
	    {&ret->message, &ret->message_bytes},
	    {&ret->stack, &ret->stack_bytes},
	    {&ret->code, NULL},
	    {&ret->specifier, NULL},
	    {&ret->filename, NULL},
	};
	struct gb_cbor_item item;
	if (!gb_cbor_next(in, &item) || item.kind != GB_CBOR_ARRAY || item.argument != GB_WIRE_ERROR_FIELDS)
		return false;
	for (size_t i = 0; i < GB_COUNT(fields); i++)
		if (!read_text(in, texts, fields[i].text, fields[i].n))
			return false;
	uint64_t line, column;
	if (!read_number(in, UINT32_MAX, &line) || !read_number(in, UINT32_MAX, &column))
		return false;
	ret->line = (unsigned)line;
	ret->column = (unsigned)column;
	return true;
}

static bool append_log(struct gb_run *run, const struct gb_log *log) {
	if (run->result.n_logs == run->cap_logs) {
		size_t cap = run->cap_logs ? run->cap_logs * 2 : 8;
		struct gb_log *logs = realloc(run->logs, cap * sizeof *logs);
		if (!logs)
			return false;
		run->logs = logs;
		run->cap_logs = cap;
	}
	run->logs[run->result.n_logs++] = *log;
	run->result.logs = run->logs;
	return true;
}

static bool take_log(
    struct gb_run *run, const struct gb_decoding *decoding, const struct gb_value *args, struct gb_err *err) {
	struct gb_log log = decoding->log;
	log.args = args;
	if (!args)
		return undecodable("log line", err);
	if (gb_value_type(args) != GB_ARRAY)
		return malformed("log line", err);
	if (!append_log(run, &log))
		return gb_fail(err, GB_ENOMEM, 0, "log");
	if (run->on_log)
		GB_CALL_BACK(run->engine, run->on_log(run, &log, run->data));
	return true;
}

bool gb_answer_log(struct gb_run *run, const struct gb_frame *frame, struct gb_err *err) {
	struct gb_cbor_reader in = gb_cbor_reader(frame->payload, frame->n);
	struct gb_cbor_item time;
	uint64_t level;
	if (!read_number(&in, LOG_LEVELS - 1, &level) || !gb_cbor_next(&in, &time) ||
	    time.kind != GB_CBOR_FLOAT || !isfinite(time.number))
		return malformed("log line", err);
	const struct gb_decoding decoding = {.in = in,
	    .limits = gb_answer_limits,
	    .then = take_log,
	    .log = {.level = (enum gb_log_level)level, .timestamp = time.number}};
	return gb_run_decode(run, &decoding, err);
}

static bool append_value(struct gb_kept *kept, const struct gb_value *value) {
	if (kept->n == kept->cap) {
		size_t cap = kept->cap ? kept->cap * 2 : 8;
		const struct gb_value **list = realloc(kept->list, cap * sizeof *list);
		if (!list)
			return false;
		kept->list = list;
		kept->cap = cap;
	}
	kept->list[kept->n++] = value;
	return true;
}

static bool append_report(struct gb_run *run, const struct gb_value *value) {
	if (!append_value(&run->reports, value))
		return false;
	run->result.reports = run->reports.list;
	run->result.n_reports = run->reports.n;
	return true;
}

bool gb_answer_output(struct gb_run *run, const struct gb_frame *frame, struct gb_err *err) {
	struct gb_cbor_reader in = gb_cbor_reader(frame->payload, frame->n);
	struct gb_cbor_item bytes;
	uint64_t stream;
	if (!read_number(&in, 2, &stream) || stream == 0 || !gb_cbor_next(&in, &bytes) ||
	    bytes.kind != GB_CBOR_BYTES || bytes.argument == 0 || in.at != in.end)
		return malformed("piece of output", err);
	/* Only the payload counts: the worker enforces the same limit itself, by truncation. */
	if (!gb_run_spend_output(run, bytes.argument))
		return true;
	gb_buf_append(&run->streams[stream - 1], bytes.bytes, bytes.argument);
	if (gb_buf_failed(&run->streams[stream - 1]))
		return gb_fail(err, GB_ENOMEM, 0, "output");
	if (run->on_output)
		GB_CALL_BACK(run->engine,
		    run->on_output(run, (int)stream, (const char *)bytes.bytes, bytes.argument, run->data));
	return true;
}

/* An object of media type to text or bytes. */
static bool is_display(const struct gb_value *value) {
	if (gb_value_type(value) != GB_OBJECT)
		return false;
	for (size_t i = 0; i < gb_value_count(value); i++) {
		enum gb_type type = gb_value_type(gb_value_at(value, i));
		if (type != GB_STRING && type != GB_BUFFER && type != GB_VIEW)
			return false;
	}
	return true;
}

/* The display that replaces those left out. */
static const struct gb_value *make_notice(struct gb_run *run) {
	char text[80];
	int n = snprintf(text, sizeof text, "[more than %d displays: the rest is left out]", DISPLAYS_MAX);
	struct gb_value *notice = gb_value_object(run->values);
	return gb_value_put(notice, gb_value_string(run->values, "text/plain", strlen("text/plain")),
		   gb_value_string(run->values, text, (size_t)n))
		   ? notice
		   : NULL;
}

static bool keep_display(struct gb_run *run, const struct gb_value *value, struct gb_err *err) {
	if (!append_value(&run->displays, value))
		return gb_fail(err, GB_ENOMEM, 0, "display");
	if (run->on_display)
		GB_CALL_BACK(run->engine, run->on_display(run, value, run->data));
	return true;
}

static bool take_display(struct gb_run *run, const struct gb_decoding *decoding, const struct gb_value *value,
    struct gb_err *err) {
	(void)decoding;
	if (!value)
		return undecodable("display", err);
	return is_display(value) ? keep_display(run, value, err) : malformed("display", err);
}

bool gb_answer_display(struct gb_run *run, const struct gb_frame *frame, struct gb_err *err) {
	if (frame->n > run->display_left)
		return gb_fail(err, GB_EFORMAT, 0, "the sandbox showed more than it may");
	run->display_left -= frame->n;
	bool too_many = run->displays.n >= DISPLAYS_MAX;
	run->result.truncated |= too_many;
	if (run->displays.n > DISPLAYS_MAX)
		return true;
	const struct gb_value *notice = too_many ? make_notice(run) : NULL;
	if (too_many)
		return notice ? keep_display(run, notice, err) : gb_fail(err, GB_ENOMEM, 0, "display");
	const struct gb_decoding decoding = {
	    .in = gb_cbor_reader(frame->payload, frame->n), .limits = gb_answer_limits, .then = take_display};
	return gb_run_decode(run, &decoding, err);
}

/* A relative path without "." or ".." components: callers may create a file by this name. */
bool gb_path_is_plain(struct gb_str path) {
	struct gb_str part;
	if (path.n == 0 || path.n > PATH_BYTES_MAX || memchr(path.p, '\0', path.n))
		return false;
	for (bool more = true; more;) {
		more = gb_str_cut(&path, '/', &part);
		if (part.n == 0 || gb_str_eq(part, GB_STR(".")) || gb_str_eq(part, GB_STR("..")))
			return false;
	}
	return true;
}

static bool has_file(const struct gb_value *files, struct gb_str path) {
	for (size_t i = 0; i < gb_value_count(files); i++) {
		struct gb_str other = {0};
		other.p = gb_value_bytes(gb_value_key_at(files, i), &other.n);
		if (gb_str_eq(other, path))
			return true;
	}
	return false;
}

bool gb_answer_file(struct gb_run *run, const struct gb_frame *frame, struct gb_err *err) {
	struct gb_cbor_reader in = gb_cbor_reader(frame->payload, frame->n);
	struct gb_cbor_item path, bytes;
	if (!gb_cbor_next(&in, &path) || path.kind != GB_CBOR_TEXT || !gb_cbor_next(&in, &bytes) ||
	    bytes.kind != GB_CBOR_BYTES || in.at != in.end)
		return malformed("file", err);
	struct gb_str name = {(const char *)path.bytes, path.argument};
	bool is_list = run->takes_list && gb_str_eq(name, GB_STR("."));
	if ((!is_list && !gb_path_is_plain(name)) || has_file(run->files, name) ||
	    gb_value_count(run->files) == GB_WIRE_FILES_MAX ||
	    path.argument + bytes.argument > run->files_left)
		return malformed("file", err);
	run->files_left -= path.argument + bytes.argument;
	if (!run->files)
		run->files = gb_value_object(run->values);
	return gb_value_put(run->files, gb_value_string(run->values, name.p, name.n),
		   gb_value_buffer(run->values, bytes.bytes, bytes.argument)) ||
	       gb_fail(err, GB_ENOMEM, 0, "file");
}

bool gb_answer_exit(struct gb_run *run, const struct gb_frame *frame, struct gb_err *err) {
	struct gb_cbor_reader in = gb_cbor_reader(frame->payload, frame->n);
	uint64_t code;
	bool over = false;
	if (!read_number(&in, 255, &code) || (in.at != in.end && !read_bool(&in, &over)) || in.at != in.end)
		return malformed("exit code", err);
	if (run->exit_code >= 0)
		return malformed("second exit code", err);
	run->exit_code = (int)code;
	run->ends_session = over;
	return true;
}

bool gb_answer_spend_report(struct gb_run *run, size_t n, struct gb_err *err) {
	if (n > run->report_left)
		return gb_fail(err, GB_EFORMAT, 0, "the sandbox reported more than it may");
	run->report_left -= n;
	return true;
}

const struct gb_value *gb_answer_report(struct gb_run *run, const struct gb_value *args, struct gb_err *err) {
	const struct gb_value *value = gb_value_at(args, 0);
	if (gb_value_type(args) != GB_ARRAY || gb_value_count(args) != 1 || gb_value_type(value) == GB_HOLE) {
		malformed("report", err);
		return NULL;
	}
	if (append_report(run, value))
		return value;
	gb_fail(err, GB_ENOMEM, 0, "report");
	return NULL;
}

static void conclude(struct gb_run *run, const struct gb_decoding *decoding, const struct gb_value *value) {
	run->result.status = decoding->result.status;
	run->result.memory_used_bytes = decoding->result.memory;
	run->result.exit_code = run->exit_code >= 0                ? run->exit_code
				: run->result.status == GB_SUCCESS ? 0
								   : 1;
	run->result.truncated |= decoding->result.truncated;
	run->result.value = value;
	gb_run_conclude(run);
}

static bool take_value(struct gb_run *run, const struct gb_decoding *decoding, const struct gb_value *value,
    struct gb_err *err) {
	if (!value)
		return undecodable("result", err);
	conclude(run, decoding, value);
	return true;
}

bool gb_answer_result(struct gb_run *run, const struct gb_frame *frame, struct gb_err *err) {
	static const enum gb_status statuses[] = {
	    [GB_WIRE_SUCCESS] = GB_SUCCESS,
	    [GB_WIRE_ERROR] = GB_FAILURE,
	    [GB_WIRE_MEMORY] = GB_MEMORY,
	    [GB_WIRE_LINK_ERROR] = GB_LINK_ERROR,
	};
	struct gb_cbor_reader in = gb_cbor_reader(frame->payload, frame->n);
	uint64_t status, memory;
	bool truncated;
	if (!read_number(&in, GB_COUNT(statuses) - 1, &status) || !read_number(&in, INT64_MAX, &memory) ||
	    !read_bool(&in, &truncated))
		return malformed("result", err);

	struct gb_decoding decoding = {.limits = gb_answer_limits,
	    .then = take_value,
	    .is_result = true,
	    .result = {statuses[status], memory, truncated}};
	if (status == GB_WIRE_SUCCESS) {
		struct gb_cbor_item none;
		if (!gb_cbor_next(&in, &none) || none.kind != GB_CBOR_SIMPLE ||
		    none.argument != GB_SIMPLE_NULL)
			return malformed("result", err);
		decoding.in = in;
		return gb_run_decode(run, &decoding, err);
	}
	struct gb_run_error error = run->result.error;
	if (!read_error(&in, &run->texts, &error) || in.at != in.end)
		return malformed("result", err);
	run->result.error = error;
	conclude(run, &decoding, NULL);
	return true;
}
