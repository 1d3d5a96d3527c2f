#include "value/cbor.h"

#include <math.h>
#include <string.h>

#include "value/wtf8.h"

enum { MAJOR_SHIFT = 5, INFO_MASK = 0x1f, INFO_DOUBLE = 27 };

#define MAX_INTEGER 0x1fffffffffffffp0 /* 53 bits */

static uint64_t load_big_endian(const uint8_t *at, unsigned n) {
	uint64_t number = 0;
	for (unsigned i = 0; i < n; i++)
		number = number << 8 | at[i];
	return number;
}

/* Split a head into kind and argument; only the shortest form is valid. Returns its length, or 0. */
static size_t read_head(const struct gb_cbor_reader *in, struct gb_cbor_item *item) {
	size_t left = (size_t)(in->end - in->at);
	if (left == 0)
		return 0;
	uint8_t info = in->at[0] & INFO_MASK;
	item->kind = (enum gb_cbor_kind)(in->at[0] >> MAJOR_SHIFT);
	if (info < 24) {
		item->argument = info;
		return 1;
	}
	if (info > 27)
		return 0;
	unsigned n = 1u << (info - 24);
	if (left < 1 + n)
		return 0;
	item->argument = load_big_endian(in->at + 1, n);
	if (item->kind == GB_CBOR_SIMPLE)
		return info == INFO_DOUBLE ? 1 + n : 0;
	uint64_t least = n == 1 ? 24 : UINT64_C(1) << (n * 4);
	return item->argument >= least ? 1 + n : 0;
}

static bool read_simple_or_float(size_t head, struct gb_cbor_item *item) {
	if (head == 1)
		return item->argument == GB_SIMPLE_HOLE ||
		       (item->argument >= GB_SIMPLE_FALSE && item->argument <= GB_SIMPLE_UNDEFINED);
	item->kind = GB_CBOR_FLOAT;
	memcpy(&item->number, &item->argument, sizeof item->number);
	/* A NaN payload chosen by the sender must not reach an engine that uses NaN boxing. */
	if (isnan(item->number))
		item->number = NAN;
	return true;
}

bool gb_cbor_next(struct gb_cbor_reader *in, struct gb_cbor_item *ret_item) {
	struct gb_cbor_item item = {.kind = GB_CBOR_UNSIGNED};
	size_t head = read_head(in, &item);
	if (head == 0)
		return false;
	const uint8_t *at = in->at + head;
	size_t left = (size_t)(in->end - at);
	size_t pending = in->pending ? in->pending - 1 : 0;
	switch (item.kind) {
	case GB_CBOR_UNSIGNED:
		item.number = (double)item.argument;
		break;
	case GB_CBOR_NEGATIVE:
		item.number = -1.0 - (double)item.argument;
		break;
	case GB_CBOR_BYTES:
	case GB_CBOR_TEXT:
		if (item.argument > left)
			return false;
		if (item.kind == GB_CBOR_TEXT && gb_wtf8_scan(at, item.argument) != GB_WTF8_UTF8)
			return false;
		item.bytes = at;
		at += item.argument;
		left -= item.argument;
		break;
	case GB_CBOR_ARRAY:
		if (item.argument > left)
			return false;
		pending += item.argument;
		break;
	case GB_CBOR_OBJECT:
		if (item.argument > left / 2)
			return false;
		pending += 2 * item.argument;
		break;
	case GB_CBOR_TAG:
		pending++;
		break;
	default:
		if (!read_simple_or_float(head, &item))
			return false;
	}
	if (pending > left)
		return false;
	in->at = at;
	in->pending = pending;
	*ret_item = item;
	return true;
}

bool gb_cbor_skip(struct gb_cbor_reader *in, unsigned max_depth) {
	struct gb_cbor_item item;
	if (!gb_cbor_next(in, &item))
		return false;
	uint64_t inside = item.kind == GB_CBOR_ARRAY    ? item.argument
			  : item.kind == GB_CBOR_OBJECT ? 2 * item.argument
			  : item.kind == GB_CBOR_TAG    ? 1
							: 0;
	if (inside && max_depth == 0)
		return false;
	for (uint64_t i = 0; i < inside; i++)
		if (!gb_cbor_skip(in, max_depth - 1))
			return false;
	return true;
}

static void write_head(struct gb_buf *out, enum gb_cbor_kind kind, uint64_t argument) {
	unsigned log = argument <= UINT8_MAX    ? 0
		       : argument <= UINT16_MAX ? 1
		       : argument <= UINT32_MAX ? 2
						: 3;
	unsigned n = argument < 24 ? 0 : 1u << log;
	uint8_t *at = (uint8_t *)gb_buf_reserve(out, 1 + n);
	if (!at)
		return;
	at[0] = (uint8_t)(kind << MAJOR_SHIFT | (n ? 24 + log : argument));
	for (unsigned i = 0; i < n; i++)
		at[1 + i] = (uint8_t)(argument >> 8 * (n - 1 - i));
	out->len += 1 + n;
}

void gb_cbor_array(struct gb_buf *out, uint64_t count) {
	write_head(out, GB_CBOR_ARRAY, count);
}

void gb_cbor_object(struct gb_buf *out, uint64_t count) {
	write_head(out, GB_CBOR_OBJECT, count);
}

void gb_cbor_tag(struct gb_buf *out, uint64_t tag) {
	write_head(out, GB_CBOR_TAG, tag);
}

void gb_cbor_simple(struct gb_buf *out, uint8_t simple) {
	gb_buf_append_char(out, (char)(GB_CBOR_SIMPLE << MAJOR_SHIFT | simple));
}

void gb_cbor_unsigned(struct gb_buf *out, uint64_t number) {
	write_head(out, GB_CBOR_UNSIGNED, number);
}

void gb_cbor_number(struct gb_buf *out, double number) {
	bool is_integer = fabs(number) <= MAX_INTEGER && number == (double)(int64_t)number;
	if (!is_integer || (number == 0 && signbit(number)))
		gb_cbor_float(out, number);
	else if (number < 0)
		write_head(out, GB_CBOR_NEGATIVE, (uint64_t)-number - 1);
	else
		write_head(out, GB_CBOR_UNSIGNED, (uint64_t)number);
}

void gb_cbor_float(struct gb_buf *out, double number) {
	uint8_t bytes[9] = {GB_CBOR_SIMPLE << MAJOR_SHIFT | INFO_DOUBLE};
	uint64_t bits = UINT64_C(0x7ff8000000000000);
	if (!isnan(number))
		memcpy(&bits, &number, sizeof bits);
	for (unsigned i = 0; i < 8; i++)
		bytes[1 + i] = (uint8_t)(bits >> 8 * (7 - i));
	gb_buf_append(out, bytes, sizeof bytes);
}

void gb_cbor_bytes(struct gb_buf *out, const void *bytes, size_t n) {
	write_head(out, GB_CBOR_BYTES, n);
	gb_buf_append(out, bytes, n);
}

void gb_cbor_string(struct gb_buf *out, const char *bytes, size_t n) {
	if (gb_wtf8_scan(bytes, n) != GB_WTF8_UTF8) {
		gb_cbor_tag(out, GB_CBOR_WTF8);
		gb_cbor_bytes(out, bytes, n);
		return;
	}
	write_head(out, GB_CBOR_TEXT, n);
	gb_buf_append(out, bytes, n);
}
