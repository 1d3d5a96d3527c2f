/* Passwords that prose tells: "swordfish for the password", "as user bob with password swordfish". */
#include <ctype.h>
#include <string.h>

#include "base/cleanup.h"
#include "guard/secrets_named.h"
#include "guard/secrets_shape.h"

enum { WORD_MAX = 40, TOLD_BEHIND = 60 };

/* for the password, as password: the words that follow a value. */
static bool is_named_behind(struct gb_named *text, const uint8_t *p) {
	static const char *const names[] = {" for the password", " as the password", " as password",
	    " for password", " as your password", " as a password", " for your password"};
	int c = gb_named_at(text, p + 1);
	if (c != 'f' && c != 'a')
		return false;
	for (size_t i = 0; i < GB_COUNT(names); i++)
		if (gb_named_is_at(text, p, names[i])) {
			c = gb_named_at(text, p + strlen(names[i]));
			return c < 0 || !(isalnum(c) || c == '_' || c == '-');
		}
	return false;
}

/* The username and this for the password. */
static bool is_told(const uint8_t *from, const uint8_t *to) {
	static const char *const others[] = {
	    "this", "that", "these", "them", "same", "which", "anything", "something", "whatever", "nothing"};
	size_t n = (size_t)(to - from);
	for (size_t i = 0; i < GB_COUNT(others); i++)
		if (n == strlen(others[i]) && memcmp(from, others[i], n) == 0)
			return false;
	return n >= 4 && gb_guess_is_password(from, to);
}

bool gb_former_find(struct gb_named *text, const uint8_t *p) {
	int quote = gb_named_at(text, p), c;
	bool quoted = quote == '"' || quote == '\'' || quote == '`' || quote == '*';
	const uint8_t *from = p;
	for (unsigned i = 0; quoted && i < 2 && gb_named_at(text, from) == quote;)
		from++, i++;
	const uint8_t *to = from, *end;
	while (to - from < WORD_MAX && (c = gb_named_at(text, to)) > ' ' && (!quoted || c != quote))
		to++;
	text->from = from < text->end ? from : text->end;
	text->to = end = to;
	for (unsigned i = 0; quoted && i < 2 && gb_named_at(text, end) == quote; i++)
		end++;
	return to > from && gb_named_at(text, end) == ' ' && is_named_behind(text, end) && !text->cut &&
	       is_told(from, to);
}

/* "as user bob with ", "login: bob, ": a user is named before [from, ...) in the same line. */
static bool names_user(const struct gb_named *text, const uint8_t *from) {
	static const char *const words[] = {
	    "user", "User", "login", "Login", " as ", "@", "log in", "Log in", "name", "account"};
	for (const uint8_t *p = from; p > text->start && from - p < TOLD_BEHIND && p[-1] != '\n'; p--)
		for (size_t i = 0; i < GB_COUNT(words); i++)
			if (from - p > 2 && (!isalnum(*p) || p[-1] == ' ' || p[-1] == '@') &&
			    gb_before_is(text, p, words[i]))
				return true;
	return false;
}

bool gb_told_is_behind_user(const struct gb_named *text, const struct gb_name *name) {
	static const char *const words[] = {
	    "with ", "and ", "with the ", "and the ", ", ", "/ ", "with pass", "using ", "using the "};
	for (size_t i = 0; i < GB_COUNT(words); i++)
		if (gb_before_is(text, name->from, words[i]))
			return names_user(text, name->from - strlen(words[i]) + (*words[i] == ','));
	return false;
}

/* something simpler like `x`: the quote, or NULL. */
const uint8_t *gb_told_example(struct gb_named *text, const uint8_t *p) {
	static const char *const words[] = {"like `", "such as `", "to `", "with `", "like \"", "such as \""};
	const uint8_t *from = p;
	for (int c; p - from < WORD_MAX && (c = gb_named_at(text, p)) >= 0 && (isalpha(c) || c == ' '); p++)
		for (size_t i = 0; (p == from || p[-1] == ' ') && i < GB_COUNT(words); i++)
			if (gb_named_is_at(text, p, words[i]))
				return p + strlen(words[i]) - 1;
	return NULL;
}

/* PASSWORD  x  no  Redis password for authentication: a row of the options of a program, which says whether it needs
 * the option. */
bool gb_told_is_option(struct gb_named *text, const uint8_t *p) {
	static const char *const answers[] = {"no ", "yes ", "true ", "false "};
	const uint8_t *from = p;
	while (p - from < WORD_MAX && gb_named_at(text, p) > ' ')
		p++;
	const uint8_t *at = gb_named_skip_blanks(text, p, false);
	for (size_t i = 0; p > from && at - p >= 2 && i < GB_COUNT(answers); i++)
		if (gb_named_is_at(text, at, answers[i]))
			return true;
	return false;
}

/* password authentication, password protection */
bool gb_told_is_noun(const uint8_t *from, size_t n) {
	static const char *const ends[] = {
	    "tion", "sion", "ment", "ness", "ance", "ence", "ity", "ism", "ers"};
	static const char *const nouns[] = {"manager", "prompt", "rules", "list", "lists", "login", "logins",
	    "flow", "form", "check", "checks", "change", "changes", "resets", "hashes", "length", "only",
	    "support", "policy", "screen", "page", "below", "above", "first", "again", "instead", "entry",
	    "grant", "type", "mode", "auth", "database", "cracker", "later", "button", "from", "when",
	    "twice"};
	for (size_t i = 0; i < GB_COUNT(nouns); i++)
		if (n == strlen(nouns[i]) && memcmp(from, nouns[i], n) == 0)
			return true;
	for (size_t i = 0; i < GB_COUNT(ends); i++)
		if (n > strlen(ends[i]) && memcmp(from + n - strlen(ends[i]), ends[i], strlen(ends[i])) == 0)
			return true;
	return false;
}
