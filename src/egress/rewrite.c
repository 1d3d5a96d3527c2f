#include "egress/rewrite.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"

bool gb_secret_is_for(
    const struct gb_bound_secret *secret, const struct gb_host *host, uint16_t port, bool tls) {
	for (size_t i = 0; tls && i < secret->n_hosts; i++)
		if (port == (secret->hosts[i].port ? secret->hosts[i].port : 443) &&
		    gb_host_rule_is_about(&secret->hosts[i], host))
			return true;
	return false;
}

static bool contains(struct gb_str text, struct gb_str part) {
	return text.n && part.n && memmem(text.p, text.n, part.p, part.n);
}

static const struct gb_bound_secret *find_placeholder(const struct gb_rewrite *how, struct gb_str text) {
	for (size_t i = 0; i < how->n_secrets; i++)
		if (contains(text, how->secrets[i]->placeholder))
			return how->secrets[i];
	return NULL;
}

static bool refuse(
    const struct gb_bound_secret *secret, const char *where, char ret_refusal[GB_REFUSAL_MAX]) {
	char name[32], header[32];
	gb_copy_text(name, sizeof name, secret->name);
	gb_copy_text(header, sizeof header, secret->header);
	snprintf(ret_refusal, GB_REFUSAL_MAX,
	    "the placeholder of the secret '%.31s' %.48s; it is for '%.20s' only", name, where, header);
	return false;
}

/* --- heads --- */

static bool is_around(struct gb_str text, const struct gb_bound_secret *secret) {
	const size_t n = secret->before.n + secret->placeholder.n + secret->after.n;
	return text.n == n && memcmp(text.p, secret->before.p, secret->before.n) == 0 &&
	       memcmp(text.p + secret->before.n, secret->placeholder.p, secret->placeholder.n) == 0 &&
	       (!secret->after.n ||
		   memcmp(text.p + n - secret->after.n, secret->after.p, secret->after.n) == 0);
}

/* A compressed answer, or a part of one, could have a secret that is not found. */
static bool is_dropped(struct gb_str name) {
	static const char *const names[] = {"accept-encoding", "range", "if-range", "te"};
	for (size_t i = 0; i < GB_COUNT(names); i++)
		if (gb_http_is_field(name, names[i]))
			return true;
	return false;
}

bool gb_rewrite_is_searched(const struct gb_rewrite *how) {
	for (size_t i = 0; i < how->n_secrets; i++)
		if (gb_secret_is_for(how->secrets[i], how->host, how->port, how->tls))
			return true;
	return false;
}

static bool check_place(const struct gb_rewrite *how, const struct gb_bound_secret *secret,
    struct gb_str name, struct gb_str value, char ret_refusal[GB_REFUSAL_MAX]) {
	char header[GB_HEADER_NAME_MAX + 1];
	gb_copy_text(header, sizeof header, secret->header);
	if (!how->tls)
		return refuse(secret, "was sent without TLS", ret_refusal);
	if (!gb_secret_is_for(secret, how->host, how->port, how->tls))
		return refuse(secret, "was sent to another host", ret_refusal);
	if (!gb_http_is_field(name, header))
		return refuse(secret, "is in another header", ret_refusal);
	return is_around(value, secret) ||
	       refuse(secret, "has another text around it in its header", ret_refusal);
}

enum gb_field_change gb_rewrite_field(const struct gb_rewrite *how, struct gb_str name, struct gb_str value,
    const struct gb_bound_secret **ret_secret, char ret_refusal[GB_REFUSAL_MAX]) {
	const struct gb_bound_secret *secret = find_placeholder(how, name);
	if (secret) {
		refuse(secret, "is in the name of a header", ret_refusal);
		return GB_FIELD_REFUSED;
	}
	secret = find_placeholder(how, value);
	if (!secret)
		return is_dropped(name) && gb_rewrite_is_searched(how) ? GB_FIELD_LEFT_OUT : GB_FIELD_KEPT;
	if (!check_place(how, secret, name, value, ret_refusal))
		return GB_FIELD_REFUSED;
	*ret_secret = secret;
	return GB_FIELD_FILLED;
}

