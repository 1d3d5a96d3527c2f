#include "egress/rules.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"

static bool is_digit(char c) {
	return c >= '0' && c <= '9';
}

static bool is_name_character(char c) {
	return (c >= 'a' && c <= 'z') || is_digit(c) || c == '-' || c == '_';
}

static bool fail(const char **ret_problem, const char *problem) {
	*ret_problem = problem;
	return false;
}

/* The C library reads "127.1", "0x7f.1" and "2130706433" as addresses: a name whose last label is a number is none. */
static bool is_number(struct gb_str label) {
	if (label.n > 1 && label.p[0] == '0' && label.p[1] == 'x') {
		label.p += 2;
		label.n -= 2;
		for (size_t i = 0; i < label.n; i++)
			if (!is_digit(label.p[i]) && !(label.p[i] >= 'a' && label.p[i] <= 'f'))
				return false;
		return true;
	}
	for (size_t i = 0; i < label.n; i++)
		if (!is_digit(label.p[i]))
			return false;
	return label.n > 0;
}

static bool check_label(struct gb_str label, const char **ret_problem) {
	if (label.n == 0)
		return fail(ret_problem, "a part between two dots is empty");
	if (label.n > GB_HOST_LABEL_MAX)
		return fail(ret_problem, "a part between two dots has more than 63 characters");
	for (size_t i = 0; i < label.n; i++) {
		if ((unsigned char)label.p[i] >= 0x80)
			return fail(
			    ret_problem, "write the name in its ASCII form, such as xn--bcher-kva.example");
		if (!is_name_character(label.p[i]))
			return fail(ret_problem, "a name consists of letters, digits, '-', '_' and dots");
	}
	if (label.p[0] == '-' || label.p[label.n - 1] == '-')
		return fail(ret_problem, "a part of a name cannot begin or end with '-'");
	return true;
}

static bool check_name(struct gb_str name, const char **ret_problem) {
	struct gb_str rest = name, label = {0};
	for (bool more = true; more;) {
		more = gb_str_cut(&rest, '.', &label);
		if (!check_label(label, ret_problem))
			return false;
	}
	if (is_number(label))
		return fail(ret_problem, "write an address as four decimal numbers, such as 192.0.2.7");
	return true;
}

/* Copies @text in lower case; *ret_text is the copy. */
static bool copy_lower(struct gb_str text, char *to, size_t size, struct gb_str *ret_text) {
	if (text.n >= size)
		return false;
	for (size_t i = 0; i < text.n; i++)
		to[i] = text.p[i] >= 'A' && text.p[i] <= 'Z' ? (char)(text.p[i] - 'A' + 'a') : text.p[i];
	to[text.n] = '\0';
	*ret_text = (struct gb_str){to, text.n};
	return true;
}

static bool parse_ipv6(struct gb_str text, struct gb_host *ret, const char **ret_problem) {
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	char copy[INET6_ADDRSTRLEN];
	if (text.n >= sizeof copy)
		return fail(ret_problem, "this is no IPv6 address");
	memcpy(copy, text.p, text.n);
	copy[text.n] = '\0';
	if (strlen(copy) != text.n || inet_pton(AF_INET6, copy, ret->address) != 1)
		return fail(ret_problem, "this is no IPv6 address");
	if (memcmp(ret->address, mapped, sizeof mapped) == 0)
		return fail(ret_problem, "write an IPv4 address as four decimal numbers, without ::ffff:");
	ret->kind = GB_HOST_IPV6;
	inet_ntop(AF_INET6, ret->address, ret->name, sizeof ret->name);
	return true;
}

