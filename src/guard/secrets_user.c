/* The password of any program that is given a user before it: -u bob -p x, also as a list of texts. */
#include <ctype.h>
#include <string.h>

#include "base/cleanup.h"
#include "guard/secrets_named.h"
#include "guard/secrets_shape.h"

enum { ARGUMENTS = 8, ARGUMENT_MAX = 80, SEPARATORS = 8, PORT_MAX = 5, LINE_MAX = 80, COMMAND_MAX = 200 };

static bool is_quote(int c) {
	return c == '"' || c == '\'';
}

/* The next argument of a command line, or of ["-u", "bob", "-p", "x"]. */
bool gb_argument_listed(struct gb_named *text, const uint8_t *p, struct gb_argument *arg) {
	int c;
	unsigned n = 0;
	while ((c = gb_named_at(text, p)) >= 0 && n < SEPARATORS && (c == ' ' || c == ',' || c == '\t')) {
		p++;
		n++;
	}
	if (c < 0 || !n || strchr("\n\r|;&<>)]", c))
		return false;
	bool escaped = c == '\\';
	if (escaped)
		c = gb_named_at(text, ++p);
	int quote = is_quote(c) ? c : 0;
	arg->from = p += quote != 0;
	for (n = 0; n < ARGUMENT_MAX && (c = gb_named_at(text, p)) >= 0 && c != '\n'; n++, p++)
		if (quote ? c == quote || (escaped && c == '\\') : isspace(c) || strchr("\"'`;|,\\)", c))
			break;
	arg->to = p;
	arg->next = p + (escaped && c == '\\') + (quote != 0);
	return p > arg->from && (!quote || c == quote || escaped);
}

bool gb_user_is_example(const uint8_t *user, const uint8_t *end, const uint8_t *from, const uint8_t *to) {
	static const char *const users[] = {"user", "username", "login", "name", "usr", "uname", "client_id"};
	if (!gb_shape_is_chosen_of_words(from, (size_t)(to - from), GB_SHAPE_WORD))
		return false;
	for (size_t i = 0; i < GB_COUNT(users); i++)
		if ((size_t)(end - user) == strlen(users[i]) &&
		    gb_shape_has_part(user, strlen(users[i]), users[i]))
			return true;
	return false;
}

static bool is_option(const struct gb_argument *arg) {
	static const char *const options[] = {"-p", "-P", "-pw", "-w"};
	for (size_t i = 0; i < GB_COUNT(options); i++)
		if ((size_t)(arg->to - arg->from) == strlen(options[i]) &&
		    memcmp(arg->from, options[i], strlen(options[i])) == 0)
			return true;
	return false;
}

/* A port, a mapping of ports, an assignment, a path. */
static bool is_other(const struct gb_argument *arg) {
	size_t digits = 0, n = (size_t)(arg->to - arg->from);
	for (size_t i = 0; i < n; i++)
		digits += isdigit(arg->from[i]) != 0;
	return (digits == n && n <= PORT_MAX) || memchr(arg->from, '=', n) || *arg->from == '/' ||
	       (memchr(arg->from, ':', n) && digits * 2 >= n);
}

/* mysql -u root -p shop: a database follows. */
static bool is_client(const struct gb_named *text, const uint8_t *p) {
	const uint8_t *from = p;
	while (from > text->start && p - from < LINE_MAX && from[-1] != '\n')
		from--;
	size_t n = (size_t)(p - from);
	return memmem(from, n, "mysql", 5) || memmem(from, n, "mariadb", 7);
}

/* No address: ldap://host */
bool gb_argument_is_name(const struct gb_argument *arg) {
	for (const uint8_t *p = arg->from; p < arg->to; p++)
		if (!isalnum(*p) && !strchr("_-.", *p))
			return false;
	return true;
}

/* "mysqladmin", "-px": the name is all of a text in a list. */
bool gb_command_is_listed(struct gb_named *text, const uint8_t *name, const uint8_t *to) {
	const uint8_t *p = to;
	int c;
	if (name == text->start || !is_quote(name[-1]) || !isalnum(to[-1]))
		return false;
	while (p - to < 16 && (c = gb_named_at(text, p)) >= 0 && (isalnum(c) || strchr("_-.", c)))
		p++;
	return gb_named_at(text, p) == name[-1] && gb_named_at(text, p + 1) == ',';
}

