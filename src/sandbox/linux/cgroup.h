/*
 * The control group of an engine: memory and process count of everything that it starts, and below it a group
 * for each cell in a room with programs (cell_group.h). Uses version 2 if its controllers are available, else
 * version 1.
 *
 *	struct gb_cgroup *group = NULL;
 *	gb_cgroup_create(&limits, &group, &why_not);	// false: this machine or user has none
 *	gb_cgroup_attach(group, pid, &err);		// a zygote
 *	gb_cgroup_destroy(group);			// after its processes have ended
 *
 * It is the only layer that may be absent: an unprivileged user rarely owns a control group. docs/THREATS.md
 * lists what bounds each resource then.
 */
#ifndef GB_SANDBOX_LINUX_CGROUP_H
#define GB_SANDBOX_LINUX_CGROUP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

struct gb_cgroup;

struct gb_cgroup_limits {
	uint64_t memory_bytes; /* lowered to three quarters of the limit of the host's own group */
	uint32_t processes;
	bool cells;                /* cells will have groups of their own in it */
	uint64_t cell_extra_bytes; /* added to the memory limit of the run in the group of such a cell */
};

/* Create a group beside or below the host's own. Also removes groups that ended hosts left. */
bool gb_cgroup_create(const struct gb_cgroup_limits *limits, struct gb_cgroup **ret, struct gb_err *err);
/* Remove it; NULL is fine. */
void gb_cgroup_destroy(struct gb_cgroup *group);

/* Move a zygote into it. That may take milliseconds: once per zygote, never per run. */
bool gb_cgroup_attach(struct gb_cgroup *group, pid_t pid, struct gb_err *err);

/* How often the kernel has killed one of its processes for lack of memory, except those in cells' own groups.
 * NULL: in the host's own group, which cells are in if the engine has no group. */
uint64_t gb_cgroup_oom_kills(const struct gb_cgroup *group);

int gb_cgroup_version(const struct gb_cgroup *group);
/* Whether cells can have groups of their own in it. @group may be NULL. */
bool gb_cgroup_has_cells(const struct gb_cgroup *group);

#endif