bool gb_host_parse(struct gb_str text, struct gb_host *ret, const char **ret_problem) {
	struct gb_host host = {0};
	struct gb_str name;
	if (text.n > 2 && text.p[0] == '[' && text.p[text.n - 1] == ']') {
		text.p++;
		text.n -= 2;
		if (!parse_ipv6(text, &host, ret_problem))
			return false;
		*ret = host;
		return true;
	}
	if (text.n > 1 && text.p[text.n - 1] == '.')
		text.n--;
	if (text.n == 0)
		return fail(ret_problem, "the name is empty");
	if (text.n > GB_HOST_NAME_MAX || !copy_lower(text, host.name, sizeof host.name, &name))
		return fail(ret_problem, "a name has at most 253 characters");
	if (memchr(text.p, '\0', text.n))
		return fail(ret_problem, "a name cannot contain NUL");
	if (memchr(name.p, ':', name.n)) {
		if (!parse_ipv6(name, &host, ret_problem))
			return false;
	} else if (inet_pton(AF_INET, host.name, host.address) == 1) {
		host.kind = GB_HOST_IPV4;
	} else if (!check_name(name, ret_problem)) {
		return false;
	}
	*ret = host;
	return true;
}

bool gb_host_is_loopback(const struct gb_host *host) {
	static const uint8_t loopback6[16] = {[15] = 1};
	return (host->kind == GB_HOST_IPV4 && host->address[0] == 127) ||
	       (host->kind == GB_HOST_IPV6 && memcmp(host->address, loopback6, sizeof loopback6) == 0);
}

static bool parse_port(struct gb_str text, uint16_t *ret, const char **ret_problem) {
	unsigned port = 0;
	for (size_t i = 0; i < text.n; i++) {
		if (!is_digit(text.p[i]) || i == 5)
			return fail(ret_problem, "a port is a number from 1 to 65535");
		port = port * 10 + (unsigned)(text.p[i] - '0');
	}
	if (port == 0 || port > 65535 || text.p[0] == '0')
		return fail(ret_problem, "a port is a number from 1 to 65535");
	*ret = (uint16_t)port;
	return true;
}

/* Cut ":port" off the end of @text; a colon inside an IPv6 address is none. */
static bool cut_port(struct gb_str *text, uint16_t *ret_port, const char **ret_problem) {
	const char *colon = text->p ? memrchr(text->p, ':', text->n) : NULL;
	const char *bracket = text->p ? memrchr(text->p, ']', text->n) : NULL;
	*ret_port = 0;
	if (!colon || (bracket && colon < bracket) ||
	    (!bracket && memchr(text->p, ':', (size_t)(colon - text->p))))
		return true;
	struct gb_str port = {colon + 1, (size_t)(text->p + text->n - colon - 1)};
	text->n = (size_t)(colon - text->p);
	return parse_port(port, ret_port, ret_problem);
}

/* Names that every system resolves to loopback, which is only reached by its address. */
static bool is_localhost(const struct gb_host *host) {
	struct gb_str name = gb_str_from(host->name);
	return host->kind == GB_HOST_NAME && (gb_str_eq(name, gb_str_from("localhost")) ||
						 gb_str_ends_with(name, gb_str_from(".localhost")));
}

/* --- methods --- */

/* RFC 9110, PATCH, QUERY, and those of WebDAV. CONNECT is never allowed. */
static const char *const methods[] = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE",
    "QUERY", "PROPFIND", "PROPPATCH", "MKCOL", "COPY", "MOVE", "LOCK", "UNLOCK", "REPORT", "SEARCH"};
_Static_assert(GB_COUNT(methods) <= 32, "methods are bits of a number");

/* The bit of a method; 0 if the table has none. */
static uint32_t method_bit(struct gb_str name) {
	for (size_t i = 0; i < GB_COUNT(methods); i++)
		if (gb_str_eq(name, gb_str_from(methods[i])))
			return 1u << i;
	return 0;
}

static bool parse_methods(struct gb_str text, uint32_t *ret, const char **ret_problem) {
	struct gb_str name;
	for (bool more = true; more;) {
		more = gb_str_cut(&text, ',', &name);
		const uint32_t bit = method_bit(name);
		if (!bit)
			return fail(ret_problem, "methods are in capitals with commas between them, as in "
						 "GET,HEAD api.example.com");
		*ret |= bit;
	}
	return true;
}

/* Cut "GET,HEAD " off the beginning. */
static bool cut_methods(struct gb_str *text, uint32_t *ret, const char **ret_problem) {
	struct gb_str rest = *text, head;
	*ret = 0;
	if (method_bit(rest))
		return fail(ret_problem, "a host must follow the method; quote an entry that has a comma");
	if (!gb_str_cut(&rest, ' ', &head) || !(head.n && head.p[0] >= 'A' && head.p[0] <= 'Z'))
		return true;
	*text = rest;
	return parse_methods(head, ret, ret_problem);
}

