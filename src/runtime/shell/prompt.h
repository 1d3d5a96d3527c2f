/*
 * The line that a terminal's cursor stands on: what a program has written since it last ended a line.
 *
 *	gb_prompt_feed(&prompt, bytes, n);		// everything that is written
 *	n = gb_prompt_text(&prompt, text, sizeof text);	// "Continue? [y/N] "
 */
#ifndef GB_RUNTIME_SHELL_PROMPT_H
#define GB_RUNTIME_SHELL_PROMPT_H

#include <stdbool.h>
#include <stddef.h>

enum { GB_PROMPT_LINE_MAX = 4096 };

struct gb_prompt {
	char line[GB_PROMPT_LINE_MAX]; /* its end, if it is longer */
	size_t n;
};

void gb_prompt_feed(struct gb_prompt *prompt, const char *bytes, size_t n);
/* Nothing was written yet. */
void gb_prompt_clear(struct gb_prompt *prompt);

/* What somebody would see of it, as text: escape sequences left out, what was overwritten too. At most @max
 * bytes, the last ones; returns how many. */
size_t gb_prompt_text(const struct gb_prompt *prompt, char *text, size_t max);

/* Whether @text looks like a question. For rooms in which nobody can tell who waits. */
bool gb_prompt_asks(const char *text, size_t n);

#endif
