/*
 * The JavaScript heap: the C library's allocator with a cap and a peak. Going over the cap is final, so code
 * cannot catch it and go on: the callback is called once and does not return.
 */
#ifndef GB_JS_HEAP_H
#define GB_JS_HEAP_H

#include <stddef.h>

#include "quickjs.h"

/* A process has one heap, as it has one run. */
extern const JSMallocFunctions gb_heap_functions;

/* In a zygote, once all is prepared: what cells then ask for lies close together, so that they have fewer
 * pages to copy. */
void gb_heap_settle(JSRuntime *runtime);

/* In a cell, ahead of its job: the memory that is next is its own. */
void gb_heap_touch(void);

/* From now on at most @max bytes; beyond, call @on_exceeded, which must end the process. */
void gb_heap_limit(size_t max, void (*on_exceeded)(void));

size_t gb_heap_used(void);
/* The most that was in use at any time. */
size_t gb_heap_peak(void);
/* Begin to measure anew. */
void gb_heap_forget_peak(void);

#endif
