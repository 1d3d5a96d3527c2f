#include <string.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fields.h"
#include "engine/engine.h"
#include "engine/limits.h"
#include "runtime/wire.h"
#include "value/cbor.h"
#include "value/codec.h"
#include "value/wtf8.h"

static bool check_text(const char *field, const char *text, size_t n, struct gb_err *err) {
	return gb_wtf8_scan(text, n) != GB_WTF8_INVALID ||
	       gb_fail_field(err, GB_EINVAL, field, "is not valid UTF-8");
}

/* "a", "$x1": a plain ASCII identifier. */
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

/* Keywords: the bindings are created by a script, which they would break. */
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

static bool check_globals(const struct gb_run_options *options, struct gb_err *err) {
	const struct gb_value *globals = options->globals;
	if (!globals)
		return true;
	if (gb_value_type(globals) != GB_OBJECT)
		return gb_fail_field(err, GB_EINVAL, "globals", "must be an object");
	if (options->report && gb_value_get(globals, "report"))
		return gb_fail_field(
		    err, GB_EINVAL, "globals", "'report' is the name of the built-in report()");
	for (size_t i = 0; i < gb_value_count(globals); i++) {
		size_t n = 0;
		const char *name = gb_value_bytes(gb_value_key_at(globals, i), &n);
		if (!name || !is_identifier(name, n) || is_reserved(name, n))
			return gb_fail_field(err, GB_EINVAL, "globals",
			    "'%.*s' is not an identifier (letters, digits, _ and $, not a digit "
			    "first, no word that the language keeps for itself)",
			    (int)n, name ? name : "");
	}
	return true;
}

static bool check_range(const char *field, uint64_t value, uint64_t min, uint64_t max, struct gb_err *err) {
	if (value == 0 || (value >= min && value <= max))
		return true;
	return gb_fail_field(err, GB_EINVAL, field, "%llu is not between %llu and %llu",
	    (unsigned long long)value, (unsigned long long)min, (unsigned long long)max);
}

static bool check_limits(const struct gb_run_options *options, struct gb_err *err) {
	for (size_t i = 0; i < gb_limit_fields_count; i++) {
		const struct gb_limit_field *field = &gb_limit_fields[i];
		if (!check_range(field->member, gb_limit_get(field, options), field->min, field->max, err))
			return false;
	}
	return true;
}

static bool check_files(const struct gb_value *files, struct gb_err *err) {
	if (files && gb_value_type(files) != GB_OBJECT)
		return gb_fail_field(err, GB_EINVAL, "files", "must be an object");
	for (size_t i = 0; i < gb_value_count(files); i++) {
		size_t n;
		const char *path = gb_value_bytes(gb_value_key_at(files, i), &n);
		bool dots = memmem(path, n, "..", 2);
		if (n == 0 || path[0] == '/' || dots || memchr(path, '\0', n) || path[n - 1] == '/')
			return gb_fail_field(err, GB_EINVAL, "files",
			    "'%.*s' is not a path within the box, such as 'data/a.csv'", (int)n, path);
		if (!gb_value_bytes(gb_value_at(files, i), NULL))
			return gb_fail_field(
			    err, GB_EINVAL, "files", "'%.*s' must be text or bytes", (int)n, path);
	}
	return true;
}

/* Reject options that this language does not support. The runtime rejects a profile that it does not have, and a
 * run without a session has no earlier definitions. */
static bool check_traits(const struct gb_run_options *options, struct gb_err *err) {
	for (size_t i = 0; i < gb_request_fields_count; i++) {
		const struct gb_request_field *field = &gb_request_fields[i];
		bool checked = field->need != GB_NEED_PROFILES && field->need != GB_NEED_SESSIONS;
		if (checked && gb_request_has(field, options) &&
		    !gb_language_has(options->language, field->need))
			return gb_fail_field(err, GB_EINVAL, field->member, "is not for %s",
			    gb_language_name(options->language));
	}
	return true;
}

