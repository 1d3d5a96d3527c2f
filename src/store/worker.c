#include "store/worker.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"

#define MS_NS 1000000ull

enum { DEFAULT_BUSY_MS = 10000, LONGEST_PAUSE_MS = 100 };

/* Used by the thread only. */
struct lane {
	struct gb_list works; /* the first found its resource locked; the others wait behind it */
	uint64_t next_try;    /* ns */
	unsigned pause_ms;
};

struct gb_worker {
	struct gb_worker_options options;
	pthread_t thread;
	int fd; /* eventfd: .finished is not empty */
	struct lane *lanes;

	pthread_mutex_t lock;
	pthread_cond_t changed; /* of .submitted and .ending */
	/* Protected by the lock. */
	struct gb_list submitted, finished;
	bool ending;

	/* Used by the caller's thread only. */
	struct gb_list ready; /* finished, and .done was not called yet */
	unsigned n_works;     /* submitted, and .done was not called yet */
	bool ended;           /* the thread has ended */
};

static void move_all(struct gb_list *from, struct gb_list *to) {
	while (!gb_list_empty(from)) {
		struct gb_list *link = from->next;
		gb_list_remove(link);
		gb_list_append(to, link);
	}
}

/* --- the thread --- */

void gb_worker_finish(struct gb_worker *worker, struct gb_work *work) {
	const uint64_t one = 1;
	pthread_mutex_lock(&worker->lock);
	bool first = gb_list_empty(&worker->finished);
	gb_list_append(&worker->finished, &work->link);
	pthread_mutex_unlock(&worker->lock);
	/* Cannot fail: the counter is far from its maximum. */
	if (first && write(worker->fd, &one, sizeof one) < 0)
		return;
}

/* False if the resource of the lane is busy; then @work is in no list. */
static bool run_work(struct gb_worker *worker, struct gb_work *work) {
	work->is_last = gb_now_ns() - work->since >= worker->options.busy_ms * MS_NS;
	enum gb_work_end end = work->run(work, worker->options.data);
	if (end == GB_WORK_BUSY && !work->is_last)
		return false;
	if (end != GB_WORK_KEPT)
		gb_worker_finish(worker, work);
	return true;
}

static void run_or_queue(struct gb_worker *worker, struct gb_work *work) {
	struct lane *lane = &worker->lanes[work->lane];
	if (gb_list_empty(&lane->works) && run_work(worker, work))
		return;
	if (gb_list_empty(&lane->works)) {
		lane->pause_ms = 1;
		lane->next_try = gb_now_ns() + MS_NS;
	}
	gb_list_append(&lane->works, &work->link);
}

static void retry_lane(struct gb_worker *worker, struct lane *lane) {
	while (!gb_list_empty(&lane->works)) {
		struct gb_work *work = gb_list_first(struct gb_work, &lane->works, link);
		gb_list_remove(&work->link);
		if (run_work(worker, work)) {
			lane->pause_ms = 1;
			continue;
		}
		gb_list_prepend(&lane->works, &work->link);
		lane->pause_ms =
		    lane->pause_ms * 2 < LONGEST_PAUSE_MS ? lane->pause_ms * 2 : LONGEST_PAUSE_MS;
		lane->next_try = gb_now_ns() + lane->pause_ms * MS_NS;
		return;
	}
}

/* Retry the lanes that are due. Returns when the next one is; 0: all are empty. */
static uint64_t retry_lanes(struct gb_worker *worker) {
	uint64_t next = 0;
	for (unsigned i = 0; i < worker->options.lanes; i++) {
		struct lane *lane = &worker->lanes[i];
		if (!gb_list_empty(&lane->works) && lane->next_try <= gb_now_ns())
			retry_lane(worker, lane);
		if (!gb_list_empty(&lane->works) && (!next || lane->next_try < next))
			next = lane->next_try;
	}
	return next;
}

/* Wait until @wake (0: no limit) for work, and move it to @works. False if the worker is being destroyed and
 * there is no more. */
static bool take_works(struct gb_worker *worker, uint64_t wake, struct gb_list *works) {
	const struct timespec until = {(time_t)(wake / (1000 * MS_NS)), (long)(wake % (1000 * MS_NS))};
	int error = 0;
	pthread_mutex_lock(&worker->lock);
	while (gb_list_empty(&worker->submitted) && !worker->ending && error == 0)
		error = wake ? pthread_cond_timedwait(&worker->changed, &worker->lock, &until)
			     : pthread_cond_wait(&worker->changed, &worker->lock);
	bool more = !gb_list_empty(&worker->submitted) || !worker->ending;
	move_all(&worker->submitted, works);
	pthread_mutex_unlock(&worker->lock);
	return more;
}

static void sleep_until(uint64_t wake) {
	uint64_t now = gb_now_ns();
	if (wake > now)
		usleep((useconds_t)((wake - now) / 1000) + 1);
}

