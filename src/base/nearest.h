/*
 * The known word that is most similar to a misspelt one:
 *
 *	struct gb_nearest nearest = {.given = "pyton"};
 *	gb_nearest_offer(&nearest, "python");
 *	gb_nearest_offer(&nearest, "shell");
 *	printf("did you mean '%s'?", nearest.best);	// NULL if none is similar
 */
#ifndef GB_BASE_NEAREST_H
#define GB_BASE_NEAREST_H

#include "base/str.h"

/* Longer words are similar to none. */
enum { GB_NEAREST_MAX = 128 };

struct gb_nearest {
	const char *given;
	const char *best; /* borrowed from the caller */
	unsigned distance;
};

void gb_nearest_offer(struct gb_nearest *nearest, const char *known);

/* Edit distance; case is ignored. UINT_MAX if the two are not similar. */
unsigned gb_word_distance(struct gb_str given, struct gb_str known);

#endif
