/* Which flags of 'run' and 'session exec' have a meaning for which language: each other one is refused, by
 * its name, before anything is started. */
#ifndef GB_CLI_RUN_FLAGS_H
#define GB_CLI_RUN_FLAGS_H

#include "cli/cli.h"
#include "glovebox/glovebox.h"

struct run_flags {
	const struct command *command;        /* that complains */
	const struct gb_run_options *options; /* what the flags have set, and nothing else */
	const char *packages, *out;           /* folders, or NULL */
};

/* Complains of the first flag that has no effect in @language. */
bool run_flags_fit(const struct run_flags *flags, enum gb_language language);
/* Complains of --language if there are no sessions of it. */
bool run_flags_has_sessions(const struct command *command, enum gb_language language);
/* Is --out a folder? Complains, before code is run of which the files would be lost. */
bool run_flags_check_out(const struct run_flags *flags);

#endif
