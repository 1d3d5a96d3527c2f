/*
 * One client and its runs: messages in, the service, lines out. When a run is done, its result is sent and it is
 * forgotten. A message about a run that was forgotten is ignored: it came too late.
 */
#ifndef GB_SERVER_RPC_H
#define GB_SERVER_RPC_H

#include "base/list.h"
#include "face/executor.h"
#include "face/tool.h"
#include "server/lines.h"
#include "server/messages.h"
#include "server/server.h"
#include "server/table.h"

/* Long lines are handled one after the other, so that only one of them is held in memory as values. */
struct gb_long_queue {
	struct gb_list waiting;
	struct gb_long_message *active;
};

struct gb_server {
	struct gb_service *service;
	struct gb_list clients;
	struct gb_long_queue queues[2]; /* of lines up to GB_SERVICE_LARGE, and of longer ones */
};

struct gb_client {
	struct gb_list link;
	struct gb_server *server;
	struct gb_lines lines;
	struct gb_service_client submits;
	struct gb_table runs;
	struct gb_list attachments;            /* to terminals of sessions */
	struct gb_list subscriptions, watches; /* executions.c */
	unsigned n_subscriptions, n_watches;
	bool lags;         /* has so much unread output that its subscriptions are paused */
	uint64_t next_run; /* numbers of new runs must not be lower */
	uint64_t n_lines;  /* received */
	unsigned decides;  /* 1 << face: the client decides on requests of these faces */
	struct gb_long_message *long_message; /* its input is paused until that is handled; or NULL */
	struct gb_list results;               /* that are being written on threads: results.c */
	size_t results_bytes;                 /* memory of their values */
	struct gb_sandboxes *sandboxes;       /* of code.sandbox; or NULL */
	struct gb_hello *hello;               /* its input is paused until that is answered; or NULL */
	bool blocked;                         /* has too much unread output: its runs are paused */
	bool held;                            /* the terminals that it is attached to are paused */
	bool ended;                           /* its input has ended, and its runs were ended */
};

/* A run of a client. */
struct gb_rpc_run {
	struct gb_entry entry; /* in the client's table, by the client's number */
	struct gb_client *client;
	struct gb_execution *execution;
	struct gb_table in;         /* calls from the code that wait for an answer */
	struct gb_table out;        /* calls from the client that wait for an answer */
	uint64_t last_call;         /* number of the last call from the code */
	const struct gb_tool *tool; /* that an agent has called; or NULL */
	struct gb_tool_call tool_call;
	struct gb_executor *executor; /* owns the execution; or NULL */
};

/* --- rpc.c --- */

/* Handle a line from the client; if @n is more than lines.line_max, it is the beginning of a line that was
 * too long. */
void gb_rpc_receive_line(struct gb_client *client, const char *line, size_t n);
/* Handle a message that was read. If @message is NULL, it is rejected for the reason in @rejection. */
void gb_rpc_handle(
    struct gb_client *client, const struct gb_message *message, struct gb_rejection *rejection);
/* Check the number of a new run, and fill in the callbacks of what to submit. gb_rpc_free_run frees it before it is
 * added. */
struct gb_rpc_run *gb_rpc_new_run(struct gb_client *client, const struct gb_message *message,
    struct gb_submission *ret_submission, struct gb_rejection *rejection);
/* The same, and fill in the request of a RUN, EXECUTE or INPUT. */
struct gb_rpc_run *gb_rpc_create_run(struct gb_client *client, const struct gb_message *message,
    struct gb_submission *ret_submission, struct gb_rejection *rejection);
void gb_rpc_free_run(struct gb_rpc_run *run);
/* Its result is sent: release its execution, and free it. */
void gb_rpc_forget(struct gb_rpc_run *run);
/* Takes the execution. False if memory is exhausted. */
bool gb_rpc_add_run(struct gb_rpc_run *run, struct gb_execution *execution, struct gb_rejection *rejection);
/* Convert an error of a submission. Returns false. */
bool gb_rpc_refuse(const struct gb_err *err, struct gb_rejection *rejection);
/* Send the error, masked. */
void gb_rpc_reply_error(struct gb_client *client, struct gb_rejection *rejection);
/* End all runs of a client that has disconnected. */
void gb_rpc_end(struct gb_client *client);
/* Pause or resume all its runs. */
void gb_rpc_hold(struct gb_client *client, bool held);
/* Read the client's messages again, unless something else still pauses them. */
void gb_rpc_resume(struct gb_client *client);

