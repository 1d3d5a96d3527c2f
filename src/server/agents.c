/* Requests of agents that a client forwards: execute, input and hello. */
#include "base/cleanup.h"
#include "gate/faces.h"
#include "glovebox/errors.h"
#include "server/replies.h"
#include "server/rpc.h"

/* The gate limits how many run or wait; this limits all that have no reply yet, refusals included. */
enum { AGENT_RUNS_MAX = 1024 };

static void on_pending(struct gb_agent_run *agent_run, const char *approval, int64_t expires_ms, void *data) {
	struct gb_rpc_run *run = data;
	gb_reply_pending(&run->client->lines, run->entry.number, approval, expires_ms);
}

static void on_log(struct gb_agent_run *agent_run, const struct gb_log *log, void *data) {
	struct gb_rpc_run *run = data;
	gb_reply_log(&run->client->lines, run->entry.number, log);
}

static void on_output(struct gb_agent_run *agent_run, int stream, const char *bytes, size_t n, void *data) {
	gb_rpc_send_output(data, stream, bytes, n);
}

static void on_display(struct gb_agent_run *agent_run, const struct gb_value *display, void *data) {
	struct gb_rpc_run *run = data;
	gb_reply_display(&run->client->lines, run->entry.number, display);
}

static void on_prompt(struct gb_agent_run *agent_run, const char *prompt, void *data) {
	struct gb_rpc_run *run = data;
	if (prompt)
		gb_reply_prompt(
		    &run->client->lines, run->entry.number, gb_agent_run_session(agent_run), prompt, NULL);
}

static void on_done(struct gb_agent_run *agent_run, const struct gb_result *result, void *data) {
	struct gb_rpc_run *run = data;
	gb_rpc_end_outputs(run, result);
	gb_reply_result(&run->client->lines, run->entry.number, gb_agent_run_session(agent_run), result);
	gb_rpc_drop_agent_run(run);
}

void gb_rpc_drop_agent_run(struct gb_rpc_run *run) {
	struct gb_server *server = run->server;
	gb_agent_run_destroy(run->agent_run);
	gb_rpc_forget(run);
	server->n_agent_runs--;
	server->room = true;
}

/* --- decisions of the client --- */

static bool read_face(const struct gb_value *value, enum gb_face *ret, struct gb_rejection *rejection) {
	struct gb_str name = gb_read_str(value);
	if (name.p && !memchr(name.p, '\0', name.n) && gb_face_find(name.p, ret) &&
	    gb_face_embedder_may_decide(*ret))
		return true;
	return gb_reject(gb_rejection_at(rejection, "decides"), GB_CODE_INVALID,
	    "a client can decide on requests of executor and actions only");
}

bool gb_rpc_hello(
    struct gb_client *client, const struct gb_message *message, struct gb_rejection *rejection) {
	unsigned decides = 0;
	enum gb_face face = GB_FACE_RUN_CODE;
	if (client->n_lines != 1)
		return gb_reject(
		    rejection, GB_CODE_REFUSED, "hello must be the first message of a connection");
	for (size_t i = 0; i < gb_value_count(message->decides); i++) {
		if (!read_face(gb_value_at(message->decides, i), &face, rejection))
			return false;
		decides |= 1u << face;
	}
	client->decides = decides;
	gb_reply_embedder(&client->lines, message->request, decides);
	return true;
}

/* --- requests --- */

/* true: the session of the conversation; a text: the id of a session. */
static bool read_session(
    const struct gb_message *message, struct gb_gate_request *request, struct gb_rejection *rejection) {
	const struct gb_value *session = message->agent_session;
	struct gb_str id = gb_read_str(session);
	if (!session)
		return true;
	request->persistent = gb_value_is_true(session);
	request->session = id.p && !memchr(id.p, '\0', id.n) ? id.p : NULL;
	return request->persistent || request->session || (gb_value_type(session) == GB_BOOLEAN) ||
	       gb_reject(gb_rejection_at(rejection, "session"), GB_CODE_INVALID,
		   "must be true, for the session of the conversation, or the id of a session");
}

bool gb_rpc_execute(
    struct gb_rpc_run *run, const struct gb_message *message, struct gb_rejection *rejection) {
	struct gb_server *server = run->server;
	const enum gb_face face = GB_FACE_EXECUTE_CODE;
	struct gb_err err = {0};
	struct gb_gate_request request = {
	    .face = face,
	    .transport = "sdk",
	    .embedder_decides = run->client->decides & 1u << face,
	    .conversation = message->conversation,
	    .turn = message->turn,
	    .purpose = message->purpose,
	    .expected = message->expected,
	    .tier = (enum gb_tier)message->tier,
	    .waits_for_input = message->on_input,
	    .is_input = message->type == GB_MESSAGE_INPUT,
	    .session = message->session,
	    .run = message->options,
	    .on_pending = on_pending,
	    .on_log = on_log,
	    .on_output = on_output,
	    .on_display = on_display,
	    .on_prompt = on_prompt,
	    .on_done = on_done,
	    .data = run,
	};
	gb_auto_free char *trace = message->trace ? gb_value_to_json(message->trace, 0, NULL, &err) : NULL;
	if (message->trace && !trace)
		return gb_reject(gb_rejection_at(rejection, "trace"), GB_CODE_INVALID, "%s", err.message);
	request.trace = trace;
	request.run.source = message->source.p;
	request.run.source_bytes = message->source.n;
	if (!read_session(message, &request, rejection))
		return false;
	if (!server->gate)
		return gb_reject(
		    rejection, GB_CODE_REFUSED, "this server does not accept requests of agents");
	if (server->n_agent_runs >= AGENT_RUNS_MAX)
		return gb_reject(rejection, GB_CODE_REFUSED,
		    "%u requests of agents have no reply yet, which is the limit", server->n_agent_runs);
	if (gb_gate_submit(server->gate, &request, &run->agent_run, &err)) {
		server->n_agent_runs++;
		return true;
	}
	if (!gb_message_reject_option(&err, rejection))
		gb_reject(rejection, GB_CODE_REFUSED, "%s", err.message);
	return false;
}
