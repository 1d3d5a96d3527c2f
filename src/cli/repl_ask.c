#include "cli/repl_ask.h"

#include <ctype.h>
#include <string.h>

#include "base/cleanup.h"
#include "cli/session.h"
#include "ts/erase.h"
#include "value/json.h"

enum { QUERY_MAX = 4 << 20, ANSWER_MAX = 1 << 20, WORD_MAX = 200, NAMES_MAX = 2000 };

static bool query(const struct repl_ask *ask, struct gb_buf *source, struct gb_buf *ret) {
	gb_buf_init(ret, ANSWER_MAX);
	return !gb_buf_failed(source) && session_query(ask->command, ask->session, gb_buf_str(source), ret);
}

/* --- is it complete? --- */

static bool is_complete_js(const char *text, size_t n) {
	struct gb_ts_output out;
	struct gb_ts_error error = {0};
	gb_auto_buf struct gb_buf copy;
	gb_buf_init(&copy, QUERY_MAX);
	gb_buf_append(&copy, text, n);
	if (!gb_buf_c_str(&copy))
		return true;
	gb_ts_output_init(&out, QUERY_MAX);
	bool ok = gb_ts_erase_session(copy.data, n, true, &out, &error);
	gb_ts_output_finish(&out);
	return ok || !error.is_incomplete;
}

/* As in Python's own REPL, a block ends with an empty line. */
static const char python_check[] =
    "def check(text):\n"
    "    import codeop, warnings\n"
    "    def compiles(kind):\n"
    "        with warnings.catch_warnings():\n"
    "            warnings.simplefilter('ignore')\n"
    "            return codeop.compile_command(text, '<input>', kind) is not None\n"
    "    try:\n"
    "        return compiles('single')\n"
    "    except Exception:\n"
    "        pass\n"
    "    try:\n"
    "        return compiles('exec') and not text.split('\\n')[-1][:1].isspace()\n"
    "    except Exception:\n"
    "        return True\n"
    "answer = 'complete' if check(text) else 'more'\n";

static bool is_complete_python(const struct repl_ask *ask, const char *text, size_t n) {
	gb_auto_buf struct gb_buf source, answer;
	/* Spaces that only indent the next line do not make it a part of the block. */
	while (n && text[n - 1] == ' ')
		n--;
	gb_buf_init(&source, QUERY_MAX);
	gb_buf_printf(&source, "(lambda names: (exec(names['code'], names), names['answer'])[1])({'code': ");
	gb_json_append_string(&source, gb_str_from(python_check));
	gb_buf_printf(&source, ", 'text': ");
	gb_json_append_string(&source, (struct gb_str){text, n});
	gb_buf_printf(&source, "})");
	return !query(ask, &source, &answer) || !gb_str_eq(gb_buf_str(&answer), gb_str_from("more"));
}

/* 'text', quoted for the shell. */
static void append_quoted(struct gb_buf *out, const char *text, size_t n) {
	gb_buf_append_char(out, '\'');
	for (size_t i = 0; i < n; i++)
		if (text[i] == '\'')
			gb_buf_append(out, "'\\''", 4);
		else
			gb_buf_append_char(out, text[i]);
	gb_buf_append_char(out, '\'');
}

/* eval 'COMMAND; (exit '$?')': the status of the last command stays what it was. */
static void append_neutral(struct gb_buf *out, struct gb_buf *command) {
	gb_buf_append(command, "; (exit ", 8);
	gb_buf_append(out, "eval ", 5);
	append_quoted(out, command->data, command->len);
	gb_buf_append(out, "$?')'", 5);
}

static bool is_complete_shell(const struct repl_ask *ask, const char *text, size_t n) {
	static const char *const signs[] = {
	    "unexpected end of file", "unexpected EOF", "delimited by end-of-file"};
	gb_auto_buf struct gb_buf command, source, answer;
	gb_buf_init(&command, QUERY_MAX);
	gb_buf_init(&source, QUERY_MAX);
	gb_buf_printf(&command, "LC_ALL=C \"$BASH\" -n -c ");
	append_quoted(&command, text, n);
	gb_buf_printf(&command, " 2>&1");
	append_neutral(&source, &command);
	query(ask, &source, &answer);
	const char *words = gb_buf_c_str(&answer);
	for (size_t i = 0; words && i < GB_COUNT(signs); i++)
		if (strstr(words, signs[i]))
			return false;
	return true;
}

