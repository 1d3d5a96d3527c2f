/*
 * UTF-8, and WTF-8: UTF-8 in which a lone surrogate of a JavaScript string stands as three bytes.
 *
 * A surrogate pair spelled as two such triples is neither: it has four bytes in both, and every string has
 * one spelling.
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

/* How many bytes the code point at the start of valid text has, and which it is. */
size_t gb_wtf8_decode(const char *at, uint32_t *ret_code);

/* The same of @n bytes (at least one) that may be anything: 0 if they do not begin with a code point. */
size_t gb_wtf8_next(const char *bytes, size_t n, uint32_t *ret_code);
/* Are these @n bytes the beginning of a code point that needs more of them? */
bool gb_wtf8_is_cut(const char *bytes, size_t n);

/* Write @code (at most 0x10ffff, or a surrogate) to @at; returns how many bytes it took. */
size_t gb_wtf8_encode(char at[4], uint32_t code);

/* Append bytes that are perhaps not UTF-8, with the replacement character for what is not. */
void gb_wtf8_mend(struct gb_buf *out, const char *bytes, size_t n);

/* Controls, lone surrogates, and what reorders or breaks a line on its own: not for a terminal. */
bool gb_wtf8_is_unsafe(uint32_t code);

#endif
