#include "egress/http.h"

#include <string.h>
#include <strings.h>

#include "base/str.h"

enum { SIZE_LINE_MAX = 18 }; /* 16 digits and the line end */

void gb_http_init(struct gb_http *http, const struct gb_host *host, uint16_t port) {
	memset(http, 0, sizeof *http);
	http->host = *host;
	http->port = port;
	http->tls = port == 443;
}

void gb_http_init_answers(struct gb_http *http) {
	memset(http, 0, sizeof *http);
	http->answers = true;
}

static bool bad(struct gb_http *http, const char *problem) {
	http->problem = problem;
	return false;
}

/* --- characters --- */

/* Visible characters, with blanks if @blanks. */
static bool is_visible(struct gb_str text, bool blanks) {
	for (size_t i = 0; i < text.n; i++) {
		const unsigned char c = (unsigned char)text.p[i];
		if (c == 0x7f || c < 0x20 ? !(blanks && c == '\t') : c == ' ' && !blanks)
			return false;
	}
	return true;
}

static struct gb_str trim(struct gb_str text) {
	while (text.n && (text.p[0] == ' ' || text.p[0] == '\t')) {
		text.p++;
		text.n--;
	}
	while (text.n && (text.p[text.n - 1] == ' ' || text.p[text.n - 1] == '\t'))
		text.n--;
	return text;
}

static bool is_same(struct gb_str text, const char *word) {
	return text.n == strlen(word) && strncasecmp(text.p, word, text.n) == 0;
}

/* --- one request --- */

/* What the head says about the request. */
struct head {
	unsigned n_hosts;
	bool has_length, is_chunked, is_http10;
	uint64_t length;
};

/* Cut a line that ends with CR LF off @rest; a CR or LF inside is not allowed. */
static bool cut_line(struct gb_str *rest, struct gb_str *ret) {
	const char *end = memchr(rest->p, '\n', rest->n);
	if (!end || end == rest->p || end[-1] != '\r')
		return false;
	*ret = (struct gb_str){rest->p, (size_t)(end - 1 - rest->p)};
	rest->n -= (size_t)(end + 1 - rest->p);
	rest->p = end + 1;
	return !memchr(ret->p, '\r', ret->n);
}

/* "host" or "host:port" must be those of the connection. */
static bool check_authority(struct gb_http *http, struct gb_str text) {
	const char *colon = text.n && text.p ? memrchr(text.p, ':', text.n) : NULL;
	const char *bracket = text.n && text.p ? memrchr(text.p, ']', text.n) : NULL;
	struct gb_host host;
	const char *problem;
	unsigned port = http->tls ? 443 : 80;
	if (colon && (!bracket || colon > bracket)) {
		struct gb_str digits = {colon + 1, (size_t)(text.p + text.n - colon - 1)};
		port = 0;
		for (size_t i = 0; i < digits.n && port <= 65535; i++)
			port = digits.p[i] >= '0' && digits.p[i] <= '9'
				   ? port * 10 + (unsigned)(digits.p[i] - '0')
				   : 65536;
		text.n = (size_t)(colon - text.p);
	}
	if (!gb_host_parse(text, &host, &problem))
		return bad(http, "the host of the request is malformed");
	if (http->any_host)
		return true;
	if (port == http->port && host.kind == http->host.kind && strcmp(host.name, http->host.name) == 0)
		return true;
	memcpy(http->other, host.name, sizeof http->other);
	return bad(http, "the request names another host than its connection");
}

/* "/path", "*", or "http://host/path". */
static bool check_target(struct gb_http *http, struct gb_str target) {
	const char *scheme = http->tls ? "https://" : "http://";
	if (!is_visible(target, false) || memchr(target.p, '#', target.n))
		return bad(http, "the target of the request is malformed");
	http->target = target;
	if (target.n && (target.p[0] == '/' || (target.n == 1 && target.p[0] == '*')))
		return true;
	if (target.n <= strlen(scheme) || strncasecmp(target.p, scheme, strlen(scheme)) != 0)
		return bad(http, "the target of the request is neither a path nor the address of its host");
	struct gb_str authority = {target.p + strlen(scheme), target.n - strlen(scheme)};
	for (size_t i = 0; i < authority.n; i++)
		if (authority.p[i] == '/' || authority.p[i] == '?')
			authority.n = i;
	http->target.p = authority.p + authority.n;
	http->target.n = target.n - (size_t)(http->target.p - target.p);
	return check_authority(http, authority);
}

