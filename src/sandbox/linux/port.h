/* The Linux port of an engine: the state that all its pools share. */
#ifndef GB_SANDBOX_LINUX_PORT_H
#define GB_SANDBOX_LINUX_PORT_H

#include <sched.h>

#include "sandbox/port.h"

struct gb_cgroup;

struct gb_port {
	struct gb_port_options options;
	/* Parent of all cells' groups, created with the first plan that needs it. NULL: not created yet, or
	 * not available. */
	struct gb_cgroup *cgroup;
	bool has_no_cgroup;             /* creating it failed, or the cells must not have one */
	unsigned n_starts[CPU_SETSIZE]; /* by CPU: zygotes that are not ready yet */
};

#endif
