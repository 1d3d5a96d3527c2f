/*
 * A cell's own control group, from inside. The host creates it and passes descriptors; the cell joins by
 * itself, since moving a process can take milliseconds and must not block the host.
 */
#ifndef GB_SANDBOX_LINUX_INSIDE_GROUP_H
#define GB_SANDBOX_LINUX_INSIDE_GROUP_H

#include <stdbool.h>
#include <stddef.h>

#include "sandbox/linux/inside/apply.h"

/* Join the groups whose cgroup.procs are @fds, one for each hierarchy, and verify that this process is the
 * only one in the first, which counts memory. */
bool gb_group_join(const int *fds, size_t n, struct gb_wall_failure *ret_failure);

#endif
