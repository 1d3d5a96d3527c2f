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

/* Where a script's end is said, and where its shell waits then. */
#define GB_SHELL_END  "/dev/shm/.glovebox-end"
#define GB_SHELL_HOLD "/dev/shm/.glovebox-hold"

void gb_oneshot_start(struct gb_keeper *keeper);
/* It is not needed after all. */
void gb_oneshot_stop(struct gb_keeper *keeper);
/* Run the job's script to its end, and tell the host. */
void gb_oneshot_run(struct gb_keeper *keeper, const struct gb_job *job);

/* --- console.c --- */

/* Start the session's shell, unless that was done before. */
void gb_console_open(struct gb_keeper *keeper);
/* Run the job's script there, and tell the host. Does not return if the shell has ended. */
void gb_console_run(struct gb_keeper *keeper, const struct gb_job *job);
/* For the keeper's on_frame: what is about the terminal. */
void gb_console_on_frame(struct gb_keeper *keeper, const struct gb_frame *frame);

/* --- worker.c --- */

/* False, and the host is told why, if a restricted job says what it may not. */
bool gb_shell_admits(struct gb_keeper *keeper, const struct gb_job *job, const struct gb_settings *settings);
/* What each process of a run may map for itself: the run's memory, and what programs map without using it
 * (stacks of threads, heaps that are to grow). It bounds what one process can take between two looks. */
uint64_t gb_shell_data_limit(const struct gb_job *job);

/* --- rc.c --- */

/* What a session's shell reads first; the script of a run is in a file whose name ends with its number; the
 * wire is the first terminal of a cell. */
#define GB_SHELL_RC      "/dev/shm/.glovebox-rc"
#define GB_SHELL_COMMAND "/dev/shm/.glovebox-"
#define GB_SHELL_WIRE    "/dev/pts/0"
extern const char gb_shell_rc[];
extern const char gb_shell_tail[]; /* of such a file */

/* --- script.c --- */

/* Append @text as one word of the shell's, on one line whatever it holds. */
void gb_script_quote(struct gb_buf *out, struct gb_str text);
/* Append `set -- …` with the job's arguments. */
void gb_script_set_arguments(struct gb_buf *out, const struct gb_job *job);
/* Append the source; bytes of zero, which no shell reads, are left out. */
void gb_script_append(struct gb_buf *out, const struct gb_job *job);

#endif
