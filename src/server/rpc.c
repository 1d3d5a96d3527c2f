#include "server/rpc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "face/actions.h"
#include "glovebox/errors.h"
#include "guard/secrets.h"
#include "server/replies.h"

enum { PEEK_MAX = 4096 };

/* --- create and forget a run --- */

void gb_rpc_free_run(struct gb_rpc_run *run) {
	if (!run)
		return;
	gb_tool_call_finish(&run->tool_call);
	free(run);
}

void gb_rpc_forget(struct gb_rpc_run *run) {
	if (run->executor)
		gb_executor_release(run->executor);
	else
		gb_execution_release(run->execution);
	gb_table_remove(&run->client->runs, &run->entry);
	gb_rpc_free_run(run);
}

/* --- events --- */

static void finish(struct gb_rpc_run *run, const struct gb_result *result) {
	gb_rpc_end_calls(run);
	if (run->tool) {
		gb_rpc_reply_tool(run, result);
		gb_rpc_forget(run);
		return;
	}
	/* Takes the execution. */
	gb_rpc_send_result(run, result);
	gb_table_remove(&run->client->runs, &run->entry);
	gb_rpc_free_run(run);
}

static void on_event(struct gb_execution *execution, const struct gb_event *event, void *data) {
	struct gb_rpc_run *run = data;
	struct gb_lines *lines = &run->client->lines;
	uint64_t number = run->entry.number;
	switch (event->kind) {
	case GB_EVENT_STARTED:
		gb_execution_hold(execution, run->client->blocked);
		break;
	case GB_EVENT_PENDING:
		gb_reply_pending(lines, number, event->text, event->expires_ms);
		break;
	case GB_EVENT_OUTPUT:
		gb_reply_output(lines, number, event->stream, event->text.p, event->text.n);
		break;
	case GB_EVENT_LOG:
		gb_reply_log(lines, number, &event->log);
		break;
	case GB_EVENT_DISPLAY:
		gb_reply_display(lines, number, event->value);
		break;
	case GB_EVENT_PROMPT:
		gb_reply_prompt(lines, number, gb_execution_session(execution), event->text);
		break;
	case GB_EVENT_FINISHED:
		finish(run, event->result);
		break;
	case GB_EVENT_REPORT: /* gb_rpc_on_report sends it, with the number of its call */
	case GB_EVENT_LOST:   /* not of a subscription that is never paused */
		break;
	}
}

void gb_rpc_hold(struct gb_client *client, bool held) {
	for (size_t i = 0; i < client->runs.n_slots; i++)
		for (struct gb_entry *entry = client->runs.slots[i]; entry; entry = entry->next)
			gb_execution_hold(((struct gb_rpc_run *)entry)->execution, held);
}

void gb_rpc_resume(struct gb_client *client) {
	if (!client->blocked && !client->long_message && !client->hello)
		gb_lines_resume(&client->lines);
}

/* --- starting --- */

bool gb_rpc_refuse(const struct gb_err *err, struct gb_rejection *rejection) {
	if (strcmp(err->field, "session") == 0 && err->code != GB_EINVAL)
		return gb_reject(rejection,
		    err->code == GB_ENOENT ? GB_CODE_UNKNOWN_SESSION : GB_CODE_REFUSED, "%s", err->message);
	if (!gb_message_reject_option(err, rejection))
		gb_reject(rejection, GB_CODE_REFUSED, "%s", err->message);
	return false;
}

/* The number of a run is used up, whatever becomes of the run. */
static bool use_number(struct gb_client *client, uint64_t number, struct gb_rejection *rejection) {
	if (number < client->next_run) {
		/* Another run has this number, and the error must not appear to be about that run. */
		rejection->has_run = false;
		return gb_reject(gb_rejection_at(rejection, "run"), GB_CODE_INVALID,
		    "must be larger than that of every run before it");
	}
	client->next_run = number + 1;
	return true;
}

struct gb_rpc_run *gb_rpc_new_run(struct gb_client *client, const struct gb_message *message,
    struct gb_submission *ret_submission, struct gb_rejection *rejection) {
	if (!use_number(client, message->run, rejection))
		return NULL;
	struct gb_rpc_run *run = calloc(1, sizeof *run);
	if (!run) {
		gb_reject(rejection, GB_CODE_REFUSED, "out of memory");
		return NULL;
	}
	run->client = client;
	run->entry.number = message->run;
	*ret_submission = (struct gb_submission){
	    .on_event = on_event, .on_call = gb_rpc_on_call, .on_report = gb_rpc_on_report, .data = run};
	return run;
}

