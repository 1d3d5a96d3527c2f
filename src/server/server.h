/*
 * Runs code for client programs in any language, over JSON lines on a pair of descriptors: docs/PROTOCOL.md.
 *
 *	gb_server_create(service, &server, &err);
 *	gb_server_add(server, STDIN_FILENO, STDOUT_FILENO, &err);
 *	while (gb_server_clients(server))
 *		gb_server_turn(server, &err);
 *	gb_server_destroy(server);
 *
 * A client with more than 64 MiB of unread output is read no further, and its runs are paused; other clients do not
 * notice. One that reads nothing for 30 s is dropped if there are others.
 */
#ifndef GB_SERVER_SERVER_H
#define GB_SERVER_SERVER_H

#include "service/service.h"

struct gb_server;
struct gb_listener;

/* @service outlives the server. */
bool gb_server_create(struct gb_service *service, struct gb_server **ret, struct gb_err *err);
/* Drops all clients, and so ends their runs. NULL is fine. */
void gb_server_destroy(struct gb_server *server);

/* Add a client that uses these descriptors. Takes ownership of them, also on failure. They must be different
 * (see dup). */
bool gb_server_add(struct gb_server *server, int in, int out, struct gb_err *err);
/* The number of clients. */
unsigned gb_server_clients(const struct gb_server *server);
/* The number of live sessions. */
unsigned gb_server_sessions(const struct gb_server *server);

/* Wait for events and handle them. Fails only if the engine or the loop fails. */
bool gb_server_turn(struct gb_server *server, struct gb_err *err);

/* Accept clients at a unix socket that only this user may connect to. Replaces a stale socket at @path, but
 * no other file. */
bool gb_listener_create(
    struct gb_server *server, const char *path, struct gb_listener **ret, struct gb_err *err);
/* Removes the socket. NULL is fine. */
void gb_listener_destroy(struct gb_listener *listener);
/* The service that it serves. */
struct gb_service *gb_server_service(struct gb_server *server);

#endif
