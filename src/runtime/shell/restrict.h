/*
 * Restricted mode: commands that honest scripts in a box do not need, refused before anything runs. It reads
 * words as a shell does, as far as that can be done without running it. A courtesy, with a message that says
 * what to use instead, and no wall: who means to get past it does.
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