struct gb_rpc_run *gb_rpc_create_run(struct gb_client *client, const struct gb_message *message,
    struct gb_submission *ret_submission, struct gb_rejection *rejection) {
	struct gb_rpc_run *run = gb_rpc_new_run(client, message, ret_submission, rejection);
	if (!run)
		return NULL;
	if (message->type == GB_MESSAGE_RUN) {
		struct gb_gate_request *request = &ret_submission->request;
		request->face = GB_FACE_RUN_CODE;
		request->session = message->session;
		request->run = message->options;
		request->run.source = message->source.p;
		request->run.source_bytes = message->source.n;
	} else if (!gb_rpc_read_agent(client, message, &ret_submission->request, rejection)) {
		free(run);
		return NULL;
	}
	return run;
}

bool gb_rpc_add_run(struct gb_rpc_run *run, struct gb_execution *execution, struct gb_rejection *rejection) {
	if (!gb_table_add(&run->client->runs, &run->entry)) {
		gb_execution_release(execution);
		return gb_reject(rejection, GB_CODE_REFUSED, "out of memory");
	}
	run->execution = execution;
	return true;
}

static bool submit(struct gb_rpc_run *run, const struct gb_message *message, struct gb_submission *submission,
    struct gb_rejection *rejection) {
	struct gb_err err = {0};
	struct gb_execution *execution = NULL;
	gb_auto_free char *trace = message->trace ? gb_value_to_json(message->trace, 0, NULL, &err) : NULL;
	if (message->trace && !trace)
		return gb_reject(gb_rejection_at(rejection, "trace"), GB_CODE_INVALID, "%s", err.message);
	submission->request.trace = trace;
	return gb_service_submit(&run->client->submits, submission, &execution, &err)
		   ? gb_rpc_add_run(run, execution, rejection)
		   : gb_rpc_refuse(&err, rejection);
}

/* --- messages --- */

static bool handle_run(
    struct gb_client *client, const struct gb_message *message, struct gb_rejection *rejection) {
	struct gb_submission submission;
	struct gb_rpc_run *run = gb_rpc_create_run(client, message, &submission, rejection);
	if (run && submit(run, message, &submission, rejection))
		return true;
	free(run);
	return false;
}

/* A message about a run that has ended or never existed. */
static bool handle_unknown_run(
    struct gb_client *client, const struct gb_message *message, struct gb_rejection *rejection) {
	if (message->run >= client->next_run)
		return gb_reject(
		    rejection, GB_CODE_UNKNOWN_RUN, "there is no run %llu", (unsigned long long)message->run);
	if (message->type == GB_MESSAGE_CALL)
		gb_reply_ended(&client->lines, (struct gb_call_name){message->run, message->call});
	return true;
}

/* A run that has not begun is withdrawn. */
static bool interrupt(struct gb_rpc_run *run, struct gb_rejection *rejection) {
	struct gb_err err = {0};
	return gb_execution_interrupt(run->execution, &err) ||
	       gb_reject(gb_rejection_at(rejection, "run"), GB_CODE_INVALID, "%s", err.message + err.detail);
}

static bool add_secret(
    struct gb_client *client, const struct gb_message *message, struct gb_rejection *rejection) {
	struct gb_err err = {0};
	if (!gb_secret_check(message->name, GB_SECRET_MIN, &err))
		return gb_reject(gb_rejection_at(rejection, "name"), GB_CODE_INVALID, "%s", err.message);
	if (!gb_secret_check(message->name, message->text.n, &err))
		return gb_reject(gb_rejection_at(rejection, "value"), GB_CODE_INVALID, "%s", err.message);
	if (!gb_service_add_secret(
		client->server->service, message->name, message->text.p, message->text.n, &err))
		return gb_reject(rejection, GB_CODE_REFUSED, "%s", err.message);
	gb_reply_secret(&client->lines, message->request);
	return true;
}

static bool handle_message(
    struct gb_client *client, const struct gb_message *message, struct gb_rejection *rejection) {
	if (message->type <= GB_MESSAGE_INPUT)
		return handle_run(client, message, rejection);
	if (message->type == GB_MESSAGE_TOOL)
		return gb_rpc_handle_tool(client, message, rejection);
	if (message->type == GB_MESSAGE_EXECUTOR)
		return gb_rpc_handle_executor(client, message, rejection);
	if (message->type == GB_MESSAGE_HELLO)
		return gb_rpc_hello(client, message, rejection);
	if (message->type == GB_MESSAGE_SECRET_ADD)
		return add_secret(client, message, rejection);
	if (message->type >= GB_MESSAGE_EXECUTION_LIST && message->type <= GB_MESSAGE_UNSUBSCRIBE)
		return gb_rpc_handle_execution(client, message, rejection);
	if (message->type >= GB_MESSAGE_SESSION_OPEN)
		return gb_rpc_handle_session(client, message, rejection);
	struct gb_rpc_run *run = (struct gb_rpc_run *)gb_table_find(&client->runs, message->run);
	if (!run)
		return handle_unknown_run(client, message, rejection);
	if (message->type == GB_MESSAGE_TOOL_ANSWER)
		return gb_rpc_tool_answer(run, message, rejection);
	if (gb_execution_is_agent(run->execution) &&
	    (message->type == GB_MESSAGE_ANSWER || message->type == GB_MESSAGE_CALL))
		return gb_reject(gb_rejection_at(rejection, "run"), GB_CODE_INVALID,
		    "is an agent's run, which cannot call the client or be called by it");
	if (message->type == GB_MESSAGE_ANSWER)
		return gb_rpc_answer(run, message, rejection);
	if (message->type == GB_MESSAGE_CALL)
		return gb_rpc_call(run, message, rejection);
	if (message->type != GB_MESSAGE_TERMINATE)
		return interrupt(run, rejection);
	char reason[GB_REASON_MAX];
	gb_execution_terminate(run->execution, gb_message_reason(message, reason));
	return true;
}

