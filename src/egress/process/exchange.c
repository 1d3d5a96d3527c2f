/* Requests of code and the answers of servers, one after the other: checked, changed and recorded. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "egress/echo.h"
#include "egress/process/flow.h"

enum {
	ROUNDS = 8,
	FULL = GB_HTTP_HEAD_MAX + (4 << 10), /* of a buffer: nothing more is received */
	BUFFER_MAX = FULL + 2 * PIECE,
	MASKED_MAX = BUFFER_MAX + GB_ECHO_FORM_MAX,
};

struct exchange {
	struct gb_http answers;
	struct gb_buf reply; /* of the server, not read yet */
	struct gb_placeholder_tail tail;
	/* Answers of a host that gets secrets are searched for them. */
	struct gb_str *forms;
	struct gb_echo echo;
	bool asks;      /* a request has begun, and its answer is not complete */
	bool answering; /* of which a part was passed on */
	bool ends;      /* no request follows */
	bool said_end;
	unsigned n_done;
	/* Of the present request. */
	char method[GB_HTTP_METHOD_MAX];
	char path[GB_RECORD_PATH_MAX];
	char rule[GB_HOST_RULE_MAX + 1];
	unsigned status;
	uint64_t started_ms, wall_ms, sent, received;
	struct gb_egress_bodies *bodies; /* NULL: they are not recorded */
};

/* --- life --- */

static bool collect_forms(struct flow *flow, struct exchange *exchange) {
	const struct secrets *secrets = &flow->cell->secrets;
	size_t n = 0;
	for (unsigned i = 0; i < secrets->n; i++)
		n += secrets->bound[i]->n_forms;
	exchange->forms = calloc(n + 1, sizeof *exchange->forms);
	if (!exchange->forms)
		return false;
	n = 0;
	for (unsigned i = 0; i < secrets->n; i++) {
		const struct gb_bound_secret *bound = secrets->bound[i];
		if (!gb_secret_is_for(bound, &flow->host, flow->port, flow->intercepts))
			continue;
		memcpy(exchange->forms + n, bound->forms, bound->n_forms * sizeof *bound->forms);
		n += bound->n_forms;
	}
	exchange->echo.forms = exchange->forms;
	exchange->echo.n_forms = n;
	return true;
}

bool exchange_create(struct flow *flow) {
	struct exchange *exchange = calloc(1, sizeof *exchange);
	flow->exchange = exchange;
	if (!exchange || !collect_forms(flow, exchange))
		return false;
	if (flow->cell->limits.record_bodies)
		exchange->bodies = calloc(1, sizeof *exchange->bodies);
	gb_http_init_answers(&exchange->answers);
	gb_buf_init(&exchange->reply, BUFFER_MAX);
	return true;
}

void exchange_destroy(struct flow *flow) {
	struct exchange *exchange = flow->exchange;
	if (!exchange)
		return;
	flow->exchange = NULL;
	gb_buf_finish(&exchange->reply);
	free(exchange->forms);
	free(exchange->bodies);
	free(exchange);
}

static bool is_masking(const struct exchange *exchange) {
	return exchange->echo.n_forms > 0;
}

bool exchange_can_answer(const struct flow *flow) {
	return !flow->exchange->answering;
}

const struct gb_egress_bodies *exchange_bodies(const struct flow *flow) {
	return flow->exchange && flow->exchange->asks ? flow->exchange->bodies : NULL;
}

bool exchange_describe(struct flow *flow, struct gb_egress_record *record) {
	const struct exchange *exchange = flow->exchange;
	if (!exchange->asks)
		return !exchange->n_done || record->verdict == GB_EGRESS_DENIED;
	record->time_ms = exchange->wall_ms;
	record->duration_ms = now_ms() - exchange->started_ms;
	record->sent = exchange->sent;
	record->received = exchange->received;
	record->status = (uint16_t)exchange->status;
	snprintf(record->method, sizeof record->method, "%s", exchange->method);
	snprintf(record->path, sizeof record->path, "%s", exchange->path);
	if (exchange->rule[0])
		snprintf(record->rule, sizeof record->rule, "%s", exchange->rule);
	return true;
}

/* --- requests --- */

static void describe_request(struct exchange *exchange, const struct gb_http *http) {
	struct gb_str path = http->target, query = path;
	gb_str_cut(&query, '?', &path);
	exchange->asks = true;
	exchange->started_ms = now_ms();
	exchange->wall_ms = wall_clock_ms();
	exchange->sent = exchange->received = 0;
	exchange->status = 0;
	exchange->rule[0] = '\0';
	exchange->tail.n = 0;
	if (exchange->bodies)
		exchange->bodies->n_sent = exchange->bodies->n_received = 0;
	memcpy(exchange->method, http->method, sizeof exchange->method);
	gb_copy_text(exchange->path, sizeof exchange->path, path);
}

