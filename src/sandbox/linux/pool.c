#include "sandbox/port.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "sandbox/linux/shard.h"

enum {
	/* Descriptors reserved for all other uses of the host. */
	SPARE_FDS = 64,
	/* Additional slots for cells that were killed and not yet reaped, beyond one for each live cell. */
	DYING_MAX = 256,
	/* Cells to prepare in each shard if cells have control groups and the options ask for no warm ones:
	 * joining a group can take ten milliseconds, which must not delay a run. */
	GROUPED_MIN = 4,
};

#define RETRY_NS 10000000ull
/* Time for the runs that have waited for a zygote, before the next zygote starts. */
#define NEXT_START_NS 20000000ull
/* If zygotes start one by one: with so many more active cells in the others, cells wait for one that has not started
 * yet. Cells stay on the CPU of their zygote, so a crowd of sessions must not all come from the first one. */
#define AHEAD_OF_ABSENT 4u
/* Upper estimate of the time to fork and prime a cell. */
#define PRIME_NS 800000ull
/* Upper estimate of the time to join a control group after idle time. */
#define JOIN_NS 20000000ull

/* --- taking --- */

/* The shard with the fewest active cells, where a zygote that starts on the same CPU counts like a cell; among
 * equals one with a warm cell, then the one on this CPU, since waking another CPU is the largest cost. */
static struct gb_shard *choose_shard(struct gb_pool *pool, struct gb_err *err) {
	struct gb_shard *best = NULL;
	unsigned best_cost = 0;
	int here = sched_getcpu();
	const unsigned absent_cost = pool->options.one_by_one ? AHEAD_OF_ABSENT * 4 : 1;
	for (unsigned i = 0; i < pool->n_shards; i++) {
		struct gb_shard *shard = &pool->shards[i];
		unsigned busy = shard->n_active + pool->port->n_starts[shard->cpu];
		unsigned cost = busy * 4 + (shard->n_warm ? 0 : 2) + (shard->cpu == here ? 0 : 1) +
				(shard->absent ? absent_cost : 0);
		if (shard->broken || (best && cost >= best_cost))
			continue;
		best = shard;
		best_cost = cost;
	}
	if (!best && err)
		*err = pool->shards[0].why_broken;
	return best;
}

/* Start the zygote of a broken shard again. The last attempt may have failed for lack of descriptors or
 * processes, or another process may have killed the zygote. */
static bool restart_shard(struct gb_shard *shard, struct gb_err *err) {
	/* Until it is known that the zygote starts, runs must not wait for it. */
	if (!shard->restartable || !gb_shard_start_now(shard, err))
		return false;
	shard->broken = shard->restartable = false;
	return true;
}

static struct gb_shard *restart_any_shard(struct gb_pool *pool, struct gb_err *err) {
	for (unsigned i = 0; i < pool->n_shards; i++)
		if (restart_shard(&pool->shards[i], err))
			return &pool->shards[i];
	return NULL;
}

/* The youngest warm cell that has had the time to prime: its memory is still in the CPU's caches. */
static struct gb_cell *choose_warm(struct gb_shard *shard) {
	uint64_t now = gb_now_ns(), prime_ns = shard->pool->options.prime_ns;
	prime_ns = (prime_ns ? prime_ns : PRIME_NS) + (shard->pool->plan.grouped ? JOIN_NS : 0);
	for (struct gb_list *link = shard->warm.prev; link != &shard->warm; link = link->prev) {
		struct gb_cell *cell = gb_container(struct gb_cell, link, link);
		if (now - cell->ordered_at > prime_ns)
			return cell;
	}
	return gb_list_first(struct gb_cell, &shard->warm, link);
}

