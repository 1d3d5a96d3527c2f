/*
 * Memory that is freed all at once: one arena per run or request.
 *
 *	struct gb_arena arena;
 *	gb_arena_init(&arena, 16 << 20);
 *	struct thing *t = gb_arena_alloc(&arena, sizeof *t);	// zeroed; NULL over the maximum
 *	gb_arena_finish(&arena);
 */
#ifndef GB_BASE_ARENA_H
#define GB_BASE_ARENA_H

#include <stddef.h>

#include "base/str.h"

struct gb_arena_chunk;

struct gb_arena {
	struct gb_arena_chunk *chunks;
	size_t used; /* bytes allocated from the system so far */
	size_t max;
};

void gb_arena_init(struct gb_arena *arena, size_t max);
void gb_arena_finish(struct gb_arena *arena);
#define gb_auto_arena __attribute__((cleanup(gb_arena_finish)))

/* Returns zeroed bytes, aligned for any object; NULL if the maximum is reached or the host is out of
 * memory. */
void *gb_arena_alloc(struct gb_arena *arena, size_t n);
/* Returns zeroed space for @count objects of @size; NULL also if the product overflows. */
void *gb_arena_array(struct gb_arena *arena, size_t count, size_t size);
/* Returns a zero-terminated copy of @s, or NULL. */
char *gb_arena_copy(struct gb_arena *arena, struct gb_str s);

#endif
