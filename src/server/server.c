#include "server/server.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/io.h"
#include "server/replies.h"
#include "server/rpc.h"

#define BLOCKED_BYTES 67108864u
#define FREE_BYTES    33554432u

#define SECOND_NS  1000000000ull
#define STALLED_NS (30 * SECOND_NS)
#define DRAINED_NS (5 * SECOND_NS) /* to send the remaining output to a client that has closed its input */

enum { POLL_MS = 1000 };

/* --- clients --- */

/* While the client has too much unread output, it is not read, and its runs are paused. */
static void update_blocked(struct gb_client *client) {
	size_t waiting = gb_lines_waiting(&client->lines) + client->results_bytes;
	bool blocked = waiting > (client->blocked ? FREE_BYTES : BLOCKED_BYTES);
	if (client->blocked == blocked)
		return;
	client->blocked = blocked;
	gb_rpc_hold(client, blocked);
	if (blocked)
		gb_lines_pause(&client->lines);
	else
		gb_rpc_resume(client);
}

static void on_line(struct gb_lines *lines, const char *line, size_t n) {
	struct gb_client *client = gb_container(struct gb_client, lines, lines);
	gb_rpc_receive_line(client, line, n);
	/* The lines behind it may ask for just as much. */
	update_blocked(client);
}

static void on_long_line(struct gb_lines *lines, struct gb_long_line *line) {
	gb_rpc_receive_long_line(gb_container(struct gb_client, lines, lines), line);
}

/* The client's runs are ended later in the turn: the caller of this may be in a callback of one of them. */
static void on_end(struct gb_lines *lines) {
	(void)lines;
}

static void destroy_client(struct gb_client *client) {
	gb_rpc_end(client);
	gb_rpc_drop_long(client);
	gb_rpc_drop_results(client);
	gb_rpc_drop_hello(client);
	gb_list_remove(&client->link);
	gb_service_client_finish(&client->submits);
	gb_lines_finish(&client->lines);
	free(client);
}

bool gb_server_add(struct gb_server *server, int in, int out, struct gb_err *err) {
	struct gb_client *client = calloc(1, sizeof *client);
	if (!client) {
		gb_close_fd(&in);
		gb_close_fd(&out);
		return gb_fail(err, GB_ENOMEM, 0, "a client");
	}
	client->server = server;
	gb_list_init(&client->attachments);
	gb_list_init(&client->results);
	gb_list_init(&client->subscriptions);
	gb_list_init(&client->watches);
	gb_service_client_init(server->service, &client->submits);
	gb_list_append(&server->clients, &client->link);
	gb_lines_init(&client->lines, gb_service_loop(server->service), in, out, GB_LINE_MAX);
	client->lines.on_line = on_line;
	client->lines.on_long_line = on_long_line;
	client->lines.long_min = GB_SERVICE_LONG;
	client->lines.on_end = on_end;
	if (!gb_lines_start(&client->lines, err)) {
		destroy_client(client);
		return false;
	}
	gb_reply_hello(&client->lines, gb_service_has_agents(server->service));
	gb_lines_flush(&client->lines);
	return true;
}

unsigned gb_server_clients(const struct gb_server *server) {
	unsigned n = 0;
	for (const struct gb_list *link = server->clients.next; link != &server->clients; link = link->next)
		n++;
	return n;
}

static bool is_lost(const struct gb_client *client, unsigned n_clients) {
	uint64_t idle = gb_now_ns() - client->lines.progress_at;
	if (client->ended && !client->lines.broken && !gb_list_empty(&client->results))
		return false;
	if (client->ended)
		return client->lines.broken || !gb_lines_waiting(&client->lines) || idle > DRAINED_NS;
	return ((client->blocked && n_clients > 1) || client->held || client->lags) && idle > STALLED_NS;
}

static void update_clients(struct gb_server *server) {
	unsigned n_clients = gb_server_clients(server);
	gb_list_each(struct gb_client, client, &server->clients, link) {
		if (client->lines.ended && !client->ended) {
			client->ended = true;
			gb_rpc_end(client);
		}
		if (gb_lines_waiting(&client->lines))
			gb_lines_flush(&client->lines);
		update_blocked(client);
		gb_rpc_update_terminals(client);
		gb_rpc_update_subscriptions(client);
		if (is_lost(client, n_clients))
			destroy_client(client);
	}
}

/* --- turns --- */

static int longest_wait_ms(struct gb_server *server) {
	gb_list_each(struct gb_client, client, &server->clients, link) {
		if (client->ended || client->blocked || client->held || client->lags)
			return POLL_MS;
	}
	return -1;
}

bool gb_server_turn(struct gb_server *server, struct gb_err *err) {
	bool ok = gb_service_turn(server->service, longest_wait_ms(server), err);
	update_clients(server);
	return ok;
}

/* --- the server --- */

bool gb_server_create(struct gb_service *service, struct gb_server **ret, struct gb_err *err) {
	struct gb_server *server = calloc(1, sizeof *server);
	if (!server)
		return gb_fail(err, GB_ENOMEM, 0, "the server");
	server->service = service;
	gb_list_init(&server->clients);
	gb_rpc_init_long(server);
	*ret = server;
	return true;
}

void gb_server_destroy(struct gb_server *server) {
	if (!server)
		return;
	gb_list_each(struct gb_client, client, &server->clients, link) destroy_client(client);
	gb_rpc_finish_long(server);
	free(server);
}

struct gb_service *gb_server_service(struct gb_server *server) {
	return server->service;
}

unsigned gb_server_sessions(const struct gb_server *server) {
	return gb_manager_count(gb_service_sessions(server->service));
}