static bool check_request_line(struct gb_http *http, struct gb_str line, struct head *head) {
	struct gb_str method, target;
	if (!gb_str_cut(&line, ' ', &method) || !gb_str_cut(&line, ' ', &target) ||
	    !gb_http_is_token(method) || method.n >= sizeof http->method)
		return bad(http, "this is no HTTP request");
	memcpy(http->method, method.p, method.n);
	http->method[method.n] = '\0';
	head->is_http10 = is_same(line, "HTTP/1.0");
	if (!gb_str_eq(line, gb_str_from("HTTP/1.1")) && !gb_str_eq(line, gb_str_from("HTTP/1.0")))
		return bad(http, strcmp(http->method, "PRI") == 0
				     ? "HTTP/2 is not available without TLS: use HTTP/1.1 or https"
				     : "this is no HTTP/1.1 request");
	if (strcmp(http->method, "CONNECT") == 0)
		return bad(http, "CONNECT is not allowed");
	return check_target(http, target);
}

static bool read_length(struct gb_http *http, struct gb_str value, struct head *head) {
	uint64_t length = 0;
	if (head->has_length || value.n == 0 || value.n > 18)
		return bad(http, "Content-Length is malformed or given twice");
	for (size_t i = 0; i < value.n; i++) {
		if (value.p[i] < '0' || value.p[i] > '9')
			return bad(http, "Content-Length is malformed or given twice");
		length = length * 10 + (uint64_t)(value.p[i] - '0');
	}
	head->has_length = true;
	head->length = length;
	return true;
}

/* Cut "Name: value" in two. */
static bool read_field(
    struct gb_http *http, struct gb_str line, struct gb_str *ret_name, struct gb_str *ret_value) {
	*ret_value = line;
	if (!gb_str_cut(ret_value, ':', ret_name) || !gb_http_is_token(*ret_name) ||
	    !is_visible(*ret_value, true))
		return bad(http, "a header is malformed");
	*ret_value = trim(*ret_value);
	return true;
}

static bool has_item(struct gb_str list, const char *word) {
	struct gb_str item;
	for (bool more = true; more;) {
		more = gb_str_cut(&list, ',', &item);
		if (is_same(trim(item), word))
			return true;
	}
	return false;
}

static bool check_field(struct gb_http *http, struct gb_str line, struct head *head) {
	struct gb_str name, value;
	if (!read_field(http, line, &name, &value))
		return false;
	if (is_same(name, "host") && !http->answers)
		return head->n_hosts++ ? bad(http, "the request has two Host headers")
				       : check_authority(http, value);
	if (is_same(name, "content-length"))
		return read_length(http, value, head);
	if (is_same(name, "transfer-encoding")) {
		if (head->is_chunked || !is_same(value, "chunked"))
			return bad(http, "Transfer-Encoding can only be chunked, once");
		head->is_chunked = true;
	}
	if (is_same(name, "connection"))
		http->closes |= has_item(value, "close");
	if (is_same(name, "expect"))
		http->expects = true;
	if (is_same(name, "content-encoding"))
		http->is_encoded |= !is_same(value, "identity");
	/* What follows would no longer be HTTP/1.1, and could not be checked. */
	if (is_same(name, "upgrade") && !http->answers)
		return bad(http, http->tls ? "Upgrade is not available where requests are checked"
					   : "Upgrade is not available without TLS: use https or wss");
	return true;
}

/* "HTTP/1.1 200 OK"; the reason can be missing. */
static bool check_status_line(struct gb_http *http, struct gb_str line, struct head *head) {
	struct gb_str version, status;
	gb_str_cut(&line, ' ', &version);
	gb_str_cut(&line, ' ', &status);
	head->is_http10 = is_same(version, "HTTP/1.0");
	http->closes = head->is_http10;
	if ((!head->is_http10 && !is_same(version, "HTTP/1.1")) || status.n != 3 || !is_visible(line, true))
		return bad(http, "the answer of the server is no HTTP/1.1");
	http->status = 0;
	for (size_t i = 0; i < 3; i++) {
		if (status.p[i] < '0' || status.p[i] > '9')
			return bad(http, "the answer of the server is no HTTP/1.1");
		http->status = http->status * 10 + (unsigned)(status.p[i] - '0');
	}
	return http->status >= 100 || bad(http, "the answer of the server is no HTTP/1.1");
}

