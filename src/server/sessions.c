/* Messages about sessions. Sessions belong to the server and outlive the client that opened them. */
#include "glovebox/sessions.h"
#include "glovebox/errors.h"
#include "limits/limits.h"

#include "server/replies.h"
#include "server/rpc.h"

static bool reject_error(const struct gb_err *err, struct gb_rejection *rejection) {
	if (err->code == GB_ENOENT)
		return gb_reject(rejection, GB_CODE_UNKNOWN_SESSION, "%s", err->message);
	if (err->code == GB_ELIMIT || err->code == GB_EBUSY || !gb_message_reject_option(err, rejection))
		gb_reject(rejection, GB_CODE_REFUSED, "%s", err->message);
	return false;
}

/* The gate manages the sessions of agents, the server all others. NULL if agents can have no sessions. */
static struct gb_manager *manager_of(const struct gb_client *client, const struct gb_message *message) {
	const struct gb_server *server = client->server;
	if (!message->agent)
		return gb_service_sessions(server->service);
	return gb_service_agent_sessions(server->service);
}

static bool open_session(struct gb_manager *manager, const struct gb_config *config,
    const struct gb_message *message, struct gb_session_info *ret, struct gb_err *err) {
	const struct gb_session_asked asked = {
	    .conversation = message->conversation,
	    .language = message->options.language,
	    .profile = message->options.profile,
	    .net = message->options.net,
	    .workdir = message->options.workdir,
	    .name = message->name,
	};
	if (!gb_limits_check_net(config, asked.net, err) ||
	    !gb_limits_check_workdir(config, asked.workdir, err))
		return false;
	return message->reuse ? gb_manager_get_or_create(manager, &asked, ret, err)
			      : gb_manager_open(manager, &asked, ret, err);
}

static bool update(struct gb_manager *manager, const struct gb_message *message, struct gb_err *err) {
	const struct gb_value *trusted = message->trusted;
	return (!trusted || gb_manager_trust(manager, message->session, gb_value_is_true(trusted), err)) &&
	       (!message->tokens || gb_manager_add_tokens(manager, message->session, message->tokens, err));
}

static bool expose(struct gb_manager *manager, const struct gb_message *message, struct gb_err *err) {
	const uint16_t port = (uint16_t)message->port;
	uint16_t on = (uint16_t)message->on;
	if (!message->path)
		return gb_manager_expose(manager, message->session, port, on, &on, err);
	if (on)
		return gb_fail_field(err, GB_EINVAL, "path", "has no effect with 'on': give one of them");
	return gb_manager_expose_at(manager, message->session, port, message->path, err);
}

/* Handle a message about one session. */
static bool act_on_session(struct gb_client *client, const struct gb_message *message,
    struct gb_session_info *ret, struct gb_err *err) {
	struct gb_manager *manager = manager_of(client, message);
	char reason[GB_REASON_MAX];
	bool ok = true;
	switch (message->type) {
	case GB_MESSAGE_SESSION_OPEN:
		return open_session(manager, gb_service_config(client->server->service), message, ret, err);
	case GB_MESSAGE_SESSION_KILL:
		ok = gb_manager_kill(manager, message->session, gb_message_reason(message, reason), err);
		break;
	case GB_MESSAGE_SESSION_INTERRUPT:
		ok = gb_manager_interrupt(manager, message->session, err);
		break;
	case GB_MESSAGE_SESSION_EXPOSE:
		ok = expose(manager, message, err);
		break;
	case GB_MESSAGE_SESSION_SEND:
		ok = gb_manager_send(manager, message->session, message->text.p, message->text.n, err);
		break;
	case GB_MESSAGE_SESSION_UPDATE:
		ok = update(manager, message, err);
		break;
	case GB_MESSAGE_SESSION_ATTACH:
		ok = gb_rpc_attach(client, message, err);
		break;
	case GB_MESSAGE_SESSION_DETACH:
		ok = gb_rpc_detach(client, message, err);
		break;
	case GB_MESSAGE_SESSION_RESIZE:
		ok = gb_manager_resize(manager, message->session, message->columns, message->rows, err);
		break;
	default:
		break;
	}
	return ok && gb_manager_get(manager, message->session, ret, err);
}

bool gb_rpc_handle_session(
    struct gb_client *client, const struct gb_message *message, struct gb_rejection *rejection) {
	struct gb_manager *manager = manager_of(client, message);
	const struct gb_server *server = client->server;
	struct gb_session_info info;
	struct gb_err err = {0};
	if (!manager)
		return gb_reject(gb_rejection_at(rejection, "agent"), GB_CODE_REFUSED,
		    "agents may not run code here, so they have no sessions");
	const struct gb_gate *gate = message->agent ? gb_service_gate(server->service) : NULL;
	struct gb_filter *filter =
	    message->agent ? gb_service_agent_filter(server->service) : gb_service_filter(server->service);
	if (message->type == GB_MESSAGE_SESSION_LIST) {
		gb_reply_sessions(
		    &client->lines, message->request, manager, message->conversation, gate, filter);
	} else if (message->type == GB_MESSAGE_SESSION_CLEANUP) {
		char reason[GB_REASON_MAX];
		unsigned n = gb_manager_cleanup(manager, message->conversation ? message->conversation : "",
		    gb_message_reason(message, reason));
		gb_reply_cleaned(&client->lines, message->request, n);
	} else if (act_on_session(client, message, &info, &err)) {
		gb_reply_session(&client->lines, message->request, &info, gate, filter);
	} else {
		return reject_error(&err, rejection);
	}
	return true;
}
