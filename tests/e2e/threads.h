/*
 * Threads that an engine may use: each task gets one.
 *
 *	options.offload = threads_offload;
 *
 * Or tasks that wait until the test wants them done, on another thread:
 *
 *	struct held_tasks held = {0};
 *	options.offload = hold_task;
 *	options.offload_data = &held;
 *	...
 *	run_held(&held);
 */
#ifndef GB_TESTS_THREADS_H
#define GB_TESTS_THREADS_H

#include <glovebox/glovebox.h>
#include <pthread.h>

static inline void *run_task(void *task) {
	gb_task_run(task);
	return NULL;
}

static inline bool threads_offload(struct gb_task *task, size_t bytes, void *data) {
	pthread_t thread;
	(void)bytes, (void)data;
	if (pthread_create(&thread, NULL, run_task, task) != 0)
		return false;
	pthread_detach(thread);
	return true;
}

enum { HELD_MAX = 64 };

struct held_tasks {
	struct gb_task *list[HELD_MAX];
	unsigned n;
	unsigned total; /* so far */
	bool refuses;   /* takes no task */
};

static inline bool hold_task(struct gb_task *task, size_t bytes, void *data) {
	struct held_tasks *held = data;
	(void)bytes;
	held->total++;
	if (held->refuses || held->n == HELD_MAX)
		return false;
	held->list[held->n++] = task;
	return true;
}

static inline void *run_all_held(void *data) {
	struct held_tasks *held = data;
	while (held->n)
		gb_task_run(held->list[--held->n]);
	return NULL;
}

/* Wait until they are done; their events come with the next turn of the engine. */
static inline void run_held(struct held_tasks *held) {
	pthread_t thread;
	if (pthread_create(&thread, NULL, run_all_held, held) == 0)
		pthread_join(thread, NULL);
}

#endif
