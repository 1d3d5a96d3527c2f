/*
 * The messages between the host and glovebox-egress: over a SOCK_SEQPACKET pair, each a struct and what follows it.
 * Both ends are of one build.
 */
#ifndef GB_EGRESS_PROTOCOL_H
#define GB_EGRESS_PROTOCOL_H

#include <stdbool.h>
#include <stdint.h>

#include "egress/record.h"
#include "egress/rules.h"

enum {
	GB_EGRESS_FD = 3, /* the control socket of glovebox-egress */
	/* Sockets that a cell passes out, in one message: one for UDP, the others for TCP. The kernel allows 253. */
	GB_EGRESS_SOCKETS = 96,
	GB_EGRESS_SOCKETS6 = 4, /* more of them, for IPv6 */
	GB_EGRESS_MESSAGE_MAX = 128 << 10,
	GB_EGRESS_SECRETS_MAX = 32, /* of a run */
	/* Bytes of the certificates, as PEM, that a cell gets when its sockets were taken: that of the authority of
	 * intercepted connections, and those that the owner has added. */
	GB_EGRESS_AUTHORITY_MAX = 64 << 10,
};

/* Code sees an allowed name at an address of this network, which is local to its own network namespace. */
#define GB_EGRESS_NETWORK      0xc6120000u /* 198.18.0.0 */
#define GB_EGRESS_NETMASK      0xfffe0000u
#define GB_EGRESS_FIRST        (GB_EGRESS_NETWORK + 1) /* that of the device */
#define GB_EGRESS_NAME_ADDRESS (GB_EGRESS_NETWORK + 2) /* of the first name */

enum gb_egress_order_kind {
	GB_EGRESS_SETUP = 1, /* the first message; followed by the proxy, "host:port" or nothing */
	GB_EGRESS_CELL,    /* a cell exists; with a socket on which it will pass its own sockets, or fetch */
	GB_EGRESS_SECRET,  /* one for the next policy of the cell; followed by the order of secret.h */
	GB_EGRESS_RUN,     /* the cell gets this policy; followed by rules, each ending with NUL */
	GB_EGRESS_END,     /* its policy ends: close its connections, and answer GB_EGRESS_DONE */
	GB_EGRESS_RELEASE, /* the cell is gone */
	GB_EGRESS_CONNECT, /* connect the socket that comes with it to .port inside the cell */
	GB_EGRESS_PING,
};

/* Limits of a run. */
struct gb_egress_limits {
	uint64_t sent_bytes, received_bytes;
	uint32_t max_connections;
	uint32_t connect_ms, idle_ms;
	bool record_bodies;
};

struct gb_egress_order {
	uint32_t kind;
	uint32_t cell;
	struct gb_egress_limits limits; /* RUN */
	uint16_t port;                  /* CONNECT */
	uint16_t fetches;               /* CELL: it has no sockets; the socket is its fetch channel */
};

enum gb_egress_notice_kind {
	GB_EGRESS_READY = 1, /* its wall is up, and it was observed */
	GB_EGRESS_FAILED,    /* it could not be raised: see text */
	GB_EGRESS_BEGUN,     /* RUN is in effect; or it must not begin: see text */
	GB_EGRESS_RECORD,    /* followed by struct gb_egress_record */
	GB_EGRESS_BODIES,    /* followed by struct gb_egress_bodies, of the record that comes next */
	GB_EGRESS_DONE, /* no more records of this run; dropped is how many there were that were not sent */
	GB_EGRESS_PONG,
};

struct gb_egress_notice {
	uint32_t kind;
	uint32_t cell;
	uint64_t dropped;
	char text[128];
};

#endif
