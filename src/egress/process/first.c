/* The first bytes of a connection: which server they name, and the first request where requests are read. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "egress/process/flow.h"

static void check_request(struct flow *flow) {
	char refusal[GB_REFUSAL_MAX];
	if (!flow->exchange && !exchange_create(flow))
		flow_break(flow, GB_EGRESS_UNREACHED, "there is no memory");
	else if (exchange_peek(flow, refusal))
		flow_connect(flow);
	else if (refusal[0])
		flow_refuse(flow, refusal);
}

/* Go on with the handshake towards the code, then read its request. */
static void intercept(struct flow *flow) {
	char reason[128];
	struct tls *tls = flow->code.tls;
	const enum tls_result result = tls_is_open(tls) ? TLS_OK : tls_handshake(tls);
	tls_take(tls, &flow->code.out);
	if (!side_flush(&flow->code)) {
		flow_break(flow, GB_EGRESS_UNREACHED, "the code has closed the connection");
	} else if (result == TLS_BAD || result == TLS_END) {
		snprintf(reason, sizeof reason,
		    "its requests are checked, and the client does not accept the certificate for that: "
		    "%.40s",
		    tls_problem(tls));
		flow_break(flow, GB_EGRESS_DENIED, reason);
	} else if (result == TLS_MORE) {
		flow_listen(flow);
	} else if (side_decrypt(&flow->code, &flow->held) != SIDE_OK || flow->code.ended) {
		snprintf(reason, sizeof reason,
		    "the client has closed the connection before a request: %.60s", tls_problem(tls));
		flow_break(flow, GB_EGRESS_UNREACHED, reason);
	} else {
		flow_listen(flow);
		if (flow->held.len)
			check_request(flow);
	}
}

static void begin_interception(struct flow *flow) {
	flow->code.tls = tls_accept(&flow->host);
	flow->http.tls = true;
	if (!flow->code.tls) {
		flow_break(flow, GB_EGRESS_UNREACHED, "there is no memory");
		return;
	}
	tls_put(flow->code.tls, flow->held.data, flow->held.len);
	gb_buf_clear(&flow->held);
	intercept(flow);
}

static void check_hello(struct flow *flow) {
	struct gb_hello hello;
	struct gb_host named;
	const char *problem;
	char reason[128];
	switch (gb_hello_read((const uint8_t *)flow->held.data, flow->held.len, &hello)) {
	case GB_HELLO_MORE:
		return;
	case GB_HELLO_BAD:
		flow_refuse(flow, hello.problem);
		return;
	case GB_HELLO_COMPLETE:
		break;
	}
	/* An address has no name that could be sent. */
	const bool is_unnamed = !hello.name[0] && flow->host.kind != GB_HOST_NAME;
	if (hello.encrypted)
		flow_refuse(
		    flow, "it hides the name of the server (ECH), so that the name cannot be checked");
	else if (!is_unnamed && !hello.name[0])
		flow_refuse(flow, "it does not name a server (SNI)");
	else if (!is_unnamed && !gb_host_parse(gb_str_from(hello.name), &named, &problem))
		flow_refuse(flow, "it names a server that is no host name");
	else if (!is_unnamed && (named.kind != flow->host.kind || strcmp(named.name, flow->host.name) != 0)) {
		snprintf(reason, sizeof reason, "it names another server: %.80s", named.name);
		flow_refuse(flow, reason);
	} else if (flow->intercepts)
		begin_interception(flow);
	else
		flow_connect(flow);
}

/* What code has sent so far. */
static void check_first(struct flow *flow) {
	if (flow->check == CHECK_FIRST) {
		flow->check = flow->held.data[0] == 22 /* handshake */ ? CHECK_TLS : CHECK_HTTP;
		flow->intercepts = flow->check == CHECK_TLS;
	}
	if (flow->check == CHECK_TLS)
		check_hello(flow);
	else
		check_request(flow);
}

void flow_on_first(struct flow *flow) {
	const ssize_t n = recv(flow->code.fd, gb_process.piece, PIECE / 2, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
		(void)side_flush(&flow->code);
		flow_listen(flow);
		return;
	}
	if (n <= 0) {
		flow_break(flow, GB_EGRESS_UNREACHED,
		    flow->code.tls && !tls_is_open(flow->code.tls)
			? "the code has closed the connection within the TLS handshake"
			: "the code has closed the connection before it sent anything");
		return;
	}
	flow->active_ms = now_ms();
	flow->sent += (size_t)n;
	flow->cell->sent += (size_t)n;
	if (flow->code.tls) {
		tls_put(flow->code.tls, gb_process.piece, (size_t)n);
		intercept(flow);
		return;
	}
	gb_buf_append(&flow->held, gb_process.piece, (size_t)n);
	check_first(flow);
}
