/*
 * The head of a request on its way out: the path in its normal form, and secrets in the place of their placeholders.
 *
 *	const struct gb_rewrite how = {.host = &host, .tls = true, .secrets = secrets, .n_secrets = n};
 *	if (!gb_rewrite_head(&how, &http, head, path, &out, &refusal)) ...	// the request must not be sent
 *
 * A placeholder is replaced in one header of requests to one host by https. Anywhere else it is refused.
 */
#ifndef GB_EGRESS_REWRITE_H
#define GB_EGRESS_REWRITE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/str.h"
#include "egress/http.h"
#include "egress/rules.h"

enum {
	GB_PLACEHOLDER_MIN = 16,
	GB_PLACEHOLDER_MAX = 128,
	GB_SECRET_FORMS_MAX = 96,
	GB_HEADER_NAME_MAX = 64,
	GB_REFUSAL_MAX = 160,
};

/* A secret that is bound to hosts. All members are borrowed. */
struct gb_bound_secret {
	struct gb_str name;
	const struct gb_host_rule
	    *hosts; /* without methods and path; 443 is the port of one that names none */
	size_t n_hosts;
	struct gb_str header;        /* "authorization" */
	struct gb_str before, after; /* what stands around the value in the header: "Bearer " */
	struct gb_str placeholder;
	struct gb_str value;
	const struct gb_str *forms; /* how a server may spell the value; the first is the value */
	size_t n_forms;
};

struct gb_rewrite {
	const struct gb_host *host;
	uint16_t port;
	bool tls;
	const struct gb_bound_secret *const *secrets; /* all that the code has placeholders of */
	size_t n_secrets;
};

/* Whether the secret may be sent to the host. */
bool gb_secret_is_for(
    const struct gb_bound_secret *secret, const struct gb_host *host, uint16_t port, bool tls);

/* Whether the host gets a secret: then its answers are searched for it, and must not be compressed. */
bool gb_rewrite_is_searched(const struct gb_rewrite *how);

/* What becomes of a header. GB_FIELD_FILLED: its value is .before, .value and .after of *ret_secret. */
enum gb_field_change { GB_FIELD_KEPT, GB_FIELD_LEFT_OUT, GB_FIELD_FILLED, GB_FIELD_REFUSED };
enum gb_field_change gb_rewrite_field(const struct gb_rewrite *how, struct gb_str name, struct gb_str value,
    const struct gb_bound_secret **ret_secret, char ret_refusal[GB_REFUSAL_MAX]);
/* False if a request line with this method and target must not be sent. */
bool gb_rewrite_target(const struct gb_rewrite *how, struct gb_str method, struct gb_str target,
    char ret_refusal[GB_REFUSAL_MAX]);

/* Append the head, which @http has just accepted, to @out. @path replaces that of the request, unless it is empty. On
 * failure @ret_refusal says why. */
bool gb_rewrite_head(const struct gb_rewrite *how, const struct gb_http *http, struct gb_str head,
    struct gb_str path, struct gb_buf *out, char ret_refusal[GB_REFUSAL_MAX]);

/* The placeholder of a secret in the body of a request. @tail keeps the end of what was searched; zero at first. */
struct gb_placeholder_tail {
	size_t n;
	char bytes[GB_PLACEHOLDER_MAX];
};
/* False if @bytes complete a placeholder. */
bool gb_rewrite_body(const struct gb_rewrite *how, struct gb_placeholder_tail *tail, const char *bytes,
    size_t n, char ret_refusal[GB_REFUSAL_MAX]);

#endif
