/* How single values are spelled in text: numbers, bigints, dates, bytes. Nothing here depends on the locale.
 */
#ifndef GB_VALUE_TEXT_H
#define GB_VALUE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "glovebox/value.h"

enum {
	GB_NUMBER_TEXT = 48, /* room for any of the texts below */
	GB_DATE_TEXT = 32,
	GB_QUOTED_TEXT = 64,
	GB_DECIMAL_BYTES =
	    4096, /* a larger bigint is spelled in hex: decimals cost the square of their length */
};

/* As JavaScript's String(number): the shortest that reads back as the same. Returns its length. */
size_t gb_number_format(char text[GB_NUMBER_TEXT], double number);
/* @text is a number of JSON's grammar. False if memory is out. */
bool gb_number_parse(struct gb_str text, double *ret_number);

/* "-123", or "0x.." beyond GB_DECIMAL_BYTES. */
void gb_bigint_format(struct gb_buf *out, const struct gb_value *bigint);
/* The other way. NULL if it is neither, or decimal and longer than we write, or the pool is full. */
struct gb_value *gb_bigint_parse(struct gb_values *pool, struct gb_str text);

/* As toISOString(): 1970-01-01T00:00:00.000Z, with a sign and six digits for years beyond four. @milliseconds
 * is a valid date's. Returns the length. */
size_t gb_date_format(char text[GB_DATE_TEXT], double milliseconds);
/* The other way; the fraction of a second may be left out. */
bool gb_date_parse(struct gb_str text, double *ret_milliseconds);

/* @s, which is WTF-8, in quotes for a message: cut when long, and with nothing that could steer a terminal.
 */
void gb_text_quote(char quoted[GB_QUOTED_TEXT], struct gb_str s);

/* RFC 4648, with padding. */
void gb_base64_append(struct gb_buf *out, const void *bytes, size_t n);
/* Appends what @text stands for; false if it is malformed or @out fails. */
bool gb_base64_decode(struct gb_buf *out, struct gb_str text);

#endif
