/* Where a value that stands behind the name of a secret begins and ends. */
#include <ctype.h>
#include <string.h>

#include "base/cleanup.h"
#include "guard/secrets_named.h"

enum {
	ASSIGNED_MAX = 40,
	LEAD_MAX = 9,
	APP_GROUP = 4,
	REMARK_BLANKS = 24,
	SHORTENED = 16,
	CURLY_MAX = 80,
	GENERATED_MIN = 8,
	APP_PASSWORD = 19
};

static bool is_quote(int c) {
	return c == '"' || c == '\'' || c == '`';
}

static bool ends_line(int next) {
	return next < 0 || next == '\n' || next == '\r';
}

/* Behind '&': another field of a query, "&name=". */
static bool begins_field(struct gb_named *text, const uint8_t *p) {
	for (unsigned i = 0; i < ASSIGNED_MAX; i++) {
		int c = gb_named_at(text, p + i);
		if (c == '=')
			return i > 0;
		if (c < 0 || !(isalnum(c) || strchr("_-.", c)))
			return false;
	}
	return false;
}

static bool ends_word(int c) {
	return c < 0 || isspace(c);
}

static bool ends_bare(struct gb_named *text, const struct gb_place *place, const uint8_t *p, int c) {
	/* A line of an environment has nothing but the value. */
	bool whole = place->capital && place->line && place->flush && !place->spaced &&
		     place->joint == GB_JOINT_EQUALS && !place->option;
	/* -e "SA_PASSWORD=Strong(!)1" */
	whole |= place->capital && place->compound && place->inside && !place->spaced &&
		 place->joint == GB_JOINT_EQUALS && (c == '(' || c == ')');
	if (c < 0 || isspace(c) || strchr("\"'`|\\\x1b", c) || (!whole && strchr(";,<>)}](", c)))
		return true;
	/* [green]password: x[/green] */
	if (c == '[' && gb_named_at(text, p + 1) == '/')
		return true;
	if (whole && c == ';')
		return ends_word(gb_named_at(text, p + 1));
	/* Punctuation of other scripts. */
	if (c == 0xe3 || c == 0xef || (c == 0xe2 && gb_named_at(text, p + 1) == 0x80))
		return true;
	if (place->query)
		return c == '&' || (c == '#' && place->tail != GB_RX_PASSWORD);
	return c == '&' && (gb_named_at(text, p + 1) == '&' || begins_field(text, p + 1));
}

/* SMTP_PASS=abcd efgh ijkl mnop */
static const uint8_t *app_password_end(
    struct gb_named *text, const struct gb_place *place, const uint8_t *p, const uint8_t *end) {
	if (!place->capital || !place->line || end - p != APP_GROUP)
		return end;
	for (unsigned i = 0; i < APP_PASSWORD; i++) {
		int c = gb_named_at(text, p + i);
		if (i % (APP_GROUP + 1) == APP_GROUP ? c != ' ' : !islower(c))
			return end;
	}
	return ends_line(gb_named_at(text, p + APP_PASSWORD)) ? p + APP_PASSWORD : end;
}

/* The default password is admin/x, user/password: root:x */
static const uint8_t *user_end(const uint8_t *from, const uint8_t *to) {
	while (from < to && isalnum(*from))
		from++;
	return from;
}

static bool has_user(const struct gb_place *place, const uint8_t *from, const uint8_t *to) {
	const uint8_t *end = user_end(from, to);
	return place->tail != GB_RX_KEY && (place->joint == GB_JOINT_COLON || place->stated) &&
	       end + 1 < to && (*end == '/' || *end == ':') && gb_prose_is_user(from, end);
}

static bool is_behind_user(struct gb_named *text, const uint8_t *from, const uint8_t *to) {
	static const struct gb_place place = {.tail = GB_RX_PASSWORD, .joint = GB_JOINT_COLON, .sure = true};
	text->from = user_end(from, to) + 1;
	return gb_guess_is_secret(&place, text->from, to, false, ' ');
}

