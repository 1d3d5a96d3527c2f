/*
 * How much memory the processes of this cell use, this one left out. Told by /proc; where a room has none, by
 * nobody, and then only the limits of each process hold.
 */
#ifndef GB_RUNTIME_PROGRAM_MEMORY_H
#define GB_RUNTIME_PROGRAM_MEMORY_H

#include <stdint.h>

/* In bytes; 0 if it cannot be told. Pages that processes share count once, but only if @limit would be passed
 * otherwise: telling them apart takes long. */
uint64_t gb_memory_used(uint64_t limit);

#endif
