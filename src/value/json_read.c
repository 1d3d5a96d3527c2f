#include "value/json_read.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "value/json.h"
#include "value/repr.h"
#include "value/text.h"
#include "value/wtf8.h"

static struct gb_value *parse_value(struct gb_json_reader *r);

void *gb_json_fail(struct gb_json_reader *r, const char *at, const char *format, ...) {
	char what[GB_ERR_MESSAGE_MAX - 60];
	va_list ap;
	va_start(ap, format);
	vsnprintf(what, sizeof what, format, ap);
	va_end(ap);
	size_t line = 1, column = 1;
	for (const char *c = r->start; c < at; c++) {
		column += ((uint8_t)*c & 0xc0) != 0x80;
		if (*c == '\n') {
			line++;
			column = 1;
		}
	}
	gb_fail(r->err, GB_EFORMAT, 0, "line %zu, column %zu: %s", line, column, what);
	return NULL;
}

void *gb_json_fail_memory(struct gb_json_reader *r) {
	gb_fail(r->err, GB_ELIMIT, 0, "the JSON value exceeds its memory limit");
	return NULL;
}

static struct gb_value *check_allocated(struct gb_json_reader *r, struct gb_value *value) {
	return value ? value : gb_json_fail_memory(r);
}

static void skip_space(struct gb_json_reader *r) {
	while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r'))
		r->at++;
}

static bool accept(struct gb_json_reader *r, char wanted) {
	if (r->at == r->end || *r->at != wanted)
		return false;
	r->at++;
	return true;
}

static bool accept_digits(struct gb_json_reader *r) {
	const char *from = r->at;
	while (r->at < r->end && *r->at >= '0' && *r->at <= '9')
		r->at++;
	return r->at > from;
}

static struct gb_value *parse_number(struct gb_json_reader *r) {
	const char *from = r->at;
	double number;
	bool is_float;
	accept(r, '-');
	if (!accept(r, '0') && !accept_digits(r))
		return gb_json_fail(r, r->at, "expected a digit");
	is_float = accept(r, '.');
	if (is_float && !accept_digits(r))
		return gb_json_fail(r, r->at, "expected a digit after the point");
	if (accept(r, 'e') || accept(r, 'E')) {
		is_float = true;
		if (!accept(r, '+'))
			accept(r, '-');
		if (!accept_digits(r))
			return gb_json_fail(r, r->at, "expected a digit in the exponent");
	}
	if (!gb_number_parse((struct gb_str){from, (size_t)(r->at - from)}, &number))
		return gb_json_fail_memory(r);
	return check_allocated(
	    r, is_float ? gb_value_float(r->pool, number) : gb_value_number(r->pool, number));
}

/* Four hex digits at @at. */
static bool read_unit(const char *at, const char *end, uint32_t *ret_unit) {
	uint32_t unit = 0;
	if (end - at < 4)
		return false;
	for (unsigned i = 0; i < 4; i++) {
		char c = at[i];
		uint32_t digit = c >= '0' && c <= '9'   ? (uint32_t)(c - '0')
				 : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a' + 10)
				 : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A' + 10)
							: 16;
		if (digit == 16)
			return false;
		unit = unit << 4 | digit;
	}
	*ret_unit = unit;
	return true;
}

/* Decode what follows "\u"; a surrogate pair is one character, a lone surrogate is kept. */
static const char *unescape_unit(struct gb_buf *out, const char *at, const char *end) {
	uint32_t code, low;
	char bytes[4];
	if (!read_unit(at, end, &code))
		return NULL;
	at += 4;
	if (code >= 0xd800 && code <= 0xdbff && end - at >= 6 && at[0] == '\\' && at[1] == 'u' &&
	    read_unit(at + 2, end, &low) && low >= 0xdc00 && low <= 0xdfff) {
		code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
		at += 6;
	}
	gb_buf_append(out, bytes, gb_wtf8_encode(bytes, code));
	return at;
}

