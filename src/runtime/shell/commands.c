/* Shell scripts: finds the commands, and code within code. */
#include "runtime/shell/commands.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "runtime/shell/reader.h"

/* A simple command, as far as it has been read. */
struct simple {
	bool named;   /* what follows are arguments */
	bool wrapper; /* the name was one like nice: the name of a command follows */
	bool code;    /* an option like -c was read: the next argument that is no option is code */
	char name[READER_NAME_MAX]; /* without its folder; empty if it is longer than any that is known */
	unsigned arguments;
};

/* One level of commands: a script, or a substitution. */
struct level {
	struct simple simple;
	bool redirect, output; /* the next word is a file, which is written to */
	bool here_string;      /* the next word is input */
	bool document;         /* the next word is the delimiter of a here-document */
	bool indented;
	unsigned cases;              /* open case commands */
	bool pattern;                /* the words up to ')' are patterns of a case, or values of an array */
	bool pattern_open;           /* they began with '(' */
	char piped[READER_NAME_MAX]; /* the function on the left of a '|' */
	unsigned parens;
};

static bool one_of(const char *text, const char *const *list, size_t n) {
	for (size_t i = 0; i < n; i++)
		if (strcmp(text, list[i]) == 0)
			return true;
	return false;
}
#define ONE_OF(text, list) one_of((text), (list), GB_COUNT(list))

static const char *const shells[] = {"sh", "bash", "dash", "ash", "ksh", "zsh"};

/* --- refusing --- */

static bool refuse(
    struct reader *r, const struct gb_refused *row, const char *pattern, const char *word, size_t at) {
	struct gb_refusal *refusal = r->search->refusal;
	*refusal = (struct gb_refusal){.pattern = pattern, .reason = row->reason, .instead = row->instead};
	gb_copy_text(refusal->word, sizeof refusal->word, gb_str_from(word));
	/* Expansions are control characters. */
	for (char *c = refusal->word; *c; c++)
		if (iscntrl((unsigned char)*c))
			*c = '?';
	r->search->at = at;
	return false;
}

bool reader_allows(
    struct reader *r, enum gb_refused_kind kind, const char *name, const char *word, size_t at) {
	static const struct gb_refused owners = {
	    .reason = "is refused by the owner's settings", .instead = "Do it without this command."};
	const struct reader_search *search = r->search;
	const char *pattern;
	const struct gb_refused *row = gb_refused_find(kind, name, search->mode, &pattern);
	if (row)
		return refuse(r, row, pattern, word, at);
	for (size_t i = 0; kind == GB_REFUSED_COMMAND && i < search->n_more; i++)
		if (gb_refused_matches(search->more[i], name))
			return refuse(r, &owners, search->more[i], word, at);
	return true;
}

bool reader_unreadable(struct reader *r, size_t at) {
	const char *pattern = "";
	const struct gb_refused *row =
	    gb_refused_find(GB_REFUSED_UNREADABLE, NULL, GB_REFUSED_GUARD | GB_REFUSED_RESTRICTED, &pattern);
	return refuse(r, row, pattern, pattern, at);
}

bool reader_enter(struct reader *r) {
	if (r->depth >= READER_DEPTH_MAX)
		return reader_unreadable(r, r->at);
	r->depth++;
	return true;
}

/* --- functions --- */

static void keep(char to[READER_NAME_MAX], const char *text) {
	size_t n = strlen(text);
	to[0] = '\0';
	if (n < READER_NAME_MAX)
		memcpy(to, text, n + 1);
}

static void define_function(struct reader *r, const char *name) {
	struct reader_functions *functions = &r->functions;
	keep(functions->names[functions->n++ % READER_FUNCTIONS_MAX], name);
	keep(functions->current, name);
	functions->braces = 0;
}

static bool is_function(const struct reader *r, const char *name) {
	const struct reader_functions *functions = &r->functions;
	for (unsigned i = 0; name[0] && i < functions->n && i < READER_FUNCTIONS_MAX; i++)
		if (strcmp(functions->names[i], name) == 0)
			return true;
	return false;
}

static void on_brace(struct reader *r, char brace) {
	struct reader_functions *functions = &r->functions;
	if (brace == '{')
		functions->braces++;
	else if (functions->braces <= 1)
		functions->current[0] = '\0';
	functions->braces -= brace == '}' && functions->braces;
}

