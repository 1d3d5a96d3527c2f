#include "sandbox/pool.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "sandbox/cgroup.h"
#include "sandbox/zygote.h"

enum {
	MAX_SHARDS = 64,
	MAX_STARTED = 16384, /* processes and threads that all cells of a pool may start */
	/* Orders under way to one zygote. More would only fill the socket's buffer. */
	MAX_ORDERS = 64,
	/* A zygote that dies this often without one cell having ended in between is not started again. */
	MAX_DEATHS = 5,
	/* For everything else that the host does. */
	SPARE_FDS = 64,
	/* Killed and not yet reaped, beyond one for each that lives. */
	DYING_MAX = 256,
	/* Notices that may wait in a zygote's socket while nobody listens, and what one takes there. */
	UNHEARD_MAX = 64,
	NOTICE_ROOM = 2048,
};

/* How long forking and priming a cell takes, with room to spare. */
#define PRIME_NS 800000ull

/* How long a wall may take to stand. It takes milliseconds. */
#define START_NS 30000000000ull

struct gb_shard {
	struct gb_source source;
	struct gb_pool *pool;
	struct gb_zygote zygote;
	int cpu;
	bool ready;
	bool broken;
	bool revivable; /* broken because the host could not start a zygote just then, not because of the wall
			 */
	struct gb_err why_broken;
	unsigned deaths;
	unsigned n_orders; /* given, not yet known to be answered */
	unsigned n_dying;
	unsigned n_awaited; /* cells of which somebody waits for news */
	bool quiet;         /* it need not be listened to just now */
	unsigned unheard_max;
	uint32_t events; /* that the loop listens for */
	struct held {
		struct gb_notice notice;
		int pidfd;
		bool is_held;
	} held; /* a notice that is dealt with from the loop only */
	unsigned n_active;
	struct gb_list queued; /* cells by state, but for those that have ended */
	struct gb_list warm;
	struct gb_list active;
	struct gb_list dying;
	unsigned n_warm; /* ordered or to be ordered */
};

struct gb_pool {
	struct gb_loop *loop;
	struct gb_pool_options options;
	struct gb_plan plan;
	char *program;
	struct gb_cgroup *cgroup; /* NULL where there is none */
	uint64_t oom_kills;
	uint32_t n_cells; /* dying ones included */
	uint32_t n_dying;
	uint32_t next_slot;
	uint32_t n_slots;       /* as many again, and some, may be dying */
	struct gb_cell **slots; /* a cell's id is its slot plus a multiple of n_slots */
	unsigned n_shards;
	struct gb_shard shards[MAX_SHARDS];
};

static void on_control(struct gb_source *source, uint32_t events);

/* --- listening to zygotes --- */

/* What a zygote has to tell can mostly wait until the host is at it anyway, and to be woken for it is dear
 * beside a short run. So while somebody waits for a cell that was made for them, nobody listens as long as
 * nothing depends on it: whether a cell dies is known by its socket, and that a zygote does is heard in any
 * case. But a zygote must not have to wait for room to tell. */
static void listen_if_needed(struct gb_shard *shard) {
	bool needed = !shard->quiet || !shard->ready || shard->broken || shard->n_awaited ||
		      !gb_list_empty(&shard->queued) || shard->n_orders + shard->n_dying > shard->unheard_max;
	/* The socket can always be written to, more or less: the loop has its turn at once. */
	uint32_t events = (needed ? EPOLLIN : 0) | (shard->held.is_held ? EPOLLOUT : 0);
	if (events == shard->events || shard->source.fd < 0)
		return;
	shard->events = events;
	gb_loop_change(shard->pool->loop, &shard->source, events);
}

static void await_news(struct gb_cell *cell, bool awaited) {
	struct gb_shard *shard = cell->shard;
	shard->n_awaited += (unsigned)awaited - (unsigned)cell->awaited;
	cell->awaited = awaited;
	listen_if_needed(shard);
}

/* --- cells --- */

