/*
 * The read-eval-print loop of 'run': each piece of code that is read runs in one session.
 *
 *	const struct repl repl = {.command = self, .options = &options, ...};
 *	int status = repl_run(&repl);		// of the last piece of code
 *
 * Without a name the session is the loop's own, and ends with it. reader.h reads the code, repl_ask.h decides
 * whether it is complete.
 */
#ifndef GB_CLI_REPL_H
#define GB_CLI_REPL_H

#include "cli/session.h"
#include "guard/secrets.h"

struct repl {
	const struct command *command;
	struct gb_run_options *options; /* of each run; its source, if it has one, runs first */
	const char *session, *out;      /* or NULL */
	bool fixed_language;            /* the session must have the language of the options */
	const char *state_dir;          /* for the history; or NULL */
	struct gb_filter *filter;       /* text that holds a secret is not kept in the history; or NULL */
};

int repl_run(const struct repl *repl);

#endif
