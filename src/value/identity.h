/*
 * A map from values to numbers, to detect shared and cyclic references during a traversal.
 *
 *	bool is_new;
 *	uint32_t *number = gb_identity_at(&seen, value, &is_new);
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

/* Look up @pointer, adding it with number 0 if it is new. The result is valid until the next call. NULL if it
 * is new and memory is out. */
uint32_t *gb_identity_at(struct gb_identity *map, const void *pointer, bool *ret_is_new);
/* The same without adding it: NULL if it is new. */
const uint32_t *gb_identity_find(const struct gb_identity *map, const void *pointer);

#endif
