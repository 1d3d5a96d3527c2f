#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "value/cbor.h"
#include "value/codec.h"
#include "value/keys.h"
#include "value/repr.h"
#include "value/text.h"
#include "value/wtf8.h"

#define MAX_INTEGER UINT64_C(0x1fffffffffffff)

struct decoder {
	struct gb_cbor_reader in;
	const uint8_t *start;
	struct gb_values *pool;
	struct gb_decode_limits limits;
	unsigned depth;
	size_t items;
	struct gb_value **seen; /* values with identity, by number; NULL until created */
	size_t n_seen, cap_seen;
	struct gb_keys keys;
	struct gb_err *err;
};

static struct gb_value *decode(struct decoder *d, bool hole_allowed);

static void *fail_at(struct decoder *d, const uint8_t *at, const char *what) {
	gb_fail(d->err, GB_EFORMAT, 0, "%s at byte %zu", what, (size_t)(at - d->start));
	return NULL;
}

static void *out_of_memory(struct decoder *d) {
	gb_fail(d->err, GB_ELIMIT, 0, "value at byte %zu exceeds the memory limit",
	    (size_t)(d->in.at - d->start));
	return NULL;
}

/* Fail if the pool could not create @value. */
static struct gb_value *check_allocated(struct decoder *d, struct gb_value *value) {
	return value ? value : out_of_memory(d);
}

static bool next(struct decoder *d, struct gb_cbor_item *ret_item) {
	const uint8_t *at = d->in.at;
	if (gb_cbor_next(&d->in, ret_item))
		return true;
	fail_at(d, at, at == d->in.end ? "unexpected end of input" : "malformed or truncated CBOR");
	return false;
}

/* Assign the next number; the caller may set its value later. */
static bool assign_number(struct decoder *d) {
	if (d->n_seen == d->cap_seen) {
		size_t cap = d->cap_seen ? d->cap_seen * 2 : 64;
		struct gb_value **seen = realloc(d->seen, cap * sizeof(struct gb_value *));
		if (!seen)
			return out_of_memory(d);
		d->seen = seen;
		d->cap_seen = cap;
	}
	d->seen[d->n_seen++] = NULL;
	return true;
}

/* Assign the next number to @value; fails if it is NULL. */
static struct gb_value *assign_number_to(struct decoder *d, struct gb_value *value) {
	if (!check_allocated(d, value) || !assign_number(d))
		return NULL;
	return d->seen[d->n_seen - 1] = value;
}

static struct gb_value *decode_number(struct decoder *d, const struct gb_cbor_item *item, const uint8_t *at) {
	if (item->kind == GB_CBOR_FLOAT)
		return check_allocated(d, gb_value_float(d->pool, item->number));
	if (item->argument > MAX_INTEGER - (item->kind == GB_CBOR_NEGATIVE))
		return fail_at(d, at, "integer of more than 53 bits");
	return check_allocated(d, gb_value_number(d->pool, item->number));
}

/* Tag 3 means -1 - n: the magnitude is n + 1. */
static struct gb_value *decode_bigint(struct decoder *d, bool negative) {
	const uint8_t *at = d->in.at;
	struct gb_cbor_item item;
	if (!next(d, &item))
		return NULL;
	size_t n = item.argument;
	if (item.kind != GB_CBOR_BYTES || (n && item.bytes[0] == 0))
		return fail_at(d, at, "malformed bigint");
	return check_allocated(d, negative ? gb_value_bigint_complement(d->pool, item.bytes, n)
					   : gb_value_bigint(d->pool, false, item.bytes, n));
}

static struct gb_value *decode_wtf8(struct decoder *d) {
	const uint8_t *at = d->in.at;
	struct gb_cbor_item item;
	if (!next(d, &item))
		return NULL;
	if (item.kind != GB_CBOR_BYTES || gb_wtf8_scan(item.bytes, item.argument) != GB_WTF8_SURROGATES)
		return fail_at(d, at, "malformed string with lone surrogates");
	return check_allocated(d, gb_value_string(d->pool, (const char *)item.bytes, item.argument));
}

