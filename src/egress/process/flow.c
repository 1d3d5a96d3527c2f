/* Connections of code: check, look the name up, check its addresses, connect. */
#include "egress/process/flow.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/accept.h"
#include "base/claim.h"
#include "base/cleanup.h"

enum { CHECK_MS = 30000, PROXY_HEAD_MAX = 8 << 10 };

/* --- ends --- */

void flow_record(struct flow *flow, enum gb_egress_verdict verdict, const char *reason) {
	struct gb_egress_record record = {.time_ms = flow->wall_ms,
	    .duration_ms = now_ms() - flow->started_ms,
	    .sent = flow->sent,
	    .received = flow->received,
	    .verdict = verdict,
	    .port = flow->port};
	if (flow->inward)
		return;
	snprintf(record.host, sizeof record.host, "%s", flow->host.name);
	snprintf(record.rule, sizeof record.rule, "%s", flow->rule);
	snprintf(record.reason, sizeof record.reason, "%s", reason);
	if (!flow->exchange || exchange_describe(flow, &record))
		control_record(flow->cell, &record, exchange_bodies(flow));
}

/* A socket of the cell can connect again. It is of the cell's network, and there are no others. */
static void reuse(struct flow *flow) {
	static const struct sockaddr nothing = {.sa_family = AF_UNSPEC};
	struct cell *cell = flow->cell;
	const int fd = flow->server.fd;
	if (!flow->inward || fd < 0 || cell->n_spare == GB_COUNT(cell->spare))
		return;
	gb_loop_remove(&gb_process.loop, &flow->server.source);
	if (connect(fd, &nothing, sizeof nothing) == 0)
		cell->spare[cell->n_spare++] = gb_take_fd(&flow->server.fd);
}

static void release(struct flow *flow) {
	reuse(flow);
	exchange_destroy(flow);
	if (flow->resolution)
		flow->resolution->owner = NULL;
	side_finish(&flow->code);
	side_finish(&flow->server);
	gb_buf_finish(&flow->held);
	gb_list_remove(&flow->link);
	flow->cell->n_flows--;
	gb_process.n_flows--;
	free(flow);
}