/* A rejected request for a run uses up its number, so that later messages about that run are ignored and not
 * reported as errors. This does not apply if the line could not be parsed. */
static void note_rejected(struct gb_client *client, struct gb_rejection *rejection) {
	bool begins = strcmp(rejection->about, "run") == 0 || strcmp(rejection->about, "execute") == 0 ||
		      strcmp(rejection->about, "tool") == 0 || strcmp(rejection->about, "executor") == 0;
	if (!rejection->has_run || !begins)
		return;
	if (rejection->run < client->next_run)
		rejection->has_run = false;
	else if (strcmp(rejection->code, GB_CODE_INVALID) == 0)
		client->next_run = rejection->run + 1;
}

/* A message can quote why a session has ended, which the code or another client wrote. */
static void mask_message(struct gb_rejection *rejection, struct gb_filter *filter) {
	gb_auto_buf struct gb_buf clean;
	gb_buf_init(&clean, 16 * sizeof rejection->message);
	if (!filter)
		return;
	gb_mask_text(filter, gb_str_from(rejection->message), &clean);
	const char *text = gb_buf_c_str(&clean);
	snprintf(rejection->message, sizeof rejection->message, "%s", text ? text : "out of memory");
}

void gb_rpc_reply_error(struct gb_client *client, struct gb_rejection *rejection) {
	struct gb_service *service = client->server->service;
	mask_message(rejection, gb_service_filter(service));
	mask_message(rejection, gb_service_agent_filter(service));
	gb_reply_error(&client->lines, rejection);
}

/* Report a rejected line. If it was meant to end a run, the run is ended anyway: stopping code must not
 * depend on every field being correct. */
static void reject(struct gb_client *client, struct gb_rejection *rejection) {
	note_rejected(client, rejection);
	gb_rpc_reply_error(client, rejection);
	if (!rejection->has_run || strcmp(rejection->about, "terminate") != 0)
		return;
	struct gb_rpc_run *run = (struct gb_rpc_run *)gb_table_find(&client->runs, rejection->run);
	if (run)
		gb_execution_terminate(run->execution, NULL);
}

void gb_rpc_handle(
    struct gb_client *client, const struct gb_message *message, struct gb_rejection *rejection) {
	if (!message)
		reject(client, rejection);
	else if (!handle_message(client, message, rejection))
		gb_rpc_reply_error(client, rejection);
}

void gb_rpc_receive_line(struct gb_client *client, const char *line, size_t n) {
	struct gb_rejection rejection = {0};
	client->n_lines++;
	if (n > client->lines.line_max) {
		/* A client can place type and run before long fields, so that they are found here. */
		gb_message_peek(line, n < PEEK_MAX ? n : PEEK_MAX, &rejection);
		gb_reject(&rejection, GB_CODE_TOO_LONG, "a line has at most %u bytes; this one was skipped",
		    (unsigned)client->lines.line_max);
		reject(client, &rejection);
		return;
	}
	struct gb_values *pool = gb_values_create(gb_message_memory(n));
	struct gb_message message;
	bool ok = gb_message_read(pool, line, n, &message, &rejection);
	gb_rpc_handle(client, ok ? &message : NULL, &rejection);
	gb_values_destroy(pool);
}

void gb_rpc_end(struct gb_client *client) {
	gb_rpc_detach_all(client);
	gb_rpc_end_subscriptions(client);
	for (struct gb_entry *entry; (entry = gb_table_any(&client->runs));) {
		struct gb_rpc_run *run = (struct gb_rpc_run *)entry;
		uint64_t number = entry->number;
		/* Sends the result, which the client may still read, and forgets the run. */
		if (!gb_execution_is_agent(run->execution) && !gb_execution_is_in_session(run->execution))
			gb_execution_terminate(run->execution, "the client has disconnected");
		/* It is still there if it is in a session, or its output is being masked. */
		if (gb_table_find(&client->runs, number)) {
			gb_rpc_abandon_calls(run);
			gb_rpc_forget(run);
		}
	}
	gb_table_finish(&client->runs);
	gb_sandboxes_destroy(client->sandboxes);
	client->sandboxes = NULL;
}
