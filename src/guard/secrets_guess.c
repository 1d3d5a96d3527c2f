/* Whether a value that stands behind the name of a secret is one: by its shape, and by what stands around it.
 */
#include <ctype.h>
#include <string.h>

#include "base/cleanup.h"
#include "guard/secrets_named.h"
#include "guard/secrets_shape.h"

enum {
	ASSIGNED_MAX = 40,
	VALUE_MIN = 4,
	MIXED_MIN = 6,
	LEAD_MAX = 9,
	APP_GROUP = 4,
	REMARK_BLANKS = 24,
	APP_PASSWORD = 19
};

/* --- values in their context --- */

static bool is_quote(int c) {
	return c == '"' || c == '\'' || c == '`';
}

static bool ends_line(int next) {
	return next < 0 || next == '\n' || next == '\r';
}

static bool ends_loosely(int next) {
	return ends_line(next) || next >= 0x80 || strchr(" \t\"'`;&|<\\", next);
}

/* abcd efgh ijkl mnop, as Google makes them. */
static bool is_app_password(const struct gb_shape *s) {
	return s->n == APP_PASSWORD && s->blanks == 3 && s->lower == 16;
}

/* ("password", "x"), .setPassword("x") */
static bool listed_is_secret(const struct gb_place *place, const struct gb_shape *s, const uint8_t *from) {
	bool certain = place->capital || place->option || place->closed;
	if (place->sure)
		return gb_shape_is_value(s, from, VALUE_MIN, place->capital);
	if (place->tail == GB_RX_PASSWORD)
		return (gb_shape_is_mixed(s, from) && s->digits) || is_app_password(s) ||
		       gb_shape_is_number(s) ||
		       (certain && !place->weak && gb_shape_is_value(s, from, VALUE_MIN, place->capital));
	if (place->chosen && certain)
		return gb_shape_is_value(s, from, VALUE_MIN, place->capital);
	return (place->capital || place->closed) && gb_shape_is_mixed(s, from) && s->digits &&
	       s->n >= (place->closed ? MIXED_MIN : GB_SHAPE_RANDOM_MIN);
}

/* Behind "api_key", which people choose less often than passwords, and "token", which parsers have too. */
static bool quoted_key_is_secret(
    const struct gb_place *place, const struct gb_shape *s, const uint8_t *from) {
	bool env = place->capital && place->joint == GB_JOINT_EQUALS && !place->spaced;
	bool parts = s->digits || memchr(from, '-', s->n) || memchr(from, '_', s->n);
	return (gb_shape_is_mixed(s, from) && s->digits && s->n >= 8 &&
		   (s->token_like || gb_shape_is_jumble(s))) ||
	       gb_shape_is_chosen(s, from) || (s->digits == s->n && s->n >= 12) ||
	       (place->capital && place->joint == GB_JOINT_EQUALS && gb_shape_is_phrase(s, from)) ||
	       (place->capital && gb_shape_is_quoted_word(s, from)) ||
	       (!place->weak && (parts || s->lower == s->n) &&
		   gb_shape_is_value(s, from, 8, place->capital)) ||
	       ((env || place->option || place->query) &&
		   gb_shape_is_value(s, from, VALUE_MIN, place->capital));
}

static bool quoted_is_secret(const struct gb_place *place, const struct gb_shape *s, const uint8_t *from) {
	if (place->joint == GB_JOINT_LIST)
		return listed_is_secret(place, s, from);
	if (place->tail == GB_RX_SECRET && !place->chosen)
		return quoted_key_is_secret(place, s, from);
	if (!place->weak)
		return gb_shape_is_value(s, from, place->capital ? VALUE_MIN - 1 : VALUE_MIN, place->capital);
	return gb_shape_is_mixed(s, from) || gb_shape_is_quoted_word(s, from) ||
	       gb_shape_is_phrase(s, from) || gb_shape_is_pin(s) ||
	       (s->foreign && s->digits && !s->blanks && s->n >= 8);
}

