#include "../tap.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "egress/http.h"

static struct gb_http begin(const char *name) {
	struct gb_host host;
	struct gb_http http;
	const char *problem;
	CHECK(gb_host_parse(gb_str_from(name), &host, &problem));
	gb_http_init(&http, &host, 80);
	return http;
}

/* Scan @text, of which @piece more bytes arrive each time. Returns what is forwarded. */
static size_t scan(struct gb_http *http, const char *text, size_t n, size_t piece) {
	size_t done = 0, used;
	for (size_t seen = piece; done < n && !http->problem; seen += piece) {
		seen = seen < n ? seen : n;
		while (done < seen && gb_http_step(http, text + done, seen - done, &used) != GB_HTTP_MORE)
			done += used;
		if (seen == n)
			break;
	}
	return done;
}

TEST(good_requests_are_forwarded_whole) {
	static const char *const cases[] = {
	    "GET / HTTP/1.1\r\nHost: a.example\r\n\r\n",
	    "GET / HTTP/1.1\r\nhost:A.Example.:80 \r\n\r\n",
	    "GET http://a.example/x HTTP/1.1\r\nHost: a.example\r\n\r\n",
	    "OPTIONS * HTTP/1.1\r\nHost: a.example\r\n\r\n",
	    "GET / HTTP/1.0\r\nHost: a.example\r\n\r\n",
	    "POST / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 5\r\n\r\nGET /"
	    "GET / HTTP/1.1\r\nHost: a.example\r\n\r\n",
	    "POST / HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: "
	    "chunked\r\n\r\n5\r\nhello\r\nA\r\n0123456789\r\n0\r\n"
	    "\r\nGET / HTTP/1.1\r\nHost: a.example\r\n\r\n",
	    "POST / HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: Chunked\r\n\r\n0\r\nX-Sum: 1\r\n\r\n"
	    "GET / HTTP/1.1\r\nHost: a.example\r\n\r\n",
	};
	for (size_t i = 0; i < GB_COUNT(cases); i++)
		for (size_t piece = 1; piece < 200; piece = piece * 2 + 1) {
			struct gb_http http = begin("a.example");
			if (!CHECK_INT(scan(&http, cases[i], strlen(cases[i]), piece), strlen(cases[i])) ||
			    !CHECK(!http.problem))
				printf("# %zu: %s\n", i, http.problem ? http.problem : "");
		}
}

TEST(headers_behind_the_last_chunk_are_not_those_of_a_request) {
	static const char head[] =
	    "POST / HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n";
	static const char *const trailers[] = {
	    "Host: b.example", "hOST : b", "Content-Length: 5", "transfer-encoding: chunked", " X: folded"};
	for (size_t i = 0; i < GB_COUNT(trailers); i++) {
		gb_auto_buf struct gb_buf text;
		gb_buf_init(&text, 1000);
		gb_buf_printf(&text, "%s%s\r\n\r\n", head, trailers[i]);
		for (size_t piece = 1; piece < 200; piece = piece * 2 + 1) {
			struct gb_http http = begin("a.example");
			CHECK_INT(scan(&http, text.data, text.len, piece), strlen(head));
			CHECK(http.problem);
		}
	}
}

