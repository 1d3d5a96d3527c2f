/*
 * The table of languages: names, aliases, file endings, settings, syntax. The command line, the settings, the
 * messages and the documentation all use this table, so a new alias or file ending is one edit here. A new
 * language also needs a worker (src/runtime), and a runtime with its traits (src/engine).
 *
 *	enum gb_language language;
 *	if (gb_language_find("ts", &language))
 *		puts(gb_language_name(language)); // typescript
 */
#ifndef GLOVEBOX_LANGUAGES_H
#define GLOVEBOX_LANGUAGES_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Sections of the settings: SECTION, NAME as in "limits.NAME.timeout", default memory of a run in MiB (of the heap, or
 * of all processes where a program runs the code), description for an agent's prompt. */
#define GB_LANGUAGE_SECTION_TABLE(X)                                                                         \
	X(JAVASCRIPT, "javascript", 64, "`javascript`, also TypeScript: an ES module")                       \
	X(PYTHON, "python", 64, "`python`: CPython with its library")                                        \
	X(NODE, "node", 256, "`node`: Node.js")                                                              \
	X(SHELL, "shell", 256, "`shell`: bash and the usual programs")                                       \
	X(DENO, "deno", 256, "`deno`: Deno")

/* CONSTANT, name, aliases, file endings (both separated by spaces), SECTION of the settings, SYNTAX,
 * description. */
#define GB_LANGUAGE_TABLE(X)                                                                                 \
	X(GB_TYPESCRIPT, "typescript", "ts", ".ts .mts", JAVASCRIPT, JS,                                     \
	    "an ES module; its types are erased")                                                            \
	X(GB_JAVASCRIPT, "javascript", "js", ".js .mjs", JAVASCRIPT, JS, "an ES module")                     \
	X(GB_PYTHON, "python", "py python3", ".py", PYTHON, PYTHON, "CPython with its library")              \
	X(GB_SHELL, "shell", "sh bash", ".sh .bash", SHELL, SHELL, "bash and the machine's programs")        \
	X(GB_NODE, "node", "nodejs", ".cjs", NODE, JS, "the machine's Node.js")                              \
	X(GB_DENO, "deno", "", "", DENO, JS, "the machine's Deno")

#define GB_LANGUAGE_CONSTANT(constant, ...) constant,
#define GB_LANGUAGE_ONE(...)                +1

enum gb_language { GB_LANGUAGE_TABLE(GB_LANGUAGE_CONSTANT) };
#define GB_LANGUAGES (0 GB_LANGUAGE_TABLE(GB_LANGUAGE_ONE))

/* The syntax highlighting of a language. */
enum gb_syntax { GB_SYNTAX_NONE, GB_SYNTAX_JS, GB_SYNTAX_PYTHON, GB_SYNTAX_SHELL };

struct gb_language_info {
	const char *name;
	const char *aliases, *endings; /* separated by spaces; "" if there are none */
	const char *section;           /* of the settings */
	unsigned memory_mib;           /* of a run that names no limit */
	const char *doc;
	enum gb_syntax syntax;
};

/* Indexed by enum gb_language; has GB_LANGUAGES elements. */
extern const struct gb_language_info gb_language_infos[];
/* The names of the languages; NULL-terminated. */
extern const char *const gb_language_names[];

/* The canonical name of @language. A static string. */
const char *gb_language_name(enum gb_language language);
/* Find a language by name or alias. False if there is none. */
bool gb_language_find(const char *name, enum gb_language *ret);
/* Find a language by the ending of a file name. False if @path has no ending, or an unknown one. */
bool gb_language_of_file(const char *path, enum gb_language *ret);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