struct gb_cell *gb_pool_take(struct gb_pool *pool, void *owner, struct gb_err *err) {
	struct gb_shard *shard = choose_shard(pool, err);
	if (!shard && !(shard = restart_any_shard(pool, err)))
		return NULL;
	struct gb_cell *cell = choose_warm(shard);
	/* The pool is full: use a warm cell of another shard. */
	for (unsigned i = 0; !cell && gb_pool_is_full(pool) && i < pool->n_shards; i++)
		if (!pool->shards[i].broken && (cell = choose_warm(&pool->shards[i])))
			shard = cell->shard;
	if (cell) {
		shard->n_warm--;
		cell->was_warm = true;
		gb_cell_set_state(cell, GB_CELL_ACTIVE, &shard->active);
	} else if (!(cell = gb_cell_make(shard, err))) {
		return NULL;
	}
	cell->owner = owner;
	shard->n_active++;
	/* Order it before queued cells without an owner. */
	if (cell->state == GB_CELL_QUEUED) {
		gb_list_remove(&cell->link);
		gb_list_prepend(&shard->queued, &cell->link);
	}
	gb_shard_order(shard);
	return cell;
}

void gb_shard_refill(struct gb_shard *shard) {
	const struct gb_pool *pool = shard->pool;
	const unsigned prepared = pool->plan.grouped ? GROUPED_MIN : 0;
	const unsigned wanted = pool->options.warm ? pool->options.warm : prepared;
	gb_shard_order(shard);
	for (; shard->ready && !shard->broken && shard->n_warm < wanted && gb_cell_make(shard, NULL);
	     gb_shard_order(shard))
		shard->n_warm++;
}

void gb_pool_refill(struct gb_pool *pool) {
	for (unsigned i = 0; i < pool->n_shards; i++) {
		(void)restart_shard(&pool->shards[i], NULL);
		gb_shard_refill(&pool->shards[i]);
	}
}

void gb_pool_before_wait(struct gb_pool *pool) {
	for (unsigned i = 0; i < pool->n_shards; i++) {
		struct gb_shard *shard = &pool->shards[i];
		shard->quiet = shard->quiet && shard->n_active;
		gb_shard_listen(shard);
		if (!shard->n_active && shard->ready && !shard->broken && gb_list_empty(&shard->queued))
			gb_zygote_send_spares(&shard->zygote);
	}
}

/* --- time --- */

void gb_pool_start_next(struct gb_pool *pool) {
	if (pool->options.one_by_one)
		gb_pool_wake_at(pool, gb_now_ns() + NEXT_START_NS);
}

void gb_pool_wake_at(struct gb_pool *pool, uint64_t at) {
	if (pool->timer_at && pool->timer_at <= at)
		return;
	pool->timer_at = at;
	const struct itimerspec when = {.it_value = {(time_t)(at / 1000000000), (long)(at % 1000000000)}};
	timerfd_settime(pool->timer_fd, TFD_TIMER_ABSTIME, &when, NULL);
}

void gb_pool_retry_later(struct gb_pool *pool) {
	gb_pool_wake_at(pool, gb_now_ns() + RETRY_NS);
}

static bool has_starting_shard(const struct gb_pool *pool) {
	for (unsigned i = 0; i < pool->n_shards; i++) {
		const struct gb_shard *shard = &pool->shards[i];
		if (!shard->absent && !shard->ready && !shard->broken)
			return true;
	}
	return false;
}

/* Without a thread, starting a zygote takes the host milliseconds, so each one is started in a turn of its own. If
 * another failed, this one would fail as well. */
static void start_absent_shard(struct gb_pool *pool) {
	struct gb_err err = {0};
	/* gb_pool_start_next follows. */
	if (pool->options.one_by_one && has_starting_shard(pool))
		return;
	bool broken = gb_pool_state(pool, &err) == GB_POOL_BROKEN;
	for (unsigned i = 0; i < pool->n_shards; i++) {
		struct gb_shard *shard = &pool->shards[i];
		if (!shard->absent)
			continue;
		shard->absent = false;
		if (broken || !gb_shard_start(shard, &err))
			gb_shard_break(shard, &err);
		gb_pool_wake_at(pool, gb_now_ns());
		return;
	}
}

