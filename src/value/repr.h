/*
 * The memory layout of a value, for value.c, which creates values, and the codecs, which traverse them.
 *
 * One byte of input can become one value, so it is kept at 32 bytes. Undefined, null, holes and booleans are
 * singletons of the pool.
 */
#ifndef GB_VALUE_REPR_H
#define GB_VALUE_REPR_H

#include "base/str.h"
#include "glovebox/value.h"

enum { GB_TEXTS = 3 };

struct gb_slots {
	struct gb_values *pool;
	struct gb_value **slots; /* elements; or key, item, key, item, ... */
	uint32_t used;
	uint32_t cap;
};

struct gb_value {
	uint8_t type; /* enum gb_type */
	bool
	    flag; /* a boolean's value; a number is a float, though it may be whole; a bigint is negative; a string
		       * has lone surrogates; a function or promise is the sandbox's */
	uint8_t kind; /* of a view: enum gb_view_kind */
	union {
		double number;        /* number, date */
		struct gb_str bytes;  /* string, bigint, buffer: stored after the value */
		struct gb_slots list; /* array, object, map, set */
		/* Error, regexp: strings; the last may be NULL. An error that has a cause or errors has an
		 * array instead of its stack: see gb_error_part. */
		struct gb_value *texts[GB_TEXTS];
		struct {
			struct gb_value *buffer;
			size_t offset;
			size_t length; /* in elements; bytes for a DataView */
		} view;
		struct {
			struct gb_value *name; /* or NULL */
			uint32_t id;
		} callable; /* function, promise */
	};
};

static inline bool gb_value_has_identity(const struct gb_value *value) {
	return value->type >= GB_ARRAY && value->type <= GB_REGEXP;
}

/* Functions and promises are identified by their id: equal ids are the same function or promise. */
static inline bool gb_value_is_callable(const struct gb_value *value) {
	return value->type == GB_FUNCTION || value->type == GB_PROMISE;
}

static inline bool gb_value_has_entries(const struct gb_value *value) {
	return value->type == GB_OBJECT || value->type == GB_MAP;
}

/* Array, object, map or set. */
static inline bool gb_value_is_container(const struct gb_value *value) {
	return value->type >= GB_ARRAY && value->type <= GB_SET;
}

enum gb_error_part { GB_ERROR_STACK, GB_ERROR_CAUSE, GB_ERROR_ERRORS, GB_ERROR_PARTS };

static inline bool gb_error_has_parts(const struct gb_value *error) {
	return error->texts[2] && error->texts[2]->type == GB_ARRAY;
}

/* NULL if the error does not have this part. */
static inline const struct gb_value *gb_error_part(const struct gb_value *error, enum gb_error_part part) {
	if (!gb_error_has_parts(error))
		return part == GB_ERROR_STACK ? error->texts[2] : NULL;
	const struct gb_slots *parts = &error->texts[2]->list;
	return part < parts->used && parts->slots[part]->type != GB_HOLE ? parts->slots[part] : NULL;
}

/* Create a string from valid UTF-8, without a check. */
/* A number that stays a float of a language that tells floats from integers, also if it is whole. */
struct gb_value *gb_value_float(struct gb_values *pool, double number);
struct gb_value *gb_value_utf8(struct gb_values *pool, const char *bytes, size_t n);
/* Whether a view with these parameters is valid over @buffer. */
bool gb_view_fits(uint64_t kind, const struct gb_value *buffer, uint64_t offset, uint64_t length);
/* Reserve exactly @slots more slots, when the number is known in advance. */
bool gb_value_reserve(struct gb_value *container, size_t slots);
/* Create the bigint -1 - @magnitude, which has no leading zero. */
struct gb_value *gb_value_bigint_complement(struct gb_values *pool, const uint8_t *magnitude, size_t n);
/* Create an error or regexp from strings of the pool, which are not copied. The last of an error may be an
 * array, to which the caller pushes its parts, with a hole for a missing one. */
struct gb_value *gb_value_texts(
    struct gb_values *pool, enum gb_type type, struct gb_value *const texts[GB_TEXTS]);

/* Create a function or promise of either side; @name is a string of the pool or NULL. */
struct gb_value *gb_value_callable(
    struct gb_values *pool, enum gb_type type, enum gb_side side, uint32_t id, struct gb_value *name);

struct gb_view_info {
	const char *name; /* as in JavaScript */
	uint8_t size;     /* of an element */
};

enum { GB_VIEW_KINDS = GB_DATAVIEW + 1 };
extern const struct gb_view_info gb_view_infos[GB_VIEW_KINDS];

#endif
