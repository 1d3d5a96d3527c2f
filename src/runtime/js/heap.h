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

/* From now on at most @max bytes; beyond, call @on_exceeded, which must end the process. */
void gb_heap_limit(size_t max, void (*on_exceeded)(void));

/* The most that was in use at any time. */
size_t gb_heap_peak(void);
/* Begin to measure anew. */
void gb_heap_forget_peak(void);

#endif
