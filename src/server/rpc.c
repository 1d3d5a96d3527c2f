#include "server/rpc.h"

#include <stdlib.h>
#include <string.h>

#include "base/fields.h"
#include "glovebox/errors.h"
#include "limits/limits.h"
#include "server/replies.h"

enum {
	WAITING_MAX = 10000,
	WAITING_BYTES_MAX = 256 << 20,
	PEEK_MAX = 4096,
	DEFAULT_TIMEOUT_MS = 300000, /* of a run, if neither the run nor the settings set a timeout */
};

/* --- create and destroy a run --- */

static struct gb_rpc_run *make_run(struct gb_client *client, uint64_t number) {
	struct gb_rpc_run *run = calloc(1, sizeof *run);
	if (!run)
		return NULL;
	run->client = client;
	run->server = client->server;
	run->entry.number = number;
	gb_list_init(&run->link);
	if (gb_table_add(&client->runs, &run->entry))
		return run;
	free(run);
	return NULL;
}

static void stop_waiting(struct gb_rpc_run *run) {
	struct gb_server *server = run->client->server;
	if (gb_list_empty(&run->link))
		return;
	gb_list_remove(&run->link);
	server->n_waiting--;
	server->waiting_bytes -= run->line.len;
	gb_buf_finish(&run->line);
}

static void end_masking(struct gb_rpc_run *run) {
	if (!run->masked)
		return;
	struct gb_filter *filter = run->masked->filter;
	gb_masked_finish(run->masked);
	free(run->masked);
	gb_filter_destroy(filter);
	run->masked = NULL;
}

static void destroy(struct gb_rpc_run *run) {
	end_masking(run);
	free(run);
}

void gb_rpc_forget(struct gb_rpc_run *run) {
	stop_waiting(run);
	gb_table_remove(&run->client->runs, &run->entry);
	destroy(run);
}

/* All output of the run is masked with the present filter. */
static bool begin_masking(struct gb_rpc_run *run, const struct gb_run_options *options, struct gb_err *err) {
	struct gb_filter *filter = run->server->filter;
	if (!filter)
		return true;
	run->masked = calloc(1, sizeof *run->masked);
	if (run->masked && gb_masked_init(run->masked, gb_filter_ref(filter), gb_masked_output_max(options),
			       gb_masked_value_max(options)))
		return true;
	return gb_fail(err, GB_ENOMEM, 0, "there is no memory to mask what it says");
}

static void on_settled(struct gb_run *engine_run, const struct gb_result *result, void *data) {
	struct gb_rpc_run *run = data;
	struct gb_server *server = run->server;
	if (run->client) {
		struct gb_lines *lines = &run->client->lines;
		gb_rpc_end_calls(run);
		gb_rpc_end_outputs(run, result);
		struct gb_result clean;
		if (run->masked)
			gb_masked_tell(run->masked, result, &clean);
		gb_reply_result(lines, run->entry.number, "", run->masked ? &clean : result);
		/* Send before the sandbox is destroyed, which takes longer. */
		gb_lines_flush(lines);
		gb_rpc_forget(run);
	} else {
		destroy(run);
	}
	gb_run_destroy(engine_run);
	server->n_running--;
	server->room = true;
}

static void terminate(struct gb_rpc_run *run, const char *reason) {
	if (run->agent_run) {
		gb_agent_run_terminate(run->agent_run, reason);
		return;
	}
	if (run->run) {
		gb_run_terminate(run->run, reason);
		return;
	}
	const struct gb_result result = gb_result_instead(GB_TERMINATED, "TerminatedError",
	    GB_CODE_TERMINATED, reason ? reason : "terminated by the caller", NULL);
	gb_reply_result(&run->client->lines, run->entry.number, "", &result);
	gb_rpc_forget(run);
}

/* --- starting --- */

enum started { STARTED, NO_ROOM, REFUSED };

static enum started refuse(const struct gb_err *err, struct gb_rejection *rejection) {
	if (strcmp(err->field, "session") == 0 && err->code != GB_EINVAL) {
		gb_reject(rejection, err->code == GB_ENOENT ? GB_CODE_UNKNOWN_SESSION : GB_CODE_REFUSED, "%s",
		    err->message);
		return REFUSED;
	}
	if (gb_message_reject_option(err, rejection))
		return REFUSED;
	if (err->code == GB_EBUSY)
		return NO_ROOM;
	gb_reject(rejection, GB_CODE_REFUSED, "%s", err->message);
	return REFUSED;
}

