/*
 * What a REPL has to know about its language: whether code is complete, and how a word could go on. The grammar
 * of JavaScript and TypeScript is that of the type eraser; other languages, and all names, are asked for in the
 * session, where the interpreter of the language answers.
 */
#ifndef GB_CLI_REPL_ASK_H
#define GB_CLI_REPL_ASK_H

#include "base/buf.h"
#include "cli/cli.h"
#include "cli/line.h"
#include "glovebox/languages.h"

struct repl_ask {
	const struct command *command;
	const char *session;
	enum gb_language language;
};

/* False if the code could go on in the next line. Code with an error is complete: running it shows the error. */
bool repl_is_complete(const struct repl_ask *ask, const char *text, size_t n);
/* Complete the word before the cursor with one of @commands (NULL-terminated), and the names of the session. If
 * there are several possibilities, they are appended to @list, one to a line. */
void repl_complete(
    const struct repl_ask *ask, const char *const *commands, struct line *line, struct gb_buf *list);

#endif
