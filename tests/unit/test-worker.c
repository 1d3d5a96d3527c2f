#include "store/worker.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "tap.h"

enum { MANY = 1000 };

/* What the caller's thread has seen. */
struct seen {
	unsigned n, order[MANY];
};

struct job {
	struct gb_work work;
	unsigned number;
	struct seen *seen;
	pthread_t ran_on;
	atomic_bool *lock; /* busy while it is set; or NULL */
	bool is_kept, was_busy;
};

/* What the thread has collected. */
struct round {
	struct gb_worker **worker;
	struct job *kept[MANY];
	unsigned n_kept, n_rounds, largest;
	bool ended;
};

static enum gb_work_end run(struct gb_work *work, void *data) {
	struct job *job = (struct job *)work;
	struct round *round = data;
	job->ran_on = pthread_self();
	job->was_busy = job->lock && atomic_load(job->lock);
	if (job->was_busy)
		return GB_WORK_BUSY;
	if (!job->is_kept)
		return GB_WORK_DONE;
	round->kept[round->n_kept++] = job;
	return GB_WORK_KEPT;
}

static void done(struct gb_work *work) {
	struct job *job = (struct job *)work;
	CHECK(!pthread_equal(job->ran_on, pthread_self()));
	job->seen->order[job->seen->n++] = job->was_busy ? job->number + MANY : job->number;
	free(job);
}

static uint64_t on_round(void *data) {
	struct round *round = data;
	for (unsigned i = 0; i < round->n_kept; i++)
		gb_worker_finish(*round->worker, &round->kept[i]->work);
	round->n_rounds += round->n_kept > 0;
	round->largest = round->n_kept > round->largest ? round->n_kept : round->largest;
	round->n_kept = 0;
	return 0;
}

static void on_end(void *data) {
	struct round *round = data;
	round->ended = true;
}

static struct gb_worker *worker;

static struct round *begin(struct gb_worker_options options) {
	struct round *round = calloc(1, sizeof *round);
	struct gb_err err = {0};
	round->worker = &worker;
	options.max = options.max ? options.max : MANY;
	options.on_round = on_round;
	options.on_end = on_end;
	options.data = round;
	if (!CHECK(gb_worker_create(&options, &worker, &err)))
		abort();
	return round;
}

static void end(struct round *round) {
	gb_worker_destroy(worker);
	CHECK(round->ended);
	free(round);
}

static bool submit(struct seen *seen, unsigned number, unsigned lane, atomic_bool *lock, bool is_kept) {
	struct job *job = calloc(1, sizeof *job);
	job->work = (struct gb_work){.lane = lane, .run = run, .done = done};
	job->number = number;
	job->seen = seen;
	job->lock = lock;
	job->is_kept = is_kept;
	if (gb_worker_try(worker, &job->work))
		return true;
	free(job);
	return false;
}

TEST(work_runs_in_order_on_another_thread) {
	struct seen seen = {0};
	struct round *round = begin((struct gb_worker_options){.lanes = 3});
	for (unsigned i = 0; i < MANY; i++)
		CHECK(submit(&seen, i, i % 3, NULL, false));
	while (seen.n < MANY)
		gb_worker_wait(worker);
	for (unsigned i = 0; i < MANY; i++)
		if (seen.order[i] != i)
			CHECK_INT(seen.order[i], i);
	end(round);
}

TEST(a_busy_lane_delays_only_itself) {
	struct seen seen = {0};
	atomic_bool lock = true;
	struct round *round = begin((struct gb_worker_options){.lanes = 2});
	CHECK(submit(&seen, 1, 0, &lock, false) && submit(&seen, 2, 0, NULL, false) &&
	      submit(&seen, 3, 1, NULL, false));
	while (seen.n < 1)
		gb_worker_wait(worker);
	CHECK_INT(seen.order[0], 3);
	CHECK(submit(&seen, 4, 1, NULL, false));
	while (seen.n < 2)
		gb_worker_wait(worker);
	CHECK_INT(seen.order[1], 4);
	atomic_store(&lock, false);
	while (seen.n < 4)
		gb_worker_wait(worker);
	CHECK_INT(seen.order[2], 1);
	CHECK_INT(seen.order[3], 2);
	end(round);
}

