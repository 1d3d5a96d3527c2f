/* The messages of fetch channels. */
#include "egress/process/channel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"

enum {
	MESSAGES_AT_ONCE = 32,
	/* Heads of all responses, and some more: bodies are only sent while nothing is queued. */
	CHANNEL_QUEUE_MAX = (GB_FETCH_REQUESTS_MAX + 8) * (GB_FETCH_HEAD_MAX + 4096),
	SOCKET_BYTES = 512 << 10,
};

static struct gb_list *all_channels(void) {
	static struct gb_list list;
	if (!list.next)
		gb_list_init(&list);
	return &list;
}

/* --- sending --- */

static void listen_for(struct channel *channel, uint32_t events) {
	if (channel->events == events || channel->source.fd < 0)
		return;
	channel->events = events;
	gb_loop_change(&gb_process.loop, &channel->source, events);
}

/* False if the socket is full. A closed one takes everything. */
static bool send_now(const struct channel *channel, const void *bytes, size_t n) {
	ssize_t sent;
	do
		sent = send(channel->fd, bytes, n, MSG_NOSIGNAL | MSG_DONTWAIT);
	while (sent < 0 && errno == EINTR);
	return sent >= 0 || errno != EAGAIN;
}

bool channel_is_blocked(const struct channel *channel) {
	return channel->queue.len > 0;
}

bool channel_send(
    struct channel *channel, enum gb_fetch_kind kind, uint32_t id, const void *bytes, size_t n) {
	static char message[GB_FETCH_MESSAGE_MAX];
	const struct gb_fetch_message head = {kind, id};
	const uint32_t length = (uint32_t)(sizeof head + n);
	if (length > sizeof message)
		return true;
	memcpy(message, &head, sizeof head);
	if (n)
		memcpy(message + sizeof head, bytes, n);
	if (!channel_is_blocked(channel) && send_now(channel, message, length))
		return true;
	listen_for(channel, GB_LOOP_IN | GB_LOOP_OUT);
	if (kind == GB_FETCH_DATA)
		return false;
	gb_buf_append(&channel->queue, &length, sizeof length);
	gb_buf_append(&channel->queue, message, length);
	channel->over |= gb_buf_failed(&channel->queue);
	return true;
}

static void send_queue(struct channel *channel) {
	struct gb_buf *queue = &channel->queue;
	size_t at = 0;
	uint32_t length;
	while (at < queue->len) {
		memcpy(&length, queue->data + at, sizeof length);
		if (!send_now(channel, queue->data + at + sizeof length, length))
			break;
		at += sizeof length + length;
	}
	gb_buf_consume(queue, at);
}

/* The socket takes messages again. */
static void on_writable(struct channel *channel) {
	send_queue(channel);
	if (channel_is_blocked(channel))
		return;
	/* A body that must wait again listens again. */
	listen_for(channel, GB_LOOP_IN);
	gb_list_each(struct fetch, fetch, &channel->fetches, link) transfer_resume(fetch);
}

/* --- receiving --- */

/* More of the body of a request. A cell that sends more than it has credit for breaks the protocol. */
static void take_data(struct fetch *fetch, const void *bytes, size_t n) {
	const struct secrets *secrets = &fetch->channel->cell->secrets;
	const struct gb_rewrite how = {.secrets = secrets->bound, .n_secrets = secrets->n};
	char refusal[GB_REFUSAL_MAX];
	if (fetch->up_ended || fetch->body == GB_FETCH_NO_BODY)
		return;
	if (!gb_rewrite_body(&how, &fetch->tail, bytes, n, refusal)) {
		fetch_finish(fetch, GB_EGRESS_DENIED, refusal);
		return;
	}
	gb_buf_append(&fetch->up, bytes, n);
	fetch->channel->over |= gb_buf_failed(&fetch->up);
	transfer_resume(fetch);
}

static void take_credit(struct fetch *fetch, const void *bytes, size_t n) {
	uint32_t more;
	if (n != sizeof more)
		return;
	memcpy(&more, bytes, sizeof more);
	fetch->credit += more;
	if (fetch->credit > GB_FETCH_WINDOW)
		fetch->credit = GB_FETCH_WINDOW;
	transfer_resume(fetch);
}

