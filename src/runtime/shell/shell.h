/*
 * bash, in two modes: one script, or a session on a terminal.
 *
 *	gb_oneshot_start(&keeper);		// waits for its script
 *	gb_oneshot_run(&keeper, &job);		// until it has ended
 *
 *	gb_console_open(&keeper);		// instead: a session
 *	gb_console_run(&keeper, &job);		// for each job
 */
#ifndef GB_RUNTIME_SHELL_SHELL_H
#define GB_RUNTIME_SHELL_SHELL_H

#include "runtime/job.h"
#include "runtime/program/keeper.h"
#include "runtime/program/places.h"
#include "runtime/program/settings.h"

#define GB_SHELL_PROGRAM GB_PROGRAM_DIR "/bash"
/* The environment of a shell, except TERM. Not LANG: bash and each program that it starts would read the other twelve
 * categories of the locale from as many files, and they say the same as POSIX. */
#define GB_SHELL_ENVIRONMENT                                                                                 \
	"PATH=/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin", "HOME=/box", "USER=box",        \
	    "LC_CTYPE=C.UTF-8"

/* --- oneshot.c --- */

/* Named pipes: GB_SHELL_END reports the end of a script; its shell then blocks on GB_SHELL_HOLD. */
#define GB_SHELL_END  "/dev/shm/.glovebox-end"
#define GB_SHELL_HOLD "/dev/shm/.glovebox-hold"

void gb_oneshot_start(struct gb_keeper *keeper);
/* Discard an unused shell. */
void gb_oneshot_stop(struct gb_keeper *keeper);
/* Run the job's script to its end and send the result. */
void gb_oneshot_run(struct gb_keeper *keeper, const struct gb_job *job);

/* --- console.c --- */

/* Start the session's shell unless it is running. */
void gb_console_open(struct gb_keeper *keeper);
/* Run the job's script in the session and send the result. Does not return if the shell has exited. */
void gb_console_run(struct gb_keeper *keeper, const struct gb_job *job);
/* For the keeper's on_frame: handles terminal frames. */
void gb_console_on_frame(struct gb_keeper *keeper, const struct gb_frame *frame);

/* --- worker.c --- */

/* Check a restricted job. If it is rejected, sends the reason to the host and returns false. */
bool gb_shell_admits(struct gb_keeper *keeper, const struct gb_job *job, const struct gb_settings *settings);
/* RLIMIT_DATA of each process of a run: the run's memory limit, plus a reserve for memory that programs map
 * without using it (thread stacks, heap reservations). It bounds the growth of a process between two memory
 * checks. */
uint64_t gb_shell_data_limit(const struct gb_job *job);

/* --- rc.c --- */

/* RC: startup file of a session's shell. COMMAND: prefix of the file with a run's script, followed by its
 * number. WIRE: the first terminal of a cell. */
#define GB_SHELL_RC      "/dev/shm/.glovebox-rc"
#define GB_SHELL_COMMAND "/dev/shm/.glovebox-"
#define GB_SHELL_WIRE    "/dev/pts/0"
extern const char gb_shell_rc[];
extern const char gb_shell_tail[]; /* end of such a command file */

/* --- script.c --- */

/* Append @text as one quoted shell word without newlines. */
void gb_script_quote(struct gb_buf *out, struct gb_str text);
/* Append `set -- …` with the job's arguments. */
void gb_script_set_arguments(struct gb_buf *out, const struct gb_job *job);
/* Append what is done before the source, on its first line. If files cannot be written, this is the limit of their
 * size, which cannot be raised again; here the folders lose their permission to write, which explains it better. */
void gb_script_begin(struct gb_buf *out, const struct gb_settings *settings);
/* Append the source without NUL bytes, which no shell reads. */
void gb_script_append(struct gb_buf *out, const struct gb_job *job);

#endif