static void free_cell(struct gb_cell *cell) {
	struct gb_pool *pool = cell->shard->pool;
	await_news(cell, false);
	gb_list_remove(&cell->link);
	gb_loop_remove(pool->loop, &cell->source);
	gb_close_fd(&cell->fd);
	gb_close_fd(&cell->worker_fd);
	gb_close_fd(&cell->pidfd);
	pool->slots[cell->id % pool->n_slots] = NULL;
	pool->n_cells--;
	pool->n_dying -= cell->state == GB_CELL_DYING;
	cell->shard->n_dying -= cell->state == GB_CELL_DYING;
	free(cell);
}

static bool is_full(const struct gb_pool *pool) {
	return pool->n_cells - pool->n_dying >= pool->options.max_cells || pool->n_cells == pool->n_slots;
}

static bool fill_slot(struct gb_pool *pool, struct gb_cell *cell) {
	if (is_full(pool))
		return false;
	do
		pool->next_slot++;
	while (pool->slots[pool->next_slot % pool->n_slots]);
	cell->id = pool->next_slot;
	pool->slots[cell->id % pool->n_slots] = cell;
	pool->n_cells++;
	return true;
}

static struct gb_cell *find_cell(struct gb_pool *pool, uint32_t id) {
	struct gb_cell *cell = pool->slots[id % pool->n_slots];
	return cell && cell->id == id ? cell : NULL;
}

static void on_cell_ready(struct gb_source *source, uint32_t events) {
	struct gb_cell *cell = (struct gb_cell *)source;
	struct gb_pool *pool = cell->shard->pool;
	if (cell->owner)
		pool->options.on_ready(cell, events);
	else { /* a warm cell has nothing to say: it is dying, and its zygote will tell */
		gb_loop_remove(pool->loop, source);
		await_news(cell, true);
	}
}

/* One end of a socket for @cell. If it can be ordered at once, one whose other end the zygote has already. */
static bool connect_cell(struct gb_shard *shard, struct gb_cell *cell, struct gb_err *err) {
	bool at_once = !shard->broken && gb_list_empty(&shard->queued) && shard->n_orders < MAX_ORDERS;
	cell->worker_fd = -1;
	if (at_once && gb_zygote_take_spare(&shard->zygote, &cell->fd, &cell->spare))
		return true;
	int pair[2];
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
		return gb_fail(err, GB_ESYSTEM, errno, "socketpair for a sandbox");
	cell->fd = pair[0];
	cell->worker_fd = pair[1];
	return true;
}

static bool enter_pool(struct gb_pool *pool, struct gb_cell *cell, struct gb_err *err) {
	if (!gb_loop_add(pool->loop, &cell->source, cell->fd, EPOLLIN, on_cell_ready, err))
		return false;
	if (fill_slot(pool, cell))
		return true;
	gb_loop_remove(pool->loop, &cell->source);
	return gb_fail(err, GB_EBUSY, 0,
	    "all %u sandboxes are in use: wait for a run to end, or raise max_runs (or the limit on open "
	    "files)",
	    pool->options.max_cells);
}

static struct gb_cell *make_cell(struct gb_shard *shard, struct gb_err *err) {
	gb_auto_free struct gb_cell *cell = calloc(1, sizeof *cell);
	if (!cell) {
		gb_fail(err, GB_ENOMEM, 0, "a sandbox");
		return NULL;
	}
	if (!connect_cell(shard, cell, err))
		return NULL;
	if (!enter_pool(shard->pool, cell, err)) {
		gb_close_fd(&cell->fd);
		gb_close_fd(&cell->worker_fd);
		return NULL;
	}
	cell->pidfd = -1;
	cell->shard = shard;
	cell->state = GB_CELL_QUEUED;
	gb_list_init(&cell->link);
	gb_list_append(&shard->queued, &cell->link);
	return gb_take_pointer(&cell);
}

static void set_state(struct gb_cell *cell, enum gb_cell_state state, struct gb_list *list) {
	gb_list_remove(&cell->link);
	cell->state = state;
	if (list)
		gb_list_append(list, &cell->link);
}

