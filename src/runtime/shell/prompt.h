/*
 * The current line of a terminal: everything written since the last newline.
 *
 *	gb_prompt_feed(&prompt, bytes, n);		// all output
 *	n = gb_prompt_text(&prompt, text, sizeof text);	// "Continue? [y/N] "
 */
#ifndef GB_RUNTIME_SHELL_PROMPT_H
#define GB_RUNTIME_SHELL_PROMPT_H

#include <stdbool.h>
#include <stddef.h>

enum { GB_PROMPT_LINE_MAX = 4096 };

struct gb_prompt {
	char line[GB_PROMPT_LINE_MAX]; /* the tail of a longer line */
	size_t n;
};

void gb_prompt_feed(struct gb_prompt *prompt, const char *bytes, size_t n);
/* Start with an empty line. */
void gb_prompt_clear(struct gb_prompt *prompt);

/* The visible text, without escape sequences and overwritten parts: the last @max bytes at most. Returns its
 * length. */
size_t gb_prompt_text(const struct gb_prompt *prompt, char *text, size_t max);

/* True if @text looks like a question. For rooms without /proc, in which waiting processes cannot be
 * detected. */
bool gb_prompt_asks(const char *text, size_t n);

#endif
