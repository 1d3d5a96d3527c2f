/* Copies the bytes of a connection, in both directions. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "egress/process/flow.h"

enum { ROUNDS = 4 };

void side_init(struct flow *flow, struct side *side, int fd) {
	*side = (struct side){.flow = flow, .fd = fd, .source.fd = -1};
	gb_buf_init(&side->out, OUT_MAX);
}

void side_finish(struct side *side) {
	gb_loop_remove(&gb_process.loop, &side->source);
	gb_close_fd(&side->fd);
	gb_buf_finish(&side->out);
	tls_destroy(side->tls);
	side->tls = NULL;
}

/* A side that is waited for nothing is not in the loop: its end would be reported in every turn. */
static void listen_for(struct side *side, uint32_t events) {
	struct gb_loop *loop = &gb_process.loop;
	if (side->fd < 0 || (side->source.fd >= 0 && side->events == events))
		return;
	side->events = events;
	if (!events)
		gb_loop_remove(loop, &side->source);
	else if (side->source.fd >= 0)
		gb_loop_change(loop, &side->source, events);
	else
		(void)gb_loop_add(loop, &side->source, side->fd, events, copy_on_ready, NULL);
}

/* Code that sends requests without waiting for answers has to wait. */
static bool is_full(const struct side *from) {
	const struct flow *flow = from->flow;
	return flow->exchange && from == &flow->code && flow->held.len >= GB_HTTP_HEAD_MAX;
}

static uint32_t wanted(const struct side *from, const struct side *to) {
	return (from->ended || to->out.len || is_full(from) ? 0 : GB_LOOP_IN) |
	       (from->out.len ? GB_LOOP_OUT : 0);
}

void flow_listen(struct flow *flow) {
	switch (flow->state) {
	case FLOW_CHECKING:
		listen_for(&flow->code, GB_LOOP_IN | (flow->code.out.len ? GB_LOOP_OUT : 0));
		break;
	case FLOW_RESOLVING:
		listen_for(&flow->code, 0);
		break;
	case FLOW_CONNECTING:
		listen_for(&flow->code, 0);
		listen_for(&flow->server, GB_LOOP_OUT);
		break;
	case FLOW_PROXY:
	case FLOW_SECURING:
		listen_for(&flow->server, GB_LOOP_IN | (flow->server.out.len ? GB_LOOP_OUT : 0));
		break;
	case FLOW_OPEN:
		listen_for(&flow->code, wanted(&flow->code, &flow->server));
		listen_for(&flow->server, wanted(&flow->server, &flow->code));
		break;
	}
}

