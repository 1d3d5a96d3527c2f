#include "runtime/python/python.h"

#include "runtime/python/heap.h"

#include <errno.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/single_threaded.h>

enum { SMALL = 4096, MARGIN = 1 << 20, REPORT_ROOM = 32 << 20 };

static struct {
	size_t used;
	size_t peak;
	size_t base; /* in use when the first limit was set */
	size_t max;
} heap = {.max = SIZE_MAX - MARGIN};

static bool is_within_limit(size_t more) {
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
	/* Threads may race here: the peak may be off by one block, which is acceptable. */
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
	void *arena = is_within_limit(n)
			  ? mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
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
	/* Each further malloc arena would reserve 64 MiB of address space for one thread. */
	mallopt(M_ARENA_MAX, 1);
}

void gb_py_heap_limit(size_t max) {
	if (!heap.base)
		heap.base = heap.used;
	heap.max = max < SIZE_MAX - MARGIN - heap.base ? heap.base + max : SIZE_MAX - MARGIN;
	heap.peak = heap.used;
}

void gb_py_heap_relax(void) {
	size_t wanted = (heap.used > heap.max ? heap.used : heap.max) + REPORT_ROOM;
	heap.max = wanted < SIZE_MAX - MARGIN ? wanted : SIZE_MAX - MARGIN;
}

size_t gb_py_heap_peak(void) {
	return heap.peak > heap.base ? heap.peak - heap.base : 0;
}

/* --- malloc and its family, replacing the C library's ---
 *
 * Libraries such as numpy allocate by malloc, not by Python's allocator. With ASan, the sanitizer's own are
 * used. */

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

static void *fail_nomem(void) {
	errno = ENOMEM;
	return NULL;
}

void *malloc(size_t n) {
	return is_within_limit(n) ? account(__libc_malloc(n)) : fail_nomem();
}

void *calloc(size_t count, size_t size) {
	size_t n;
	if (__builtin_mul_overflow(count, size, &n) || !is_within_limit(n))
		return fail_nomem();
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
	if (n > old && !is_within_limit(n - old))
		return fail_nomem();
	void *moved = __libc_realloc(block, n);
	if (!moved)
		return NULL;
	subtract(old);
	return account(moved);
}

void *reallocarray(void *block, size_t count, size_t size) {
	size_t n;
	return __builtin_mul_overflow(count, size, &n) ? fail_nomem() : realloc(block, n);
}

void *memalign(size_t alignment, size_t n) {
	return is_within_limit(n) ? account(__libc_memalign(alignment, n)) : fail_nomem();
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
