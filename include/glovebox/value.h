/*
 * Values: what crosses the wall, in both directions, with the meaning of JavaScript's structured clone.
 *
 *	struct gb_values *pool = gb_values_create(0);
 *	struct gb_value *args = gb_value_array(pool);
 *	gb_value_push(args, gb_value_number(pool, 100));
 *	gb_value_push(args, gb_value_string(pool, "x", 1));
 *	...
 *	gb_values_destroy(pool);
 *
 * A value is a graph: containers may be shared and may contain themselves. All values of a graph live in
 * one pool and are released with it. Constructors return NULL when the pool's maximum is reached or memory
 * is out; every function that takes a value takes NULL for it and then fails, so a chain of calls needs one
 * check at its end (gb_values_failed).
 *
 * Strings are UTF-8 in which lone surrogates of JavaScript strings stand as three bytes (WTF-8).
 */
#ifndef GLOVEBOX_VALUE_H
#define GLOVEBOX_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "glovebox/err.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum gb_type {
	GB_UNDEFINED,
	GB_NULL,
	GB_BOOLEAN,
	GB_NUMBER,
	GB_BIGINT,
	GB_STRING,
	GB_HOLE, /* only as an element of an array */
	/* What follows has identity: it can be shared, and containers can hold themselves. */
	GB_ARRAY,
	GB_OBJECT,
	GB_MAP,
	GB_SET,
	GB_DATE,
	GB_BUFFER, /* ArrayBuffer */
	GB_VIEW,   /* a typed array or DataView over a GB_BUFFER */
	GB_ERROR,
	GB_REGEXP,
	GB_FUNCTION, /* one side's, which the other may call while the run lives */
	GB_PROMISE,
};

/* Whose function or promise it is. */
enum gb_side { GB_HOST, GB_SANDBOX };

enum gb_view_kind {
	GB_INT8,
	GB_UINT8,
	GB_UINT8_CLAMPED,
	GB_INT16,
	GB_UINT16,
	GB_INT32,
	GB_UINT32,
	GB_FLOAT16,
	GB_FLOAT32,
	GB_FLOAT64,
	GB_BIGINT64,
	GB_BIGUINT64,
	GB_DATAVIEW,
};

struct gb_values;
struct gb_value;

/* A pool for at most @max_bytes of values (0: 64 MiB). NULL when memory is out. */
struct gb_values *gb_values_create(size_t max_bytes);
void gb_values_destroy(struct gb_values *pool);
/* True once anything could not be made or added. */
bool gb_values_failed(const struct gb_values *pool);

struct gb_value *gb_value_undefined(struct gb_values *pool);
struct gb_value *gb_value_null(struct gb_values *pool);
struct gb_value *gb_value_hole(struct gb_values *pool);
struct gb_value *gb_value_boolean(struct gb_values *pool, bool boolean);
struct gb_value *gb_value_number(struct gb_values *pool, double number);
/* Copies. The bytes must be WTF-8, else NULL. */
struct gb_value *gb_value_string(struct gb_values *pool, const char *bytes, size_t n);
/* Magnitude as big-endian bytes (leading zeros are dropped) and a sign. */
struct gb_value *gb_value_bigint(struct gb_values *pool, bool negative, const uint8_t *magnitude, size_t n);
/* Milliseconds since 1970, without their fraction; NaN, or beyond what a JavaScript Date can hold, is an
 * invalid date. */
struct gb_value *gb_value_date(struct gb_values *pool, double milliseconds);
struct gb_value *gb_value_buffer(struct gb_values *pool, const void *bytes, size_t n);
/* @buffer is a GB_BUFFER; the window must lie within it and fit the element size. @offset is in bytes,
 * @length in elements (bytes for a DataView). */
struct gb_value *gb_value_view(
    struct gb_values *pool, enum gb_view_kind kind, struct gb_value *buffer, size_t offset, size_t length);
