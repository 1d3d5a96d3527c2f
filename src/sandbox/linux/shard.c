/* A shard: one zygote of the pool. Sends orders, handles notices, and replaces the zygote when it has
 * died. */
#include "sandbox/linux/shard.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "sandbox/linux/cell_end.h"

enum {
	/* After so many deaths of the zygote without any cell exit in between, it is not restarted
	 * automatically. */
	MAX_DEATHS = 5,
};

/* --- listening --- */

/* Waking up for each notice is expensive compared with a short run, and most notices are not urgent. So while
 * a run uses a cell of this shard, the loop does not poll the zygote's socket for input unless something
 * depends on a notice: the death of a cell is visible on the cell's own socket, and the loop always reports
 * the death of a zygote (hang-up). The number of unread notices stays bounded, so that a zygote never blocks
 * on a full socket buffer. */
void gb_shard_listen(struct gb_shard *shard) {
	bool needed = !shard->quiet || !shard->ready || shard->broken || shard->n_awaited ||
		      !gb_list_empty(&shard->queued) || shard->n_orders + shard->n_dying > shard->unread_max;
	/* The socket is nearly always writable, so GB_LOOP_OUT makes the loop call on_control at once. */
	uint32_t events = (needed ? GB_LOOP_IN : 0) | (shard->held.is_held ? GB_LOOP_OUT : 0);
	if (events == shard->events || shard->source.fd < 0)
		return;
	shard->events = events;
	gb_loop_change(shard->pool->loop, &shard->source, events);
}

/* --- zygotes --- */

/* Order the cell; sends its socket and the descriptors of its control group. */
static bool send_cell(struct gb_shard *shard, struct gb_cell *cell, uint32_t flags) {
	int fds[GB_ORDER_FDS_MAX] = {cell->worker_fd};
	size_t n = 1;
	if (cell->worker_fd < 0)
		return gb_zygote_fork_spare(&shard->zygote, cell->id, cell->spare, flags, NULL);
	if (cell->network_fd >= 0) {
		fds[n++] = cell->network_fd;
		flags |= GB_FORK_NETWORK;
	}
	const size_t first = n;
	if (cell->group && (n += gb_cell_group_open(cell->group, fds + n, NULL)) == first)
		return false;
	bool sent = gb_zygote_fork(&shard->zygote, cell->id, fds, n, flags, NULL);
	while (n > first)
		close(fds[--n]);
	return sent;
}

void gb_shard_order(struct gb_shard *shard) {
	struct gb_cell *cell;
	while (shard->n_orders < GB_ORDERS_MAX && shard->ready && !shard->broken &&
	       (cell = gb_list_first(struct gb_cell, &shard->queued, link))) {
		/* A cell that a run already waits for is not primed. */
		bool prime = !cell->owner && shard->pool->options.warm;
		if (!send_cell(shard, cell, prime ? GB_FORK_PRIME : 0)) {
			/* The death of a zygote is reported separately. Any other failure may be temporary,
			 * and no event reports its end, so a timer retries. */
			gb_pool_retry_later(shard->pool);
			break;
		}
		gb_close_fd(&cell->worker_fd);
		gb_close_fd(&cell->network_fd);
		cell->ordered_at = gb_now_ns();
		shard->n_orders++;
		shard->quiet = shard->quiet || cell->owner;
		if (cell->owner)
			gb_cell_set_state(cell, GB_CELL_ACTIVE, &shard->active);
		else
			gb_cell_set_state(cell, GB_CELL_WARM, &shard->warm);
	}
	gb_shard_listen(shard);
}

void gb_shard_set_starts(struct gb_shard *shard, bool starts) {
	unsigned *n = &shard->pool->port->n_starts[shard->cpu];
	*n += (starts && !shard->starts) - (!starts && shard->starts);
	shard->starts = starts;
}

void gb_shard_stop(struct gb_shard *shard) {
	gb_shard_set_starts(shard, false);
	gb_loop_remove(shard->pool->loop, &shard->source);
	gb_zygote_finish(&shard->zygote);
	gb_close_fd(&shard->held.pidfd);
	shard->held.is_held = false;
}

void gb_shard_break(struct gb_shard *shard, const struct gb_err *why) {
	shard->broken = true;
	shard->why_broken = *why;
	gb_shard_set_starts(shard, false);
	gb_pool_start_next(shard->pool);
	struct gb_cell_end end = {.cause = GB_CELL_REFUSED};
	snprintf(end.text, sizeof end.text, "%s", why->message);
	/* Includes cells that were ordered before the failure was known. */
	gb_shard_end_cells(shard, true, &end);
}