/* The process of @cell is gone, or never came. */
static void end_cell(struct gb_cell *cell, const struct gb_cell_end *end) {
	if (!cell->owner) {
		if (cell->state != GB_CELL_DYING)
			cell->shard->n_warm--;
		free_cell(cell);
		return;
	}
	set_state(cell, GB_CELL_ENDED, NULL);
	await_news(cell, false);
	gb_close_fd(&cell->pidfd);
	cell->shard->pool->options.on_end(cell, end);
}

/* All that the shard's zygote had in hand, and with @queued also what was still to be ordered. An owner's
 * callback may release any cell and take new ones: all are marked as ended before the first is called, and
 * those that are taken meanwhile are not among them. */
static void end_cells(struct gb_shard *shard, bool queued, const struct gb_cell_end *end) {
	struct gb_list *lists[] = {&shard->dying, &shard->warm, &shard->active, &shard->queued}, ended;
	gb_list_init(&ended);
	for (size_t i = 0; i < GB_COUNT(lists) - !queued; i++)
		for (struct gb_cell *cell; (cell = gb_list_first(struct gb_cell, lists[i], link));) {
			if (!cell->owner) {
				end_cell(cell, end);
				continue;
			}
			set_state(cell, GB_CELL_ENDED, &ended);
			await_news(cell, false);
			gb_close_fd(&cell->pidfd);
		}
	for (struct gb_cell *cell; (cell = gb_list_first(struct gb_cell, &ended, link));) {
		gb_list_remove(&cell->link);
		shard->pool->options.on_end(cell, end);
	}
}

/* --- shards --- */

static void order_queued(struct gb_shard *shard) {
	struct gb_cell *cell;
	while (shard->n_orders < MAX_ORDERS && !shard->broken &&
	       (cell = gb_list_first(struct gb_cell, &shard->queued, link))) {
		/* Somebody who waits wants an answer, not a warm cell. */
		uint32_t flags = cell->owner ? 0 : GB_FORK_PRIME;
		struct gb_zygote *zygote = &shard->zygote;
		if (!(cell->worker_fd < 0 ? gb_zygote_fork_spare(zygote, cell->id, cell->spare, flags, NULL)
					  : gb_zygote_fork(zygote, cell->id, cell->worker_fd, flags, NULL)))
			break; /* tried again at the next notice; a dead zygote is noticed on its own */
		gb_close_fd(&cell->worker_fd);
		cell->ordered_at = gb_now_ns();
		shard->n_orders++;
		shard->quiet = shard->quiet || cell->owner;
		if (cell->owner)
			set_state(cell, GB_CELL_ACTIVE, &shard->active);
		else
			set_state(cell, GB_CELL_WARM, &shard->warm);
	}
	listen_if_needed(shard);
}

/* As many notices as surely fit into the zygote's end of the socket, which is like ours. */
static unsigned unheard_max(const struct gb_shard *shard) {
	int room = 0;
	socklen_t n = sizeof room;
	if (getsockopt(shard->zygote.control, SOL_SOCKET, SO_SNDBUF, &room, &n) != 0 || room < 0)
		return 0;
	unsigned fit = (unsigned)room / NOTICE_ROOM, max = UNHEARD_MAX / shard->pool->n_shards;
	return fit < max ? fit : max;
}

static bool start_zygote(struct gb_shard *shard, struct gb_err *err) {
	struct gb_pool *pool = shard->pool;
	struct gb_plan plan = pool->plan;
	plan.cpu = shard->cpu;
	shard->n_orders = 0;
	shard->ready = false;
	shard->events = EPOLLIN;
	if (!gb_zygote_spawn(&shard->zygote, &plan, pool->program, pool->cgroup, err))
		return false;
	shard->unheard_max = unheard_max(shard);
	if (gb_loop_add(pool->loop, &shard->source, shard->zygote.control, EPOLLIN, on_control, err))
		return true;
	gb_zygote_finish(&shard->zygote);
	return false;
}

static void stop_zygote(struct gb_shard *shard) {
	gb_loop_remove(shard->pool->loop, &shard->source);
	gb_zygote_finish(&shard->zygote);
	gb_close_fd(&shard->held.pidfd);
	shard->held.is_held = false;
}

