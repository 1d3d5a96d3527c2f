/*
 * Long lines are parsed on a thread of the service, so that they do not delay other clients. The client's input is
 * paused meanwhile, so that its messages are handled in order.
 */
#include <stdlib.h>

#include "base/cleanup.h"
#include "server/replies.h"
#include "server/rpc.h"

struct gb_long_message {
	struct gb_work work;
	struct gb_list link;      /* in its queue while it waits */
	struct gb_server *server; /* NULL: it was destroyed */
	struct gb_client *client; /* NULL: it was destroyed */
	struct gb_long_line line; /* the buffer is freed when it was parsed */
	struct gb_values *pool;
	struct gb_message message;
	struct gb_rejection rejection;
	bool ok;
	struct gb_rpc_run *run; /* the run that is being submitted; or NULL */
};

static struct gb_long_queue *queue_of(struct gb_server *server, const struct gb_long_message *it) {
	return &server->queues[it->line.n > GB_SERVICE_LARGE];
}

/* Whether messages of the client are still handled; false for NULL. */
static bool accepts_messages(const struct gb_client *client) {
	return client && !client->lines.ended;
}

/* --- the end --- */

static void start_next(struct gb_server *server, struct gb_long_queue *queue);

static enum gb_work_end free_values(struct gb_work *work, void *data) {
	struct gb_long_message *it = gb_container(struct gb_long_message, work, work);
	(void)data;
	gb_values_destroy(it->pool);
	return GB_WORK_DONE;
}

static void free_message(struct gb_work *work) {
	struct gb_long_message *it = gb_container(struct gb_long_message, work, work);
	gb_buf_finish(&it->line.buf);
	free(it);
}

/* The message was handled: free it, start the next one of the queue, and read the client's input again. */
static void finish(struct gb_long_message *it) {
	struct gb_server *server = it->server;
	struct gb_client *client = it->client;
	struct gb_long_queue *queue = server ? queue_of(server, it) : NULL;
	/* Freeing millions of values takes long as well. */
	it->work.run = free_values;
	it->work.done = free_message;
	if (!server || !gb_service_work(server->service, &it->work, it->line.n)) {
		free_values(&it->work, NULL);
		free_message(&it->work);
	}
	if (queue) {
		queue->active = NULL;
		start_next(server, queue);
	}
	if (!client)
		return;
	client->long_message = NULL;
	gb_rpc_resume(client);
}

/* --- handling --- */

static void on_submitted(struct gb_execution *execution, const struct gb_err *err, void *data) {
	struct gb_long_message *it = data;
	struct gb_client *client = it->client;
	if (!accepts_messages(client)) {
		gb_execution_release(execution);
		free(it->run);
	} else if (execution ? gb_rpc_add_run(it->run, execution, &it->rejection)
			     : gb_rpc_refuse(err, &it->rejection)) {
		gb_execution_hold(execution, client->blocked);
	} else {
		gb_rpc_reply_error(client, &it->rejection);
		free(it->run);
	}
	finish(it);
}

/* The job of a run is encoded on the thread as well. */
static void submit(struct gb_long_message *it) {
	struct gb_client *client = it->client;
	struct gb_submission submission;
	it->run = gb_rpc_create_run(client, &it->message, &submission, &it->rejection);
	if (it->run) {
		gb_service_submit_later(&client->submits, &submission, it->line.n, on_submitted, it);
		return;
	}
	gb_rpc_reply_error(client, &it->rejection);
	finish(it);
}

/* --- reading --- */

static enum gb_work_end read_message(struct gb_work *work, void *data) {
	struct gb_long_message *it = gb_container(struct gb_long_message, work, work);
	size_t n = it->line.n;
	(void)data;
	it->pool = gb_values_create(gb_message_memory(n));
	it->ok = gb_message_read(it->pool, it->line.buf.data + it->line.at, n, &it->message, &it->rejection);
	gb_buf_finish(&it->line.buf);
	return GB_WORK_DONE;
}

static void on_read(struct gb_work *work) {
	struct gb_long_message *it = gb_container(struct gb_long_message, work, work);
	if (accepts_messages(it->client) && it->ok && it->message.type == GB_MESSAGE_RUN) {
		submit(it);
		return;
	}
	if (accepts_messages(it->client))
		gb_rpc_handle(it->client, it->ok ? &it->message : NULL, &it->rejection);
	finish(it);
}

static void start_next(struct gb_server *server, struct gb_long_queue *queue) {
	struct gb_long_message *it = gb_list_first(struct gb_long_message, &queue->waiting, link);
	if (!it || queue->active)
		return;
	gb_list_remove(&it->link);
	queue->active = it;
	if (gb_service_work(server->service, &it->work, it->line.n))
		return;
	read_message(&it->work, NULL);
	on_read(&it->work);
}

void gb_rpc_receive_long_line(struct gb_client *client, struct gb_long_line *line) {
	struct gb_server *server = client->server;
	struct gb_long_message *it = calloc(1, sizeof *it);
	if (!it) {
		gb_rpc_receive_line(client, line->buf.data + line->at, line->n);
		gb_buf_finish(&line->buf);
		return;
	}
	it->work.run = read_message;
	it->work.done = on_read;
	it->server = server;
	it->client = client;
	it->line = *line;
	client->long_message = it;
	client->n_lines++;
	gb_lines_pause(&client->lines);
	gb_list_append(&queue_of(server, it)->waiting, &it->link);
	start_next(server, queue_of(server, it));
}

/* --- the end of a client, and of the server --- */

void gb_rpc_drop_long(struct gb_client *client) {
	struct gb_long_message *it = client->long_message;
	if (!it)
		return;
	client->long_message = NULL;
	it->client = NULL;
	if (queue_of(client->server, it)->active == it)
		return;
	gb_list_remove(&it->link);
	free_message(&it->work);
}

void gb_rpc_init_long(struct gb_server *server) {
	for (size_t i = 0; i < GB_COUNT(server->queues); i++)
		gb_list_init(&server->queues[i].waiting);
}

void gb_rpc_finish_long(struct gb_server *server) {
	for (size_t i = 0; i < GB_COUNT(server->queues); i++)
		if (server->queues[i].active)
			server->queues[i].active->server = NULL;
}
