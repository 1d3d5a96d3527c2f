/* Orders of the host, and notices to it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "egress/process/process.h"

static uint64_t clock_ms(clockid_t clock) {
	struct timespec at;
	clock_gettime(clock, &at);
	return (uint64_t)at.tv_sec * 1000 + (uint64_t)at.tv_nsec / 1000000;
}

uint64_t now_ms(void) {
	return clock_ms(CLOCK_MONOTONIC);
}

uint64_t wall_clock_ms(void) {
	return clock_ms(CLOCK_REALTIME);
}

/* --- notices --- */

enum {
	NOTICE_MORE_MAX = sizeof(struct gb_egress_record) > sizeof(struct gb_egress_bodies)
			      ? sizeof(struct gb_egress_record)
			      : sizeof(struct gb_egress_bodies)
};

static void listen_for(uint32_t events) {
	if (events == gb_process.control_events || gb_process.control.fd < 0)
		return;
	gb_process.control_events = events;
	gb_loop_change(&gb_process.loop, &gb_process.control, events);
}

static bool send_now(const void *bytes, size_t n) {
	ssize_t sent;
	do
		sent = send(GB_EGRESS_FD, bytes, n, MSG_NOSIGNAL | MSG_DONTWAIT);
	while (sent < 0 && errno == EINTR);
	return sent >= 0;
}

void control_send(const struct gb_egress_notice *notice, const void *more, size_t n) {
	char message[sizeof *notice + NOTICE_MORE_MAX];
	const uint32_t length = (uint32_t)(sizeof *notice + n);
	memcpy(message, notice, sizeof *notice);
	if (n)
		memcpy(message + sizeof *notice, more, n);
	struct gb_buf *queue = &gb_process.queue;
	if (queue->len == 0 && send_now(message, length))
		return;
	/* A host that reads nothing for so long is dead or hung: its end of the socket decides. */
	if (queue->len + sizeof length + length > QUEUE_MAX)
		return;
	gb_buf_append(queue, &length, sizeof length);
	gb_buf_append(queue, message, length);
	listen_for(GB_LOOP_IN | GB_LOOP_OUT);
}

static void send_queue(void) {
	struct gb_buf *queue = &gb_process.queue;
	size_t at = 0;
	uint32_t length;
	while (at < queue->len) {
		memcpy(&length, queue->data + at, sizeof length);
		if (!send_now(queue->data + at + sizeof length, length))
			break;
		at += sizeof length + length;
	}
	gb_buf_consume(queue, at);
	if (queue->len == 0) {
		gb_buf_clear(queue);
		listen_for(GB_LOOP_IN);
	}
}

void control_record(
    struct cell *cell, const struct gb_egress_record *record, const struct gb_egress_bodies *bodies) {
	unsigned *count = record->verdict == GB_EGRESS_DENIED ? &cell->n_denials : &cell->n_records;
	const unsigned max = record->verdict == GB_EGRESS_DENIED ? DENIALS_MAX : RECORDS_MAX;
	if (*count == max || gb_process.queue.len > QUEUE_MAX / 2) {
		cell->n_dropped++;
		return;
	}
	++*count;
	if (bodies && (bodies->n_sent || bodies->n_received))
		control_send(&(struct gb_egress_notice){.kind = GB_EGRESS_BODIES, .cell = cell->id}, bodies,
		    sizeof *bodies);
	control_send(
	    &(struct gb_egress_notice){.kind = GB_EGRESS_RECORD, .cell = cell->id}, record, sizeof *record);
}

void control_deny(struct cell *cell, const char *host, uint16_t port, const char *reason) {
	struct gb_egress_record record = {
	    .time_ms = wall_clock_ms(), .verdict = GB_EGRESS_DENIED, .port = port};
	snprintf(record.host, sizeof record.host, "%.*s", GB_HOST_NAME_MAX, host);
	snprintf(record.reason, sizeof record.reason, "%s", reason);
	control_record(cell, &record, NULL);
}

/* --- orders --- */

