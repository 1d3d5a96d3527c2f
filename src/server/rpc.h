/*
 * One client and its runs: messages in, engine, lines out.
 *
 * A run is *waiting* (its line is kept until the engine has room) or *running*; when it settles its result is
 * said and it is forgotten. What comes for a number that is not known any more came too late.
 */
#ifndef GB_SERVER_RPC_H
#define GB_SERVER_RPC_H

#include "base/list.h"
#include "gate/gate.h"
#include "glovebox/sessions.h"
#include "guard/masked.h"
#include "server/lines.h"
#include "server/messages.h"
#include "server/server.h"
#include "server/table.h"

/* What a client has registered, to be masked. */
struct gb_rpc_secrets {
	struct gb_rpc_secret {
		char *name, *value;
		size_t n;
	} * list;
	size_t n;
};

struct gb_server {
	struct gb_loop *loop;
	struct gb_engine *engine;
	struct gb_manager *manager;
	struct gb_gate *gate; /* or NULL */
	struct gb_source gate_source;
	void (*on_trouble)(const struct gb_err *err, void *data);
	void *data;
	struct gb_source engine_source; /* out of the loop while a client does not take what we say */
	const struct gb_config *config;
	struct gb_filter *filter; /* or NULL */
	struct gb_rpc_secrets secrets;
	bool strict; /* who asks for more than the settings allow is refused */
	unsigned max_runs;
	uint64_t timeout_ms;    /* or 0 */
	struct gb_list clients; /* the one whose turn it is to start a waiting run stands first */
	unsigned n_running;
	unsigned
	    n_agent_runs; /* runs of agents; not counted in n_running, since they may wait for a person */
	unsigned n_waiting;
	size_t waiting_bytes;
	unsigned n_clogged; /* clients that do not take what we say */
	bool room;          /* a run has settled since waiting ones were last tried */
	struct gb_err err;  /* why the engine cannot go on */
};

struct gb_client {
	struct gb_list link;
	struct gb_server *server;
	struct gb_lines lines;
	struct gb_table runs;
	struct gb_list waiting;     /* of its runs */
	struct gb_list attachments; /* to terminals of sessions */
	uint64_t next_run;          /* no run of this number or above was asked for yet */
	uint64_t n_lines;           /* received */
	unsigned decides;           /* 1 << face: the client decides on requests of these faces */
	bool clogged;
	bool held;  /* and with it the terminals that it is attached to */
	bool ended; /* nothing more comes in, and its runs are ended */
};

/* The beginning of a character whose rest is still to be written. */
struct gb_rpc_tail {
	char bytes[3];
	unsigned char n;
};

/* A run as its client knows it. */
struct gb_rpc_run {
	struct gb_entry entry; /* in the client's table, by the client's number */
	struct gb_list link;   /* in the client's list while it waits */
	struct gb_server *server;
	struct gb_client *client; /* NULL once that is gone and the run, in a session, is not yet */
	bool in_session;
	struct gb_masked *masked;       /* what it has said so far; NULL if nothing is masked */
	struct gb_rpc_tail tails[2];    /* of stdout and stderr */
	struct gb_run *run;             /* NULL while it waits */
	struct gb_agent_run *agent_run; /* instead, of a run that an agent wants */
	struct gb_buf line;             /* its message, while it waits */
	struct gb_table in;             /* calls from the code that wait for an answer */
	struct gb_table out;            /* calls of the client's that wait for one */
	uint64_t last_call;             /* from the code */
};

/* --- rpc.c --- */

/* A line from the client; if @n is more than lines.line_max, the beginning of one that was too long. */
void gb_rpc_take(struct gb_client *client, const char *line, size_t n);
/* End all runs of a client that is gone. */
void gb_rpc_end(struct gb_client *client);
/* Start what waits longest. False if there is no room for it. */
bool gb_rpc_start_waiting(struct gb_client *client);

/* It is over, or never began. */
void gb_rpc_forget(struct gb_rpc_run *run);

/* --- agents.c --- */

/* The client states on requests of which faces it decides itself. */
bool gb_rpc_hello(struct gb_client *client, const struct gb_message *message, struct gb_complaint *complaint);
bool gb_rpc_execute(struct gb_rpc_run *run, const struct gb_message *message, struct gb_complaint *complaint);
/* It is done, or its client is gone. It is recorded in either case. */
void gb_rpc_drop_agent_run(struct gb_rpc_run *run);

/* --- calls.c --- */

void gb_rpc_on_call(struct gb_run *run, struct gb_call *call, void *rpc_run);
void gb_rpc_on_report(struct gb_run *run, const struct gb_value *value, struct gb_call *call, void *rpc_run);
/* On failure the complaint has code, field and message. */
bool gb_rpc_answer(struct gb_rpc_run *run, const struct gb_message *message, struct gb_complaint *complaint);
bool gb_rpc_call(struct gb_rpc_run *run, const struct gb_message *message, struct gb_complaint *complaint);
/* The run has settled: tell those who wait for an answer from it, and release what it waited for. */
void gb_rpc_end_calls(struct gb_rpc_run *run);
/* Its client is gone, and the run is not. */
void gb_rpc_abandon_calls(struct gb_rpc_run *run);

/* --- outputs.c --- */

void gb_rpc_tell_output(struct gb_rpc_run *run, int stream, const char *bytes, size_t n);
void gb_rpc_on_log(struct gb_run *run, const struct gb_log *log, void *rpc_run);
void gb_rpc_on_output(struct gb_run *run, int stream, const char *bytes, size_t n, void *rpc_run);
void gb_rpc_on_display(struct gb_run *run, const struct gb_value *display, void *rpc_run);
/* Nothing more will be written. */
void gb_rpc_end_outputs(struct gb_rpc_run *run, const struct gb_result *result);

/* --- secrets.c --- */

bool gb_rpc_add_secret(
    struct gb_client *client, const struct gb_message *message, struct gb_complaint *complaint);
/* There are other filters: let them look for all that was registered. */
bool gb_rpc_look_again(struct gb_server *server, struct gb_err *err);
void gb_rpc_forget_secrets(struct gb_server *server);

/* --- sessions.c --- */

bool gb_rpc_take_session(
    struct gb_client *client, const struct gb_message *message, struct gb_complaint *complaint);
void gb_rpc_on_awaiting(
    struct gb_manager *manager, const struct gb_session_info *info, struct gb_run *run, void *data);

/* --- terminals.c --- */

bool gb_rpc_attach(struct gb_client *client, const struct gb_message *message, struct gb_err *err);
bool gb_rpc_detach(struct gb_client *client, const struct gb_message *message, struct gb_err *err);
/* Leave all terminals. */
void gb_rpc_detach_all(struct gb_client *client);
/* Let the terminals stand still while the client does not take what they show. */
void gb_rpc_update_terminals(struct gb_client *client);

#endif
