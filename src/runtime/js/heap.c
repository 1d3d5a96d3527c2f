#include "runtime/js/heap.h"

#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

#ifdef GB_HEAP_PACKED
#include "heap_packed.h" /* written by trial.c during the build */
#else
static const uint16_t packed_numbers[] = {UINT16_MAX};
enum { PACKED_BYTES = 4096 };
#endif

static struct {
	size_t used;
	size_t peak;
	size_t max;
	size_t n_mallocs; /* number of malloc calls by the engine */
	void (*on_exceeded)(void);
} heap = {.max = SIZE_MAX};

/* --- blocks --- */

/* A cell copies each page that it writes. Blocks that every run writes are therefore packed into pages of
 * their own, apart from the blocks that runs only read. They are identified by the number of their allocation
 * during initialization. A packed block has its size in front of it, and is not reused after it is freed. */
static struct {
	char *begin;
	size_t used;
	size_t next;         /* index into packed_numbers */
	unsigned n_blocks;   /* allocations so far */
	bool is_initialized; /* later blocks are not packed */
} packed;

enum { PACKED_HEAD = 16, PAGE = 4096 };

static bool is_packed(const void *block) {
	return (uintptr_t)block - (uintptr_t)packed.begin < packed.used;
}

static size_t block_size(const void *block) {
	if (!is_packed(block))
		return malloc_usable_size((void *)block);
	size_t size, offset = (uintptr_t)block - (uintptr_t)packed.begin;
	memcpy(&size, packed.begin + offset - PACKED_HEAD, sizeof size);
	return size;
}

/* Count an allocation. True if its block is to be packed. */
static bool next_is_packed(void) {
	if (packed.is_initialized)
		return false;
	bool is = packed.next < GB_COUNT(packed_numbers) && packed_numbers[packed.next] == packed.n_blocks;
	packed.next += is;
	packed.n_blocks++;
	return is;
}

static void *malloc_packed(size_t size) {
	/* The size that malloc would have given: the engine uses all of it. */
	size_t usable = size <= 24 ? 24 : ((size + 23) & ~(size_t)15) - 8;
	size_t whole = PACKED_HEAD + ((usable + 15) & ~(size_t)15);
	if (!packed.begin)
		packed.begin = aligned_alloc(PAGE, PACKED_BYTES);
	if (!packed.begin || whole > PACKED_BYTES - packed.used)
		return malloc(size);
	char *head = packed.begin + packed.used;
	packed.used += whole;
	memcpy(head, &usable, sizeof usable);
	return head + PACKED_HEAD;
}

static void free_block(void *block) {
	gb_heap_on_free(block);
	if (!is_packed(block))
		free(block);
}

static void *realloc_block(void *block, size_t old, size_t size, bool to_packed) {
	if (!to_packed && !is_packed(block)) {
		gb_heap_on_free(block);
		return realloc(block, size);
	}
	void *moved = to_packed ? malloc_packed(size) : malloc(size);
	if (moved && block) {
		memcpy(moved, block, old < size ? old : size);
		free_block(block);
	}
	return moved;
}

/* --- the functions that the engine calls --- */

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
	heap.used += block_size(block);
	if (!packed.is_initialized)
		gb_heap_on_block(packed.n_blocks - 1, block);
	if (heap.used > heap.peak)
		heap.peak = heap.used;
	return block;
}

static void *heap_calloc(void *opaque, size_t count, size_t size) {
	(void)opaque;
	size_t n;
	check_limit(__builtin_mul_overflow(count, size, &n) ? SIZE_MAX : n);
	if (!next_is_packed())
		return account(calloc(count, size));
	void *block = malloc_packed(n);
	return account(block ? memset(block, 0, n) : NULL);
}

static void *heap_malloc(void *opaque, size_t size) {
	(void)opaque;
	check_limit(size);
	heap.n_mallocs++;
	return account(next_is_packed() ? malloc_packed(size) : malloc(size));
}

static void heap_free(void *opaque, void *block) {
	(void)opaque;
	heap.used -= block_size(block);
	free_block(block);
}

static void *heap_realloc(void *opaque, void *block, size_t size) {
	size_t old = block_size(block);
	if (size == 0) {
		heap_free(opaque, block);
		return NULL;
	}
	if (size > old)
		check_limit(size - old);
	void *moved = realloc_block(block, old, size, next_is_packed());
	if (moved)
		heap.used -= old;
	return account(moved);
}

static size_t heap_usable_size(const void *block) {
	return block_size(block);
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
	packed.is_initialized = true;
}

#else

void gb_heap_settle(JSRuntime *runtime) {
	(void)runtime;
	packed.is_initialized = true;
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
