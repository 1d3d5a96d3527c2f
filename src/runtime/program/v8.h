/*
 * What keepers of programs know that have V8 inside: Node.js and Deno.
 *
 *	struct gb_v8_heap heap = gb_v8_heap(memory);		// what to start it with
 *	gb_v8_write_priming(&out, sources, n);			// jobs for nobody
 *	if (gb_v8_died_of_memory(&keeper)) ...
 *
 * Five frames are between keeper and program only. PRIME, to the program: a job that nobody is to hear of.
 * READY, from it: it listens. WATCHING, from it: SIGINT stops code that runs, and nothing else. INTERRUPT, to
 * it: stop what waits. SIGNALLED, to it: the job before the next was sent a SIGINT.
 */
#ifndef GB_RUNTIME_PROGRAM_V8_H
#define GB_RUNTIME_PROGRAM_V8_H

#include "base/buf.h"
#include "runtime/program/keeper.h"

enum { GB_V8_SIGNALLED = 123, GB_V8_WATCHING, GB_V8_INTERRUPT, GB_V8_READY, GB_V8_PRIME };

/* A warm program is started with it. */
#define GB_V8_USUAL_MEMORY GB_KEEPER_USUAL_MEMORY

/* In MiB. */
struct gb_v8_heap {
	unsigned old, semi;
};

/* The heap's own limits come first: they say more than being ended does. A heap has the limits that it was
 * made with. */
struct gb_v8_heap gb_v8_heap(uint64_t memory);

/* No process of the program's may have @memory more than the program has now, of its own. Nobody counts what
 * is never touched; this is for what asks for far too much at once, which then is told so. */
void gb_v8_limit_data(const struct gb_keeper *keeper, uint64_t memory);

/* How V8 ends when its heap is full. */
bool gb_v8_died_of_memory(const struct gb_keeper *keeper);

/* Append programs, start to end, whose answers are thrown away: what a run needs is then compiled and in
 * memory. */
void gb_v8_write_priming(struct gb_buf *out, const char *const *sources, size_t n);

/* Write all of it to a program that is not there to read yet, and will be. If it ends instead, that is seen
 * when the job is there. */
void gb_v8_send(int fd, const struct gb_buf *bytes);

#endif
