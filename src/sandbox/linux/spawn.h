/*
 * Start a program in new namespaces without copying the host: the child shares the host's memory until exec,
 * so the cost does not depend on the host's size, and only raw system calls run in between.
 */
#ifndef GB_SANDBOX_LINUX_SPAWN_H
#define GB_SANDBOX_LINUX_SPAWN_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"

struct gb_spawn {
	const char *program;
	unsigned layers; /* a namespace is created for each namespace layer among them */
	int control;     /* becomes GB_FD_CONTROL */
	int host;        /* becomes GB_FD_HOST */
};

/* On success the program was exec'd with an empty environment, no other descriptors, stdio on /dev/null, and,
 * in a new user namespace, all capabilities of that namespace. */
bool gb_spawn(const struct gb_spawn *spawn, pid_t *ret_pid, int *ret_pidfd, struct gb_err *err);

#endif
