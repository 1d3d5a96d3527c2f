/*
 * Splits JavaScript into tokens, to tell code from strings and comments. In case of doubt, text is treated as
 * code: a quote without a closing quote in its line is an ordinary character.
 */
#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "guard/static_rules.h"

enum {
	WORD_MAX = 64,
	PATTERN_TOKENS = 6, /* a longer pattern is truncated */
	MAX_TEMPLATES = 64,
	MAX_PARENS = 256,
};

struct token {
	char text[WORD_MAX]; /* a longer word is truncated, and matches no pattern */
	size_t n, at;
};

struct pattern {
	struct gb_str tokens[PATTERN_TOKENS];
	unsigned n;
};

struct js {
	struct guard_search *search;
	const char *p;
	size_t n, at;
	struct token last[PATTERN_TOKENS]; /* the newest is at (count - 1) % PATTERN_TOKENS */
	size_t count;
	bool optional; /* the last token was ?., whose meaning depends on the next one */
	size_t optional_at;
	/* Open braces within each open ${ of a template. */
	unsigned templates[MAX_TEMPLATES], depth;
	/* For each open parenthesis: whether a statement begins after it is closed. */
	bool conditions[MAX_PARENS];
	unsigned parens;
	bool after_condition;
	/* Up to these offsets there is no closing ', ", ` and /. */
	size_t unpaired[4];
	bool comments_end; /* no further comment has an end */
	size_t n_patterns;
	struct pattern patterns[];
};

/* --- characters --- */

static int peek(const struct js *js, size_t ahead) {
	return js->at + ahead < js->n ? (unsigned char)js->p[js->at + ahead] : -1;
}

static bool is_word(int c) {
	return c >= 0x80 || c == '$' || c == '_' || c == '\\' || (c > 0 && isalnum(c));
}

/* Length of the white space at @at that is not ASCII; 0 if there is none. */
static size_t wide_space(const struct js *js, size_t at) {
	if (js->n - at >= 2 && memcmp(js->p + at, "\xc2\xa0", 2) == 0)
		return 2;
	static const char *const three[] = {"\xef\xbb\xbf", "\xe1\x9a\x80", "\xe2\x80\xa8", "\xe2\x80\xa9",
	    "\xe2\x80\xaf", "\xe2\x81\x9f", "\xe3\x80\x80"};
	if (js->n - at < 3 || (unsigned char)js->p[at] < 0xe1)
		return 0;
	for (size_t i = 0; i < GB_COUNT(three); i++)
		if (memcmp(js->p + at, three[i], 3) == 0)
			return 3;
	bool quad = memcmp(js->p + at, "\xe2\x80", 2) == 0 && (unsigned char)js->p[at + 2] >= 0x80 &&
		    (unsigned char)js->p[at + 2] <= 0x8a;
	return quad ? 3 : 0;
}

static bool is_line_end(const struct js *js, size_t at) {
	char c = js->p[at];
	return c == '\n' || c == '\r' ||
	       (js->n - at >= 3 && memcmp(js->p + at, "\xe2\x80", 2) == 0 &&
		   ((unsigned char)js->p[at + 2] & 0xfe) == 0xa8);
}

/* --- patterns --- */

/* Patterns are words and single characters. */
static struct pattern compile(const char *text) {
	struct pattern pattern = {.n = 0};
	while (*text && pattern.n < PATTERN_TOKENS) {
		size_t n = 0;
		while (is_word((unsigned char)text[n]))
			n++;
		n += n == 0;
		if (text[0] != ' ')
			pattern.tokens[pattern.n++] = (struct gb_str){text, n};
		text += n;
	}
	return pattern;
}

static bool matches(const struct js *js, const struct pattern *pattern) {
	if (pattern->n == 0 || pattern->n > js->count)
		return false;
	for (unsigned i = pattern->n; i-- > 0;) { /* most differ in the last one */
		const struct token *token = &js->last[(js->count - pattern->n + i) % PATTERN_TOKENS];
		if (!gb_str_eq(pattern->tokens[i], (struct gb_str){token->text, token->n}))
			return false;
	}
	return true;
}

/* Check whether a pattern ends with the newest token. */
static bool check(struct js *js) {
	for (size_t i = 0; i < js->n_patterns; i++) {
		if (!matches(js, &js->patterns[i]))
			continue;
		guard_rule_at(js->search, i, &js->search->found);
		js->search->at = js->last[(js->count - js->patterns[i].n) % PATTERN_TOKENS].at;
		return false;
	}
	return true;
}

