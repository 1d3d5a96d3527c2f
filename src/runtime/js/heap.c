#include "runtime/js/heap.h"

#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

/* Of the blocks that the engine asks for while it is prepared, by number, those that a run writes to, and the
 * size of them all: found out by trial.c when this is built. */
#ifdef GB_HEAP_HOT
#include "heap_hot.h"
#else
static const uint16_t hot_numbers[] = {UINT16_MAX};
enum { HOT_BYTES = 0 };
#endif

static struct {
	size_t used;
	size_t peak;
	size_t max;
	size_t n_asked; /* how often the engine wanted a block */
	void (*on_exceeded)(void);
} heap = {.max = SIZE_MAX};

/* --- blocks --- */

/* A cell copies each page that it writes to, so what every run writes to lies together, apart from what it
 * only reads. A block here has its size before it, and is not used again once it is freed. */
static struct {
	char *begin;
	size_t used;
	bool settled;      /* all is prepared: whatever comes now is the C library's */
	unsigned n_blocks; /* that were asked for until then */
	size_t next;       /* of hot_numbers */
} hot;

enum { HOT_HEAD = 16, PAGE = 4096 };

static bool is_hot(const void *block) {
	return (uintptr_t)block - (uintptr_t)hot.begin < hot.used;
}

static size_t block_size(const void *block) {
	if (!is_hot(block))
		return malloc_usable_size((void *)block);
	size_t size;
	memcpy(&size, hot.begin + ((uintptr_t)block - (uintptr_t)hot.begin) - HOT_HEAD, sizeof size);
	return size;
}

/* Is the block that is asked for now one of those? */
static bool next_is_hot(void) {
	if (hot.settled)
		return false;
	bool is = hot.next < GB_COUNT(hot_numbers) && hot_numbers[hot.next] == hot.n_blocks;
	hot.next += is;
	hot.n_blocks++;
	return is;
}

static void *take_hot(size_t size) {
	/* As large as the C library would have made it: the engine uses what there is. */
	size_t usable = size <= 24 ? 24 : ((size + 23) & ~(size_t)15) - 8;
	size_t whole = HOT_HEAD + ((usable + 15) & ~(size_t)15);
	if (!hot.begin)
		hot.begin = aligned_alloc(PAGE, HOT_BYTES);
	if (!hot.begin || whole > HOT_BYTES - hot.used)
		return malloc(size);
	char *head = hot.begin + hot.used;
	hot.used += whole;
	memcpy(head, &usable, sizeof usable);
	return head + HOT_HEAD;
}

static void free_block(void *block) {
	gb_heap_on_free(block);
	if (!is_hot(block))
		free(block);
}

static void *move_block(void *block, size_t old, size_t size, bool to_hot) {
	gb_heap_on_free(block);
	if (!to_hot && !is_hot(block))
		return realloc(block, size);
	void *moved = to_hot ? take_hot(size) : malloc(size);
	if (moved && block) {
		memcpy(moved, block, old < size ? old : size);
		free_block(block);
	}
	return moved;
}

/* --- what the engine calls --- */

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
	heap.used += block_size(block);
	if (!hot.settled)
		gb_heap_on_block(hot.n_blocks - 1, block);
	if (heap.used > heap.peak)
		heap.peak = heap.used;
	return block;
}

static void *heap_calloc(void *opaque, size_t count, size_t size) {
	(void)opaque;
	size_t n;
	admit(__builtin_mul_overflow(count, size, &n) ? SIZE_MAX : n);
	if (!next_is_hot())
		return account(calloc(count, size));
	void *block = take_hot(n);
	return account(block ? memset(block, 0, n) : NULL);
}

static void *heap_malloc(void *opaque, size_t size) {
	(void)opaque;
	admit(size);
	heap.n_asked++;
	return account(next_is_hot() ? take_hot(size) : malloc(size));
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
		admit(size - old);
	void *moved = move_block(block, old, size, next_is_hot());
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
	hot.settled = true;
}

#else

void gb_heap_settle(JSRuntime *runtime) {
	(void)runtime;
	hot.settled = true;
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
