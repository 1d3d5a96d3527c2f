/* The functions of single cells. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sandbox/linux/priority.h"
#include "sandbox/linux/protocol.h"
#include "sandbox/linux/shard.h"

/* The control group's limit on tasks is higher by this much, so that programs reach the limit of the user
 * namespace first. */
enum { SPARE_TASKS = 16 };

void gb_cell_await(struct gb_cell *cell, bool awaited) {
	struct gb_shard *shard = cell->shard;
	shard->n_awaited += (unsigned)awaited - (unsigned)cell->awaited;
	cell->awaited = awaited;
	gb_shard_listen(shard);
}

static void drop_network(struct gb_cell *cell, const struct gb_pool_options *options) {
	gb_close_fd(&cell->network_fd);
	if (cell->network)
		options->close_network(cell->network);
	cell->network = NULL;
}

void gb_cell_free(struct gb_cell *cell) {
	struct gb_pool *pool = cell->shard->pool;
	gb_cell_await(cell, false);
	gb_list_remove(&cell->link);
	gb_loop_remove(pool->loop, &cell->source);
	gb_close_fd(&cell->fd);
	gb_close_fd(&cell->worker_fd);
	gb_close_fd(&cell->pidfd);
	gb_cell_group_give_back(cell->group);
	drop_network(cell, &pool->options);
	pool->slots[cell->id % pool->n_slots] = NULL;
	pool->n_cells--;
	pool->n_dying -= cell->state == GB_CELL_DYING;
	cell->shard->n_dying -= cell->state == GB_CELL_DYING;
	free(cell);
}

bool gb_pool_is_full(const struct gb_pool *pool) {
	return pool->n_cells - pool->n_dying >= pool->max_cells || pool->n_cells == pool->n_slots;
}

static bool fill_slot(struct gb_pool *pool, struct gb_cell *cell) {
	if (gb_pool_is_full(pool))
		return false;
	do
		pool->next_slot++;
	while (pool->slots[pool->next_slot % pool->n_slots]);
	cell->id = pool->next_slot;
	pool->slots[cell->id % pool->n_slots] = cell;
	pool->n_cells++;
	return true;
}

struct gb_cell *gb_pool_find(struct gb_pool *pool, uint32_t id) {
	struct gb_cell *cell = pool->slots[id % pool->n_slots];
	return cell && cell->id == id ? cell : NULL;
}

static void on_cell_ready(struct gb_source *source, uint32_t events) {
	struct gb_cell *cell = (struct gb_cell *)source;
	struct gb_pool *pool = cell->shard->pool;
	if (cell->owner)
		pool->options.on_ready(cell, events);
	else { /* a warm cell sends nothing, so it is dying: wait for the zygote's notice */
		gb_loop_remove(pool->loop, source);
		gb_cell_await(cell, true);
	}
}

/* Give @cell its socket: a spare one, whose other end the zygote already has, if the cell can be ordered at
 * once. */
static bool connect_cell(struct gb_shard *shard, struct gb_cell *cell, struct gb_err *err) {
	bool at_once = !cell->group && cell->network_fd < 0 && shard->ready && !shard->broken &&
		       gb_list_empty(&shard->queued) && shard->n_orders < GB_ORDERS_MAX;
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
	if (!gb_loop_add(pool->loop, &cell->source, cell->fd, GB_LOOP_IN, on_cell_ready, err))
		return false;
	if (fill_slot(pool, cell))
		return true;
	gb_loop_remove(pool->loop, &cell->source);
	return gb_fail(err, GB_EBUSY, 0,
	    "all %u sandboxes are in use: wait for a run to end, or raise max_runs (or the limit on open "
	    "files)",
	    pool->max_cells);
}

