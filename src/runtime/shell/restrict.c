#include "runtime/shell/restrict.h"

#include <ctype.h>
#include <string.h>

#include "base/cleanup.h"

enum { WORD_MAX = 256, NESTED_MAX = 64, HERE_MAX = 8, FUNCTIONS_MAX = 16 };

/* What a word would be. */
enum place {
	COMMAND,  /* a command's name, or an assignment before it */
	ARGUMENT, /* anything */
	TARGET,   /* a file that is written to */
	SOURCE,   /* a file that is read from */
};

struct reader {
	struct gb_str text;
	size_t at;
	unsigned line;
	enum place place, after; /* a file's name has stood there */
	bool wrapped;            /* the command's name is the next word that is no option */
	/* What brackets will lead back to. */
	char nested[NESTED_MAX];
	unsigned n_nested;
	/* Documents whose lines begin after this one. */
	char here[HERE_MAX][WORD_MAX];
	unsigned n_here;
	/* Functions that the script has, and the last words of a pipe. */
	char functions[FUNCTIONS_MAX][WORD_MAX];
	unsigned n_functions;
	char last[WORD_MAX], before[WORD_MAX]; /* commands' names */
	bool piped;                            /* between those two */
	struct gb_refusal *refusal;
};

static char peek(const struct reader *reader, size_t ahead) {
	return reader->at + ahead < reader->text.n ? reader->text.p[reader->at + ahead] : '\0';
}

static bool at_end(const struct reader *reader) {
	return reader->at >= reader->text.n;
}

static void step(struct reader *reader) {
	if (peek(reader, 0) == '\n')
		reader->line++;
	reader->at++;
}

/* --- rules --- */

static bool names(const char *list, const char *word) {
	size_t n = strlen(word);
	for (const char *at = list + 1; *at; at += strcspn(at, " ") + 1) {
		size_t length = strcspn(at, " ");
		bool prefix = length > 0 && at[length - 1] == '*';
		if (prefix ? n >= length - 1 && memcmp(at, word, length - 1) == 0
			   : n == length && memcmp(at, word, n) == 0)
			return true;
	}
	return false;
}

static bool refuse(struct reader *reader, const char *name, const char *word) {
	for (const struct gb_refused *rule = gb_refused; rule->names; rule++) {
		if (!names(rule->names, name))
			continue;
		*reader->refusal = (struct gb_refusal){.rule = rule, .line = reader->line};
		size_t n = strnlen(word, sizeof reader->refusal->word - 1);
		memcpy(reader->refusal->word, word, n);
		return true;
	}
	return false;
}

/* Commands that run another, and words after which a command follows as at the start of a line. */
static const char wrappers[] =
    " env command builtin exec nice ionice time xargs timeout stdbuf busybox watch "
    "parallel unbuffer script chrt taskset -exec -execdir -ok -okdir ";
static const char openers[] = " if then else elif while until do ! { coproc time ";

static bool is_assignment(const char *word) {
	size_t n = 0;
	while (isalnum((unsigned char)word[n]) || word[n] == '_')
		n++;
	return n > 0 && !isdigit((unsigned char)word[0]) &&
	       (word[n] == '=' || word[n] == '[' || (word[n] == '+' && word[n + 1] == '='));
}

static bool is_device(const char *word) {
	static const char harmless[] =
	    " null zero full random urandom tty stdin stdout stderr fd/* shm/* pts/* ";
	return strncmp(word, "/dev/", 5) == 0 && !names(harmless, word + 5);
}

static bool is_function(const struct reader *reader, const char *word) {
	for (unsigned i = 0; i < reader->n_functions; i++)
		if (strcmp(reader->functions[i], word) == 0)
			return true;
	return false;
}

/* False if it is refused. */
static bool take_command(struct reader *reader, const char *word) {
	const char *slash = strrchr(word, '/'), *name = slash ? slash + 1 : word;
	reader->wrapped = names(wrappers, name);
	reader->place = reader->wrapped || names(openers, word) ? COMMAND : ARGUMENT;
	if (!names(openers, word))
		memcpy(reader->last, word, strlen(word) + 1);
	return !refuse(reader, name, word);
}

