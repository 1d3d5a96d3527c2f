/*
 * A control group for one cell in a room with programs: the kernel counts all memory that the cell's
 * processes take, kernel memory included, and enforces the limit.
 *
 *	struct gb_cell_group *group = gb_cell_group_take(engine_group, memory, processes, &err);
 *	n = gb_cell_group_open(group, fds, &err);	// sent to the cell, which joins by itself
 *	gb_cell_group_limit(group, memory);		// when its run begins
 *	gb_cell_group_give_back(group);			// after all its processes have ended
 *
 * Moving a process into a group takes microseconds in a burst and up to ten milliseconds after idle time. So
 * a cell joins by itself, before anything else, while it is prepared: the host never waits for it.
 */
#ifndef GB_SANDBOX_LINUX_CELL_GROUP_H
#define GB_SANDBOX_LINUX_CELL_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "sandbox/linux/protocol.h"

struct gb_cgroup;
struct gb_cell_group;

/* A group for the next cell, whose run may use @memory_bytes; the kernel's limit is higher by the parent's
 * cell_extra_bytes. @parent must have been created with cells = true. NULL on failure. */
struct gb_cell_group *gb_cell_group_take(
    struct gb_cgroup *parent, uint64_t memory_bytes, uint32_t processes, struct gb_err *err);
/* Call this after all its processes have ended. NULL is fine. */
void gb_cell_group_give_back(struct gb_cell_group *group);

/* Open the descriptors that a cell needs: those that it joins through, then the GB_GROUP_KEPT ones that it
 * keeps. All are owned by the caller. Returns how many, 0 on failure. */
size_t gb_cell_group_open(const struct gb_cell_group *group, int fds[GB_GROUP_FDS_MAX], struct gb_err *err);

/* Change its memory limit. If the kernel refuses a limit below current usage, the old limit stays. */
void gb_cell_group_limit(struct gb_cell_group *group, uint64_t memory_bytes);
/* Let its processes run only when those of other cells of the engine do not, or end that. False if there is
 * no cpu controller. */
bool gb_cell_group_yield_cpu(struct gb_cell_group *group, bool yields);
/* Whether the kernel has killed one of its processes for lack of memory since it was taken. */
bool gb_cell_group_oom_killed(const struct gb_cell_group *group);

#endif