TEST(bad_requests_are_not_forwarded) {
#define HEAD "GET / HTTP/1.1\r\nHost: a.example\r\n"
	static const char *const cases[] = {
	    "GET / HTTP/1.1\r\nHost: b.example\r\n\r\n",
	    "GET / HTTP/1.1\r\nHost: a.example.b\r\n\r\n",
	    "GET / HTTP/1.1\r\nHost: a.example:8080\r\n\r\n",
	    "GET / HTTP/1.1\r\nHost: a.example:\r\n\r\n",
	    "GET / HTTP/1.1\r\n\r\n",
	    "GET / HTTP/1.0\r\n\r\n",
	    HEAD "Host: a.example\r\n\r\n",
	    HEAD "Host: b.example\r\n\r\n",
	    "GET / HTTP/1.1\r\nHost : a.example\r\n\r\n",
	    "GET / HTTP/1.1\r\nX: 1\r\n Host: b\r\nHost: a.example\r\n\r\n",
	    "GET / HTTP/1.1\nHost: a.example\n\r\n\r\n",
	    "GET http://b.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n",
	    "GET https://a.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n",
	    "GET http://a.example@b.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n",
	    "CONNECT b.example:443 HTTP/1.1\r\nHost: a.example\r\n\r\n",
	    "GET / HTTP/2.0\r\nHost: a.example\r\n\r\n",
	    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
	    "GET /\r\nHost: a.example\r\n\r\n",
	    "GET  / HTTP/1.1\r\nHost: a.example\r\n\r\n",
	    "GET / HTTP/1.1\r\nHost: a.example\r\nX: a\rb\r\n\r\n",
	    HEAD "Upgrade: h2c\r\n\r\n",
	    HEAD "Content-Length: 1\r\nContent-Length: 1\r\n\r\nx",
	    HEAD "Content-Length: +1\r\n\r\nx",
	    HEAD "Content-Length: 1, 1\r\n\r\nx",
	    HEAD "Content-Length: 99999999999999999999\r\n\r\nx",
	    HEAD "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
	    HEAD "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
	    HEAD "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
	    HEAD "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
	    "\r\n" HEAD "\r\n",
	    "\26\3\1\2\0\1",
	    " GET / HTTP/1.1\r\nHost: a.example\r\n\r\n",
	};
	for (size_t i = 0; i < GB_COUNT(cases); i++)
		for (size_t piece = 1; piece < 200; piece = piece * 2 + 1) {
			struct gb_http http = begin("a.example");
			if (!CHECK_INT(scan(&http, cases[i], strlen(cases[i]), piece), 0) ||
			    !CHECK(http.problem))
				printf("# %zu in %zu\n", i, piece);
		}
}

TEST(later_requests_are_checked_as_the_first_one) {
	static const char first[] = HEAD "\r\n";
	static const char text[] = HEAD "\r\nGET / HTTP/1.1\r\nHost: b.example\r\n\r\n";
	struct gb_http http = begin("a.example");
	CHECK_INT(scan(&http, text, sizeof text - 1, 7), sizeof first - 1);
	CHECK_STR(http.other, "b.example");
	CHECK_INT(http.n_requests, 1);
}

TEST(chunks_that_hide_a_request_end_the_stream) {
#define CHUNKED "POST / HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n\r\n"
	static const char *const cases[] = {"5\r\nhelloX", "5;x=y\r\n", "5\n", " 5\r\n", "0x5\r\n", "-1\r\n",
	    "\r\n", "ffffffffffffffff\r\n", "00000000000000005\r\n", "5 \r\n", "0\r\nX: 1\n\r\n",
	    "0\r\nX 1\r\n"};
	for (size_t i = 0; i < GB_COUNT(cases); i++)
		for (size_t piece = 1; piece < 200; piece = piece * 2 + 1) {
			char text[200];
			struct gb_http http = begin("a.example");
			snprintf(text, sizeof text, "%s%s", CHUNKED, cases[i]);
			scan(&http, text, strlen(text), piece);
			if (!CHECK(http.problem != NULL))
				printf("# %zu in %zu\n", i, piece);
		}
}

TEST(an_endless_head_ends_the_stream) {
	static char text[GB_HTTP_HEAD_MAX + 10];
	struct gb_http http = begin("a.example");
	size_t forward;
	memset(text, 'a', sizeof text);
	CHECK(gb_http_step(&http, text, GB_HTTP_HEAD_MAX - 1, &forward) == GB_HTTP_MORE && !http.problem);
	CHECK(gb_http_step(&http, text, GB_HTTP_HEAD_MAX, &forward) == GB_HTTP_MORE && http.problem);
	CHECK_INT(forward, 0);
}
