/* Attaches clients to the terminals of sessions. */
#include <stdlib.h>

#include "base/err.h"
#include "server/replies.h"
#include "server/rpc.h"

/* Unread output at which terminals are paused, and at which they continue. Small, so that a user who
 * interrupts a flood of output soon sees it end. */
enum { HELD_BYTES = 256 << 10, FREE_BYTES = 64 << 10 };

struct attachment {
	struct gb_list link; /* in the client's list */
	struct gb_client *client;
	char session[33];
};

static void forget(struct attachment *attachment) {
	gb_list_remove(&attachment->link);
	free(attachment);
}

static void on_bytes(struct gb_manager *manager, const char *bytes, size_t n, void *data) {
	(void)manager;
	struct attachment *attachment = data;
	gb_reply_terminal(&attachment->client->lines, attachment->session, bytes, n);
}

static void on_end(struct gb_manager *manager, const char *reason, bool ended, void *data) {
	(void)manager;
	struct attachment *attachment = data;
	struct gb_client *client = attachment->client;
	gb_reply_detached(
	    &client->lines, attachment->session, reason, ended, gb_service_filter(client->server->service));
	forget(attachment);
}

bool gb_rpc_attach(struct gb_client *client, const struct gb_message *message, struct gb_err *err) {
	struct gb_manager *manager = gb_service_sessions(client->server->service);
	struct gb_session_info info;
	if (!gb_manager_get(manager, message->session, &info, err))
		return false;
	struct attachment *attachment = calloc(1, sizeof *attachment);
	if (!attachment)
		return gb_fail(err, GB_ENOMEM, 0, "out of memory");
	attachment->client = client;
	memcpy(attachment->session, info.id, sizeof attachment->session);
	gb_list_append(&client->attachments, &attachment->link);
	const struct gb_attachment asked = {.on_bytes = on_bytes, .on_end = on_end, .data = attachment};
	if (!gb_manager_attach(manager, message->session, &asked, message->steal, err)) {
		forget(attachment);
		return false;
	}
	gb_manager_hold(manager, attachment->session, client->held, NULL);
	return true;
}

bool gb_rpc_detach(struct gb_client *client, const struct gb_message *message, struct gb_err *err) {
	struct gb_manager *manager = gb_service_sessions(client->server->service);
	struct gb_session_info info;
	if (!gb_manager_get(manager, message->session, &info, err))
		return false;
	gb_list_each(struct attachment, attachment, &client->attachments, link) {
		if (strcmp(attachment->session, info.id) != 0)
			continue;
		forget(attachment);
		return gb_manager_detach(manager, info.id, err);
	}
	return gb_fail_field(
	    err, GB_EINVAL, "session", "this client is not attached to '%s'", message->session);
}

void gb_rpc_detach_all(struct gb_client *client) {
	for (struct attachment *attachment;
	     (attachment = gb_list_first(struct attachment, &client->attachments, link));) {
		gb_manager_detach(gb_service_sessions(client->server->service), attachment->session, NULL);
		forget(attachment);
	}
	client->held = false;
}

void gb_rpc_update_terminals(struct gb_client *client) {
	size_t waiting = gb_lines_waiting(&client->lines);
	bool held =
	    !gb_list_empty(&client->attachments) && waiting > (client->held ? FREE_BYTES : HELD_BYTES);
	if (held == client->held)
		return;
	client->held = held;
	gb_list_each(struct attachment, attachment, &client->attachments, link) {
		gb_manager_hold(
		    gb_service_sessions(client->server->service), attachment->session, held, NULL);
	}
}
