/* Long work that threads of the caller do. The engine itself starts none. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "engine/engine.h"

/* --- on any thread --- */

void gb_task_run(struct gb_task *task) {
	struct gb_tasks *tasks = &task->engine->tasks;
	const uint64_t one = 1;
	task->work(task);
	pthread_mutex_lock(&tasks->lock);
	gb_list_append(&tasks->finished, &task->link);
	/* Under the lock: afterwards the engine may be destroyed. It cannot fail: the counter is far from its maximum. */
	(void)!write(tasks->fd, &one, sizeof one);
	pthread_mutex_unlock(&tasks->lock);
}

/* --- in the event loop --- */

static struct gb_task *take_finished(struct gb_tasks *tasks) {
	pthread_mutex_lock(&tasks->lock);
	struct gb_task *task = gb_list_first(struct gb_task, &tasks->finished, link);
	if (task)
		gb_list_remove(&task->link);
	pthread_mutex_unlock(&tasks->lock);
	return task;
}

/* The callbacks of a run can take long, and its events go on in a later turn: at most so many tasks in one. */
enum { TASKS_PER_TURN = 8 };

static void on_finished(struct gb_source *source, uint32_t events) {
	struct gb_tasks *tasks = gb_container(struct gb_tasks, source, source);
	uint64_t n;
	(void)events;
	if (read(tasks->fd, &n, sizeof n) < 0)
		return;
	struct gb_task *task = NULL;
	for (int i = 0; i < TASKS_PER_TURN && (task = take_finished(tasks)); i++) {
		tasks->n--;
		task->done(task);
	}
	n = 1;
	if (task)
		(void)!write(tasks->fd, &n, sizeof n);
}

bool gb_task_offload(struct gb_engine *engine, struct gb_task *task, size_t bytes) {
	if (engine->tasks.fd < 0)
		return false;
	task->engine = engine;
	gb_list_init(&task->link);
	engine->tasks.n++;
	if (engine->options.offload(task, bytes, engine->options.offload_data))
		return true;
	engine->tasks.n--;
	return false;
}

/* --- tasks of the sandbox --- */

struct port_task {
	struct gb_task task;
	struct gb_port_task *of_port;
};

static void work_for_port(struct gb_task *task) {
	struct gb_port_task *of_port = gb_container(struct port_task, task, task)->of_port;
	of_port->work(of_port);
}

static void on_port_done(struct gb_task *base) {
	struct port_task *task = gb_container(struct port_task, task, base);
	task->of_port->done(task->of_port);
	free(task);
}

bool gb_task_offload_port(struct gb_port_task *of_port, void *data) {
	struct gb_engine *engine = data;
	/* gb_engine_create waits for its zygotes in any case. */
	struct port_task *task = engine->created && engine->tasks.fd >= 0 ? malloc(sizeof *task) : NULL;
	if (!task)
		return false;
	*task = (struct port_task){.task = {.work = work_for_port, .done = on_port_done}, .of_port = of_port};
	if (gb_task_offload(engine, &task->task, 0))
		return true;
	free(task);
	return false;
}

/* --- begin and end --- */

bool gb_tasks_init(struct gb_engine *engine, struct gb_err *err) {
	struct gb_tasks *tasks = &engine->tasks;
	if (!engine->options.offload)
		return true;
	tasks->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (tasks->fd < 0)
		return gb_fail(err, GB_ESYSTEM, errno, "eventfd");
	return gb_loop_add(&engine->loop, &tasks->source, tasks->fd, GB_LOOP_IN, on_finished, err);
}

void gb_tasks_finish(struct gb_engine *engine) {
	struct gb_tasks *tasks = &engine->tasks;
	struct pollfd ready = {.fd = tasks->fd, .events = POLLIN};
	while (tasks->n) {
		if (poll(&ready, 1, -1) > 0)
			on_finished(&tasks->source, 0);
	}
	gb_loop_remove(&engine->loop, &tasks->source);
	gb_close_fd(&tasks->fd);
	pthread_mutex_destroy(&tasks->lock);
}
