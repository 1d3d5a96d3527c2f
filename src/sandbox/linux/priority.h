/* The scheduling priority of a process, its threads and all that it has started. */
#ifndef GB_SANDBOX_LINUX_PRIORITY_H
#define GB_SANDBOX_LINUX_PRIORITY_H

#include <stdbool.h>

/* Set the process behind @pidfd and its descendants to the lowest priority, or back to the normal one, which
 * an unprivileged user may not be permitted to do. Threads and processes that are created meanwhile may be
 * missed. */
void gb_priority_set(int pidfd, bool low);

#endif