struct gb_cell *gb_cell_make(struct gb_shard *shard, struct gb_err *err) {
	gb_auto_free struct gb_cell *cell = calloc(1, sizeof *cell);
	if (!cell) {
		gb_fail(err, GB_ENOMEM, 0, "a sandbox");
		return NULL;
	}
	const struct gb_pool *pool = shard->pool;
	/* If cells have groups of their own, none starts without one. */
	if (pool->plan.grouped && !(cell->group = gb_cell_group_take(pool->cgroup, pool->options.cell_memory,
					pool->plan.contents.max_processes + SPARE_TASKS, err)))
		return NULL;
	cell->network_fd = cell->fd = cell->worker_fd = -1;
	if (pool->plan.network)
		cell->network_fd = pool->options.open_network(pool->options.data, &cell->network, err);
	const bool has_network = !pool->plan.network || cell->network_fd >= 0;
	if (!has_network || !connect_cell(shard, cell, err) || !enter_pool(shard->pool, cell, err)) {
		gb_close_fd(&cell->fd);
		gb_close_fd(&cell->worker_fd);
		gb_cell_group_give_back(cell->group);
		drop_network(cell, &pool->options);
		return NULL;
	}
	cell->pidfd = -1;
	cell->shard = shard;
	cell->state = GB_CELL_QUEUED;
	gb_list_init(&cell->link);
	gb_list_append(&shard->queued, &cell->link);
	return gb_take_pointer(&cell);
}

void gb_cell_set_state(struct gb_cell *cell, enum gb_cell_state state, struct gb_list *list) {
	gb_list_remove(&cell->link);
	cell->state = state;
	if (list)
		gb_list_append(list, &cell->link);
}

void gb_cell_finish(struct gb_cell *cell, const struct gb_cell_end *end) {
	if (!cell->owner) {
		if (cell->state != GB_CELL_DYING)
			cell->shard->n_warm--;
		gb_cell_free(cell);
		return;
	}
	gb_cell_set_state(cell, GB_CELL_ENDED, NULL);
	gb_cell_await(cell, false);
	gb_close_fd(&cell->pidfd);
	cell->shard->pool->options.on_end(cell, end);
}

void gb_shard_end_cells(struct gb_shard *shard, bool queued, const struct gb_cell_end *end) {
	struct gb_list *lists[] = {&shard->dying, &shard->warm, &shard->active, &shard->queued}, ended;
	gb_list_init(&ended);
	for (size_t i = 0; i < GB_COUNT(lists) - !queued; i++)
		for (struct gb_cell *cell; (cell = gb_list_first(struct gb_cell, lists[i], link));) {
			if (!cell->owner) {
				gb_cell_finish(cell, end);
				continue;
			}
			gb_cell_set_state(cell, GB_CELL_ENDED, &ended);
			gb_cell_await(cell, false);
			gb_close_fd(&cell->pidfd);
		}
	for (struct gb_cell *cell; (cell = gb_list_first(struct gb_cell, &ended, link));) {
		gb_list_remove(&cell->link);
		shard->pool->options.on_end(cell, end);
	}
}

void gb_cell_signal(struct gb_cell *cell) {
	const int number = cell->interrupt_wanted;
	cell->interrupt_wanted = 0;
	if (cell->kill_wanted) {
		syscall(SYS_pidfd_send_signal, cell->pidfd, SIGKILL, NULL, 0);
	} else if (number) {
		siginfo_t info = {.si_code = SI_QUEUE};
		info.si_signo = number == cell->interrupted ? GB_SIGNAL_AGAIN : SIGINT;
		info.si_value.sival_int = number;
		syscall(SYS_pidfd_send_signal, cell->pidfd, info.si_signo, &info, 0);
		cell->interrupted = number;
	}
}

/* A cell may send messages before its zygote has sent its pidfd. */
static void signal_soon(struct gb_cell *cell) {
	if (cell->pidfd >= 0)
		gb_cell_signal(cell);
	else
		gb_shard_read_notices_for(cell);
}

void *gb_cell_network(const struct gb_cell *cell) {
	return cell->network;
}

void *gb_cell_owner(const struct gb_cell *cell) {
	return cell->owner;
}

