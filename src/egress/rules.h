/*
 * The rules of an allowlist: which hosts and ports code of the network tier can reach, and with which requests.
 *
 *	struct gb_host_rule rule;
 *	const char *problem;
 *	if (!gb_host_rule_parse(GB_STR("api.example.com:8443"), &rule, &problem)) ...	// @problem says why
 *	if (gb_host_rule_admits(&rule, &host, 8443)) ...	// a connection
 *	if (gb_host_rules_match(rules, n, &request, &problem)) ...	// one request on it
 *
 * A rule is "name", "*.name", "name:port", "*.name:port", "address", "address:port" or "[IPv6]:port". Without a
 * port it admits 80 and 443. "*.name" admits every name below name, and not name itself. An address has to be
 * written literally: it is never admitted by a name.
 *
 * A rule can name methods in front and a path behind: "GET,HEAD api.example.com/v1/" followed by "*". Then it admits
 * a connection only for such requests, and every request has to be read: by interception, on https.
 */
#ifndef GB_EGRESS_RULES_H
#define GB_EGRESS_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "egress/path.h"

enum {
	GB_HOST_NAME_MAX = 253,
	GB_HOST_LABEL_MAX = 63,
	GB_METHODS_TEXT_MAX = 160, /* all methods that a rule can name, with commas */
	/* The longest text of a rule: methods, " ", "*.", a name, ":65535", a path. */
	GB_HOST_RULE_MAX = GB_METHODS_TEXT_MAX + GB_HOST_NAME_MAX + 11 + GB_PATH_PATTERN_MAX,
	GB_HOST_RULES_MAX = 256, /* in an allowlist */
	/* Addresses other than those of loopback in an allowlist. */
	GB_HOST_ADDRESSES_MAX = 16,
};

/* A normalised name, or an address. */
struct gb_host {
	enum gb_host_kind { GB_HOST_NAME, GB_HOST_IPV4, GB_HOST_IPV6 } kind;
	/* In lower case, without a dot at the end; of an address, its usual form. */
	char name[GB_HOST_NAME_MAX + 3];
	uint8_t address[16]; /* 4 bytes of an IPv4 address */
};

struct gb_host_rule {
	struct gb_host host;
	bool below;                         /* "*.name" */
	uint16_t port;                      /* 0: 80 and 443 */
	uint32_t methods;                   /* bits of a table in rules.c; 0: every method */
	char path[GB_PATH_PATTERN_MAX + 1]; /* empty: every path */
};

struct gb_host_request {
	const struct gb_host *host;
	uint16_t port;
	bool tls;             /* the scheme is https */
	struct gb_str method; /* as it was sent: methods are compared with regard to case */
	struct gb_str target; /* its path, with or without a query; or "*" */
};

/* Normalise a name or an address, which may be in brackets: in lower case, without one dot at the end. Fails for
 * everything that is not exactly one of them; then *ret_problem says why. */
bool gb_host_parse(struct gb_str text, struct gb_host *ret, const char **ret_problem);

/* Whether it is an address of loopback. */
bool gb_host_is_loopback(const struct gb_host *host);

bool gb_host_rule_parse(struct gb_str text, struct gb_host_rule *ret, const char **ret_problem);
/* Cut the first rule off a list with commas: a method belongs to the host that follows it. Returns whether a comma
 * followed it. */
bool gb_host_rule_cut(struct gb_str *list, struct gb_str *ret_rule);
/* "api.example.com:8443", "GET api.example.com/v1"; GB_HOST_RULE_MAX + 1 bytes are enough. */
void gb_host_rule_write(const struct gb_host_rule *rule, char *ret, size_t n);

/* Whether @rule admits the host, at any port. */
bool gb_host_rule_is_about(const struct gb_host_rule *rule, const struct gb_host *host);
/* Whether @rule admits connections to the host at @port. */
bool gb_host_rule_admits(const struct gb_host_rule *rule, const struct gb_host *host, uint16_t port);
/* The first of @n rules that admits the host at @port, or NULL. */
const struct gb_host_rule *gb_host_rules_find(
    const struct gb_host_rule *rules, size_t n, const struct gb_host *host, uint16_t port);

/* Whether it is one host, with or without a port, and nothing more. */
bool gb_host_rule_is_one(const struct gb_host_rule *rule);
/* Whether the rule has methods or a path. */
bool gb_host_rule_limits_requests(const struct gb_host_rule *rule);
/* Whether requests to the host at @port must be read: rules admit some of them, but none admits all. */
bool gb_host_rules_limit_requests(
    const struct gb_host_rule *rules, size_t n, const struct gb_host *host, uint16_t port);
/* The first of @n rules that admits the request; otherwise NULL, and *ret_problem says why. Port 80 is http and port
 * 443 https; at other ports a rule admits both. */
const struct gb_host_rule *gb_host_rules_match(const struct gb_host_rule *rules, size_t n,
    const struct gb_host_request *request, const char **ret_problem);

/* Whether everything that @inner admits is admitted by the @n rules. */
bool gb_host_rules_cover(const struct gb_host_rule *rules, size_t n, const struct gb_host_rule *inner);

/* The ports of the rule: writes one or two, returns how many. */
size_t gb_host_rule_ports(const struct gb_host_rule *rule, uint16_t ret[2]);

#endif