/* The head of a request as it is sent, appended to @out. False if it is refused. */
static bool make_head(struct flow *flow, const struct gb_http *http, struct gb_str head, struct gb_buf *out,
    char ret_refusal[GB_REFUSAL_MAX]) {
	struct cell *cell = flow->cell;
	struct exchange *exchange = flow->exchange;
	const struct gb_host_request request = {.host = &flow->host,
	    .port = flow->port,
	    .tls = flow->intercepts,
	    .method = gb_str_from(http->method),
	    .target = http->target.n ? http->target : GB_STR("/")};
	const struct gb_rewrite how = {.host = &flow->host,
	    .port = flow->port,
	    .tls = flow->intercepts,
	    .secrets = cell->secrets.bound,
	    .n_secrets = cell->secrets.n};
	char normal[GB_PATH_MAX];
	struct gb_str path = {0};
	const char *problem;
	describe_request(exchange, http);
	const struct gb_host_rule *rule = gb_host_rules_match(cell->rules, cell->n_rules, &request, &problem);
	if (!rule) {
		snprintf(ret_refusal, GB_REFUSAL_MAX, "%s", problem);
		return false;
	}
	gb_host_rule_write(rule, exchange->rule, sizeof exchange->rule);
	/* The server gets the path that was compared. */
	if (rule->path[0] && !gb_path_normalise(request.target, normal, sizeof normal, &path, &problem)) {
		snprintf(ret_refusal, GB_REFUSAL_MAX, "%s", problem);
		return false;
	}
	return gb_rewrite_head(&how, http, head, path, out, ret_refusal);
}

/* A buffer for a head: in locked memory, if it may get a secret. */
static void begin_head(const struct flow *flow, struct gb_buf *out) {
	size_t n = 0;
	char *scratch = flow->cell->secrets.n ? secrets_scratch(&n) : NULL;
	gb_buf_init(out, GB_HTTP_HEAD_MAX + 1024);
	if (scratch)
		*out = (struct gb_buf){.data = scratch, .cap = n, .max = n};
}

static void end_head(const struct flow *flow, struct gb_buf *out) {
	if (flow->cell->secrets.n)
		explicit_bzero(out->data, out->cap);
	else
		gb_buf_finish(out);
}

static void write_problem(const struct gb_http *http, char ret_refusal[GB_REFUSAL_MAX]) {
	snprintf(
	    ret_refusal, GB_REFUSAL_MAX, http->other[0] ? "%s: %.60s" : "%s", http->problem, http->other);
}

bool exchange_peek(struct flow *flow, char ret_refusal[GB_REFUSAL_MAX]) {
	struct gb_http probe = flow->http;
	struct gb_buf out;
	size_t n;
	*ret_refusal = '\0';
	if (gb_http_step(&probe, flow->held.data, flow->held.len, &n) != GB_HTTP_HEAD) {
		if (probe.problem)
			write_problem(&probe, ret_refusal);
		return false;
	}
	begin_head(flow, &out);
	const bool good = make_head(flow, &probe, (struct gb_str){flow->held.data, n}, &out, ret_refusal);
	end_head(flow, &out);
	/* A request that is refused is recorded; another one begins when it is sent. */
	flow->exchange->asks = !good;
	return good;
}

static bool broke(struct flow *flow) {
	flow_break(flow, GB_EGRESS_UNREACHED, "the connection broke");
	return false;
}

static bool send_head(struct flow *flow, size_t n) {
	struct exchange *exchange = flow->exchange;
	char refusal[GB_REFUSAL_MAX] = "the head of the request is too long";
	struct gb_buf out;
	begin_head(flow, &out);
	const bool good = make_head(flow, &flow->http, (struct gb_str){flow->held.data, n}, &out, refusal) &&
			  !gb_buf_failed(&out);
	const bool sent = good && side_put(&flow->server, out.data, out.len);
	end_head(flow, &out);
	if (!good)
		flow_refuse(flow, refusal);
	else if (!sent)
		broke(flow);
	else
		exchange->ends |= flow->http.closes;
	return sent;
}

static bool send_body(struct flow *flow, size_t n) {
	const struct gb_rewrite how = {
	    .secrets = flow->cell->secrets.bound, .n_secrets = flow->cell->secrets.n};
	char refusal[GB_REFUSAL_MAX];
	if (!gb_rewrite_body(&how, &flow->exchange->tail, flow->held.data, n, refusal)) {
		flow_refuse(flow, refusal);
		return false;
	}
	gb_egress_bodies_add(flow->exchange->bodies, true, flow->held.data, n);
	return side_put(&flow->server, flow->held.data, n) || broke(flow);
}