void gb_cell_set_owner(struct gb_cell *cell, void *owner) {
	cell->owner = owner;
}

int gb_cell_fd(const struct gb_cell *cell) {
	return cell->fd;
}

void gb_cell_listen(struct gb_cell *cell, uint32_t events) {
	gb_loop_change(cell->shard->pool->loop, &cell->source, events);
}

void gb_cell_ignore(struct gb_cell *cell) {
	gb_loop_remove(cell->shard->pool->loop, &cell->source);
}

bool gb_cell_is_waiting(const struct gb_cell *cell) {
	return cell->state == GB_CELL_QUEUED && !cell->shard->ready;
}

bool gb_cell_was_warm(const struct gb_cell *cell) {
	return cell->was_warm;
}

bool gb_cell_is_older(const struct gb_cell *cell, uint64_t time) {
	return cell->ordered_at < time;
}

void gb_cell_limit_memory(struct gb_cell *cell, uint64_t bytes) {
	if (cell->group)
		gb_cell_group_limit(cell->group, bytes);
}

void gb_cell_yield_cpu(struct gb_cell *cell, bool yields) {
	if (cell->yields == yields && !yields)
		return;
	cell->yields = yields;
	if (cell->group && gb_cell_group_yield_cpu(cell->group, yields))
		return;
	struct gb_pool *pool = cell->shard->pool;
	const uint32_t id = cell->id;
	if (cell->pidfd < 0)
		gb_shard_read_notices_for(cell);
	if ((cell = gb_pool_find(pool, id)) && cell->pidfd >= 0)
		gb_priority_set(cell->pidfd, yields);
}

void gb_cell_kill(struct gb_cell *cell) {
	cell->kill_wanted = true;
	gb_cell_await(cell, true);
	signal_soon(cell);
}

void gb_cell_interrupt(struct gb_cell *cell, int job) {
	if (cell->state == GB_CELL_ENDED || cell->kill_wanted)
		return;
	cell->interrupt_wanted = job;
	if (job && cell->pidfd < 0)
		gb_cell_await(cell, true);
	if (job)
		signal_soon(cell);
}

/* Kill it, and free it when it has been reaped. */
static void end_cell(struct gb_cell *cell) {
	struct gb_shard *shard = cell->shard;
	const uint32_t id = cell->id;
	/* Its connections end now. */
	drop_network(cell, &shard->pool->options);
	if (cell->state == GB_CELL_QUEUED || cell->state == GB_CELL_ENDED) {
		gb_cell_free(cell);
		return;
	}
	shard->pool->n_dying++;
	shard->n_dying++;
	gb_cell_set_state(cell, GB_CELL_DYING, &shard->dying);
	if (cell->pidfd < 0)
		gb_shard_read_notices_for(cell);
	if (!(cell = gb_pool_find(shard->pool, id)))
		return;
	/* Without a pidfd, it is killed when the zygote has sent it. */
	cell->kill_wanted = true;
	gb_cell_await(cell, cell->pidfd < 0);
	if (cell->pidfd >= 0)
		gb_cell_signal(cell);
	gb_loop_remove(shard->pool->loop, &cell->source);
	gb_close_fd(&cell->fd);
	gb_close_fd(&cell->pidfd);
}

void gb_cell_release(struct gb_cell *cell) {
	cell->owner = NULL;
	cell->shard->n_active--;
	end_cell(cell);
}

void gb_pool_discard(struct gb_pool *pool) {
	for (unsigned i = 0; i < pool->n_shards; i++) {
		struct gb_shard *shard = &pool->shards[i];
		for (struct gb_cell *cell; (cell = gb_list_first(struct gb_cell, &shard->warm, link));) {
			shard->n_warm--;
			end_cell(cell);
		}
		gb_list_each(struct gb_cell, cell, &shard->queued, link) {
			if (cell->owner)
				continue;
			shard->n_warm--;
			end_cell(cell);
		}
	}
}
