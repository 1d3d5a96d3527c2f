#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "value/inspect.h"
#include "value/repr.h"
#include "value/text.h"
#include "value/wtf8.h"

enum { PIECE = 256 };

/* The length of the longest prefix that fits in @room without splitting a character. */
static size_t whole_characters(const char *bytes, size_t n, size_t room) {
	if (n <= room)
		return n;
	while (room && ((uint8_t)bytes[room] & 0xc0) == 0x80)
		room--;
	return room;
}

void gb_page_put(struct gb_page *page, const char *bytes, size_t n) {
	if (gb_page_stopped(page))
		return;
	size_t column = page->out.len - page->line_start;
	if (page->one_line && (column > GB_INSPECT_WIDTH || n > GB_INSPECT_WIDTH - column)) {
		page->overflow = true;
		return;
	}
	size_t fits = whole_characters(bytes, n, page->max - page->out.len);
	gb_buf_append(&page->out, bytes, fits);
	page->cut = fits < n;
}

void gb_page_text(struct gb_page *page, const char *zero_terminated) {
	gb_page_put(page, zero_terminated, strlen(zero_terminated));
}

void gb_page_printf(struct gb_page *page, const char *format, ...) {
	char text[128];
	va_list ap;
	va_start(ap, format);
	vsnprintf(text, sizeof text, format, ap);
	va_end(ap);
	gb_page_text(page, text);
}

void gb_page_break(struct gb_page *page) {
	if (page->one_line) {
		page->overflow = true;
		return;
	}
	gb_page_put(page, "\n", 1);
	page->line_start = page->out.len;
	for (size_t i = 0; i < page->indent; i++)
		gb_page_put(page, " ", 1);
}

/* Returns false if the character needs no escape. */
static bool put_escape(struct gb_page *page, uint32_t code, enum gb_inspect_quotes quotes) {
	static const char codes[] = "\b\t\n\v\f\r", letters[] = "btnvfr";
	if (quotes == GB_INSPECT_QUOTED && (code == '"' || code == '\\')) {
		gb_page_printf(page, "\\%c", (int)code);
		return true;
	}
	if (quotes == GB_INSPECT_LINES && code == '\t')
		return false;
	if (!gb_wtf8_is_unsafe(code))
		return false;
	const char *found = code && code < 0x20 ? strchr(codes, (int)code) : NULL;
	if (quotes == GB_INSPECT_LINES && code == '\n')
		gb_page_break(page);
	else if (found)
		gb_page_printf(page, "\\%c", letters[found - codes]);
	else
		gb_page_printf(page, code < 0x100 ? "\\x%02" PRIx32 : "\\u%04" PRIx32, code);
	return true;
}

void gb_inspect_string(struct gb_page *page, struct gb_str s, enum gb_inspect_quotes quotes) {
	const char *at = s.p, *end = s.p + s.n, *plain = at;
	if (quotes == GB_INSPECT_QUOTED)
		gb_page_put(page, "\"", 1);
	while (at < end && !gb_page_stopped(page)) {
		uint32_t code;
		size_t n = gb_wtf8_decode(at, &code);
		bool special = gb_wtf8_is_unsafe(code) || code == '"' || code == '\\';
		if (special || at - plain >= PIECE) {
			gb_page_put(page, plain, (size_t)(at - plain));
			plain = at;
		}
		at += n;
		if (special && put_escape(page, code, quotes))
			plain = at;
	}
	gb_page_put(page, plain, (size_t)(at - plain));
	if (quotes == GB_INSPECT_QUOTED)
		gb_page_put(page, "\"", 1);
}

static void put_number(struct gb_page *page, double number) {
	char text[GB_NUMBER_TEXT];
	size_t n = gb_number_format(text, number);
	if (number == 0 && signbit(number))
		gb_page_put(page, "-0", 2);
	else
		gb_page_put(page, text, n);
}

static void put_bigint(struct gb_page *page, const struct gb_value *value) {
	if (value->bytes.n > page->max) {
		gb_page_text(page, "BigInt");
		page->cut = true;
		return;
	}
	struct gb_buf text;
	gb_buf_init(&text, SIZE_MAX);
	gb_bigint_format(&text, value);
	gb_page_put(page, text.data, text.len);
	gb_page_put(page, "n", 1);
	gb_buf_finish(&text);
}

static void put_date(struct gb_page *page, double milliseconds) {
	char text[GB_DATE_TEXT];
	if (isnan(milliseconds))
		gb_page_text(page, "Invalid Date");
	else
		gb_page_put(page, text, gb_date_format(text, milliseconds));
}

