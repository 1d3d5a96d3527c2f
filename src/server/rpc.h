/*
 * One client and its runs: messages in, engine, lines out.
 *
 * A run is *waiting* (its line is kept until the engine has room) or *running*; when it settles, its result
 * is sent and it is forgotten. A message about a run that was forgotten is ignored: it came too late.
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

/* Secrets that clients have registered to be masked. */
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
	struct gb_source engine_source; /* not in the loop while a client is blocked */
	const struct gb_config *config;
	struct gb_filter *filter; /* or NULL */
	struct gb_rpc_secrets secrets;
	bool strict; /* refuse runs that ask for more than the settings allow */
	unsigned max_runs;
	uint64_t timeout_ms;    /* or 0 */
	struct gb_list clients; /* the next one to start a waiting run comes first */
	unsigned n_running;
	unsigned
	    n_agent_runs; /* runs of agents; not counted in n_running, since they may wait for a person */
	unsigned n_waiting;
	size_t waiting_bytes;
	unsigned n_blocked; /* clients with blocked set */
	bool room;          /* a run has settled since waiting runs were last tried */
	struct gb_err err;  /* why the engine failed */
};

struct gb_client {
	struct gb_list link;
	struct gb_server *server;
	struct gb_lines lines;
	struct gb_table runs;
	struct gb_list waiting;     /* of its runs */
	struct gb_list attachments; /* to terminals of sessions */
	uint64_t next_run;          /* numbers of new runs must not be lower */
	uint64_t n_lines;           /* received */
	unsigned decides;           /* 1 << face: the client decides on requests of these faces */
	bool blocked;
	bool held;  /* the terminals that it is attached to are paused */
	bool ended; /* its input has ended, and its runs were ended */
};

/* The first bytes of a character whose other bytes were not written yet. */
struct gb_rpc_tail {
	char bytes[3];
	unsigned char n;
};

/* A run of a client. */
struct gb_rpc_run {
	struct gb_entry entry; /* in the client's table, by the client's number */
	struct gb_list link;   /* in the client's list while it waits */
	struct gb_server *server;
	/* NULL if the client has disconnected while the run continues in a session */
	struct gb_client *client;
	bool in_session;
	struct gb_masked *masked;       /* masks its output; NULL if nothing is masked */
	struct gb_rpc_tail tails[2];    /* of stdout and stderr */
	struct gb_run *run;             /* NULL while it waits */
	struct gb_agent_run *agent_run; /* set instead of run for a request of an agent */
	struct gb_buf line;             /* its message, while it waits */
	struct gb_table in;             /* calls from the code that wait for an answer */
	struct gb_table out;            /* calls from the client that wait for an answer */
	uint64_t last_call;             /* number of the last call from the code */
};

/* --- rpc.c --- */

/* Handle a line from the client; if @n is more than lines.line_max, it is the beginning of a line that was
 * too long. */
void gb_rpc_receive_line(struct gb_client *client, const char *line, size_t n);
/* End all runs of a client that has disconnected. */
void gb_rpc_end(struct gb_client *client);
/* Start the run that has waited longest. False if the engine has no room for it. */
bool gb_rpc_start_waiting(struct gb_client *client);

/* Free a run that is over or was never started. */
void gb_rpc_forget(struct gb_rpc_run *run);

/* --- agents.c --- */

/* The client states for which faces it decides on requests itself. */
bool gb_rpc_hello(struct gb_client *client, const struct gb_message *message, struct gb_rejection *rejection);
bool gb_rpc_execute(struct gb_rpc_run *run, const struct gb_message *message, struct gb_rejection *rejection);
/* Free an agent's run that is done or whose client has disconnected; the gate still records it. */
void gb_rpc_drop_agent_run(struct gb_rpc_run *run);

/* --- calls.c --- */

void gb_rpc_on_call(struct gb_run *run, struct gb_call *call, void *rpc_run);
void gb_rpc_on_report(struct gb_run *run, const struct gb_value *value, struct gb_call *call, void *rpc_run);
/* On failure @rejection has code, field and message. */
bool gb_rpc_answer(struct gb_rpc_run *run, const struct gb_message *message, struct gb_rejection *rejection);
bool gb_rpc_call(struct gb_rpc_run *run, const struct gb_message *message, struct gb_rejection *rejection);
/* The run has settled: end the client's calls that wait for an answer, and release the calls that the code
 * waited for. */
void gb_rpc_end_calls(struct gb_rpc_run *run);
/* The client has disconnected, and the run continues. */
void gb_rpc_abandon_calls(struct gb_rpc_run *run);

/* --- outputs.c --- */

void gb_rpc_send_output(struct gb_rpc_run *run, int stream, const char *bytes, size_t n);
void gb_rpc_on_log(struct gb_run *run, const struct gb_log *log, void *rpc_run);
void gb_rpc_on_output(struct gb_run *run, int stream, const char *bytes, size_t n, void *rpc_run);
void gb_rpc_on_display(struct gb_run *run, const struct gb_value *display, void *rpc_run);
/* The run has ended: send what is left of its output. */
void gb_rpc_end_outputs(struct gb_rpc_run *run, const struct gb_result *result);

/* --- secrets.c --- */

bool gb_rpc_add_secret(
    struct gb_client *client, const struct gb_message *message, struct gb_rejection *rejection);
/* The filters were replaced: add all registered secrets to the new ones. */
bool gb_rpc_reapply_secrets(struct gb_server *server, struct gb_err *err);
void gb_rpc_forget_secrets(struct gb_server *server);

/* --- sessions.c --- */

bool gb_rpc_handle_session(
    struct gb_client *client, const struct gb_message *message, struct gb_rejection *rejection);
void gb_rpc_on_awaiting(
    struct gb_manager *manager, const struct gb_session_info *info, struct gb_run *run, void *data);

/* --- terminals.c --- */

bool gb_rpc_attach(struct gb_client *client, const struct gb_message *message, struct gb_err *err);
bool gb_rpc_detach(struct gb_client *client, const struct gb_message *message, struct gb_err *err);
/* Leave all terminals. */
void gb_rpc_detach_all(struct gb_client *client);
/* Pause the client's terminals while it does not read their output fast enough. */
void gb_rpc_update_terminals(struct gb_client *client);

#endif
