#include <string.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "engine/engine.h"
#include "engine/limits.h"
#include "runtime/wire.h"
#include "value/cbor.h"
#include "value/codec.h"
#include "value/wtf8.h"

static bool check_text(const char *field, const char *text, size_t n, struct gb_err *err) {
	return gb_wtf8_scan(text, n) != GB_WTF8_INVALID ||
	       gb_fail(err, GB_EINVAL, 0, "%s: is not valid UTF-8", field);
}

/* "a", "$x1": what may stand before an equals sign without further thought. */
static bool is_identifier(const char *text, size_t n) {
	if (n == 0 || (text[0] >= '0' && text[0] <= '9'))
		return false;
	for (size_t i = 0; i < n; i++) {
		char c = text[i];
		bool ok = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
			  c == '_' || c == '$';
		if (!ok)
			return false;
	}
	return true;
}

/* Letters that make no name: the bindings are made by a script. */
static bool is_reserved(const char *text, size_t n) {
	static const char words[] =
	    " break case catch class const continue debugger default delete do else enum export extends "
	    "false "
	    "finally for function if import in instanceof new null return super switch this throw true try "
	    "typeof var void while with let static yield await implements interface package private "
	    "protected "
	    "public eval arguments undefined NaN Infinity globalThis ";
	for (const char *at = words + 1; *at; at += strcspn(at, " ") + 1)
		if (strcspn(at, " ") == n && memcmp(at, text, n) == 0)
			return true;
	return false;
}

static bool check_globals(const struct gb_value *globals, struct gb_err *err) {
	if (!globals)
		return true;
	if (gb_value_type(globals) != GB_OBJECT)
		return gb_fail(err, GB_EINVAL, 0, "globals: must be an object");
	for (size_t i = 0; i < gb_value_count(globals); i++) {
		size_t n = 0;
		const char *name = gb_value_bytes(gb_value_key_at(globals, i), &n);
		if (!name || !is_identifier(name, n) || is_reserved(name, n))
			return gb_fail(err, GB_EINVAL, 0,
			    "globals: '%.*s' is not an identifier (letters, digits, _ and $, not a digit "
			    "first, no word that the language keeps for itself)",
			    (int)n, name ? name : "");
	}
	return true;
}

static bool check_range(const char *field, uint64_t value, uint64_t min, uint64_t max, struct gb_err *err) {
	if (value == 0 || (value >= min && value <= max))
		return true;
	return gb_fail(err, GB_EINVAL, 0, "%s: %llu is not between %llu and %llu", field,
	    (unsigned long long)value, (unsigned long long)min, (unsigned long long)max);
}

static bool check(const struct gb_run_options *options, size_t n_source, struct gb_err *err) {
	if (!options->source)
		return gb_fail(err, GB_EINVAL, 0, "source: is missing");
	if (n_source > GB_SOURCE_MAX)
		return gb_fail(err, GB_ELIMIT, 0, "source: %zu bytes are more than the limit of %u", n_source,
		    GB_SOURCE_MAX);
	if (options->args && gb_value_type(options->args) != GB_ARRAY)
		return gb_fail(err, GB_EINVAL, 0, "args: must be an array");
	return check_text("source", options->source, n_source, err) &&
	       (!options->filename ||
		   check_text("filename", options->filename, strlen(options->filename), err)) &&
	       (!options->fn || check_text("fn", options->fn, strlen(options->fn), err)) &&
	       check_globals(options->globals, err) &&
	       check_range("memory_bytes", options->memory_bytes, GB_MEMORY_MIN, MEMORY_MAX, err) &&
	       check_range("output_bytes", options->output_bytes, 1, OUTPUT_MAX, err) &&
	       check_range("result_bytes", options->result_bytes, 1, RESULT_MAX, err);
}

static void write_text(struct gb_buf *out, const char *text, size_t n) {
	if (text)
		gb_cbor_string(out, text, n);
	else
		gb_cbor_simple(out, GB_SIMPLE_NULL);
}

/* A second of CPU more than the wall clock allows: it only matters if the host is too busy to look. */
static uint64_t cpu_seconds(const struct gb_run_options *options) {
	if (options->timeout_ms == GB_NO_TIMEOUT)
		return 0;
	return GB_OR(options->timeout_ms, DEFAULT_TIMEOUT_MS) / 1000 + 2;
}

bool gb_request_encode(const struct gb_run_options *options, struct gb_buf *out, struct gb_err *err) {
	size_t n_source = options->source_bytes ? options->source_bytes
			  : options->source     ? strlen(options->source)
						: 0;
	if (!check(options, n_source, err))
		return false;
	const char *filename = options->filename ? options->filename : "<runCode>";
	size_t mark = gb_frame_begin(out, GB_FRAME_JOB);
	write_text(out, options->source, n_source);
	write_text(out, filename, strlen(filename));
	write_text(out, options->fn, options->fn ? strlen(options->fn) : 0);
	gb_cbor_unsigned(out, GB_OR(options->memory_bytes, DEFAULT_MEMORY));
	gb_cbor_unsigned(out, GB_OR(options->output_bytes, DEFAULT_OUTPUT));
	gb_cbor_unsigned(out, GB_OR(options->result_bytes, DEFAULT_RESULT));
	gb_cbor_unsigned(out, cpu_seconds(options));
	gb_cbor_unsigned(out, options->fn ? GB_JOB_EXPORT_REQUIRED : 0);
	if (options->globals ? !gb_value_encode(out, options->globals, err) : (gb_cbor_object(out, 0), false))
		return gb_wrap(err, "globals");
	if (options->args ? !gb_value_encode(out, options->args, err) : (gb_cbor_array(out, 0), false))
		return gb_wrap(err, "args");
	gb_frame_end(out, mark);
	if (gb_buf_failed(out))
		return gb_fail(
		    err, GB_ELIMIT, 0, "source, globals and args together are more than %zu bytes", out->max);
	return true;
}
