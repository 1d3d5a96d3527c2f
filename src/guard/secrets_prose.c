/* Passwords that stand apart from a name: behind directives of devices and installers, behind a user in
 * prose, and in the rows of tables. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "guard/secrets_named.h"

enum { MODIFIERS = 3, INDENT = 8, WORDS = 4, WORD_MAX = 12, USER_MAX = 40, COLUMNS = 8, TABLE_MAX = 220 };

/* --- directives --- */

static bool begins_line(const struct gb_named *text, const uint8_t *p) {
	for (unsigned i = 0; i < INDENT && p > text->start && p[-1] == ' '; i++)
		p--;
	return p == text->start || strchr("\n\r#>", p[-1]);
}

/* enable password 7 x, rootpw --plaintext x, pre-shared-key ascii-text x */
static bool is_modifier(const struct gb_argument *arg) {
	static const char *const words[] = {
	    "ascii", "ascii-text", "local", "remote", "hex", "clear", "md5", "unencrypted"};
	size_t n = (size_t)(arg->to - arg->from);
	if ((n == 1 && isdigit(*arg->from)) || (n > 2 && memcmp(arg->from, "--", 2) == 0))
		return true;
	for (size_t i = 0; i < GB_COUNT(words); i++)
		if (n == strlen(words[i]) && strncasecmp((const char *)arg->from, words[i], n) == 0)
			return true;
	return false;
}

static bool has_no_word(const uint8_t *from, const uint8_t *to) {
	for (const uint8_t *p = from; p < to; p++)
		if (isdigit(*p) || strchr("!@#$%^&*+?~", *p))
			return true;
	return false;
}

static bool has_letter(const uint8_t *from, const uint8_t *to) {
	while (from < to && !isalpha(*from))
		from++;
	return from < to;
}

bool gb_directive_find(struct gb_named *text, const uint8_t *name, const uint8_t *p) {
	static const struct gb_place place = {.tail = GB_RX_PASSWORD, .joint = GB_JOINT_BLANK, .sure = true};
	struct gb_argument arg = {0};
	text->from = p < text->end ? p : text->end;
	for (unsigned i = 0; i <= MODIFIERS; i++, p = arg.next) {
		if (!gb_argument_next(text, p, &arg) || text->cut)
			return false;
		if (!is_modifier(&arg))
			break;
	}
	/* A config in a text of code ends where the text does. */
	const uint8_t *to = arg.to;
	while (to > arg.from && strchr("`\"',.;", to[-1]))
		to--;
	text->from = arg.from + (arg.from < to && *arg.from == '`');
	text->to = to;
	if (text->from >= to || !gb_guess_is_secret(&place, text->from, to, false, ' '))
		return false;
	/* A cell behind an address of mail could be a name or a number; an answer to an installer is certain.
	 */
	if (*name == '@')
		return has_letter(text->from, to) && has_no_word(text->from, to);
	return has_no_word(text->from, to) || *name == '-' || begins_line(text, name);
}

/* --- a user and a password --- */

static const uint8_t *skip_marks(struct gb_named *text, const uint8_t *p, const char *marks) {
	int c;
	for (unsigned i = 0; i < INDENT && (c = gb_named_at(text, p)) > 0 && strchr(marks, c); i++)
		p++;
	return p;
}

/* The words between "credentials" and the user. */
static const uint8_t *skip_words(struct gb_named *text, const uint8_t *p) {
	static const char *const words[] = {"are", "is", "as", "with", "using", "use", "the", "default", "to",
	    "for", "user", "username", "credentials", "admin", "password"};
	for (unsigned times = 0; times < WORDS; times++) {
		p = skip_marks(text, p, " :*()=>");
		unsigned n = 0;
		while (n < WORD_MAX && isalpha(gb_named_at(text, p + n)))
			n++;
		bool known = false;
		for (size_t i = 0; !text->cut && i < GB_COUNT(words); i++)
			known |= n == strlen(words[i]) && strncasecmp((const char *)p, words[i], n) == 0;
		int c = gb_named_at(text, p + n);
		/* "admin" may be the user. */
		if (!known || (c != ' ' && c != ':') || gb_named_at(text, p + n + 1) == '/')
			break;
		p += n;
	}
	return p;
}

bool gb_pair_find(struct gb_named *text, const uint8_t *p) {
	static const struct gb_place place = {
	    .tail = GB_RX_PASSWORD, .joint = GB_JOINT_PROSE, .stated = true};
	int c = gb_named_at(text, p);
	/* One more letter makes another word of it. */
	if (c < 0 || (p[-1] != ' ' && !strchr(" :*)", c)))
		return false;
	p = skip_marks(text, skip_words(text, p), "`*\"'");
	const uint8_t *user = p;
	while (p - user < USER_MAX && (c = gb_named_at(text, p)) >= 0 && (isalnum(c) || strchr("_.@+-", c)))
		p++;
	if (p - user < 2)
		return false;
	p = skip_marks(text, p, "`*\"'");
	p = skip_marks(text, p, " ");
	c = gb_named_at(text, p);
	if (c != '/' && c != ':')
		return false;
	const uint8_t *value = skip_marks(text, p + 1, " ");
	/* user: admin, which a name follows */
	if (c == ':' && value > p + 1)
		return false;
	text->from = value < text->end ? value : text->end;
	if (gb_named_at(text, value) == '/' || !gb_guess_value(text, &place, skip_marks(text, value, "*")))
		return false;
	/* (main.ts:12:7) */
	return c != ':' || !memchr(text->from, ':', (size_t)(text->to - text->from));
}

/* --- tables --- */

static const uint8_t *end_of_line(struct gb_named *text, const uint8_t *p, const uint8_t *end) {
	for (int c; p < end; p++)
		if ((c = gb_named_at(text, p)) < 0 || c == '\n')
			return c < 0 ? NULL : p + 1;
	return NULL;
}

const uint8_t *gb_table_cell(struct gb_named *text, const uint8_t *heading, const uint8_t *p) {
	const uint8_t *end = p + TABLE_MAX;
	unsigned column = 0;
	for (; heading > text->start && heading[-1] != '\n' && p - heading < USER_MAX * 2; heading--)
		column += heading[-1] == '|';
	if (heading > text->start && heading[-1] != '\n')
		return NULL;
	/* The line below the headings consists of these. */
	const uint8_t *line = end_of_line(text, p, end);
	int c = line ? gb_named_at(text, skip_marks(text, line, " |+:")) : -1;
	if (c != '-' && c != '=')
		return NULL;
	const uint8_t *row = end_of_line(text, line, end);
	for (; row && column && row < end; row++) {
		if ((c = gb_named_at(text, row)) < 0 || c == '\n')
			return NULL;
		column -= c == '|';
	}
	return row && row < end ? skip_marks(text, row, " ") : NULL;
}
