/*
 * Prints untrusted text so that all of it is visible and it cannot imitate other output.
 *
 * Every line begins with its number or is indented. Lines longer than the terminal are wrapped here and not
 * by the terminal, so that no part of the text is ever in the first column. Deceptive characters are shown by
 * their number (glyph.h).
 */
#ifndef GB_CLI_LISTING_H
#define GB_CLI_LISTING_H

#include "cli/cli.h"
#include "cli/highlight.h"

struct listing {
	FILE *to;
	unsigned columns; /* 0: those of the terminal, else 100 */
	unsigned indent;  /* without numbers: spaces before each line but the first */
	bool has_numbers;
	enum gb_syntax syntax;
};

/* What the text contained. Lines are numbered from 1; 0: none. */
struct listing_seen {
	size_t lines;
	size_t deceptive, first_deceptive; /* characters shown by their number; line of the first one */
	size_t non_ascii, first_non_ascii; /* other characters beyond ASCII; line of the first one */
};

/* Ends its last line. @ret_seen may be NULL. */
void print_listing(const struct listing *listing, struct gb_str text, struct listing_seen *ret_seen);

#endif
