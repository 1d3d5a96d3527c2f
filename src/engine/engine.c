#include "engine/engine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/io.h"
#include "egress/client.h"
#include "engine/limits.h"

/* --- deadlines --- */

void gb_engine_wake_at(struct gb_engine *engine, uint64_t deadline) {
	if (engine->timer_at && engine->timer_at <= deadline)
		return;
	engine->timer_at = deadline;
	const struct itimerspec at = {
	    .it_value = {(time_t)(deadline / 1000000000), (long)(deadline % 1000000000)}};
	timerfd_settime(engine->timer_fd, TFD_TIMER_ABSTIME, &at, NULL);
}

void gb_alarm_set(struct gb_engine *engine, struct gb_alarm *alarm, uint64_t at) {
	alarm->at = at ? at : 1;
	gb_engine_wake_at(engine, alarm->at);
}

/* Fire one alarm that is due; false if none is. *ret_next is lowered to the time of the next alarm. */
static bool fire_alarm(struct gb_engine *engine, uint64_t now, uint64_t *ret_next) {
	gb_list_each(struct gb_alarm, alarm, &engine->alarms, link) {
		if (alarm->at && alarm->at <= now) {
			alarm->at = 0;
			alarm->on_alarm(alarm);
			return true;
		}
		if (alarm->at && (!*ret_next || alarm->at < *ret_next))
			*ret_next = alarm->at;
	}
	return false;
}

static void on_timer(struct gb_source *source, uint32_t events) {
	(void)events;
	struct gb_engine *engine = gb_container(struct gb_engine, timer, source);
	uint64_t expirations;
	if (read(engine->timer_fd, &expirations, sizeof expirations) < 0)
		return;
	engine->timer_at = 0;
	uint64_t now = gb_now_ns(), next = 0;
	/* gb_run_time_out() calls the run's callbacks, which may start and end other runs: restart the
	 * iteration. */
	for (bool again = true; again;) {
		again = false;
		next = 0;
		gb_list_each(struct gb_run, run, &engine->running, link) {
			if (run->deadline && run->deadline <= now) {
				gb_run_time_out(run);
				again = true;
				break;
			}
			if (run->yield_at <= now)
				gb_run_yield(run, now);
			if (run->deadline && (!next || run->deadline < next))
				next = run->deadline;
			if (!next || run->yield_at < next)
				next = run->yield_at;
		}
		again = again || fire_alarm(engine, now, &next);
	}
	if (next)
		gb_engine_wake_at(engine, next);
}

static bool start_timer(struct gb_engine *engine, struct gb_err *err) {
	engine->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (engine->timer_fd < 0)
		return gb_fail(err, GB_ESYSTEM, errno, "timerfd_create");
	return gb_loop_add(&engine->loop, &engine->timer, engine->timer_fd, GB_LOOP_IN, on_timer, err);
}

/* --- between turns --- */

void gb_engine_release_settled(struct gb_engine *engine) {
	for (struct gb_run *run; (run = gb_list_first(struct gb_run, &engine->settled, link));)
		gb_run_release_cell(run);
}

/* Release the cells of settled runs, and let the pools do their idle work. */
static void before_wait(struct gb_engine *engine) {
	gb_engine_release_settled(engine);
	gb_versions_clean_up(engine);
	gb_workplaces_clean_up(engine);
	for (int i = 0; i < GB_RUNTIMES; i++) {
		if (engine->pools[i])
			gb_runtime_clean_up(engine, (enum gb_runtime)i);
		if (engine->pools[i])
			gb_pool_before_wait(engine->pools[i]);
	}
}

/* --- the engine --- */

static bool keep_text(char **ret, const char *text, struct gb_err *err) {
	*ret = text ? strdup(text) : NULL;
	return !text || *ret || gb_fail(err, GB_ENOMEM, 0, "the engine");
}

static bool open_port(struct gb_engine *engine, struct gb_err *err) {
	const uint32_t max_runs = GB_OR(engine->options.max_runs, DEFAULT_MAX_RUNS);
	const struct gb_port_options port = {
	    .loop = &engine->loop,
	    .memory_bytes = engine->options.memory_bytes,
	    .max_processes = PROCESSES_MAX + 2 * max_runs,
	    .max_cells = max_runs,
	    .box_bytes = BOX_BYTES,
	    .offload = gb_task_offload_port,
	    .data = engine,
	};
	return gb_port_create(&port, &engine->port, err);
}

static bool open_engine(
    struct gb_engine *engine, const struct gb_engine_options *options, struct gb_err *err) {
	engine->options = *options;
	if (!keep_text(&engine->worker_dir, options->worker_dir, err) ||
	    !keep_text(&engine->shell, options->shell, err) ||
	    !keep_text(&engine->node, options->node, err) || !keep_text(&engine->deno, options->deno, err) ||
	    !keep_text(&engine->node_packages, options->node_packages, err) ||
	    !keep_text(&engine->proxy, options->proxy, err) ||
	    !keep_text(&engine->authorities, options->authorities, err))
		return false;
	if (!gb_runtimes_init(engine, options, err))
		return false;
	return gb_loop_init(&engine->loop, err) && start_timer(engine, err) && gb_tasks_init(engine, err) &&
	       open_port(engine, err) && gb_network_set_addresses(engine, options, err);
}

