/* Words of a shell script: removes quotes, and reads the commands in substitutions. */
#include <ctype.h>
#include <string.h>

#include "base/cleanup.h"
#include "runtime/shell/reader.h"

enum { LOOKAHEAD_MAX = 2048 };

/* The shell drops zeros. */
static void add(struct reader *r, char c) {
	if (c)
		gb_buf_append_char(&r->word, c);
}

bool reader_substitution(struct reader *r) {
	struct gb_buf outer = r->word;
	bool quoted = r->word_quoted;
	gb_buf_init(&r->word, outer.max);
	bool ok = reader_commands(r, ')');
	gb_buf_finish(&r->word);
	r->word = outer;
	r->word_quoted = quoted;
	add(r, READER_UNKNOWN);
	return ok;
}

/* The shell finds the closing backquote first, whatever quotes are in between, and then removes backslashes. */
static bool backquotes(struct reader *r, bool in_quotes) {
	gb_auto_buf struct gb_buf code;
	size_t start = r->at;
	bool verbatim = true;
	gb_buf_init(&code, r->n + 1);
	while (r->at < r->n && r->p[r->at] != '`') {
		int next = reader_peek(r, 1);
		if (r->p[r->at] == '\\' &&
		    (next == '`' || next == '\\' || next == '$' || (in_quotes && next == '"'))) {
			verbatim = false;
			r->at++;
		}
		gb_buf_append_char(&code, r->p[r->at++]);
	}
	reader_skip(r, 1);
	add(r, READER_UNKNOWN);
	if (gb_buf_failed(&code))
		return reader_unreadable(r, start);
	return reader_nested(r, gb_buf_str(&code), start, verbatim);
}

/* --- brackets --- */

/* The offset of the quote that closes the one at @at, or @limit. */
static size_t skip_quoted(const struct reader *r, size_t at, size_t limit) {
	char quote = r->p[at];
	for (at++; at < limit && r->p[at] != quote; at++)
		at += quote == '"' && r->p[at] == '\\';
	return at < limit ? at : limit; /* a backslash may be the last byte */
}

static size_t lookahead_limit(const struct reader *r, size_t from) {
	return r->n - from > LOOKAHEAD_MAX ? from + LOOKAHEAD_MAX : r->n;
}

/* The offset of the bracket that closes one before @from, or 0 if there is none within the limit. */
static size_t find_closing(const struct reader *r, size_t from, char open, char close) {
	size_t limit = lookahead_limit(r, from), depth = 1;
	for (size_t at = from; at < limit; at++) {
		char c = r->p[at];
		if (c == '\\')
			at++;
		else if (c == '\'' || c == '"')
			at = skip_quoted(r, at, limit);
		else if (c == close && --depth == 0)
			return at;
		else
			depth += c == open;
	}
	return 0;
}

/* Read the substitutions up to @end. */
static bool expansions_until(struct reader *r, size_t end) {
	if (!reader_enter(r))
		return false;
	bool ok = true;
	while (ok && r->at < end) {
		char c = r->p[r->at];
		if (c == '$' || c == '`')
			ok = reader_expansion(r, false);
		else
			reader_skip(r, c == '\\' ? 2 : 1);
	}
	r->depth--;
	return ok;
}

/* Like bash: the first closing bracket must be followed by the second, else these are two subshells. */
bool reader_arithmetic(struct reader *r, bool *ret_found) {
	size_t start = r->at, inner = start + 2, close = find_closing(r, inner, '(', ')');
	*ret_found = close && close + 1 < r->n && r->p[close + 1] == ')';
	if (!close && lookahead_limit(r, inner) < r->n)
		return reader_unreadable(r, start);
	if (!*ret_found)
		return true;
	r->at = inner;
	if (!expansions_until(r, close))
		return false;
	if (r->at < close + 2)
		r->at = close + 2;
	return true;
}

/* At the '[' of NAME[…]=: bash reads blanks and operators in the brackets as parts of the word. */
static bool subscript(struct reader *r) {
	size_t close = find_closing(r, r->at + 1, '[', ']'), after = close + 1;
	after += close && after < r->n && r->p[after] == '+';
	if (!close || after >= r->n || r->p[after] != '=') {
		add(r, r->p[r->at++]);
		return true;
	}
	size_t length = r->word.len;
	r->at++;
	if (!expansions_until(r, close))
		return false;
	r->word.len = length;
	add(r, '[');
	add(r, READER_UNKNOWN);
	if (r->at < close)
		r->at = close;
	return true;
}

/* --- quotes --- */

static void in_single_quotes(struct reader *r, bool escapes) {
	for (r->at++; r->at < r->n && r->p[r->at] != '\''; r->at++) {
		r->at += escapes && r->p[r->at] == '\\' && r->at + 1 < r->n;
		add(r, r->p[r->at]);
	}
	reader_skip(r, 1);
}

static bool in_double_quotes(struct reader *r) {
	for (r->at++; r->at < r->n && r->p[r->at] != '"';) {
		char c = r->p[r->at];
		if (c == '$' || c == '`') {
			if (!reader_expansion(r, true))
				return false;
			continue;
		}
		bool escape = c == '\\' && r->at + 1 < r->n && strchr("$`\"\\\n", r->p[r->at + 1]);
		if (escape)
			c = r->p[++r->at];
		if (!escape || c != '\n')
			add(r, c);
		r->at++;
	}
	reader_skip(r, 1);
	return true;
}

/* --- expansions --- */