static void handle(
    struct channel *channel, const struct gb_fetch_message *message, const char *bytes, size_t n) {
	struct fetch *fetch = fetch_find(channel, message->id);
	if (message->kind == GB_FETCH_OPEN) {
		channel->over |= fetch != NULL;
		if (!fetch)
			fetch_open(channel, message->id, bytes, n);
		return;
	}
	/* It has ended meanwhile. */
	if (!fetch)
		return;
	switch ((enum gb_fetch_kind)message->kind) {
	case GB_FETCH_DATA:
		take_data(fetch, bytes, n);
		break;
	case GB_FETCH_END:
		fetch->up_ended = true;
		transfer_resume(fetch);
		break;
	case GB_FETCH_CREDIT:
		take_credit(fetch, bytes, n);
		break;
	case GB_FETCH_CANCEL:
		fetch_cancel(fetch, "the code has cancelled it");
		break;
	default:
		channel->over = true;
	}
}

/* Receive one message. False if there is none now, or the cell is gone. */
static bool receive(struct channel *channel) {
	static char message[GB_FETCH_MESSAGE_MAX + 1];
	struct gb_fetch_message head;
	const ssize_t n = recv(channel->fd, message, sizeof message, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n < (ssize_t)sizeof head || n > GB_FETCH_MESSAGE_MAX) {
		channel->over = true;
		return false;
	}
	memcpy(&head, message, sizeof head);
	handle(channel, &head, message + sizeof head, (size_t)n - sizeof head);
	return !channel->over;
}

static void close_channel(struct channel *channel) {
	gb_loop_remove(&gb_process.loop, &channel->source);
	gb_close_fd(&channel->fd);
	channel_end(channel, "the code has ended");
}

static void on_channel(struct gb_source *source, uint32_t events) {
	struct channel *channel = gb_container(struct channel, source, source);
	if (events & GB_LOOP_OUT)
		on_writable(channel);
	for (int i = 0; i < MESSAGES_AT_ONCE && receive(channel); i++)
		;
	if (channel->over)
		close_channel(channel);
}

/* --- life --- */

struct channel *channel_create(struct cell *cell, int fd) {
	const int bytes = SOCKET_BYTES;
	struct channel *channel = calloc(1, sizeof *channel);
	if (!channel) {
		close(fd);
		return NULL;
	}
	channel->cell = cell;
	channel->fd = fd;
	channel->source.fd = -1;
	channel->events = GB_LOOP_IN;
	gb_buf_init(&channel->queue, CHANNEL_QUEUE_MAX);
	gb_list_init(&channel->fetches);
	gb_list_init(&channel->link);
	gb_list_append(all_channels(), &channel->link);
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
	if (gb_loop_add(&gb_process.loop, &channel->source, fd, GB_LOOP_IN, on_channel, NULL))
		return channel;
	channel_destroy(channel);
	return NULL;
}

void channel_end(struct channel *channel, const char *reason) {
	for (struct fetch *fetch; (fetch = gb_list_first(struct fetch, &channel->fetches, link));)
		fetch_cancel(fetch, reason);
	transfer_close(channel);
}

void channel_destroy(struct channel *channel) {
	if (!channel)
		return;
	close_channel(channel);
	gb_buf_finish(&channel->queue);
	gb_list_remove(&channel->link);
	free(channel);
}

uint64_t channels_deadline(void) {
	uint64_t first = UINT64_MAX;
	gb_list_each(struct channel, channel, all_channels(), link) {
		if (channel->deadline_ms && channel->deadline_ms < first)
			first = channel->deadline_ms;
	}
	return first;
}

void channels_tick(uint64_t now) {
	gb_list_each(struct channel, channel, all_channels(), link) transfer_tick(channel, now);
}

void channel_close_idle(struct channel *channel, uint64_t now) {
	const struct gb_egress_limits *limits = &channel->cell->limits;
	gb_list_each(struct fetch, fetch, &channel->fetches, link) {
		const bool connecting = fetch->resolution || fetch->uploaded + fetch->received == 0;
		/* A cell that does not read makes the server wait, not the other way round. */
		if (fetch->down_paused || (fetch->up_paused && !fetch->head_sent && !fetch->up_ended))
			continue;
		if (fetch->resolution && now - fetch->started_ms > limits->connect_ms)
			fetch_finish(fetch, GB_EGRESS_UNREACHED,
			    "the connection took too long (network.connectTimeout)");
		else if (now - fetch->active_ms > limits->idle_ms + (connecting ? limits->connect_ms : 0))
			fetch_finish(fetch, GB_EGRESS_UNREACHED,
			    "the connection was idle for too long (network.idleTimeout)");
	}
}