/* What follows the head of an answer: RFC 9112, 6.3. */
static bool begin_answer(struct gb_http *http, const struct head *head) {
	const bool interim = http->status < 200;
	if (http->status == 101)
		return bad(http, "the server changes the protocol");
	if (head->is_chunked && head->has_length)
		return bad(http, "the length of the answer is ambiguous");
	http->left = head->length;
	http->chunked = head->is_chunked;
	http->n_requests += !interim;
	if (interim || http->for_head || http->status == 204 || http->status == 304)
		http->state = GB_HTTP_IN_HEAD;
	else if (head->is_chunked)
		http->state = GB_HTTP_IN_SIZE;
	else if (head->has_length)
		http->state = head->length ? GB_HTTP_IN_BODY : GB_HTTP_IN_HEAD;
	else
		http->state = GB_HTTP_IN_REST;
	http->closes |= http->state == GB_HTTP_IN_REST;
	return true;
}

static bool begin_request(struct gb_http *http, const struct head *head) {
	if (head->n_hosts == 0)
		return bad(http, "the request has no Host header");
	if (head->is_chunked && (head->has_length || head->is_http10))
		return bad(http, "the length of the request is ambiguous");
	http->n_requests++;
	http->closes |= head->is_http10;
	http->left = head->length;
	http->chunked = head->is_chunked;
	http->state = head->is_chunked ? GB_HTTP_IN_SIZE : head->length ? GB_HTTP_IN_BODY : GB_HTTP_IN_HEAD;
	return true;
}

static bool check_head(struct gb_http *http, struct gb_str text) {
	bool (*const check_first)(struct gb_http *, struct gb_str, struct head *) =
	    http->answers ? check_status_line : check_request_line;
	struct head head = {0};
	struct gb_str line;
	bool first = true;
	http->closes = http->expects = http->is_encoded = false;
	while (text.n) {
		if (!cut_line(&text, &line))
			return bad(http, "a line of the head does not end with CR LF");
		if (line.n == 0)
			break;
		if (first ? !check_first(http, line, &head) : !check_field(http, line, &head))
			return false;
		first = false;
	}
	if (first)
		return bad(http,
		    http->answers ? "the answer of the server is no HTTP/1.1" : "this is no HTTP request");
	return http->answers ? begin_answer(http, &head) : begin_request(http, &head);
}

bool gb_http_next_field(struct gb_str *fields, struct gb_str *ret_name, struct gb_str *ret_value) {
	struct gb_str line;
	if (!fields->n || !cut_line(fields, &line) || !line.n)
		return false;
	*ret_value = line;
	if (!gb_str_cut(ret_value, ':', ret_name))
		return false;
	*ret_value = trim(*ret_value);
	return true;
}

bool gb_http_is_field(struct gb_str name, const char *wanted) {
	return is_same(name, wanted);
}

/* --- the stream --- */

/* The length of the text up to and with the empty line; 0 if that is not there yet. */
static size_t head_length(const char *bytes, size_t n) {
	const char *end = memmem(bytes, n, "\r\n\r\n", 4);
	return end ? (size_t)(end + 4 - bytes) : 0;
}

/* Each step returns the bytes that it has read, 0 if it needs more, -1 if they are bad. */

static long scan_head(struct gb_http *http, const char *bytes, size_t n) {
	/* Refuse early what never becomes a request. */
	if (!((bytes[0] >= 'A' && bytes[0] <= 'Z') || (bytes[0] >= 'a' && bytes[0] <= 'z')))
		return bad(http, http->answers ? "the answer of the server is no HTTP/1.1"
					       : "this is no HTTP request") -
		       1;
	const size_t length = head_length(bytes, n < GB_HTTP_HEAD_MAX ? n : GB_HTTP_HEAD_MAX);
	if (length)
		return check_head(http, (struct gb_str){bytes, length}) ? (long)length : -1;
	return n < GB_HTTP_HEAD_MAX ? 0 : bad(http, "the head is too long") - 1;
}