/* Cut "/path" off the end. */
static bool cut_path(struct gb_str *text, char *to, const char **ret_problem) {
	const char *slash = text->n ? memchr(text->p, '/', text->n) : NULL;
	to[0] = '\0';
	if (!slash)
		return true;
	struct gb_str path = {slash, (size_t)(text->p + text->n - slash)};
	text->n = (size_t)(slash - text->p);
	return gb_path_pattern_parse(path, to, ret_problem);
}

/* --- rules --- */

bool gb_host_rule_parse(struct gb_str text, struct gb_host_rule *ret, const char **ret_problem) {
	struct gb_host_rule rule = {0};
	if (text.n == 0 || !text.p)
		return fail(ret_problem, "the name is empty");
	if (memmem(text.p, text.n, "://", 3) || memchr(text.p, '@', text.n))
		return fail(ret_problem, "write it without https:// and without a user");
	if (!cut_methods(&text, &rule.methods, ret_problem) || !cut_path(&text, rule.path, ret_problem))
		return false;
	if (!cut_port(&text, &rule.port, ret_problem))
		return false;
	if (text.n >= 2 && text.p[0] == '*' && text.p[1] == '.') {
		rule.below = true;
		text.p += 2;
		text.n -= 2;
	}
	if (text.n && text.p[0] == '*')
		return fail(ret_problem, "'*' stands only at the beginning, as in *.example.com");
	if (!gb_host_parse(text, &rule.host, ret_problem))
		return false;
	if (rule.below && (rule.host.kind != GB_HOST_NAME || !strchr(rule.host.name, '.')))
		return fail(ret_problem, "'*.' must be followed by a name with a dot, as in *.example.com");
	if (is_localhost(&rule.host))
		return fail(
		    ret_problem, "write the address of loopback and the port, such as 127.0.0.1:8080");
	*ret = rule;
	return true;
}

bool gb_host_rule_cut(struct gb_str *list, struct gb_str *ret_rule) {
	struct gb_str piece;
	const char *begin = list->p;
	bool more;
	do
		more = gb_str_cut(list, ',', &piece);
	while (more && method_bit(piece));
	*ret_rule = (struct gb_str){begin, (size_t)(piece.p + piece.n - begin)};
	return more;
}

void gb_host_rule_write(const struct gb_host_rule *rule, char *ret, size_t n) {
	const bool brackets = rule->host.kind == GB_HOST_IPV6;
	char port[8] = "", names[GB_METHODS_TEXT_MAX] = "";
	size_t used = 0;
	for (size_t i = 0; i < GB_COUNT(methods); i++)
		if (rule->methods & 1u << i)
			used += (size_t)snprintf(
			    names + used, sizeof names - used, "%s%s", used ? "," : "", methods[i]);
	if (rule->port)
		snprintf(port, sizeof port, ":%u", rule->port);
	snprintf(ret, n, "%s%s%s%s%s%s%s%s", names, used ? " " : "", rule->below ? "*." : "",
	    brackets ? "[" : "", rule->host.name, brackets ? "]" : "", port, rule->path);
}

bool gb_host_rule_is_about(const struct gb_host_rule *rule, const struct gb_host *host) {
	if (rule->host.kind != host->kind)
		return false;
	if (!rule->below)
		return strcmp(rule->host.name, host->name) == 0;
	const size_t n = strlen(rule->host.name), all = strlen(host->name);
	return all > n + 1 && host->name[all - n - 1] == '.' &&
	       memcmp(host->name + all - n, rule->host.name, n) == 0;
}

static bool has_port(const struct gb_host_rule *rule, uint16_t port) {
	return rule->port ? rule->port == port : port == 80 || port == 443;
}

bool gb_host_rule_admits(const struct gb_host_rule *rule, const struct gb_host *host, uint16_t port) {
	return has_port(rule, port) && gb_host_rule_is_about(rule, host);
}

