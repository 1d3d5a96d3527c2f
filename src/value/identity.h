/*
 * Which values were met before, and a number for each: what makes sharing and cycles finite.
 *
 *	bool is_new;
 *	uint32_t *number = gb_identity_at(&met, value, &is_new);
 *	if (is_new)
 *		*number = next++;
 */
#ifndef GB_VALUE_IDENTITY_H
#define GB_VALUE_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gb_identity_entry;

/* Starts zeroed. */
struct gb_identity {
	struct gb_identity_entry *entries;
	size_t used;
	size_t cap; /* a power of two, or 0 */
};

void gb_identity_finish(struct gb_identity *map);
#define gb_auto_identity __attribute__((cleanup(gb_identity_finish)))

/* The number of @pointer, 0 if it is new. Lives until the next call. NULL if it is new and memory is out. */
uint32_t *gb_identity_at(struct gb_identity *map, const void *pointer, bool *ret_is_new);
/* The same without adding it: NULL if it is new. */
const uint32_t *gb_identity_find(const struct gb_identity *map, const void *pointer);

#endif