/* Apply the limits of the settings. The server's own timeout, if there is one, replaces that of the
 * settings. */
static bool limit(struct gb_server *server, struct gb_run_options *options, struct gb_err *err) {
	uint64_t asked_ms = options->timeout_ms, most_ms = server->timeout_ms;
	if (most_ms)
		options->timeout_ms = 0;
	if (server->strict && !gb_limits_check(server->config, options, err))
		return false;
	gb_limits_apply(server->config, DEFAULT_TIMEOUT_MS, options);
	if (most_ms)
		options->timeout_ms = asked_ms && asked_ms < most_ms ? asked_ms : most_ms;
	return true;
}

/* A run in a session has the session's language. A session that does not exist is reported by
 * gb_manager_execute. */
static void use_session_language(
    struct gb_server *server, const char *session, struct gb_run_options *options) {
	struct gb_session_info info;
	if (session && gb_manager_get(server->manager, session, &info, NULL))
		options->language = info.language;
}

static enum started start(
    struct gb_rpc_run *run, const struct gb_message *message, struct gb_rejection *rejection) {
	struct gb_server *server = run->client->server;
	if (server->n_running >= server->max_runs)
		return NO_ROOM;
	struct gb_run_options options = message->options;
	options.source = message->source.p;
	options.source_bytes = message->source.n;
	options.on_log = gb_rpc_on_log;
	options.on_output = gb_rpc_on_output;
	options.on_display = gb_rpc_on_display;
	options.on_call = gb_rpc_on_call;
	options.on_report = gb_rpc_on_report;
	options.on_settled = on_settled;
	options.data = run;
	struct gb_err err = {0};
	use_session_language(server, message->session, &options);
	if (!limit(server, &options, &err) || !begin_masking(run, &options, &err))
		return refuse(&err, rejection);
	bool ok = message->session
		      ? gb_manager_execute(server->manager, message->session, &options, &run->run, &err)
		      : gb_run_start(server->engine, &options, &run->run, &err);
	if (!ok) {
		end_masking(run);
		return refuse(&err, rejection);
	}
	server->n_running++;
	return STARTED;
}

/* Keep the line and not the parsed message, which needs more memory. */
static bool wait_for_room(
    struct gb_rpc_run *run, const char *line, size_t n, struct gb_rejection *rejection) {
	struct gb_server *server = run->client->server;
	if (server->n_waiting == WAITING_MAX || n > WAITING_BYTES_MAX - server->waiting_bytes)
		return gb_reject(rejection, GB_CODE_REFUSED,
		    "%u runs of %zu bytes wait already: send it again when some have ended",
		    server->n_waiting, server->waiting_bytes);
	gb_buf_init(&run->line, n);
	gb_buf_append(&run->line, line, n);
	if (gb_buf_failed(&run->line))
		return gb_reject(rejection, GB_CODE_REFUSED, "out of memory");
	gb_list_append(&run->client->waiting, &run->link);
	server->n_waiting++;
	server->waiting_bytes += n;
	return true;
}

bool gb_rpc_start_waiting(struct gb_client *client) {
	struct gb_rpc_run *run = gb_list_first(struct gb_rpc_run, &client->waiting, link);
	struct gb_values *pool = gb_values_create(gb_message_memory(run->line.len));
	struct gb_message message;
	struct gb_rejection rejection;
	enum started started = REFUSED;
	if (gb_message_read(pool, run->line.data, run->line.len, &message, &rejection))
		started = start(run, &message, &rejection);
	if (started == STARTED) {
		stop_waiting(run);
	} else if (started == REFUSED) {
		gb_reply_error(&client->lines, &rejection);
		gb_rpc_forget(run);
	}
	gb_values_destroy(pool);
	return started != NO_ROOM;
}

/* --- messages --- */

static bool handle_run(struct gb_client *client, const struct gb_message *message, const char *line, size_t n,
    struct gb_rejection *rejection) {
	if (message->run < client->next_run) {
		/* Another run has this number, and the error must not appear to be about that run. */
		rejection->has_run = false;
		return gb_reject(gb_rejection_at(rejection, "run"), GB_CODE_INVALID,
		    "must be larger than that of every run before it");
	}
	client->next_run = message->run + 1;
	struct gb_rpc_run *run = make_run(client, message->run);
	if (!run)
		return gb_reject(rejection, GB_CODE_REFUSED, "out of memory");
	if (message->type == GB_MESSAGE_EXECUTE || message->type == GB_MESSAGE_INPUT) {
		if (gb_rpc_execute(run, message, rejection))
			return true;
		gb_rpc_forget(run);
		return false;
	}
	run->in_session = message->session;
	enum started started = client->server->n_waiting ? NO_ROOM : start(run, message, rejection);
	if (started == STARTED || (started == NO_ROOM && wait_for_room(run, line, n, rejection)))
		return true;
	gb_rpc_forget(run);
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
	if (run->agent_run) {
		gb_agent_run_terminate(run->agent_run, NULL);
		return true;
	}
	if (!run->in_session)
		return gb_reject(gb_rejection_at(rejection, "run"), GB_CODE_INVALID,
		    "is in no session: only 'terminate' stops it");
	if (!run->run || !gb_run_begun(run->run))
		terminate(run, "interrupted before it began");
	else
		gb_run_interrupt(run->run);
	return true;
}

