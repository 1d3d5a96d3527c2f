/*
 * The first process (pid 1) of a cell that runs an external program. It starts and supervises the program:
 *
 *	gb_keeper_start(&keeper, &program);		// while the cell is primed, or for the job
 *	gb_keeper_next_job(&keeper, fd, &job);		// blocks
 *	gb_keeper_begin(&keeper, &job, data_limit);
 *	gb_keeper_serve(&keeper);			// until the program has a result or has exited
 *	gb_keeper_settle(&keeper, &job);		// sends files, exit code, result
 *
 * The program's output becomes OUTPUT frames. A program with a channel exchanges the same frames as any
 * worker; the keeper forwards them unchanged in both directions, except RESULT, which is held back until
 * everything else has been sent.
 */
#ifndef GB_RUNTIME_PROGRAM_KEEPER_H
#define GB_RUNTIME_PROGRAM_KEEPER_H

#include <stdbool.h>
#include <sys/types.h>

#include "runtime/failure.h"
#include "runtime/files.h"
#include "runtime/job.h"
#include "value/frame.h"

/* GB_CHANNEL_FD: the program's descriptor of its channel. */
enum { GB_CHANNEL_FD = 3, GB_KEEPER_EXTRA_MAX = 4, GB_KEEPER_SOURCES_MAX = 2 };

/* The memory limit of a run that does not set one. */
#define GB_KEEPER_DEFAULT_MEMORY (256ull << 20)

struct gb_program {
	const char *path;
	const char *const *argv, *const *envp;
	bool channel; /* the program exchanges frames on GB_CHANNEL_FD */
	int terminal; /* stdin, stdout, stderr and controlling terminal of the program; 0: pipes */
	/* Descriptors to duplicate in the program; .to is at least 3, an entry with .to 0 ends the list. */
	struct gb_extra_fd {
		int from, to;
	} extra[GB_KEEPER_EXTRA_MAX];
};

struct gb_keeper {
	int host;  /* -1 while the cell is primed */
	pid_t pid; /* of the program; 0 once reaped */
	int wait_status;
	int in, out[2]; /* our ends of its pipes; -1: closed or absent */
	int channel;    /* frames from the program */
	int to_channel; /* frames to the program; may be a duplicate of .channel */
	int signals;    /* signalfd */
	struct gb_frame_reader channel_reader, host_reader;
	struct gb_buf to_program; /* frames not yet written to its channel */
	struct gb_buf input;      /* bytes not yet written to its standard input */
	struct gb_buf result;     /* payload of its RESULT frame, once received */
	struct gb_files files;    /* state of the box before the run */
	size_t backlog_max;       /* above this backlog, frames for the program stay in the host's socket */
	size_t n_deferred;        /* bytes of such frames that a worker has deferred elsewhere */
	uint64_t memory_limit, memory_peak;
	uint64_t
	    next_check_ns; /* time of the next memory check, ns; 0 between runs: not before the next event */
	uint64_t check_interval_ns; /* between two checks while no run is active */
	bool watched;         /* between runs: the cell has been used by a run or through its terminal */
	bool inert_when_idle; /* the program does nothing between runs unless it receives input */
	bool out_of_memory;
	bool broken;         /* the channel carried an invalid frame, or one too large for this run */
	int n_jobs;          /* read so far */
	int interrupted_job; /* number of the last job that was interrupted */
	bool interrupted;    /* the current job was interrupted */
	bool done;           /* set by the worker: the run is over */
	bool wrote_output;   /* the program has written something since its job was sent */
	bool reset;          /* its channel was closed with unread bytes in it */
	/* Hooks of a worker; may be NULL. */
	void (*on_frame)(struct gb_keeper *keeper, const struct gb_frame *frame); /* from the host, not JOB */
	/* A frame from the program: true if the hook has handled it, so that it is not forwarded to the
	 * host. */
	bool (*on_program_frame)(struct gb_keeper *keeper, const struct gb_frame *frame);
	/* Called repeatedly until the program reacts. */
	void (*on_interrupt)(struct gb_keeper *keeper);
	void *data;
	/* Additional descriptors to poll, during and between runs; entries without on_ready are unused. */
	struct gb_keeper_source {
		int fd;
		short events;
		void (*on_ready)(struct gb_keeper *keeper, short events);
	} sources[GB_KEEPER_SOURCES_MAX];
};

