/*
 * Reads the fields of an object by a table, and rejects the first invalid one.
 *
 *	struct point { uint64_t x; const char *name; };
 *	static const struct gb_field fields[] = {
 *	    {"x", GB_FIELD_WHOLE, offsetof(struct point, x), .max = 100, .required = true},
 *	    {"name", GB_FIELD_TEXT, offsetof(struct point, name)},
 *	    {0},
 *	};
 *	if (!gb_fields_read(fields, object, &point, &rejection)) ... rejection.message: "x: must be …"
 *
 * Fields that are not in the table are rejected. Texts and values point into the object's pool.
 */
#ifndef GB_SERVER_FIELDS_H
#define GB_SERVER_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "glovebox/value.h"
#include "server/rejection.h"

enum gb_field_kind {
	GB_FIELD_IGNORED,  /* accepted, and read elsewhere */
	GB_FIELD_ANY,      /* const struct gb_value * */
	GB_FIELD_ARRAY,    /* const struct gb_value * */
	GB_FIELD_OBJECT,   /* const struct gb_value * */
	GB_FIELD_TEXT,     /* const char *: without zeros */
	GB_FIELD_STR,      /* struct gb_str, zero-terminated */
	GB_FIELD_REASON,   /* struct gb_str: accepts any value; empty unless it is a string */
	GB_FIELD_BYTES,    /* struct gb_str: of a string, or of bytes (docs/VALUES.md) */
	GB_FIELD_WHOLE,    /* uint64_t, from min to max */
	GB_FIELD_WHOLE32,  /* uint32_t */
	GB_FIELD_BOOLEAN,  /* bool */
	GB_FIELD_TRUE,     /* bool: must be true if present */
	GB_FIELD_CHOICE,   /* unsigned: index into choices */
	GB_FIELD_LANGUAGE, /* enum gb_language: by name or alias */
	GB_FIELD_FIELDS,   /* an object with fields of its own */
};

struct gb_field {
	const char *name; /* NULL ends the table */
	enum gb_field_kind kind;
	size_t offset; /* of the member that it sets */
	uint64_t min, max;
	bool required;
	const char *const *choices;    /* NULL ends them */
	const struct gb_field *fields; /* with offsets into the same struct */
	const char *member;            /* its name in the C API; NULL if it has none */
};

/* The largest whole number that every JSON reader keeps. */
#define GB_WHOLE_MAX ((1ull << 53) - 1)

bool gb_fields_read(const struct gb_field *fields, const struct gb_value *object, void *into,
    struct gb_rejection *ret_rejection);

/* A whole number that every JSON reader keeps. */
bool gb_read_whole(const struct gb_value *value, uint64_t *ret);
struct gb_str gb_read_str(const struct gb_value *value);

#endif
