/*
 * Shell scripts, as far as they must be read to find the commands in them: what stands
 * where a command is expected, and code within code (substitutions, sh -c, eval, trap, find -exec,
 * here-documents of a shell).
 */
#include <ctype.h>
#include <string.h>

#include "base/cleanup.h"
#include "guard/static_shell.h"

enum { MAX_DEPTH = 16 };

/* A simple command, as far as it has been read. */
struct simple {
	bool named;                /* its name has come; what follows are arguments */
	bool wrapper;              /* the name was one like nice, and the real one is still to come */
	char name[SHELL_NAME_MAX]; /* without its folder */
	char option[SHELL_NAME_MAX];
	unsigned arguments;
};

/* One level of commands: a script, or what stands in a substitution. */
struct level {
	struct simple simple;
	bool redirect, output; /* the next word is a file, which is written to */
	bool document;         /* the next word ends a here-document */
	bool indented;
	unsigned cases;    /* that are open */
	bool pattern;      /* here stand patterns of a case, or values of an array, up to ) */
	bool pattern_open; /* which ( began */
	bool piped_itself;
	unsigned parens;
};

static bool search_source(struct guard_search *search, struct gb_str source, unsigned depth);

static bool found(struct shell *s, const struct gb_guard_rule *rule, size_t at) {
	s->search->found = *rule;
	s->search->at = at;
	return false;
}

static bool one_of(const char *text, const char *const *list, size_t n) {
	for (size_t i = 0; i < n; i++)
		if (strcmp(text, list[i]) == 0)
			return true;
	return false;
}
#define ONE_OF(text, list) one_of((text), (list), GB_COUNT(list))

/* --- commands --- */

static const char *base_name(const char *word) {
	const char *slash = strrchr(word, '/');
	return slash ? slash + 1 : word;
}

static bool names(const char *pattern, const char *name) {
	size_t n = strlen(pattern);
	return n && pattern[n - 1] == '*' ? strncmp(name, pattern, n - 1) == 0 : strcmp(name, pattern) == 0;
}

static bool check_command(struct shell *s, const char *name, size_t at) {
	struct gb_guard_rule rule;
	for (size_t i = 0; guard_rule_at(s->search, i, &rule); i++)
		if (names(rule.pattern, name))
			return found(s, &rule, at);
	return true;
}

static void keep(char to[SHELL_NAME_MAX], const char *text) {
	size_t n = strlen(text);
	to[0] = '\0';
	if (n < SHELL_NAME_MAX)
		memcpy(to, text, n + 1);
}

/* NAME= or NAME[…]= or NAME+=, as it is written: in quotes it would be none. */
static bool is_assignment(const struct shell *s, size_t at) {
	size_t start = at;
	while (at < s->n && (isalnum((unsigned char)s->p[at]) || s->p[at] == '_'))
		at++;
	if (at == start || isdigit((unsigned char)s->p[start]))
		return false;
	if (at < s->n && s->p[at] == '[')
		while (at < s->n && s->p[at] != ' ' && s->p[at] != '\n' && s->p[at++] != ']')
			continue;
	at += at < s->n && s->p[at] == '+';
	return at < s->n && s->p[at] == '=';
}

static const char *const shells[] = {"sh", "bash", "dash", "ksh", "zsh"};

/* A word where the name of a command is expected. */
static bool on_name(struct shell *s, struct level *level, const char *word, size_t at) {
	static const char *const before[] = {"if", "then", "else", "elif", "while", "until", "do", "!", "{",
	    "}", "time", "coproc", "done", "fi", "esac"};
	static const char *const wrappers[] = {"command", "builtin", "exec", "env", "nohup", "nice", "ionice",
	    "timeout", "stdbuf", "setsid", "xargs", "busybox", "toybox", "watch"};
	struct simple *simple = &level->simple;
	if (!s->word_quoted && strcmp(word, "}") == 0)
		s->function[0] = '\0';
	if (is_assignment(s, at) || (!s->word_quoted && ONE_OF(word, before)))
		return true;
	if (simple->wrapper &&
	    (word[0] == '-' || isdigit((unsigned char)word[0]) || strcmp(word, "{}") == 0)) {
		/* command -v asks for a name, and does not call it. */
		simple->named = strcmp(simple->name, "command") == 0 && strcasecmp(word, "-v") == 0;
		return true;
	}
	const char *name = base_name(word);
	if (!check_command(s, name, at))
		return false;
	if (level->piped_itself && strcmp(name, s->function) == 0)
		return found(s, &gb_guard_shell_bomb, at);
	level->piped_itself = false;
	keep(simple->name, name);
	level->cases += !s->word_quoted && strcmp(word, "case") == 0;
	simple->wrapper = ONE_OF(name, wrappers);
	simple->named = !simple->wrapper;
	return true;
}

