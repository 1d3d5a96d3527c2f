/*
 * 'glovebox complete WORD...': what the last word of a command line can become. The completions of bash, zsh and
 * fish (completions/) call it with the words after 'glovebox', up to the cursor. Each line of output is a candidate, a
 * tab and its description; an empty candidate with the description "files" or "folders" asks the shell for these.
 *
 * complete.c takes candidates from the tables of commands, options and settings, complete_names.c from the running
 * sessions and the waiting requests.
 */
#ifndef GB_CLI_COMPLETE_H
#define GB_CLI_COMPLETE_H

#include "cli/cli.h"
#include "cli/state.h"

/* The word that is completed. */
struct complete_word {
	struct gb_str given;
	const char *before; /* of a candidate: "--language=", or "" */
};

/* Print @candidate if it begins with the word. Neither text may be untrusted. */
void complete_offer(const struct complete_word *word, const char *candidate, const char *description);

/* --- complete_names.c --- */

/* The sessions of this user. No process is started. */
void complete_sessions(const struct complete_word *word);
/* The requests that wait for a decision. */
void complete_approvals(const struct complete_word *word, struct state_request *state);

#endif
