/* Starts the zygote of a shard. This waits: until the program is executed (CLONE_VFORK), and while the kernel moves the
 * process into a control group. So if the host lends a thread, it is done there. */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/watchdog.h"
#include "sandbox/linux/shard.h"

enum {
	/* How many notices may stay unread in a zygote's socket, and the socket buffer that one notice
	 * needs. */
	UNREAD_MAX = 64,
	NOTICE_BYTES = 2048,
};

struct start {
	struct gb_port_task task;
	struct gb_shard *shard; /* not used by the thread */
	/* Copies for the thread; the group is not copied, because it lives as long as the port. */
	struct gb_plan plan;
	char *program;
	struct gb_cgroup *cgroup;
	/* Results. */
	bool ok;
	struct gb_zygote zygote;
	struct gb_err err;
};

/* The number of notices that certainly fit into the send buffer of the zygote's end of the socket, which is
 * as large as that of this end. */
static unsigned unread_max(const struct gb_shard *shard) {
	int room = 0;
	socklen_t n = sizeof room;
	if (getsockopt(shard->zygote.control, SOL_SOCKET, SO_SNDBUF, &room, &n) != 0 || room < 0)
		return 0;
	unsigned fit = (unsigned)room / NOTICE_BYTES, max = UNREAD_MAX / shard->pool->n_shards;
	return fit < max ? fit : max;
}

/* Makes the started @zygote that of the shard, and listens to it. */
static bool adopt(struct gb_shard *shard, const struct gb_zygote *zygote, struct gb_err *err) {
	shard->zygote = *zygote;
	shard->unread_max = unread_max(shard);
	if (gb_loop_add(shard->pool->loop, &shard->source, shard->zygote.control, GB_LOOP_IN,
		gb_shard_on_control, err))
		return true;
	gb_zygote_finish(&shard->zygote);
	return false;
}

static void prepare(struct gb_shard *shard) {
	shard->n_orders = 0;
	shard->ready = false;
	shard->events = GB_LOOP_IN;
	gb_shard_set_starts(shard, true);
	shard->start_until = gb_now_ns() + GB_START_NS;
	gb_pool_wake_at(shard->pool, shard->start_until);
}

bool gb_shard_start_now(struct gb_shard *shard, struct gb_err *err) {
	struct gb_pool *pool = shard->pool;
	struct gb_zygote zygote;
	struct gb_plan plan = pool->plan;
	struct gb_watch watch;
	plan.cpu = shard->cpu;
	prepare(shard);
	gb_watch_begin(&watch);
	bool started = gb_zygote_spawn(&zygote, &plan, pool->program, pool->cgroup, err);
	gb_watch_exclude(&watch);
	started = started && adopt(shard, &zygote, err);
	gb_shard_set_starts(shard, started);
	return started;
}

/* --- on a thread --- */

static void spawn(struct gb_port_task *task) {
	struct start *start = gb_container(struct start, task, task);
	start->ok = gb_zygote_spawn(&start->zygote, &start->plan, start->program, start->cgroup, &start->err);
}

static void free_start(struct start *start) {
	if (start)
		free(start->program);
	free(start);
}

static void on_spawned(struct gb_port_task *task) {
	struct start *start = gb_container(struct start, task, task);
	struct gb_shard *shard = start->shard;
	shard->on_thread = false;
	bool ok = start->ok && adopt(shard, &start->zygote, &start->err);
	if (ok && shard->broken) {
		/* The start had timed out, or the pool was stopped. */
		syscall(SYS_pidfd_send_signal, shard->zygote.pidfd, SIGKILL, NULL, 0);
	} else if (!ok && !shard->broken) {
		/* Its layers could be raised before: the cause may be gone when the next run starts. */
		shard->restartable = shard->pool->was_ready && gb_shard_may_restart(shard);
		gb_shard_break(shard, &start->err);
	}
	free_start(start);
}

static bool start_on_thread(struct gb_shard *shard) {
	const struct gb_port_options *port = &shard->pool->port->options;
	struct start *start = port->offload ? calloc(1, sizeof *start) : NULL;
	if (!start || !(start->program = strdup(shard->pool->program))) {
		free_start(start);
		return false;
	}
	start->task = (struct gb_port_task){.work = spawn, .done = on_spawned};
	start->shard = shard;
	start->plan = shard->pool->plan;
	start->plan.cpu = shard->cpu;
	start->cgroup = shard->pool->cgroup;
	prepare(shard);
	shard->on_thread = true;
	if (port->offload(&start->task, port->data))
		return true;
	shard->on_thread = false;
	free_start(start);
	return false;
}

bool gb_shard_start(struct gb_shard *shard, struct gb_err *err) {
	return start_on_thread(shard) || gb_shard_start_now(shard, err);
}
