/* The network of a cell whose plan has one. */
#ifndef GB_SANDBOX_LINUX_INSIDE_NETWORK_H
#define GB_SANDBOX_LINUX_INSIDE_NETWORK_H

#include <stdbool.h>

#include "sandbox/linux/inside/verify.h"
#include "sandbox/linux/plan.h"

/* In a new cell, which still has capabilities over its network namespace: give the loopback device its addresses, make
 * sockets, pass them out over @fd, and wait until they are in use. */
bool gb_network_pass(const struct gb_plan *plan, int fd, struct gb_wall_failure *ret_failure);

#endif