void gb_keeper_init(struct gb_keeper *keeper);

/* Start the program in its own session; state of an earlier, stopped program is discarded. Exits on
 * failure. */
void gb_keeper_start(struct gb_keeper *keeper, const struct gb_program *program);
/* Kill the program and all its descendants, and reap them. */
void gb_keeper_stop(struct gb_keeper *keeper);

/* Wait for a job. The process exits when the host closes the connection, when the program of a session exits,
 * or when the processes of a session need more memory than the limit of its last run. */
void gb_keeper_next_job(struct gb_keeper *keeper, int fd, struct gb_job *ret_job);

/* Apply the job's limits, write its files and input, and send the job itself to a program with a channel.
 * Each process may map @data_limit bytes of private memory (RLIMIT_DATA; 0: no such limit). On failure to
 * write the files returns false and sets @why. */
bool gb_keeper_begin(
    struct gb_keeper *keeper, const struct gb_job *job, uint64_t data_limit, char *why, size_t n_why);

/* Forward in both directions until RESULT arrives, the program exits, or it exceeds its memory limit. */
void gb_keeper_serve(struct gb_keeper *keeper);
/* One iteration of gb_keeper_serve(), blocking for at most @timeout_ms (-1: no timeout). False once the run
 * is over. */
bool gb_keeper_turn(struct gb_keeper *keeper, int timeout_ms);

/* Read the rest of its output pipes. */
void gb_keeper_drain(struct gb_keeper *keeper);

/* Exit with GB_CELL_EXIT_UNUSED if the program died before it read its first job: then no code has run. The
 * caller passes @unread for a job that is not sent over a channel. */
void gb_keeper_end_unused(const struct gb_keeper *keeper, bool unread);
/* Send the outcome to the host: changed files, then the program's own RESULT or, without one, a RESULT made
 * from its exit status. */
void gb_keeper_settle(struct gb_keeper *keeper, const struct gb_job *job);
/* The same with a failure that the keeper itself has detected. */
void gb_keeper_fail(struct gb_keeper *keeper, const struct gb_job *job, enum gb_wire_status status,
    const struct gb_failure *failure);

/* --- watch.c: memory limit of the cell --- */

/* Begin to watch a run whose job has @job_bytes. */
void gb_keeper_watch(struct gb_keeper *keeper, uint64_t limit, uint64_t job_bytes);
/* If a check is due: kill all processes of this cell if they exceed the memory limit. */
void gb_keeper_check_memory(struct gb_keeper *keeper);
/* The same if the kernel's OOM killer has killed a process of this cell. */
void gb_keeper_check_oom_kills(struct gb_keeper *keeper);
/* @timeout_ms, or the time until the next check if that is shorter. */
int gb_keeper_check_timeout(const struct gb_keeper *keeper, int timeout_ms);

/* Between runs. The process exits if a check finds too much. @woken: poll() reported an event. */
void gb_keeper_begin_idle(struct gb_keeper *keeper);
int gb_keeper_idle_timeout(const struct gb_keeper *keeper);
void gb_keeper_check_idle_memory(struct gb_keeper *keeper, bool woken);

/* Run a GB_JOB_VERSION job: its output is the output of "@path --version". (version.c) */
__attribute__((noreturn)) void gb_keeper_report_version(
    struct gb_keeper *keeper, const struct gb_job *job, const char *path);

/* Wait until the host closes the connection or kills the cell. */
__attribute__((noreturn)) void gb_keeper_finish(struct gb_keeper *keeper);

#endif
