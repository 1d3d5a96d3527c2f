/*
 * bash, in two ways: once for a script, and for a session on a terminal.
 *
 *	gb_oneshot_start(&keeper);		// waits for its script
 *	gb_oneshot_run(&keeper, &job);		// until it has ended
 *
 *	gb_console_open(&keeper);		// instead of that
 *	gb_console_run(&keeper, &job);		// again and again
 */
#ifndef GB_RUNTIME_SHELL_SHELL_H
#define GB_RUNTIME_SHELL_SHELL_H

#include "runtime/job.h"
#include "runtime/program/keeper.h"
#include "runtime/program/places.h"
#include "runtime/program/settings.h"

#define GB_SHELL_PROGRAM GB_PROGRAM_DIR "/bash"
/* All that a shell is told of the world, but for its terminal. */
#define GB_SHELL_ENVIRONMENT                                                                                 \
	"PATH=/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin", "HOME=/box", "USER=box",        \
	    "LANG=C.UTF-8"

/* --- oneshot.c --- */

void gb_oneshot_start(struct gb_keeper *keeper);
/* Run the job's script to its end, and tell the host. */
void gb_oneshot_run(struct gb_keeper *keeper, const struct gb_job *job);

/* --- script.c --- */

/* Append @text as one word of the shell's, on one line whatever it holds. */
void gb_script_quote(struct gb_buf *out, struct gb_str text);
/* Append `set -- …` with the job's arguments. */
void gb_script_set_arguments(struct gb_buf *out, const struct gb_job *job);
/* Append the source; bytes of zero, which no shell reads, are left out. */
void gb_script_append(struct gb_buf *out, const struct gb_job *job);

#endif
