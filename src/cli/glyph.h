/*
 * One character of untrusted text, in a form that is safe for review by a person.
 *
 * print_untrusted prevents text from controlling the terminal. That is not enough if a person has to judge the
 * text: invisible characters, characters that change the direction of text, look-alikes of a space, and
 * combining characters are shown by their number, as <U+202E>.
 */
#ifndef GB_CLI_GLYPH_H
#define GB_CLI_GLYPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct glyph {
	char text[16];     /* zero-terminated */
	size_t bytes;      /* length in the source */
	unsigned width;    /* columns, at most */
	bool is_number;    /* shown as a number instead of the character */
	bool is_non_ascii; /* not ASCII, so it may look like an ASCII character */
};

/* Whether the character @code is shown by its number, because it is invisible or misleading. */
bool glyph_is_misleading(uint32_t code);

/* The first character of @text, which has @n bytes, at least one. A byte that is not part of WTF-8 is shown as
 * <0xFF>. */
struct glyph glyph_first(const char *text, size_t n);

#endif
