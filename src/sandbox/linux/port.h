/* The Linux port of an engine: what all its pools share. */
#ifndef GB_SANDBOX_LINUX_PORT_H
#define GB_SANDBOX_LINUX_PORT_H

#include "sandbox/port.h"

struct gb_cgroup;

struct gb_port {
	struct gb_port_options options;
	/* Parent of all cells' groups, made with the first plan that needs it. NULL: not made yet, or not to be
	 * had. */
	struct gb_cgroup *cgroup;
	bool has_no_cgroup; /* making it has failed, or cells are to have none */
};

#endif