static bool start_pools(struct gb_engine *engine, struct gb_err *err) {
	const unsigned ready = GB_OR(engine->options.ready, 1u << GB_JAVASCRIPT);
	for (int language = 0; language < GB_LANGUAGES; language++) {
		enum gb_runtime runtime;
		if ((ready & 1u << language) &&
		    (!gb_runtime_find(engine, (enum gb_language)language, NULL, &runtime, err) ||
			!gb_runtime_start(engine, runtime, err)))
			return false;
	}
	return true;
}

bool gb_engine_await_pools(struct gb_engine *engine, struct gb_err *err) {
	for (size_t i = 0; i < GB_RUNTIMES; i++) {
		enum gb_pool_state state = GB_POOL_READY;
		while (engine->pools[i] && (state = gb_pool_state(engine->pools[i], err)) == GB_POOL_STARTING)
			if (gb_loop_dispatch(&engine->loop, -1) < 0 && errno != EINTR)
				return gb_fail(err, GB_ESYSTEM, errno, "wait for the zygotes");
		if (state == GB_POOL_BROKEN)
			return false;
	}
	before_wait(engine);
	return true;
}

bool gb_engine_create(const struct gb_engine_options *options, struct gb_engine **ret, struct gb_err *err) {
	struct gb_engine *engine = calloc(1, sizeof *engine);
	if (!engine)
		return gb_fail(err, GB_ENOMEM, 0, "the engine");
	engine->loop.epoll = engine->timer_fd = engine->timer.fd = -1;
	gb_workplaces_init(engine);
	gb_list_init(&engine->alarms);
	gb_list_init(&engine->starting);
	gb_list_init(&engine->running);
	gb_list_init(&engine->settled);
	engine->tasks.fd = engine->tasks.source.fd = -1;
	gb_list_init(&engine->tasks.finished);
	pthread_mutex_init(&engine->tasks.lock, NULL);
	if (!open_engine(engine, options ? options : &(struct gb_engine_options){0}, err) ||
	    !start_pools(engine, err) || !gb_engine_await_pools(engine, err)) {
		gb_engine_destroy(engine);
		return false;
	}
	engine->created = true;
	*ret = engine;
	return true;
}

void gb_engine_destroy(struct gb_engine *engine) {
	if (!engine || engine->in_callback)
		return;
	for (struct gb_alarm *alarm; (alarm = gb_list_first(struct gb_alarm, &engine->alarms, link));) {
		gb_list_remove(&alarm->link);
		alarm->on_engine_end(alarm);
	}
	gb_versions_finish(engine);
	struct gb_list *lists[] = {&engine->starting, &engine->running};
	for (size_t i = 0; i < GB_COUNT(lists); i++)
		for (struct gb_run *run; (run = gb_list_first(struct gb_run, lists[i], link));)
			gb_run_destroy(run);
	gb_tasks_finish(engine);
	gb_engine_release_settled(engine);
	for (size_t i = 0; i < GB_RUNTIMES; i++)
		gb_pool_destroy(engine->pools[i]);
	for (size_t i = 0; i < GB_WORKPLACES; i++)
		gb_workdir_finish(&engine->workplaces[i].workdir);
	gb_egress_destroy(engine->egress);
	gb_port_destroy(engine->port);
	gb_loop_remove(&engine->loop, &engine->timer);
	gb_close_fd(&engine->timer_fd);
	gb_loop_finish(&engine->loop);
	free(engine->worker_dir);
	free(engine->shell);
	free(engine->node);
	free(engine->deno);
	free(engine->node_packages);
	free(engine->proxy);
	free(engine->authorities);
	gb_engine_set_secrets(engine, NULL, 0, NULL);
	free(engine);
}

int gb_engine_fd(const struct gb_engine *engine) {
	return engine->loop.epoll;
}

bool gb_engine_turn(struct gb_engine *engine, int timeout_ms, struct gb_err *err) {
	if (engine->in_callback)
		return gb_fail(err, GB_EINVAL, 0,
		    "a callback of the engine cannot dispatch its events or wait for its runs: return from "
		    "the callback first");
	before_wait(engine);
	if (gb_loop_dispatch(&engine->loop, timeout_ms) < 0 && errno != EINTR)
		return gb_fail(err, GB_ESYSTEM, errno, "epoll_wait");
	return true;
}

bool gb_engine_dispatch(struct gb_engine *engine, int timeout_ms, struct gb_err *err) {
	if (!gb_engine_turn(engine, timeout_ms, err))
		return false;
	/* All callbacks have run. Release now: an idle cell would not make the descriptor readable again. */
	before_wait(engine);
	return true;
}
