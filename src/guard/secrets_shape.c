/* The shape of a value, and the words in it. */
#include "guard/secrets_shape.h"

#include <ctype.h>
#include <string.h>

#include "base/cleanup.h"

enum { WORD_MIN = 5, MIXED_MIN = 5, NUMBER_MIN = 6, WORDS_MAX = 64, LONGEST = 128 };

static int class_of(uint8_t c) {
	return islower(c) ? 1 : isupper(c) ? 2 : isdigit(c) ? 3 : 0;
}

struct gb_shape gb_shape_of(const uint8_t *from, const uint8_t *to) {
	struct gb_shape s = {.n = (size_t)(to - from), .same = true, .token_like = true, .path = true};
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

bool gb_shape_has_part(const uint8_t *from, size_t n, const char *part) {
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
		if (strlen(list[i]) == n && gb_shape_has_part(from, n, list[i]))
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
		if (gb_shape_has_part(from + i, length, part) &&
		    (!i || !isalpha(from[i - 1]) || isupper(from[i]) || i + length == n ||
			!islower(from[i + length])))
			return true;
	return false;
}

bool gb_shape_names_a_value(const uint8_t *from, size_t n) {
	if (n > WORDS_MAX)
		return true;
	for (size_t i = 0; i < GB_COUNT(naming); i++)
		if (gb_shape_has_part(from, n, naming[i]))
			return true;
	for (size_t i = 0; i < GB_COUNT(short_naming); i++)
		if (has_edge(from, n, short_naming[i]))
			return true;
	return is_one_of(from, n, words, GB_COUNT(words));
}

bool gb_shape_is_form(const uint8_t *from, size_t n) {
	static const char *const parts[] = {"your", "change", "enter", "replace", "xxx", "redact", "hidden",
	    "placeholder", "insert", "todo", "fixme", "masked", "omitted", "_field"};
	static const char *const nothing[] = {"none", "null", "true", "false", "undefined", "empty", "text",
	    "string", "str", "bool", "boolean", "object", "number", "email", "username", "login", "input",
	    "field", "type", "name", "value", "required", "optional", "default", "plain", "basic", "unknown",
	    "error", "credentials", "token", "tokens", "here", "current-password", "one-time-code"};
	for (size_t i = 0; i < GB_COUNT(parts); i++)
		if (gb_shape_has_part(from, n, parts[i]))
			return true;
	return is_one_of(from, n, nothing, GB_COUNT(nothing)) || has_edge(from, n, "here");
}

/* --- shapes --- */

/* Letters without rhyme: names in code have vowels. */
bool gb_shape_is_unpronounceable(const uint8_t *from, size_t n, size_t turns) {
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
bool gb_shape_is_identifier(const struct gb_shape *s) {
	return s->path && (!s->digits || (s->groups == 1 && !s->acronym));
}

/* As machines make them: letters of both cases and digits take turns, much more often than in names. */
bool gb_shape_is_random(const struct gb_shape *s, const uint8_t *from) {
	if (s->n < GB_SHAPE_RANDOM_MIN || !s->token_like || s->turns < 4 || !(s->lower + s->upper))
		return false;
	if (gb_shape_has_part(from, s->n, "example") || gb_shape_has_part(from, s->n, "arn:"))
		return false;
	if (s->digits >= 2 && (s->turns * 3 >= s->n || (s->turns * 5 >= s->n && is_hex(from, s->n))))
		return true;
	return s->turns * 4 >= s->n && gb_shape_is_unpronounceable(from, s->n, s->turns);
}

/* swordfish, correct-horse-battery; in code it could be a variable. */
bool gb_shape_is_word(const struct gb_shape *s, const uint8_t *from) {
	return s->n >= WORD_MIN && !s->upper && !s->digits && !s->symbols && !s->blanks && !s->foreign &&
	       s->lower >= WORD_MIN && islower(*from) && !memchr(from, '_', s->n) &&
	       !memchr(from, '.', s->n) && !gb_shape_names_a_value(from, s->n);
}

/* hunter2, Tr0ub4dor&3, x7!kQz. */
bool gb_shape_is_mixed(const struct gb_shape *s, const uint8_t *from) {
	size_t letters = s->lower + s->upper;
	if (s->n < MIXED_MIN || s->blanks || s->foreign || !letters || s->same)
		return false;
	/* your_password; and required|string|min:8, a rule that values are checked by. */
	if ((!s->digits || memchr(from, '|', s->n)) && gb_shape_names_a_value(from, s->n))
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
bool gb_shape_is_jumble(const struct gb_shape *s) {
	return s->n >= 24 && !s->blanks && s->digits >= 3 && s->symbols >= 3 && s->lower >= 8;
}

/* correct horse battery staple; but no sentence for people, and no list. */
bool gb_shape_is_phrase(const struct gb_shape *s, const uint8_t *from) {
	return s->blanks && s->blanks <= 8 && s->n >= 8 && !s->foreign &&
	       (islower(*from) || (s->digits && s->blanks <= 2)) && from[s->n - 1] != ' ' &&
	       from[s->n - 1] != ':' && from[s->n - 1] != '.' &&
	       !gb_shape_is_message(from, s->n, s->digits != 0) && !memchr(from, '(', s->n) &&
	       !memchr(from, '=', s->n) && !memchr(from, '/', s->n) && !memchr(from, '+', s->n) &&
	       !memchr(from, '|', s->n);
}

/* marble_arch, Kaffeebohne: in quotes, where no variable can stand. */
bool gb_shape_is_quoted_word(const struct gb_shape *s, const uint8_t *from) {
	return s->n >= WORD_MIN && !s->digits && !s->symbols && !s->blanks && !s->foreign &&
	       s->lower >= WORD_MIN && !s->camel && isalpha(*from) && isalpha(from[s->n - 1]) &&
	       !gb_shape_names_a_value(from, s->n);
}

/* Sept3mber!34: nothing but a person makes these. */
bool gb_shape_is_chosen(const struct gb_shape *s, const uint8_t *from) {
	size_t strong = 0;
	for (size_t i = 0; i < s->n; i++)
		strong += strchr("!@#$%^&*+?~", from[i]) != NULL;
	return s->n >= 8 && s->digits && s->lower >= 3 && strong && strong == s->symbols && strong <= 3 &&
	       !s->blanks && !s->foreign && isalnum(*from) && !memchr(from, '@', s->n) &&
	       !memchr(from, '%', s->n);
}

/* NkXcCwdo: too few letters to look random, but no word either. */
bool gb_shape_is_letters(const struct gb_shape *s, const uint8_t *from) {
	return s->n >= NUMBER_MIN && s->lower + s->upper == s->n && s->turns >= 3 &&
	       !gb_shape_names_a_value(from, s->n);
}

bool gb_shape_is_number(const struct gb_shape *s) {
	return s->digits == s->n && s->n >= NUMBER_MIN && !s->same;
}

/* 4711, where a setting has it and code has not. */
bool gb_shape_is_pin(const struct gb_shape *s) {
	return s->digits == s->n && s->n >= 4;
}

/* What stands for a value: ${X}, %s, <token>, ****, {{ x }}, $(cat x). */
bool gb_shape_stands_for_one(const struct gb_shape *s, const uint8_t *from, const uint8_t *to, bool quoted) {
	static const char *const marks[] = {
	    "${", "$(", "{{", "%(", "<%", "#{", "...", "***", "\xe2\x80\xa6", "://", "%s", "arn:aws"};
	for (const uint8_t *p = from; p < to; p++)
		for (size_t i = 0; i < GB_COUNT(marks); i++)
			if (*p == (uint8_t)*marks[i] && (size_t)(to - p) >= strlen(marks[i]) &&
			    memcmp(p, marks[i], strlen(marks[i])) == 0)
				return true;
	/* options!==null */
	if (!quoted && (memmem(from, s->n, "!=", 2) || memmem(from, s->n, "===", 3)))
		return true;
	return s->n < 3 || (s->same && !isdigit(*from) && s->n < 200) || (*from == '%' && s->n <= 4) ||
	       (*from == '$' && s->lower + s->upper && (from[1] == '_' || isalpha(from[1]))) ||
	       (!quoted && to[-1] == '(');
}

bool gb_shape_is_email(const uint8_t *from, size_t n) {
	const uint8_t *at = memrchr(from, '@', n), *end = from + n;
	if (!at || at == from)
		return false;
	const uint8_t *dot = memrchr(at, '.', (size_t)(end - at));
	if (!dot || dot == at + 1 || end - dot < 3 || end - dot > 8)
		return false;
	for (const uint8_t *p = at + 1; p < end; p++)
		if (!(islower(*p) || *p == '.' || (p < dot && (isalnum(*p) || *p == '-'))))
			return false;
	for (const uint8_t *p = from; p < at; p++)
		if (!isalnum(*p) && !strchr("._+-", *p))
			return false;
	return true;
}

bool gb_shape_is_base64(const struct gb_shape *s, const uint8_t *from) {
	return s->n >= (from[s->n - 1] == '=' && s->n > 2 && from[s->n - 2] == '=' ? 8 : 12) &&
	       s->n % 4 == 0 && s->token_like && from[s->n - 1] == '=' && s->upper >= 2 && s->lower >= 2 &&
	       s->turns >= 3 && !memchr(from, '.', s->n) && !memchr(from, ':', s->n) &&
	       !memchr(from, '%', s->n);
}

bool gb_shape_is_grouped(const struct gb_shape *s, const uint8_t *from) {
	size_t groups = 1, n = 0, first = 0;
	if (s->lower || s->upper < 2 || s->digits < 2 || s->symbols || s->blanks || s->foreign)
		return false;
	for (size_t i = 0; i <= s->n; i++) {
		if (i < s->n && isalnum(from[i])) {
			n++;
			continue;
		}
		if (i < s->n && from[i] != '-')
			return false;
		first = first ? first : n;
		if (n != first || n < 4 || n > 8)
			return false;
		groups += i < s->n;
		n = 0;
	}
	return groups >= 3;
}

bool gb_shape_is_noise(const struct gb_shape *s) {
	return s->n >= 32 && s->symbols >= 6 && s->symbols * 2 < s->n && s->digits >= 2 && s->lower >= 3 &&
	       s->upper >= 3 && s->blanks <= 2 && s->turns * 3 >= s->n - s->symbols - s->blanks;
}

/* required, invalid, asynchronous: what a sentence says about a password. */
bool gb_shape_is_remark(const uint8_t *from, size_t n) {
	static const char *const ends[] = {"ed", "ing", "able", "ible", "ous", "ive", "ly", "lid"};
	static const char *const remarks[] = {"different", "present", "absent", "consistent", "important",
	    "known", "unique", "common", "safe", "unsafe", "insecure", "blank", "same", "good", "fine",
	    "mandatory", "necessary", "temporary", "ready", "identical", "obsolete", "outdated", "simple",
	    "complex", "always", "also", "there", "this", "that", "case", "kept", "sent", "shown", "given",
	    "lost", "taken", "written", "longer", "shorter", "permanent", "sufficient", "insufficient",
	    "equal", "zero"};
	if (is_one_of(from, n, remarks, GB_COUNT(remarks)))
		return true;
	for (size_t i = 0; i < GB_COUNT(ends); i++) {
		size_t length = strlen(ends[i]);
		if (n >= length && gb_shape_has_part(from + n - length, length, ends[i]))
			return true;
	}
	return false;
}

/* --- whatever is not clearly something else --- */

static size_t count_of(const uint8_t *from, size_t n, const char *set) {
	size_t count = 0;
	for (size_t i = 0; i < n; i++)
		count += from[i] && strchr(set, from[i]) != NULL;
	return count;
}

bool gb_shape_is_camel_name(const struct gb_shape *s, const uint8_t *from) {
	if (!s->camel || s->digits || s->symbols || s->blanks || s->foreign)
		return false;
	bool vowel = false;
	size_t run = 0;
	for (size_t i = 0; i <= s->n; i++) {
		if (i == s->n || isupper(from[i]) || !isalpha(from[i])) {
			/* A word of capitals alone has runs of one letter. */
			if (run > 1 && (!vowel || run < 3))
				return false;
			run = 0;
			vowel = false;
		}
		run += i < s->n && isalpha(from[i]);
		vowel |= i < s->n && strchr("aeiouyAEIOUY", from[i]) != NULL;
	}
	return true;
}

bool gb_shape_is_name_of_one(const struct gb_shape *s, const uint8_t *from) {
	static const char *const ends[] = {"key", "token", "secret", "password", "salt", "pass"};
	if (s->digits || s->symbols || s->blanks ||
	    !(gb_shape_is_camel_name(s, from) || memchr(from, '.', s->n)))
		return false;
	for (size_t i = 0; i < GB_COUNT(ends); i++) {
		size_t n = strlen(ends[i]);
		if (s->n > n && gb_shape_has_part(from + s->n - n, n, ends[i]))
			return true;
	}
	return false;
}

/* /run/secrets/db, ./key.pem, ~/.pgpass, a/b: base64 that begins with a slash has digits and capitals. */
static bool is_path(const struct gb_shape *s, const uint8_t *from) {
	/* /v1/accounts:signIn */
	if (*from == '/' && s->n > 3 && tolower(from[1]) == 'v' && isdigit(from[2]) && from[3] == '/')
		return true;
	if (*from == '/' || *from == '~' || (*from == '.' && s->n > 1 && strchr("./\\", from[1])))
		return !s->digits || !s->upper || count_of(from, s->n, "/") > 2;
	return memchr(from, '/', s->n) && !s->digits && !count_of(from, s->n, "!@#$%^&*+?");
}

/* x-{name}; {noop}x, as Spring marks passwords, is a value. */
static bool is_template(const struct gb_shape *s, const uint8_t *from) {
	const uint8_t *close = memrchr(from, '}', s->n);
	return close && memchr(from, '{', s->n) && (*from != '{' || close + 1 == from + s->n);
}

bool gb_shape_is_value(const struct gb_shape *s, const uint8_t *from, size_t least, unsigned where) {
	size_t strong = count_of(from, s->n, "!@#$%^&*+?~");
	bool plain = !s->digits && !strong;
	if (s->n < least || (s->same && !s->digits) || s->n > LONGEST ||
	    gb_shape_is_placeholder(from, s->n, where))
		return false;
	if (!(s->lower + s->upper + s->foreign) && s->digits != s->n)
		return s->digits >= 4 && s->symbols && !count_of(from, s->n, "/:,");
	if (s->blanks)
		return gb_shape_is_phrase(s, from) ||
		       (where & GB_SHAPE_WORDS && gb_shape_is_chosen_of_words(from, s->n, where));
	/* Not every setting: "password": "Пароль" is a label */
	if (s->foreign)
		return (s->digits && s->n >= 8) ||
		       ((where & GB_SHAPE_ENV) && (where & GB_SHAPE_SETTING) && s->lower && s->n >= 5);
	if (is_path(s, from) || (*from == '!' && s->n > 1 && from[1] == '!') || is_template(s, from) ||
	    memchr(from, '<', s->n))
		return false;
	/* Messages.password.pw, ERR_NO_PW, varchar(30), a,b, "Pw:" */
	if (plain && (count_of(from, s->n, where & GB_SHAPE_ENV ? "()[]=" : ".(),:;=[]") ||
			 (!s->lower && memchr(from, '_', s->n))))
		return false;
	const uint8_t *bracket = memchr(from, '(', s->n);
	if (bracket && from[s->n - 1] == ')' && gb_shape_is_placeholder(from, (size_t)(bracket - from), 0))
		return false;
	/* ^[a-z]+$, #pw, a|b */
	if ((*from == '^' && memchr(from, '[', s->n)) ||
	    (*from == '#' && !s->digits &&
		(where & (GB_SHAPE_ENV | GB_SHAPE_SETTING)) != (GB_SHAPE_ENV | GB_SHAPE_SETTING)) ||
	    (memchr(from, '|', s->n) && gb_shape_names_a_value(from, s->n)))
		return false;
	/* 10px, 1.2.3 */
	return s->digits == s->n || !isdigit(*from) || s->lower + s->upper > 2 || s->digits >= 5 || strong;
}