static void break_shard(struct gb_shard *shard, const struct gb_err *why) {
	shard->broken = true;
	shard->why_broken = *why;
	struct gb_cell_end end = {.fate = GB_CELL_REFUSED};
	snprintf(end.reason, sizeof end.reason, "%.250s", why->message);
	/* Also those that were ordered before it was known. */
	end_cells(shard, true, &end);
}

/* The zygote is dead and all its cells with it: tell their owners, start another. */
static void replace_zygote(struct gb_shard *shard) {
	struct gb_cell_end lost = {.fate = GB_CELL_LOST};
	char how[80];
	gb_zygote_obituary(&shard->zygote, how, sizeof how);
	snprintf(lost.reason, sizeof lost.reason, "the zygote that this run's sandbox came from %s", how);
	stop_zygote(shard);

	struct gb_err err = {0};
	bool again = ++shard->deaths < MAX_DEATHS && start_zygote(shard, &err);
	if (!again && !err.code)
		gb_fail(&err, GB_EWALL, 0, "the zygote died %u times in a row; the last one %s",
		    shard->deaths, how);
	shard->revivable = !again && shard->deaths < MAX_DEATHS;
	/* The old one had the other end of its socket. There is one at most: none is taken while others wait.
	 */
	gb_list_each(struct gb_cell, cell, &shard->queued, link) if (cell->worker_fd < 0) {
		set_state(cell, GB_CELL_ACTIVE, &shard->active);
		break;
	}
	/* Whom a callback starts now must not land here. */
	shard->broken = !again;
	shard->why_broken = err;
	end_cells(shard, false, &lost);
	if (!again)
		break_shard(shard, &err);
}

static void note_forked(struct gb_shard *shard, const struct gb_notice *notice, int pidfd) {
	if (shard->n_orders)
		shard->n_orders--;
	struct gb_cell *cell = find_cell(shard->pool, notice->cell);
	if (pidfd < 0 && !notice->error) {
		/* The host had no room for the descriptor: the process is there and nothing can end it but
		 * its zygote's death. */
		syscall(SYS_pidfd_send_signal, shard->zygote.pidfd, SIGKILL, NULL, 0);
	} else if (cell && pidfd < 0) {
		struct gb_cell_end end = {.fate = GB_CELL_REFUSED};
		snprintf(end.reason, sizeof end.reason, "fork a sandbox: %s", strerrordesc_np(notice->error));
		end_cell(cell, &end);
	} else if (cell) {
		cell->pidfd = gb_take_fd(&pidfd);
		if (cell->kill_wanted)
			gb_cell_signal(cell, SIGKILL);
		if (cell->state == GB_CELL_DYING)
			await_news(cell, false);
	} else if (pidfd >= 0) {
		/* Nobody's: it must not live on. */
		syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
	}
	gb_close_fd(&pidfd);
}

/* Has the kernel killed in the pool's group since this was last asked? */
static bool kernel_ran_out_of_memory(struct gb_pool *pool) {
	uint64_t before = pool->oom_kills;
	if (pool->cgroup)
		pool->oom_kills = gb_cgroup_oom_kills(pool->cgroup);
	return pool->oom_kills > before;
}

static void note_exited(struct gb_shard *shard, const struct gb_notice *notice) {
	shard->deaths = 0;
	struct gb_pool *pool = shard->pool;
	struct gb_cell *cell = find_cell(pool, notice->cell);
	if (!cell)
		return;
	struct gb_cell_end end = {
	    .fate = GB_CELL_EXITED,
	    .wait_status = notice->wait_status,
	    .max_rss_bytes = (uint64_t)notice->max_rss_kb << 10,
	};
	if (WIFSIGNALED(end.wait_status) && WTERMSIG(end.wait_status) == SIGKILL && cell->owner)
		end.out_of_memory = kernel_ran_out_of_memory(pool);
	end_cell(cell, &end);
}