bool gb_request_takes_list(const struct gb_value *take) {
	for (size_t i = 0; i < gb_value_count(take); i++) {
		struct gb_str path = {0};
		path.p = gb_value_bytes(gb_value_at(take, i), &path.n);
		if (gb_str_eq(path, GB_STR(".")))
			return true;
	}
	return false;
}

/* Paths that the worker sends as they are. */
static bool check_take(const struct gb_value *take, struct gb_err *err) {
	enum { TAKEN_MAX = 64 };
	if (gb_value_count(take) > TAKEN_MAX)
		return gb_fail_field(err, GB_EINVAL, "take", "has more than %d paths", TAKEN_MAX);
	for (size_t i = 0; i < gb_value_count(take); i++) {
		struct gb_str path = {0};
		path.p = gb_value_bytes(gb_value_at(take, i), &path.n);
		if (!gb_str_eq(path, GB_STR(".")) && !gb_path_is_plain(path))
			return gb_fail_field(err, GB_EINVAL, "take",
			    "'%.*s' is not a path within the box, such as 'data/a.csv', or '.'",
			    (int)gb_text_fit(path, 200), path.p);
	}
	return true;
}

static bool check_names(const char *field, const struct gb_value *names, struct gb_err *err) {
	if (names && gb_value_type(names) != GB_ARRAY)
		return gb_fail_field(err, GB_EINVAL, field, "must be an array");
	for (size_t i = 0; i < gb_value_count(names); i++) {
		size_t n = 0;
		if (gb_value_type(gb_value_at(names, i)) != GB_STRING)
			return gb_fail_field(err, GB_EINVAL, field, "must be an array of texts");
		/* Programs receive them as C strings. */
		const char *text = gb_value_bytes(gb_value_at(names, i), &n);
		if (memchr(text, '\0', n))
			return gb_fail_field(
			    err, GB_EINVAL, field, "a text must not hold the character U+0000");
	}
	return true;
}

/* What the kind of a field requires of its value. */
static bool check_kind(
    const struct gb_request_field *field, const struct gb_run_options *options, struct gb_err *err) {
	const char *text = gb_request_text(field, options);
	const struct gb_value *value = gb_request_value(field, options);
	switch (field->kind) {
	case GB_REQUEST_TEXT:
	case GB_REQUEST_INPUT:
		return !text || check_text(field->member, text, strlen(text), err);
	case GB_REQUEST_NAMES:
		return check_names(field->member, value, err);
	case GB_REQUEST_FILES:
		return check_files(value, err);
	case GB_REQUEST_ARGS: /* the parameters of a script are texts */
		return options->language == GB_SHELL
			   ? check_names(field->member, value, err)
			   : !value || gb_value_type(value) == GB_ARRAY ||
				 gb_fail_field(err, GB_EINVAL, field->member, "must be an array");
	default: /* checked below, together with others */
		return true;
	}
}

static bool check_kinds(const struct gb_run_options *options, struct gb_err *err) {
	for (size_t i = 0; i < gb_request_fields_count; i++)
		if (!check_kind(&gb_request_fields[i], options, err))
			return false;
	return true;
}

/* A body has no exports, and the scripts of a session are not modules. */
static bool check_body(const struct gb_run_options *options, struct gb_err *err) {
	bool is_js = options->language == GB_JAVASCRIPT || options->language == GB_TYPESCRIPT;
	return !options->is_body || (is_js && !options->session && !options->fn && !options->args) ||
	       gb_fail_field(err, GB_EINVAL, "is_body",
		   "a function body must be JavaScript or TypeScript, without session, fn and args");
}