static void set_linger(int fd, bool resets) {
	const struct linger linger = {resets, 0};
	(void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
}

void flow_break(struct flow *flow, enum gb_egress_verdict verdict, const char *reason) {
	flow_record(flow, verdict, reason);
	set_linger(flow->code.fd, true);
	if (flow->server.fd >= 0)
		set_linger(flow->server.fd, true);
	release(flow);
}

void flow_finish(struct flow *flow) {
	flow_record(flow, GB_EGRESS_ALLOWED, "");
	set_linger(flow->code.fd, false);
	set_linger(flow->server.fd, false);
	release(flow);
}

/* The bytes of an answer to code, which nothing follows, in @out. Empty if its protocol has none. */
static void write_answer(struct flow *flow, bool denied, const char *reason, struct gb_buf *out) {
	static const uint8_t alert[] = {21, 3, 3, 0, 2, 2, 49 /* access denied */};
	const bool is_http = flow->exchange ? exchange_can_answer(flow) : flow->check == CHECK_HTTP;
	const bool secured = flow->code.tls && tls_is_open(flow->code.tls);
	char body[512];
	if (flow->check == CHECK_TLS && !secured) {
		if (flow->state != FLOW_OPEN && denied)
			gb_buf_append(out, alert, sizeof alert);
		return;
	}
	if (!is_http)
		return;
	const int n =
	    snprintf(body, sizeof body, "Glovebox: %s:%u: %s\n", flow->host.name, flow->port, reason);
	gb_buf_printf(out,
	    "HTTP/1.1 %s\r\nContent-Type: text/plain\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s",
	    denied ? "403 Forbidden" : "502 Bad Gateway", n, body);
}

/* Answer the code, if that is possible, and close. */
static void answer_and_close(struct flow *flow, bool denied, const char *reason) {
	gb_auto_buf struct gb_buf text;
	gb_buf_init(&text, 2048);
	write_answer(flow, denied, reason, &text);
	if (text.len) {
		if (flow->code.tls && tls_is_open(flow->code.tls)) {
			(void)side_put(&flow->code, text.data, text.len);
			tls_close(flow->code.tls);
			tls_take(flow->code.tls, &flow->code.out);
			(void)side_flush(&flow->code);
		} else {
			(void)send(flow->code.fd, text.data, text.len, MSG_NOSIGNAL | MSG_DONTWAIT);
		}
		shutdown(flow->code.fd, SHUT_WR);
		/* Unread bytes would make the kernel send a reset, which can overtake the answer. */
		while (recv(flow->code.fd, gb_process.piece, PIECE, MSG_DONTWAIT) > 0)
			;
		set_linger(flow->code.fd, false);
	}
	release(flow);
}

void flow_refuse(struct flow *flow, const char *reason) {
	flow_record(flow, GB_EGRESS_DENIED, reason);
	answer_and_close(flow, true, reason);
}

void flow_fail(struct flow *flow, const char *reason) {
	flow_record(flow, GB_EGRESS_UNREACHED, reason);
	answer_and_close(flow, false, reason);
}

void flow_close_all(struct cell *cell, bool all) {
	gb_list_each(struct flow, flow, &cell->flows, link) {
		/* Those into the cell are not of the run. */
		if (flow->inward && !all)
			continue;
		/* What the code has sent before it closed the connection still arrives. */
		if (flow->state != FLOW_OPEN || (flow->exchange ? exchange_last(flow) : copy_last(flow)))
			flow_break(flow, GB_EGRESS_ALLOWED, "open at the end of the run");
	}
}

void flow_close_refused(struct cell *cell) {
	gb_list_each(struct flow, flow, &cell->flows, link) {
		if (!flow->inward && !gb_host_rules_find(cell->rules, cell->n_rules, &flow->host, flow->port))
			flow_break(flow, GB_EGRESS_DENIED, "the allowlist no longer has a rule for it");
	}
}

void flow_tick(struct cell *cell, uint64_t now) {
	gb_list_each(struct flow, flow, &cell->flows, link) {
		const uint64_t idle = now - flow->active_ms;
		if (flow->inward && flow->state == FLOW_OPEN)
			continue;
		if (flow->state == FLOW_OPEN ? idle > cell->limits.idle_ms
		    : flow->state == FLOW_CHECKING
			? idle > (cell->limits.idle_ms < CHECK_MS ? cell->limits.idle_ms : CHECK_MS)
			: false)
			flow_break(flow, GB_EGRESS_UNREACHED,
			    "the connection was idle for too long (network.idleTimeout)");
		else if (flow->state != FLOW_OPEN && flow->state != FLOW_CHECKING &&
			 idle > cell->limits.connect_ms)
			flow_fail(flow, "the connection took too long (network.connectTimeout)");
	}
}

/* --- connecting --- */

/* Loopback is that of this machine: a proxy would connect to its own. */
static bool is_proxied(const struct flow *flow) {
	return gb_process.proxy_port && !gb_host_is_loopback(&flow->host);
}

static void try_next(struct flow *flow, const char *reason) {
	while (flow->next_address < flow->n_addresses) {
		struct sockaddr_storage *to = &flow->addresses[flow->next_address++];
		const int one = 1;
		int fd = socket(to->ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		if (fd < 0) {
			reason = strerror(errno);
			continue;
		}
		(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
		if (connect(fd, (const struct sockaddr *)to, address_length(to)) != 0 &&
		    errno != EINPROGRESS) {
			reason = strerror(errno);
			close(fd);
			continue;
		}
		side_finish(&flow->server);
		side_init(flow, &flow->server, fd);
		flow->state = FLOW_CONNECTING;
		flow_listen(flow);
		return;
	}
	flow_fail(flow, reason);
}

/* Everything is checked and connected: the bytes that were held follow. */
static void open_flow(struct flow *flow) {
	flow->state = FLOW_OPEN;
	flow->active_ms = now_ms();
	if (!flow->exchange) {
		if (!flow_search(flow, flow->held.data, flow->held.len))
			return;
		gb_buf_append(&flow->server.out, flow->held.data, flow->held.len);
		gb_buf_finish(&flow->held);
	}
	copy_on_ready(&flow->server.source, 0);
}

/* Go on with the handshake towards the server. */
static void secure(struct flow *flow) {
	char reason[128];
	const enum tls_result result = tls_handshake(flow->server.tls);
	tls_take(flow->server.tls, &flow->server.out);
	if (!side_flush(&flow->server)) {
		flow_fail(flow, "the connection broke while the server proved who it is");
	} else if (result == TLS_OK) {
		open_flow(flow);
	} else if (result == TLS_MORE) {
		flow_listen(flow);
	} else {
		snprintf(reason, sizeof reason, "the server does not prove who it is: %.80s",
		    tls_problem(flow->server.tls));
		flow_fail(flow, reason);
	}
}

void flow_on_securing(struct flow *flow) {
	const ssize_t n = recv(flow->server.fd, gb_process.piece, PIECE, MSG_DONTWAIT);
	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
		flow_fail(flow, "the server has closed the connection within the TLS handshake");
		return;
	}
	if (n > 0) {
		if (!flow_charge(flow, &flow->server, (size_t)n))
			return;
		tls_put(flow->server.tls, gb_process.piece, (size_t)n);
	}
	secure(flow);
}

/* Connected, through a proxy or directly. */
static void on_connection(struct flow *flow) {
	const char *problem;
	if (!flow->intercepts) {
		open_flow(flow);
		return;
	}
	flow->server.tls = tls_connect(&flow->host, &problem);
	flow->state = FLOW_SECURING;
	if (flow->server.tls)
		secure(flow);
	else
		flow_fail(flow, problem);
}

static void ask_proxy(struct flow *flow) {
	struct gb_buf *out = &flow->server.out;
	const bool six = flow->host.kind == GB_HOST_IPV6;
	gb_buf_printf(out, "CONNECT %s%s%s:%u HTTP/1.1\r\nHost: %s%s%s:%u\r\n\r\n", six ? "[" : "",
	    flow->host.name, six ? "]" : "", flow->port, six ? "[" : "", flow->host.name, six ? "]" : "",
	    flow->port);
	flow->state = FLOW_PROXY;
	flow_listen(flow);
}

/* Read the head of the proxy's answer. What follows it belongs to the code. */
void flow_on_proxy(struct flow *flow) {
	struct gb_buf *answer = &flow->code.out;
	char piece[1024];
	const ssize_t n = recv(flow->server.fd, piece, sizeof piece, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
		flow_listen(flow);
		return;
	}
	if (n > 0)
		gb_buf_append(answer, piece, (size_t)n);
	const char *end = answer->len ? memmem(answer->data, answer->len, "\r\n\r\n", 4) : NULL;
	if (!end && n > 0 && answer->len < PROXY_HEAD_MAX) {
		flow_listen(flow);
		return;
	}
	if (!end || answer->len < 12 || memcmp(answer->data, "HTTP/1.", 7) != 0 ||
	    memcmp(answer->data + 8, " 2", 2) != 0) {
		gb_buf_clear(answer);
		flow_fail(flow, "the proxy (network.proxy) has refused the connection");
		return;
	}
	gb_buf_consume(answer, (size_t)(end + 4 - answer->data));
	if (flow->exchange) {
		gb_buf_clear(answer);
		on_connection(flow);
	} else {
		open_flow(flow);
	}
}

void flow_on_connected(struct flow *flow) {
	const struct sockaddr_storage *to = &flow->addresses[flow->next_address - 1];
	int error = 0;
	socklen_t n = sizeof error;
	if (getsockopt(flow->server.fd, SOL_SOCKET, SO_ERROR, &error, &n) != 0 || error) {
		try_next(flow, strerror(error ? error : EIO));
		return;
	}
	/* After the connection exists: a process claims its port before it listens. */
	const uint16_t port = is_proxied(flow) ? gb_process.proxy_port : flow->port;
	if (address_is_here(to) && gb_claim_is_held(gb_process.sockets_file, gb_process.uid, port)) {
		flow_refuse(flow, "a Glovebox process of this user listens there, which no rule can allow");
		return;
	}
	if (is_proxied(flow))
		ask_proxy(flow);
	else
		on_connection(flow);
}

/* --- names --- */

static void on_resolved(struct resolution *resolution) {
	struct flow *flow = resolution->owner;
	const char *special = gb_process.proxy_port ? NULL : resolution_special(resolution);
	char reason[100];
	flow->resolution = NULL;
	if (resolution->problem) {
		flow_fail(flow, resolution->problem);
		return;
	}
	if (special) {
		snprintf(reason, sizeof reason,
		    "its name leads to a special address (%s), which needs a literal rule", special);
		flow_refuse(flow, reason);
		return;
	}
	flow->n_addresses = resolution->n;
	memcpy(flow->addresses, resolution->addresses, sizeof flow->addresses);
	for (unsigned i = 0; i < flow->n_addresses; i++)
		address_set_port(
		    &flow->addresses[i], gb_process.proxy_port ? gb_process.proxy_port : flow->port);
	try_next(flow, "the name has no address");
}

void flow_connect(struct flow *flow) {
	const bool proxied = is_proxied(flow);
	const struct gb_host *host = proxied ? &gb_process.proxy : &flow->host;
	flow->state = FLOW_RESOLVING;
	flow->active_ms = now_ms();
	flow_listen(flow);
	if (host->kind != GB_HOST_NAME) {
		address_set(&flow->addresses[0], host, proxied ? gb_process.proxy_port : flow->port);
		flow->n_addresses = 1;
		try_next(flow, "the address is not reachable");
		return;
	}
	struct resolution *resolution = calloc(1, sizeof *resolution);
	if (!resolution) {
		flow_fail(flow, "there is no memory");
		return;
	}
	resolution->done = on_resolved;
	resolution->owner = flow;
	flow->resolution = resolution;
	resolve(resolution, host->name);
}

/* --- new connections --- */

static struct flow *make_flow(struct cell *cell, int code) {
	struct flow *flow = calloc(1, sizeof *flow);
	if (!flow)
		return NULL;
	const int one = 1;
	(void)setsockopt(code, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	/* Until an orderly end: if this process is killed, code must not take what it has received for all. */
	set_linger(code, true);
	flow->cell = cell;
	flow->started_ms = flow->active_ms = now_ms();
	flow->wall_ms = wall_clock_ms();
	side_init(flow, &flow->code, code);
	side_init(flow, &flow->server, -1);
	gb_buf_init(&flow->held, OUT_MAX);
	gb_list_init(&flow->link);
	gb_list_append(&cell->flows, &flow->link);
	cell->n_flows++;
	gb_process.n_flows++;
	return flow;
}

static const char *over_limit(struct cell *cell) {
	if (cell->n_flows >= FLOWS_MAX)
		return "the code has too many connections at the same time";
	if (cell->n_connections >= cell->limits.max_connections)
		return "the run has made all connections that it may (network.maxConnections)";
	return NULL;
}

static bool gets_secrets(const struct flow *flow) {
	const struct secrets *secrets = &flow->cell->secrets;
	const struct gb_rewrite how = {.host = &flow->host,
	    .port = flow->port,
	    .tls = true,
	    .secrets = secrets->bound,
	    .n_secrets = secrets->n};
	return gb_rewrite_is_searched(&how);
}

/* The ports of the web have protocols that name the host. An address is what its rule says, whatever the name. Where
 * requests decide, or get secrets, they are read. If code has placeholders of secrets, all its requests to names on
 * these ports are read, so that no placeholder leaves for another host. */
static void choose_check(struct flow *flow) {
	const struct cell *cell = flow->cell;
	const bool named = flow->host.kind == GB_HOST_NAME;
	const bool web = flow->port == 443 || flow->port == 80;
	const bool read = gets_secrets(flow) || (cell->secrets.n && named && web) ||
			  gb_host_rules_limit_requests(cell->rules, cell->n_rules, &flow->host, flow->port);
	gb_http_init(&flow->http, &flow->host, flow->port);
	flow->http.tls = false;
	if (!named && !read)
		flow->check = CHECK_NONE;
	else if (flow->port == 443)
		flow->check = CHECK_TLS;
	else if (flow->port == 80)
		flow->check = CHECK_HTTP;
	else
		flow->check = read ? CHECK_FIRST : CHECK_NONE;
	flow->intercepts = read && flow->check == CHECK_TLS;
}

void flow_create(struct listener *listener, int fd) {
	struct cell *cell = listener->cell;
	const struct gb_host *host = &listener->name->host;
	const struct gb_host_rule *rule =
	    gb_host_rules_find(cell->rules, cell->n_rules, host, listener->port);
	const char *refused = !rule ? "no rule allows this host and port" : over_limit(cell);
	struct flow *flow = refused ? NULL : make_flow(cell, fd);
	if (!flow) {
		control_deny(cell, host->name, listener->port, refused ? refused : "there is no memory");
		gb_reset(fd);
		return;
	}
	cell->n_connections++;
	flow->host = *host;
	flow->port = listener->port;
	gb_host_rule_write(rule, flow->rule, sizeof flow->rule);
	choose_check(flow);
	if (flow->check == CHECK_NONE)
		flow_connect(flow);
	else
		flow_listen(flow);
}

void flow_join(struct cell *cell, int from, int to) {
	struct flow *flow = make_flow(cell, from);
	if (!flow) {
		close(from);
		close(to);
		return;
	}
	flow->inward = true;
	side_init(flow, &flow->server, to);
	flow->state = FLOW_OPEN;
	flow_listen(flow);
}
