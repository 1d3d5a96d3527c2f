/*
 * The messages of a fetch channel: a SOCK_SEQPACKET pair between a JavaScript cell of the network tier and
 * glovebox-egress. Each message is a head and what follows it. The cell opens requests, with ids of its choice that it
 * uses once; glovebox-egress checks and makes them. Both directions of a body have credit: bytes that the receiver is
 * ready to keep.
 *
 *	struct gb_fetch_open open;
 *	if (!gb_fetch_read_open(payload, n, &open, &problem)) ...	// @problem says what is wrong with it
 *
 * What a cell sends is untrusted: it is read by bounded functions without effects.
 */
#ifndef GB_EGRESS_FETCH_H
#define GB_EGRESS_FETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

enum {
	GB_FETCH_MESSAGE_MAX = 128 << 10,
	GB_FETCH_DATA_MAX = 64 << 10,   /* bytes of a body in a message */
	GB_FETCH_WINDOW = 256 << 10,    /* the credit at the beginning of a body */
	GB_FETCH_REQUESTS_MAX = 64,     /* of a cell at the same time */
	GB_FETCH_HEADERS_MAX = 256,     /* of a request or response */
	GB_FETCH_HEAD_MAX = 64 << 10,   /* bytes of a response's headers */
	GB_FETCH_TARGET_MAX = 32 << 10, /* bytes of a path with its query */
	GB_FETCH_METHOD_MAX = 64,
};

enum gb_fetch_kind {
	/* cell to glovebox-egress */
	GB_FETCH_OPEN = 1, /* struct gb_fetch_open, as CBOR */
	GB_FETCH_CANCEL,   /* the cell wants nothing more of it; there is no answer */
	/* glovebox-egress to cell */
	GB_FETCH_HEAD, /* CBOR: array of status, reason, and array of names and values */
	GB_FETCH_FAIL, /* there will be nothing more: a text that says why */
	/* both ways */
	GB_FETCH_DATA,   /* bytes of the body */
	GB_FETCH_END,    /* of the body */
	GB_FETCH_CREDIT, /* uint32_t: so many more bytes of the body may be sent */
};

struct gb_fetch_message {
	uint32_t kind;
	uint32_t id;
};

enum gb_fetch_body { GB_FETCH_NO_BODY, GB_FETCH_SIZED, GB_FETCH_STREAM };

struct gb_fetch_header {
	struct gb_str name, value;
};

/* A request. Texts are borrowed from the message. */
struct gb_fetch_open {
	struct gb_str method, host, target;
	bool tls;
	uint16_t port;
	enum gb_fetch_body body;
	uint64_t length; /* GB_FETCH_SIZED */
	size_t n_headers;
	struct gb_fetch_header headers[GB_FETCH_HEADERS_MAX];
};

/* Append what follows the head of GB_FETCH_OPEN. */
void gb_fetch_write_open(struct gb_buf *out, const struct gb_fetch_open *open);
/* Read and check it. False if it is not a request that may be made, whatever the allowlist says: *ret_problem says
 * why. */
bool gb_fetch_read_open(const void *bytes, size_t n, struct gb_fetch_open *ret, const char **ret_problem);

/* Whether a request may not set this header: it is part of the connection, and set here. */
bool gb_fetch_is_refused_header(struct gb_str name);

#endif