/* Where shells, addresses and connection strings have values, and code has none. */
static bool is_firm(const struct gb_place *place, int next) {
	if (place->fallback || place->sure || place->option || place->query || place->link ||
	    place->joint == GB_JOINT_ELEMENT)
		return true;
	if (place->joint != GB_JOINT_EQUALS || place->spaced)
		return false;
	return place->capital || place->inside || (place->line && ends_line(next));
}

/* A word or a number where nothing but a value stands. Prose and usage texts go on behind an option. */
static bool firm_is_value(
    const struct gb_place *place, const struct gb_shape *s, const uint8_t *from, int next) {
	bool capitals = s->upper && !s->lower && !s->digits;
	if (place->tail == GB_RX_SECRET && !place->chosen && !place->capital && !place->option &&
	    !place->query)
		return false;
	if (s->path && memchr(from, '.', s->n) && !s->digits)
		return false;
	if (place->sure || (place->option && place->joint == GB_JOINT_EQUALS))
		return gb_shape_is_value(s, from, VALUE_MIN - 1, place->capital);
	/* --password PW */
	if (place->joint == GB_JOINT_BLANK && (capitals || next == ','))
		return false;
	/* PASSWORD=someVariable in code that a program has made small. */
	if (gb_shape_is_camel_name(s, from) && !ends_line(next) && next != ' ' && !place->option &&
	    !place->query && !place->link)
		return false;
	return gb_shape_is_value(
	    s, from, place->capital || place->query ? VALUE_MIN - 1 : VALUE_MIN, place->capital);
}

static bool firm_is_secret(
    const struct gb_place *place, const struct gb_shape *s, const uint8_t *from, int next) {
	if (!ends_loosely(next) && !(place->fallback && next == '}') && !(place->option && next == ',') &&
	    !(place->query && next == ')'))
		return place->joint == GB_JOINT_EQUALS && gb_shape_is_mixed(s, from) &&
		       (!s->path || place->capital) && s->digits;
	bool word = gb_shape_is_word(s, from);
	if (place->tail == GB_RX_SECRET)
		word = place->capital && gb_shape_is_quoted_word(s, from) && !s->upper;
	return gb_shape_is_mixed(s, from) || word || firm_is_value(place, s, from, next) ||
	       (place->tail == GB_RX_PASSWORD && (gb_shape_is_number(s) || gb_shape_is_letters(s, from) ||
						     gb_shape_is_quoted_word(s, from)));
}

/* Behind "is" or a verb: The default password is x. */
static bool stated_is_secret(
    const struct gb_place *place, const struct gb_shape *s, const uint8_t *from, int next) {
	bool mixed = gb_shape_is_mixed(s, from) && (s->digits || !s->path);
	bool ends = ends_loosely(next) || strchr("),*", next);
	if (place->tail == GB_RX_PASSWORD && ends && gb_shape_is_pin(s))
		return true;
	bool word = gb_shape_is_word(s, from) || (gb_shape_is_quoted_word(s, from) && !s->upper) ||
		    s->lower == s->n ||
		    (place->known && !s->upper && !s->symbols && !s->blanks && !s->foreign);
	if (place->tail == GB_RX_PASSWORD && !place->weak && (next != ' ' || place->known) && ends && word &&
	    (place->wide || place->known || !gb_shape_is_remark(from, s->n)) &&
	    gb_shape_is_value(s, from, VALUE_MIN, false))
		return true;
	return mixed && (s->digits || place->tail == GB_RX_PASSWORD) && ends &&
	       (place->tail == GB_RX_PASSWORD || (s->n >= 8 && !memchr(from, '$', s->n)));
}

/* password: x, where the value has the rest of the line or of a text in quotes. */
static bool colon_is_secret(
    const struct gb_place *place, const struct gb_shape *s, const uint8_t *from, int next) {
	bool mixed = gb_shape_is_mixed(s, from) && (s->digits || !s->path);
	bool word =
	    gb_shape_is_word(s, from) || (place->line && gb_shape_is_quoted_word(s, from) && !s->upper);
	if (mixed || word || gb_shape_is_pin(s))
		return true;
	if (!ends_line(next))
		return false;
	if (gb_shape_is_letters(s, from) && !gb_shape_is_camel_name(s, from))
		return true;
	return (!s->camel || place->compound || !gb_shape_is_camel_name(s, from)) &&
	       gb_shape_is_value(s, from, VALUE_MIN, place->capital);
}

