/*
 * The memory of this process, counted: everything that malloc gives, to whatever library, and the arenas that
 * Python's own allocator maps. Over the cap there is none left, which Python code sees as a MemoryError.
 *
 *	gb_py_heap_init();			// once, before the interpreter
 *	gb_py_heap_limit(job.memory);		// from now on at most that much more
 *	...
 *	gb_py_heap_relax();			// the run is over: room to tell how
 */
#ifndef GB_PYTHON_HEAP_H
#define GB_PYTHON_HEAP_H

#include <stddef.h>

void gb_py_heap_init(void);

/* At most @max bytes more than were in use at the first call. Small requests have a margin beyond that, so
 * that code which handles its want of memory can run. */
void gb_py_heap_limit(size_t max);
void gb_py_heap_relax(void);

/* The most that was in use since the limit was set, beyond what was in use at the first time. */
size_t gb_py_heap_peak(void);

#endif