static bool take_word(struct reader *reader, const char *word) {
	switch (reader->place) {
	case TARGET:
		reader->place = reader->after;
		return !is_device(word) || !refuse(reader, ":device:", word);
	case SOURCE:
		reader->place = reader->after;
		return true;
	case ARGUMENT:
		if (!names(wrappers, word) || word[0] != '-')
			return true;
		reader->place = COMMAND;
		return true;
	case COMMAND:
		break;
	}
	/* Which descriptor is to be another file. */
	if (strspn(word, "0123456789") == strlen(word) && (peek(reader, 0) == '<' || peek(reader, 0) == '>'))
		return true;
	/* Options of the command that runs another, and numbers: how long, how nice. */
	if (is_assignment(word) || (reader->wrapped && (word[0] == '-' || isdigit((unsigned char)word[0]))))
		return true;
	return take_command(reader, word);
}

/* --- words --- */

static void put(char word[WORD_MAX], size_t *n, char c) {
	if (*n < WORD_MAX - 1)
		word[(*n)++] = c;
	word[*n] = '\0';
}

/* A command inside of a word: what follows is read as one, and the bracket leads back. */
static void nest(struct reader *reader, char closing) {
	if (reader->n_nested < NESTED_MAX)
		reader->nested[reader->n_nested++] = closing;
	reader->place = COMMAND;
	reader->wrapped = false;
}

static void skip_single_quotes(struct reader *reader, char word[WORD_MAX], size_t *n, bool escapes) {
	for (step(reader); !at_end(reader) && peek(reader, 0) != '\''; step(reader)) {
		if (escapes && peek(reader, 0) == '\\')
			step(reader);
		put(word, n, peek(reader, 0));
	}
	step(reader);
}

static bool closes_backquotes(const struct reader *reader) {
	return peek(reader, 0) == '`' && reader->n_nested && reader->nested[reader->n_nested - 1] == '`';
}

static bool starts_command(const struct reader *reader) {
	char c = peek(reader, 0);
	return (c == '`' && !closes_backquotes(reader)) ||
	       ((c == '$' || c == '<' || c == '>') && peek(reader, 1) == '(' && peek(reader, 2) != '(');
}

static void enter_command(struct reader *reader, char around) {
	char c = peek(reader, 0);
	step(reader);
	if (c != '`')
		step(reader);
	/* After it the quotes go on. */
	if (around && reader->n_nested < NESTED_MAX)
		reader->nested[reader->n_nested++] = around;
	nest(reader, c == '`' ? '`' : ')');
}

/* Up to the closing quotes, or a command. False if it is a command that was met. */
static bool skip_double_quotes(struct reader *reader, char word[WORD_MAX], size_t *n) {
	while (!at_end(reader) && peek(reader, 0) != '"') {
		if (starts_command(reader) && peek(reader, 0) != '<' && peek(reader, 0) != '>') {
			enter_command(reader, '"');
			return false;
		}
		if (peek(reader, 0) == '\\')
			step(reader);
		put(word, n, peek(reader, 0));
		step(reader);
	}
	step(reader);
	return true;
}

static bool ends_word(char c) {
	return c == '\0' || isspace((unsigned char)c) || strchr(";&|()<>", c);
}

/* One word, without its quotes. False if it stops for a command within. */
static bool read_word(struct reader *reader, char word[WORD_MAX]) {
	size_t n = 0;
	word[0] = '\0';
	while (!at_end(reader)) {
		char c = peek(reader, 0);
		if (starts_command(reader)) {
			enter_command(reader, 0);
			return false;
		}
		if (c == '`' || ends_word(c))
			return true;
		if (c == '\'' || (c == '$' && peek(reader, 1) == '\'')) {
			if (c == '$')
				step(reader);
			skip_single_quotes(reader, word, &n, c == '$');
		} else if (c == '"') {
			step(reader);
			if (!skip_double_quotes(reader, word, &n))
				return false;
		} else {
			if (c == '\\')
				step(reader);
			/* A line that goes on. */
			if (!(c == '\\' && peek(reader, 0) == '\n'))
				put(word, &n, peek(reader, 0));
			step(reader);
		}
	}
	return true;
}

/* --- between words --- */

static void skip_documents(struct reader *reader) {
	for (unsigned i = 0; i < reader->n_here; i++) {
		const char *wanted = reader->here[i];
		bool found = false;
		while (!at_end(reader) && !found) {
			size_t from = reader->at;
			while (!at_end(reader) && peek(reader, 0) != '\n')
				step(reader);
			struct gb_str line = {reader->text.p + from, reader->at - from};
			while (line.n && line.p[0] == '\t')
				line.p++, line.n--;
			found = gb_str_eq(line, gb_str_from(wanted));
			step(reader);
		}
	}
	reader->n_here = 0;
}