/* What is around chunks, and the headers behind the last one. */
static bool send_frame(struct flow *flow, size_t n) {
	const struct gb_rewrite how = {
	    .secrets = flow->cell->secrets.bound, .n_secrets = flow->cell->secrets.n};
	struct gb_placeholder_tail none = {0};
	char refusal[GB_REFUSAL_MAX];
	if (!gb_rewrite_body(&how, &none, flow->held.data, n, refusal)) {
		flow_refuse(flow, refusal);
		return false;
	}
	return side_put(&flow->server, flow->held.data, n) || broke(flow);
}

/* Pass requests on. False if the flow was closed. */
static bool send_requests(struct flow *flow, bool *ret_moved) {
	struct exchange *exchange = flow->exchange;
	while (flow->held.len && !flow->server.out.len) {
		size_t n;
		char refusal[GB_REFUSAL_MAX];
		/* The next request waits for the answer to this one. */
		if (gb_http_is_between(&flow->http) && (exchange->asks || exchange->ends))
			break;
		const enum gb_http_piece piece =
		    gb_http_step(&flow->http, flow->held.data, flow->held.len, &n);
		if (piece == GB_HTTP_MORE && !flow->http.problem)
			break;
		if (piece == GB_HTTP_MORE) {
			write_problem(&flow->http, refusal);
			flow_refuse(flow, refusal);
			return false;
		}
		if (piece == GB_HTTP_HEAD   ? !send_head(flow, n)
		    : piece == GB_HTTP_BODY ? !send_body(flow, n)
					    : !send_frame(flow, n))
			return false;
		exchange->sent += n;
		gb_buf_consume(&flow->held, n);
		*ret_moved = true;
	}
	return true;
}

/* --- answers --- */

static bool put_masked(struct flow *flow, const struct gb_buf *text) {
	char size[24];
	const bool chunked = flow->exchange->answers.chunked;
	if (!text->len)
		return true;
	gb_egress_bodies_add(flow->exchange->bodies, false, text->data, text->len);
	const int n = snprintf(size, sizeof size, "%zx\r\n", text->len);
	return !gb_buf_failed(text) && (!chunked || side_put(&flow->code, size, (size_t)n)) &&
	       side_put(&flow->code, text->data, text->len) && (!chunked || side_put(&flow->code, "\r\n", 2));
}

static bool put_answer_head(struct flow *flow, size_t n) {
	struct exchange *exchange = flow->exchange;
	exchange->status = exchange->answers.status;
	if (is_masking(exchange) && exchange->answers.is_encoded && !gb_http_is_between(&exchange->answers)) {
		flow_fail(flow, "the server has compressed its answer, in which no secret can be found");
		return false;
	}
	if (is_masking(exchange))
		gb_echo_mask(exchange->forms, exchange->echo.n_forms, exchange->reply.data, n);
	exchange->answering |= exchange->status >= 200;
	return side_put(&flow->code, exchange->reply.data, n) || broke(flow);
}

static bool put_answer_body(struct flow *flow, size_t n) {
	struct exchange *exchange = flow->exchange;
	gb_auto_buf struct gb_buf masked;
	gb_buf_init(&masked, MASKED_MAX);
	if (!is_masking(exchange))
		gb_egress_bodies_add(exchange->bodies, false, exchange->reply.data, n);
	if (!is_masking(exchange))
		return side_put(&flow->code, exchange->reply.data, n) || broke(flow);
	gb_echo_feed(&exchange->echo, exchange->reply.data, n, &masked);
	return put_masked(flow, &masked) || broke(flow);
}

/* The frame of chunks is made anew where bodies are searched; trailers are left out. */
static bool put_answer_frame(struct flow *flow, size_t n) {
	struct exchange *exchange = flow->exchange;
	return is_masking(exchange) || side_put(&flow->code, exchange->reply.data, n) || broke(flow);
}

static bool end_answer(struct flow *flow) {
	struct exchange *exchange = flow->exchange;
	gb_auto_buf struct gb_buf masked;
	gb_buf_init(&masked, MASKED_MAX);
	gb_echo_end(&exchange->echo, &masked);
	/* The answer to HEAD has the field, but no chunks. */
	const bool has_chunks = exchange->answers.chunked && !exchange->answers.for_head &&
				exchange->status != 204 && exchange->status != 304;
	if (is_masking(exchange) &&
	    (!put_masked(flow, &masked) || (has_chunks && !side_put(&flow->code, "0\r\n\r\n", 5))))
		return broke(flow);
	/* An answer to a request that is not complete: the rest would be taken for another one. */
	exchange->ends |= exchange->answers.closes || !gb_http_is_between(&flow->http);
	flow_record(flow, GB_EGRESS_ALLOWED, "");
	exchange->asks = exchange->answering = false;
	exchange->n_done++;
	return true;
}

