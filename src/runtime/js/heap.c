#include "runtime/js/heap.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>

static struct {
	size_t used;
	size_t peak;
	size_t max;
	size_t n_mallocs; /* number of malloc calls by the engine */
	void (*on_exceeded)(void);
} heap = {.max = SIZE_MAX};

/* Check that @more bytes are within the limit. Does not return otherwise. */
static void check_limit(size_t more) {
	if (more <= heap.max && heap.used <= heap.max - more)
		return;
	if (heap.on_exceeded)
		heap.on_exceeded();
	abort();
}

static void *account(void *block) {
	/* malloc failed below our limit, by an rlimit or a control group: treat it like the limit. */
	if (!block)
		check_limit(SIZE_MAX);
	heap.used += malloc_usable_size(block);
	if (heap.used > heap.peak)
		heap.peak = heap.used;
	return block;
}

static void *heap_calloc(void *opaque, size_t count, size_t size) {
	(void)opaque;
	size_t n;
	check_limit(__builtin_mul_overflow(count, size, &n) ? SIZE_MAX : n);
	return account(calloc(count, size));
}

static void *heap_malloc(void *opaque, size_t size) {
	(void)opaque;
	check_limit(size);
	heap.n_mallocs++;
	return account(malloc(size));
}

static void heap_free(void *opaque, void *block) {
	(void)opaque;
	heap.used -= malloc_usable_size(block);
	free(block);
}

static void *heap_realloc(void *opaque, void *block, size_t size) {
	size_t old = malloc_usable_size(block);
	if (size == 0) {
		heap_free(opaque, block);
		return NULL;
	}
	if (size > old)
		check_limit(size - old);
	void *moved = realloc(block, size);
	if (moved)
		heap.used -= old;
	return account(moved);
}

static size_t heap_usable_size(const void *block) {
	return malloc_usable_size((void *)block);
}

const JSMallocFunctions gb_heap_functions = {
    .js_calloc = heap_calloc,
    .js_malloc = heap_malloc,
    .js_free = heap_free,
    .js_realloc = heap_realloc,
    .js_malloc_usable_size = heap_usable_size,
};

#ifndef __SANITIZE_ADDRESS__ /* ASan has its own allocator */

/* More than occur in practice. */
enum { HOLES_MAX = 10000 };

/* Use up the free blocks that malloc has below the end of the heap; a block larger than any hole is allocated
 * there. */
static void fill_malloc_holes(void) {
	enum { LARGE = 64 << 10, CACHED = 1032, SMALLEST = 24, STEP = 16 };
	void *block = malloc(LARGE);
	const uintptr_t end = (uintptr_t)block;
	free(block);
	unsigned n = 0;
	for (size_t size = LARGE / 2; size >= SMALLEST; size -= size > 2ul * CACHED ? size / 4 : STEP) {
		while ((block = malloc(size)) && (uintptr_t)block < end && ++n < HOLES_MAX)
			;
		/* Freed smaller blocks would go to the per-size cache, not back to the end. */
		if (size > CACHED)
			free(block);
	}
}

/* The engine allocates small objects from chunks of one size class. Use up the free slots of each class,
 * until the engine allocates a new chunk. */
static void fill_engine_slots(JSRuntime *runtime) {
	enum { HEAD = 8, SMALLEST = 16, LARGEST = 512 };
	for (size_t size = SMALLEST; size <= LARGEST; size += size < 128 ? 8 : size < 256 ? 16 : 32)
		for (size_t before = heap.n_mallocs; heap.n_mallocs == before;)
			if (!js_malloc_rt(runtime, size - HEAD))
				return;
}

void gb_heap_settle(JSRuntime *runtime) {
	fill_malloc_holes();
	fill_engine_slots(runtime);
}

#else

void gb_heap_settle(JSRuntime *runtime) {
	(void)runtime;
}

#endif

void gb_heap_touch(void) {
	enum { AHEAD = 8 << 10 };
	volatile char *next = malloc(AHEAD);
	for (size_t i = 0; next && i < AHEAD; i += 1 << 10)
		next[i] = 0;
	free((char *)next);
}

void gb_heap_limit(size_t max, void (*on_exceeded)(void)) {
	heap.max = max;
	heap.on_exceeded = on_exceeded;
}

size_t gb_heap_used(void) {
	return heap.used;
}

size_t gb_heap_peak(void) {
	return heap.peak;
}

void gb_heap_reset_peak(void) {
	heap.peak = heap.used;
}
