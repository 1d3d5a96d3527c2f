/* Internal header of the JSON writer and reader. The format: docs/VALUES.md. */
#ifndef GB_VALUE_JSON_H
#define GB_VALUE_JSON_H

#include "base/buf.h"
#include "base/str.h"
#include "glovebox/value.h"

enum {
	/* Nesting of brackets, for writer and reader alike, so that all output can be read back. A Map takes
	 * three levels; GB_WIRE_DEPTH_MAX is low enough that every value from a worker can be written. */
	GB_JSON_MAX_DEPTH = 2000,
	GB_JSON_MAX_BYTES = 1 << 30, /* of the output */
};

/* Append @value to @out, which may then have failed. Ids of shared values are assigned from *next_id on. */
bool gb_json_write(struct gb_buf *out, const struct gb_value *value, uint32_t *next_id, struct gb_err *err);

/* Like gb_value_from_json, for the JSON of another protocol: an object with a key "$type" is an object. */
struct gb_value *gb_value_from_plain_json(
    struct gb_values *pool, const char *json, size_t n, struct gb_err *err);
/* The same, but an object that has a key twice is an error: parsers differ about which of the values counts, so what
 * another program has checked or shown could be the other one. */
struct gb_value *gb_value_from_unique_json(
    struct gb_values *pool, const char *json, size_t n, struct gb_err *err);
/* Append a value that gb_value_from_plain_json has made. */
bool gb_json_write_plain(struct gb_buf *out, const struct gb_value *value, struct gb_err *err);
/* Append JSON that was read before, as it was written, on one line. */
void gb_json_append_line(struct gb_buf *out, struct gb_str json);

/* Append @s, which is WTF-8, in quotes. Characters for which gb_wtf8_is_unsafe is true are escaped, so the
 * output is safe for a terminal. */
void gb_json_append_string(struct gb_buf *out, struct gb_str s);
/* The same for bytes that may be invalid UTF-8; invalid bytes become the replacement character. */
void gb_json_append_bytes(struct gb_buf *out, struct gb_str bytes);

#endif
