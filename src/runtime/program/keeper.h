/*
 * The first process of a cell in which a program runs. It starts the program and is there for it:
 *
 *	gb_keeper_start(&keeper, &program);		// in a cell that is being primed, or for the job
 *	gb_keeper_next_job(&keeper, fd, &job);		// waits
 *	gb_keeper_begin(&keeper, &job, data_limit);
 *	gb_keeper_serve(&keeper);			// until it has an answer, or has ended
 *	gb_keeper_settle(&keeper, &job);		// files, exit code, result
 *
 * What the program writes becomes OUTPUT frames. On its channel, if it has one, it speaks the frames of any
 * worker: they are passed on as they are, both ways, but for the last one, RESULT, which waits until
 * everything else was sent.
 */
#ifndef GB_RUNTIME_PROGRAM_KEEPER_H
#define GB_RUNTIME_PROGRAM_KEEPER_H

#include <stdbool.h>
#include <sys/types.h>

#include "runtime/failure.h"
#include "runtime/files.h"
#include "runtime/job.h"
#include "value/frame.h"

/* Where a program finds its channel. */
enum { GB_CHANNEL_FD = 3, GB_KEEPER_EXTRA_MAX = 4, GB_KEEPER_SOURCES_MAX = 2 };

/* What a run has that asks for nothing else. */
#define GB_KEEPER_USUAL_MEMORY (256ull << 20)

struct gb_program {
	const char *path;
	const char *const *argv, *const *envp;
	bool channel; /* it speaks frames on GB_CHANNEL_FD */
	int terminal; /* its standard input, output and error, and controlling terminal; or 0: pipes */
	/* Descriptors that it finds under other numbers, of at least 3; ends with a to of 0. */
	struct gb_extra_fd {
		int from, to;
	} extra[GB_KEEPER_EXTRA_MAX];
};

struct gb_keeper {
	int host;  /* -1 while it is primed */
	pid_t pid; /* of the program, 0 once it was reaped */
	int wait_status;
	int in, out[2]; /* ends of its pipes; -1: closed, or none */
	int channel;    /* frames of the program's */
	int to_channel; /* frames to it; another descriptor of the same socket, or not */
	int signals;    /* signalfd */
	struct gb_frame_reader channel_reader, host_reader;
	struct gb_buf to_program; /* frames that its channel has not taken yet */
	struct gb_buf input;      /* for its standard input, likewise */
	struct gb_buf result;     /* its RESULT frame, once it is there */
	struct gb_files files;    /* in the box, before the run */
	size_t backlog_max;       /* frames for the program are left in the host's socket beyond this */
	size_t n_later;           /* bytes of such frames that a worker keeps elsewhere */
	uint64_t memory_limit, memory_peak;
	uint64_t
	    look_at; /* when to look at the memory next, ns; between runs 0: not before something happens */
	uint64_t pause_ns; /* between two looks while nothing is run */
	bool watched;      /* between runs: a run or a person has used the cell */
	bool rests_alone;  /* its program does nothing between runs unless it is told to */
	bool out_of_memory;
	bool broken;         /* what came on the channel was not a message, or too large for this run */
	int n_jobs;          /* that were read */
	int interrupted_job; /* the last that was to stop */
	bool interrupted;    /* that is the present one */
	bool done;           /* somebody else knows that the run is over */
	bool heard;          /* the program has written something since its job was sent */
	bool reset;          /* its channel was closed with unread bytes in it */
	/* Somebody else's part in this; may be NULL. */
	void (*on_frame)(struct gb_keeper *keeper, const struct gb_frame *frame); /* of the host's, not JOB */
	/* Of the program's: true if it is not for the host. */
	bool (*on_program_frame)(struct gb_keeper *keeper, const struct gb_frame *frame);
	/* Repeated until the program has reacted. */
	void (*on_interrupt)(struct gb_keeper *keeper);
	void *data;
	/* More to listen to, while a run goes on and between runs; without an on_ready there is none. */
	struct gb_keeper_source {
		int fd;
		short events;
		void (*on_ready)(struct gb_keeper *keeper, short events);
	} also[GB_KEEPER_SOURCES_MAX];
};

void gb_keeper_init(struct gb_keeper *keeper);

/* Start the program in a session of its own; one that was stopped before is forgotten. Ends the process if
 * that cannot be done. */
void gb_keeper_start(struct gb_keeper *keeper, const struct gb_program *program);
/* End it and everything it has started, and wait until it is gone. */
void gb_keeper_stop(struct gb_keeper *keeper);

/* Wait for a job. The process ends when the host lets go, when the program of a session is gone, or when the
 * processes of a session need more memory than its last run was given. */
void gb_keeper_next_job(struct gb_keeper *keeper, int fd, struct gb_job *ret_job);

/* The job's limits, files and input; on a channel the job itself. Each process may map @data_limit bytes of
 * private memory (RLIMIT_DATA; 0: no such limit). False, and @why, if the files cannot be had. */
bool gb_keeper_begin(
    struct gb_keeper *keeper, const struct gb_job *job, uint64_t data_limit, char *why, size_t n_why);

/* Pass on, both ways, until the RESULT has come, or the program has ended, or needs too much memory. */
void gb_keeper_serve(struct gb_keeper *keeper);
/* One turn of that, waiting at most @timeout_ms (-1: for ever). False once it is over. */
bool gb_keeper_turn(struct gb_keeper *keeper, int timeout_ms);

/* Take what its pipes still hold. */
void gb_keeper_drain(struct gb_keeper *keeper);

/* End the process if the program has died without having read its first job: then no code has run. Of a job
 * that is not sent over a channel the caller knows whether it is @unread. */
void gb_keeper_end_unused(const struct gb_keeper *keeper, bool unread);
/* Tell the host how it went: changed files; then the program's own RESULT; or else, by how it has ended, a
 * RESULT of ours. */
void gb_keeper_settle(struct gb_keeper *keeper, const struct gb_job *job);
/* The same with a failure that the keeper has seen itself. */
void gb_keeper_fail(struct gb_keeper *keeper, const struct gb_job *job, enum gb_wire_status status,
    const struct gb_failure *failure);

/* --- watch.c: how much memory the cell needs --- */

/* A run begins, whose job has @job_bytes. */
void gb_keeper_watch(struct gb_keeper *keeper, uint64_t limit, uint64_t job_bytes);
/* Look if it is time to: everything that this cell has started is ended if it needs more than it may. */
void gb_keeper_look(struct gb_keeper *keeper);
/* The same if the kernel has ended a process for want of memory. */
void gb_keeper_look_for_kills(struct gb_keeper *keeper);
/* How long to wait at most, in ms, when @timeout_ms was asked for. */
int gb_keeper_until_look(const struct gb_keeper *keeper, int timeout_ms);

/* Between runs. A look that finds too much ends the process. @stirred: something has happened. */
void gb_keeper_begin_rest(struct gb_keeper *keeper);
int gb_keeper_until_rest_look(const struct gb_keeper *keeper);
void gb_keeper_look_at_rest(struct gb_keeper *keeper, bool stirred);

/* A job with GB_JOB_VERSION: what "@path --version" writes is its output. (version.c) */
__attribute__((noreturn)) void gb_keeper_tell_version(
    struct gb_keeper *keeper, const struct gb_job *job, const char *path);

/* Wait for the end, which the host brings. */
__attribute__((noreturn)) void gb_keeper_finish(struct gb_keeper *keeper);

#endif
