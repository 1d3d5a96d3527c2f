/*
 * A thread for work that may block, such as SQLite, beside a thread with an event loop (the caller's).
 *
 *	struct job { struct gb_work work; ... };
 *	static enum gb_work_end run_job(struct gb_work *work, void *data) { ... return GB_WORK_DONE; }
 *	static void on_job_done(struct gb_work *work) { struct job *job = (struct job *)work; ... free(job); }
 *
 *	gb_worker_create(&(struct gb_worker_options){.lanes = 1, .max = 1000, .data = stores}, &worker, &err);
 *	job->work.run = run_job;
 *	job->work.done = on_job_done;
 *	if (gb_worker_try(worker, &job->work)) ...	// the worker owns it until on_job_done
 *	...when gb_worker_fd is readable:
 *	gb_worker_dispatch(worker);			// runs on_job_done
 *	gb_worker_destroy(worker);			// runs all work that was submitted
 *
 * Work runs in the order of submission. A lane is for work on one resource: work that finds its resource
 * locked by another process waits at the head of its lane and is tried again, and only later work of the same
 * lane waits behind it. Work of other lanes goes on.
 *
 * The thread and the caller share no memory except the queues, which have a lock. A work belongs to the
 * thread from its submission until .done is called; it must own copies of everything that .run uses. All
 * signals are blocked in the thread.
 */
#ifndef GB_STORE_WORKER_H
#define GB_STORE_WORKER_H

#include <stdint.h>

#include "base/err.h"
#include "base/list.h"

enum gb_work_end {
	GB_WORK_DONE,
	GB_WORK_BUSY, /* the resource is locked: call .run again later, unless .is_last */
	GB_WORK_KEPT, /* gb_worker_finish will be called for it later, on the thread */
};

struct gb_work {
	struct gb_list link; /* used by the worker */
	uint64_t since;      /* used by the worker: when it was submitted; 0: created by the thread */
	bool is_last;        /* set before .run: .busy_ms have passed, so GB_WORK_BUSY is not retried */
	unsigned lane;       /* below .lanes of the options */
	enum gb_work_end (*run)(struct gb_work *work, void *data); /* on the thread */
	void (*done)(struct gb_work *work); /* on the caller's thread; frees the work */
};

struct gb_worker_options {
	unsigned lanes;
	unsigned max;     /* gb_worker_try accepts no more than this at a time */
	unsigned busy_ms; /* limit of GB_WORK_BUSY, from the submission; 0: ten seconds */
	/* Called on the thread after each round of work, to finish in one step what .run has collected.
	 * Returns when it must be called again even without further work, as gb_now_ns; 0: never. May be
	 * NULL. */
	uint64_t (*on_round)(void *data);
	/* Called on the thread when all work is done and the worker is being destroyed. May be NULL. */
	void (*on_end)(void *data);
	void *data; /* belongs to the thread from gb_worker_create until gb_worker_destroy returns */
};

struct gb_worker;

bool gb_worker_create(
    const struct gb_worker_options *options, struct gb_worker **ret_worker, struct gb_err *err);
/* Run all submitted work, end the thread, and call .done of everything. Work that .done submits then is not
 * run. NULL is fine. */
void gb_worker_destroy(struct gb_worker *worker);

/* Submit @work. False if .max works are not done yet; then the caller keeps it. */
bool gb_worker_try(struct gb_worker *worker, struct gb_work *work);
/* The same without a limit, for work that completes or undoes earlier work. */
void gb_worker_submit(struct gb_worker *worker, struct gb_work *work);
/* Called on the thread: @work is done, which returned GB_WORK_KEPT or was created by the thread itself. */
void gb_worker_finish(struct gb_worker *worker, struct gb_work *work);

/* Readable when work is done. */
int gb_worker_fd(const struct gb_worker *worker);
/* Call .done of all work that is done, in the order in which it ended. The callbacks may submit work. */
void gb_worker_dispatch(struct gb_worker *worker);
/* Block until some work is done, and dispatch. For the start and the end of a process. */
void gb_worker_wait(struct gb_worker *worker);

#endif
