/* Whether a value that stands behind the name of a secret is one: by its shape, and by what stands around it.
 */
#include <ctype.h>
#include <string.h>

#include "base/cleanup.h"
#include "guard/secrets_named.h"

enum { WORD_MIN = 5, MIXED_MIN = 5, NUMBER_MIN = 6, RANDOM_MIN = 16, ASSIGNED_MAX = 40, WORDS_MAX = 64 };

struct shape {
	size_t n;
	size_t lower, upper, digits, symbols, blanks, foreign; /* how many bytes are */
	size_t turns;    /* how often letters of either case and digits change */
	size_t groups;   /* of digits */
	bool acronym;    /* capitals follow each other */
	bool same;       /* one byte, again and again */
	bool token_like; /* nothing but what encodings use */
	bool path;       /* a.b.c, as members are written in code */
	bool camel;      /* a capital after a small letter */
};

static int class_of(uint8_t c) {
	return islower(c) ? 1 : isupper(c) ? 2 : isdigit(c) ? 3 : 0;
}

static struct shape shape_of(const uint8_t *from, const uint8_t *to) {
	struct shape s = {.n = (size_t)(to - from), .same = true, .token_like = true, .path = true};
	int last = 0;
	for (const uint8_t *p = from; p < to; p++) {
		int class = class_of(*p);
		s.lower += class == 1;
		s.upper += class == 2;
		s.digits += class == 3;
		s.blanks += *p == ' ';
		s.foreign += *p >= 0x80;
		s.symbols += !class && *p != ' ' && *p < 0x80 && !strchr("_-.", *p);
		s.same &= *p == *from;
		s.token_like &= class || strchr("+/=_.~%:-", *p) != NULL;
		s.path &= class || *p == '_' || *p == '$' || (*p == '.' && p > from);
		s.path &= p == from || p[-1] != '.' || class == 1 || class == 2 || *p == '_';
		s.turns += class && last && class != last;
		s.groups += class == 3 && last != 3;
		s.acronym |= class == 2 && last == 2;
		s.camel |= class == 2 && last == 1;
		last = class;
	}
	s.path &= s.n && !isdigit(*from);
	return s;
}

/* --- words --- */

static bool has_part(const uint8_t *from, size_t n, const char *part) {
	size_t length = strlen(part);
	for (size_t i = 0; i + length <= n; i++) {
		size_t j = 0;
		while (j < length && tolower(from[i + j]) == part[j])
			j++;
		if (j == length)
			return true;
	}
	return false;
}

static bool is_one_of(const uint8_t *from, size_t n, const char *const *list, size_t count) {
	for (size_t i = 0; i < count; i++)
		if (strlen(list[i]) == n && has_part(from, n, list[i]))
			return true;
	return false;
}

/* Words that name a value in place of being one, wherever they are in it. */
static const char *const naming[] = {"pass", "pwd", "secret", "token", "_key", "-key", "apikey", "auth",
    "example", "change", "placeholder", "redact", "hidden", "param", "value", "string", "option", "config",
    "login", "prompt", "input", "default", "insert", "enter", "replace", "xxx", "sample", "dummy", "invalid",
    "missing", "require", "forgot", "reset", "field", "account", "client", "access"};

/* The same at the beginning or the end of a word: no cargo, no tournament. */
static const char *const short_naming[] = {
    "keys", "user", "name", "your", "arg", "cred", "type", "env", "here", "users", "names", "args"};

static const char *const words[] = {"false", "undefined", "bytes", "number", "boolean", "object", "never",
    "unknown", "function", "array", "buffer", "current", "basic", "bearer", "digest", "plain", "session",
    "cookie", "header", "query", "public", "private", "async", "await", "class", "const", "return", "process",
    "option", "optional", "should", "which", "where", "there", "these", "their", "cannot", "please", "either",
    "other", "flags", "command", "using", "while", "empty", "result", "response", "request", "error", "stdin",
    "stdout", "generated", "random", "source", "target", "method", "module", "server", "email", "phone",
    "label", "title", "description", "message", "visible", "disabled", "enabled", "encrypted", "hashed",
    "masked", "omitted", "removed", "filtered", "expired", "strong", "secure", "stored", "needed",
    "unchanged", "updated", "accepted", "protected", "valid", "correct", "incorrect", "wrong", "right",
    "start", "begin", "match", "space", "comma", "newline", "ident", "identifier", "keyword", "punctuation",
    "operator", "comment", "whitespace", "literal", "numeric", "regex", "template", "admin", "anonymous",
    "guest", "nobody", "nullable", "self.", "length", "strength", "sha256", "sha512", "base64", "ed25519",
    "secp256k1", "es2015", "oauth2", "utf8mb4", "latin1", "iso8859", "hs256", "hs384", "hs512", "rs256",
    "rs384", "rs512", "es256", "es384", "es512", "ps256", "requerida", "obligatoria", "incorrecta", "falsch",
    "erforderlich", "requis", "obligatoire", "invalide"};