/* Whether the last line break is escaped. */
static bool ends_with_backslash(const char *text, size_t n) {
	size_t slashes = 0;
	while (slashes < n && text[n - 1 - slashes] == '\\')
		slashes++;
	return slashes % 2;
}

bool repl_is_complete(const struct repl_ask *ask, const char *text, size_t n) {
	size_t blank = 0;
	while (blank < n && isspace((unsigned char)text[blank]))
		blank++;
	if (blank == n)
		return true;
	switch (gb_language_infos[ask->language].syntax) {
	case GB_SYNTAX_JS:
		return is_complete_js(text, n);
	case GB_SYNTAX_PYTHON:
		return is_complete_python(ask, text, n);
	case GB_SYNTAX_SHELL:
		return !ends_with_backslash(text, n) && is_complete_shell(ask, text, n);
	case GB_SYNTAX_NONE:
		break;
	}
	return true;
}

/* --- completion --- */

static bool is_word(enum gb_syntax syntax, char c) {
	bool in_name = isalnum((unsigned char)c) || c == '_';
	return in_name || (syntax == GB_SYNTAX_SHELL ? c && strchr("./~+-,@%", c) != NULL : c == '$');
}

static struct gb_str word_before(const struct repl_ask *ask, const struct line *line) {
	enum gb_syntax syntax = gb_language_infos[ask->language].syntax;
	size_t from = line->cursor;
	while (from > 0 && is_word(syntax, line->text[from - 1]))
		from--;
	return (struct gb_str){line_text(line) + from, line->cursor - from};
}

/* Whether a name of the global object, and not a member or part of a text, can be at @word. */
static bool is_global(const struct line *line, struct gb_str word) {
	return word.n && word.n < WORD_MAX && (word.p == line->text || word.p[-1] != '.') &&
	       !isdigit((unsigned char)*word.p);
}

/* The object of which @word is a member: a.b in a.b.word. Empty if there is none, or if it is another expression than
 * names with dots, whose evaluation could have effects. */
static struct gb_str object_before(const struct repl_ask *ask, const struct line *line, struct gb_str word) {
	const enum gb_syntax syntax = gb_language_infos[ask->language].syntax;
	if ((syntax != GB_SYNTAX_JS && syntax != GB_SYNTAX_PYTHON) || line->cursor == word.n ||
	    word.p[-1] != '.')
		return (struct gb_str){0};
	const char *end = word.p - 1, *from = end;
	while (from > line->text && (is_word(syntax, from[-1]) || from[-1] == '.'))
		from--;
	const struct gb_str object = {from, (size_t)(end - from)};
	bool is_names = object.n && object.n < WORD_MAX && *from != '.' && !isdigit((unsigned char)*from) &&
			end[-1] != '.' && !memmem(from, object.n, "..", 2);
	return is_names ? object : (struct gb_str){0};
}

/* As in the REPLs of Node.js and Python: the members of the prototypes too; in Python, members that begin with '_' only
 * if that was typed. */
static void write_members_query(
    const struct repl_ask *ask, struct gb_str object, struct gb_str word, struct gb_buf *out) {
	if (gb_language_infos[ask->language].syntax == GB_SYNTAX_PYTHON)
		gb_buf_printf(out, "'\\n'.join(name for name in dir(%.*s) if name.startswith('%.*s')%s)",
		    GB_STR_ARG(object), GB_STR_ARG(word),
		    word.n && *word.p == '_' ? "" : " and not name.startswith('_')");
	else
		gb_buf_printf(out,
		    "(object => { const names = []; "
		    "for (; object != null; object = Object.getPrototypeOf(object)) "
		    "names.push(...Object.getOwnPropertyNames(object)); "
		    "return names.filter(name => /^[a-zA-Z_$][\\w$]*$/.test(name) && name.startsWith('%.*s'))"
		    ".join('\\n') })(%.*s)",
		    GB_STR_ARG(word), GB_STR_ARG(object));
}

static bool is_variable_of_shell(const struct line *line, struct gb_str word) {
	size_t before = line->cursor - word.n;
	return (before > 0 && word.p[-1] == '$') || (before > 1 && memcmp(word.p - 2, "${", 2) == 0);
}