/* The command goes on in this line: -u bob:x */
static bool begins_line(const struct gb_named *text, const uint8_t *p) {
	static const char *const options[] = {"-u ", "-U ", "--user "};
	for (size_t i = 0; i < GB_COUNT(options); i++) {
		const uint8_t *at = gb_before_is(text, p, options[i]) ? p - strlen(options[i]) : NULL;
		for (unsigned n = 0; at && n < SEPARATORS && at > text->start && at[-1] == ' '; n++)
			at--;
		if (at && at > text->start && (at[-1] == '\n' || is_quote(at[-1])))
			return true;
	}
	return false;
}

static bool is_pair(struct gb_named *text, const struct gb_argument *arg) {
	const uint8_t *colon = memchr(arg->from, ':', (size_t)(arg->to - arg->from));
	text->from = colon ? colon + 1 : text->end;
	text->to = arg->to;
	text->resume = NULL;
	return colon && colon > arg->from && !text->cut && !is_other(arg) &&
	       gb_guess_is_password(colon + 1, arg->to);
}

static bool has_address(const uint8_t *from, const uint8_t *to) {
	return memmem(from, (size_t)(to - from), "://", 3) != NULL;
}

/* -u www-data:www-data is a user and a group. */
static bool is_group(const struct gb_argument *arg, const uint8_t *colon) {
	size_t n = (size_t)(colon - arg->from);
	return (size_t)(arg->to - colon) == n + 1 && memcmp(arg->from, colon + 1, n) == 0;
}

/* tool -u bob:x https://host, tool https://host -u bob:x: other programs have other pairs behind this option. */
static bool find_pair(struct gb_named *text, const uint8_t *p, struct gb_argument arg) {
	const uint8_t *colon = memchr(arg.from, ':', (size_t)(arg.to - arg.from)), *line = p;
	if (!colon || colon == arg.from || is_group(&arg, colon))
		return false;
	bool pair = is_pair(text, &arg);
	const uint8_t *from = text->from, *to = text->to;
	while (line > text->start && p - line < LINE_MAX && line[-1] != '\n')
		line--;
	bool found = has_address(line, p);
	while (pair && !found && arg.next - p < COMMAND_MAX && gb_argument_listed(text, arg.next, &arg))
		found = has_address(arg.from, arg.to);
	text->from = pair || text->cut ? from : text->end;
	text->to = to;
	return pair && found && !text->cut;
}

/* winrs -u:bob -p:x, tool /u:bob /p:x */
static bool find_attached(struct gb_named *text, const struct gb_place *place, const uint8_t *p) {
	const uint8_t *from = p;
	int c;
	while (p - from < ARGUMENT_MAX && gb_named_at(text, p) > ' ')
		p++;
	c = gb_named_at(text, p + 1);
	if (p == from || gb_named_at(text, p) != ' ' || (c != '-' && c != '/') ||
	    !gb_named_is_at(text, p + 2, "p:"))
		return false;
	p += 4;
	c = gb_named_at(text, p);
	int quote = is_quote(c) ? c : ' ';
	p += quote != ' ';
	text->from = from = p < text->end ? p : text->end;
	while (p - from < ARGUMENT_MAX && (c = gb_named_at(text, p)) >= ' ' && c != quote)
		p++;
	text->to = p;
	text->resume = NULL;
	return !text->cut && gb_guess_is_secret(place, from, p, quote != ' ', ' ');
}

bool gb_user_find(struct gb_named *text, const uint8_t *p) {
	static const struct gb_place place = {.tail = GB_RX_PASSWORD, .joint = GB_JOINT_BLANK, .sure = true};
	struct gb_argument arg = {0};
	if (p[-1] == ':')
		return find_attached(text, &place, p);
	if (is_client(text, p))
		return false;
	/* The pattern ends with the quote or the blank that stands before the user. */
	if (!gb_argument_listed(text, p - 1 - is_quote(p[-1]), &arg) || *arg.from == '-')
		return false;
	if (begins_line(text, p))
		return is_pair(text, &arg);
	if (find_pair(text, p, arg) || text->cut)
		return !text->cut;
	for (unsigned i = 0; i < ARGUMENTS && gb_argument_listed(text, arg.next, &arg); i++) {
		if (!is_option(&arg))
			continue;
		struct gb_argument value = {0};
		bool read = gb_argument_listed(text, arg.next, &value);
		text->from = value.from && (read || text->cut) ? value.from : text->end;
		if (!read || text->cut)
			return false;
		text->to = value.to;
		text->resume = NULL;
		return !is_other(&value) && gb_guess_is_secret(&place, value.from, value.to, false, ' ');
	}
	return false;
}
