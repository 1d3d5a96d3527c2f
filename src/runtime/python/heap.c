#include "runtime/python/python.h"

#include "runtime/python/heap.h"

#include <errno.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/single_threaded.h>

enum { SMALL = 4096, MARGIN = 1 << 20, ROOM_TO_TELL = 32 << 20 };

static struct {
	size_t used;
	size_t peak;
	size_t base; /* in use when the first limit was set */
	size_t max;
} heap = {.max = SIZE_MAX - MARGIN};

static bool admits(size_t more) {
	size_t used = __atomic_load_n(&heap.used, __ATOMIC_RELAXED);
	size_t max = heap.max + (more <= SMALL ? MARGIN : 0);
	return more <= max && used <= max - more;
}

static void add(size_t n) {
	size_t used;
	if (__libc_single_threaded)
		used = heap.used += n;
	else
		used = __atomic_add_fetch(&heap.used, n, __ATOMIC_RELAXED);
	/* Two threads may race here: a peak that is wrong by one of their blocks is good enough. */
	if (used > heap.peak)
		heap.peak = used;
}

static void subtract(size_t n) {
	if (__libc_single_threaded)
		heap.used -= n;
	else
		__atomic_sub_fetch(&heap.used, n, __ATOMIC_RELAXED);
}

/* --- Python's arenas --- */

static void *map_arena(void *context, size_t n) {
	void *arena = admits(n) ? mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
				: MAP_FAILED;
	if (arena == MAP_FAILED)
		return NULL;
	add(n);
	return arena;
}

static void unmap_arena(void *context, void *arena, size_t n) {
	subtract(n);
	munmap(arena, n);
}

void gb_py_heap_init(void) {
	static PyObjectArenaAllocator arenas = {.alloc = map_arena, .free = unmap_arena};
	PyObject_SetArenaAllocator(&arenas);
	/* Each further arena of the C library would reserve 64 MiB of address space for one thread. */
	mallopt(M_ARENA_MAX, 1);
}

void gb_py_heap_limit(size_t max) {
	if (!heap.base)
		heap.base = heap.used;
	heap.max = max < SIZE_MAX - MARGIN - heap.base ? heap.base + max : SIZE_MAX - MARGIN;
	heap.peak = heap.used;
}

void gb_py_heap_relax(void) {
	size_t wanted = (heap.used > heap.max ? heap.used : heap.max) + ROOM_TO_TELL;
	heap.max = wanted < SIZE_MAX - MARGIN ? wanted : SIZE_MAX - MARGIN;
}

size_t gb_py_heap_peak(void) {
	return heap.peak > heap.base ? heap.peak - heap.base : 0;
}

/* --- malloc and its family, in place of the C library's ---
 *
 * Libraries such as numpy ask malloc, not Python, for their memory. A sanitizer has its own in this place. */

#ifndef __SANITIZE_ADDRESS__

#pragma GCC visibility push(default)

extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t n);
extern void *__libc_memalign(size_t alignment, size_t n);
extern void __libc_free(void *block);

static void *account(void *block) {
	if (block)
		add(malloc_usable_size(block));
	return block;
}

static void *refuse(void) {
	errno = ENOMEM;
	return NULL;
}

void *malloc(size_t n) {
	return admits(n) ? account(__libc_malloc(n)) : refuse();
}

void *calloc(size_t count, size_t size) {
	size_t n;
	if (__builtin_mul_overflow(count, size, &n) || !admits(n))
		return refuse();
	return account(__libc_calloc(count, size));
}

void free(void *block) {
	if (!block)
		return;
	subtract(malloc_usable_size(block));
	__libc_free(block);
}

void *realloc(void *block, size_t n) {
	if (!block)
		return malloc(n);
	if (n == 0) {
		free(block);
		return NULL;
	}
	size_t old = malloc_usable_size(block);
	if (n > old && !admits(n - old))
		return refuse();
	void *moved = __libc_realloc(block, n);
	if (!moved)
		return NULL;
	subtract(old);
	return account(moved);
}

void *reallocarray(void *block, size_t count, size_t size) {
	size_t n;
	return __builtin_mul_overflow(count, size, &n) ? refuse() : realloc(block, n);
}

void *memalign(size_t alignment, size_t n) {
	return admits(n) ? account(__libc_memalign(alignment, n)) : refuse();
}

void *aligned_alloc(size_t alignment, size_t n) {
	return memalign(alignment, n);
}

int posix_memalign(void **ret_block, size_t alignment, size_t n) {
	if (alignment % sizeof(void *) != 0 || (alignment & (alignment - 1)) != 0 || alignment == 0)
		return EINVAL;
	void *block = memalign(alignment, n);
	if (!block)
		return ENOMEM;
	*ret_block = block;
	return 0;
}

#pragma GCC visibility pop

#endif
