#include "egress/rewrite.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"

bool gb_secret_is_for(
    const struct gb_bound_secret *secret, const struct gb_host *host, uint16_t port, bool tls) {
	return tls && port == (secret->host.port ? secret->host.port : 443) &&
	       gb_host_rule_is_about(&secret->host, host);
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
	    "the placeholder of the secret '%.31s' %.32s; it is for '%.20s' only", name, where, header);
	return false;
}

/* --- heads --- */

struct head {
	const struct gb_rewrite *how;
	struct gb_buf *out;
	bool is_searched; /* the answers of this host are searched for secrets */
	char *refusal;
};

static void append_field(struct gb_buf *out, struct gb_str name, struct gb_str value) {
	gb_buf_append_str(out, name);
	gb_buf_append_str(out, GB_STR(": "));
	gb_buf_append_str(out, value);
	gb_buf_append_str(out, GB_STR("\r\n"));
}

static bool is_around(struct gb_str text, const struct gb_bound_secret *secret) {
	const size_t n = secret->before.n + secret->placeholder.n + secret->after.n;
	return text.n == n && memcmp(text.p, secret->before.p, secret->before.n) == 0 &&
	       memcmp(text.p + secret->before.n, secret->placeholder.p, secret->placeholder.n) == 0 &&
	       (!secret->after.n ||
		   memcmp(text.p + n - secret->after.n, secret->after.p, secret->after.n) == 0);
}

static bool put_secret(
    struct head *head, const struct gb_bound_secret *secret, struct gb_str name, struct gb_str value) {
	const struct gb_rewrite *how = head->how;
	char header[GB_HEADER_NAME_MAX + 1];
	if (!gb_secret_is_for(secret, how->host, how->port, how->tls))
		return refuse(
		    secret, how->tls ? "was sent to another host" : "was sent without TLS", head->refusal);
	gb_copy_text(header, sizeof header, secret->header);
	if (!gb_http_is_field(name, header))
		return refuse(secret, "is in another header", head->refusal);
	if (!is_around(value, secret))
		return refuse(secret, "has another text around it in its header", head->refusal);
	gb_buf_append_str(head->out, name);
	gb_buf_append_str(head->out, GB_STR(": "));
	gb_buf_append_str(head->out, secret->before);
	gb_buf_append_str(head->out, secret->value);
	gb_buf_append_str(head->out, secret->after);
	gb_buf_append_str(head->out, GB_STR("\r\n"));
	return true;
}

/* A compressed answer, or a part of one, could have a secret that is not found. */
static bool is_dropped(struct gb_str name) {
	static const char *const names[] = {"accept-encoding", "range", "if-range", "te"};
	for (size_t i = 0; i < GB_COUNT(names); i++)
		if (gb_http_is_field(name, names[i]))
			return true;
	return false;
}

static bool put_field(struct head *head, struct gb_str name, struct gb_str value) {
	const struct gb_bound_secret *secret = find_placeholder(head->how, value);
	if (secret)
		return put_secret(head, secret, name, value);
	secret = find_placeholder(head->how, name);
	if (secret)
		return refuse(secret, "is the name of a header", head->refusal);
	if (!head->is_searched || !is_dropped(name))
		append_field(head->out, name, value);
	return true;
}

static bool put_request_line(struct head *head, const struct gb_http *http, struct gb_str path) {
	const struct gb_bound_secret *secret = find_placeholder(head->how, http->target);
	struct gb_str query = http->target, own;
	if (secret)
		return refuse(secret, "is in the address of a request", head->refusal);
	const bool has_query = gb_str_cut(&query, '?', &own);
	path = path.n ? path : own.n ? own : GB_STR("/");
	gb_buf_printf(head->out, "%s ", http->method);
	gb_buf_append_str(head->out, path);
	if (has_query) {
		gb_buf_append_char(head->out, '?');
		gb_buf_append_str(head->out, query);
	}
	return true;
}

bool gb_rewrite_head(const struct gb_rewrite *how, const struct gb_http *http, struct gb_str text,
    struct gb_str path, struct gb_buf *out, char ret_refusal[GB_REFUSAL_MAX]) {
	struct head head = {.how = how, .out = out, .refusal = ret_refusal};
	struct gb_str line, name, value;
	for (size_t i = 0; i < how->n_secrets; i++)
		head.is_searched |= gb_secret_is_for(how->secrets[i], how->host, how->port, how->tls);
	gb_str_cut(&text, '\n', &line);
	/* " HTTP/1.1" and CR */
	struct gb_str version = {line.p + line.n - 10, 10};
	if (!put_request_line(&head, http, path))
		return false;
	gb_buf_append_str(out, version);
	gb_buf_append_char(out, '\n');
	while (gb_http_next_field(&text, &name, &value))
		if (!put_field(&head, name, value))
			return false;
	if (head.is_searched)
		append_field(out, GB_STR("Accept-Encoding"), GB_STR("identity"));
	gb_buf_append_str(out, GB_STR("\r\n"));
	return true;
}

/* --- bodies --- */

bool gb_rewrite_body(const struct gb_rewrite *how, struct gb_placeholder_tail *tail, const char *bytes,
    size_t n, char ret_refusal[GB_REFUSAL_MAX]) {
	char joint[2 * GB_PLACEHOLDER_MAX];
	const size_t head = n < GB_PLACEHOLDER_MAX ? n : GB_PLACEHOLDER_MAX;
	if (!how->n_secrets)
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
