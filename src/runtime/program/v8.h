/*
 * Shared by the keepers of programs that embed V8: Node.js and Deno.
 *
 *	struct gb_v8_heap heap = gb_v8_heap(memory);		// heap limits for its command line
 *	gb_v8_write_priming(&out, sources, n);			// warm-up jobs
 *	if (gb_v8_died_of_memory(&keeper)) ...
 *
 * Five frame types are internal to keeper and program. To the program: PRIME, a job whose results are
 * discarded; INTERRUPT: stop code that waits; SIGNALLED: the job before the next one was sent a SIGINT. From
 * the program: READY: it reads frames; WATCHING: from now on SIGINT interrupts running code and has no other
 * effect.
 */
#ifndef GB_RUNTIME_PROGRAM_V8_H
#define GB_RUNTIME_PROGRAM_V8_H

#include "base/buf.h"
#include "runtime/program/keeper.h"

enum { GB_V8_SIGNALLED = 123, GB_V8_WATCHING, GB_V8_INTERRUPT, GB_V8_READY, GB_V8_PRIME };

/* The limit with which a warm program is started. */
#define GB_V8_DEFAULT_MEMORY GB_KEEPER_DEFAULT_MEMORY

/* In MiB. */
struct gb_v8_heap {
	unsigned old, semi;
};

/* Heap limits for a memory limit. They are below it, since a heap error is more informative than a kill. They
 * are fixed when the heap is created. */
struct gb_v8_heap gb_v8_heap(uint64_t memory);

/* Limit private memory (RLIMIT_DATA) to what the program has now plus @memory. The memory checks do not count
 * untouched pages; this limit makes excessive single allocations fail with an error. */
void gb_v8_limit_data(const struct gb_keeper *keeper, uint64_t memory);

/* True if the program ended the way V8 does when its heap is full. */
bool gb_v8_died_of_memory(const struct gb_keeper *keeper);

/* Append warm-up jobs whose results are discarded, so that the code a run needs is compiled and in memory. */
void gb_v8_write_priming(struct gb_buf *out, const char *const *sources, size_t n);

/* Write everything to a program that does not read yet, and wait for it to read. If the program exits
 * instead, the keeper notices that with the next job. */
void gb_v8_send(int fd, const struct gb_buf *bytes);

#endif
