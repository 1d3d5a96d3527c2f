/*
 * One character of text that nobody vouches for, as it may be shown to somebody who has to judge it.
 *
 * print_untrusted keeps text from steering the terminal. That is not enough where a person decides by what is
 * seen: characters that cannot be seen, that reorder what is around them, that look like a space and are
 * none, or that are drawn over others are shown by their number, as <U+202E>.
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

/* The first one of @text. @is_valid: all of it is WTF-8. */
struct glyph glyph_first(const char *text, bool is_valid);

#endif
