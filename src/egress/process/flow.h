/* A connection of code: shared by flow.c, which checks and opens it, and copy.c, which copies its bytes. */
#ifndef GB_EGRESS_PROCESS_FLOW_H
#define GB_EGRESS_PROCESS_FLOW_H

#include "egress/hello.h"
#include "egress/process/process.h"
#include "egress/process/tls.h"
#include "egress/rewrite.h"

/* One end of a connection. */
struct side {
	struct gb_source source;
	struct flow *flow;
	int fd;
	uint32_t events;   /* that the loop waits for */
	struct gb_buf out; /* to be written to it */
	struct tls *tls;   /* of an intercepted connection; then .out is encrypted */
	bool ended;        /* nothing more comes from it */
	bool truncated;    /* it has ended without saying so */
	bool shut;         /* nothing more goes to it */
};

struct flow {
	struct gb_list link;
	struct cell *cell;
	struct gb_host host;
	uint16_t port;
	char rule[GB_HOST_RULE_MAX + 1];
	struct side code, server;
	enum flow_state {
		FLOW_CHECKING, /* reads the first bytes of the code */
		FLOW_RESOLVING,
		FLOW_CONNECTING,
		FLOW_PROXY,    /* waits for the proxy's answer */
		FLOW_SECURING, /* the server proves who it is */
		FLOW_OPEN,
	} state;
	/* CHECK_FIRST: the first byte tells whether it is TLS or HTTP. */
	enum { CHECK_NONE, CHECK_TLS, CHECK_HTTP, CHECK_FIRST } check;
	bool intercepts; /* TLS: requests are read */
	bool inward;     /* from the host into the cell: not of the run */
	struct gb_http http;
	struct gb_buf held;              /* of the code, not checked yet */
	struct exchange *exchange;       /* if requests are read */
	struct gb_placeholder_tail tail; /* otherwise: of what the code has sent */
	struct resolution *resolution;
	struct sockaddr_storage addresses[ADDRESSES_MAX];
	unsigned n_addresses, next_address;
	uint64_t started_ms, wall_ms, active_ms;
	uint64_t sent, received;
};

/* --- copy.c --- */

void side_init(struct flow *flow, struct side *side, int fd);
void side_finish(struct side *side);
/* Wait for what the state of the flow needs. */
void flow_listen(struct flow *flow);
/* Copy what there is. The flow may not exist afterwards. */
void copy_on_ready(struct gb_source *source, uint32_t events);
/* The cell or its run ends: pass on what the code has sent. True if the connection is still open then; otherwise the
 * flow has ended. */
bool copy_last(struct flow *flow);
/* Write what is kept for @side. False if it has failed. */
bool side_flush(struct side *side);
/* Write now, and keep what does not fit; encrypted, if the side has TLS. */
bool side_put(struct side *side, const char *bytes, size_t n);
enum side_result { SIDE_OK, SIDE_WAIT, SIDE_BROKEN, SIDE_CUT };
/* Receive into @to. SIDE_OK may have received the end. SIDE_CUT: the flow was closed by a limit. */
enum side_result side_receive(struct side *side, struct gb_buf *to);
/* Decrypt what was given to its TLS, and send what that makes it say. */
enum side_result side_decrypt(struct side *side, struct gb_buf *to);
/* Look for placeholders of secrets in what the code sends on a connection whose requests are not read. False if the
 * flow was closed. */
bool flow_search(struct flow *flow, const char *bytes, size_t n);
/* Charge bytes to the limits of the run. False if the flow was closed. */
bool flow_charge(struct flow *flow, const struct side *from, size_t n);

/* --- first.c --- */

/* Code has sent first bytes: check them, and connect. */
void flow_on_first(struct flow *flow);

/* --- exchange.c: requests and their answers, one after the other --- */

bool exchange_create(struct flow *flow);
void exchange_destroy(struct flow *flow);
/* Look at the first request. True if it is complete and allowed; otherwise @ret_refusal, if it is refused. */
bool exchange_peek(struct flow *flow, char ret_refusal[GB_REFUSAL_MAX]);
/* Pass on what there is. The flow may not exist afterwards. */
void exchange_go_on(struct flow *flow);
/* The cell or its run ends: the same for what the code has sent. False if the flow has ended. */
bool exchange_last(struct flow *flow);
/* Complete a record of the flow. False if there is nothing to record. */
bool exchange_describe(struct flow *flow, struct gb_egress_record *record);
/* What was kept of the bodies of the present request, or NULL. */
const struct gb_egress_bodies *exchange_bodies(const struct flow *flow);
/* Whether code can still get an answer in the place of the server's. */
bool exchange_can_answer(const struct flow *flow);

/* --- flow.c --- */

/* Close without a sign of a regular end: code sees a reset. */
void flow_break(struct flow *flow, enum gb_egress_verdict verdict, const char *reason);
/* Both ends are through. */
void flow_finish(struct flow *flow);
/* Refuse what code has asked for: with an answer in its protocol, if it has one. */
void flow_refuse(struct flow *flow, const char *reason);
/* There is no answer from an allowed host: the same. */
void flow_fail(struct flow *flow, const char *reason);
/* Record an attempt. */
void flow_record(struct flow *flow, enum gb_egress_verdict verdict, const char *reason);
/* Everything is checked: connect to the server. */
void flow_connect(struct flow *flow);
/* The server has sent something while it proves who it is. */
void flow_on_securing(struct flow *flow);
/* The server's socket has become ready while it connects. */
void flow_on_connected(struct flow *flow);
/* The proxy has sent something. */
void flow_on_proxy(struct flow *flow);

#endif
