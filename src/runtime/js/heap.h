/*
 * The JavaScript heap: malloc with a limit and a peak. Exceeding the limit is final, so that code cannot
 * catch it and continue: the callback is called once and does not return.
 */
#ifndef GB_JS_HEAP_H
#define GB_JS_HEAP_H

#include <stddef.h>

#include "quickjs.h"

/* One heap per process, which serves one run or session. */
extern const JSMallocFunctions gb_heap_functions;

/* In a zygote, after initialisation: later allocations of cells become contiguous, so that fewer
 * copy-on-write pages are copied. */
void gb_heap_settle(JSRuntime *runtime);

/* In a cell, before its job: fault in the memory that is allocated next. */
void gb_heap_touch(void);

/* Limit the heap to @max bytes; above that call @on_exceeded, which must end the process. */
void gb_heap_limit(size_t max, void (*on_exceeded)(void));

size_t gb_heap_used(void);
/* The peak usage. */
size_t gb_heap_peak(void);
/* Reset the peak to the current usage. */
void gb_heap_reset_peak(void);

/* For trial.c, during initialization: the allocation with this number has returned @block; @block is about to
 * be freed. */
#ifdef GB_HEAP_TRIAL
void gb_heap_on_block(unsigned number, const void *block);
void gb_heap_on_free(const void *block);
#else
static inline void gb_heap_on_block(unsigned number, const void *block) {
	(void)number, (void)block;
}
static inline void gb_heap_on_free(const void *block) {
	(void)block;
}
#endif

#endif
