/* The text forms of numbers, bigints, dates and bytes. Independent of the locale. */
#ifndef GB_VALUE_TEXT_H
#define GB_VALUE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "glovebox/value.h"

enum {
	/* Buffer sizes. */
	GB_NUMBER_TEXT = 48,
	GB_DATE_TEXT = 32,
	GB_QUOTED_TEXT = 64,
	/* A larger bigint is written in hex: conversion to decimal takes quadratic time. */
	GB_DECIMAL_BYTES = 4096,
};

/* Like JavaScript's String(number): the shortest text that parses back to the same number. Returns its
 * length. */
size_t gb_number_format(char text[GB_NUMBER_TEXT], double number);
/* Parse @text, which must match JSON's number grammar. False if memory is out. */
bool gb_number_parse(struct gb_str text, double *ret_number);

/* "-123", or "0x.." beyond GB_DECIMAL_BYTES. */
void gb_bigint_format(struct gb_buf *out, const struct gb_value *bigint);
/* Parse such a text. NULL if it is neither form, decimal and longer than gb_bigint_format writes, or the pool
 * is full. */
struct gb_value *gb_bigint_parse(struct gb_values *pool, struct gb_str text);

/* Like toISOString(): 1970-01-01T00:00:00.000Z, with a sign and six digits for years beyond four.
 * @milliseconds must be a valid date. Returns the length. */
size_t gb_date_format(char text[GB_DATE_TEXT], double milliseconds);
/* Parse such a text; the fraction of a second is optional. */
bool gb_date_parse(struct gb_str text, double *ret_milliseconds);

/* Quote @s, which is WTF-8, for a message: truncated when long, with unsafe characters for a terminal
 * replaced. */
void gb_text_quote(char quoted[GB_QUOTED_TEXT], struct gb_str s);

/* RFC 4648, with padding. */
void gb_base64_append(struct gb_buf *out, const void *bytes, size_t n);
/* Decode @text and append the bytes; false if it is malformed or @out fails. */
bool gb_base64_decode(struct gb_buf *out, struct gb_str text);

#endif
