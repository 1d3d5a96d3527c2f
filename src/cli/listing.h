/*
 * Text that nobody vouches for, laid out so that it shows all that it is and cannot pass for anything else.
 *
 * Every line begins with its number, or is indented; lines that are longer than the terminal are broken here
 * and not by the terminal, so that no part of the text ever stands in the first column. Characters that
 * deceive are shown by their number (glyph.h).
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

/* What was seen on the way. Lines are numbered from 1; 0: none. */
struct listing_seen {
	size_t lines;
	size_t deceiving, first_deceiving; /* characters shown by their number; the first one's line */
	size_t foreign, first_foreign;     /* others beyond ASCII */
};

/* Ends its last line. @ret_seen may be NULL. */
void print_listing(const struct listing *listing, struct gb_str text, struct listing_seen *ret_seen);

#endif
