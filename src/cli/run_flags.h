/* Which flags of 'run' and 'session exec' have an effect on which language. Others are refused before
 * anything is started. */
#ifndef GB_CLI_RUN_FLAGS_H
#define GB_CLI_RUN_FLAGS_H

#include "cli/cli.h"
#include "glovebox/glovebox.h"

struct run_flags {
	const struct command *command;        /* named in errors */
	const struct gb_run_options *options; /* as set by the flags only */
	const char *packages, *out;           /* folders, or NULL */
};

/* Reports the first flag that has no effect on @language. */
bool run_flags_fit(const struct run_flags *flags, enum gb_language language);
/* Reports an error if @language has no sessions. */
bool run_flags_has_sessions(const struct command *command, enum gb_language language);
/* Check that --out is a folder, or create it, before code runs whose files would be lost. */
bool run_flags_check_out(const struct run_flags *flags);

#endif