static bool has_edge(const uint8_t *from, size_t n, const char *part) {
	size_t length = strlen(part);
	for (size_t i = 0; i + length <= n; i++)
		if (has_part(from + i, length, part) && (!i || !isalpha(from[i - 1]) || isupper(from[i]) ||
							    i + length == n || !islower(from[i + length])))
			return true;
	return false;
}

static bool names_a_value(const uint8_t *from, size_t n) {
	if (n > WORDS_MAX)
		return true;
	for (size_t i = 0; i < GB_COUNT(naming); i++)
		if (has_part(from, n, naming[i]))
			return true;
	for (size_t i = 0; i < GB_COUNT(short_naming); i++)
		if (has_edge(from, n, short_naming[i]))
			return true;
	return is_one_of(from, n, words, GB_COUNT(words));
}

/* --- shapes --- */

/* Letters without rhyme: names in code have vowels. */
static bool is_unpronounceable(const uint8_t *from, size_t n, size_t turns) {
	size_t vowels = 0, run = 0, longest = 0;
	for (size_t i = 0; i < n; i++) {
		bool vowel = strchr("aeiouAEIOU", from[i]) != NULL;
		vowels += vowel;
		run = vowel ? 0 : run + 1;
		longest = run > longest ? run : longest;
	}
	return longest >= 5 && (vowels * 10 < n * 3 || turns * 5 >= n * 2);
}

static bool is_hex(const uint8_t *from, size_t n) {
	for (size_t i = 0; i < n; i++)
		if (!isxdigit(from[i]) && from[i] != '-')
			return false;
	return true;
}

/* XmlStringMaxLen256: it could be the name of a type or variable. */
static bool is_identifier(const struct shape *s) {
	return s->path && (!s->digits || (s->groups == 1 && !s->acronym));
}

/* As machines make them: letters of both cases and digits take turns, much more often than in names. */
static bool is_random(const struct shape *s, const uint8_t *from) {
	if (s->n < RANDOM_MIN || !s->token_like || s->turns < 4 || !(s->lower + s->upper))
		return false;
	if (has_part(from, s->n, "example") || has_part(from, s->n, "arn:"))
		return false;
	if (s->digits >= 2 && (s->turns * 3 >= s->n || (s->turns * 5 >= s->n && is_hex(from, s->n))))
		return true;
	return s->turns * 4 >= s->n && is_unpronounceable(from, s->n, s->turns);
}

/* swordfish, correct-horse-battery; in code it could be a variable. */
static bool is_word(const struct shape *s, const uint8_t *from) {
	return s->n >= WORD_MIN && !s->upper && !s->digits && !s->symbols && !s->blanks && !s->foreign &&
	       s->lower >= WORD_MIN && islower(*from) && !memchr(from, '_', s->n) &&
	       !memchr(from, '.', s->n) && !names_a_value(from, s->n);
}

/* hunter2, Tr0ub4dor&3, x7!kQz. */
static bool is_mixed(const struct shape *s, const uint8_t *from) {
	size_t letters = s->lower + s->upper;
	if (s->n < MIXED_MIN || s->blanks || s->foreign || !letters || s->same)
		return false;
	/* your_password; and required|string|min:8, a rule that values are checked by. */
	if ((!s->digits || memchr(from, '|', s->n)) && names_a_value(from, s->n))
		return false;
	/* 3600s, 10px, 1.2.3-beta: a number with a unit, a version. */
	if (isdigit(*from) && (letters <= 2 || memchr(from, '.', s->n)) && !s->symbols)
		return false;
	if (s->digits)
		return !is_one_of(from, s->n, words, GB_COUNT(words));
	size_t strong = 0;
	for (size_t i = 0; i < s->n; i++)
		strong += strchr("!@#$%^&*+?~", from[i]) != NULL;
	return strong && s->symbols == strong && !(memchr(from, '@', s->n) && memchr(from, '.', s->n));
}