static bool put_answer(struct flow *flow, enum gb_http_piece piece, size_t n) {
	return piece == GB_HTTP_HEAD   ? put_answer_head(flow, n)
	       : piece == GB_HTTP_BODY ? put_answer_body(flow, n)
				       : put_answer_frame(flow, n);
}

/* Pass answers on. False if the flow was closed. */
static bool send_answers(struct flow *flow, bool *ret_moved) {
	struct exchange *exchange = flow->exchange;
	struct gb_http *answers = &exchange->answers;
	while (exchange->reply.len) {
		size_t n;
		if (!exchange->asks) {
			flow_break(
			    flow, GB_EGRESS_UNREACHED, "the server has sent an answer without a request");
			return false;
		}
		answers->for_head = strcmp(exchange->method, "HEAD") == 0;
		const enum gb_http_piece piece =
		    gb_http_step(answers, exchange->reply.data, exchange->reply.len, &n);
		if (piece == GB_HTTP_MORE && !answers->problem)
			break;
		if (piece == GB_HTTP_MORE) {
			flow_fail(flow, answers->problem);
			return false;
		}
		exchange->received += n;
		if (!put_answer(flow, piece, n))
			return false;
		gb_buf_consume(&exchange->reply, n);
		*ret_moved = true;
		if (gb_http_is_between(answers) && answers->status >= 200 && !end_answer(flow))
			return false;
	}
	return true;
}

/* --- both --- */

static bool receive(struct flow *flow, struct side *side, struct gb_buf *to, bool *ret_moved) {
	const size_t before = to->len;
	const struct side *other = side == &flow->code ? &flow->server : &flow->code;
	if (side->ended || other->out.len || to->len >= FULL)
		return true;
	switch (side_receive(side, to)) {
	case SIDE_OK:
		*ret_moved |= side->ended || to->len != before;
		return true;
	case SIDE_WAIT:
		return true;
	case SIDE_CUT:
		return false;
	case SIDE_BROKEN:
		break;
	}
	flow_break(flow, GB_EGRESS_UNREACHED,
	    side == &flow->code ? "the code has reset the connection"
				: "the server has reset the connection");
	return false;
}

/* One of the ends has no more to say. False if the flow was closed. */
static bool handle_ends(struct flow *flow) {
	struct exchange *exchange = flow->exchange;
	if (flow->server.ended && exchange->asks) {
		if (exchange->answers.state == GB_HTTP_IN_REST && !flow->server.truncated) {
			exchange->ends = true;
			return end_answer(flow);
		}
		flow_fail(flow, "the server has closed the connection before its answer was complete");
		return false;
	}
	if (flow->code.ended && !gb_http_is_between(&flow->http) && !flow->server.out.len) {
		flow_break(flow, GB_EGRESS_UNREACHED, "the code has closed the connection within a request");
		return false;
	}
	exchange->ends |= flow->server.ended || (flow->code.ended && !exchange->asks);
	return true;
}

static void finish(struct flow *flow) {
	struct exchange *exchange = flow->exchange;
	if (flow->code.tls && !exchange->said_end) {
		tls_close(flow->code.tls);
		tls_take(flow->code.tls, &flow->code.out);
	}
	exchange->said_end = true;
	if (!side_flush(&flow->code))
		broke(flow);
	else if (flow->code.out.len)
		flow_listen(flow);
	else
		flow_finish(flow);
}

static bool step(struct flow *flow, bool *ret_moved) {
	*ret_moved = false;
	return receive(flow, &flow->code, &flow->held, ret_moved) && send_requests(flow, ret_moved) &&
	       receive(flow, &flow->server, &flow->exchange->reply, ret_moved) &&
	       send_answers(flow, ret_moved) && handle_ends(flow);
}

void exchange_go_on(struct flow *flow) {
	struct exchange *exchange = flow->exchange;
	bool moved = true;
	if (!side_flush(&flow->code) || !side_flush(&flow->server)) {
		broke(flow);
		return;
	}
	for (int i = 0; i < ROUNDS && moved && !(exchange->ends && !exchange->asks); i++)
		if (!step(flow, &moved))
			return;
	if (exchange->ends && !exchange->asks)
		finish(flow);
	else
		flow_listen(flow);
}

bool exchange_last(struct flow *flow) {
	bool moved = true;
	while (moved && !flow->server.out.len) {
		moved = false;
		if (!receive(flow, &flow->code, &flow->held, &moved) || !send_requests(flow, &moved))
			return false;
		if (!side_flush(&flow->server))
			return broke(flow);
	}
	return true;
}