static long scan_body(struct gb_http *http, const char *bytes, size_t n) {
	const size_t part = http->left < n ? (size_t)http->left : n;
	http->left -= part;
	if (http->left == 0)
		http->state = GB_HTTP_IN_HEAD;
	return (long)part;
}

static int hex(char c) {
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
				      : -1;
}

/* The line with the size of a chunk; without extensions. */
static long scan_size(struct gb_http *http, const char *bytes, size_t n) {
	uint64_t size = 0;
	size_t i = 0;
	for (; i < n && i < SIZE_LINE_MAX - 2 && hex(bytes[i]) >= 0; i++)
		size = size << 4 | (uint64_t)hex(bytes[i]);
	if (i == n)
		return 0;
	if (i == 0 || bytes[i] != '\r' || size > UINT64_MAX / 4)
		return bad(http, "the size of a chunk is malformed") - 1;
	if (i + 1 == n)
		return 0;
	if (bytes[i + 1] != '\n')
		return bad(http, "the size of a chunk is malformed") - 1;
	http->left = size + 2;
	http->state = size ? GB_HTTP_IN_CHUNK : GB_HTTP_IN_TRAILER;
	return (long)i + 2;
}

static long scan_chunk(struct gb_http *http, const char *bytes, size_t n) {
	if (http->left > 2) {
		const size_t part = http->left - 2 < n ? (size_t)(http->left - 2) : n;
		http->left -= part;
		return (long)part;
	}
	if (n < 2)
		return bytes[0] == '\r' ? 0 : bad(http, "a chunk is longer than its size") - 1;
	if (memcmp(bytes, "\r\n", 2) != 0)
		return bad(http, "a chunk is longer than its size") - 1;
	http->state = GB_HTTP_IN_SIZE;
	return 2;
}

/* Fields behind the last chunk, each line by itself. */
static long scan_trailer(struct gb_http *http, const char *bytes, size_t n) {
	struct gb_str rest = {bytes, n}, line, name, value;
	if (!memchr(bytes, '\n', n))
		return n < GB_HTTP_HEAD_MAX ? 0 : bad(http, "a header is too long") - 1;
	if (!cut_line(&rest, &line))
		return bad(http, "a line of the head does not end with CR LF") - 1;
	if (line.n == 0)
		http->state = GB_HTTP_IN_HEAD;
	else if (!read_field(http, line, &name, &value))
		return -1;
	else if (is_same(name, "host") || is_same(name, "content-length") ||
		 is_same(name, "transfer-encoding"))
		return bad(http, "a header stands behind the request that must stand before it") - 1;
	return (long)(rest.p - bytes);
}

/* A body that ends with the connection. */
static long scan_rest(struct gb_http *http, const char *bytes, size_t n) {
	return (long)n;
}

enum gb_http_piece gb_http_step(struct gb_http *http, const char *bytes, size_t n, size_t *ret_used) {
	static const struct {
		long (*scan)(struct gb_http *, const char *, size_t);
		enum gb_http_piece piece;
	} steps[] = {
	    [GB_HTTP_IN_HEAD] = {scan_head, GB_HTTP_HEAD},
	    [GB_HTTP_IN_BODY] = {scan_body, GB_HTTP_BODY},
	    [GB_HTTP_IN_SIZE] = {scan_size, GB_HTTP_FRAME},
	    [GB_HTTP_IN_CHUNK] = {scan_chunk, GB_HTTP_BODY},
	    [GB_HTTP_IN_TRAILER] = {scan_trailer, GB_HTTP_FRAME},
	    [GB_HTTP_IN_REST] = {scan_rest, GB_HTTP_BODY},
	};
	*ret_used = 0;
	if (n == 0 || http->problem)
		return GB_HTTP_MORE;
	const bool behind = http->state == GB_HTTP_IN_CHUNK && http->left <= 2;
	const enum gb_http_piece piece = behind ? GB_HTTP_FRAME : steps[http->state].piece;
	const long got = steps[http->state].scan(http, bytes, n);
	if (got <= 0 || http->problem)
		return GB_HTTP_MORE;
	*ret_used = (size_t)got;
	return piece;
}