/* Whether single quotes are quotes within "${…}": only behind operators that take a pattern. */
static bool takes_pattern(const struct reader *r) {
	size_t at = r->at + 2;
	at += at < r->n && r->p[at] == '!';
	while (at < r->n && (isalnum((unsigned char)r->p[at]) || r->p[at] == '_'))
		at++;
	if (at < r->n && r->p[at] == '[')
		at = find_closing(r, at + 1, '[', ']') + 1;
	return at < r->n && r->p[at] && strchr("#%/^,", r->p[at]);
}

/* ${…}: a default value may contain commands. */
static bool parameter(struct reader *r, bool in_quotes) {
	if (!reader_enter(r))
		return false;
	size_t length = r->word.len;
	bool quotes = !in_quotes || takes_pattern(r), ok = true;
	for (r->at += 2; ok && r->at < r->n && r->p[r->at] != '}';) {
		char c = r->p[r->at];
		bool escapes = c == '$' && reader_peek(r, 1) == '\'' && quotes;
		r->at += escapes;
		if (quotes && (c == '\'' || escapes))
			in_single_quotes(r, escapes);
		else if (c == '"')
			ok = in_double_quotes(r);
		else if (c == '$' || c == '`')
			ok = reader_expansion(r, in_quotes);
		else
			reader_skip(r, c == '\\' ? 2 : 1);
	}
	reader_skip(r, 1);
	r->depth--;
	if (r->word.len > length)
		r->word.len = length;
	add(r, READER_UNKNOWN);
	return ok;
}

bool reader_expansion(struct reader *r, bool in_quotes) {
	if (r->p[r->at] == '`') {
		r->at++;
		return backquotes(r, in_quotes);
	}
	if (reader_peek(r, 1) == '{')
		return parameter(r, in_quotes);
	r->at++;
	if (reader_peek(r, 0) == '(') {
		bool arithmetic = false;
		if (reader_peek(r, 1) == '(' && !reader_arithmetic(r, &arithmetic))
			return false;
		if (arithmetic) {
			add(r, READER_UNKNOWN);
			return true;
		}
		r->at++;
		return reader_substitution(r);
	}
	bool is_named = isalpha(reader_peek(r, 0)) || reader_peek(r, 0) == '_';
	bool is_special = reader_peek(r, 0) > 0 && strchr("$?!#*-@0123456789", reader_peek(r, 0));
	r->at += is_special;
	while (is_named && (isalnum(reader_peek(r, 0)) || reader_peek(r, 0) == '_'))
		r->at++;
	add(r, is_named || is_special ? READER_UNKNOWN : '$');
	return true;
}

/* --- words --- */

static bool ends_word(int c) {
	return c < 0 || (c && strchr(" \t\n;&|<>()", c));
}

/* At a character that is no blank or operator. @after_name: the word so far is a name that may have a
 * subscript. */
static bool read_part(struct reader *r, bool after_name) {
	char c = r->p[r->at];
	if (c == '\\') {
		if (reader_peek(r, 1) >= 0 && reader_peek(r, 1) != '\n')
			add(r, r->p[r->at + 1]);
		reader_skip(r, 2);
	} else if (c == '\'') {
		in_single_quotes(r, false);
	} else if (c == '$' && reader_peek(r, 1) == '\'') {
		r->at++;
		in_single_quotes(r, true);
	} else if (c == '"') {
		return in_double_quotes(r);
	} else if (c == '$' || c == '`') {
		return reader_expansion(r, false);
	} else if (c == '[' && after_name) {
		return subscript(r);
	} else {
		add(r, c);
		r->at++;
	}
	return true;
}

bool reader_word(struct reader *r, bool is_name) {
	gb_buf_clear(&r->word);
	r->word_quoted = false;
	bool ok = true, plain = is_name && !isdigit(reader_peek(r, 0));
	while (ok && !ends_word(reader_peek(r, 0))) {
		char c = r->p[r->at];
		r->word_quoted |=
		    c == '\'' || c == '"' || c == '\\' || (c == '$' && reader_peek(r, 1) == '\'');
		ok = read_part(r, plain && r->word.len);
		plain &= isalnum((unsigned char)c) || c == '_';
	}
	return ok;
}

/* At '"': up to the closing one, without expansions. */
static void literal_quotes(struct reader *r) {
	size_t close = skip_quoted(r, r->at, r->n);
	for (r->at++; r->at < close; r->at++) {
		bool escape = r->p[r->at] == '\\' && r->at + 1 < close && strchr("$`\"\\", r->p[r->at + 1]);
		r->at += escape;
		add(r, r->p[r->at]);
	}
	reader_skip(r, 1);
}

bool reader_delimiter(struct reader *r) {
	size_t start = r->at;
	gb_buf_clear(&r->word);
	r->word_quoted = false;
	while (!ends_word(reader_peek(r, 0))) {
		int next = reader_peek(r, 1);
		bool dollar = r->p[r->at] == '$', escapes = dollar && next == '\'';
		if (r->p[r->at] == '`' || (dollar && (next == '(' || next == '{')))
			return reader_unreadable(r, start);
		r->at += escapes || (dollar && next == '"');
		char c = r->p[r->at];
		r->word_quoted |= c == '\'' || c == '"' || c == '\\';
		if (c == '"')
			literal_quotes(r);
		else if (c == '\'')
			in_single_quotes(r, escapes);
		else if (c == '\\')
			(void)read_part(r, false);
		else
			add(r, r->p[r->at++]);
	}
	return true;
}