struct gb_value *gb_value_array(struct gb_values *pool);
struct gb_value *gb_value_object(struct gb_values *pool);
struct gb_value *gb_value_map(struct gb_values *pool);
struct gb_value *gb_value_set(struct gb_values *pool);
/* Zero-terminated texts; @stack may be NULL. */
struct gb_value *gb_value_error(
    struct gb_values *pool, const char *name, const char *message, const char *stack);
struct gb_value *gb_value_regexp(struct gb_values *pool, const char *source, const char *flags);
/* A function of the host's: calls come to the run's on_call with this @id, which is the host's to choose.
 * @name is what the code sees as its name; may be NULL. */
struct gb_value *gb_value_function(struct gb_values *pool, uint32_t id, const char *name);
/* A promise of the host's. Each time that it has arrived the run's on_call is called once with this @id,
 * without arguments, and what that call is answered with is what the promise settles with. */
struct gb_value *gb_value_promise(struct gb_values *pool, uint32_t id);

/* Append to an array or set. */
bool gb_value_push(struct gb_value *list, struct gb_value *item);
/* Append an entry; keys of an object are strings. A key that an object already has is not looked for:
 * the caller adds each key once. */
bool gb_value_put(struct gb_value *object_or_map, struct gb_value *key, struct gb_value *item);
/* The same for an object, with a zero-terminated key. */
bool gb_value_put_key(struct gb_value *object, const char *key, struct gb_value *item);

enum gb_type gb_value_type(const struct gb_value *value); /* NULL is GB_UNDEFINED */
bool gb_value_is_true(const struct gb_value *value);
double gb_value_as_number(const struct gb_value *value); /* also a date's; NaN if it is neither */
/* The bytes of a string (zero-terminated too), buffer or view window; NULL if it is none of these. */
const char *gb_value_bytes(const struct gb_value *value, size_t *ret_n);
const uint8_t *gb_value_magnitude(const struct gb_value *value, bool *ret_negative, size_t *ret_n);
enum gb_view_kind gb_value_view_kind(const struct gb_value *value);
const struct gb_value *gb_value_view_buffer(
    const struct gb_value *value, size_t *ret_offset, size_t *ret_length);
/* The texts of an error (name, message, stack or NULL) or regexp (source, flags, NULL); zero-terminated. A
 * text from the other side may hold zeros: it then seems to end there. */
const char *gb_value_text(const struct gb_value *value, unsigned index);
/* What an error from the other side was caused by, and what an AggregateError holds; NULL if it has none. */
const struct gb_value *gb_value_cause(const struct gb_value *error);
const struct gb_value *gb_value_errors(const struct gb_value *error);
/* The number of a function or promise, and whose it is. False if it is neither. */
bool gb_value_as_callable(const struct gb_value *value, enum gb_side *ret_side, uint32_t *ret_id);
/* How many elements or entries. */
size_t gb_value_count(const struct gb_value *value);
/* Element of an array or set, or item of an entry; NULL when there is none. */
const struct gb_value *gb_value_at(const struct gb_value *value, size_t index);
/* Key of an object's or map's entry. */
const struct gb_value *gb_value_key_at(const struct gb_value *value, size_t index);
/* An object's item by key, or NULL. Linear. */
const struct gb_value *gb_value_get(const struct gb_value *object, const char *key);

/* JSON text, in which what JSON cannot say is a tagged object: {"$type":"bigint","value":"1"}. See
 * docs/VALUES.md. The string is the caller's, to free(). @indent is 0 for one line. */
char *gb_value_to_json(const struct gb_value *value, unsigned indent, size_t *ret_n, struct gb_err *err);
/* The other way. Errors name line and column. */
struct gb_value *gb_value_from_json(struct gb_values *pool, const char *json, size_t n, struct gb_err *err);
/* As a person wants to see it: Map(1) { "a" => 1n }. The caller's to free(). Cut with "…" beyond @max_bytes.
 * Safe for a terminal: control characters are escaped. NULL if memory is out. */
char *gb_value_inspect(const struct gb_value *value, size_t max_bytes);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