static struct gb_value *decode_reference(struct decoder *d) {
	const uint8_t *at = d->in.at;
	struct gb_cbor_item item;
	if (!next(d, &item))
		return NULL;
	if (item.kind != GB_CBOR_UNSIGNED || item.argument >= d->n_seen || !d->seen[item.argument])
		return fail_at(d, at, "reference to an unknown value");
	return d->seen[item.argument];
}

static bool enter(struct decoder *d, const uint8_t *at) {
	if (d->depth == d->limits.max_depth)
		return gb_fail(d->err, GB_ELIMIT, 0, "value is nested deeper than %u levels at byte %zu",
		    d->depth, (size_t)(at - d->start));
	d->depth++;
	return true;
}

/* Decode the elements of @list; fails if @list is NULL. */
static struct gb_value *decode_elements(
    struct decoder *d, struct gb_value *list, uint64_t count, const uint8_t *at) {
	if (!assign_number_to(d, list) || !enter(d, at))
		return NULL;
	if (!gb_value_reserve(list, count))
		return out_of_memory(d);
	for (uint64_t i = 0; i < count; i++) {
		struct gb_value *element = decode(d, list->type == GB_ARRAY);
		if (!element)
			return NULL;
		gb_value_push(list, element);
	}
	d->depth--;
	return list;
}

static struct gb_value *decode_entries(
    struct decoder *d, struct gb_value *into, uint64_t count, const uint8_t *at) {
	if (!assign_number_to(d, into) || !enter(d, at))
		return NULL;
	if (!gb_value_reserve(into, 2 * count))
		return out_of_memory(d);
	for (uint64_t i = 0; i < count; i++) {
		const uint8_t *key_at = d->in.at;
		struct gb_value *key = decode(d, false);
		if (key && into->type == GB_OBJECT && key->type != GB_STRING)
			return fail_at(d, key_at, "object key that is not a string");
		struct gb_value *item = key ? decode(d, false) : NULL;
		if (!item)
			return NULL;
		gb_value_put(into, key, item);
	}
	d->depth--;
	return into;
}

static struct gb_value *decode_object(struct decoder *d, uint64_t count, const uint8_t *at) {
	struct gb_value *object = decode_entries(d, gb_value_object(d->pool), count, at);
	const struct gb_value *duplicate;
	if (!object)
		return NULL;
	if (!gb_keys_check(&d->keys, object, &duplicate))
		return out_of_memory(d);
	if (!duplicate)
		return object;
	char quoted[GB_QUOTED_TEXT];
	gb_text_quote(quoted, duplicate->bytes);
	gb_fail(d->err, GB_EFORMAT, 0, "object at byte %zu has the key %s twice", (size_t)(at - d->start),
	    quoted);
	return NULL;
}

/* Read an item, which must be of @kind; returns its argument. */
static bool expect(struct decoder *d, enum gb_cbor_kind kind, const char *what, uint64_t *ret_argument) {
	const uint8_t *at = d->in.at;
	struct gb_cbor_item item;
	if (!next(d, &item))
		return false;
	if (item.kind != kind)
		return fail_at(d, at, what);
	*ret_argument = item.argument;
	return true;
}

static struct gb_value *decode_date(struct decoder *d) {
	const uint8_t *at = d->in.at;
	struct gb_cbor_item item;
	if (!next(d, &item))
		return NULL;
	if (item.kind != GB_CBOR_FLOAT)
		return fail_at(d, at, "malformed date");
	return assign_number_to(d, gb_value_date(d->pool, item.number));
}

