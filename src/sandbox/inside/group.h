/*
 * A cell's own control group, from inside. The host has made it and passes descriptors; the cell joins by
 * itself, since moving a process can take milliseconds and the host is not to wait.
 */
#ifndef GB_SANDBOX_INSIDE_GROUP_H
#define GB_SANDBOX_INSIDE_GROUP_H

#include <stdbool.h>

#include "sandbox/inside/apply.h"

/* Join the group whose cgroup.procs is @fd, and see that this process alone is in it. */
bool gb_group_join(int fd, struct gb_wall_failure *ret_failure);

#endif