/* Decode what follows a backslash. Returns the end of the escape, or NULL if it is invalid. */
static const char *unescape(struct gb_buf *out, const char *at, const char *end) {
	static const char letters[] = "\"\\/bfnrt", codes[] = "\"\\/\b\f\n\r\t";
	if (at == end || *at == '\0')
		return NULL;
	if (*at == 'u')
		return unescape_unit(out, at + 1, end);
	const char *found = strchr(letters, *at);
	if (!found)
		return NULL;
	gb_buf_append_char(out, codes[found - letters]);
	return at + 1;
}

/* Decode the text between two quotes, which is UTF-8 with escapes. */
static struct gb_value *parse_escaped(struct gb_json_reader *r, const char *from, const char *end) {
	struct gb_buf *out = &r->scratch;
	gb_buf_clear(out);
	for (const char *plain = from; plain < end;) {
		const char *escape = memchr(plain, '\\', (size_t)(end - plain));
		gb_buf_append(out, plain, (size_t)((escape ? escape : end) - plain));
		if (!escape)
			break;
		plain = unescape(out, escape + 1, end);
		if (!plain)
			return gb_json_fail(r, escape, "invalid escape");
	}
	if (gb_buf_failed(out))
		return gb_json_fail_memory(r);
	return check_allocated(r, gb_value_string(r->pool, out->data, out->len));
}

static struct gb_value *parse_string(struct gb_json_reader *r) {
	const char *from = ++r->at;
	bool escaped = false;
	for (; r->at < r->end && *r->at != '"'; r->at++) {
		if ((uint8_t)*r->at < 0x20)
			return gb_json_fail(r, r->at, "expected control characters in strings to be escaped");
		if (*r->at == '\\') {
			escaped = true;
			if (++r->at == r->end)
				break;
		}
	}
	if (r->at == r->end)
		return gb_json_fail(r, from - 1, "unterminated string");
	const char *end = r->at++;
	if (gb_wtf8_scan(from, (size_t)(end - from)) != GB_WTF8_UTF8)
		return gb_json_fail(r, from - 1, "expected UTF-8 in this string");
	if (escaped)
		return parse_escaped(r, from, end);
	return check_allocated(r, gb_value_utf8(r->pool, from, (size_t)(end - from)));
}

static bool enter(struct gb_json_reader *r) {
	if (r->depth == GB_JSON_MAX_DEPTH) {
		gb_json_fail(r, r->at, "nested deeper than %d levels", GB_JSON_MAX_DEPTH);
		return false;
	}
	r->depth++;
	r->at++;
	skip_space(r);
	return true;
}

static struct gb_value *parse_array(struct gb_json_reader *r) {
	struct gb_value *array = check_allocated(r, gb_value_array(r->pool));
	bool pending = false;
	if (!array || !enter(r))
		return NULL;
	for (bool first = true; !accept(r, ']'); first = false) {
		if (!first && !accept(r, ','))
			return gb_json_fail(r, r->at, "expected ',' or ']'");
		struct gb_value *element = parse_value(r);
		if (!element)
			return NULL;
		if (!gb_value_push(array, element))
			return gb_json_fail_memory(r);
		pending |= element->type == GB_JSON_PENDING;
		skip_space(r);
	}
	r->depth--;
	if (pending && !gb_json_add_unresolved(r, array))
		return NULL;
	return array;
}

static bool parse_entry(struct gb_json_reader *r, struct gb_value *object, bool *pending) {
	skip_space(r);
	if (r->at == r->end || *r->at != '"')
		return gb_json_fail(
		    r, r->at, "expected a key in quotes%s", object->list.used ? "" : " or '}'");
	struct gb_value *key = parse_string(r);
	if (!key)
		return false;
	skip_space(r);
	if (!accept(r, ':'))
		return gb_json_fail(r, r->at, "expected ':'");
	skip_space(r);
	const char *at = r->at;
	struct gb_value *item = parse_value(r);
	if (!item)
		return false;
	if (item->type == GB_HOLE)
		return gb_json_fail(r, at, "a hole is only allowed in an array");
	*pending |= item->type == GB_JSON_PENDING;
	return gb_value_put(object, key, item) || gb_json_fail_memory(r);
}