/* As Django makes keys: letters, digits and signs, none of them rare. */
static bool is_jumble(const struct shape *s) {
	return s->n >= 24 && !s->blanks && s->digits >= 3 && s->symbols >= 3 && s->lower >= 8;
}

/* correct horse battery staple; but no sentence for people, and no list. */
static bool is_phrase(const struct shape *s, const uint8_t *from) {
	return s->blanks && s->blanks <= 8 && s->n >= 8 && !s->foreign &&
	       (islower(*from) || (s->digits && s->blanks <= 2)) && from[s->n - 1] != ' ' &&
	       from[s->n - 1] != ':' && from[s->n - 1] != '.' && !names_a_value(from, s->n) &&
	       !memchr(from, '(', s->n) && !memchr(from, '=', s->n) && !memchr(from, '/', s->n) &&
	       !memchr(from, '+', s->n) && !memchr(from, '|', s->n);
}

/* marble_arch, Kaffeebohne: in quotes, where no variable can stand. */
static bool is_quoted_word(const struct shape *s, const uint8_t *from) {
	return s->n >= WORD_MIN && !s->digits && !s->symbols && !s->blanks && !s->foreign &&
	       s->lower >= WORD_MIN && !s->camel && isalpha(*from) && isalpha(from[s->n - 1]) &&
	       !names_a_value(from, s->n);
}

/* Sept3mber!34: nothing but a person makes these. */
static bool is_chosen(const struct shape *s, const uint8_t *from) {
	size_t strong = 0;
	for (size_t i = 0; i < s->n; i++)
		strong += strchr("!@#$%^&*+?~", from[i]) != NULL;
	return s->n >= 8 && s->digits && s->lower >= 3 && strong && strong == s->symbols && strong <= 3 &&
	       !s->blanks && !s->foreign && isalnum(*from) && !memchr(from, '@', s->n) &&
	       !memchr(from, '%', s->n);
}

/* NkXcCwdo: too few letters to look random, but no word either. */
static bool is_letters(const struct shape *s, const uint8_t *from) {
	return s->n >= NUMBER_MIN && s->lower + s->upper == s->n && s->turns >= 3 &&
	       !names_a_value(from, s->n);
}

static bool is_number(const struct shape *s) {
	return s->digits == s->n && s->n >= NUMBER_MIN && !s->same;
}

/* 4711, where a setting has it and code has not. */
static bool is_pin(const struct shape *s) {
	return s->digits == s->n && s->n >= 4 && !s->same;
}

/* What stands for a value: ${X}, %s, <token>, ****, {{ x }}, $(cat x). */
static bool stands_for_one(const struct shape *s, const uint8_t *from, const uint8_t *to, bool quoted) {
	static const char *const marks[] = {
	    "${", "$(", "{{", "%(", "<%", "#{", "...", "***", "\xe2\x80\xa6", "://"};
	for (size_t i = 0; i < GB_COUNT(marks); i++)
		if (memmem(from, s->n, marks[i], strlen(marks[i])))
			return true;
	return s->n < 3 || (s->same && s->n < 200) || (*from == '%' && s->n <= 4) ||
	       (*from == '$' && s->lower + s->upper && (from[1] == '_' || isalpha(from[1]))) ||
	       (!quoted && to[-1] == '(');
}

/* --- with what stands around them --- */

static bool ends_line(int next) {
	return next < 0 || next == '\n' || next == '\r';
}

static bool ends_loosely(int next) {
	return ends_line(next) || next >= 0x80 || strchr(" \t\"'`;&|<\\", next);
}

/* abcd efgh ijkl mnop, as Google makes them. */
static bool is_app_password(const struct shape *s) {
	return s->n == 19 && s->blanks == 3 && s->lower == 16;
}

