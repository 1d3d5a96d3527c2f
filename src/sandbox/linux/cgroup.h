/*
 * The control group of an engine: memory and process count of everything that it starts, and below it a group
 * for each cell in a room with programs (cell_group.h). Version 2 where its controllers are to be had,
 * version 1 otherwise, behind one interface.
 *
 *	struct gb_cgroup *group = NULL;
 *	gb_cgroup_create(&limits, &group, &why_not);	// false: this machine or user has none
 *	gb_cgroup_attach(group, pid, &err);		// a zygote
 *	gb_cgroup_destroy(group);			// when its processes are gone
 *
 * It is the one layer that may be absent: an ordinary user rarely owns a control group. docs/THREATS.md says
 * what bounds each resource then.
 */
#ifndef GB_SANDBOX_LINUX_CGROUP_H
#define GB_SANDBOX_LINUX_CGROUP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

struct gb_cgroup;

struct gb_cgroup_limits {
	uint64_t memory_bytes; /* lowered to three quarters of what the host's own group may have */
	uint32_t processes;
	bool cells;                /* cells will have groups of their own in it */
	uint64_t cell_extra_bytes; /* what the kernel lets such a cell take beyond what its run may use */
};

/* Make one beside or below the host's own. Also removes those that ended hosts left. */
bool gb_cgroup_create(const struct gb_cgroup_limits *limits, struct gb_cgroup **ret, struct gb_err *err);
/* Remove it; NULL is fine. */
void gb_cgroup_destroy(struct gb_cgroup *group);

/* Move a zygote into it. That may take milliseconds: once per zygote, never per run. */
bool gb_cgroup_attach(struct gb_cgroup *group, pid_t pid, struct gb_err *err);

/* How often the kernel has killed one of its processes for want of memory, those in cells' own groups left
 * out. NULL: processes of the host's own group, where cells are that have none. */
uint64_t gb_cgroup_oom_kills(const struct gb_cgroup *group);

int gb_cgroup_version(const struct gb_cgroup *group);
/* Can cells have groups of their own in it? */
bool gb_cgroup_has_cells(const struct gb_cgroup *group);

#endif
