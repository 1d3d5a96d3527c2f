/*
 * Values that host and sandbox exchange, with the semantics of JavaScript's structured clone.
 *
 *	struct gb_values *pool = gb_values_create(0);
 *	struct gb_value *args = gb_value_array(pool);
 *	gb_value_push(args, gb_value_number(pool, 100));
 *	gb_value_push(args, gb_value_string(pool, "x", 1));
 *	...
 *	gb_values_destroy(pool);
 *
 * A value is a graph: containers may be shared and may contain themselves. All values of a graph live in
 * one pool and are freed with it. Constructors return NULL if the pool's maximum is reached or memory is
 * exhausted; every function that takes a value accepts NULL and then fails, so a chain of calls needs one
 * check at its end (gb_values_failed).
 *
 * Strings are WTF-8: UTF-8 that encodes lone surrogates of JavaScript strings as three bytes.
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
	/* The types below have identity: values can be shared, and containers can contain themselves. */
	GB_ARRAY,
	GB_OBJECT,
	GB_MAP,
	GB_SET,
	GB_DATE,
	GB_BUFFER, /* ArrayBuffer */
	GB_VIEW,   /* a typed array or DataView over a GB_BUFFER */
	GB_ERROR,
	GB_REGEXP,
	GB_FUNCTION, /* a function of one side that the other side may call during the run */
	GB_PROMISE,
};

/* The side that a function or promise belongs to. */
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

/* Create a pool for at most @max_bytes of values (0: 64 MiB). The caller owns it. NULL if memory is
 * exhausted. */
struct gb_values *gb_values_create(size_t max_bytes);
/* Free the pool with all its values. NULL is allowed. */
void gb_values_destroy(struct gb_values *pool);
/* Whether any call has failed to create or add a value. */
bool gb_values_failed(const struct gb_values *pool);

struct gb_value *gb_value_undefined(struct gb_values *pool);
struct gb_value *gb_value_null(struct gb_values *pool);
struct gb_value *gb_value_hole(struct gb_values *pool);
struct gb_value *gb_value_boolean(struct gb_values *pool, bool boolean);
struct gb_value *gb_value_number(struct gb_values *pool, double number);
/* Copies @bytes. NULL if they are not WTF-8. */
struct gb_value *gb_value_string(struct gb_values *pool, const char *bytes, size_t n);
/* @magnitude is big-endian; leading zeros are dropped. Copies it. */
struct gb_value *gb_value_bigint(struct gb_values *pool, bool negative, const uint8_t *magnitude, size_t n);
/* Milliseconds since 1970; the fraction is dropped. NaN and values outside the range of a JavaScript Date
 * give an invalid date. */
struct gb_value *gb_value_date(struct gb_values *pool, double milliseconds);
/* An ArrayBuffer with a copy of @bytes. */
struct gb_value *gb_value_buffer(struct gb_values *pool, const void *bytes, size_t n);
/* @buffer is a GB_BUFFER; the window must lie within it and fit the element size. @offset is in bytes,
 * @length in elements (bytes for a DataView). */
struct gb_value *gb_value_view(
    struct gb_values *pool, enum gb_view_kind kind, struct gb_value *buffer, size_t offset, size_t length);
struct gb_value *gb_value_array(struct gb_values *pool);
struct gb_value *gb_value_object(struct gb_values *pool);
struct gb_value *gb_value_map(struct gb_values *pool);
struct gb_value *gb_value_set(struct gb_values *pool);
/* The texts are zero-terminated; @stack may be NULL. Copies them. */
struct gb_value *gb_value_error(
    struct gb_values *pool, const char *name, const char *message, const char *stack);
struct gb_value *gb_value_regexp(struct gb_values *pool, const char *source, const char *flags);
/* A function of the host. Calls of it arrive at the run's on_call with this @id, which the host chooses.
 * @name is the function's name in the code; may be NULL. */
struct gb_value *gb_value_function(struct gb_values *pool, uint32_t id, const char *name);
/* A promise of the host. Each time a sandbox receives it, the run's on_call is called once with this @id and
 * no arguments; the answer to that call settles the promise. */
struct gb_value *gb_value_promise(struct gb_values *pool, uint32_t id);

/* Append to an array or set. */
bool gb_value_push(struct gb_value *list, struct gb_value *item);
/* Append an entry; keys of an object are strings. Does not check for duplicates: the caller must add each key
 * once. */
bool gb_value_put(struct gb_value *object_or_map, struct gb_value *key, struct gb_value *item);
/* The same for an object, with a zero-terminated key, which is copied. */
bool gb_value_put_key(struct gb_value *object, const char *key, struct gb_value *item);

enum gb_type gb_value_type(const struct gb_value *value); /* NULL is GB_UNDEFINED */
bool gb_value_is_true(const struct gb_value *value);
double gb_value_as_number(const struct gb_value *value); /* of a number or date; else NaN */
/* The bytes of a string (also zero-terminated), a buffer or the window of a view; else NULL. Owned by the
 * pool, like everything that the functions below return. */
const char *gb_value_bytes(const struct gb_value *value, size_t *ret_n);
const uint8_t *gb_value_magnitude(const struct gb_value *value, bool *ret_negative, size_t *ret_n);
enum gb_view_kind gb_value_view_kind(const struct gb_value *value);
const struct gb_value *gb_value_view_buffer(
    const struct gb_value *value, size_t *ret_offset, size_t *ret_length);
/* The texts of an error (name, message, stack or NULL) or regexp (source, flags, NULL); zero-terminated. A
 * text from the other side may contain zero bytes; reading it as a C string then cuts it. */
const char *gb_value_text(const struct gb_value *value, unsigned index);
/* The cause of an error from the other side, and the errors of an AggregateError; NULL if it has none. */
const struct gb_value *gb_value_cause(const struct gb_value *error);
const struct gb_value *gb_value_errors(const struct gb_value *error);
/* The id and the side of a function or promise. False if @value is neither. */
bool gb_value_as_callable(const struct gb_value *value, enum gb_side *ret_side, uint32_t *ret_id);
/* The number of elements or entries. */
size_t gb_value_count(const struct gb_value *value);
/* The element of an array or set, or the item of an entry; NULL if @index is out of range. */
const struct gb_value *gb_value_at(const struct gb_value *value, size_t index);
/* The key of an entry of an object or map. */
const struct gb_value *gb_value_key_at(const struct gb_value *value, size_t index);
/* The item of an object by key, or NULL. Linear search. */
const struct gb_value *gb_value_get(const struct gb_value *object, const char *key);

/* The value as JSON text; values that JSON has no syntax for become tagged objects:
 * {"$type":"bigint","value":"1"}. See docs/VALUES.md. @indent is 0 for one line. The caller must free() the
 * string. NULL on failure. */
char *gb_value_to_json(const struct gb_value *value, unsigned indent, size_t *ret_n, struct gb_err *err);
/* Parse the text of gb_value_to_json. NULL on failure; the error names line and column. */
struct gb_value *gb_value_from_json(struct gb_values *pool, const char *json, size_t n, struct gb_err *err);
/* The value as readable text: Map(1) { "a" => 1n }. Cut with "…" beyond @max_bytes. Safe to print on a
 * terminal: control characters are escaped. The caller must free() it. NULL if memory is exhausted. */
char *gb_value_inspect(const struct gb_value *value, size_t max_bytes);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