static struct gb_value *decode_view(struct decoder *d, const uint8_t *at) {
	uint64_t fields[4] = {0}; /* the number of fields, and the first three of them */
	size_t number = d->n_seen;
	if (!expect(d, GB_CBOR_ARRAY, "malformed view", &fields[0]) || !assign_number(d))
		return NULL;
	if (fields[0] != 4)
		return fail_at(d, at, "malformed view");
	for (unsigned i = 1; i < 4; i++)
		if (!expect(d, GB_CBOR_UNSIGNED, "malformed view", &fields[i]))
			return NULL;
	struct gb_value *buffer = decode(d, false);
	if (!buffer)
		return NULL;
	if (!gb_view_fits(fields[1], buffer, fields[2], fields[3]))
		return fail_at(d, at, "view that does not fit its buffer");
	enum gb_view_kind kind = (enum gb_view_kind)fields[1];
	return d->seen[number] =
		   check_allocated(d, gb_value_view(d->pool, kind, buffer, fields[2], fields[3]));
}

/* Decode the cause and the errors of @error, which already has its number: they may refer to it. */
static struct gb_value *decode_parts(
    struct decoder *d, struct gb_value *error, struct gb_value *parts, const uint8_t *at) {
	if (!error || !enter(d, at))
		return NULL;
	for (enum gb_error_part part = GB_ERROR_CAUSE; part < GB_ERROR_PARTS; part++) {
		struct gb_value *item = decode(d, true);
		if (!item)
			return NULL;
		if (!gb_value_push(parts, item))
			return out_of_memory(d);
	}
	d->depth--;
	if (parts->list.slots[GB_ERROR_CAUSE]->type == GB_HOLE &&
	    parts->list.slots[GB_ERROR_ERRORS]->type == GB_HOLE)
		return fail_at(d, at, "error without a cause and errors, but with fields for them");
	return error;
}

static struct gb_value *decode_texts(
    struct decoder *d, enum gb_type type, unsigned count, const uint8_t *at) {
	struct gb_value *texts[GB_TEXTS] = {NULL};
	uint64_t given = 0;
	if (!expect(d, GB_CBOR_ARRAY, "malformed error or regexp", &given))
		return NULL;
	bool has_parts = type == GB_ERROR && given == GB_CBOR_ERROR_FIELDS;
	if (given != count && !has_parts)
		return fail_at(d, at, "malformed error or regexp");
	for (unsigned i = 0; i < count; i++) {
		texts[i] = decode(d, false);
		if (!texts[i])
			return NULL;
		if (i == 2 && texts[i]->type == GB_NULL)
			texts[i] = NULL;
		else if (texts[i]->type != GB_STRING)
			return fail_at(d, at, "malformed error or regexp");
	}
	struct gb_value *parts = has_parts ? gb_value_array(d->pool) : NULL;
	if (!has_parts)
		return assign_number_to(d, gb_value_texts(d->pool, type, texts));
	if (!parts || !gb_value_push(parts, texts[2] ? texts[2] : gb_value_hole(d->pool)))
		return out_of_memory(d);
	texts[2] = parts;
	return decode_parts(d, assign_number_to(d, gb_value_texts(d->pool, type, texts)), parts, at);
}

static struct gb_value *decode_callable(struct decoder *d, enum gb_type type, const uint8_t *at) {
	static const char what[] = "malformed function or promise";
	uint64_t count = 0, side = 0, id = 0;
	if (!expect(d, GB_CBOR_ARRAY, what, &count) || !expect(d, GB_CBOR_UNSIGNED, what, &side) ||
	    !expect(d, GB_CBOR_UNSIGNED, what, &id))
		return NULL;
	if (count != (type == GB_FUNCTION ? 3 : 2) || side > GB_SANDBOX || id > UINT32_MAX)
		return fail_at(d, at, what);
	struct gb_value *name = NULL;
	if (type == GB_FUNCTION && !(name = decode(d, false)))
		return NULL;
	if (name && name->type != GB_STRING && name->type != GB_NULL)
		return fail_at(d, at, what);
	if (!d->limits.admits || !d->limits.admits(d->limits.data, (enum gb_side)side, (uint32_t)id))
		return fail_at(d, at, "function or promise that is not allowed");
	return check_allocated(d, gb_value_callable(d->pool, type, (enum gb_side)side, (uint32_t)id,
				      name && name->type == GB_STRING ? name : NULL));
}