static void set_proxy(const char *text, size_t n) {
	struct gb_host_rule rule;
	const char *problem;
	if (!n)
		return;
	/* The host has checked it. Never connect directly instead. */
	if (!gb_host_rule_parse((struct gb_str){text, n}, &rule, &problem) || !gb_host_rule_is_one(&rule)) {
		gb_process.stop = true;
		return;
	}
	gb_process.proxy = rule.host;
	gb_process.proxy_port = rule.port ? rule.port : 8080;
}

static void handle(const struct gb_egress_order *order, const char *more, size_t n, int *fd) {
	struct cell *cell = cell_find(order->cell);
	switch ((enum gb_egress_order_kind)order->kind) {
	case GB_EGRESS_SETUP:
		set_proxy(more, n);
		break;
	case GB_EGRESS_CELL:
		if (!cell && *fd >= 0)
			cell_create(order->cell, gb_take_fd(fd), order->fetches);
		break;
	case GB_EGRESS_SECRET:
		if (cell && !secrets_add(&cell->next_secrets, more, n))
			cell->lacks_secret = true;
		break;
	case GB_EGRESS_RUN: {
		struct gb_egress_notice begun = {.kind = GB_EGRESS_BEGUN, .cell = order->cell};
		if (cell && cell->lacks_secret)
			snprintf(begun.text, sizeof begun.text,
			    "a secret cannot be kept in locked memory: raise the limit (ulimit -l)");
		if (cell)
			cell_begin(cell, order, more, n);
		control_send(&begun, NULL, 0);
		break;
	}
	case GB_EGRESS_END: {
		struct gb_egress_notice done = {.kind = GB_EGRESS_DONE, .cell = order->cell};
		if (cell) {
			cell_end(cell);
			done.dropped = cell->n_dropped;
		}
		control_send(&done, NULL, 0);
		break;
	}
	case GB_EGRESS_RELEASE:
		if (cell)
			cell_destroy(cell);
		break;
	case GB_EGRESS_CONNECT:
		if (cell && *fd >= 0)
			cell_connect(cell, order->port, gb_take_fd(fd));
		break;
	case GB_EGRESS_PING:
		control_send(&(struct gb_egress_notice){.kind = GB_EGRESS_PONG}, NULL, 0);
		break;
	}
}

static char received[GB_EGRESS_MESSAGE_MAX];

/* Receive one order. False if there is none now; the process ends when the host is gone. */
static bool receive(void) {
	char *const message = received;
	struct gb_egress_order order;
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec iov = {received, sizeof received};
	struct msghdr head = {.msg_iov = &iov,
	    .msg_iovlen = 1,
	    .msg_control = control.bytes,
	    .msg_controllen = sizeof control.bytes};
	gb_auto_fd int fd = -1;
	const ssize_t n = recvmsg(GB_EGRESS_FD, &head, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n < (ssize_t)sizeof order) {
		gb_process.stop = true;
		return false;
	}
	struct cmsghdr *rights = CMSG_FIRSTHDR(&head);
	if (rights && rights->cmsg_type == SCM_RIGHTS && rights->cmsg_len == CMSG_LEN(sizeof fd))
		memcpy(&fd, CMSG_DATA(rights), sizeof fd);
	memcpy(&order, message, sizeof order);
	handle(&order, message + sizeof order, (size_t)n - sizeof order, &fd);
	if (order.kind == GB_EGRESS_SECRET)
		explicit_bzero(message, (size_t)n);
	return true;
}

static void on_control(struct gb_source *source, uint32_t events) {
	if (events & GB_LOOP_OUT)
		send_queue();
	while (receive())
		;
}

bool control_init(const char **ret_problem) {
	struct process *process = &gb_process;
	gb_buf_init(&process->queue, QUEUE_MAX + (64 << 10));
	process->cells = calloc(CELLS_MAX, sizeof *process->cells);
	process->control_events = GB_LOOP_IN;
	/* Secrets pass through it, and are erased then. The limit of locked memory may be too low for both. */
	(void)mlock(received, sizeof received);
	*ret_problem = "start the event loop";
	return process->cells &&
	       gb_loop_add(&process->loop, &process->control, GB_EGRESS_FD, GB_LOOP_IN, on_control, NULL);
}