static bool check_head(const struct gb_run_options *options, struct gb_err *err) {
	const char *const texts[] = {options->head, options->tail};
	enum gb_language language = options->language;
	bool js = language == GB_JAVASCRIPT || language == GB_TYPESCRIPT || language == GB_DENO;
	for (size_t i = 0; i < GB_COUNT(texts); i++) {
		const char *field = i ? "tail" : "head";
		if (!texts[i])
			continue;
		if ((!js && (language != GB_PYTHON || i > 0)) || options->session || options->is_body)
			return gb_fail_field(err, GB_EINVAL, field,
			    "is for JavaScript, TypeScript, Deno and, before the code, Python only, without "
			    "session and is_body");
		if (strlen(texts[i]) > GB_SOURCE_MAX)
			return gb_fail_field(err, GB_ELIMIT, field, "has more than %u bytes", GB_SOURCE_MAX);
		if (!check_text(field, texts[i], strlen(texts[i]), err))
			return false;
	}
	return true;
}

static bool check(const struct gb_run_options *options, size_t n_source, struct gb_err *err) {
	if (!options->source)
		return gb_fail_field(err, GB_EINVAL, "source", "is missing");
	if (n_source > GB_SOURCE_MAX)
		return gb_fail_field(err, GB_ELIMIT, "source", "%zu bytes are more than the limit of %u",
		    n_source, GB_SOURCE_MAX);
	if (options->run_id &&
	    (strlen(options->run_id) != 32 || strspn(options->run_id, "0123456789abcdef") != 32))
		return gb_fail_field(err, GB_EINVAL, "run_id", "is not 32 lower case hexadecimal digits");
	/* bash drops NULs, and would run a script other than the one that was shown and checked. */
	if (options->language == GB_SHELL && memchr(options->source, '\0', n_source))
		return gb_fail_field(err, GB_EINVAL, "source", "a script must not hold the character U+0000");
	return check_body(options, err) && check_head(options, err) &&
	       check_text("source", options->source, n_source, err) && check_globals(options, err) &&
	       gb_request_check_modules(options, err) && check_limits(options, err) &&
	       check_traits(options, err) && check_kinds(options, err) && check_take(options->take, err);
}

static void write_text(struct gb_buf *out, const char *text, size_t n) {
	if (text)
		gb_cbor_string(out, text, n);
	else
		gb_cbor_simple(out, GB_SIMPLE_NULL);
}

/* More CPU time than the wall-clock limit: a fallback for a host that is too busy to enforce the timeout. */
static uint64_t cpu_seconds(const struct gb_run_options *options) {
	if (options->timeout_ms == GB_NO_TIMEOUT)
		return 0;
	return gb_limit_timeout_ms(options) / 1000 + 2;
}

static void write_limits(struct gb_buf *out, const struct gb_run_options *options) {
	for (size_t i = 0; i < gb_limit_fields_count; i++) {
		const struct gb_limit_field *field = &gb_limit_fields[i];
		/* Memory is the limit whose default is the language's own. */
		uint64_t fallback = GB_OR(field->fallback, gb_language_memory(options->language));
		if (field->is_sent)
			gb_cbor_unsigned(out, GB_OR(gb_limit_get(field, options), fallback));
	}
	gb_cbor_unsigned(out, cpu_seconds(options));
}

static void write_modules(struct gb_buf *out, const struct gb_value *modules) {
	gb_cbor_unsigned(out, gb_value_count(modules));
	for (size_t i = 0; i < gb_value_count(modules); i++) {
		const struct gb_value *texts[] = {gb_value_key_at(modules, i), gb_value_at(modules, i)};
		for (size_t k = 0; k < GB_COUNT(texts); k++) {
			size_t n;
			const char *bytes = gb_value_bytes(texts[k], &n);
			write_text(out, bytes, n);
		}
	}
}

/* File contents are sent as bytes: the visible part of a view. */
static void write_files(struct gb_buf *out, const struct gb_value *files) {
	gb_cbor_object(out, gb_value_count(files));
	for (size_t i = 0; i < gb_value_count(files); i++) {
		size_t n;
		const char *path = gb_value_bytes(gb_value_key_at(files, i), &n);
		gb_cbor_string(out, path, n);
		const char *bytes = gb_value_bytes(gb_value_at(files, i), &n);
		gb_cbor_bytes(out, bytes, n);
	}
}