static void handle_notice(struct gb_shard *shard, const struct gb_notice *notice, int pidfd) {
	struct gb_err why = {0};
	switch (notice->kind) {
	case GB_NOTICE_READY:
		shard->ready = true;
		break;
	case GB_NOTICE_FAILED:
		gb_notice_fail(notice, &why);
		break_shard(shard, &why);
		break;
	case GB_NOTICE_FORKED:
		note_forked(shard, notice, pidfd);
		break;
	case GB_NOTICE_EXITED:
		note_exited(shard, notice);
		break;
	}
}

static void on_control(struct gb_source *source, uint32_t events) {
	(void)events;
	struct gb_shard *shard = (struct gb_shard *)source;
	struct held *held = &shard->held;
	if (held->is_held) {
		held->is_held = false;
		handle_notice(shard, &held->notice, gb_take_fd(&held->pidfd));
	}
	struct gb_notice notice;
	int pidfd;
	enum gb_zygote_status status;
	while ((status = gb_zygote_next(&shard->zygote, &notice, &pidfd)) == GB_ZYGOTE_NOTICE)
		handle_notice(shard, &notice, pidfd);
	if (status == GB_ZYGOTE_GONE && shard->broken)
		stop_zygote(shard);
	else if (status == GB_ZYGOTE_GONE)
		replace_zygote(shard);
	order_queued(shard);
}

static bool calls_an_owner(struct gb_pool *pool, const struct gb_notice *notice) {
	if (notice->kind == GB_NOTICE_READY || notice->kind == GB_NOTICE_FAILED)
		return true;
	struct gb_cell *cell = find_cell(pool, notice->cell);
	return cell && cell->owner && (notice->kind == GB_NOTICE_EXITED || notice->error);
}

/* Take in what the zygote has told, until it has told which process @cell is. That may be of a failure, after
 * which there is no cell. Whoever asks must not be called back meanwhile: what would do that is held. */
static void hear_of(struct gb_cell *cell) {
	struct gb_shard *shard = cell->shard;
	const uint32_t id = cell->id;
	struct held *held = &shard->held;
	while ((cell = find_cell(shard->pool, id)) && cell->pidfd < 0 && !held->is_held &&
	       gb_zygote_next(&shard->zygote, &held->notice, &held->pidfd) == GB_ZYGOTE_NOTICE) {
		held->is_held = calls_an_owner(shard->pool, &held->notice);
		if (!held->is_held)
			handle_notice(shard, &held->notice, gb_take_fd(&held->pidfd));
	}
	listen_if_needed(shard);
}

/* --- the pool --- */

/* The shard that has least to do; among equals one that has a warm cell, then the one on this CPU, since
 * waking another CPU costs more than everything else. */
static struct gb_shard *choose_shard(struct gb_pool *pool, struct gb_err *err) {
	struct gb_shard *best = NULL;
	unsigned best_cost = 0;
	int here = sched_getcpu();
	for (unsigned i = 0; i < pool->n_shards; i++) {
		struct gb_shard *shard = &pool->shards[i];
		unsigned cost = shard->n_active * 4 + (shard->n_warm ? 0 : 2) + (shard->cpu == here ? 0 : 1);
		if (shard->broken || (best && cost >= best_cost))
			continue;
		best = shard;
		best_cost = cost;
	}
	if (!best && err)
		*err = pool->shards[0].why_broken;
	return best;
}

/* The host may have had no descriptor or no process left when it last tried. */
static struct gb_shard *revive_shard(struct gb_pool *pool, struct gb_err *err) {
	for (unsigned i = 0; i < pool->n_shards; i++) {
		struct gb_shard *shard = &pool->shards[i];
		if (shard->revivable && start_zygote(shard, err)) {
			shard->broken = shard->revivable = false;
			return shard;
		}
	}
	return NULL;
}

/* The youngest warm cell that has had the time to prime: its memory is still in the CPU's caches. */
static struct gb_cell *choose_warm(struct gb_shard *shard) {
	uint64_t now = gb_now_ns(), prime_ns = shard->pool->options.prime_ns;
	prime_ns = prime_ns ? prime_ns : PRIME_NS;
	for (struct gb_list *link = shard->warm.prev; link != &shard->warm; link = link->prev) {
		struct gb_cell *cell = gb_container(struct gb_cell, link, link);
		if (now - cell->ordered_at > prime_ns)
			return cell;
	}
	return gb_list_first(struct gb_cell, &shard->warm, link);
}

