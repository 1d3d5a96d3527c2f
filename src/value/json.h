/* What the two sides of the JSON form share. The form itself: docs/VALUES.md. */
#ifndef GB_VALUE_JSON_H
#define GB_VALUE_JSON_H

#include "base/buf.h"
#include "base/str.h"
#include "glovebox/value.h"

enum {
	GB_JSON_MAX_DEPTH = 2000,    /* brackets, in both directions: what we write we can read. A Map
				      * takes three, so that what crosses the wall can always be written */
	GB_JSON_MAX_BYTES = 1 << 30, /* of what we write */
};

/* Append @value, whose shared parts are numbered from *next_id on, to @out, which may then have failed. */
bool gb_json_write(struct gb_buf *out, const struct gb_value *value, uint32_t *next_id, struct gb_err *err);

/* @s, which is WTF-8, between quotes. What gb_wtf8_is_unsafe names is escaped, so that a terminal can show
 * it. */
void gb_json_append_string(struct gb_buf *out, struct gb_str s);

#endif
