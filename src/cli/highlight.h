/*
 * Syntax highlighting: splits code into comments, strings, keywords, numbers.
 *
 *	struct highlight highlight = {.code = code, .syntax = highlight_syntax(runtime)};
 *	for (size_t at = 0, end; at < code.n; at = end)
 *		enum token token = highlight_next(&highlight, &end);
 *
 * It is a guess without parsing, in one pass and bounded memory, that is correct for ordinary code. Colours
 * never hide or dim text, so code that misleads the highlighter is still readable.
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

/* The next token, from the end of the last one to *ret_end. Call this only while code is left. */
enum token highlight_next(struct highlight *highlight, size_t *ret_end);

#endif
