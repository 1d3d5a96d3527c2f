/* The scheduling priority of a process, its threads and all that it has started. */
#ifndef GB_SANDBOX_LINUX_PRIORITY_H
#define GB_SANDBOX_LINUX_PRIORITY_H

#include <stdbool.h>

/* Let the process behind @pidfd, and its descendants, run when others do not want the CPU; or as others do,
 * which an ordinary user may not ask for. Threads and processes that are made meanwhile may be missed. */
void gb_priority_set(int pidfd, bool low);

#endif