/* Whether the kernel has killed a process for lack of memory since the last call: in the engine's group, or
 * in the host's own group if the engine has none. It does not matter whether the limit of that group or of an
 * outer one was reached. */
static bool kernel_ran_out_of_memory(struct gb_pool *pool) {
	uint64_t before = pool->oom_kills;
	pool->oom_kills = gb_cgroup_oom_kills(pool->cgroup);
	return pool->oom_kills > before;
}

static enum gb_out_of_memory why_killed(struct gb_pool *pool, const struct gb_cell *cell) {
	if (cell->group)
		return gb_cell_group_oom_killed(cell->group) ? GB_OOM_CELL : GB_OOM_NONE;
	return kernel_ran_out_of_memory(pool) ? GB_OOM_ALL : GB_OOM_NONE;
}

static bool has_waiting_owner(const struct gb_shard *shard) {
	for (const struct gb_list *link = shard->queued.next; link != &shard->queued; link = link->next)
		if (gb_container(struct gb_cell, link, link)->owner)
			return true;
	return false;
}

bool gb_shard_may_restart(const struct gb_shard *shard) {
	return shard->was_ready || shard->deaths < MAX_DEATHS;
}

/* The zygote and all its cells are dead: notify their owners and start another zygote. Does not wait, since its
 * pidfd is readable. */
static void replace_zygote(struct gb_shard *shard) {
	struct gb_cell_end lost = {.cause = GB_CELL_LOST};
	char how[128];
	gb_zygote_describe_exit(&shard->zygote, how, sizeof how);
	snprintf(lost.text, sizeof lost.text, "the zygote that this run's sandbox came from %s", how);
	if (kernel_ran_out_of_memory(shard->pool))
		gb_cell_end_by_memory(GB_OOM_ALL, &lost);
	gb_shard_stop(shard);

	struct gb_err err = {0};
	/* The limit is for zygotes that nothing waits for: gb_pool_take would start this one again as well. */
	const bool wanted = shard->was_ready && has_waiting_owner(shard);
	bool again = (++shard->deaths < MAX_DEATHS || wanted) && gb_shard_start(shard, &err);
	if (!again && !err.code)
		gb_fail(&err, GB_EWALL, 0, "the zygote died %u times in a row; the last one %s",
		    shard->deaths, how);
	/* A zygote that was ready before was killed from outside. The cause may be gone when the next run
	 * starts. */
	shard->restartable = !again && gb_shard_may_restart(shard);
	/* A queued cell with a spare socket is lost as well: the dead zygote had the other end. There is at
	 * most one, because spare sockets are not used while cells are queued. */
	gb_list_each(struct gb_cell, cell, &shard->queued, link) if (cell->worker_fd < 0) {
		gb_cell_set_state(cell, GB_CELL_ACTIVE, &shard->active);
		break;
	}
	/* A cell that a callback takes now must not be assigned to this shard if it is broken. */
	shard->broken = !again;
	shard->why_broken = err;
	gb_shard_end_cells(shard, false, &lost);
	if (!again)
		gb_shard_break(shard, &err);
}

static void note_forked(struct gb_shard *shard, const struct gb_notice *notice, int pidfd) {
	if (shard->n_orders)
		shard->n_orders--;
	struct gb_cell *cell = gb_pool_find(shard->pool, notice->cell);
	if (pidfd < 0 && !notice->error) {
		/* The host could not receive the pidfd (no free descriptor). The process exists, and the only
		 * way to end it is to kill its zygote. */
		syscall(SYS_pidfd_send_signal, shard->zygote.pidfd, SIGKILL, NULL, 0);
	} else if (cell && pidfd < 0) {
		struct gb_cell_end end = {.cause = GB_CELL_REFUSED};
		snprintf(end.text, sizeof end.text, "fork a sandbox: %s", strerrordesc_np(notice->error));
		gb_cell_finish(cell, &end);
	} else if (cell) {
		cell->pidfd = gb_take_fd(&pidfd);
		gb_cell_signal(cell);
		if (cell->state == GB_CELL_DYING)
			gb_cell_await(cell, false);
	} else if (pidfd >= 0) {
		/* The cell was freed meanwhile: kill its process. */
		syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
	}
	gb_close_fd(&pidfd);
}

static void describe_end(const struct gb_cell *cell, int wait_status, struct gb_cell_end *ret) {
	enum gb_out_of_memory out = GB_OOM_NONE;
	if (WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == SIGKILL)
		out = why_killed(cell->shard->pool, cell);
	if (out)
		gb_cell_end_by_memory(out, ret);
	else
		gb_cell_end_by_status(wait_status, ret);
}