static bool quoted_is_secret(const struct gb_place *place, const struct shape *s, const uint8_t *from) {
	bool env = place->capital && place->joint == GB_JOINT_EQUALS && !place->spaced;
	if (place->joint == GB_JOINT_LIST && place->sure)
		return is_mixed(s, from) || is_quoted_word(s, from) || is_pin(s);
	if (place->joint == GB_JOINT_LIST && place->tail == GB_RX_PASSWORD)
		return (is_mixed(s, from) && s->digits) || is_app_password(s) ||
		       ((place->capital || place->option || place->closed) && is_quoted_word(s, from));
	if (place->joint == GB_JOINT_LIST)
		return place->capital && is_mixed(s, from) && s->digits && s->n >= RANDOM_MIN;
	if (place->tail == GB_RX_SECRET && !place->chosen)
		return (is_mixed(s, from) && s->digits && s->n >= 8 && (s->token_like || is_jumble(s))) ||
		       is_chosen(s, from) || (s->digits == s->n && s->n >= 12) ||
		       (place->capital && place->joint == GB_JOINT_EQUALS && is_phrase(s, from)) ||
		       (place->capital && is_quoted_word(s, from)) ||
		       (env && (is_mixed(s, from) || is_word(s, from)));
	return is_mixed(s, from) || is_quoted_word(s, from) || is_phrase(s, from) || is_number(s) ||
	       is_pin(s) || (s->foreign && s->digits && !s->blanks && s->n >= 8);
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

static bool firm_is_secret(
    const struct gb_place *place, const struct shape *s, const uint8_t *from, int next) {
	if (!ends_loosely(next) && !(place->fallback && next == '}') && !(place->option && next == ','))
		return place->joint == GB_JOINT_EQUALS && is_mixed(s, from) && (!s->path || place->capital) &&
		       s->digits;
	bool word = is_word(s, from);
	if (place->tail == GB_RX_SECRET)
		word = place->capital && is_quoted_word(s, from) && !s->upper;
	return is_mixed(s, from) || word ||
	       (place->tail == GB_RX_PASSWORD &&
		   (is_number(s) || is_letters(s, from) || (place->capital && is_pin(s)) ||
		       is_quoted_word(s, from)));
}

/* YAML, INI, properties, prose. */
static bool loose_is_secret(
    const struct gb_place *place, const struct shape *s, const uint8_t *from, int next) {
	bool mixed = is_mixed(s, from) && (s->digits || !s->path);
	if (place->alone)
		return mixed && s->digits && ends_line(next) && s->n >= 8;
	if (place->stated)
		return mixed && (s->digits || place->tail == GB_RX_PASSWORD) &&
		       (ends_loosely(next) || strchr("),*", next)) &&
		       (place->tail == GB_RX_PASSWORD || (s->n >= 8 && !memchr(from, '$', s->n)));
	if (place->field && place->tail == GB_RX_PASSWORD && (next == ' ' || next == ']' || next == '}'))
		return mixed && !(s->path && next == '}');
	/* DB_PASSWORD: marble_arch */
	if (place->capital && place->line && ends_line(next) && place->joint != GB_JOINT_PROSE &&
	    place->joint != GB_JOINT_BLANK && place->tail == GB_RX_PASSWORD && is_quoted_word(s, from))
		return true;
	/* -H "X-Auth-Token: x" */
	if (place->tail == GB_RX_SECRET && place->inside && place->spaced && (next == '"' || next == '\''))
		return (mixed && s->n >= 8 && s->digits) || (s->n >= RANDOM_MIN && is_letters(s, from) &&
								is_unpronounceable(from, s->n, s->turns));
	if (place->tail == GB_RX_SECRET)
		return mixed && s->n >= 8 && place->line && ends_line(next) && (!s->path || !s->upper);
	/* LoginRequest(username=bob, password=x) */
	if (place->joint == GB_JOINT_EQUALS && place->apart && !place->spaced &&
	    (next == ')' || next == ']' || next == ';'))
		return mixed && s->digits && !s->camel && !names_a_value(from, s->n);
	if (place->joint == GB_JOINT_COLON && place->spaced && ends_line(next))
		return mixed || is_word(s, from) || is_number(s) ||
		       (place->line && ((is_quoted_word(s, from) && !s->upper) || is_pin(s)));
	if (place->joint == GB_JOINT_EQUALS && place->line && place->flush && ends_line(next))
		return mixed || (is_quoted_word(s, from) && !s->upper) || is_pin(s);
	if (place->joint == GB_JOINT_PROSE)
		return mixed && s->digits && !s->camel && !memchr(from, '.', s->n) &&
		       (ends_loosely(next) || next == ')');
	if (place->joint == GB_JOINT_EQUALS && ends_line(next))
		return (mixed && (!s->path || !names_a_value(from, s->n))) || is_number(s) ||
		       (place->apart && !place->spaced && is_word(s, from));
	/* user=alice password=hunter2 */
	if (place->joint == GB_JOINT_EQUALS && place->apart && !place->spaced && next == ' ' &&
	    is_word(s, from))
		return true;
	if (place->joint == GB_JOINT_EQUALS)
		return mixed && s->digits && !place->spaced && ends_loosely(next) && next != ';' &&
		       !memchr(from, '(', s->n);
	if (next == ')' || next == ',')
		return mixed && s->digits && place->spaced && place->tail == GB_RX_PASSWORD && !s->camel &&
		       !names_a_value(from, s->n) && !memchr(from, '.', s->n);
	/* {Password: Port:3306} */
	if (memchr(from, ':', s->n))
		return false;
	return mixed && s->digits && (!s->camel || next == '}') && (ends_loosely(next) || next == '}') &&
	       next != ';' && place->spaced;
}

bool gb_guess_is_password(const uint8_t *from, const uint8_t *to) {
	static const char *const meant[] = {
	    "pass", "pwd", "secret", "token", "user", "your", "example", "key"};
	struct shape s = shape_of(from, to);
	for (size_t i = 0; !s.digits && i < GB_COUNT(meant); i++)
		if (has_part(from, s.n, meant[i]))
			return false;
	return !stands_for_one(&s, from, to, false) && (s.n > 3 || s.lower + s.upper < s.n);
}

/* A value that has the rest of the line, where a type or a variable would have fewer capitals. */
static bool is_alone(const struct gb_place *place, const struct shape *s, int next) {
	return ends_line(next) && s->acronym &&
	       (place->line || !place->spaced || place->joint == GB_JOINT_COLON) && !s->symbols;
}

bool gb_guess_is_secret(
    const struct gb_place *place, const uint8_t *from, const uint8_t *to, bool quoted, int next) {
	struct shape s = shape_of(from, to);
	if (!s.n || stands_for_one(&s, from, to, quoted) || (!quoted && next == '('))
		return false;
	if (is_random(&s, from) &&
	    (quoted || !is_identifier(&s) || is_firm(place, next) || is_alone(place, &s, next)) &&
	    (place->tail != GB_RX_KEY || place->query || s.digits >= 2))
		return true;
	/* options.password2, and --password --verbose */
	if (!quoted && ((s.path && memchr(from, '.', s.n) && names_a_value(from, s.n)) || *from == '-'))
		return false;
	if (place->capital && s.n >= RANDOM_MIN && s.upper == s.n && !s.same)
		return true;
	if (place->tail == GB_RX_KEY && quoted && place->capital && is_jumble(&s))
		return true;
	if (place->tail == GB_RX_KEY)
		return (quoted || place->capital) && place->joint == GB_JOINT_EQUALS && is_chosen(&s, from);
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
	if (c < 0 || isspace(c) || strchr("\"'`|\\", c) || (!whole && strchr(";,<>)}](", c)))
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

static bool guess_bare(struct gb_named *text, const struct gb_place *place, const uint8_t *p) {
	const uint8_t *end = p;
	int c = gb_named_at(text, p);
	if (c == '$' || c == '{' || c == '[' || c == '*' || c == '&' || c == '<' || c == '(')
		return false;
	unsigned signs = 0;
	while (end - p < GB_NAMED_VALUE && !ends_bare(text, place, end, c = gb_named_at(text, end))) {
		/* Encodings end with two at most; with more of them it is a list of other names. */
		signs += c == '=';
		if (signs > 2)
			return false;
		end++;
	}
	text->to = end;
	text->goes_on = end - p == GB_NAMED_VALUE;
	/* A sentence ends with a full stop, and bold text with asterisks. */
	while (end > p && text->to > p && strchr(".*", text->to[-1]) && !text->goes_on)
		text->to--;
	return !text->cut && gb_guess_is_secret(place, p, text->to, false, text->goes_on ? ' ' : c);
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
	return !text->cut && gb_guess_is_secret(&closed, p, text->to, true, next);
}

static bool is_quote(int c) {
	return c == '"' || c == '\'' || c == '`';
}

bool gb_guess_value(struct gb_named *text, const struct gb_place *place, const uint8_t *p) {
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
