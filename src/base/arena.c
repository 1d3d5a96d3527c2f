#include "base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_BYTES = 4096, ALIGNMENT = alignof(max_align_t) };

struct gb_arena_chunk {
	struct gb_arena_chunk *next;
	size_t used;
	size_t size;
	alignas(max_align_t) char bytes[];
};

void gb_arena_init(struct gb_arena *arena, size_t max) {
	*arena = (struct gb_arena){.max = max};
}

void gb_arena_finish(struct gb_arena *arena) {
	for (struct gb_arena_chunk *chunk = arena->chunks, *next; chunk; chunk = next) {
		next = chunk->next;
		free(chunk);
	}
	gb_arena_init(arena, arena->max);
}

static struct gb_arena_chunk *add_chunk(struct gb_arena *arena, size_t n) {
	/* Chunks grow with the arena, so a large graph does not cost one malloc per 4 KiB. */
	size_t size = arena->used < CHUNK_BYTES ? CHUNK_BYTES : arena->used;
	if (size > 1 << 20)
		size = 1 << 20;
	if (size < n)
		size = n;
	if (size > arena->max - arena->used)
		size = n;
	if (size > arena->max - arena->used)
		return NULL;
	struct gb_arena_chunk *chunk = malloc(sizeof *chunk + size);
	if (!chunk)
		return NULL;
	*chunk = (struct gb_arena_chunk){.next = arena->chunks, .size = size};
	arena->chunks = chunk;
	arena->used += size;
	return chunk;
}

void *gb_arena_alloc(struct gb_arena *arena, size_t n) {
	if (n > SIZE_MAX - ALIGNMENT - sizeof(struct gb_arena_chunk))
		return NULL;
	n = (n + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	if (n == 0)
		n = ALIGNMENT;
	struct gb_arena_chunk *chunk = arena->chunks;
	if (!chunk || chunk->size - chunk->used < n)
		chunk = add_chunk(arena, n);
	if (!chunk)
		return NULL;
	char *at = chunk->bytes + chunk->used;
	chunk->used += n;
	return memset(at, 0, n);
}

void *gb_arena_array(struct gb_arena *arena, size_t count, size_t size) {
	size_t n;
	return __builtin_mul_overflow(count, size, &n) ? NULL : gb_arena_alloc(arena, n);
}

char *gb_arena_copy(struct gb_arena *arena, struct gb_str s) {
	char *copy = s.n == SIZE_MAX ? NULL : gb_arena_alloc(arena, s.n + 1);
	if (copy && s.n)
		memcpy(copy, s.p, s.n);
	return copy;
}