static const struct token *newest(const struct js *js) {
	return js->count ? &js->last[(js->count - 1) % PATTERN_TOKENS] : NULL;
}

static bool push(struct js *js, struct gb_str text, size_t at) {
	struct token *token = &js->last[js->count++ % PATTERN_TOKENS];
	token->n = text.n < WORD_MAX ? text.n : 0;
	token->at = at;
	memcpy(token->text, text.p, token->n);
	return check(js);
}

/* f?.( is a call and a?.b is a.b */
static bool settle_optional(struct js *js, bool bracket) {
	bool was = js->optional;
	js->optional = false;
	return !was || bracket || push(js, GB_STR("."), js->optional_at);
}

/* --- tokens --- */

/* \u0065 or \u{65}: its length, 0 if it is none. */
static size_t escape(const struct js *js, size_t at, uint32_t *ret) {
	size_t i = at + 2, digits = 0;
	if (at + 2 >= js->n || js->p[at + 1] != 'u')
		return 0;
	bool braced = js->p[i] == '{';
	uint32_t code = 0;
	for (i += braced; i < js->n && isxdigit((unsigned char)js->p[i]) && digits < (braced ? 8 : 4);
	     i++, digits++)
		code = code * 16 + (uint32_t)(isdigit((unsigned char)js->p[i])
						  ? js->p[i] - '0'
						  : tolower((unsigned char)js->p[i]) - 'a' + 10);
	if (digits == 0 || (!braced && digits < 4) || (braced && (i >= js->n || js->p[i] != '}')))
		return 0;
	*ret = code;
	return i + braced - at;
}

static bool read_word(struct js *js) {
	char text[WORD_MAX];
	size_t n = 0, start = js->at;
	while (js->at < js->n && is_word(peek(js, 0)) && !wide_space(js, js->at)) {
		uint32_t code = (unsigned char)js->p[js->at];
		size_t length = code == '\\' ? escape(js, js->at, &code) : 1;
		js->at += length ? length : 1;
		if (n < WORD_MAX)
			text[n++] = code < 0x80 || length == 1 ? (char)code : '?';
	}
	return settle_optional(js, false) && push(js, (struct gb_str){text, n}, start);
}

/* The end of a string that began before @at, or 0 if it does not end in its line. */
static size_t end_of_text(struct js *js, char quote, size_t at) {
	size_t *unpaired = &js->unpaired[quote == '"'];
	if (at < *unpaired)
		return 0;
	for (; at < js->n && js->p[at] != '\n' && js->p[at] != '\r'; at++) {
		if (js->p[at] == quote)
			return at + 1;
		if (js->p[at] == '\\') {
			/* A backslash continues the line. */
			at += at + 2 < js->n && js->p[at + 1] == '\r' && js->p[at + 2] == '\n';
			at++;
		}
	}
	*unpaired = at;
	return 0;
}

static size_t end_of_regexp(struct js *js, size_t at) {
	bool in_class = false;
	if (at < js->unpaired[3])
		return 0;
	for (; at < js->n && !is_line_end(js, at); at++) {
		if (js->p[at] == '/' && !in_class)
			return at + 1;
		in_class = (in_class || js->p[at] == '[') && js->p[at] != ']';
		at += js->p[at] == '\\';
	}
	js->unpaired[3] = at;
	return 0;
}

/* After these a / begins a regular expression; else it divides. */
static bool regexp_can_begin(const struct js *js) {
	static const char *const words[] = {"return", "typeof", "case", "in", "of", "do", "else", "void",
	    "delete", "throw", "new", "instanceof", "yield", "await"};
	const struct token *token = newest(js);
	if (!token)
		return true;
	if (token->n == 1 && token->text[0] == ')')
		return js->after_condition;
	if (token->n == 2 || !token->n || !is_word((unsigned char)token->text[0]))
		return token->n == 1 && token->text[0] != ']' && token->text[0] != '}';
	for (size_t i = 0; i < GB_COUNT(words); i++)
		if (gb_str_eq(gb_str_from(words[i]), (struct gb_str){token->text, token->n}))
			return true;
	return false;
}

/* The text of a template up to its end or to ${; false if it has neither. */
static bool skip_template(struct js *js) {
	if (js->at < js->unpaired[2])
		return false;
	for (size_t at = js->at; at < js->n; at++) {
		if (js->p[at] == '\\') {
			at++;
		} else if (js->p[at] == '`') {
			js->at = at + 1;
			return true;
		} else if (js->p[at] == '$' && at + 1 < js->n && js->p[at + 1] == '{') {
			js->at = at + 2;
			js->templates[js->depth++] = 0;
			return true;
		}
	}
	js->unpaired[2] = js->n;
	return false;
}

