#include "runtime/js/heap.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>

static struct {
	size_t used;
	size_t peak;
	size_t max;
	size_t n_asked; /* how often the engine wanted a block */
	void (*on_exceeded)(void);
} heap = {.max = SIZE_MAX};

/* Can @more bytes be had? Ends the run if not. */
static void admit(size_t more) {
	if (more <= heap.max && heap.used <= heap.max - more)
		return;
	if (heap.on_exceeded)
		heap.on_exceeded();
	abort();
}

static void *account(void *block) {
	/* The system has no more to give below our cap: an rlimit or a control group. Same verdict. */
	if (!block)
		admit(SIZE_MAX);
	heap.used += malloc_usable_size(block);
	if (heap.used > heap.peak)
		heap.peak = heap.used;
	return block;
}

static void *heap_calloc(void *opaque, size_t count, size_t size) {
	(void)opaque;
	size_t n;
	admit(__builtin_mul_overflow(count, size, &n) ? SIZE_MAX : n);
	return account(calloc(count, size));
}

static void *heap_malloc(void *opaque, size_t size) {
	(void)opaque;
	admit(size);
	heap.n_asked++;
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
		admit(size - old);
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

#ifndef __SANITIZE_ADDRESS__ /* whose library puts blocks where it likes */

/* More than there ever are. */
enum { HOLES_MAX = 10000 };

/* Take what the library has free below its end, from where a block larger than any hole comes. */
static void fill_library(void) {
	enum { LARGE = 64 << 10, CACHED = 1032, SMALLEST = 24, STEP = 16 };
	void *block = malloc(LARGE);
	const uintptr_t end = (uintptr_t)block;
	free(block);
	unsigned n = 0;
	for (size_t size = LARGE / 2; size >= SMALLEST; size -= size > 2ul * CACHED ? size / 4 : STEP) {
		while ((block = malloc(size)) && (uintptr_t)block < end && ++n < HOLES_MAX)
			;
		/* A smaller one would not go back to the end, but be kept for the next of its size. */
		if (size > CACHED)
			free(block);
	}
}

/* The engine keeps small objects in pieces of memory for one size each. Take what is free of each size, until
 * there is a new piece for it. */
static void fill_engine(JSRuntime *runtime) {
	enum { HEAD = 8, SMALLEST = 16, LARGEST = 512 };
	for (size_t size = SMALLEST; size <= LARGEST; size += size < 128 ? 8 : size < 256 ? 16 : 32)
		for (size_t before = heap.n_asked; heap.n_asked == before;)
			if (!js_malloc_rt(runtime, size - HEAD))
				return;
}

void gb_heap_settle(JSRuntime *runtime) {
	fill_library();
	fill_engine(runtime);
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

void gb_heap_forget_peak(void) {
	heap.peak = heap.used;
}
