#include "runtime/js/heap.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>

static struct {
	size_t used;
	size_t peak;
	size_t max;
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

void gb_heap_limit(size_t max, void (*on_exceeded)(void)) {
	heap.max = max;
	heap.on_exceeded = on_exceeded;
}

size_t gb_heap_peak(void) {
	return heap.peak;
}

void gb_heap_forget_peak(void) {
	heap.peak = heap.used;
}