/* Words that are code, as the command before them says. */
static bool is_code(const struct simple *simple) {
	if (strcmp(simple->name, "eval") == 0)
		return true;
	if (strcmp(simple->name, "trap") == 0)
		return simple->arguments == 0;
	return ONE_OF(simple->name, shells) && simple->option[0] == '-' && simple->option[1] != '-' &&
	       strchr(simple->option, 'c');
}

static bool on_argument(struct shell *s, struct level *level, const char *word, size_t at) {
	static const char *const starts[] = {"-exec", "-execdir", "-ok", "-okdir"};
	struct simple *simple = &level->simple;
	bool ok = true;
	if (strcmp(simple->name, "function") == 0) {
		keep(s->function, word);
		*simple = (struct simple){0};
		return true;
	}
	if (strcmp(simple->name, "case") == 0 && strcmp(word, "in") == 0)
		level->pattern = true;
	if (strcmp(simple->name, "find") == 0 && ONE_OF(simple->option, starts))
		ok = check_command(s, base_name(word), at);
	if (ok && is_code(simple)) {
		ok = search_source(s->search, (struct gb_str){word, strlen(word)}, s->depth + 1);
		if (!ok)
			s->search->at = at;
	}
	simple->arguments++;
	keep(simple->option, word);
	return ok;
}

static bool on_file(struct shell *s, struct level *level, const char *word, size_t at) {
	static const char *const harmless[] = {
	    "/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/stdout", "/dev/stderr", "/dev/stdin"};
	bool output = level->output;
	level->redirect = level->output = false;
	if (output && strncmp(word, "/dev/", 5) == 0 && strncmp(word, "/dev/fd/", 8) != 0 &&
	    !ONE_OF(word, harmless))
		return found(s, &gb_guard_shell_device, at);
	return true;
}

static void on_document(struct shell *s, struct level *level, const char *word) {
	level->document = false;
	if (s->n_documents == SHELL_DOCUMENTS)
		return;
	struct shell_document *document = &s->documents[s->n_documents++];
	keep(document->end, word);
	document->quoted = s->word_quoted;
	document->indented = level->indented;
	document->is_code = ONE_OF(level->simple.name, shells);
}

static bool on_word(struct shell *s, struct level *level, char closer) {
	size_t at = s->at;
	if (!shell_read_word(s, closer))
		return false;
	const char *text = gb_buf_c_str(&s->word);
	/* Its value is what a nested search may look at, while this one goes on. */
	gb_auto_free char *word = text ? strdup(text) : NULL;
	if (!word)
		return found(s, &gb_guard_shell_depth, at);
	if (level->document) {
		on_document(s, level, word);
		return true;
	}
	if (level->redirect)
		return on_file(s, level, word, at);
	if (level->pattern) {
		bool ends = level->cases && !s->word_quoted && strcmp(word, "esac") == 0;
		level->pattern = !ends;
		level->cases -= ends;
		return true;
	}
	/* 2> and its like: a number that belongs to what follows. */
	if (!s->word_quoted && word[0] && strspn(word, "0123456789") == strlen(word) &&
	    (shell_peek(s, 0) == '<' || shell_peek(s, 0) == '>'))
		return true;
	return level->simple.named ? on_argument(s, level, word, at) : on_name(s, level, word, at);
}

/* --- here-documents --- */

/* One line of it; what is in it may be code. */
static bool document_line(struct shell *s, const struct shell_document *document, size_t end) {
	while (s->at < end) {
		char c = s->p[s->at];
		bool starts = !document->quoted && (c == '`' || (c == '$' && shell_peek(s, 1) == '('));
		if (!starts) {
			shell_skip(s, c == '\\' && !document->quoted ? 2 : 1);
			continue;
		}
		s->at += c == '`' ? 1 : 2;
		if (!shell_substitution(s, c == '`' ? '`' : ')'))
			return false;
	}
	return true;
}

static bool skip_document(struct shell *s, const struct shell_document *document) {
	size_t start = s->at, stop = s->n;
	bool ended = false;
	while (!ended && s->at < s->n) {
		const char *newline = memchr(s->p + s->at, '\n', s->n - s->at);
		size_t end = newline ? (size_t)(newline - s->p) : s->n, from = s->at;
		while (document->indented && from < end && s->p[from] == '\t')
			from++;
		ended = gb_str_eq((struct gb_str){s->p + from, end - from}, gb_str_from(document->end));
		if (ended)
			stop = s->at;
		else if (!document_line(s, document, end))
			return false;
		if (s->at < end + 1)
			s->at = end < s->n ? end + 1 : s->n;
	}
	if (!document->is_code)
		return true;
	if (search_source(s->search, (struct gb_str){s->p + start, stop - start}, s->depth + 1))
		return true;
	s->search->at += start;
	return false;
}