static bool skip_comment(struct js *js) {
	if (peek(js, 1) == '/') {
		while (js->at < js->n && !is_line_end(js, js->at))
			js->at++;
		return true;
	}
	if (js->comments_end)
		return false;
	const char *end = memmem(js->p + js->at + 2, js->n - js->at - 2, "*/", 2);
	js->comments_end = !end;
	if (end)
		js->at = (size_t)(end - js->p) + 2;
	return end;
}

/* One token for a string or a regular expression, whatever its content: it is a value. */
static bool push_text(struct js *js, size_t end) {
	size_t start = js->at;
	js->at = end;
	return settle_optional(js, false) && push(js, GB_STR("\"\""), start);
}

static bool is_condition(const struct js *js) {
	static const char *const words[] = {"if", "while", "for", "with"};
	const struct token *token = newest(js);
	for (size_t i = 0; token && i < GB_COUNT(words); i++)
		if (gb_str_eq(gb_str_from(words[i]), (struct gb_str){token->text, token->n}))
			return true;
	return false;
}

static void count_parens(struct js *js, char c) {
	if (c == '(') {
		if (js->parens < MAX_PARENS)
			js->conditions[js->parens] = is_condition(js);
		js->parens++;
	} else if (c == ')' && js->parens) {
		js->parens--;
		js->after_condition = js->parens < MAX_PARENS && js->conditions[js->parens];
	}
}

/* The brace that ends the code in a template continues its text. */
static void count_braces(struct js *js, char c) {
	if (js->depth == 0)
		return;
	unsigned *open = &js->templates[js->depth - 1];
	if (c == '{') {
		(*open)++;
	} else if (c == '}' && *open) {
		(*open)--;
	} else if (c == '}') {
		js->depth--;
		skip_template(js);
	}
}

static bool read_punctuation(struct js *js) {
	char c = js->p[js->at];
	size_t at = js->at;
	if (c == '?' && peek(js, 1) == '.' && !isdigit(peek(js, 2))) {
		js->optional = true;
		js->optional_at = at;
		js->at += 2;
		return true;
	}
	bool twice = (c == '+' || c == '-') && peek(js, 1) == c;
	js->at += twice ? 2 : 1;
	count_parens(js, c);
	bool ok = settle_optional(js, c == '(' || c == '[') &&
		  push(js, (struct gb_str){js->p + at, twice ? 2 : 1}, at);
	count_braces(js, c);
	return ok;
}

static bool next(struct js *js) {
	int c = peek(js, 0), ahead = peek(js, 1);
	size_t space = c == ' ' || (c >= '\t' && c <= '\r') ? 1 : wide_space(js, js->at), end = 0;
	if (space) {
		js->at += space;
		return true;
	}
	if (c == '/' && (ahead == '/' || ahead == '*') && skip_comment(js))
		return true;
	if (is_word(c))
		return read_word(js);
	if (c == '"' || c == '\'')
		end = end_of_text(js, (char)c, js->at + 1);
	if (c == '/' && regexp_can_begin(js))
		end = end_of_regexp(js, js->at + 1);
	if (end)
		return push_text(js, end);
	if (c == '`' && js->depth < MAX_TEMPLATES) {
		size_t at = js->at++;
		js->at = skip_template(js) ? js->at : at + 1;
		return settle_optional(js, false) && push(js, GB_STR("`"), at);
	}
	return read_punctuation(js);
}

bool guard_search_js(struct guard_search *search, struct gb_str source) {
	size_t n_rules = search->n_rules + search->n_more;
	gb_auto_free struct js *js = calloc(1, sizeof *js + n_rules * sizeof *js->patterns);
	if (!js) {
		/* Code that cannot be checked is refused. */
		search->found = (struct gb_guard_rule){
		    "(unread)", "there is not enough memory to check the code", "Try again."};
		return false;
	}
	js->search = search;
	js->p = source.p;
	js->n = source.n;
	struct gb_guard_rule rule;
	while (js->n_patterns < n_rules && guard_rule_at(search, js->n_patterns, &rule))
		js->patterns[js->n_patterns++] = compile(rule.pattern);
	if (source.n > 1 && memcmp(source.p, "#!", 2) == 0)
		while (js->at < js->n && !is_line_end(js, js->at))
			js->at++;
	while (js->at < js->n)
		if (!next(js))
			return false;
	return true;
}