/* f | f: in the body of f it is a fork bomb, elsewhere if '&' follows. */
static bool on_piped(struct reader *r, struct level *level, const char *name, const char *word, size_t at) {
	bool twice = level->piped[0] && strcmp(name, level->piped) == 0;
	level->piped[0] = '\0';
	if (!twice)
		return true;
	if (strcmp(name, r->functions.current) == 0)
		return reader_allows(r, GB_REFUSED_FORK_BOMB, NULL, word, at);
	keep(r->twice, name);
	r->twice_at = at;
	return true;
}

/* --- words --- */

static const char *base_name(const char *word) {
	const char *slash = strrchr(word, '/');
	return slash ? slash + 1 : word;
}

/* Remove expansions, which may be empty, and the carriage return before a newline. */
static void simplify_name(char *word) {
	char *to = word;
	for (const char *from = word; *from; from++)
		if (*from != READER_UNKNOWN && !strchr("\r\v\f", *from))
			*to++ = *from;
	*to = '\0';
}

/* NAME=, NAME+=, or NAME[. The quotes are gone: in quotes it is an assignment to env only, but what follows
 * is checked in any case. */
static bool is_assignment(const char *word) {
	size_t n = 0;
	while (isalnum((unsigned char)word[n]) || word[n] == '_')
		n++;
	return n > 0 && !isdigit((unsigned char)word[0]) &&
	       (word[n] == '=' || word[n] == '[' || (word[n] == '+' && word[n + 1] == '='));
}

/* A word after a command that runs another. True if it is not the name of that command. */
static bool is_wrapper_option(struct simple *simple, const char *word) {
	if (word[0] && word[0] != '-' && !isdigit((unsigned char)word[0]) && strcmp(word, "{}") != 0)
		return false;
	/* command -v looks a name up and does not run it. */
	simple->named = strcmp(simple->name, "command") == 0 && strcasecmp(word, "-v") == 0;
	return true;
}

/* A word where the name of a command is expected. */
static bool on_name(struct reader *r, struct level *level, char *word, size_t at) {
	static const char *const reserved[] = {"if", "then", "else", "elif", "while", "until", "do", "!", "{",
	    "}", "coproc", "done", "fi", "esac"};
	static const char *const wrappers[] = {"command", "builtin", "exec", "env", "nohup", "nice", "ionice",
	    "time", "timeout", "stdbuf", "setsid", "xargs", "parallel", "busybox", "toybox", "watch",
	    "script", "unbuffer", "chrt", "taskset"};
	struct simple *simple = &level->simple;
	simplify_name(word);
	if (!r->word_quoted && (strcmp(word, "{") == 0 || strcmp(word, "}") == 0))
		on_brace(r, word[0]);
	if (is_assignment(word) || (!r->word_quoted && ONE_OF(word, reserved)))
		return true;
	if (simple->wrapper && is_wrapper_option(simple, word))
		return true;
	/* env -S, script -c, watch and parallel take code. */
	if (simple->wrapper && strpbrk(word, " \t\n;&|"))
		return reader_nested(r, gb_str_from(word), at, false);
	const char *name = base_name(word);
	if (!reader_allows(r, GB_REFUSED_COMMAND, name, word, at) || !on_piped(r, level, name, word, at))
		return false;
	keep(simple->name, name);
	level->cases += !r->word_quoted && strcmp(word, "case") == 0;
	simple->wrapper = ONE_OF(name, wrappers);
	simple->named = !simple->wrapper;
	return true;
}

/* Whether this argument is code, as the command says. */
static bool is_code(struct simple *simple, const char *word) {
	if (strcmp(simple->name, "eval") == 0)
		return true;
	if (strcmp(simple->name, "trap") == 0)
		return simple->arguments == 0;
	if (!ONE_OF(simple->name, shells))
		return false;
	if (word[0] == '-') {
		simple->code |= word[1] != '-' && strchr(word, 'c');
		return false;
	}
	bool code = simple->code;
	simple->code = false;
	return code;
}

static bool on_argument(struct reader *r, struct level *level, const char *word, size_t at) {
	static const char *const starts[] = {"-exec", "-execdir", "-ok", "-okdir"};
	struct simple *simple = &level->simple;
	bool loop = strcmp(simple->name, "for") == 0 || strcmp(simple->name, "select") == 0;
	if (strcmp(simple->name, "function") == 0)
		define_function(r, word);
	/* A command follows: find -exec, for NAME do, function NAME. */
	if (strcmp(simple->name, "function") == 0 || (loop && !r->word_quoted && strcmp(word, "do") == 0) ||
	    (ONE_OF(word, starts) && !ONE_OF(simple->name, shells))) {
		*simple = (struct simple){0};
		return true;
	}
	if (strcmp(simple->name, "case") == 0 && strcmp(word, "in") == 0)
		level->pattern = true;
	bool ok = !is_code(simple, word) || reader_nested(r, gb_str_from(word), at, false);
	simple->arguments += word[0] != '-';
	return ok;
}

