/*
 * A unix socket with a path that only this user can connect to.
 *
 *	struct gb_unix_socket own;
 *	gb_unix_socket_init(&own);
 *	if (!gb_unix_socket_listen(&own, "/run/user/1000/a.sock", 64, &err)) ...
 *	accept4(own.fd, ...)
 *	gb_unix_socket_finish(&own);	// closes it and removes the file
 */
#ifndef GB_BASE_UNIX_SOCKET_H
#define GB_BASE_UNIX_SOCKET_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "base/err.h"

struct gb_unix_socket {
	int fd; /* -1: not open */
	bool bound;
	struct stat when_bound; /* to recognise the file later: it may have been replaced by another */
	struct sockaddr_un address;
};

void gb_unix_socket_init(struct gb_unix_socket *own);
/* Listen at @path without blocking. A socket at the path that no process listens at is replaced; every other file is
 * not, and is an error. */
bool gb_unix_socket_listen(struct gb_unix_socket *own, const char *path, int backlog, struct gb_err *err);
/* Close it, and remove the file if it is still this socket. */
void gb_unix_socket_finish(struct gb_unix_socket *own);

#endif