/* password: x # a remark */
static bool is_remarked(struct gb_named *text, const uint8_t *p) {
	int c;
	for (unsigned i = 0; i < REMARK_BLANKS && ((c = gb_named_at(text, p)) == ' ' || c == '\t'); i++)
		p++;
	c = gb_named_at(text, p);
	/* 0xe2 begins dashes, and the lines of a box. */
	if (ends_line(c) || c == '#' || c == '(' || c == ';' || c == 0xe2)
		return true;
	int next = strchr("/-<|*", c) ? gb_named_at(text, p + 1) : 0;
	return (c == '/' && (next == '/' || next == '*')) || (c == '-' && next == '-') ||
	       (c == '*' && next == '/') || (c == '<' && tolower(next) == 'b') ||
	       (c == '|' && ends_line(next));
}

const uint8_t *gb_extent_encoding(struct gb_named *text, const uint8_t *p) {
	static const char *const marks[] = {"{noop}", "{plain}", "{cleartext}", "{clear}"};
	for (size_t i = 0; gb_named_at(text, p) == '{' && i < GB_COUNT(marks); i++)
		if (gb_named_is_at(text, p, marks[i]))
			return p + strlen(marks[i]);
	return p;
}

static bool guess_bare(struct gb_named *text, const struct gb_place *place, const uint8_t *p) {
	const uint8_t *end = p = gb_extent_encoding(text, p);
	text->from = p < text->end ? p : text->end;
	int c = gb_named_at(text, p);
	if (c == '$' || c == '{' || c == '[' || c == '*' || c == '&' || c == '<' || c == '(')
		return false;
	unsigned signs = 0;
	/* 12|x */
	while (end - p < LEAD_MAX && isdigit(gb_named_at(text, end)))
		end++;
	end = end > p && gb_named_at(text, end) == '|' && isalnum(gb_named_at(text, end + 1)) ? end + 1 : p;
	while (end - p < GB_NAMED_VALUE && !ends_bare(text, place, end, c = gb_named_at(text, end))) {
		/* Encodings end with two at most; with more of them it is a list of other names. */
		signs += c == '=';
		if (signs > 2)
			return false;
		end++;
	}
	end = app_password_end(text, place, p, end);
	text->to = end;
	text->goes_on = end - p == GB_NAMED_VALUE;
	/* A sentence ends with a full stop, and bold text with asterisks. */
	while (end > p && text->to > p && strchr(".*", text->to[-1]) && !text->goes_on)
		text->to--;
	/* STRIPE_SECRET_KEY=sk_test_... */
	if (place->capital && place->joint == GB_JOINT_EQUALS && end - text->to >= 3 &&
	    text->to - p < SHORTENED)
		return false;
	/* s/old x/requirepass x/ */
	if (place->sure && text->to - p > 1 && text->to[-1] == '/' && is_quote(c))
		text->to--;
	/* ... so nothing of the sentence follows the value; nor does anything behind a remark. */
	if (c == ' ' && (text->to < end || is_remarked(text, end)))
		c = '\n';
	if (c == '[')
		c = '\n';
	bool lines = c == '\\' && (place->line || place->inside) && gb_named_at(text, end + 1) == 'n';
	if (lines)
		c = '\n';
	if (text->cut)
		return false;
	if (has_user(place, p, text->to))
		return is_behind_user(text, p, text->to);
	/* access_token=x&expires=1 */
	struct gb_place field = *place;
	/* "password: x\\nhost: y" */
	field.line |= lines || (place->inside && c == '\n');
	field.query |= c == '&' && place->joint == GB_JOINT_EQUALS && !place->spaced;
	return gb_guess_is_secret(&field, p, text->to, false, text->goes_on ? ' ' : c);
}

