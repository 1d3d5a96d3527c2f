/*
 * Measures the memory of this cell: its processes, the keeper, and kernel memory held on their behalf.
 *
 *	if (!gb_memory_init())		// before the keeper opens anything
 *		... no way to enforce a limit: exit ...
 *	gb_memory_begin(job.n);		// for each run
 *	if (gb_memory_measure(limit).used > limit || gb_memory_was_killed()) ...
 *
 * A cell with a memory control group reads the group's counters. Other cells add up /proc: see
 * memory_parts.h.
 */
#ifndef GB_RUNTIME_PROGRAM_MEMORY_H
#define GB_RUNTIME_PROGRAM_MEMORY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The usage could not be determined: treat as over the limit. */
#define GB_MEMORY_UNKNOWN UINT64_MAX

/* False if this cell has neither a control group nor /proc, so that its memory cannot be limited. Descriptors
 * GB_FD_GROUP_* must not have been reused. */
bool gb_memory_init(void);

/* Begin a run whose job has @job_bytes. Keeper memory beyond that is charged to the run; OOM kills are
 * counted from here on. */
void gb_memory_begin(uint64_t job_bytes);

/* In bytes. */
struct gb_memory {
	uint64_t used;  /* compared with the limit: an upper bound */
	uint64_t pages; /* reported to the user: private and shared memory of the processes */
};

/* Stops adding up as soon as the sum exceeds @limit. */
struct gb_memory gb_memory_measure(uint64_t limit);

/* True if the kernel's OOM killer has killed a process of this cell's control group since gb_memory_begin().
 * Always false without a group. */
bool gb_memory_was_killed(void);

/* True if processes other than the keeper and @program exist, or if that cannot be determined. */
bool gb_memory_has_others(pid_t program);

#endif