static void *run_thread(void *data) {
	struct gb_worker *worker = data;
	struct gb_list works;
	uint64_t wake = 0;
	gb_list_init(&works);
	for (;;) {
		bool more = take_works(worker, wake, &works);
		gb_list_each(struct gb_work, work, &works, link) {
			gb_list_remove(&work->link);
			run_or_queue(worker, work);
		}
		uint64_t busy = retry_lanes(worker);
		uint64_t round =
		    worker->options.on_round ? worker->options.on_round(worker->options.data) : 0;
		wake = busy && (!round || busy < round) ? busy : round;
		if (!more && !busy)
			break;
		if (!more)
			sleep_until(busy);
	}
	if (worker->options.on_end)
		worker->options.on_end(worker->options.data);
	return NULL;
}

/* --- the caller's thread --- */

/* Signals are handled by the caller's thread. Faults cannot be blocked. */
static bool start_thread(struct gb_worker *worker, struct gb_err *err) {
	static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
	sigset_t all, before;
	sigfillset(&all);
	for (size_t i = 0; i < GB_COUNT(faults); i++)
		sigdelset(&all, faults[i]);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int error = pthread_create(&worker->thread, NULL, run_thread, worker);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error == 0 || gb_fail(err, GB_ESYSTEM, error, "start a thread");
}

static void free_worker(struct gb_worker *worker) {
	pthread_cond_destroy(&worker->changed);
	pthread_mutex_destroy(&worker->lock);
	gb_close_fd(&worker->fd);
	free(worker->lanes);
	free(worker);
}

bool gb_worker_create(
    const struct gb_worker_options *options, struct gb_worker **ret_worker, struct gb_err *err) {
	struct gb_worker *worker = calloc(1, sizeof *worker);
	struct lane *lanes = calloc(options->lanes, sizeof *lanes);
	if (!worker || !lanes) {
		free(worker);
		free(lanes);
		return gb_fail(err, GB_ENOMEM, 0, "a worker thread");
	}
	worker->options = *options;
	if (!worker->options.busy_ms)
		worker->options.busy_ms = DEFAULT_BUSY_MS;
	worker->lanes = lanes;
	for (unsigned i = 0; i < options->lanes; i++)
		gb_list_init(&lanes[i].works);
	gb_list_init(&worker->submitted);
	gb_list_init(&worker->finished);
	gb_list_init(&worker->ready);
	pthread_condattr_t clock;
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC); /* the clock of gb_now_ns */
	pthread_cond_init(&worker->changed, &clock);
	pthread_condattr_destroy(&clock);
	pthread_mutex_init(&worker->lock, NULL);
	worker->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (worker->fd < 0)
		gb_fail(err, GB_ESYSTEM, errno, "eventfd");
	if (worker->fd < 0 || !start_thread(worker, err)) {
		free_worker(worker);
		return false;
	}
	*ret_worker = worker;
	return true;
}

void gb_worker_submit(struct gb_worker *worker, struct gb_work *work) {
	work->since = gb_now_ns();
	worker->n_works++;
	if (worker->ended) {
		gb_list_append(&worker->ready, &work->link);
		return;
	}
	pthread_mutex_lock(&worker->lock);
	gb_list_append(&worker->submitted, &work->link);
	pthread_cond_signal(&worker->changed);
	pthread_mutex_unlock(&worker->lock);
}

bool gb_worker_try(struct gb_worker *worker, struct gb_work *work) {
	if (worker->n_works >= worker->options.max)
		return false;
	gb_worker_submit(worker, work);
	return true;
}

int gb_worker_fd(const struct gb_worker *worker) {
	return worker->fd;
}

void gb_worker_dispatch(struct gb_worker *worker) {
	uint64_t n;
	if (read(worker->fd, &n, sizeof n) == sizeof n) {
		pthread_mutex_lock(&worker->lock);
		move_all(&worker->finished, &worker->ready);
		pthread_mutex_unlock(&worker->lock);
	}
	/* One at a time: .done may call this function. */
	while (!gb_list_empty(&worker->ready)) {
		struct gb_work *work = gb_list_first(struct gb_work, &worker->ready, link);
		gb_list_remove(&work->link);
		worker->n_works -= work->since != 0;
		work->done(work);
	}
}

void gb_worker_wait(struct gb_worker *worker) {
	struct pollfd ready = {.fd = worker->fd, .events = POLLIN};
	while (gb_list_empty(&worker->ready) && poll(&ready, 1, -1) < 0 && errno == EINTR)
		;
	gb_worker_dispatch(worker);
}

void gb_worker_destroy(struct gb_worker *worker) {
	if (!worker)
		return;
	pthread_mutex_lock(&worker->lock);
	worker->ending = true;
	pthread_cond_signal(&worker->changed);
	pthread_mutex_unlock(&worker->lock);
	pthread_join(worker->thread, NULL);
	worker->ended = true;
	gb_worker_dispatch(worker);
	free_worker(worker);
}