/* @p is behind the opening @quote, which is written with a backslash if @escaped. */
static bool guess_quoted(
    struct gb_named *text, const struct gb_place *place, const uint8_t *p, int quote, bool escaped) {
	const uint8_t *end = p;
	for (int c; end - p < GB_NAMED_VALUE; end++) {
		c = gb_named_at(text, end);
		if (c < 0 || c == '\n' || c == '\r')
			break;
		if (escaped ? c == '\\' : c == quote)
			break;
		if (c == '\\')
			end++;
	}
	text->goes_on = end - p >= GB_NAMED_VALUE;
	if (text->goes_on)
		end = p + GB_NAMED_VALUE;
	text->to = end < text->end ? end : text->end;
	/* .type('x{enter}') */
	if (place->sure && text->to - p > 7 && memcmp(text->to - 7, "{enter}", 7) == 0)
		text->to -= 7;
	int next = text->goes_on ? quote : gb_named_at(text, end);
	if (text->cut || next == '\n' || next == '\r')
		return false;
	struct gb_place closed = *place;
	int bracket = place->pair ? gb_named_at(text, end + 1) : -1;
	closed.closed = bracket == ')' || bracket == '}';
	if (text->cut)
		return false;
	if (has_user(place, p, text->to))
		return is_behind_user(text, p, text->to);
	return gb_guess_is_secret(&closed, p, text->to, true, next);
}

size_t gb_quote_curly(struct gb_named *text, const uint8_t *p) {
	if (gb_named_at(text, p) != 0xe2 || gb_named_at(text, p + 1) != 0x80)
		return 0;
	int c = gb_named_at(text, p + 2);
	return c >= 0x98 && c <= 0x9f ? 3 : 0;
}

/* Word processors make such quotes, also in code; @p is behind the opening one. */
static bool guess_curly(struct gb_named *text, const struct gb_place *place, const uint8_t *p) {
	const uint8_t *end = p;
	int c;
	text->from = p < text->end ? p : text->end;
	while (end - p < CURLY_MAX && (c = gb_named_at(text, end)) >= 0 && c != '\n' &&
	       !gb_quote_curly(text, end))
		end++;
	text->to = end;
	return !text->cut && gb_quote_curly(text, end) && end > p &&
	       gb_guess_is_secret(place, p, end, true, '"');
}

/* "}rB5q-GWvvbg3nDI" begins like what follows a text that ends here, "password=" + x, but only a value has capitals,
 * small letters and digits up to the next quote, and no sign before that. */
static bool is_generated(struct gb_named *text, const struct gb_place *place, const uint8_t *p, int quote) {
	const uint8_t *from = p;
	bool upper = false, lower = false, digit = false;
	int c = place->inside ? -1 : 0;
	for (; c >= 0 && p - from < CURLY_MAX && (c = gb_named_at(text, p)) != quote; p++) {
		if (c <= ' ' || c == '(' || c == '\\')
			return false;
		upper |= isupper(c) != 0;
		lower |= islower(c) != 0;
		digit |= isdigit(c) != 0;
	}
	return c == quote && p - from >= GENERATED_MIN && upper && lower && digit &&
	       (isalnum(p[-1]) || strchr("!?#$%&*@", p[-1]));
}

bool gb_guess_value(struct gb_named *text, const struct gb_place *place, const uint8_t *p) {
	p = gb_joint_wrapper(text, p);
	int c = gb_named_at(text, p);
	if (gb_quote_curly(text, p) || (c == 0xe2 && text->cut))
		return guess_curly(text, place, p + 3);
	text->from = c < 0 ? text->end : p;
	/* b'...', @"...", r"..."; in formatted strings a brace is what stands for the value. */
	if (c >= 0 && strchr("bBrRuULN@", c) && is_quote(gb_named_at(text, p + 1)))
		c = gb_named_at(text, ++p);
	bool escaped = c == '\\';
	if (escaped)
		c = gb_named_at(text, ++p);
	if (c < 0)
		return false;
	text->from = is_quote(c) ? p + 1 : p;
	/* What looks like an opening quote closes the text that the name is in: "password: " + password. */
	int first = is_quote(c) ? gb_named_at(text, p + 1) : -1;
	if (first >= 0 &&
	    (isspace(first) || (strchr("+,);:.]}>|", first) && !is_generated(text, place, p + 1, c))))
		return false;
	if (is_quote(c))
		return guess_quoted(text, place, p + 1, c, escaped);
	/* f"?token={x}", where the braces were left around a value */
	if (c == '{' && place->query && isxdigit(gb_named_at(text, p + 1)))
		text->from = ++p;
	return !escaped && guess_bare(text, place, p);
}