static struct gb_value *parse_object(struct gb_json_reader *r) {
	const char *at = r->at;
	struct gb_value *object = check_allocated(r, gb_value_object(r->pool));
	bool pending = false;
	if (!object || !enter(r))
		return NULL;
	for (bool first = true; !accept(r, '}'); first = false) {
		if (!first && !accept(r, ','))
			return gb_json_fail(r, r->at, "expected ',' or '}'");
		if (!parse_entry(r, object, &pending))
			return NULL;
		skip_space(r);
	}
	r->depth--;
	const size_t n_read = object->list.used;
	if (!gb_keys_merge(&r->keys, object))
		return gb_json_fail_memory(r);
	if (r->unique && object->list.used != n_read)
		return gb_json_fail(r, at, "an object has a key twice");
	if (!r->plain && gb_value_get(object, "$type"))
		return gb_json_untag(r, object, at);
	if (pending && !gb_json_add_unresolved(r, object))
		return NULL;
	return object;
}

static struct gb_value *parse_word(struct gb_json_reader *r, struct gb_str word, struct gb_value *value) {
	if ((size_t)(r->end - r->at) < word.n || memcmp(r->at, word.p, word.n) != 0)
		return gb_json_fail(r, r->at, "expected a value");
	r->at += word.n;
	return value;
}

static struct gb_value *parse_value(struct gb_json_reader *r) {
	skip_space(r);
	if (r->at == r->end)
		return gb_json_fail(r, r->at, "expected a value, but the text ends");
	switch (*r->at) {
	case '{':
		return parse_object(r);
	case '[':
		return parse_array(r);
	case '"':
		return parse_string(r);
	case 't':
		return parse_word(r, GB_STR("true"), gb_value_boolean(r->pool, true));
	case 'f':
		return parse_word(r, GB_STR("false"), gb_value_boolean(r->pool, false));
	case 'n':
		return parse_word(r, GB_STR("null"), gb_value_null(r->pool));
	default:
		if (*r->at == '-' || (*r->at >= '0' && *r->at <= '9'))
			return parse_number(r);
		return gb_json_fail(r, r->at, "expected a value");
	}
}

static struct gb_value *parse_text(struct gb_json_reader *r) {
	struct gb_value *value = parse_value(r);
	if (!value)
		return NULL;
	skip_space(r);
	if (r->at != r->end)
		return gb_json_fail(r, r->at, "unexpected text after the value");
	if (value->type == GB_HOLE)
		return gb_json_fail(r, r->start, "a hole is only allowed in an array");
	if (value->type == GB_JSON_PENDING)
		return gb_json_fail(r, r->start, "a \"ref\" alone is not a value");
	return gb_json_resolve(r) ? value : NULL;
}

static struct gb_value *parse(
    struct gb_values *pool, const char *json, size_t n, bool plain, bool unique, struct gb_err *err) {
	struct gb_json_reader r = {.start = json,
	    .at = json,
	    .end = n ? json + n : json,
	    .pool = pool,
	    .plain = plain,
	    .unique = unique,
	    .err = err};
	gb_buf_init(&r.scratch, n);
	struct gb_value *value = parse_text(&r);
	gb_buf_finish(&r.scratch);
	gb_keys_finish(&r.keys);
	free(r.shared);
	free(r.unresolved);
	return value;
}

struct gb_value *gb_value_from_json(struct gb_values *pool, const char *json, size_t n, struct gb_err *err) {
	return parse(pool, json, n, false, false, err);
}

struct gb_value *gb_value_from_plain_json(
    struct gb_values *pool, const char *json, size_t n, struct gb_err *err) {
	return parse(pool, json, n, true, false, err);
}

struct gb_value *gb_value_from_unique_json(
    struct gb_values *pool, const char *json, size_t n, struct gb_err *err) {
	return parse(pool, json, n, true, true, err);
}
