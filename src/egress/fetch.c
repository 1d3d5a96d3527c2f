#include "egress/fetch.h"

#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "egress/http.h"
#include "value/cbor.h"

enum { FIELDS = 7 };

/* Headers that decide where a request ends, to whom it goes, or what the connection is. */
static const char *const refused_headers[] = {"connection", "content-length", "expect", "host",
    "http2-settings", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te",
    "trailer", "transfer-encoding", "upgrade"};

bool gb_fetch_is_refused_header(struct gb_str name) {
	for (size_t i = 0; i < GB_COUNT(refused_headers); i++)
		if (name.n == strlen(refused_headers[i]) &&
		    strncasecmp(name.p, refused_headers[i], name.n) == 0)
			return true;
	return false;
}

static void write_bytes(struct gb_buf *out, struct gb_str text) {
	gb_cbor_bytes(out, text.p, text.n);
}

void gb_fetch_write_open(struct gb_buf *out, const struct gb_fetch_open *open) {
	gb_cbor_array(out, FIELDS);
	write_bytes(out, open->method);
	gb_cbor_unsigned(out, open->tls);
	write_bytes(out, open->host);
	gb_cbor_unsigned(out, open->port);
	write_bytes(out, open->target);
	gb_cbor_unsigned(
	    out, open->body == GB_FETCH_SIZED ? open->length + 2 : open->body == GB_FETCH_STREAM);
	gb_cbor_array(out, open->n_headers * 2);
	for (size_t i = 0; i < open->n_headers; i++) {
		write_bytes(out, open->headers[i].name);
		write_bytes(out, open->headers[i].value);
	}
}

static bool read_bytes(struct gb_cbor_reader *in, struct gb_str *ret) {
	struct gb_cbor_item item;
	if (!gb_cbor_next(in, &item) || item.kind != GB_CBOR_BYTES)
		return false;
	*ret = (struct gb_str){(const char *)item.bytes, item.argument};
	return true;
}

static bool read_number(struct gb_cbor_reader *in, uint64_t max, uint64_t *ret) {
	struct gb_cbor_item item;
	if (!gb_cbor_next(in, &item) || item.kind != GB_CBOR_UNSIGNED || item.argument > max)
		return false;
	*ret = item.argument;
	return true;
}

static bool read_count(struct gb_cbor_reader *in, uint64_t *ret) {
	struct gb_cbor_item item;
	if (!gb_cbor_next(in, &item) || item.kind != GB_CBOR_ARRAY)
		return false;
	*ret = item.argument;
	return true;
}

static bool is_method(struct gb_str method) {
	static const char *const refused[] = {"CONNECT", "TRACE", "TRACK"};
	for (size_t i = 0; i < GB_COUNT(refused); i++)
		if (method.n == strlen(refused[i]) && strncasecmp(method.p, refused[i], method.n) == 0)
			return false;
	return gb_http_is_token(method) && method.n <= GB_FETCH_METHOD_MAX;
}

static bool is_target(struct gb_str target) {
	for (size_t i = 0; i < target.n; i++)
		if (target.p[i] <= ' ' || target.p[i] > '~' || target.p[i] == '#')
			return false;
	return target.n > 0 && target.p[0] == '/' && target.n <= GB_FETCH_TARGET_MAX;
}

static bool is_header_value(struct gb_str value) {
	return !memchr(value.p, '\r', value.n) && !memchr(value.p, '\n', value.n) &&
	       !memchr(value.p, '\0', value.n);
}

static const char *check(const struct gb_fetch_open *open) {
	if (!is_method(open->method))
		return "the method is none that a request may have";
	if (!is_target(open->target))
		return "the path is not one of a URL, or too long";
	for (size_t i = 0; i < open->n_headers; i++) {
		const struct gb_fetch_header *header = &open->headers[i];
		if (!gb_http_is_token(header->name))
			return "the name of a header is none";
		if (gb_fetch_is_refused_header(header->name))
			return "a header decides about the connection, such as Host or Transfer-Encoding";
		if (!is_header_value(header->value))
			return "the value of a header contains CR, LF or NUL";
	}
	return NULL;
}

static bool read_fields(struct gb_cbor_reader *in, struct gb_fetch_open *ret) {
	uint64_t count, tls, port, body;
	if (!read_count(in, &count) || count != FIELDS || !read_bytes(in, &ret->method) ||
	    !read_number(in, 1, &tls) || !read_bytes(in, &ret->host) || !read_number(in, UINT16_MAX, &port) ||
	    !read_bytes(in, &ret->target) || !read_number(in, (1ull << 53) + 1, &body) ||
	    !read_count(in, &count) || count % 2 != 0 || count / 2 > GB_FETCH_HEADERS_MAX)
		return false;
	ret->tls = tls;
	ret->port = (uint16_t)port;
	ret->body = body == 0 ? GB_FETCH_NO_BODY : body == 1 ? GB_FETCH_STREAM : GB_FETCH_SIZED;
	ret->length = body < 2 ? 0 : body - 2;
	ret->n_headers = count / 2;
	for (size_t i = 0; i < ret->n_headers; i++)
		if (!read_bytes(in, &ret->headers[i].name) || !read_bytes(in, &ret->headers[i].value))
			return false;
	return in->at == in->end && port != 0;
}

bool gb_fetch_read_open(const void *bytes, size_t n, struct gb_fetch_open *ret, const char **ret_problem) {
	struct gb_cbor_reader in = gb_cbor_reader(bytes, n);
	*ret_problem =
	    read_fields(&in, ret) ? check(ret) : "the request is malformed, or has too many headers";
	return !*ret_problem;
}