static struct gb_value *decode_tagged(struct decoder *d, uint64_t tag, const uint8_t *at) {
	uint64_t count = 0;
	switch (tag) {
	case GB_CBOR_BIGINT:
	case GB_CBOR_NEGATIVE_BIGINT:
		return decode_bigint(d, tag == GB_CBOR_NEGATIVE_BIGINT);
	case GB_CBOR_WTF8:
		return decode_wtf8(d);
	case GB_CBOR_REFERENCE:
		return decode_reference(d);
	case GB_CBOR_SET:
		if (!expect(d, GB_CBOR_ARRAY, "malformed set", &count))
			return NULL;
		return decode_elements(d, gb_value_set(d->pool), count, at);
	case GB_CBOR_MAP:
		if (!expect(d, GB_CBOR_OBJECT, "malformed map", &count))
			return NULL;
		return decode_entries(d, gb_value_map(d->pool), count, at);
	case GB_CBOR_DATE:
		return decode_date(d);
	case GB_CBOR_VIEW:
		return decode_view(d, at);
	case GB_CBOR_ERROR:
		return decode_texts(d, GB_ERROR, 3, at);
	case GB_CBOR_REGEXP:
		return decode_texts(d, GB_REGEXP, 2, at);
	case GB_CBOR_FUNCTION:
		return decode_callable(d, GB_FUNCTION, at);
	case GB_CBOR_PROMISE:
		return decode_callable(d, GB_PROMISE, at);
	default:
		gb_fail(d->err, GB_EFORMAT, 0, "unknown tag %" PRIu64 " at byte %zu", tag,
		    (size_t)(at - d->start));
		return NULL;
	}
}

static struct gb_value *decode_simple(
    struct decoder *d, uint64_t simple, bool hole_allowed, const uint8_t *at) {
	switch (simple) {
	case GB_SIMPLE_FALSE:
	case GB_SIMPLE_TRUE:
		return gb_value_boolean(d->pool, simple == GB_SIMPLE_TRUE);
	case GB_SIMPLE_NULL:
		return gb_value_null(d->pool);
	case GB_SIMPLE_UNDEFINED:
		return gb_value_undefined(d->pool);
	default:
		return hole_allowed ? gb_value_hole(d->pool) : fail_at(d, at, "hole outside an array");
	}
}

static struct gb_value *decode(struct decoder *d, bool hole_allowed) {
	const uint8_t *at = d->in.at;
	struct gb_cbor_item item;
	if (d->items == d->limits.max_items) {
		gb_fail(d->err, GB_ELIMIT, 0, "more than %zu values", d->limits.max_items);
		return NULL;
	}
	d->items++;
	if (!next(d, &item))
		return NULL;
	switch (item.kind) {
	case GB_CBOR_UNSIGNED:
	case GB_CBOR_NEGATIVE:
	case GB_CBOR_FLOAT:
		return decode_number(d, &item, at);
	case GB_CBOR_BYTES:
		return assign_number_to(d, gb_value_buffer(d->pool, item.bytes, item.argument));
	case GB_CBOR_TEXT:
		return check_allocated(d, gb_value_utf8(d->pool, (const char *)item.bytes, item.argument));
	case GB_CBOR_ARRAY:
		return decode_elements(d, gb_value_array(d->pool), item.argument, at);
	case GB_CBOR_OBJECT:
		return decode_object(d, item.argument, at);
	case GB_CBOR_TAG:
		return decode_tagged(d, item.argument, at);
	default:
		return decode_simple(d, item.argument, hole_allowed, at);
	}
}

struct gb_value *gb_value_decode(struct gb_values *pool, const void *bytes, size_t n,
    const struct gb_decode_limits *limits, struct gb_err *err) {
	struct decoder d = {
	    .in = gb_cbor_reader(bytes, n),
	    .start = bytes,
	    .pool = pool,
	    .limits = limits ? *limits : GB_DECODE_LIMITS_DEFAULT,
	    .err = err,
	};
	struct gb_value *value = decode(&d, false);
	if (value && d.in.at != d.in.end)
		value = fail_at(&d, d.in.at, "bytes after the value");
	free(d.seen);
	gb_keys_finish(&d.keys);
	return value;
}
