#include "cli/highlight.h"

#include <string.h>

#include "base/language.h"

enum { REGEXP_MAX = 1000 };

/* Each word has a space on both sides. */
static const char *const keywords[] = {
    [GB_SYNTAX_NONE] = "",
    [GB_SYNTAX_JS] =
	" abstract as async await break case catch class const continue debugger declare default delete do "
	"else enum export extends false finally for from function get if implements import in instanceof "
	"interface let namespace new null of private protected public readonly return satisfies set static "
	"super switch this throw true try type typeof undefined var void while with yield ",
    [GB_SYNTAX_PYTHON] =
	" False None True and as assert async await break case class continue def del elif else except "
	"finally for from global if import in is lambda match nonlocal not or pass raise return try "
	"while with yield ",
    [GB_SYNTAX_SHELL] =
	" case do done elif else esac exec eval exit export fi for function if in local readonly return "
	"select set shift source then time trap unset until while ",
};

enum gb_syntax highlight_syntax(struct gb_str language) {
	enum gb_language found;
	return gb_language_find_str(language, &found) ? gb_language_infos[found].syntax : GB_SYNTAX_NONE;
}

/* --- characters --- */

/* The character at @at, or 0 beyond the end. */
static char peek(const struct highlight *h, size_t at) {
	return at < h->code.n ? h->code.p[at] : '\0';
}

static bool starts(const struct highlight *h, size_t at, const char *text) {
	size_t n = strlen(text);
	return h->code.n - at >= n && memcmp(h->code.p + at, text, n) == 0;
}

static bool is_digit(char c) {
	return c >= '0' && c <= '9';
}

static bool is_letter(char c) {
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' ||
	       (unsigned char)c >= 0x80;
}