/* Other names than those of passwords. */
static bool loose_key_is_secret(
    const struct gb_place *place, const struct gb_shape *s, const uint8_t *from, int next) {
	bool mixed = gb_shape_is_mixed(s, from) && (s->digits || !s->path);
	/* -H "X-Auth-Token: x" */
	if (place->inside && place->spaced && (next == '"' || next == '\''))
		return (mixed && s->n >= 8 && s->digits) ||
		       (s->n >= GB_SHAPE_RANDOM_MIN && gb_shape_is_letters(s, from) &&
			   gb_shape_is_unpronounceable(from, s->n, s->turns));
	if (place->chosen && place->line && ends_line(next) && place->joint == GB_JOINT_COLON &&
	    place->spaced)
		return !s->camel && gb_shape_is_value(s, from, VALUE_MIN, place->capital);
	if (place->chosen && place->line && place->flush && ends_line(next) &&
	    place->joint == GB_JOINT_EQUALS)
		return !s->camel && gb_shape_is_value(s, from, VALUE_MIN, place->capital);
	/* Your access token: x */
	if (mixed && s->n >= 8 && s->digits && place->apart && place->joint == GB_JOINT_COLON &&
	    place->spaced && ends_line(next) && (!s->path || (s->groups >= 2 && !s->camel)))
		return true;
	if (s->digits == s->n && s->n >= 12 && place->line && place->capital)
		return true;
	return mixed && s->n >= 8 && place->line && ends_line(next) && (!s->path || !s->upper);
}

static bool equals_is_secret(
    const struct gb_place *place, const struct gb_shape *s, const uint8_t *from, int next) {
	bool mixed = gb_shape_is_mixed(s, from) && (s->digits || !s->path);
	/* LoginRequest(username=bob, password=x) */
	if (place->apart && !place->spaced && place->known && (next == ')' || next == ']') &&
	    gb_shape_is_word(s, from))
		return true;
	if (place->apart && !place->spaced && (next == ')' || next == ']' || next == ';'))
		return mixed && s->digits && !s->camel && !gb_shape_names_a_value(from, s->n);
	if (place->line && place->flush && ends_line(next))
		return mixed ||
		       (!s->camel && gb_shape_is_value(s, from, VALUE_MIN - place->compound, place->capital));
	if (ends_line(next))
		return (mixed && (!s->path || !gb_shape_names_a_value(from, s->n))) ||
		       gb_shape_is_number(s) ||
		       (place->apart && !place->spaced && (gb_shape_is_word(s, from) || gb_shape_is_pin(s)));
	/* "host=db user=alice password=lark" */
	if (place->apart && !place->spaced && place->known && ends_loosely(next) && next != ';' &&
	    gb_shape_is_value(s, from, VALUE_MIN, false) && !s->camel && !memchr(from, '.', s->n))
		return true;
	/* user=alice password=hunter2 */
	if ((place->apart || place->flush) && !place->spaced && next == ' ' &&
	    (gb_shape_is_word(s, from) || gb_shape_is_pin(s)))
		return true;
	return mixed && s->digits && !place->spaced && ends_loosely(next) && next != ';' &&
	       !memchr(from, '(', s->n);
}