static bool write_setting(struct gb_buf *out, const struct gb_request_field *field,
    const struct gb_run_options *options, struct gb_err *err) {
	const char *text = gb_request_text(field, options);
	const struct gb_value *value = gb_request_value(field, options);
	gb_cbor_string(out, field->json, strlen(field->json));
	if (field->kind == GB_REQUEST_FLAG)
		gb_cbor_simple(out, GB_SIMPLE_TRUE);
	else if (field->kind == GB_REQUEST_FILES)
		write_files(out, value);
	else if (text)
		gb_cbor_string(out, text, strlen(text));
	else
		return gb_value_encode(out, value, NULL, err) || gb_wrap_field(err, field->member);
	return true;
}

/* The settings object: options of some runtimes only. Those that are not set are not written. */
static bool write_settings(struct gb_buf *out, const struct gb_run_options *options,
    const struct gb_edge_use *secrets, struct gb_err *err) {
	const struct {
		const char *name;
		bool is_set;
	} flags[] = {{"session", options->session}, {GB_SETTING_ACTION, options->is_action},
	    {GB_SETTING_READ_ONLY, options->read_only}};
	const struct {
		const char *name, *text;
	} texts[] = {{GB_SETTING_HEAD, options->head}, {GB_SETTING_TAIL, options->tail}};
	unsigned n = (options->head != NULL) + (options->tail != NULL) + (secrets != NULL);
	for (size_t i = 0; i < GB_COUNT(flags); i++)
		n += flags[i].is_set;
	for (size_t i = 0; i < gb_request_fields_count; i++)
		n += gb_request_fields[i].is_setting && gb_request_has(&gb_request_fields[i], options);
	gb_cbor_object(out, n);
	for (size_t i = 0; i < GB_COUNT(flags); i++) {
		if (!flags[i].is_set)
			continue;
		gb_cbor_string(out, flags[i].name, strlen(flags[i].name));
		gb_cbor_simple(out, GB_SIMPLE_TRUE);
	}
	for (size_t i = 0; i < GB_COUNT(texts); i++) {
		if (!texts[i].text)
			continue;
		gb_cbor_string(out, texts[i].name, strlen(texts[i].name));
		write_text(out, texts[i].text, strlen(texts[i].text));
	}
	if (secrets) {
		gb_cbor_string(out, GB_SETTING_SECRETS, strlen(GB_SETTING_SECRETS));
		gb_edge_write(secrets, out);
	}
	for (size_t i = 0; i < gb_request_fields_count; i++) {
		const struct gb_request_field *field = &gb_request_fields[i];
		if (field->is_setting && gb_request_has(field, options) &&
		    !write_setting(out, field, options, err))
			return false;
	}
	return true;
}

bool gb_request_encode(const struct gb_run_options *options, bool asks_version,
    const struct gb_edge_use *secrets, const struct gb_grants *grants, struct gb_buf *out,
    struct gb_err *err) {
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
	gb_cbor_unsigned(
	    out, (options->fn ? GB_JOB_EXPORT_REQUIRED : 0) | (options->report ? GB_JOB_REPORT : 0) |
		     (options->language == GB_TYPESCRIPT ? GB_JOB_TYPESCRIPT : 0) |
		     (options->session ? GB_JOB_SESSION : 0) | (options->is_body ? GB_JOB_BODY : 0) |
		     (options->last_value ? GB_JOB_LAST_VALUE : 0) | (asks_version ? GB_JOB_VERSION : 0));
	write_limits(out, options);
	write_modules(out, options->modules);
	const struct gb_root roots[] = {
	    {"imports", GB_OBJECT, options->imports},
	    {"globals", GB_OBJECT, options->globals},
	    {"args", GB_ARRAY, options->args},
	};
	if (!gb_value_encode_roots(out, roots, GB_COUNT(roots), grants, err) ||
	    !write_settings(out, options, secrets, err))
		return false;
	gb_frame_end(out, mark);
	if (gb_buf_failed(out))
		return gb_fail(err, GB_ELIMIT, 0,
		    "source, modules, imports, globals and args together are more than %zu bytes", out->max);
	return true;
}