struct gb_cell *gb_pool_take(struct gb_pool *pool, void *owner, struct gb_err *err) {
	struct gb_shard *shard = choose_shard(pool, err);
	if (!shard && !(shard = revive_shard(pool, err)))
		return NULL;
	struct gb_cell *cell = choose_warm(shard);
	/* No room for another: a warm one of another shard will do. */
	for (unsigned i = 0; !cell && is_full(pool) && i < pool->n_shards; i++)
		if (!pool->shards[i].broken && (cell = choose_warm(&pool->shards[i])))
			shard = cell->shard;
	if (cell) {
		shard->n_warm--;
		set_state(cell, GB_CELL_ACTIVE, &shard->active);
	} else if (!(cell = make_cell(shard, err))) {
		return NULL;
	}
	cell->owner = owner;
	shard->n_active++;
	/* Before those that nobody waits for. */
	if (cell->state == GB_CELL_QUEUED) {
		gb_list_remove(&cell->link);
		gb_list_prepend(&shard->queued, &cell->link);
	}
	order_queued(shard);
	return cell;
}

void gb_pool_refill(struct gb_pool *pool) {
	for (unsigned i = 0; i < pool->n_shards; i++) {
		struct gb_shard *shard = &pool->shards[i];
		order_queued(shard);
		for (; !shard->broken && shard->n_warm < pool->options.warm && make_cell(shard, NULL);
		     order_queued(shard))
			shard->n_warm++;
	}
}

void gb_pool_rest(struct gb_pool *pool) {
	for (unsigned i = 0; i < pool->n_shards; i++) {
		struct gb_shard *shard = &pool->shards[i];
		shard->quiet = shard->quiet && shard->n_active;
		listen_if_needed(shard);
		if (!shard->n_active && !shard->broken && gb_list_empty(&shard->queued))
			gb_zygote_stock_up(&shard->zygote);
	}
}

void gb_cell_kill(struct gb_cell *cell) {
	cell->kill_wanted = true;
	await_news(cell, true);
	gb_cell_signal(cell, SIGKILL);
}

bool gb_cell_signal(struct gb_cell *cell, int signal) {
	if (cell->pidfd < 0)
		hear_of(cell);
	return cell->pidfd >= 0 && syscall(SYS_pidfd_send_signal, cell->pidfd, signal, NULL, 0) == 0;
}

void gb_cell_release(struct gb_cell *cell) {
	struct gb_shard *shard = cell->shard;
	const uint32_t id = cell->id;
	cell->owner = NULL;
	shard->n_active--;
	if (cell->state == GB_CELL_QUEUED || cell->state == GB_CELL_ENDED) {
		free_cell(cell);
		return;
	}
	shard->pool->n_dying++;
	shard->n_dying++;
	set_state(cell, GB_CELL_DYING, &shard->dying);
	if (cell->pidfd < 0)
		hear_of(cell);
	if (!(cell = find_cell(shard->pool, id)))
		return;
	/* Without one it is killed when the zygote has answered. */
	cell->kill_wanted = true;
	await_news(cell, cell->pidfd < 0);
	if (cell->pidfd >= 0)
		gb_cell_signal(cell, SIGKILL);
	gb_loop_remove(shard->pool->loop, &cell->source);
	gb_close_fd(&cell->fd);
	gb_close_fd(&cell->pidfd);
}

static bool await_walls(struct gb_pool *pool, struct gb_err *err) {
	uint64_t deadline = gb_now_ns() + START_NS;
	for (unsigned i = 0; i < pool->n_shards; i++) {
		struct gb_shard *shard = &pool->shards[i];
		while (!shard->ready && !shard->broken) {
			if (gb_now_ns() > deadline)
				return gb_fail(err, GB_EWALL, 0,
				    "wall: it did not stand after %d s; the kernel may be stuck (see dmesg "
				    "and the "
				    "processes in state D), or the machine far too busy",
				    (int)(START_NS / 1000000000));
			if (gb_loop_dispatch(pool->loop, 1000) < 0 && errno != EINTR)
				return gb_fail(err, GB_ESYSTEM, errno, "wait for the zygotes");
		}
		if (shard->broken) {
			if (err)
				*err = shard->why_broken;
			return false;
		}
	}
	return true;
}