bool side_flush(struct side *side) {
	while (side->out.len) {
		const ssize_t n = send(side->fd, side->out.data, side->out.len, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN;
		gb_buf_consume(&side->out, (size_t)n);
	}
	if (side->out.cap)
		gb_buf_finish(&side->out);
	return true;
}

/* Write now, and keep what does not fit. */
static bool put_raw(struct side *to, const char *bytes, size_t n) {
	ssize_t sent = 0;
	if (to->out.len == 0) {
		do
			sent = send(to->fd, bytes, n, MSG_NOSIGNAL | MSG_DONTWAIT);
		while (sent < 0 && errno == EINTR);
		if (sent < 0 && errno != EAGAIN)
			return false;
		sent = sent < 0 ? 0 : sent;
	}
	if ((size_t)sent < n)
		gb_buf_append(&to->out, bytes + sent, n - (size_t)sent);
	return !gb_buf_failed(&to->out);
}

bool side_put(struct side *to, const char *bytes, size_t n) {
	if (!to->tls)
		return put_raw(to, bytes, n);
	if (!tls_write(to->tls, bytes, n))
		return false;
	tls_take(to->tls, &to->out);
	return !gb_buf_failed(&to->out) && side_flush(to);
}

enum side_result side_decrypt(struct side *side, struct gb_buf *to) {
	enum { RECORD = 16 << 10 };
	enum tls_result result;
	size_t n;
	do {
		char *room = gb_buf_reserve(to, RECORD);
		result = room ? tls_read(side->tls, room, RECORD, &n) : TLS_BAD;
		to->len += result == TLS_OK ? n : 0;
	} while (result == TLS_OK);
	side->ended |= result == TLS_END;
	tls_take(side->tls, &side->out);
	return result != TLS_BAD && side_flush(side) ? SIDE_OK : SIDE_BROKEN;
}

enum side_result side_receive(struct side *side, struct gb_buf *to) {
	struct flow *flow = side->flow;
	const ssize_t n = recv(side->fd, gb_process.piece, PIECE, MSG_DONTWAIT);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? SIDE_WAIT : SIDE_BROKEN;
	flow->active_ms = now_ms();
	if (n == 0) {
		/* The end of TLS is said: without that, bytes may be missing. */
		side->ended = true;
		side->truncated = side->tls;
		return SIDE_OK;
	}
	if (!flow_charge(flow, side, (size_t)n))
		return SIDE_CUT;
	if (side->tls) {
		tls_put(side->tls, gb_process.piece, (size_t)n);
		return side_decrypt(side, to);
	}
	gb_buf_append(to, gb_process.piece, (size_t)n);
	return gb_buf_failed(to) ? SIDE_BROKEN : SIDE_OK;
}

/* Pass the end of one direction on, once everything before it has been written. */
static void pass_end(struct side *from, struct side *to) {
	if (!from->ended || to->out.len || to->shut)
		return;
	to->shut = true;
	shutdown(to->fd, SHUT_WR);
}

bool flow_charge(struct flow *flow, const struct side *from, size_t n) {
	struct cell *cell = flow->cell;
	if (flow->inward)
		return true;
	const bool up = from == &flow->code;
	*(up ? &flow->sent : &flow->received) += n;
	*(up ? &cell->sent : &cell->received) += n;
	if (up ? cell->sent > cell->limits.sent_bytes : cell->received > cell->limits.received_bytes) {
		flow_break(flow, GB_EGRESS_DENIED,
		    up ? "the run has sent more bytes than it may (network.maxSent)"
		       : "the run has received more bytes than it may (network.maxReceived)");
		return false;
	}
	return true;
}

bool flow_search(struct flow *flow, const char *bytes, size_t n) {
	const struct secrets *secrets = &flow->cell->secrets;
	const struct gb_rewrite how = {.secrets = secrets->bound, .n_secrets = secrets->n};
	char refusal[GB_REFUSAL_MAX];
	if (flow->inward || gb_rewrite_body(&how, &flow->tail, bytes, n, refusal))
		return true;
	flow_break(flow, GB_EGRESS_DENIED, refusal);
	return false;
}

/* Copy from one side to the other. False if the flow was closed. */
static bool pump(struct flow *flow, struct side *from, struct side *to) {
	for (int i = 0; i < ROUNDS && !from->ended && to->out.len == 0; i++) {
		const ssize_t n = recv(from->fd, gb_process.piece, PIECE, MSG_DONTWAIT);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			break;
		if (n < 0) {
			flow_break(flow, GB_EGRESS_UNREACHED,
			    from == &flow->code ? "the code has reset the connection"
						: "the server has reset the connection");
			return false;
		}
		flow->active_ms = now_ms();
		from->ended = n == 0;
		if (n && !flow_charge(flow, from, (size_t)n))
			return false;
		if (n && from == &flow->code && !flow_search(flow, gb_process.piece, (size_t)n))
			return false;
		if (n && !put_raw(to, gb_process.piece, (size_t)n)) {
			flow_break(flow, GB_EGRESS_UNREACHED, "the connection broke");
			return false;
		}
	}
	pass_end(from, to);
	return true;
}

static void copy(struct flow *flow) {
	if (!side_flush(&flow->code) || !side_flush(&flow->server)) {
		flow_break(flow, GB_EGRESS_UNREACHED, "the connection broke");
		return;
	}
	if (!pump(flow, &flow->code, &flow->server) || !pump(flow, &flow->server, &flow->code))
		return;
	if (flow->code.shut && flow->server.shut)
		flow_finish(flow);
	else
		flow_listen(flow);
}

bool copy_last(struct flow *flow) {
	do {
		if (!side_flush(&flow->server)) {
			flow_break(flow, GB_EGRESS_UNREACHED, "the connection broke");
			return false;
		}
		if (flow->server.out.len || flow->code.ended)
			break;
		const size_t before = flow->sent;
		if (!pump(flow, &flow->code, &flow->server))
			return false;
		if (flow->sent == before)
			break;
	} while (true);
	if (!flow->code.ended || flow->server.out.len)
		return true;
	flow_finish(flow);
	return false;
}

void copy_on_ready(struct gb_source *source, uint32_t events) {
	struct side *side = (struct side *)source;
	struct flow *flow = side->flow;
	switch (flow->state) {
	case FLOW_CONNECTING:
		flow_on_connected(flow);
		break;
	case FLOW_PROXY:
		if (side_flush(&flow->server))
			flow_on_proxy(flow);
		else
			flow_break(flow, GB_EGRESS_UNREACHED, "the connection to the proxy broke");
		break;
	case FLOW_CHECKING:
		flow_on_first(flow);
		break;
	case FLOW_SECURING:
		flow_on_securing(flow);
		break;
	default:
		if (flow->exchange)
			exchange_go_on(flow);
		else
			copy(flow);
	}
}
