/*
 * One character of untrusted text, in a form that is safe for review by a person.
 *
 * print_untrusted keeps text from controlling the terminal. That is not enough if a person decides by what is
 * shown: invisible characters, characters that change the direction of text, look-alikes of a space, and
 * combining characters are shown by their number, as <U+202E>.
 */
#ifndef GB_CLI_GLYPH_H
#define GB_CLI_GLYPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct glyph {
	char text[16];   /* zero-terminated */
	size_t bytes;    /* length in the source */
	unsigned width;  /* columns, at most */
	bool is_number;  /* shown as a number instead of the character */
	bool is_foreign; /* beyond ASCII, so it may look like another */
};

bool glyph_deceives(uint32_t code);

/* The first one of @n bytes, at least one. A byte that is not part of WTF-8 is shown as <0xFF>. */
struct glyph glyph_first(const char *text, size_t n);

#endif
