/*
 * A control group for everything an engine starts: memory and process count as a whole. Version 2 where its
 * controllers are to be had, version 1 otherwise, behind one interface.
 *
 *	struct gb_cgroup *group = NULL;
 *	gb_cgroup_create(&limits, &group, &why_not);	// false: this machine or user has none
 *	gb_cgroup_attach(group, pid, &err);
 *	gb_cgroup_destroy(group);			// when its processes are gone
 *
 * It is the one layer that may be absent: an ordinary user rarely owns a control group. Each run's own limits
 * do not depend on it.
 */
#ifndef GB_SANDBOX_CGROUP_H
#define GB_SANDBOX_CGROUP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

struct gb_cgroup;

struct gb_cgroup_limits {
	uint64_t memory_bytes;
	uint32_t processes;
};

/* Make one beside or below the host's own. Also removes those that dead hosts left. */
bool gb_cgroup_create(const struct gb_cgroup_limits *limits, struct gb_cgroup **ret, struct gb_err *err);
/* Remove it; NULL is fine. */
void gb_cgroup_destroy(struct gb_cgroup *group);

/* Moving a process may take milliseconds: once per zygote, never per run. */
bool gb_cgroup_attach(struct gb_cgroup *group, pid_t pid, struct gb_err *err);

/* How often the kernel has killed in it for want of memory. */
uint64_t gb_cgroup_oom_kills(const struct gb_cgroup *group);

#endif