static bool is_space(char c) {
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* --- skipping: each function returns the end --- */

static size_t skip_line(const struct highlight *h, size_t at) {
	const char *end = memchr(h->code.p + at, '\n', h->code.n - at);
	return end ? (size_t)(end - h->code.p) : h->code.n;
}

static size_t skip_past(const struct highlight *h, size_t at, const char *text) {
	const char *end = memmem(h->code.p + at, h->code.n - at, text, strlen(text));
	return end ? (size_t)(end - h->code.p) + strlen(text) : h->code.n;
}

/* @at is after the opening quote; the end is after the closing one. */
static size_t skip_quoted(const struct highlight *h, size_t at, char quote, bool escapes, bool lines) {
	for (; at < h->code.n; at++) {
		if (escapes && h->code.p[at] == '\\')
			at++;
		else if (h->code.p[at] == quote)
			return at + 1;
		else if (!lines && h->code.p[at] == '\n')
			return at;
	}
	return h->code.n;
}

static size_t skip_triple(const struct highlight *h, size_t at, char quote) {
	for (; at < h->code.n; at++) {
		if (h->code.p[at] == '\\')
			at++;
		else if (h->code.p[at] == quote && peek(h, at + 1) == quote && peek(h, at + 2) == quote)
			return at + 3;
	}
	return h->code.n;
}

/* @at is after "`", or after the "}" of a "${"; the end is after the next "`" or "${". */
static size_t skip_template(struct highlight *h, size_t at) {
	for (; at < h->code.n; at++) {
		if (h->code.p[at] == '\\') {
			at++;
		} else if (h->code.p[at] == '`') {
			return at + 1;
		} else if (starts(h, at, "${") && h->n_templates < HIGHLIGHT_TEMPLATES) {
			h->braces[h->n_templates++] = 0;
			return at + 2;
		}
	}
	return h->code.n;
}

/* The end of the regular expression that begins at the slash; @at if there is none. */
static size_t skip_regexp(const struct highlight *h, size_t at) {
	bool in_class = false;
	for (size_t i = at + 1; i < h->code.n && i - at < REGEXP_MAX && h->code.p[i] != '\n'; i++) {
		if (h->code.p[i] == '\\')
			i++;
		else if (h->code.p[i] == '[')
			in_class = true;
		else if (h->code.p[i] == ']')
			in_class = false;
		else if (h->code.p[i] == '/' && !in_class)
			return i + 1;
	}
	return at;
}

/* --- languages: each function determines the token that begins at @at --- */

static enum token next_js(struct highlight *h, size_t at, size_t *ret_end) {
	char c = h->code.p[at];
	if (starts(h, at, "//") || (at == 0 && starts(h, at, "#!")))
		return *ret_end = skip_line(h, at), TOKEN_COMMENT;
	if (starts(h, at, "/*"))
		return *ret_end = skip_past(h, at + 2, "*/"), TOKEN_COMMENT;
	if (c == '"' || c == '\'')
		return *ret_end = skip_quoted(h, at + 1, c, true, false), TOKEN_STRING;
	bool resumes = c == '}' && h->n_templates && h->braces[h->n_templates - 1] == 0;
	if (resumes)
		h->n_templates--;
	if (c == '`' || resumes)
		return *ret_end = skip_template(h, at + 1), TOKEN_STRING;
	if (h->n_templates && (c == '{' || c == '}'))
		h->braces[h->n_templates - 1] += c == '{' ? 1 : -1U;
	if (c == '/' && !h->after_value && skip_regexp(h, at) > at)
		return *ret_end = skip_regexp(h, at), TOKEN_STRING;
	return TOKEN_PLAIN;
}

/* The number of letters before the quote of a string: r"", Rb'', f"". */
static size_t prefix_length(const struct highlight *h, size_t at) {
	size_t n = 0;
	while (n < 2 && peek(h, at + n) && strchr("rbfuRBFU", peek(h, at + n)))
		n++;
	return n;
}

static enum token next_python(struct highlight *h, size_t at, size_t *ret_end) {
	size_t quote = at + prefix_length(h, at);
	char c = peek(h, quote);
	if (h->code.p[at] == '#')
		return *ret_end = skip_line(h, at), TOKEN_COMMENT;
	if (c != '"' && c != '\'')
		return TOKEN_PLAIN;
	if (peek(h, quote + 1) == c && peek(h, quote + 2) == c)
		*ret_end = skip_triple(h, quote + 3, c);
	else
		*ret_end = skip_quoted(h, quote + 1, c, true, false);
	return TOKEN_STRING;
}

static enum token next_shell(struct highlight *h, size_t at, size_t *ret_end) {
	char c = h->code.p[at];
	if (c == '\\' && at + 1 < h->code.n)
		return *ret_end = at + 2, TOKEN_PLAIN;
	if (c == '#' && (at == 0 || is_space(h->code.p[at - 1]) || strchr(";&|()", h->code.p[at - 1])))
		return *ret_end = skip_line(h, at), TOKEN_COMMENT;
	if (c == '\'' || c == '"')
		return *ret_end =
			   skip_quoted(h, at + 1, c, c == '"' || (at && h->code.p[at - 1] == '$'), true),
		       TOKEN_STRING;
	return TOKEN_PLAIN;
}

/* --- words and numbers of all languages --- */

static bool is_keyword(enum gb_syntax syntax, struct gb_str word) {
	char spaced[32];
	if (word.n + 3 > sizeof spaced)
		return false;
	spaced[0] = ' ';
	memcpy(spaced + 1, word.p, word.n);
	memcpy(spaced + 1 + word.n, " ", 2);
	return strstr(keywords[syntax], spaced) != NULL;
}

static enum token next_word(struct highlight *h, size_t at, size_t *ret_end) {
	size_t end = at;
	while (is_letter(peek(h, end)) || is_digit(peek(h, end)))
		end++;
	*ret_end = end;
	bool is_member = at > 0 && h->code.p[at - 1] == '.';
	bool is_key = !is_member && is_keyword(h->syntax, (struct gb_str){h->code.p + at, end - at});
	h->after_value = !is_key;
	return is_key ? TOKEN_KEYWORD : TOKEN_PLAIN;
}

static enum token next_number(struct highlight *h, size_t at, size_t *ret_end) {
	size_t end = at;
	while (is_letter(peek(h, end)) || is_digit(peek(h, end)) ||
	       (peek(h, end) == '.' && is_digit(peek(h, end + 1))))
		end++;
	*ret_end = end;
	h->after_value = true;
	return TOKEN_NUMBER;
}

static enum token next_other(struct highlight *h, size_t at, size_t *ret_end) {
	char c = h->code.p[at];
	if (is_letter(c))
		return next_word(h, at, ret_end);
	if (is_digit(c))
		return next_number(h, at, ret_end);
	*ret_end = at + 1;
	if (!is_space(c))
		h->after_value = c == ')' || c == ']' || c == '}';
	return TOKEN_PLAIN;
}

enum token highlight_next(struct highlight *h, size_t *ret_end) {
	static enum token (*const languages[])(struct highlight *, size_t, size_t *) = {
	    [GB_SYNTAX_JS] = next_js, [GB_SYNTAX_PYTHON] = next_python, [GB_SYNTAX_SHELL] = next_shell};
	size_t at = h->at, end = at;
	enum token token = TOKEN_PLAIN;
	if (h->syntax == GB_SYNTAX_NONE)
		end = h->code.n;
	else
		token = languages[h->syntax](h, at, &end);
	if (end == at)
		token = next_other(h, at, &end);
	else if (token == TOKEN_STRING)
		h->after_value = end == 0 || h->code.p[end - 1] != '{';
	if (end > h->code.n)
		end = h->code.n;
	*ret_end = h->at = end;
	return token;
}