static void init_shard(struct gb_pool *pool, int cpu) {
	struct gb_shard *shard = &pool->shards[pool->n_shards++];
	*shard = (struct gb_shard){.pool = pool,
	    .cpu = cpu,
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
	unsigned max = wanted && wanted < MAX_SHARDS ? wanted : MAX_SHARDS;
	for (int cpu = 0; cpu < CPU_SETSIZE && pool->n_shards < max; cpu++)
		if (CPU_ISSET((size_t)cpu, &set))
			init_shard(pool, cpu);
}

/* A cell takes two descriptors of the host. Where they would run out first, that is the limit. */
static uint32_t affordable_cells(uint32_t wanted, unsigned shards) {
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
		return wanted;
	rlim_t spare = SPARE_FDS + (rlim_t)shards * GB_SPARE_SOCKETS;
	rlim_t most = limit.rlim_cur / 2 > spare ? (limit.rlim_cur - spare) / 2 : SPARE_FDS / 2;
	return most < wanted ? (uint32_t)most : wanted;
}

static struct gb_pool *make_pool(struct gb_loop *loop, const struct gb_pool_options *options) {
	struct gb_pool *pool = calloc(1, sizeof *pool);
	if (!pool)
		return NULL;
	pool->loop = loop;
	pool->options = *options;
	init_shards(pool, options->shards);
	pool->options.max_cells = affordable_cells(options->max_cells, pool->n_shards);
	pool->plan = *options->plan;
	pool->program = strdup(options->program);
	pool->n_slots = 2 * pool->options.max_cells + DYING_MAX;
	pool->slots = calloc(pool->n_slots, sizeof *pool->slots);
	if (pool->program && pool->slots)
		return pool;
	gb_pool_destroy(pool);
	return NULL;
}

bool gb_pool_create(
    struct gb_loop *loop, const struct gb_pool_options *options, struct gb_pool **ret, struct gb_err *err) {
	struct gb_pool *pool = make_pool(loop, options);
	if (!pool)
		return gb_fail(err, GB_ENOMEM, 0, "the pool of sandboxes");
	const struct gb_cgroup_limits limits = {options->memory_bytes,
	    pool->n_slots + MAX_SHARDS + (options->plan->room == GB_ROOM_EMPTY ? 0 : MAX_STARTED)};
	/* A group is for all cells together; one cell alone has its own limits, and starts without the
	 * milliseconds that moving into a group can take. */
	if ((pool->plan.layers & GB_LAYER_CGROUP) && options->max_cells > 1)
		(void)gb_cgroup_create(&limits, &pool->cgroup, NULL); /* the one layer that may be absent */
	bool up = true;
	for (unsigned i = 0; i < pool->n_shards && up; i++)
		up = start_zygote(&pool->shards[i], err);
	if (!up || !await_walls(pool, err)) {
		gb_pool_destroy(pool);
		return false;
	}
	gb_pool_refill(pool);
	gb_pool_rest(pool);
	*ret = pool;
	return true;
}

void gb_pool_destroy(struct gb_pool *pool) {
	if (!pool)
		return;
	for (unsigned i = 0; i < pool->n_shards; i++) {
		struct gb_shard *shard = &pool->shards[i];
		stop_zygote(shard);
		struct gb_list *lists[] = {&shard->queued, &shard->warm, &shard->active, &shard->dying};
		for (size_t k = 0; k < GB_COUNT(lists); k++)
			for (struct gb_cell *cell; (cell = gb_list_first(struct gb_cell, lists[k], link));)
				free_cell(cell);
	}
	gb_cgroup_destroy(pool->cgroup);
	free(pool->slots);
	free(pool->program);
	free(pool);
}

unsigned gb_pool_layers(const struct gb_pool *pool) {
	return pool->plan.layers & ~(pool->cgroup ? 0u : (unsigned)GB_LAYER_CGROUP);
}
