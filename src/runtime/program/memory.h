/*
 * How much memory this cell uses: its processes, the keeper, and what the kernel holds for them.
 *
 *	if (!gb_memory_init())		// before the keeper opens anything
 *		... there is nothing to bound it with: end ...
 *	gb_memory_begin(job.n);		// with each run
 *	if (gb_memory_look(limit).used > limit || gb_memory_was_killed()) ...
 *
 * A cell that has a memory control group asks that. Any other cell counts, by /proc: see memory_parts.h.
 */
#ifndef GB_RUNTIME_PROGRAM_MEMORY_H
#define GB_RUNTIME_PROGRAM_MEMORY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The use could not be found out: to be treated as too much. */
#define GB_MEMORY_UNKNOWN UINT64_MAX

/* False if this cell has neither a control group nor /proc: its memory cannot be limited. Descriptors
 * GB_FD_GROUP_* must not have been used for anything else. */
bool gb_memory_init(void);

/* A run begins, whose job has @job_bytes: what the keeper needs beyond that counts, and so do processes that
 * the kernel kills from here on. */
void gb_memory_begin(uint64_t job_bytes);

/* In bytes. */
struct gb_memory {
	uint64_t used;  /* what is compared with the limit: an upper bound */
	uint64_t pages; /* what a person is told: processes' own and shared memory */
};

/* Adds up no further than needed to know that @limit is passed. */
struct gb_memory gb_memory_look(uint64_t limit);

/* Has the kernel killed a process of this cell's control group because the group was full, since
 * gb_memory_begin()? Always false without a group. */
bool gb_memory_was_killed(void);

/* Are there processes beside the keeper and @program? True if that cannot be found out. */
bool gb_memory_has_others(pid_t program);

#endif
