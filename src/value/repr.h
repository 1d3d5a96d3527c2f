/*
 * How a value is laid out: for value.c, which makes them, and the codecs, which walk them.
 *
 * Every byte of input can become one of these, so it is kept at 32 bytes. Undefined, null, holes and booleans
 * are one value each per pool.
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
	bool flag;    /* a boolean's value; a bigint is negative; a string has lone surrogates; a function or
		       * promise is the sandbox's */
	uint8_t kind; /* of a view: enum gb_view_kind */
	union {
		double number;        /* number, date */
		struct gb_str bytes;  /* string, bigint, buffer: they follow the value in memory */
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

/* Functions and promises have an id instead: the same id is the same one. */
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

/* NULL if it has none. */
static inline const struct gb_value *gb_error_part(const struct gb_value *error, enum gb_error_part part) {
	if (!gb_error_has_parts(error))
		return part == GB_ERROR_STACK ? error->texts[2] : NULL;
	const struct gb_slots *parts = &error->texts[2]->list;
	return part < parts->used && parts->slots[part]->type != GB_HOLE ? parts->slots[part] : NULL;
}

/* A string that is known to be UTF-8. */
struct gb_value *gb_value_utf8(struct gb_values *pool, const char *bytes, size_t n);
/* Whether a view of this kind, offset and length can be made over @buffer. */
bool gb_view_fits(uint64_t kind, const struct gb_value *buffer, uint64_t offset, uint64_t length);
/* Room for exactly @slots more, when that many are known to come. */
bool gb_value_reserve(struct gb_value *container, size_t slots);
/* The bigint -1 - @magnitude, which has no leading zero. */
struct gb_value *gb_value_bigint_below(struct gb_values *pool, const uint8_t *magnitude, size_t n);
/* An error or regexp from strings of the pool, which it keeps. The last of an error may be an array, to which
 * its parts are pushed, a hole for one that it has not. */
struct gb_value *gb_value_texts(
    struct gb_values *pool, enum gb_type type, struct gb_value *const texts[GB_TEXTS]);

/* A function or promise of either side; @name is a string of the pool or NULL. */
struct gb_value *gb_value_callable(
    struct gb_values *pool, enum gb_type type, enum gb_side side, uint32_t id, struct gb_value *name);

struct gb_view_info {
	const char *name; /* as in JavaScript */
	uint8_t size;     /* of an element */
};

enum { GB_VIEW_KINDS = GB_DATAVIEW + 1 };
extern const struct gb_view_info gb_view_infos[GB_VIEW_KINDS];

#endif