static void kill_zygote(const struct gb_shard *shard) {
	if (shard->zygote.pidfd >= 0)
		syscall(SYS_pidfd_send_signal, shard->zygote.pidfd, SIGKILL, NULL, 0);
}

/* A zygote that was not ready in time is given up. */
static void check_start(struct gb_shard *shard) {
	struct gb_err late = {0};
	if (shard->ready || shard->broken || shard->absent)
		return;
	if (gb_now_ns() < shard->start_until) {
		gb_pool_wake_at(shard->pool, shard->start_until);
		return;
	}
	gb_fail(&late, GB_EWALL, 0,
	    "wall: it did not stand after %d s; the kernel may be stuck (see dmesg and the processes in "
	    "state D), or the machine far too busy",
	    (int)(GB_START_NS / 1000000000));
	kill_zygote(shard);
	gb_shard_break(shard, &late);
}

static void on_timer(struct gb_source *source, uint32_t events) {
	(void)events;
	struct gb_pool *pool = gb_container(struct gb_pool, timer, source);
	uint64_t times;
	if (read(pool->timer_fd, &times, sizeof times) < 0)
		return;
	pool->timer_at = 0;
	start_absent_shard(pool);
	for (unsigned i = 0; i < pool->n_shards; i++) {
		gb_shard_order(&pool->shards[i]);
		check_start(&pool->shards[i]);
	}
}

/* --- create and destroy --- */

static void init_shard(struct gb_pool *pool, int cpu) {
	struct gb_shard *shard = &pool->shards[pool->n_shards++];
	*shard = (struct gb_shard){.pool = pool,
	    .cpu = cpu,
	    .absent = true,
	    .source.fd = -1,
	    .zygote = {.pidfd = -1, .control = -1},
	    .held.pidfd = -1};
	gb_list_init(&shard->queued);
	gb_list_init(&shard->warm);
	gb_list_init(&shard->active);
	gb_list_init(&shard->dying);
}

static void init_shards(struct gb_pool *pool, unsigned wanted) {
	cpu_set_t set;
	CPU_ZERO(&set);
	if (sched_getaffinity(0, sizeof set, &set) != 0)
		CPU_SET(0, &set);
	unsigned max = wanted && wanted < GB_SHARDS_MAX ? wanted : GB_SHARDS_MAX;
	for (int cpu = 0; cpu < CPU_SETSIZE && pool->n_shards < max; cpu++)
		if (CPU_ISSET((size_t)cpu, &set))
			init_shard(pool, cpu);
}

/* A cell needs two descriptors of the host, so the limit on open files also limits the number of cells. */
static uint32_t affordable_cells(uint32_t wanted, unsigned shards) {
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
		return wanted;
	rlim_t spare = SPARE_FDS + (rlim_t)shards * GB_SPARE_SOCKETS;
	rlim_t most = limit.rlim_cur / 2 > spare ? (limit.rlim_cur - spare) / 2 : SPARE_FDS / 2;
	return most < wanted ? (uint32_t)most : wanted;
}

static struct gb_pool *make_pool(
    struct gb_port *port, const struct gb_plan *plan, const struct gb_pool_options *options) {
	struct gb_pool *pool = calloc(1, sizeof *pool);
	if (!pool)
		return NULL;
	pool->port = port;
	pool->loop = port->options.loop;
	pool->options = *options;
	pool->timer_fd = pool->timer.fd = -1;
	init_shards(pool, options->shards);
	const uint32_t max_cells = options->max_cells ? options->max_cells : port->options.max_cells;
	pool->max_cells = affordable_cells(max_cells, pool->n_shards);
	pool->plan = *plan;
	pool->cgroup = plan->layers & GB_LAYER_CGROUP ? port->cgroup : NULL;
	pool->plan.grouped = pool->plan.grouped && pool->cgroup;
	pool->oom_kills = gb_cgroup_oom_kills(pool->cgroup);
	pool->program = strdup(options->program);
	pool->n_slots = 2 * pool->max_cells + DYING_MAX;
	pool->slots = calloc(pool->n_slots, sizeof *pool->slots);
	if (pool->program && pool->slots)
		return pool;
	gb_pool_destroy(pool);
	return NULL;
}

