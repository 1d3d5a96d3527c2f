/*
 * Finds refused commands in a shell script before it runs.
 *
 *	struct gb_refusal refusal;
 *	if (!gb_commands_check(script, GB_REFUSED_RESTRICTED, NULL, 0, &refusal))
 *		... refusal.word, refusal.reason, refusal.instead, refusal.line ...
 *
 * It splits the script into words like a shell, as far as that is possible without running it, and follows
 * code within code: substitutions, sh -c, eval, trap, here-documents of a shell, commands that run another.
 * Time is linear in the size of the script, recursion is bounded, and a script that exceeds a bound is
 * refused. This is guidance and not a security boundary: a script can compute names that no reader sees.
 */
#ifndef GB_RUNTIME_SHELL_COMMANDS_H
#define GB_RUNTIME_SHELL_COMMANDS_H

#include "base/str.h"
#include "runtime/shell/refused.h"

struct gb_refusal {
	const char *pattern;          /* a name of the table, or one of the caller's patterns */
	const char *reason, *instead; /* see gb_refused */
	char word[64];                /* as the script has it, without quotes; truncated */
	unsigned line, column;        /* from 1; columns are bytes */
};

/* False if @script is refused in @mode, or contains a command that matches one of @n_more patterns: *ret
 * then describes the first such command. */
bool gb_commands_check(struct gb_str script, enum gb_refused_mode mode, const char *const *more,
    size_t n_more, struct gb_refusal *ret);

#endif