static bool on_file(struct reader *r, struct level *level, const char *word, size_t at) {
	static const char *const harmless[] = {
	    "/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/stdout", "/dev/stderr", "/dev/stdin"};
	static const char *const shared[] = {"/dev/shm/*", "/dev/pts/*", "/dev/random", "/dev/urandom"};
	bool output = level->output;
	level->redirect = level->output = false;
	if (!output || strncmp(word, "/dev/", 5) != 0 || strncmp(word, "/dev/fd/", 8) == 0 ||
	    ONE_OF(word, harmless))
		return true;
	enum gb_refused_kind kind = GB_REFUSED_DEVICE;
	for (size_t i = 0; i < GB_COUNT(shared); i++)
		if (gb_refused_matches(shared[i], word))
			kind = GB_REFUSED_SHARED_DEVICE;
	return reader_allows(r, kind, NULL, word, at);
}

static bool on_delimiter(struct reader *r, struct level *level) {
	size_t at = r->at;
	level->document = false;
	if (!reader_delimiter(r))
		return false;
	if (r->n_documents == READER_DOCUMENTS_MAX || r->word.len >= READER_NAME_MAX ||
	    gb_buf_failed(&r->word))
		return reader_unreadable(r, at);
	struct reader_document *document = &r->documents[r->n_documents++];
	memcpy(document->end, gb_buf_c_str(&r->word), r->word.len + 1);
	document->quoted = r->word_quoted;
	document->indented = level->indented;
	document->is_code = ONE_OF(level->simple.name, shells);
	return true;
}

/* 2> or {name}>: a word that belongs to the redirection after it. */
static bool is_descriptor(const struct reader *r, const char *word) {
	size_t n = strlen(word);
	bool variable = n > 2 && word[0] == '{' && word[n - 1] == '}';
	return n && !r->word_quoted && (variable || strspn(word, "0123456789") == n) &&
	       (reader_peek(r, 0) == '<' || reader_peek(r, 0) == '>');
}

static bool on_word(struct reader *r, struct level *level) {
	size_t at = r->at;
	if (level->document)
		return on_delimiter(r, level);
	if (!reader_word(r, !level->simple.named && !level->redirect && !level->pattern))
		return false;
	const char *text = gb_buf_c_str(&r->word);
	/* A copy: reading nested code overwrites the buffer. */
	gb_auto_free char *word = text ? strdup(text) : NULL;
	if (!word)
		return reader_unreadable(r, at);
	if (level->redirect) {
		bool code = level->here_string && ONE_OF(level->simple.name, shells);
		level->here_string = false;
		return on_file(r, level, word, at) &&
		       (!code || reader_nested(r, gb_str_from(word), at, false));
	}
	if (level->pattern) {
		bool ends = level->cases && !r->word_quoted && strcmp(word, "esac") == 0;
		level->pattern = !ends;
		level->cases -= ends;
		return true;
	}
	if (is_descriptor(r, word))
		return true;
	return level->simple.named ? on_argument(r, level, word, at) : on_name(r, level, word, at);
}

/* --- operators --- */

/* The length of the operator: > >> >| >& < <> <& <<<. */
static size_t redirection_length(const struct reader *r) {
	int next = reader_peek(r, 1);
	if (r->p[r->at] == '<' && next == '<')
		return 3;
	bool second = next == '&' || next == '>' || (next == '|' && r->p[r->at] == '>');
	return second && !(next == '>' && reader_peek(r, 2) == '(') ? 2 : 1;
}

static bool on_redirection(struct reader *r, struct level *level) {
	char c = r->p[r->at];
	if (reader_peek(r, 1) == '(') {
		r->at += 2; /* commands, connected by a pipe that has a name */
		level->redirect = level->output = false;
		gb_buf_clear(&r->word);
		return reader_substitution(r);
	}
	if (c == '<' && reader_peek(r, 1) == '<' && reader_peek(r, 2) != '<') {
		level->document = true;
		level->indented = reader_peek(r, 2) == '-';
		r->at += level->indented ? 3 : 2;
		return true;
	}
	level->redirect = true;
	level->output = c == '>';
	size_t length = redirection_length(r);
	level->here_string = length == 3;
	r->at += length;
	return true;
}

