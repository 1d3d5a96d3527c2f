/*
 * Runs code for client programs in any language, over JSON lines on a pair of descriptors: docs/PROTOCOL.md.
 *
 *	gb_server_create(
 *	    &(struct gb_server_options){.loop = &loop, .engine = engine, .config = config}, &server, &err);
 *	gb_server_add(server, STDIN_FILENO, STDOUT_FILENO, &err);
 *	while (gb_server_clients(server))
 *		gb_server_turn(server, &err);
 *	gb_server_destroy(server);
 *
 * All clients share the engine. While a client has more than 64 MiB of unread output, the runs of all clients
 * are paused; a client that reads nothing for 30 s is dropped if there are others.
 */
#ifndef GB_SERVER_SERVER_H
#define GB_SERVER_SERVER_H

#include "base/loop.h"
#include "config/config.h"
#include "glovebox/glovebox.h"
#include "guard/secrets.h"

struct gb_gate;
struct gb_server;
struct gb_listener;

struct gb_server_options {
	struct gb_loop *loop;     /* owned by the caller, as the engine; both outlive the server */
	struct gb_engine *engine; /* used by the server only */
	/* Limits of runs and number of sessions; a reference is taken. A run that asks for more than the
	 * settings allow gets what they allow. */
	const struct gb_config *config;
	/* for requests of agents, used by the server only; NULL: they are refused */
	struct gb_gate *gate;
	bool strict;              /* refuse such a run instead */
	struct gb_filter *filter; /* masks the output of runs; a reference is taken; NULL: no masking */
	/* maximum and default timeout of a run, instead of that of the settings; 0: use the settings */
	uint64_t timeout_ms;
	unsigned max_runs; /* as given to the engine */
	/* Called for each failed attempt to record runs of agents. Their results are withheld until they are
	 * recorded. */
	void (*on_trouble)(const struct gb_err *err, void *data);
	void *data;
};

bool gb_server_create(const struct gb_server_options *options, struct gb_server **ret, struct gb_err *err);
/* Change settings and filter for later runs and sessions. Present ones are not affected. */
void gb_server_configure(struct gb_server *server, const struct gb_config *config, struct gb_filter *filter);
/* Ends all runs. NULL is fine. */
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
/* The loop that the listener registers its socket in. */
struct gb_loop *gb_server_loop(struct gb_server *server);

#endif
