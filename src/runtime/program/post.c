#include "runtime/program/post.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/io.h"
#include "value/cbor.h"
#include "value/frame.h"

enum { WAITS_MAX = 256 << 10, OUTBOX_MAX = 1 << 20, OUTPUT_WAITS_NS = 5000000, HOST_WAITS_MS = 10 };

static struct {
	int fd;
	uint64_t output_left;
	bool truncated;
	struct gb_buf outbox;
	bool urgent;    /* something other than output is queued */
	uint64_t since; /* when the queue became non-empty, ns */
	void (*on_wait)(void *data);
	void *data;
} post = {.fd = -1};

void gb_post_open(int fd, uint64_t output) {
	post.fd = fd;
	post.output_left = output;
	post.truncated = false;
	post.outbox.max = OUTBOX_MAX;
}

void gb_post_while_waiting(void (*on_wait)(void *data), void *data) {
	post.on_wait = on_wait;
	post.data = data;
}

/* Send, blocking while the host is busy; on_wait supervises the programs meanwhile. */
static void send_all(const char *bytes, size_t n) {
	for (size_t sent = 0; sent < n;) {
		ssize_t k = send(post.fd, bytes + sent, n - sent, MSG_DONTWAIT | MSG_NOSIGNAL);
		struct pollfd room = {post.fd, POLLOUT, 0};
		if (k >= 0)
			sent += (size_t)k;
		else if (errno != EAGAIN && errno != EINTR)
			_exit(1);
		else if (poll(&room, 1, HOST_WAITS_MS) == 0 && post.on_wait)
			post.on_wait(post.data);
	}
}

void gb_post_flush(void) {
	if (gb_buf_failed(&post.outbox))
		_exit(1);
	send_all(post.outbox.data, post.outbox.len);
	gb_buf_clear(&post.outbox);
	post.urgent = false;
	if (post.outbox.cap > WAITS_MAX)
		gb_buf_finish(&post.outbox);
}

void gb_post_discard(void) {
	gb_buf_clear(&post.outbox);
}

static void flush_if_much(void) {
	if (post.outbox.len > WAITS_MAX)
		gb_post_flush();
}

void gb_post_mark_truncated(void) {
	post.truncated = true;
}

bool gb_post_truncated(void) {
	return post.truncated;
}

bool gb_post_charge(size_t n) {
	bool enough = n <= post.output_left;
	post.output_left -= enough ? n : post.output_left;
	post.truncated |= !enough;
	return enough;
}

void gb_post_output(int stream, const void *bytes, size_t n) {
	if (n > post.output_left) {
		n = (size_t)post.output_left;
		post.truncated = true;
	}
	if (n == 0)
		return;
	post.output_left -= n;
	if (!post.outbox.len)
		post.since = gb_now_ns();
	size_t mark = gb_frame_begin(&post.outbox, GB_FRAME_OUTPUT);
	gb_cbor_unsigned(&post.outbox, (uint64_t)stream);
	gb_cbor_bytes(&post.outbox, bytes, n);
	gb_frame_end(&post.outbox, mark);
	flush_if_much();
}

bool gb_post_may_batch(void) {
	return post.outbox.len && !post.urgent && gb_now_ns() - post.since < OUTPUT_WAITS_NS;
}

void gb_post_frame(const void *frame, size_t n) {
	/* Send large frames without copying them. */
	if (n > WAITS_MAX) {
		gb_post_flush();
		send_all(frame, n);
		return;
	}
	post.urgent = true;
	gb_buf_append(&post.outbox, frame, n);
	flush_if_much();
}

void gb_post_exit(int exit_code, bool over) {
	size_t mark = gb_frame_begin(&post.outbox, GB_FRAME_EXIT);
	gb_cbor_unsigned(&post.outbox, (uint64_t)exit_code);
	gb_cbor_simple(&post.outbox, over ? GB_SIMPLE_TRUE : GB_SIMPLE_FALSE);
	gb_frame_end(&post.outbox, mark);
}
