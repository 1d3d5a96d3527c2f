/*
 * Runs for programs in any language, that speak JSON lines over a pair of descriptors: docs/PROTOCOL.md.
 *
 *	gb_server_create(
 *	    &(struct gb_server_options){.loop = &loop, .engine = engine, .config = config}, &server, &err);
 *	gb_server_add(server, STDIN_FILENO, STDOUT_FILENO, &err);
 *	while (gb_server_clients(server))
 *		gb_server_turn(server, &err);
 *	gb_server_destroy(server);
 *
 * All clients share the engine. While one of them does not take what was said to it (64 MiB), everybody's
 * runs stand still; one that takes nothing for 30 s is dropped if there are others.
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
	struct gb_loop *loop;     /* both are the caller's, and outlive the server */
	struct gb_engine *engine; /* used by nobody else */
	/* Limits of runs, how many sessions; a reference is taken. A run that asks for more than the settings
	 * allow gets what they allow. */
	const struct gb_config *config;
	struct gb_gate *gate;     /* for requests of agents, used by nobody else; NULL: there are none */
	bool strict;              /* such a run is refused instead */
	struct gb_filter *filter; /* what is masked in what runs say; a reference is taken; NULL: nothing */
	uint64_t timeout_ms; /* of a run, at most and if it does not say, whatever the settings are; 0: as
			      * they are */
	unsigned max_runs;   /* as given to the engine */
	/* What agents have run cannot be recorded, so its results wait; said once for each try. */
	void (*on_trouble)(const struct gb_err *err, void *data);
	void *data;
};

bool gb_server_create(const struct gb_server_options *options, struct gb_server **ret, struct gb_err *err);
/* For runs and sessions that begin from now on. What is under way goes on as it began. */
void gb_server_configure(struct gb_server *server, const struct gb_config *config, struct gb_filter *filter);
/* Ends all runs. NULL is fine. */
void gb_server_destroy(struct gb_server *server);

/* A client that speaks on these, which are taken over, on success or not. They must be two (see dup). */
bool gb_server_add(struct gb_server *server, int in, int out, struct gb_err *err);
/* How many there are. */
unsigned gb_server_clients(const struct gb_server *server);
/* How many sessions live. */
unsigned gb_server_sessions(const struct gb_server *server);

/* Wait for something to do, and do it. Fails only if the engine or the loop does. */
bool gb_server_turn(struct gb_server *server, struct gb_err *err);

/* Take clients at a unix socket, which only this user may connect to. A socket that nobody listens at any
 * more is replaced, nothing else is. */
bool gb_listener_create(
    struct gb_server *server, const char *path, struct gb_listener **ret, struct gb_err *err);
/* Removes the socket. NULL is fine. */
void gb_listener_destroy(struct gb_listener *listener);
/* What the listener adds clients to its server's loop with. */
struct gb_loop *gb_server_loop(struct gb_server *server);

#endif
