#include "server/server.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/io.h"
#include "engine/limits.h"
#include "limits/limits.h"
#include "server/replies.h"
#include "server/rpc.h"

#define BLOCKED_BYTES 67108864u
#define FREE_BYTES    33554432u

#define SECOND_NS  1000000000ull
#define STALLED_NS (30 * SECOND_NS)
#define DRAINED_NS (5 * SECOND_NS) /* to send the remaining output to a client that has closed its input */

enum { POLL_MS = 1000, RETRY_MS = 50 };

/* --- clients --- */

static void on_line(struct gb_lines *lines, const char *line, size_t n) {
	gb_rpc_receive_line(gb_container(struct gb_client, lines, lines), line, n);
}

/* The client's runs are ended later in the turn: the caller of this may be in a callback of one of them. */
static void on_end(struct gb_lines *lines) {
	(void)lines;
}

static void destroy_client(struct gb_client *client) {
	gb_rpc_end(client);
	gb_list_remove(&client->link);
	client->server->n_blocked -= client->blocked;
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
	gb_list_init(&client->waiting);
	gb_list_init(&client->attachments);
	gb_list_append(&server->clients, &client->link);
	gb_lines_init(&client->lines, server->loop, in, out, GB_LINE_MAX);
	client->lines.on_line = on_line;
	client->lines.on_end = on_end;
	if (!gb_lines_start(&client->lines, err)) {
		destroy_client(client);
		return false;
	}
	gb_reply_hello(&client->lines, server->gate && gb_gate_enabled(server->gate));
	gb_lines_flush(&client->lines);
	return true;
}

unsigned gb_server_clients(const struct gb_server *server) {
	unsigned n = 0;
	for (const struct gb_list *link = server->clients.next; link != &server->clients; link = link->next)
		n++;
	return n;
}

/* If the client has too much unread output, stop reading from it; watch_engine pauses all runs. */
static void update_blocked(struct gb_client *client) {
	size_t waiting = gb_lines_waiting(&client->lines);
	if (!client->blocked && waiting > BLOCKED_BYTES) {
		client->blocked = true;
		client->server->n_blocked++;
		gb_lines_pause(&client->lines);
	} else if (client->blocked && waiting < FREE_BYTES) {
		client->blocked = false;
		client->server->n_blocked--;
		gb_lines_resume(&client->lines);
	}
}

static bool is_lost(const struct gb_client *client, unsigned n_clients) {
	uint64_t idle = gb_now_ns() - client->lines.progress_at;
	if (client->ended)
		return client->lines.broken || !gb_lines_waiting(&client->lines) || idle > DRAINED_NS;
	return ((client->blocked && n_clients > 1) || client->held) && idle > STALLED_NS;
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
		if (is_lost(client, n_clients))
			destroy_client(client);
	}
}

/* --- the engine --- */

static void on_engine_ready(struct gb_source *source, uint32_t events) {
	(void)events;
	struct gb_server *server = gb_container(struct gb_server, engine_source, source);
	gb_engine_dispatch(server->engine, 0, &server->err);
}

static bool watch_engine(struct gb_server *server, struct gb_err *err) {
	bool watched = server->engine_source.fd >= 0;
	if (server->n_blocked)
		gb_loop_remove(server->loop, &server->engine_source);
	else if (!watched)
		return gb_loop_add(server->loop, &server->engine_source, gb_engine_fd(server->engine),
		    GB_LOOP_IN, on_engine_ready, err);
	return true;
}

/* --- the gate --- */

/* gb_server_turn calls gb_gate_work in every turn. */
static void on_gate_ready(struct gb_source *source, uint32_t events) {
	(void)source, (void)events;
}

/* While a record cannot be written, the gate withholds its result, starts no other agent run, and retries.
 * Other runs continue. */
static void work_at_gate(struct gb_server *server) {
	struct gb_err err = {0};
	if (server->gate && !gb_gate_work(server->gate, &err) && server->on_trouble)
		server->on_trouble(&err, server->data);
}