static void note_exited(struct gb_shard *shard, const struct gb_notice *notice) {
	shard->deaths = 0;
	struct gb_cell *cell = gb_pool_find(shard->pool, notice->cell);
	if (!cell)
		return;
	struct gb_cell_end end = {.cause = GB_CELL_NO_ANSWER};
	if (cell->owner)
		describe_end(cell, notice->wait_status, &end);
	gb_cell_finish(cell, &end);
}

/* Its queued cells are ordered next. */
static void note_ready(struct gb_shard *shard, const struct gb_notice *notice) {
	struct gb_pool *pool = shard->pool;
	shard->ready = pool->was_ready = true;
	gb_shard_set_starts(shard, false);
	gb_pool_start_next(pool);
	snprintf(pool->version, sizeof pool->version, "%.*s", (int)sizeof notice->text - 1, notice->text);
	gb_list_each(struct gb_cell, cell, &shard->queued, link) {
		if (cell->owner)
			pool->options.on_begin(cell);
	}
}

static void handle_notice(struct gb_shard *shard, const struct gb_notice *notice, int pidfd) {
	struct gb_err why = {0};
	switch (notice->kind) {
	case GB_NOTICE_READY:
		note_ready(shard, notice);
		break;
	case GB_NOTICE_FAILED:
		gb_notice_fail(notice, &why);
		gb_shard_break(shard, &why);
		break;
	case GB_NOTICE_FORKED:
		note_forked(shard, notice, pidfd);
		break;
	case GB_NOTICE_EXITED:
		note_exited(shard, notice);
		break;
	}
}

static void on_death(struct gb_source *source, uint32_t events) {
	(void)events;
	struct gb_shard *shard = (struct gb_shard *)source;
	if (shard->broken)
		gb_shard_stop(shard);
	else
		replace_zygote(shard);
	gb_shard_order(shard);
}

/* The zygote has closed its socket. Its processes end a moment later; wait for that in the loop. */
static void await_death(struct gb_shard *shard) {
	struct gb_loop *loop = shard->pool->loop;
	syscall(SYS_pidfd_send_signal, shard->zygote.pidfd, SIGKILL, NULL, 0);
	shard->was_ready = shard->ready;
	shard->ready = false;
	gb_loop_remove(loop, &shard->source);
	shard->events = GB_LOOP_IN;
	if (!gb_loop_add(loop, &shard->source, shard->zygote.pidfd, GB_LOOP_IN, on_death, NULL))
		on_death(&shard->source, 0);
}

void gb_shard_on_control(struct gb_source *source, uint32_t events) {
	(void)events;
	struct gb_shard *shard = (struct gb_shard *)source;
	struct held *held = &shard->held;
	if (held->is_held) {
		held->is_held = false;
		handle_notice(shard, &held->notice, gb_take_fd(&held->pidfd));
	}
	const bool was_ready = shard->ready;
	struct gb_notice notice;
	int pidfd;
	enum gb_zygote_status status;
	while ((status = gb_zygote_next(&shard->zygote, &notice, &pidfd)) == GB_ZYGOTE_NOTICE)
		handle_notice(shard, &notice, pidfd);
	if (status == GB_ZYGOTE_GONE)
		await_death(shard);
	gb_shard_order(shard);
	if (!was_ready)
		gb_shard_refill(shard);
}

static bool calls_an_owner(struct gb_pool *pool, const struct gb_notice *notice) {
	if (notice->kind == GB_NOTICE_READY || notice->kind == GB_NOTICE_FAILED)
		return true;
	struct gb_cell *cell = gb_pool_find(pool, notice->cell);
	return cell && cell->owner && (notice->kind == GB_NOTICE_EXITED || notice->error);
}

void gb_shard_read_notices_for(struct gb_cell *cell) {
	struct gb_shard *shard = cell->shard;
	const uint32_t id = cell->id;
	struct held *held = &shard->held;
	while ((cell = gb_pool_find(shard->pool, id)) && cell->pidfd < 0 && !held->is_held &&
	       gb_zygote_next(&shard->zygote, &held->notice, &held->pidfd) == GB_ZYGOTE_NOTICE) {
		held->is_held = calls_an_owner(shard->pool, &held->notice);
		if (!held->is_held)
			handle_notice(shard, &held->notice, gb_take_fd(&held->pidfd));
	}
	/* The notices that queued orders waited for may have been among them: no other will come. */
	gb_shard_order(shard);
}
