/* Shared by the files of this folder. */
#ifndef GB_SCHEMA_INTERNAL_H
#define GB_SCHEMA_INTERNAL_H

#include "base/err.h"
#include "base/str.h"
#include "schema/schema.h"

enum {
	GB_SCHEMA_DEPTH_MAX = 60, /* deeper schemas are "anything" in stubs, and an error in checks */
	GB_SCHEMA_DOC_MAX = 4000, /* characters of a description */
};

static inline struct gb_str gb_schema_text(const struct gb_value *value) {
	size_t n = 0;
	const char *text = gb_value_type(value) == GB_STRING ? gb_value_bytes(value, &n) : NULL;
	return (struct gb_str){text, n};
}

/* The target of "$ref" within @root: "#", "#/$defs/a", any JSON pointer. NULL if it leads elsewhere, or nowhere. */
const struct gb_value *gb_schema_follow(const struct gb_value *root, struct gb_str reference);

/* Whether @schema names @type in "type", or has no "type". */
bool gb_schema_allows(const struct gb_value *schema, const char *type);
/* Whether @name is in the array "required" of @schema. */
bool gb_schema_requires(const struct gb_value *schema, struct gb_str name);

/* --- names.c: identifiers made of names --- */

/* Names that were given out, so that none is given out twice. */
struct gb_names {
	const char *const *reserved; /* NULL ends them */
	struct gb_buf list;          /* each with a zero at its end */
};

void gb_names_init(struct gb_names *names, const char *const *reserved);
void gb_names_finish(struct gb_names *names);
/* Append an identifier of letters, digits and _ that is like @wanted: other characters become _, and a number is
 * appended to one that is reserved or taken. NULL if memory is exhausted. Lives until the next call. */
const char *gb_names_take(struct gb_names *names, struct gb_str wanted);
bool gb_is_identifier(struct gb_str name);

#endif
