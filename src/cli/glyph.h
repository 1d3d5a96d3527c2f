/*
 * One character of untrusted text, as it may be shown to a person who has to judge it.
 *
 * print_untrusted keeps text from controlling the terminal. That is not enough where a person decides by what
 * is seen: invisible characters, characters that change the direction of text, look-alikes of a space, and
 * combining characters are shown by their number, as <U+202E>.
 */
#ifndef GB_CLI_GLYPH_H
#define GB_CLI_GLYPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct glyph {
	char text[16];   /* zero-terminated */
	size_t bytes;    /* how many of the source it stands for */
	unsigned width;  /* columns, at most */
	bool is_number;  /* and not the character itself */
	bool is_foreign; /* beyond ASCII, so it may look like another */
};

bool glyph_deceives(uint32_t code);

/* The first one of @n bytes, at least one. A byte that is not part of WTF-8 is shown as <0xFF>. */
struct glyph glyph_first(const char *text, size_t n);

#endif
