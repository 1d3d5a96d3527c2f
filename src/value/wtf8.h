/*
 * UTF-8, and WTF-8: UTF-8 in which a lone surrogate of a JavaScript string is encoded as three bytes.
 *
 * A surrogate pair encoded as two such triples is invalid in both: it is a character of four bytes, so every
 * string has exactly one encoding.
 */
#ifndef GB_VALUE_WTF8_H
#define GB_VALUE_WTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum gb_wtf8 {
	GB_WTF8_INVALID,
	GB_WTF8_UTF8,       /* also plain UTF-8 */
	GB_WTF8_SURROGATES, /* has lone surrogates */
};

enum gb_wtf8 gb_wtf8_scan(const void *bytes, size_t n);

/* Decode the code point at the start of valid text. Returns its length in bytes. */
size_t gb_wtf8_decode(const char *at, uint32_t *ret_code);

/* The same for @n bytes (at least one) that may be invalid: returns 0 if they do not begin with a code
 * point. */
size_t gb_wtf8_next(const char *bytes, size_t n, uint32_t *ret_code);
/* Whether these @n bytes are an incomplete prefix of a code point. */
bool gb_wtf8_is_cut(const char *bytes, size_t n);

/* Write @code (at most 0x10ffff, or a surrogate) to @at. Returns its length in bytes. */
size_t gb_wtf8_encode(char at[4], uint32_t code);

/* Append bytes that may be invalid UTF-8; invalid bytes become the replacement character. */
void gb_wtf8_mend(struct gb_buf *out, const char *bytes, size_t n);

/* Controls, lone surrogates, and characters that reorder text or break lines: unsafe for a terminal. */
bool gb_wtf8_is_unsafe(uint32_t code);

#endif
