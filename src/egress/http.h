/*
 * The requests of an HTTP/1.1 client on one connection: finds the beginning and the end of each, and checks that each
 * names the host of the connection. What two readers could read differently is refused.
 *
 *	struct gb_http http;
 *	gb_http_init(&http, "api.example.com", 80);
 *	status = gb_http_scan(&http, bytes, n, &forward);	// bytes that were not forwarded yet
 *	... forward the first @forward bytes, keep the rest for the next call ...
 */
#ifndef GB_EGRESS_HTTP_H
#define GB_EGRESS_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "egress/rules.h"

enum { GB_HTTP_HEAD_MAX = 32 << 10, GB_HTTP_METHOD_MAX = 16 };

struct gb_http {
	struct gb_host host; /* of the connection */
	uint16_t port;
	bool any_host; /* do not compare hosts */
	enum {
		GB_HTTP_IN_HEAD,
		GB_HTTP_IN_BODY,
		GB_HTTP_IN_SIZE,
		GB_HTTP_IN_CHUNK,
		GB_HTTP_IN_TRAILER
	} state;
	uint64_t left;                   /* of the body or chunk, with the line end behind a chunk */
	char method[GB_HTTP_METHOD_MAX]; /* of the last request */
	uint64_t n_requests;
	/* GB_HTTP_BAD */
	const char *problem;
	char other[GB_HOST_NAME_MAX + 3]; /* the host that the request names instead; or empty */
};

enum gb_http_status {
	GB_HTTP_OK,  /* everything that may be forwarded now is in *ret_forward; the rest needs more bytes */
	GB_HTTP_BAD, /* the bytes behind *ret_forward must not be forwarded */
};

/* @host is normalised. */
void gb_http_init(struct gb_http *http, const struct gb_host *host, uint16_t port);
enum gb_http_status gb_http_scan(struct gb_http *http, const char *bytes, size_t n, size_t *ret_forward);

#endif