bool gb_rewrite_target(const struct gb_rewrite *how, struct gb_str method, struct gb_str target,
    char ret_refusal[GB_REFUSAL_MAX]) {
	const struct gb_bound_secret *secret = find_placeholder(how, target);
	secret = secret ? secret : find_placeholder(how, method);
	return !secret || refuse(secret, "is in the address of a request", ret_refusal);
}

static bool put_field(const struct gb_rewrite *how, struct gb_str name, struct gb_str value,
    struct gb_buf *out, char *refusal) {
	const struct gb_bound_secret *secret = NULL;
	const enum gb_field_change change = gb_rewrite_field(how, name, value, &secret, refusal);
	if (change == GB_FIELD_REFUSED)
		return false;
	if (change == GB_FIELD_LEFT_OUT)
		return true;
	gb_buf_append_str(out, name);
	gb_buf_append_str(out, GB_STR(": "));
	if (secret) {
		gb_buf_append_str(out, secret->before);
		gb_buf_append_str(out, secret->value);
		gb_buf_append_str(out, secret->after);
	} else {
		gb_buf_append_str(out, value);
	}
	gb_buf_append_str(out, GB_STR("\r\n"));
	return true;
}

static void put_request_line(struct gb_buf *out, const struct gb_http *http, struct gb_str path) {
	struct gb_str query = http->target, own;
	const bool has_query = gb_str_cut(&query, '?', &own);
	path = path.n ? path : own.n ? own : GB_STR("/");
	gb_buf_printf(out, "%s ", http->method);
	gb_buf_append_str(out, path);
	if (has_query) {
		gb_buf_append_char(out, '?');
		gb_buf_append_str(out, query);
	}
}

bool gb_rewrite_head(const struct gb_rewrite *how, const struct gb_http *http, struct gb_str text,
    struct gb_str path, struct gb_buf *out, char ret_refusal[GB_REFUSAL_MAX]) {
	struct gb_str line, name, value;
	if (!gb_rewrite_target(how, gb_str_from(http->method), http->target, ret_refusal))
		return false;
	gb_str_cut(&text, '\n', &line);
	/* " HTTP/1.1" and CR */
	struct gb_str version = {line.p + line.n - 10, 10};
	put_request_line(out, http, path);
	gb_buf_append_str(out, version);
	gb_buf_append_char(out, '\n');
	while (gb_http_next_field(&text, &name, &value))
		if (!put_field(how, name, value, out, ret_refusal))
			return false;
	if (gb_rewrite_is_searched(how))
		gb_buf_append_str(out, GB_STR("Accept-Encoding: identity\r\n"));
	gb_buf_append_str(out, GB_STR("\r\n"));
	return true;
}

/* --- bodies --- */

bool gb_rewrite_body(const struct gb_rewrite *how, struct gb_placeholder_tail *tail, const char *bytes,
    size_t n, char ret_refusal[GB_REFUSAL_MAX]) {
	char joint[2 * GB_PLACEHOLDER_MAX];
	const size_t head = n < GB_PLACEHOLDER_MAX ? n : GB_PLACEHOLDER_MAX;
	if (!how->n_secrets || !n)
		return true;
	memcpy(joint, tail->bytes, tail->n);
	memcpy(joint + tail->n, bytes, head);
	const struct gb_bound_secret *secret = find_placeholder(how, (struct gb_str){joint, tail->n + head});
	secret = secret ? secret : find_placeholder(how, (struct gb_str){bytes, n});
	if (secret)
		return refuse(secret, "is in the body of a request", ret_refusal);
	/* The last bytes of everything so far. */
	if (n >= GB_PLACEHOLDER_MAX) {
		memcpy(tail->bytes, bytes + n - GB_PLACEHOLDER_MAX, GB_PLACEHOLDER_MAX);
		tail->n = GB_PLACEHOLDER_MAX;
	} else {
		const size_t all = tail->n + n, kept = all < GB_PLACEHOLDER_MAX ? all : GB_PLACEHOLDER_MAX;
		memcpy(tail->bytes, joint + all - kept, kept);
		tail->n = kept;
	}
	return true;
}