/* Round robin, so that a client with many requests does not block the others. */
static struct gb_client *next_waiting(struct gb_server *server) {
	gb_list_each(struct gb_client, client, &server->clients, link) {
		if (gb_list_empty(&client->waiting))
			continue;
		gb_list_remove(&client->link);
		gb_list_append(&server->clients, &client->link);
		return client;
	}
	return NULL;
}

static void start_waiting(struct gb_server *server) {
	/* Also try if nothing runs: no run will settle then, and the engine is full only until ended
	 * sandboxes are reaped. */
	while (server->n_waiting && (server->room || !server->n_running))
		if (!gb_rpc_start_waiting(next_waiting(server))) {
			server->room = false;
			return;
		}
}

/* --- turns --- */

static int longest_wait_of_runs_ms(struct gb_server *server) {
	if (server->n_waiting && !server->n_running)
		return RETRY_MS;
	gb_list_each(struct gb_client, client, &server->clients, link) {
		if (client->ended || client->blocked || client->held)
			return POLL_MS;
	}
	return -1;
}

static int longest_wait_ms(struct gb_server *server) {
	int due = server->gate ? gb_gate_timeout(server->gate) : -1, others = longest_wait_of_runs_ms(server);
	return due >= 0 && (others < 0 || due < others) ? due : others;
}

bool gb_server_turn(struct gb_server *server, struct gb_err *err) {
	if (gb_loop_dispatch(server->loop, longest_wait_ms(server)) < 0 && errno != EINTR)
		return gb_fail(err, GB_ESYSTEM, errno, "epoll_wait");
	work_at_gate(server);
	start_waiting(server);
	update_clients(server);
	if (server->err.code) {
		if (err)
			*err = server->err;
		return false;
	}
	return watch_engine(server, err);
}

/* --- the server --- */

bool gb_server_create(const struct gb_server_options *options, struct gb_server **ret, struct gb_err *err) {
	struct gb_server *server = calloc(1, sizeof *server);
	if (!server)
		return gb_fail(err, GB_ENOMEM, 0, "the server");
	server->loop = options->loop;
	server->engine = options->engine;
	server->engine_source.fd = server->gate_source.fd = -1;
	server->gate = options->gate;
	server->on_trouble = options->on_trouble;
	server->data = options->data;
	server->config = gb_config_ref(options->config);
	server->strict = options->strict;
	server->filter = gb_filter_ref(options->filter);
	server->timeout_ms = options->timeout_ms;
	server->max_runs = GB_OR(options->max_runs, DEFAULT_MAX_RUNS);
	gb_list_init(&server->clients);
	struct gb_manager_options sessions = {.on_awaiting = gb_rpc_on_awaiting};
	gb_limits_sessions(server->config, &sessions);
	if (!gb_manager_create(server->engine, &sessions, &server->manager, err) ||
	    !watch_engine(server, err) ||
	    (server->gate && !gb_loop_add(server->loop, &server->gate_source, gb_gate_fd(server->gate),
				 GB_LOOP_IN, on_gate_ready, err))) {
		gb_server_destroy(server);
		return false;
	}
	*ret = server;
	return true;
}

void gb_server_configure(struct gb_server *server, const struct gb_config *config, struct gb_filter *filter) {
	struct gb_manager_options sessions = {0};
	gb_filter_ref(filter);
	gb_filter_destroy(server->filter);
	server->filter = filter;
	gb_config_unref(server->config);
	server->config = gb_config_ref(config);
	gb_limits_sessions(config, &sessions);
	gb_manager_configure(server->manager, &sessions);
	/* If this fails, the server stops: secrets would no longer be masked. */
	gb_rpc_reapply_secrets(server, &server->err);
}

void gb_server_destroy(struct gb_server *server) {
	if (!server)
		return;
	gb_list_each(struct gb_client, client, &server->clients, link) destroy_client(client);
	gb_manager_destroy(server->manager);
	gb_loop_remove(server->loop, &server->engine_source);
	gb_loop_remove(server->loop, &server->gate_source);
	gb_filter_destroy(server->filter);
	gb_rpc_forget_secrets(server);
	gb_config_unref(server->config);
	free(server);
}

struct gb_loop *gb_server_loop(struct gb_server *server) {
	return server->loop;
}

unsigned gb_server_sessions(const struct gb_server *server) {
	return gb_manager_count(server->manager);
}