/* YAML, INI, properties, prose. */
static bool loose_is_secret(
    const struct gb_place *place, const struct gb_shape *s, const uint8_t *from, int next) {
	bool mixed = gb_shape_is_mixed(s, from) && (s->digits || !s->path);
	if (place->alone)
		return ends_line(next) && s->n >= 8 && from[s->n - 1] != ':' &&
		       ((mixed && s->digits) || (gb_shape_is_letters(s, from) && s->turns * 4 >= s->n));
	if (place->stated)
		return stated_is_secret(place, s, from, next);
	if (place->field && place->tail == GB_RX_PASSWORD && (next == ' ' || next == ']' || next == '}'))
		return mixed && !(s->path && next == '}');
	/* DB_PASSWORD: marble_arch */
	if (place->capital && place->line && ends_line(next) && place->joint != GB_JOINT_PROSE &&
	    place->joint != GB_JOINT_BLANK && (place->tail == GB_RX_PASSWORD || place->chosen) &&
	    !(place->weak && s->upper) && gb_shape_is_value(s, from, VALUE_MIN - 1, true))
		return true;
	if (place->tail == GB_RX_SECRET)
		return loose_key_is_secret(place, s, from, next);
	if (place->joint == GB_JOINT_EQUALS)
		return equals_is_secret(place, s, from, next);
	if (place->joint == GB_JOINT_COLON && place->spaced &&
	    (ends_line(next) || next == '"' || next == '\'' || next == '`') &&
	    colon_is_secret(place, s, from, next))
		return true;
	if (place->joint == GB_JOINT_PROSE && place->config && ends_line(next) && s->lower == s->n &&
	    !gb_shape_is_remark(from, s->n) && gb_shape_is_value(s, from, VALUE_MIN, false))
		return true;
	if (place->joint == GB_JOINT_PROSE)
		return mixed && s->digits && !s->camel && !memchr(from, '.', s->n) &&
		       (ends_loosely(next) || next == ')');
	/* (default password: x) */
	if (next == ')' && (place->qualified || place->known || place->bracket) && gb_shape_is_word(s, from))
		return true;
	if (next == ')' || next == ',')
		return mixed && s->digits && place->spaced && place->tail == GB_RX_PASSWORD && !s->camel &&
		       !gb_shape_names_a_value(from, s->n) && !memchr(from, '.', s->n);
	/* {Password: Port:3306} */
	if (memchr(from, ':', s->n))
		return false;
	return mixed && s->digits && (!s->camel || next == '}') && (ends_loosely(next) || next == '}') &&
	       next != ';' && place->spaced;
}

bool gb_guess_is_password(const uint8_t *from, const uint8_t *to) {
	struct gb_shape s = gb_shape_of(from, to);
	if (s.n && gb_shape_is_placeholder(from, s.n))
		return false;
	return !gb_shape_stands_for_one(&s, from, to, false) && s.n >= VALUE_MIN - 1;
}

/* A value that has the rest of the line, where a type or a variable would have fewer capitals. */
static bool is_alone(const struct gb_place *place, const struct gb_shape *s, int next) {
	return ends_line(next) && s->acronym &&
	       (place->line || !place->spaced || place->joint == GB_JOINT_COLON) && !s->symbols;
}

static bool is_digits(const uint8_t *from, const uint8_t *to) {
	while (from < to && isdigit(*from))
		from++;
	return from == to;
}

