/* Requests of agents that a client forwards: execute, input and hello. */
#include <stdlib.h>

#include "base/cleanup.h"
#include "gate/faces.h"
#include "glovebox/errors.h"
#include "server/replies.h"
#include "server/rpc.h"

/* --- decisions of the client --- */

static bool read_face(const struct gb_value *value, enum gb_face *ret, struct gb_rejection *rejection) {
	struct gb_str name = gb_read_str(value);
	if (name.p && !memchr(name.p, '\0', name.n) && gb_face_find(name.p, ret) &&
	    gb_face_embedder_may_decide(*ret))
		return true;
	return gb_reject(gb_rejection_at(rejection, "decides"), GB_CODE_INVALID,
	    "a client can decide on requests of executor and actions only");
}

/* A hello that enables a face is answered when the stores of the gate are open. Until then, the messages behind it,
 * which count on it, are not read. */
struct gb_hello {
	struct gb_client *client; /* NULL: it is gone */
	uint64_t request;
	unsigned decides;
};

static void on_served(bool ok, const struct gb_err *err, void *data) {
	struct gb_hello *hello = data;
	struct gb_client *client = hello->client;
	struct gb_rejection rejection = {.about = "hello", .has_request = true, .request = hello->request};
	if (client)
		client->hello = NULL;
	if (client && ok) {
		client->decides = hello->decides;
		gb_reply_embedder(&client->lines, hello->request, hello->decides);
	} else if (client) {
		gb_reject(&rejection, GB_CODE_REFUSED, "%s", err->message);
		gb_rpc_reply_error(client, &rejection);
	}
	if (client)
		gb_rpc_resume(client);
	free(hello);
}

static bool serve_embedder(
    struct gb_client *client, uint64_t request, unsigned decides, struct gb_rejection *rejection) {
	struct gb_hello *hello = calloc(1, sizeof *hello);
	if (!hello)
		return gb_reject(rejection, GB_CODE_REFUSED, "out of memory");
	*hello = (struct gb_hello){client, request, decides};
	client->hello = hello;
	gb_service_serve_embedder(client->server->service, on_served, hello);
	if (client->hello) /* not answered at once */
		gb_lines_pause(&client->lines);
	return true;
}

void gb_rpc_drop_hello(struct gb_client *client) {
	if (client->hello)
		client->hello->client = NULL;
	client->hello = NULL;
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
	if (decides & 1u << GB_FACE_ACTIONS)
		return serve_embedder(client, message->request, decides, rejection);
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

bool gb_rpc_read_agent(const struct gb_client *client, const struct gb_message *message,
    struct gb_gate_request *ret, struct gb_rejection *rejection) {
	const enum gb_face face = GB_FACE_EXECUTE_CODE;
	struct gb_gate_request request = {
	    .face = face,
	    .transport = "sdk",
	    .embedder_decides = client->decides & 1u << face,
#define COPY_ID(member_)   .member_ = message->member_,
#define COPY_TEXT(member_) .member_ = message->member_,
#define COPY_JSON(member_)
#define COPY_SESSION(member_)
#define COPY_CHOICE(member_)
#define COPY(kind_, member_, ...) COPY_##kind_(member_)
	    GB_AGENT_FIELDS(COPY).tier = (enum gb_tier)message->tier,
	    .waits_for_input = message->on_input,
	    .is_input = message->type == GB_MESSAGE_INPUT,
	    .session = message->session,
	    .run = message->options,
	};
	request.run.source = message->source.p;
	request.run.source_bytes = message->source.n;
	*ret = request;
	return read_session(message, ret, rejection);
}