TEST(work_is_busy_for_a_limited_time) {
	struct seen seen = {0};
	atomic_bool lock = true;
	struct round *round = begin((struct gb_worker_options){.lanes = 1, .busy_ms = 30});
	CHECK(submit(&seen, 1, 0, &lock, false) && submit(&seen, 2, 0, &lock, false) &&
	      submit(&seen, 3, 0, NULL, false));
	while (seen.n < 3)
		gb_worker_wait(worker);
	CHECK_INT(seen.order[0], 1 + MANY);
	CHECK_INT(seen.order[1], 2 + MANY);
	CHECK_INT(seen.order[2], 3);
	end(round);
}

TEST(kept_work_is_finished_in_groups) {
	struct seen seen = {0};
	struct round *round = begin((struct gb_worker_options){.lanes = 1});
	for (unsigned i = 0; i < MANY; i++)
		CHECK(submit(&seen, i, 0, NULL, true));
	while (seen.n < MANY)
		gb_worker_wait(worker);
	for (unsigned i = 0; i < MANY; i++)
		if (seen.order[i] != i)
			CHECK_INT(seen.order[i], i);
	gb_worker_destroy(worker);
	CHECK(round->n_rounds >= 1 && round->n_rounds <= MANY);
	free(round);
}

TEST(the_queue_is_bounded) {
	struct seen seen = {0};
	atomic_bool lock = true;
	struct round *round = begin((struct gb_worker_options){.lanes = 1, .max = 2});
	CHECK(submit(&seen, 1, 0, &lock, false) && submit(&seen, 2, 0, NULL, false));
	CHECK(!submit(&seen, 3, 0, NULL, false));
	atomic_store(&lock, false);
	while (seen.n < 2)
		gb_worker_wait(worker);
	CHECK(submit(&seen, 3, 0, NULL, false));
	end(round);
	CHECK_INT(seen.n, 3);
}

TEST(destroying_runs_everything_first) {
	struct seen seen = {0};
	atomic_bool lock = true;
	struct round *round = begin((struct gb_worker_options){.lanes = 2, .busy_ms = 50});
	CHECK(submit(&seen, 1, 0, &lock, false));
	for (unsigned i = 2; i < 100; i++)
		CHECK(submit(&seen, i, 1, NULL, i % 2));
	end(round);
	CHECK_INT(seen.n, 99);
	CHECK_INT(seen.order[98], 1 + MANY);
}

static enum gb_work_end read_signals(struct gb_work *work, void *data) {
	struct job *job = (struct job *)work;
	sigset_t blocked;
	job->ran_on = pthread_self();
	pthread_sigmask(SIG_SETMASK, NULL, &blocked);
	job->was_busy = !sigismember(&blocked, SIGINT) || !sigismember(&blocked, SIGHUP) ||
			!sigismember(&blocked, SIGTERM) || sigismember(&blocked, SIGSEGV);
	return GB_WORK_DONE;
}

TEST(signals_are_blocked_in_the_thread_only) {
	struct seen seen = {0};
	sigset_t blocked;
	struct round *round = begin((struct gb_worker_options){.lanes = 1});
	struct job *job = calloc(1, sizeof *job);
	job->work = (struct gb_work){.run = read_signals, .done = done};
	job->seen = &seen;
	gb_worker_submit(worker, &job->work);
	end(round);
	CHECK_INT(seen.n, 1);
	CHECK_INT(seen.order[0], 0);
	pthread_sigmask(SIG_SETMASK, NULL, &blocked);
	CHECK(!sigismember(&blocked, SIGINT));
}
