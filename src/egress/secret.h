/*
 * A secret that is bound to hosts, as the host sends it to glovebox-egress: texts with their lengths in front.
 *
 *	gb_secret_order_write(&out, &texts);
 *	struct gb_secret_order order;			// points into the bytes
 *	if (!gb_secret_order_read(bytes, n, &order)) ...	// malformed: there is no such secret
 *
 * The two parsers below also check what an owner writes on the command line.
 */
#ifndef GB_EGRESS_SECRET_H
#define GB_EGRESS_SECRET_H

#include "base/buf.h"
#include "egress/rewrite.h"

enum {
	GB_SECRET_HOSTS_MAX = 16,
	GB_SECRET_BOUND_NAME_MAX = 64,
	GB_SECRET_BOUND_VALUE_MAX = 1024, /* so that no form of a value is longer than GB_ECHO_FORM_MAX */
	GB_SECRET_AROUND_MAX = 256,       /* bytes of the text before the value in its header, and after it */
	GB_SECRET_ORDER_MAX = 120 << 10,
};

struct gb_secret_texts {
	struct gb_str name, hosts; /* "api.example.com,*.example.org:8443" */
	struct gb_str header;      /* "authorization: Bearer {}" */
	struct gb_str placeholder;
	const struct gb_str *forms; /* the first is the value */
	size_t n_forms;
};

/* @out fails if it is too small. */
void gb_secret_order_write(struct gb_buf *out, const struct gb_secret_texts *texts);

struct gb_secret_order {
	struct gb_bound_secret bound; /* points to the other members, and into the bytes */
	struct gb_host_rule hosts[GB_SECRET_HOSTS_MAX];
	struct gb_str forms[GB_SECRET_FORMS_MAX];
};

/* False if any part of it is malformed. */
bool gb_secret_order_read(const char *bytes, size_t n, struct gb_secret_order *ret);

/* Rules with commas between them, without methods and paths. */
bool gb_secret_hosts_parse(struct gb_str text, struct gb_host_rule ret[GB_SECRET_HOSTS_MAX], size_t *ret_n,
    const char **ret_problem);
/* "authorization: Bearer {}": its parts borrow @text. */
bool gb_secret_header_parse(struct gb_str text, struct gb_str *ret_name, struct gb_str *ret_before,
    struct gb_str *ret_after, const char **ret_problem);
/* Whether the value can stand in a header: visible bytes, with spaces inside. */
bool gb_secret_value_check(struct gb_str value, const char **ret_problem);

#endif
