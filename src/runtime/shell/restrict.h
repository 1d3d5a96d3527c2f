/*
 * Restricted mode: rejects commands that scripts in a box do not need, before anything runs. It splits the
 * script into words like a shell, as far as that is possible without running it. It is guidance, with a
 * message that names an alternative, and not a security boundary: it can be circumvented.
 */
#ifndef GB_RUNTIME_SHELL_RESTRICT_H
#define GB_RUNTIME_SHELL_RESTRICT_H

#include <stdbool.h>

#include "base/str.h"

struct gb_refused {
	const char *names;  /* of commands, between blanks; one that ends with a * stands for its beginning */
	const char *reason; /* "removes files" */
	const char *instead; /* what to do, as a sentence of its own */
};

/* Ends with one without names. */
extern const struct gb_refused gb_refused[];

struct gb_refusal {
	const struct gb_refused *rule;
	char word[64];
	unsigned line;
};

/* False, and what for, if @script is refused. */
bool gb_restrict_check(struct gb_str script, struct gb_refusal *ret);

#endif