const struct gb_host_rule *gb_host_rules_find(
    const struct gb_host_rule *rules, size_t n, const struct gb_host *host, uint16_t port) {
	for (size_t i = 0; i < n; i++)
		if (gb_host_rule_admits(&rules[i], host, port))
			return &rules[i];
	return NULL;
}

size_t gb_host_rule_ports(const struct gb_host_rule *rule, uint16_t ret[2]) {
	ret[0] = rule->port ? rule->port : 80;
	ret[1] = 443;
	return rule->port ? 1 : 2;
}

bool gb_host_rule_limits_requests(const struct gb_host_rule *rule) {
	return rule->methods || rule->path[0];
}

bool gb_host_rule_is_one(const struct gb_host_rule *rule) {
	return !rule->below && !gb_host_rule_limits_requests(rule);
}

bool gb_host_rules_limit_requests(
    const struct gb_host_rule *rules, size_t n, const struct gb_host *host, uint16_t port) {
	bool limits = false;
	for (size_t i = 0; i < n; i++) {
		if (!gb_host_rule_admits(&rules[i], host, port))
			continue;
		if (!gb_host_rule_limits_requests(&rules[i]))
			return false;
		limits = true;
	}
	return limits;
}

static bool fits_scheme(uint16_t port, bool tls) {
	return port == 443 ? tls : port == 80 ? !tls : true;
}

const struct gb_host_rule *gb_host_rules_match(const struct gb_host_rule *rules, size_t n,
    const struct gb_host_request *request, const char **ret_problem) {
	const uint32_t method = method_bit(request->method);
	const char *problem = NULL;
	char normal[GB_PATH_MAX];
	struct gb_str path = {0};
	*ret_problem = "no rule allows this host and port";
	if (!fits_scheme(request->port, request->tls)) {
		*ret_problem = request->tls ? "port 80 is http, not https" : "port 443 is https, not http";
		return NULL;
	}
	/* Once for all rules. */
	const bool well_formed = gb_path_normalise(request->target, normal, sizeof normal, &path, &problem);
	for (size_t i = 0; i < n; i++) {
		const struct gb_host_rule *rule = &rules[i];
		if (!gb_host_rule_admits(rule, request->host, request->port))
			continue;
		if (rule->methods && !(rule->methods & method))
			*ret_problem = "no rule allows this method";
		else if (rule->path[0] && !well_formed)
			*ret_problem = problem;
		else if (rule->path[0] && !gb_path_matches(rule->path, path))
			*ret_problem = "no rule allows this method and path";
		else
			return rule;
	}
	return NULL;
}

/* Whether @outer admits everything of @inner at @port with the methods @method. */
static bool covers(
    const struct gb_host_rule *outer, const struct gb_host_rule *inner, uint16_t port, uint32_t method) {
	if (!has_port(outer, port) || (outer->methods && !(outer->methods & method)))
		return false;
	if (inner->below && !outer->below)
		return false;
	if (outer->path[0] && (!inner->path[0] || !gb_path_covers(outer->path, inner->path)))
		return false;
	/* "*.a.b" is within "*.a.b" itself and within "*.b". */
	return gb_host_rule_is_about(outer, &inner->host) ||
	       (inner->below && inner->host.kind == outer->host.kind &&
		   strcmp(inner->host.name, outer->host.name) == 0);
}

static bool any_covers(const struct gb_host_rule *rules, size_t n, const struct gb_host_rule *inner,
    uint16_t port, uint32_t method) {
	for (size_t i = 0; i < n; i++)
		if (covers(&rules[i], inner, port, method))
			return true;
	return false;
}

bool gb_host_rules_cover(const struct gb_host_rule *rules, size_t n, const struct gb_host_rule *inner) {
	uint16_t ports[2];
	const size_t n_ports = gb_host_rule_ports(inner, ports);
	for (size_t i = 0; i < n_ports; i++) {
		/* Several rules can cover the methods together. All methods are more than those of the table. */
		if (!inner->methods && !any_covers(rules, n, inner, ports[i], 0))
			return false;
		for (size_t k = 0; k < GB_COUNT(methods); k++)
			if (inner->methods & 1u << k && !any_covers(rules, n, inner, ports[i], 1u << k))
				return false;
	}
	return true;
}