static bool start(struct gb_pool *pool, struct gb_err *err) {
	pool->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (pool->timer_fd < 0)
		return gb_fail(err, GB_ESYSTEM, errno, "timerfd_create");
	if (!gb_loop_add(pool->loop, &pool->timer, pool->timer_fd, GB_LOOP_IN, on_timer, err) ||
	    !gb_shard_start(&pool->shards[0], err))
		return false;
	pool->shards[0].absent = false;
	if (pool->n_shards > 1)
		gb_pool_wake_at(pool, gb_now_ns());
	return true;
}

bool gb_pool_create(struct gb_port *port, const struct gb_plan *plan, const struct gb_pool_options *options,
    struct gb_pool **ret, struct gb_err *err) {
	struct gb_pool *pool = make_pool(port, plan, options);
	if (!pool)
		return gb_fail(err, GB_ENOMEM, 0, "the pool of sandboxes");
	if (!start(pool, err)) {
		gb_pool_destroy(pool);
		return false;
	}
	*ret = pool;
	return true;
}

enum gb_pool_state gb_pool_state(const struct gb_pool *pool, struct gb_err *err) {
	enum gb_pool_state state = GB_POOL_READY;
	for (unsigned i = 0; i < pool->n_shards; i++) {
		const struct gb_shard *shard = &pool->shards[i];
		if (shard->broken) {
			if (err)
				*err = shard->why_broken;
			return GB_POOL_BROKEN;
		}
		if (!shard->ready)
			state = GB_POOL_STARTING;
	}
	return state;
}

void gb_pool_stop(struct gb_pool *pool) {
	struct gb_err why = {0};
	gb_fail(&why, GB_EWALL, 0, "the pool of sandboxes was stopped");
	pool->stopped = true;
	for (unsigned i = 0; i < pool->n_shards; i++) {
		struct gb_shard *shard = &pool->shards[i];
		kill_zygote(shard);
		shard->absent = shard->restartable = false;
		gb_shard_break(shard, &why);
	}
}

bool gb_pool_is_over(const struct gb_pool *pool) {
	if (pool->n_cells || (pool->was_ready && !pool->stopped))
		return false;
	for (unsigned i = 0; i < pool->n_shards; i++) {
		const struct gb_shard *shard = &pool->shards[i];
		if (!shard->broken || shard->restartable || shard->on_thread || shard->zygote.pidfd >= 0)
			return false;
	}
	return true;
}

void gb_pool_destroy(struct gb_pool *pool) {
	if (!pool)
		return;
	for (unsigned i = 0; i < pool->n_shards; i++)
		kill_zygote(&pool->shards[i]);
	for (unsigned i = 0; i < pool->n_shards; i++) {
		struct gb_shard *shard = &pool->shards[i];
		gb_shard_stop(shard);
		struct gb_list *lists[] = {&shard->queued, &shard->warm, &shard->active, &shard->dying};
		for (size_t k = 0; k < GB_COUNT(lists); k++)
			for (struct gb_cell *cell; (cell = gb_list_first(struct gb_cell, lists[k], link));)
				gb_cell_free(cell);
	}
	gb_loop_remove(pool->loop, &pool->timer);
	gb_close_fd(&pool->timer_fd);
	free(pool->slots);
	free(pool->program);
	free(pool);
}

size_t gb_pool_layers(const struct gb_pool *pool, const char **ret, size_t n) {
	const unsigned up = pool->plan.layers & ~(pool->cgroup ? 0u : (unsigned)GB_LAYER_CGROUP);
	size_t count = 0;
	if (!pool->was_ready)
		return 0;
	for (int i = 0; i < GB_LAYER_COUNT; i++)
		if (up & 1u << i) {
			if (count < n)
				ret[count] = gb_layer_name((enum gb_layer)(1u << i));
			count++;
		}
	return count;
}

const char *gb_pool_version(const struct gb_pool *pool) {
	return pool->version;
}
