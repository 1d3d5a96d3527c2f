/*
 * What a piece of code is to the eye: comment, string, keyword, number.
 *
 *	struct highlight highlight = {.code = code, .syntax = highlight_syntax(runtime)};
 *	for (size_t at = 0, end; at < code.n; at = end)
 *		enum token token = highlight_next(&highlight, &end);
 *
 * A guess, made without parsing, in one pass and bounded memory, and right for ordinary code. Colours are no
 * more than that: nothing is left out or made faint by them, so code that leads them astray is still read.
 */
#ifndef GB_CLI_HIGHLIGHT_H
#define GB_CLI_HIGHLIGHT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "glovebox/languages.h"

enum token { TOKEN_PLAIN, TOKEN_COMMENT, TOKEN_STRING, TOKEN_KEYWORD, TOKEN_NUMBER };

/* By the name or an alias of a language. */
enum gb_syntax highlight_syntax(struct gb_str language);

enum { HIGHLIGHT_TEMPLATES = 32 };

struct highlight {
	struct gb_str code;
	enum gb_syntax syntax;
	size_t at;
	bool after_value;                     /* a slash would divide */
	unsigned n_templates;                 /* ${ that are open */
	unsigned braces[HIGHLIGHT_TEMPLATES]; /* { that are open in each */
};

/* The next token, which ends at *ret_end (after where the last one ended). Only while there is one. */
enum token highlight_next(struct highlight *highlight, size_t *ret_end);

#endif
