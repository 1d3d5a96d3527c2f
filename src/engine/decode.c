/* Decodes values of frames: short ones at once, long ones on another thread if the caller has lent one. */
#include <stdlib.h>

#include "base/cleanup.h"
#include "engine/engine.h"

/* Takes about a millisecond; less is not worth the way to another thread. */
enum { LONG_BYTES = 64 << 10 };

struct task {
	struct gb_task task;
	struct gb_run *
	    run; /* held: its memory, and of that only the bridge's lock and functions are used by the thread */
	struct gb_decoding decoding;
	struct gb_buf frame;
	struct gb_values *branch; /* for the pool of the run; or NULL */
	const struct gb_value *value;
	struct gb_err err;
};

static const struct gb_value *decode(
    const struct gb_decoding *decoding, struct gb_values *pool, struct gb_err *err) {
	const struct gb_cbor_reader *in = &decoding->in;
	return gb_value_decode(pool, in->at, (size_t)(in->end - in->at), &decoding->limits, err);
}

static void work(struct gb_task *base) {
	struct task *task = gb_container(struct task, task, base);
	task->value = decode(&task->decoding, task->branch ? task->branch : task->decoding.pool, &task->err);
	gb_buf_finish(&task->frame);
}

/* The run has settled meanwhile, and may have been destroyed. */
static void drop(struct task *task) {
	gb_values_destroy(task->branch);
	if (task->decoding.drop)
		task->decoding.drop(&task->decoding);
}

static void complete(struct task *task) {
	struct gb_run *run = task->run;
	run->decoding = NULL;
	if (task->branch)
		gb_values_join(run->values, task->branch);
	if (run->cell && !run->has_end)
		gb_run_listen(run);
	if (!task->decoding.then(run, &task->decoding, task->value, &task->err))
		gb_run_fail_frame(run, &task->err);
}

static void on_done(struct gb_task *base) {
	struct task *task = gb_container(struct task, task, base);
	struct gb_run *run = task->run;
	bool is_used = run->decoding == base;
	if (is_used)
		complete(task);
	else
		drop(task);
	free(task);
	if (is_used)
		gb_run_resume(run);
	gb_run_unhold(run);
}

void gb_run_stop_decoding(struct gb_run *run) {
	run->decoding = NULL;
}

/* NULL if memory is exhausted. */
static struct task *create(struct gb_run *run, const struct gb_decoding *decoding) {
	struct task *task = calloc(1, sizeof *task);
	struct gb_values *branch = task && !decoding->pool ? gb_values_branch(run->values) : NULL;
	if (!task || (!decoding->pool && !branch) || !gb_frame_reader_take(run->reader, &task->frame)) {
		gb_values_destroy(branch);
		free(task);
		return NULL;
	}
	task->task.work = work;
	task->task.done = on_done;
	task->run = run;
	task->decoding = *decoding;
	task->branch = branch;
	return task;
}

static bool offload(struct gb_run *run, const struct gb_decoding *decoding) {
	size_t n = (size_t)(decoding->in.end - decoding->in.at);
	if (n < LONG_BYTES || run->engine->tasks.fd < 0)
		return false;
	struct task *task = create(run, decoding);
	if (!task)
		return false;
	gb_run_hold(run);
	run->decoding = &task->task;
	run->is_last = decoding->is_result;
	/* The code has ended: its time does not count any more. */
	if (run->is_last)
		run->deadline = 0;
	if (run->cell && !run->has_end)
		gb_run_listen(run);
	if (!gb_task_offload(run->engine, &task->task, n)) {
		work(&task->task);
		complete(task);
		free(task);
		gb_run_unhold(run);
	}
	return true;
}

bool gb_run_decode(struct gb_run *run, const struct gb_decoding *decoding, struct gb_err *err) {
	if (offload(run, decoding))
		return true;
	const struct gb_value *value = decode(decoding, decoding->pool ? decoding->pool : run->values, err);
	return decoding->then(run, decoding, value, err);
}
