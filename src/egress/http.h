/*
 * The messages of HTTP/1.1 on one direction of a connection: finds the beginning and the end of each. Of requests, it
 * checks that each names the host of the connection. What two readers could read differently is refused.
 *
 *	struct gb_http http;
 *	gb_http_init(&http, &host, 443);	// or gb_http_init_answers(&http)
 *	switch (gb_http_step(&http, bytes, n, &used)) {
 *	case GB_HTTP_HEAD: ...			// @used bytes are the head of a message; http.method, .target, .status
 *	case GB_HTTP_BODY: ...			// @used bytes are of its body
 *	case GB_HTTP_FRAME: ...			// @used bytes are around chunks
 *	case GB_HTTP_MORE: ...			// more bytes are needed; or http.problem is set
 *	}
 *	if (gb_http_is_between(&http)) ...	// the message is complete
 */
#ifndef GB_EGRESS_HTTP_H
#define GB_EGRESS_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "egress/rules.h"

enum { GB_HTTP_HEAD_MAX = 32 << 10, GB_HTTP_METHOD_MAX = 16 };

struct gb_http {
	struct gb_host host; /* of the connection */
	uint16_t port;
	bool tls;      /* the default port is 443 */
	bool any_host; /* do not compare hosts */
	bool answers;  /* of a server */
	enum {
		GB_HTTP_IN_HEAD,
		GB_HTTP_IN_BODY,
		GB_HTTP_IN_SIZE,
		GB_HTTP_IN_CHUNK,
		GB_HTTP_IN_TRAILER,
		GB_HTTP_IN_REST, /* the body of an answer without a length: all bytes until the end */
	} state;
	uint64_t left;                   /* of the body or chunk, with the line end behind a chunk */
	char method[GB_HTTP_METHOD_MAX]; /* of the last request */
	uint64_t n_requests;
	/* Of the last head. The target borrows the bytes that were given: it is valid until the next call. */
	struct gb_str target;
	unsigned status;
	bool closes;     /* no message follows it */
	bool expects;    /* the client waits for status 100 before it sends the body */
	bool is_encoded; /* an answer with a Content-Encoding */
	bool for_head;   /* set by the caller: the answer is to HEAD, and has no body */
	bool chunked;
	const char *problem;              /* the bytes are bad */
	char other[GB_HOST_NAME_MAX + 3]; /* the host that the request names instead; or empty */
};

enum gb_http_piece { GB_HTTP_MORE, GB_HTTP_HEAD, GB_HTTP_BODY, GB_HTTP_FRAME };

/* Requests of a client to @host, which is normalised. */
void gb_http_init(struct gb_http *http, const struct gb_host *host, uint16_t port);
/* Answers of a server. Before each, the caller sets .for_head. */
void gb_http_init_answers(struct gb_http *http);
/* Read one piece of the stream. */
enum gb_http_piece gb_http_step(struct gb_http *http, const char *bytes, size_t n, size_t *ret_used);
/* Whether the last message is complete, and no other has begun. */
static inline bool gb_http_is_between(const struct gb_http *http) {
	return http->state == GB_HTTP_IN_HEAD;
}

/* Cut the next field off the fields of a head or of trailers, which was accepted. False at the end. */
bool gb_http_next_field(struct gb_str *fields, struct gb_str *ret_name, struct gb_str *ret_value);
/* Whether the field has this name, in any case. */
bool gb_http_is_field(struct gb_str name, const char *wanted);
/* RFC 9110, 5.6.2. */
static inline bool gb_http_is_token(struct gb_str text) {
	static const char marks[] = "!#$%&'*+-.^_`|~";
	for (size_t i = 0; i < text.n; i++) {
		const char c = text.p[i];
		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
			(c && strchr(marks, c))))
			return false;
	}
	return text.n > 0;
}

#endif
