/* The password of any program that is given a user before it: -u bob -p x, also as a list of texts. */
#include <ctype.h>
#include <string.h>

#include "base/cleanup.h"
#include "guard/secrets_named.h"

enum { ARGUMENTS = 8, ARGUMENT_MAX = 80, SEPARATORS = 8, PORT_MAX = 5, LINE_MAX = 80 };

static bool is_quote(int c) {
	return c == '"' || c == '\'';
}

/* The next argument of a command line, or of ["-u", "bob", "-p", "x"]. */
static bool next_listed(struct gb_named *text, const uint8_t *p, struct gb_argument *arg) {
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

bool gb_user_find(struct gb_named *text, const uint8_t *p) {
	static const struct gb_place place = {.tail = GB_RX_PASSWORD, .joint = GB_JOINT_BLANK, .sure = true};
	struct gb_argument arg = {0};
	if (is_client(text, p))
		return false;
	/* The pattern ends with the quote or the blank that stands before the user. */
	if (!next_listed(text, p - 1 - is_quote(p[-1]), &arg) || *arg.from == '-')
		return false;
	for (unsigned i = 0; i < ARGUMENTS && next_listed(text, arg.next, &arg); i++) {
		if (!is_option(&arg))
			continue;
		struct gb_argument value = {0};
		bool read = next_listed(text, arg.next, &value);
		text->from = value.from && (read || text->cut) ? value.from : text->end;
		if (!read || text->cut)
			return false;
		text->to = value.to;
		text->resume = NULL;
		return !is_other(&value) && gb_guess_is_secret(&place, value.from, value.to, false, ' ');
	}
	return false;
}