static bool handle_message(struct gb_client *client, const struct gb_message *message, const char *line,
    size_t n, struct gb_rejection *rejection) {
	if (message->type <= GB_MESSAGE_INPUT)
		return handle_run(client, message, line, n, rejection);
	if (message->type == GB_MESSAGE_HELLO)
		return gb_rpc_hello(client, message, rejection);
	if (message->type == GB_MESSAGE_SECRET_ADD)
		return gb_rpc_add_secret(client, message, rejection);
	if (message->type >= GB_MESSAGE_SESSION_OPEN)
		return gb_rpc_handle_session(client, message, rejection);
	struct gb_rpc_run *run = (struct gb_rpc_run *)gb_table_find(&client->runs, message->run);
	if (!run)
		return handle_unknown_run(client, message, rejection);
	if (run->agent_run && (message->type == GB_MESSAGE_ANSWER || message->type == GB_MESSAGE_CALL))
		return gb_reject(gb_rejection_at(rejection, "run"), GB_CODE_INVALID,
		    "is an agent's run, which cannot call the client or be called by it");
	if (message->type == GB_MESSAGE_ANSWER)
		return gb_rpc_answer(run, message, rejection);
	if (message->type == GB_MESSAGE_CALL)
		return gb_rpc_call(run, message, rejection);
	if (message->type != GB_MESSAGE_TERMINATE)
		return interrupt(run, rejection);
	char reason[GB_REASON_MAX];
	terminate(run, gb_message_reason(message, reason));
	return true;
}

/* A rejected request for a run uses up its number, so that later messages about that run are ignored and not
 * reported as errors. This does not apply if the line could not be parsed. */
static void note_rejected(struct gb_client *client, struct gb_rejection *rejection) {
	bool begins = strcmp(rejection->about, "run") == 0 || strcmp(rejection->about, "execute") == 0;
	if (!rejection->has_run || !begins)
		return;
	if (rejection->run < client->next_run)
		rejection->has_run = false;
	else if (strcmp(rejection->code, GB_CODE_INVALID) == 0)
		client->next_run = rejection->run + 1;
}

/* Report a rejected line. If it was meant to end a run, the run is ended anyway: stopping code must not
 * depend on every field being correct. */
static void reject(struct gb_client *client, struct gb_rejection *rejection) {
	note_rejected(client, rejection);
	gb_reply_error(&client->lines, rejection);
	if (!rejection->has_run || strcmp(rejection->about, "terminate") != 0)
		return;
	struct gb_rpc_run *run = (struct gb_rpc_run *)gb_table_find(&client->runs, rejection->run);
	if (run)
		terminate(run, NULL);
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
	if (!gb_message_read(pool, line, n, &message, &rejection))
		reject(client, &rejection);
	else if (!handle_message(client, &message, line, n, &rejection))
		gb_reply_error(&client->lines, &rejection);
	gb_values_destroy(pool);
}

/* A session outlives its client: interrupt what executes in it, and discard its result. */
static bool leave_in_session(struct gb_rpc_run *run) {
	if (!run->in_session || !run->run || !gb_run_begun(run->run))
		return false;
	gb_run_interrupt(run->run);
	gb_rpc_abandon_calls(run);
	gb_table_remove(&run->client->runs, &run->entry);
	run->client = NULL;
	return true;
}

void gb_rpc_end(struct gb_client *client) {
	gb_rpc_detach_all(client);
	for (struct gb_entry *entry; (entry = gb_table_any(&client->runs));) {
		struct gb_rpc_run *run = (struct gb_rpc_run *)entry;
		if (run->agent_run)
			gb_rpc_drop_agent_run(run);
		else if (!leave_in_session(run))
			terminate(run, "the client has gone");
	}
	gb_table_finish(&client->runs);
}
