#include "value/identity.h"

#include <stdlib.h>

enum { FIRST_CAPACITY = 64 };

struct gb_identity_entry {
	const void *pointer;
	uint32_t number;
};

void gb_identity_finish(struct gb_identity *map) {
	free(map->entries);
	*map = (struct gb_identity){0};
}

/* The sender of the graph controls the distances between its values, though not their addresses: every bit of
 * the address has to affect every bit of the hash. */
static size_t hash(const void *pointer) {
	uint64_t h = (uintptr_t)pointer;
	h = (h ^ h >> 33) * UINT64_C(0xff51afd7ed558ccd);
	h = (h ^ h >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
	return (size_t)(h ^ h >> 33);
}

static struct gb_identity_entry *find(const struct gb_identity *map, const void *pointer) {
	size_t i = hash(pointer) & (map->cap - 1);
	while (map->entries[i].pointer && map->entries[i].pointer != pointer)
		i = (i + 1) & (map->cap - 1);
	return &map->entries[i];
}

static bool grow(struct gb_identity *map) {
	struct gb_identity bigger = {.cap = map->cap ? map->cap * 2 : FIRST_CAPACITY, .used = map->used};
	bigger.entries = calloc(bigger.cap, sizeof *bigger.entries);
	if (!bigger.entries)
		return false;
	for (size_t i = 0; i < map->cap; i++)
		if (map->entries[i].pointer)
			*find(&bigger, map->entries[i].pointer) = map->entries[i];
	free(map->entries);
	*map = bigger;
	return true;
}

uint32_t *gb_identity_at(struct gb_identity *map, const void *pointer, bool *ret_is_new) {
	struct gb_identity_entry *entry = map->cap ? find(map, pointer) : NULL;
	*ret_is_new = !entry || !entry->pointer;
	if (!*ret_is_new)
		return &entry->number;
	if (!entry || map->used >= map->cap / 2) {
		if (!grow(map))
			return NULL;
		entry = find(map, pointer);
	}
	entry->pointer = pointer;
	map->used++;
	return &entry->number;
}

const uint32_t *gb_identity_find(const struct gb_identity *map, const void *pointer) {
	const struct gb_identity_entry *entry = map->cap ? find(map, pointer) : NULL;
	return entry && entry->pointer ? &entry->number : NULL;
}