/* A command ends; the next one may begin. */
static bool on_separator(struct reader *r, struct level *level) {
	char c = r->p[r->at];
	bool twice = c != '\n' && reader_peek(r, 1) == c;
	if (c == '&' && !twice && r->twice[0] &&
	    !reader_allows(r, GB_REFUSED_FORK_BOMB, NULL, r->twice, r->twice_at))
		return false;
	r->twice[0] = '\0';
	level->piped[0] = '\0';
	if (c == '|' && !twice && is_function(r, level->simple.name))
		keep(level->piped, level->simple.name);
	level->pattern |= c == ';' && twice && level->cases;
	level->simple = (struct simple){0};
	level->redirect = level->document = false;
	r->at += twice || (c == '|' && reader_peek(r, 1) == '&') ? 2 : 1;
	return true;
}

static bool on_open(struct reader *r, struct level *level) {
	bool array = r->at && r->p[r->at - 1] == '=', arithmetic = false;
	bool begins = !level->simple.named || strcmp(level->simple.name, "for") == 0;
	if (reader_peek(r, 1) == '(' && begins && !level->pattern && !array &&
	    !reader_arithmetic(r, &arithmetic))
		return false;
	if (arithmetic) {
		level->simple = (struct simple){0};
		return true;
	}
	if (level->simple.named && !level->simple.arguments)
		define_function(r, level->simple.name);
	level->redirect = level->document = false;
	level->parens++;
	level->pattern_open = level->pattern || array;
	level->pattern |= array;
	level->simple = (struct simple){0};
	r->at++;
	return true;
}

static void on_close(struct reader *r, struct level *level) {
	if (level->parens && (!level->pattern || level->pattern_open))
		level->parens--;
	level->pattern = level->pattern_open = false;
	level->simple = (struct simple){0};
	r->at++;
}

static bool step(struct reader *r, struct level *level) {
	char c = r->p[r->at];
	if (c == '\n')
		return on_separator(r, level) && reader_documents(r);
	if (c == ' ' || c == '\t' || (c == '\\' && reader_peek(r, 1) == '\n')) {
		r->at += c == '\\' ? 2 : 1;
		return true;
	}
	if (c == '#') {
		while (r->at < r->n && r->p[r->at] != '\n')
			r->at++;
		return true;
	}
	if (c == '&' && reader_peek(r, 1) == '>')
		c = r->p[++r->at];
	if (c == '<' || c == '>')
		return on_redirection(r, level);
	if (c == '(')
		return on_open(r, level);
	if (c == ')')
		on_close(r, level);
	else if (c == ';' || c == '&' || c == '|')
		return on_separator(r, level);
	else
		return on_word(r, level);
	return true;
}

bool reader_commands(struct reader *r, char closer) {
	if (!reader_enter(r))
		return false;
	struct level level = {.redirect = false};
	bool ok = true, closed = false;
	while (ok && !closed && r->at < r->n) {
		closed = closer && r->p[r->at] == closer && level.parens == 0 && !level.pattern;
		if (closed)
			r->at++;
		else
			ok = step(r, &level);
	}
	r->depth--;
	return ok;
}

/* --- scripts --- */

bool reader_nested(struct reader *r, struct gb_str source, size_t at, bool verbatim) {
	struct reader inner = {.search = r->search,
	    .p = source.p,
	    .n = source.n,
	    .depth = r->depth + 1,
	    .functions = r->functions};
	if (inner.depth > READER_DEPTH_MAX)
		return reader_unreadable(r, at);
	gb_buf_init(&inner.word, source.n + 16);
	bool ok = reader_commands(&inner, 0);
	gb_buf_finish(&inner.word);
	if (!ok)
		r->search->at = verbatim ? at + r->search->at : at;
	return ok;
}

static void locate(struct gb_str script, size_t at, struct gb_refusal *refusal) {
	refusal->line = refusal->column = 1;
	for (size_t i = 0; i < at && i < script.n; i++) {
		refusal->column++;
		if (script.p[i] == '\n') {
			refusal->line++;
			refusal->column = 1;
		}
	}
}

bool gb_commands_check(struct gb_str script, enum gb_refused_mode mode, const char *const *more,
    size_t n_more, struct gb_refusal *ret) {
	struct gb_refusal refusal;
	struct reader_search search = {.mode = mode, .more = more, .n_more = n_more, .refusal = &refusal};
	struct reader r = {.search = &search, .p = script.p, .n = script.n};
	gb_buf_init(&r.word, script.n + 16);
	bool ok = reader_commands(&r, 0);
	gb_buf_finish(&r.word);
	if (ok)
		return true;
	locate(script, search.at, &refusal);
	*ret = refusal;
	return false;
}
