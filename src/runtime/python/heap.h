/*
 * Counts the memory of this process: all malloc blocks, of any library, and the arenas that Python's own
 * allocator maps. Above the limit allocations fail, which Python code sees as a MemoryError.
 *
 *	gb_py_heap_init();			// once, before the interpreter
 *	gb_py_heap_limit(job.memory);		// limits further allocations
 *	...
 *	gb_py_heap_relax();			// the run is over: allow memory for the report
 */
#ifndef GB_PYTHON_HEAP_H
#define GB_PYTHON_HEAP_H

#include <stddef.h>

void gb_py_heap_init(void);

/* Allow @max bytes more than were in use at the first call. Small allocations have a margin above that, so
 * that code can handle a MemoryError. */
void gb_py_heap_limit(size_t max);
void gb_py_heap_relax(void);

/* Peak usage since the limit was set, minus the usage at the first call of gb_py_heap_limit(). */
size_t gb_py_heap_peak(void);

#endif
