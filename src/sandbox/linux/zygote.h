/*
 * The host's end of a zygote: one sealed helper process that forks cells.
 *
 *	struct gb_zygote zygote;
 *	if (!gb_zygote_spawn(&zygote, &plan, "/usr/libexec/glovebox/glovebox-js", cgroup, &err)) ...
 *	gb_zygote_fork(&zygote, 7, worker_socket, GB_FORK_PRIME, &err);
 *	// when zygote.control is readable:
 *	while (gb_zygote_next(&zygote, &notice, &pidfd) == GB_ZYGOTE_NOTICE) ...
 *	gb_zygote_finish(&zygote);	// kills it and, with it, every cell
 *
 * Spawning does not wait: orders may be sent at once and are executed when the wall is up. A zygote is an
 * ordinary child of the host: its exit sends SIGCHLD, and any code of the host may reap it.
 */
#ifndef GB_SANDBOX_LINUX_ZYGOTE_H
#define GB_SANDBOX_LINUX_ZYGOTE_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"
#include "sandbox/linux/plan.h"
#include "sandbox/linux/protocol.h"

struct gb_cgroup;

struct gb_zygote {
	pid_t pid;
	int pidfd;
	int control;
	unsigned n_spare; /* host ends of sockets whose other end the zygote already has */
	int spare[GB_SPARE_SOCKETS];
};

/* Start @program behind @plan. @cgroup is NULL if this machine has none. */
bool gb_zygote_spawn(struct gb_zygote *ret, const struct gb_plan *plan, const char *program,
    struct gb_cgroup *cgroup, struct gb_err *err);
void gb_zygote_finish(struct gb_zygote *zygote);

/* Order a cell whose socket is the first of @fds; the others are those of its control group, if it has one.
 * The caller keeps ownership of @fds. Does not block: fails with EAGAIN when too many orders are in flight,
 * and with ETOOMANYREFS when too many descriptors of this user are. */
bool gb_zygote_fork(struct gb_zygote *zygote, uint32_t cell, const int *fds, size_t n_fds, uint32_t flags,
    struct gb_err *err);

/* Send it sockets for later cells, up to GB_SPARE_SOCKETS. */
void gb_zygote_send_spares(struct gb_zygote *zygote);
/* The host's end of a socket whose other end the zygote already has. The cell must be ordered before any
 * other socket is sent. *ret_fd is owned by the caller. False if none is available. */
bool gb_zygote_take_spare(struct gb_zygote *zygote, int *ret_fd, uint32_t *ret_spare);
/* The same as gb_zygote_fork, for a cell whose socket is @spare. */
bool gb_zygote_fork_spare(
    struct gb_zygote *zygote, uint32_t cell, uint32_t spare, uint32_t flags, struct gb_err *err);

enum gb_zygote_status { GB_ZYGOTE_NOTICE, GB_ZYGOTE_QUIET, GB_ZYGOTE_GONE };

/* Receive the next notice, if there is one. *ret_pidfd is owned by the caller, or -1. */
enum gb_zygote_status gb_zygote_next(struct gb_zygote *zygote, struct gb_notice *ret_notice, int *ret_pidfd);

/* Turn a GB_NOTICE_FAILED into an error: which layer, why, what to do. Always returns false. */
bool gb_notice_fail(const struct gb_notice *notice, struct gb_err *err);

/* Describe how a zygote ended. Does not reap it. */
void gb_zygote_describe_exit(struct gb_zygote *zygote, char *text, size_t n);

#endif
