/*
 * A cell's own control group, from inside. The host has made it and passes descriptors; the cell joins by
 * itself, since moving a process can take milliseconds and the host is not to wait.
 */
#ifndef GB_SANDBOX_INSIDE_GROUP_H
#define GB_SANDBOX_INSIDE_GROUP_H

#include <stddef.h>

/* Join the groups behind @fds, @n of them, and see that this process alone is in each. Returns NULL, or what
 * could not be done, with errno set. */
const char *gb_group_join(const int *fds, size_t n);

#endif
