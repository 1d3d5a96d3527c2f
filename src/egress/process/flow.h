/* A connection of code: shared by flow.c, which checks and opens it, and copy.c, which copies its bytes. */
#ifndef GB_EGRESS_PROCESS_FLOW_H
#define GB_EGRESS_PROCESS_FLOW_H

#include "egress/hello.h"
#include "egress/process/process.h"

/* One end of a connection. */
struct side {
	struct gb_source source;
	struct flow *flow;
	int fd;
	uint32_t events;   /* that the loop waits for */
	struct gb_buf out; /* to be written to it */
	bool ended;        /* nothing more comes from it */
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
		FLOW_PROXY, /* waits for the proxy's answer */
		FLOW_OPEN,
	} state;
	enum { CHECK_NONE, CHECK_TLS, CHECK_HTTP } check;
	bool inward; /* from the host into the cell: not of the run */
	struct gb_http http;
	struct gb_buf held; /* of the code, not checked yet */
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
/* Check what code has sent, and pass on what is good. False if the flow was closed. */
bool copy_checked(struct flow *flow);

/* --- flow.c --- */

/* Close without a sign of a regular end: code sees a reset. */
void flow_break(struct flow *flow, enum gb_egress_verdict verdict, const char *reason);
/* Both ends are through. */
void flow_finish(struct flow *flow);
/* Refuse what code has asked for: with an answer in its protocol, if it has one. */
void flow_refuse(struct flow *flow, const char *reason);
/* The first bytes are good: connect. */
void flow_dial(struct flow *flow);
/* The server's socket has become ready while it connects. */
void flow_on_connected(struct flow *flow);
/* The proxy has sent something. */
void flow_on_proxy(struct flow *flow);

#endif