static void write_query(
    const struct repl_ask *ask, const struct line *line, struct gb_str word, struct gb_buf *out) {
	gb_auto_buf struct gb_buf command;
	gb_buf_init(&command, QUERY_MAX);
	bool is_first = word.p == line->text || (word.p[-1] && strchr("\n;|&(", word.p[-1]));
	switch (gb_language_infos[ask->language].syntax) {
	case GB_SYNTAX_JS:
		gb_buf_printf(out,
		    "[...Object.getOwnPropertyNames(globalThis), 'async', 'await', 'const', 'delete', "
		    "'export', 'function', 'import', 'instanceof', 'return', 'throw', 'typeof', 'while']"
		    ".filter(name => name.startsWith('%.*s')).join('\\n')",
		    GB_STR_ARG(word));
		return;
	case GB_SYNTAX_PYTHON:
		gb_buf_printf(out,
		    "'\\n'.join(name for name in {*globals(), *dir(__import__('builtins')), "
		    "*__import__('keyword').kwlist} if name.startswith('%.*s'))",
		    GB_STR_ARG(word));
		return;
	case GB_SYNTAX_SHELL:
		gb_buf_printf(&command, "compgen %s -- %.*s",
		    is_variable_of_shell(line, word) ? "-v"
		    : is_first                       ? "-abckA function"
						     : "-f",
		    GB_STR_ARG(word));
		append_neutral(out, &command);
		return;
	case GB_SYNTAX_NONE:
		return;
	}
}

/* The names that begin with @word, sorted, each once. */
struct names {
	struct gb_str items[NAMES_MAX];
	size_t n;
};

static bool is_name(struct gb_str name) {
	for (size_t i = 0; i < name.n; i++)
		if (name.p[i] < '!' || name.p[i] > '~')
			return false;
	return name.n < WORD_MAX;
}

static void add_name(struct names *names, struct gb_str word, struct gb_str name) {
	size_t at = 0;
	if (names->n == NAMES_MAX || name.n < word.n || memcmp(name.p, word.p, word.n) != 0 || !is_name(name))
		return;
	for (; at < names->n; at++) {
		const struct gb_str *other = &names->items[at];
		size_t n = name.n < other->n ? name.n : other->n;
		int order = memcmp(name.p, other->p, n);
		if (order == 0 && name.n == other->n)
			return;
		if (order < 0 || (order == 0 && name.n < other->n))
			break;
	}
	memmove(names->items + at + 1, names->items + at, (names->n - at) * sizeof *names->items);
	names->items[at] = name;
	names->n++;
}

static size_t common_length(const struct names *names) {
	size_t n = names->items[0].n;
	for (size_t i = 1; i < names->n; i++)
		for (size_t k = 0; k < n; k++)
			if (k >= names->items[i].n || names->items[i].p[k] != names->items[0].p[k])
				n = k;
	return n;
}

static void apply(const struct names *names, struct gb_str word, struct line *line, struct gb_buf *list) {
	if (names->n == 0)
		return;
	size_t n = common_length(names), typed = word.n;
	if (n > typed) { /* @word is part of the line */
		line_insert(line, names->items[0].p + typed, n - typed);
		return;
	}
	for (size_t i = 0; names->n > 1 && i < names->n; i++)
		gb_buf_printf(list, "%.*s\n", GB_STR_ARG(names->items[i]));
}

void repl_complete(
    const struct repl_ask *ask, const char *const *commands, struct line *line, struct gb_buf *list) {
	gb_auto_buf struct gb_buf source, answer;
	struct gb_str word = word_before(ask, line);
	struct names names = {.n = 0};
	gb_buf_init(&source, QUERY_MAX);
	gb_buf_init(&answer, ANSWER_MAX);
	const char *text = line_text(line);
	struct gb_str all = {text, line->cursor}, object = object_before(ask, line, word), rest, name;
	if (*text == '.' && all.n == strcspn(text, " \n")) {
		word = all;
		for (; *commands; commands++)
			add_name(&names, word, gb_str_from(*commands));
	} else if (object.n || is_global(line, word) ||
		   (word.n && gb_language_infos[ask->language].syntax == GB_SYNTAX_SHELL)) {
		if (object.n)
			write_members_query(ask, object, word, &source);
		else
			write_query(ask, line, word, &source);
		query(ask, &source, &answer);
		for (rest = gb_buf_str(&answer); rest.n;) {
			gb_str_cut(&rest, '\n', &name);
			if (name.n && name.p[name.n - 1] == '\r')
				name.n--;
			add_name(&names, word, name);
		}
	}
	apply(&names, word, line, list);
}
