#include "egress/secret.h"

#include <string.h>

#include "base/cleanup.h"
#include "egress/echo.h"

/* --- what an owner writes --- */

static bool is_token_char(char c) {
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (c && strchr("!#$%&'*+-.^_`|~", c));
}

/* Parts of the connection, or set by glovebox-egress. */
static bool is_fixed_header(struct gb_str name) {
	static const char *const names[] = {"host", "content-length", "transfer-encoding", "connection",
	    "keep-alive", "proxy-connection", "te", "trailer", "upgrade", "expect", "accept-encoding",
	    "range", "if-range"};
	for (size_t i = 0; i < GB_COUNT(names); i++)
		if (gb_http_is_field(name, names[i]))
			return true;
	return false;
}

static const char *header_name_problem(struct gb_str name) {
	if (!name.n || name.n > GB_HEADER_NAME_MAX)
		return "the name of the header has 1 to 64 characters";
	for (size_t i = 0; i < name.n; i++)
		if (!is_token_char(name.p[i]))
			return "the name of the header has a character that no header name can have";
	return is_fixed_header(name) ? "this header belongs to the connection; a secret cannot be in it"
				     : NULL;
}

static bool is_visible(struct gb_str text) {
	for (size_t i = 0; i < text.n; i++)
		if ((unsigned char)text.p[i] < ' ' || text.p[i] == 0x7f)
			return false;
	return true;
}

static const char *around_problem(struct gb_str before, struct gb_str after) {
	if (before.n > GB_SECRET_AROUND_MAX || after.n > GB_SECRET_AROUND_MAX)
		return "the text around {} is longer than 256 bytes";
	if (!is_visible(before) || !is_visible(after))
		return "the header has a line break or another control character";
	return NULL;
}

bool gb_secret_header_parse(struct gb_str text, struct gb_str *ret_name, struct gb_str *ret_before,
    struct gb_str *ret_after, const char **ret_problem) {
	struct gb_str rest = text, name, before;
	if (!gb_str_cut(&rest, ':', &name)) {
		*ret_problem = "write it as 'name: value', with {} in the place of the secret";
		return false;
	}
	while (rest.n && rest.p[0] == ' ')
		rest = (struct gb_str){rest.p + 1, rest.n - 1};
	const char *place = rest.n ? memmem(rest.p, rest.n, "{}", 2) : NULL;
	const size_t at = place ? (size_t)(place - rest.p) : 0;
	before = (struct gb_str){rest.p, at};
	const struct gb_str after = place ? (struct gb_str){place + 2, rest.n - at - 2} : (struct gb_str){0};
	*ret_problem = header_name_problem(name);
	if (!*ret_problem && !place)
		*ret_problem = "it has no {} in the place of the secret";
	if (!*ret_problem && after.n && memmem(after.p, after.n, "{}", 2))
		*ret_problem = "it has more than one {}";
	if (!*ret_problem && after.n && after.p[after.n - 1] == ' ')
		*ret_problem = "it ends with a space, which is no part of a header";
	if (!*ret_problem)
		*ret_problem = around_problem(before, after);
	if (*ret_problem)
		return false;
	*ret_name = name;
	*ret_before = before;
	*ret_after = after;
	return true;
}

bool gb_secret_hosts_parse(struct gb_str text, struct gb_host_rule ret[GB_SECRET_HOSTS_MAX], size_t *ret_n,
    const char **ret_problem) {
	bool more = true;
	size_t n = 0;
	while (more) {
		struct gb_str one;
		more = gb_str_cut(&text, ',', &one);
		*ret_problem = n == GB_SECRET_HOSTS_MAX ? "there are more than 16 hosts" : NULL;
		if (*ret_problem || !gb_host_rule_parse(one, &ret[n], ret_problem))
			return false;
		if (gb_host_rule_limits_requests(&ret[n])) {
			*ret_problem = "a secret is bound to hosts, without methods and paths";
			return false;
		}
		n++;
	}
	*ret_n = n;
	return true;
}

bool gb_secret_value_check(struct gb_str value, const char **ret_problem) {
	*ret_problem =
	    !value.n ? "it is empty"
	    : value.n > GB_SECRET_BOUND_VALUE_MAX
		? "it has more than 1024 bytes, which is the most for a secret that is bound to hosts"
	    : !is_visible(value) ? "it has a line break or another control character"
	    : value.p[0] == ' ' || value.p[value.n - 1] == ' '
		? "it begins or ends with a space, which is no part of a header"
		: NULL;
	return !*ret_problem;
}

/* --- orders --- */

static void put_text(struct gb_buf *out, struct gb_str text) {
	const uint32_t n = (uint32_t)text.n;
	gb_buf_append(out, &n, sizeof n);
	gb_buf_append_str(out, text);
}

void gb_secret_order_write(struct gb_buf *out, const struct gb_secret_texts *texts) {
	put_text(out, texts->name);
	put_text(out, texts->hosts);
	put_text(out, texts->header);
	put_text(out, texts->placeholder);
	for (size_t i = 0; i < texts->n_forms; i++)
		put_text(out, texts->forms[i]);
}

static bool cut_text(struct gb_str *rest, struct gb_str *ret) {
	uint32_t n;
	if (rest->n < sizeof n)
		return false;
	memcpy(&n, rest->p, sizeof n);
	if (n > rest->n - sizeof n)
		return false;
	*ret = (struct gb_str){rest->p + sizeof n, n};
	rest->p += sizeof n + n;
	rest->n -= sizeof n + n;
	return true;
}

static bool is_placeholder(struct gb_str text) {
	for (size_t i = 0; i < text.n; i++)
		if (!is_token_char(text.p[i]))
			return false;
	return text.n >= GB_PLACEHOLDER_MIN && text.n <= GB_PLACEHOLDER_MAX;
}

static bool read_forms(struct gb_str rest, struct gb_secret_order *order) {
	size_t n = 0;
	const char *problem;
	for (; rest.n; n++)
		if (n == GB_SECRET_FORMS_MAX || !cut_text(&rest, &order->forms[n]) || !order->forms[n].n ||
		    order->forms[n].n > GB_ECHO_FORM_MAX)
			return false;
	order->bound.forms = order->forms;
	order->bound.n_forms = n;
	order->bound.value = n ? order->forms[0] : (struct gb_str){0};
	return gb_secret_value_check(order->bound.value, &problem);
}

bool gb_secret_order_read(const char *bytes, size_t n, struct gb_secret_order *ret) {
	struct gb_bound_secret *bound = &ret->bound;
	struct gb_str rest = {bytes, n}, hosts, header;
	const char *problem;
	*bound = (struct gb_bound_secret){.hosts = ret->hosts};
	return cut_text(&rest, &bound->name) && bound->name.n && bound->name.n <= GB_SECRET_BOUND_NAME_MAX &&
	       is_visible(bound->name) && cut_text(&rest, &hosts) &&
	       gb_secret_hosts_parse(hosts, ret->hosts, &bound->n_hosts, &problem) &&
	       cut_text(&rest, &header) &&
	       gb_secret_header_parse(header, &bound->header, &bound->before, &bound->after, &problem) &&
	       cut_text(&rest, &bound->placeholder) && is_placeholder(bound->placeholder) &&
	       read_forms(rest, ret);
}
