/* Secrets that clients register, kept until this process ends. */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "glovebox/errors.h"
#include "server/replies.h"
#include "server/rpc.h"

/* Add the secret to the filter of the server's runs and to that of the gate. */
static bool add_to_filters(struct gb_server *server, const struct gb_rpc_secret *secret, struct gb_err *err) {
	if (!server->filter && !(server->filter = gb_filter_create_bare()))
		return gb_fail(err, GB_ENOMEM, 0, "the secrets filter");
	return gb_secrets_add(server->filter, secret->name, secret->value, secret->n, err) &&
	       (!server->gate ||
		   gb_secrets_add(gb_gate_filter(server->gate), secret->name, secret->value, secret->n, err));
}

static void free_secret(struct gb_rpc_secret *secret) {
	sodium_memzero(secret->value, secret->n);
	free(secret->value);
	free(secret->name);
}

/* Keep a copy: the secret is not in the settings, so a new filter does not have it. */
static bool keep_secret(struct gb_server *server, const struct gb_message *message, struct gb_err *err) {
	struct gb_rpc_secrets *known = &server->secrets;
	struct gb_rpc_secret *list = reallocarray(known->list, known->n + 1, sizeof *list);
	if (!list)
		return gb_fail(err, GB_ENOMEM, 0, "a secret");
	known->list = list;
	struct gb_rpc_secret secret = {
	    strdup(message->name), malloc(message->text.n ? message->text.n : 1), message->text.n};
	if (!secret.name || !secret.value) {
		free(secret.name);
		free(secret.value);
		return gb_fail(err, GB_ENOMEM, 0, "a secret");
	}
	memcpy(secret.value, message->text.p, secret.n);
	list[known->n++] = secret;
	return true;
}

bool gb_rpc_add_secret(
    struct gb_client *client, const struct gb_message *message, struct gb_rejection *rejection) {
	struct gb_server *server = client->server;
	struct gb_rpc_secrets *known = &server->secrets;
	struct gb_err err = {0};
	if (!gb_secret_check(message->name, GB_SECRET_MIN, &err))
		return gb_reject(gb_rejection_at(rejection, "name"), GB_CODE_INVALID, "%s", err.message);
	if (!gb_secret_check(message->name, message->text.n, &err))
		return gb_reject(gb_rejection_at(rejection, "value"), GB_CODE_INVALID, "%s", err.message);
	if (known->n == GB_SECRETS_MAX)
		return gb_reject(rejection, GB_CODE_REFUSED, "%d secrets are registered, which is the limit",
		    GB_SECRETS_MAX);
	if (!keep_secret(server, message, &err))
		return gb_reject(rejection, GB_CODE_REFUSED, "%s", err.message);
	if (!add_to_filters(server, &known->list[known->n - 1], &err)) {
		free_secret(&known->list[--known->n]);
		return gb_reject(rejection, GB_CODE_REFUSED, "%s", err.message);
	}
	gb_reply_secret(&client->lines, message->request);
	return true;
}

bool gb_rpc_reapply_secrets(struct gb_server *server, struct gb_err *err) {
	for (size_t i = 0; i < server->secrets.n; i++)
		if (!add_to_filters(server, &server->secrets.list[i], err))
			return false;
	return true;
}

void gb_rpc_forget_secrets(struct gb_server *server) {
	while (server->secrets.n)
		free_secret(&server->secrets.list[--server->secrets.n]);
	free(server->secrets.list);
}
