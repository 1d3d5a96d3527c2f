/* Words of a shell script, with their quotes taken off and the commands in them looked at. */
#include <ctype.h>
#include <string.h>

#include "guard/static_shell.h"

/* Stands for what is not known before the script runs. */
enum { UNKNOWN = '\1' };

/* The shell drops zeros. */
static void add(struct shell *s, char c) {
	if (c)
		gb_buf_append_char(&s->word, c);
}

bool shell_substitution(struct shell *s, char closer) {
	struct gb_buf outer = s->word;
	bool quoted = s->word_quoted;
	gb_buf_init(&s->word, outer.max);
	bool ok = shell_search(s, closer);
	gb_buf_finish(&s->word);
	s->word = outer;
	s->word_quoted = quoted;
	add(s, UNKNOWN);
	return ok;
}

/* $(( … )): its end, or 0 if it is $( ( … ) … ) after all. */
static size_t end_of_arithmetic(const struct shell *s) {
	size_t open = 2;
	for (size_t at = s->at + 3; at < s->n && s->p[at] != '\n'; at++) {
		open += s->p[at] == '(';
		if (s->p[at] == ')' && --open == 0)
			return s->p[at - 1] == ')' ? at + 1 : 0;
	}
	return 0;
}

/* ${…}: a value, in whose default there may be commands. */
static bool parameter(struct shell *s) {
	for (s->at += 2; s->at < s->n && s->p[s->at] != '}';) {
		char c = s->p[s->at];
		if (c == '\\') {
			shell_skip(s, 2);
		} else if (c == '`' || (c == '$' && shell_peek(s, 1) == '(')) {
			s->at += c == '`' ? 1 : 2;
			if (!shell_substitution(s, c == '`' ? '`' : ')'))
				return false;
		} else {
			s->at++;
		}
	}
	shell_skip(s, 1);
	add(s, UNKNOWN);
	return true;
}

/* At a $ or `. */
static bool expansion(struct shell *s) {
	if (s->p[s->at] == '`') {
		s->at++;
		return shell_substitution(s, '`');
	}
	if (shell_peek(s, 1) == '{')
		return parameter(s);
	if (shell_peek(s, 1) == '(') {
		size_t end = shell_peek(s, 2) == '(' ? end_of_arithmetic(s) : 0;
		if (end) {
			s->at = end;
			add(s, UNKNOWN);
			return true;
		}
		s->at += 2;
		return shell_substitution(s, ')');
	}
	s->at++;
	add(s,
	    isalnum(shell_peek(s, 0)) || shell_peek(s, 0) == '_' || shell_peek(s, 0) == '@' ? UNKNOWN : '$');
	return true;
}

static bool in_double_quotes(struct shell *s) {
	for (s->at++; s->at < s->n && s->p[s->at] != '"';) {
		char c = s->p[s->at];
		if (c == '$' || c == '`') {
			if (!expansion(s))
				return false;
			continue;
		}
		if (c == '\\' && s->at + 1 < s->n && strchr("$`\"\\\n", s->p[s->at + 1]))
			c = s->p[++s->at];
		add(s, c);
		s->at++;
	}
	shell_skip(s, 1);
	return true;
}

static void in_single_quotes(struct shell *s, bool escapes) {
	for (s->at++; s->at < s->n && s->p[s->at] != '\''; s->at++) {
		s->at += escapes && s->p[s->at] == '\\' && s->at + 1 < s->n;
		add(s, s->p[s->at]);
	}
	shell_skip(s, 1);
}

static bool ends_word(int c) {
	return c < 0 || (c && strchr(" \t\n;&|<>()", c));
}

bool shell_read_word(struct shell *s, char closer) {
	gb_buf_clear(&s->word);
	s->word_quoted = false;
	while (!ends_word(shell_peek(s, 0)) && !(closer == '`' && shell_peek(s, 0) == '`')) {
		char c = s->p[s->at];
		bool quote = c == '\'' || c == '"' || c == '\\' || (c == '$' && shell_peek(s, 1) == '\'');
		s->word_quoted |= quote;
		if (c == '\\') {
			if (shell_peek(s, 1) >= 0 && shell_peek(s, 1) != '\n')
				add(s, s->p[s->at + 1]);
			shell_skip(s, 2);
		} else if (c == '\'') {
			in_single_quotes(s, false);
		} else if (quote && c == '$') {
			s->at++;
			in_single_quotes(s, true);
		} else if (c == '"') {
			if (!in_double_quotes(s))
				return false;
		} else if (c == '$' || c == '`') {
			if (!expansion(s))
				return false;
		} else {
			add(s, c);
			s->at++;
		}
	}
	return true;
}
