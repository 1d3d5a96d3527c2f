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
 * Spawning does not wait: orders may be given at once and are carried out when the wall is up. A zygote
 * is a child of the host like any other: its end sends SIGCHLD, and it does not matter who reaps it.
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
	unsigned n_spare; /* our ends of sockets that it has already */
	int spare[GB_SPARE_SOCKETS];
};

/* Start @program behind @plan. @cgroup may be NULL: there is none on this machine. */
bool gb_zygote_spawn(struct gb_zygote *ret, const struct gb_plan *plan, const char *program,
    struct gb_cgroup *cgroup, struct gb_err *err);
void gb_zygote_finish(struct gb_zygote *zygote);

/* Ask for a cell that talks on the first of @fds; the others are those of its control group, if it has one.
 * They stay the caller's. Does not block: fails with EAGAIN when too many orders are on their way already,
 * and with ETOOMANYREFS when too many descriptors of this user are. */
bool gb_zygote_fork(struct gb_zygote *zygote, uint32_t cell, const int *fds, size_t n_fds, uint32_t flags,
    struct gb_err *err);

/* Give it sockets for cells to come, up to GB_SPARE_SOCKETS. */
void gb_zygote_stock_up(struct gb_zygote *zygote);
/* Our end of a socket that the zygote has already, for a cell that is ordered before any other socket is
 * given. *ret_fd is the caller's. False if there is none to be had. */
bool gb_zygote_take_spare(struct gb_zygote *zygote, int *ret_fd, uint32_t *ret_spare);
/* The same as gb_zygote_fork, for a cell that talks on @spare. */
bool gb_zygote_fork_spare(
    struct gb_zygote *zygote, uint32_t cell, uint32_t spare, uint32_t flags, struct gb_err *err);

enum gb_zygote_status { GB_ZYGOTE_NOTICE, GB_ZYGOTE_QUIET, GB_ZYGOTE_GONE };

/* The next notice, if one is there. *ret_pidfd is the caller's, or -1. */
enum gb_zygote_status gb_zygote_next(struct gb_zygote *zygote, struct gb_notice *ret_notice, int *ret_pidfd);

/* What a GB_NOTICE_FAILED means, in words: which layer, why, what to do. Always returns false. */
bool gb_notice_fail(const struct gb_notice *notice, struct gb_err *err);

/* Reap a zygote that is gone and say how it ended. */
void gb_zygote_describe_exit(struct gb_zygote *zygote, char *text, size_t n);

#endif
