/*
 * Accepting connections when descriptors can run out: a connection that cannot be accepted would be reported in every
 * turn of the loop, and its peer would wait.
 *
 *	int reserve = gb_accept_reserve();	// while there are descriptors
 *	int fd = gb_accept(listener, &reserve, &full);
 */
#ifndef GB_BASE_ACCEPT_H
#define GB_BASE_ACCEPT_H

#include <stdbool.h>

/* A descriptor to be closed when there is no other one; -1 on failure. The caller closes it. */
int gb_accept_reserve(void);
/* Accept a connection of @listener, which does not block. The result does not block either; -1: there is none. If there
 * was no descriptor for it, the connection was reset with the help of *reserve, and *ret_full is true. */
int gb_accept(int listener, int *reserve, bool *ret_full);
/* Close a connection with a reset. */
void gb_reset(int fd);

#endif