/* --- long.c --- */

/* Read a line on a thread, and handle it when that is done. Later lines of the client wait. */
void gb_rpc_receive_long_line(struct gb_client *client, struct gb_long_line *line);
/* The client is being destroyed: drop its message. */
void gb_rpc_drop_long(struct gb_client *client);
void gb_rpc_init_long(struct gb_server *server);
/* All clients have been destroyed; threads may still be at work. */
void gb_rpc_finish_long(struct gb_server *server);

/* --- results.c --- */

/* Send the result, on a thread if it is long, and release the execution of @run afterwards. */
void gb_rpc_send_result(struct gb_rpc_run *run, const struct gb_result *result);
/* The client is being destroyed: drop the results that are still being written. */
void gb_rpc_drop_results(struct gb_client *client);

/* --- agents.c --- */

/* The client states for which faces it decides on requests itself. */
bool gb_rpc_hello(struct gb_client *client, const struct gb_message *message, struct gb_rejection *rejection);
/* The client is being destroyed: its hello is not answered. */
void gb_rpc_drop_hello(struct gb_client *client);
/* Fill in what the client's agent asks for. */
bool gb_rpc_read_agent(const struct gb_client *client, const struct gb_message *message,
    struct gb_gate_request *ret, struct gb_rejection *rejection);

/* --- tools.c --- */

bool gb_rpc_handle_tool(
    struct gb_client *client, const struct gb_message *message, struct gb_rejection *rejection);
/* Send the result of a run that is the call of a tool. */
void gb_rpc_reply_tool(struct gb_rpc_run *run, const struct gb_result *result);

/* --- executors.c --- */

bool gb_rpc_handle_executor(
    struct gb_client *client, const struct gb_message *message, struct gb_rejection *rejection);
bool gb_rpc_tool_answer(
    struct gb_rpc_run *run, const struct gb_message *message, struct gb_rejection *rejection);

/* --- calls.c --- */

void gb_rpc_on_call(struct gb_execution *execution, struct gb_call *call, void *rpc_run);
void gb_rpc_on_report(
    struct gb_execution *execution, const struct gb_value *value, struct gb_call *call, void *rpc_run);
/* On failure @rejection has code, field and message. */
bool gb_rpc_answer(struct gb_rpc_run *run, const struct gb_message *message, struct gb_rejection *rejection);
bool gb_rpc_call(struct gb_rpc_run *run, const struct gb_message *message, struct gb_rejection *rejection);
/* The run has settled: end the client's calls that wait for an answer, and release the calls that the code
 * waited for. */
void gb_rpc_end_calls(struct gb_rpc_run *run);
/* The client has disconnected, and the run continues. */
void gb_rpc_abandon_calls(struct gb_rpc_run *run);

/* --- executions.c --- */

bool gb_rpc_handle_execution(
    struct gb_client *client, const struct gb_message *message, struct gb_rejection *rejection);
/* Pause the client's subscriptions while it does not read fast enough. */
void gb_rpc_update_subscriptions(struct gb_client *client);
void gb_rpc_end_subscriptions(struct gb_client *client);

/* --- sessions.c --- */

bool gb_rpc_handle_session(
    struct gb_client *client, const struct gb_message *message, struct gb_rejection *rejection);
/* --- terminals.c --- */

bool gb_rpc_attach(struct gb_client *client, const struct gb_message *message, struct gb_err *err);
bool gb_rpc_detach(struct gb_client *client, const struct gb_message *message, struct gb_err *err);
/* Leave all terminals. */
void gb_rpc_detach_all(struct gb_client *client);
/* Pause the client's terminals while it does not read their output fast enough. */
void gb_rpc_update_terminals(struct gb_client *client);

#endif
