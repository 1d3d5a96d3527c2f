/*
 * The CBOR (RFC 8949) between host and worker: reads and writes one item at a time, without allocation.
 *
 *	gb_cbor_array(&out, 2);				struct gb_cbor_reader in = gb_cbor_reader(bytes, n);
 *	gb_cbor_number(&out, 1);			struct gb_cbor_item item;
 *	gb_cbor_string(&out, "x", 1);			while (gb_cbor_next(&in, &item)) ...
 *
 * A strict subset: definite lengths only, shortest heads only, doubles as 64 bits. Both codecs are built on
 * it: the host's (codec.h, values in a pool) and the workers' (directly to the objects of the language).
 *
 *	undefined null true false	simple 23 22 21 20
 *	hole in an array		simple 16
 *	number				integer if it is one of at most 53 bits (never -0), else 64-bit float
 *	bigint				tag 2 (n) or 3 (-1 - n), byte string n (big endian, no leading zero)
 *	string				text; with lone surrogates tag 273, byte string in WTF-8
 *	array, object			array; map with string keys
 *	Map, Set			tag 259, map; tag 258, array
 *	Date				tag GB_CBOR_DATE, 64-bit float: milliseconds
 *	ArrayBuffer			byte string
 *	typed array, DataView		tag GB_CBOR_VIEW, array: kind, byte offset, length, buffer
 *	Error				tag GB_CBOR_ERROR, array: name, message, stack or null
 *	RegExp				tag GB_CBOR_REGEXP, array: source, flags
 *	function			tag GB_CBOR_FUNCTION, array: side, id, name or null
 *	promise				tag GB_CBOR_PROMISE, array: side, id
 *	reference to an earlier value	tag 29, index
 *
 * Every value with identity (array to RegExp) is numbered from 0, in the order in which the values begin. A
 * shared or cyclic reference is written as that number. A view gets its number before its buffer. The byte
 * strings of bigints and tagged strings, and the arrays inside other tags, get no number.
 */
#ifndef GB_VALUE_CBOR_H
#define GB_VALUE_CBOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum {
	GB_CBOR_BIGINT = 2,
	GB_CBOR_NEGATIVE_BIGINT = 3,
	GB_CBOR_REFERENCE = 29,
	GB_CBOR_SET = 258,
	GB_CBOR_MAP = 259,
	GB_CBOR_WTF8 = 273,
	GB_CBOR_DATE = 0x474201,
	GB_CBOR_VIEW = 0x474202,
	GB_CBOR_ERROR = 0x474203,
	GB_CBOR_REGEXP = 0x474204,
	GB_CBOR_FUNCTION = 0x474205,
	GB_CBOR_PROMISE = 0x474206,
};

/* An error with a cause or errors has two more fields for these; a missing one is a hole. */
enum { GB_CBOR_ERROR_FIELDS = 5 };

enum gb_cbor_kind {
	GB_CBOR_UNSIGNED,
	GB_CBOR_NEGATIVE,
	GB_CBOR_BYTES,
	GB_CBOR_TEXT,
	GB_CBOR_ARRAY,
	GB_CBOR_OBJECT,
	GB_CBOR_TAG,
	GB_CBOR_SIMPLE,
	GB_CBOR_FLOAT,
};

enum { GB_SIMPLE_HOLE = 16, GB_SIMPLE_FALSE = 20, GB_SIMPLE_TRUE, GB_SIMPLE_NULL, GB_SIMPLE_UNDEFINED };

struct gb_cbor_item {
	enum gb_cbor_kind kind;
	uint64_t argument;    /* integer, length, count, tag or simple value */
	double number;        /* of integers and floats */
	const uint8_t *bytes; /* of byte and text strings: argument bytes inside the input */
};

/* Plain data: to look ahead, copy the reader. */
struct gb_cbor_reader {
	const uint8_t *at;
	const uint8_t *end;
	size_t pending; /* items announced by the heads so far and not yet read */
};

static inline struct gb_cbor_reader gb_cbor_reader(const void *bytes, size_t n) {
	return (struct gb_cbor_reader){.at = bytes, .end = n ? (const uint8_t *)bytes + n : bytes};
}

/* Read the next item's head (and bytes). False if the input is at its end, truncated or outside the subset;
 * then the reader does not move. Counts of arrays and maps, together with those of all open containers, are
 * checked against the bytes left (at least one byte per item), so they are safe as a size for allocation.
 * Text is checked to be UTF-8. NaN is normalised. */
bool gb_cbor_next(struct gb_cbor_reader *in, struct gb_cbor_item *ret_item);

/* Skip one item with everything it contains, nested at most @max_depth deep. */
bool gb_cbor_skip(struct gb_cbor_reader *in, unsigned max_depth);

void gb_cbor_array(struct gb_buf *out, uint64_t count);
void gb_cbor_object(struct gb_buf *out, uint64_t count);
void gb_cbor_tag(struct gb_buf *out, uint64_t tag);
void gb_cbor_simple(struct gb_buf *out, uint8_t simple);
void gb_cbor_unsigned(struct gb_buf *out, uint64_t number);
/* Writes an integer or a float, as the subset requires. */
void gb_cbor_number(struct gb_buf *out, double number);
void gb_cbor_float(struct gb_buf *out, double number);
void gb_cbor_bytes(struct gb_buf *out, const void *bytes, size_t n);
/* @bytes must be WTF-8; tagged if they are not UTF-8. */
void gb_cbor_string(struct gb_buf *out, const char *bytes, size_t n);

#endif