static void end_command(struct reader *reader, char by) {
	reader->place = COMMAND;
	reader->wrapped = false;
	if (by == '|') {
		memcpy(reader->before, reader->last, sizeof reader->last);
		reader->piped = true;
	} else {
		reader->piped = false;
	}
	reader->last[0] = '\0';
}

/* f|f& within f, and what looks like it. */
static bool bombs(const struct reader *reader) {
	return reader->piped && reader->last[0] && strcmp(reader->last, reader->before) == 0 &&
	       is_function(reader, reader->last);
}

static void read_redirection(struct reader *reader) {
	char word[WORD_MAX], c = peek(reader, 0);
	step(reader);
	if (c == '<' && peek(reader, 0) == '<' && peek(reader, 1) != '<') {
		step(reader);
		if (peek(reader, 0) == '-')
			step(reader);
		while (peek(reader, 0) == ' ' || peek(reader, 0) == '\t')
			step(reader);
		enum place place = reader->place;
		if (read_word(reader, word) && reader->n_here < HERE_MAX)
			memcpy(reader->here[reader->n_here++], word, sizeof word);
		reader->place = place;
		return;
	}
	while (strchr("<>&|", peek(reader, 0)) && peek(reader, 0))
		step(reader);
	/* Where a command's name is still to come, a file's name does not take its place. */
	char next = peek(reader, 0);
	if (isdigit((unsigned char)next) || next == '-')
		step(reader);
	else {
		reader->after = reader->place;
		reader->place = c == '>' ? TARGET : SOURCE;
	}
}

static void close_bracket(struct reader *reader) {
	if (reader->n_nested)
		reader->n_nested--;
	reader->place = ARGUMENT;
}

/* () after a word makes a function of it. */
static void open_bracket(struct reader *reader) {
	if (peek(reader, 1) == ')' && reader->last[0]) {
		if (reader->n_functions < FUNCTIONS_MAX)
			memcpy(reader->functions[reader->n_functions++], reader->last, sizeof reader->last);
		step(reader);
		step(reader);
		end_command(reader, ';');
		return;
	}
	step(reader);
	nest(reader, ')');
}

/* A command within quotes is over: the rest of them is part of an argument. */
static bool resume_quotes(struct reader *reader) {
	char rest[WORD_MAX];
	size_t n = 0;
	if (!reader->n_nested || reader->nested[reader->n_nested - 1] != '"')
		return true;
	reader->n_nested--;
	return skip_double_quotes(reader, rest, &n);
}

/* False if what was read up to here is refused. */
static bool read_operator(struct reader *reader) {
	char c = peek(reader, 0);
	if (c == '&' && bombs(reader) && refuse(reader, ":fork:", reader->last))
		return false;
	if (c == '<' || c == '>') {
		read_redirection(reader);
	} else if (c == '(') {
		open_bracket(reader);
	} else if (c == ')' || c == '`') {
		step(reader);
		close_bracket(reader);
		resume_quotes(reader);
	} else if (c == '&' && peek(reader, 1) == '>') {
		step(reader);
		read_redirection(reader);
	} else {
		step(reader);
		end_command(reader, c);
		if (c == '\n')
			skip_documents(reader);
	}
	return true;
}

static void skip_comment(struct reader *reader) {
	while (!at_end(reader) && peek(reader, 0) != '\n')
		step(reader);
}

bool gb_restrict_check(struct gb_str script, struct gb_refusal *ret) {
	struct reader reader = {.text = script, .line = 1, .place = COMMAND, .refusal = ret};
	char word[WORD_MAX] = "";
	while (!at_end(&reader)) {
		char c = peek(&reader, 0);
		bool fine = true;
		if (c == ' ' || c == '\t' || c == '\r' || c == '\0')
			step(&reader);
		else if (c == '#')
			skip_comment(&reader);
		else if (closes_backquotes(&reader) || strchr(";&|()\n", c) ||
			 ((c == '<' || c == '>') && peek(&reader, 1) != '('))
			fine = read_operator(&reader);
		else if (read_word(&reader, word) && *word)
			fine = take_word(&reader, word);
		if (!fine)
			return false;
	}
	return !bombs(&reader) || !refuse(&reader, ":fork:", reader.last);
}