static void put_error(struct gb_page *page, const struct gb_value *value) {
	const struct gb_value *stack = gb_error_part(value, GB_ERROR_STACK);
	if (stack && stack->bytes.n) {
		gb_inspect_string(page, stack->bytes, GB_INSPECT_LINES);
		return;
	}
	gb_inspect_string(page, value->texts[0]->bytes, GB_INSPECT_BARE);
	if (value->texts[1]->bytes.n) {
		gb_page_put(page, ": ", 2);
		gb_inspect_string(page, value->texts[1]->bytes, GB_INSPECT_LINES);
	}
}

static void put_regexp(struct gb_page *page, const struct gb_value *value) {
	gb_page_put(page, "/", 1);
	gb_inspect_string(page, value->texts[0]->bytes, GB_INSPECT_BARE);
	gb_page_put(page, "/", 1);
	gb_inspect_string(page, value->texts[1]->bytes, GB_INSPECT_BARE);
}

void gb_inspect_leaf(struct gb_page *page, const struct gb_value *value) {
	switch ((enum gb_type)value->type) {
	case GB_NULL:
		gb_page_text(page, "null");
		return;
	case GB_BOOLEAN:
		gb_page_text(page, value->flag ? "true" : "false");
		return;
	case GB_NUMBER:
		put_number(page, value->number);
		return;
	case GB_BIGINT:
		put_bigint(page, value);
		return;
	case GB_STRING:
		gb_inspect_string(page, value->bytes, GB_INSPECT_QUOTED);
		return;
	case GB_HOLE:
		gb_page_text(page, "<empty>");
		return;
	case GB_DATE:
		put_date(page, value->number);
		return;
	case GB_BUFFER:
		gb_page_printf(page, "ArrayBuffer { byteLength: %zu }", value->bytes.n);
		return;
	case GB_VIEW:
		gb_page_printf(page, "DataView { byteLength: %zu, byteOffset: %zu }", value->view.length,
		    value->view.offset);
		return;
	case GB_ERROR:
		put_error(page, value);
		return;
	case GB_REGEXP:
		put_regexp(page, value);
		return;
	case GB_FUNCTION:
		gb_page_text(page, "[Function");
		if (value->callable.name && value->callable.name->bytes.n) {
			gb_page_text(page, ": ");
			gb_inspect_string(page, value->callable.name->bytes, GB_INSPECT_BARE);
		}
		gb_page_text(page, "]");
		return;
	case GB_PROMISE:
		gb_page_text(page, "Promise");
		return;
	default:
		gb_page_text(page, "undefined");
	}
}

static double half_to_double(uint16_t half) {
	int exponent = half >> 10 & 0x1f, fraction = half & 0x3ff;
	double magnitude = exponent == 0   ? ldexp(fraction, -24)
			   : exponent < 31 ? ldexp(fraction + 1024, exponent - 25)
			   : fraction      ? (double)NAN
					   : (double)INFINITY;
	return half & 0x8000 ? -magnitude : magnitude;
}

void gb_inspect_element(struct gb_page *page, const struct gb_value *view, size_t index) {
	size_t size = gb_view_infos[view->kind].size;
	const char *at = gb_value_bytes(view, NULL) + index * size;
	uint64_t bits = 0;
	for (size_t i = 0; i < size; i++)
		bits |= (uint64_t)(uint8_t)at[i] << 8 * i;
	uint32_t word = (uint32_t)bits;
	float single;
	double number;
	memcpy(&single, &word, sizeof single);
	memcpy(&number, &bits, sizeof number);
	switch ((enum gb_view_kind)view->kind) {
	case GB_INT8:
		put_number(page, (int8_t)bits);
		return;
	case GB_INT16:
		put_number(page, (int16_t)bits);
		return;
	case GB_INT32:
		put_number(page, (int32_t)bits);
		return;
	case GB_FLOAT16:
		put_number(page, half_to_double((uint16_t)bits));
		return;
	case GB_FLOAT32:
		put_number(page, (double)single);
		return;
	case GB_FLOAT64:
		put_number(page, number);
		return;
	case GB_BIGINT64:
		gb_page_printf(page, "%" PRId64 "n", (int64_t)bits);
		return;
	case GB_BIGUINT64:
		gb_page_printf(page, "%" PRIu64 "n", bits);
		return;
	default:
		put_number(page, (double)bits);
	}
}
