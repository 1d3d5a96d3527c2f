/*
 * TCP ports that processes of Glovebox listen on. Code in a sandbox must not reach them, whatever an allowlist
 * says. So a process claims a port before it listens on it, and glovebox-egress checks the claims before it
 * connects code to a port of this machine.
 *
 *	gb_auto_fd int claim = -1;
 *	if (!gb_claim_port(8080, &claim, &err)) ...	// before listen(); keep it open as long as the port
 *
 * A claim is an abstract unix socket with a name that is made of the user and the port, so it ends with the process.
 */
#ifndef GB_BASE_CLAIM_H
#define GB_BASE_CLAIM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* Several processes of a user may claim the same port. The caller owns *ret_fd. */
bool gb_claim_port(uint16_t port, int *ret_fd, struct gb_err *err);
/* Whether a process of user @uid has claimed @port. @sockets is /proc/net/unix, open for reading. If that cannot be
 * read, true. */
bool gb_claim_is_held(int sockets, uint32_t uid, uint16_t port);

#endif
