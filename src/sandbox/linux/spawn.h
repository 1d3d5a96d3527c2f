/*
 * Start a program in new namespaces without forking the host: its memory is shared until exec, so the cost
 * does not depend on the host's size, and only raw system calls run in between.
 */
#ifndef GB_SANDBOX_LINUX_SPAWN_H
#define GB_SANDBOX_LINUX_SPAWN_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"

struct gb_spawn {
	const char *program;
	unsigned layers; /* the namespaces among them are made */
	int control;     /* becomes GB_FD_CONTROL */
	int host;        /* becomes GB_FD_HOST */
};

/* On success the program has been exec'd with an empty environment, no other descriptors, stdio on
 * /dev/null, and, in a new user namespace, all of that namespace's capabilities. */
bool gb_spawn(const struct gb_spawn *spawn, pid_t *ret_pid, int *ret_pidfd, struct gb_err *err);

#endif