static bool skip_documents(struct shell *s) {
	unsigned n = s->n_documents;
	s->n_documents = 0;
	for (unsigned i = 0; i < n; i++)
		if (!skip_document(s, &s->documents[i]))
			return false;
	return true;
}

/* --- operators --- */

static bool on_redirection(struct shell *s, struct level *level) {
	char c = s->p[s->at];
	if (shell_peek(s, 1) == '(') {
		s->at += 2; /* commands, whose output is a file */
		gb_buf_clear(&s->word);
		return shell_substitution(s, ')');
	}
	if (c == '<' && shell_peek(s, 1) == '<' && shell_peek(s, 2) != '<') {
		level->document = true;
		level->indented = shell_peek(s, 2) == '-';
		s->at += level->indented ? 3 : 2;
		return true;
	}
	level->redirect = true;
	level->output = c == '>';
	while (shell_peek(s, 0) == '<' || shell_peek(s, 0) == '>' ||
	       (shell_peek(s, 0) == '|' && level->output) || shell_peek(s, 0) == '&')
		s->at++;
	return true;
}

/* A command ends; the next one may begin. */
static void on_separator(struct shell *s, struct level *level) {
	char c = s->p[s->at];
	bool twice = c != '\n' && shell_peek(s, 1) == c;
	level->piped_itself =
	    c == '|' && !twice && s->function[0] && strcmp(level->simple.name, s->function) == 0;
	level->pattern |= c == ';' && twice && level->cases;
	level->simple = (struct simple){0};
	level->redirect = level->document = false;
	s->at += twice ? 2 : 1;
}

static void on_open(struct shell *s, struct level *level) {
	bool array = s->at && s->p[s->at - 1] == '=';
	if (level->simple.named && !level->simple.arguments)
		keep(s->function, level->simple.name); /* name() begins a function */
	level->parens++;
	level->pattern_open = level->pattern || array;
	level->pattern |= array;
	level->simple = (struct simple){0};
	s->at++;
}

static void on_close(struct shell *s, struct level *level) {
	if (level->parens && (!level->pattern || level->pattern_open))
		level->parens--;
	level->pattern = level->pattern_open = false;
	level->simple = (struct simple){0};
	s->at++;
}

static bool step(struct shell *s, struct level *level, char closer) {
	char c = s->p[s->at];
	if (c == '\n') {
		on_separator(s, level);
		return skip_documents(s);
	}
	if (c == ' ' || c == '\t' || (c == '\\' && shell_peek(s, 1) == '\n')) {
		s->at += c == '\\' ? 2 : 1;
		return true;
	}
	if (c == '#') {
		while (s->at < s->n && s->p[s->at] != '\n')
			s->at++;
		return true;
	}
	if (c == '&' && shell_peek(s, 1) == '>')
		c = s->p[++s->at];
	if (c == '<' || c == '>')
		return on_redirection(s, level);
	if (c == '(')
		on_open(s, level);
	else if (c == ')')
		on_close(s, level);
	else if (c == ';' || c == '&' || c == '|')
		on_separator(s, level);
	else
		return on_word(s, level, closer);
	return true;
}

bool shell_search(struct shell *s, char closer) {
	if (s->depth == MAX_DEPTH)
		return found(s, &gb_guard_shell_depth, s->at);
	s->depth++;
	struct level level = {.redirect = false};
	bool ok = true, closed = false;
	while (ok && !closed && s->at < s->n) {
		closed = closer && s->p[s->at] == closer &&
			 (closer == '`' || (level.parens == 0 && !level.pattern));
		if (closed)
			s->at++;
		else
			ok = step(s, &level, closer);
	}
	s->depth--;
	return ok;
}

static bool search_source(struct guard_search *search, struct gb_str source, unsigned depth) {
	struct shell s = {.search = search, .p = source.p, .n = source.n, .depth = depth};
	gb_buf_init(&s.word, source.n + 16);
	bool ok = shell_search(&s, 0);
	gb_buf_finish(&s.word);
	return ok;
}

bool guard_search_shell(struct guard_search *search, struct gb_str source) {
	return search_source(search, source, 0);
}