// NOLINTNEXTLINE(misc-no-recursion): once, behind the digits
bool gb_guess_is_secret(
    const struct gb_place *place, const uint8_t *from, const uint8_t *to, bool quoted, int next) {
	struct gb_shape s = gb_shape_of(from, to);
	if (!s.n || gb_shape_stands_for_one(&s, from, to, quoted) || (!quoted && next == '(') ||
	    gb_shape_is_email(from, s.n))
		return false;
	/* 12|x, as Laravel makes tokens */
	const uint8_t *bar = memchr(from, '|', s.n);
	if (bar && bar > from && bar + 1 < to && is_digits(from, bar))
		return gb_guess_is_secret(place, bar + 1, to, quoted, next);
	if (gb_shape_is_base64(&s, from) || (quoted && place->capital && gb_shape_is_noise(&s)))
		return true;
	if (gb_shape_is_random(&s, from) &&
	    (quoted || !gb_shape_is_identifier(&s) || is_firm(place, next) || is_alone(place, &s, next)) &&
	    (place->tail != GB_RX_KEY || place->query || s.digits >= 2))
		return true;
	/* options.password2, and --password --verbose */
	if (!quoted &&
	    ((s.path && memchr(from, '.', s.n) && gb_shape_names_a_value(from, s.n)) || *from == '-'))
		return false;
	if (place->capital && s.n >= GB_SHAPE_RANDOM_MIN && s.upper == s.n && !s.same)
		return true;
	if (place->tail == GB_RX_KEY && quoted && place->capital && gb_shape_is_jumble(&s))
		return true;
	/* Premium Key: ABCD2024X7 */
	if (place->tail == GB_RX_KEY && !quoted && place->joint == GB_JOINT_COLON && place->spaced &&
	    place->line && ends_line(next) && s.upper >= 4 && !s.lower && s.digits >= 2 && s.n >= 10)
		return true;
	if (place->tail == GB_RX_KEY)
		return (quoted || place->capital) && place->joint == GB_JOINT_EQUALS &&
		       gb_shape_is_chosen(&s, from);
	if (quoted)
		return quoted_is_secret(place, &s, from);
	if (is_firm(place, next))
		return firm_is_secret(place, &s, from, next);
	return loose_is_secret(place, &s, from, next);
}

/* --- where a value ends --- */

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
	if (c < 0 || isspace(c) || strchr("\"'`|\\\x1b", c) || (!whole && strchr(";,<>)}](", c)))
		return true;
	if (whole && c == ';')
		return ends_word(gb_named_at(text, p + 1));
	/* Punctuation of other scripts. */
	if (c == 0xe3 || c == 0xef || (c == 0xe2 && gb_named_at(text, p + 1) == 0x80))
		return true;
	if (place->query)
		return c == '&' || c == '#';
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
	return c == '#' || c == '(' || (c == '/' && gb_named_at(text, p + 1) == '/') ||
	       (c == '<' && tolower(gb_named_at(text, p + 1)) == 'b');
}

static bool guess_bare(struct gb_named *text, const struct gb_place *place, const uint8_t *p) {
	const uint8_t *end = p;
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
	/* s/old x/requirepass x/ */
	if (place->sure && text->to - p > 1 && text->to[-1] == '/' && is_quote(c))
		text->to--;
	/* ... so nothing of the sentence follows the value; nor does anything behind a remark. */
	if (c == ' ' && (text->to < end || is_remarked(text, end)))
		c = '\n';
	if (text->cut)
		return false;
	if (has_user(place, p, text->to))
		return is_behind_user(text, p, text->to);
	/* access_token=x&expires=1 */
	struct gb_place field = *place;
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
	int next = text->goes_on ? quote : gb_named_at(text, end);
	if (text->cut || next == '\n' || next == '\r')
		return false;
	struct gb_place closed = *place;
	closed.closed = place->pair && gb_named_at(text, end + 1) == ')';
	if (text->cut)
		return false;
	if (has_user(place, p, text->to))
		return is_behind_user(text, p, text->to);
	return gb_guess_is_secret(&closed, p, text->to, true, next);
}

/* Some("x"), SecretStr("x") */
static const uint8_t *skip_wrapper(struct gb_named *text, const uint8_t *p) {
	static const char *const wrappers[] = {
	    "some(", "string::from(", "secretstr(", "secret(", "buffer.from(", "new string(", "secret.from("};
	for (size_t i = 0; i < GB_COUNT(wrappers); i++)
		if (gb_named_is_at(text, p, wrappers[i]) &&
		    is_quote(gb_named_at(text, p + strlen(wrappers[i]))))
			return p + strlen(wrappers[i]);
	return p;
}

bool gb_guess_value(struct gb_named *text, const struct gb_place *place, const uint8_t *p) {
	p = skip_wrapper(text, p);
	int c = gb_named_at(text, p);
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
	if (first >= 0 && (isspace(first) || strchr("+,);:.]}>|", first)))
		return false;
	if (is_quote(c))
		return guess_quoted(text, place, p + 1, c, escaped);
	return !escaped && guess_bare(text, place, p);
}
