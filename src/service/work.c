/* The threads of the service, and submissions that are encoded on them. */
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "engine/engine.h"
#include "service/execution.h"

enum { WORKS_MAX = 1000 };

/* --- threads --- */

static void on_done(struct gb_source *source, uint32_t events) {
	(void)events;
	gb_worker_dispatch(gb_container(struct gb_service_thread, source, source)->worker);
}

static bool start(struct gb_service *service, struct gb_service_thread *thread) {
	const struct gb_worker_options options = {.lanes = 1, .max = WORKS_MAX};
	if (thread->worker)
		return true;
	if (!gb_worker_create(&options, &thread->worker, NULL))
		return false;
	if (gb_loop_add(
		service->loop, &thread->source, gb_worker_fd(thread->worker), GB_LOOP_IN, on_done, NULL))
		return true;
	gb_worker_destroy(thread->worker);
	thread->worker = NULL;
	return false;
}

bool gb_service_work(struct gb_service *service, struct gb_work *work, size_t bytes) {
	const int which = bytes == 0                 ? GB_SERVICE_STARTS
			  : bytes > GB_SERVICE_LARGE ? GB_SERVICE_LARGE_DATA
						     : GB_SERVICE_DATA;
	struct gb_service_thread *thread = &service->threads[which];
	return !service->ending && start(service, thread) && gb_worker_try(thread->worker, work);
}

bool gb_service_work_for(struct gb_work *work, size_t bytes, void *service) {
	return gb_service_work(service, work, bytes);
}

/* --- tasks of the engine --- */

struct lent {
	struct gb_work work;
	struct gb_task *task;
};

static enum gb_work_end run_task(struct gb_work *work, void *data) {
	(void)data;
	gb_task_run(gb_container(struct lent, work, work)->task);
	return GB_WORK_DONE;
}

static void free_lent(struct gb_work *work) {
	free(gb_container(struct lent, work, work));
}

bool gb_service_offload(struct gb_task *task, size_t bytes, void *service) {
	struct lent *lent = malloc(sizeof *lent);
	if (!lent)
		return false;
	*lent = (struct lent){.work = {.run = run_task, .done = free_lent}, .task = task};
	if (gb_service_work(service, &lent->work, bytes))
		return true;
	free(lent);
	return false;
}

/* --- begin and end --- */

void gb_service_work_init(struct gb_service *service) {
	for (size_t i = 0; i < GB_COUNT(service->threads); i++)
		service->threads[i].source.fd = -1;
}

void gb_service_work_finish(struct gb_service *service) {
	service->ending = true;
	for (size_t i = 0; i < GB_COUNT(service->threads); i++) {
		struct gb_service_thread *thread = &service->threads[i];
		gb_loop_remove(service->loop, &thread->source);
		gb_worker_destroy(thread->worker);
		thread->worker = NULL;
	}
}

/* --- submissions --- */

struct pending {
	struct gb_work work;
	struct gb_list link;              /* in the client's list */
	struct gb_service_client *client; /* NULL: it was finished */
	struct gb_execution *execution;
	struct gb_run_options options;
	gb_service_submitted done;
	void *data;
	bool ok;
	struct gb_err err;
};

static enum gb_work_end encode(struct gb_work *work, void *data) {
	struct pending *pending = gb_container(struct pending, work, work);
	(void)data;
	pending->ok = gb_run_encode(pending->execution->run, &pending->options, &pending->err);
	return GB_WORK_DONE;
}

static void on_encoded(struct gb_work *work) {
	struct pending *pending = gb_container(struct pending, work, work);
	struct gb_execution *execution = pending->execution;
	gb_list_remove(&pending->link);
	if (!pending->client)
		pending->ok = gb_fail(&pending->err, GB_EBUSY, 0, "the client has disconnected");
	if (pending->ok && gb_execution_begin_run(pending->client, execution, &pending->err)) {
		gb_execution_announce(execution);
	} else {
		gb_execution_destroy(execution);
		execution = NULL;
	}
	pending->done(execution, &pending->err, pending->data);
	free(pending);
}

/* NULL if memory is exhausted. */
static struct pending *create_pending(
    struct gb_service_client *client, const struct gb_submission *submission) {
	struct pending *pending = calloc(1, sizeof *pending);
	struct gb_execution *execution = pending ? gb_execution_create(client->service, submission) : NULL;
	if (!execution) {
		free(pending);
		return NULL;
	}
	*pending = (struct pending){
	    .work = {.run = encode, .done = on_encoded}, .client = client, .execution = execution};
	gb_list_append(&client->pending, &pending->link);
	return pending;
}

static void submit_now(struct gb_service_client *client, const struct gb_submission *submission,
    gb_service_submitted done, void *data) {
	struct gb_execution *execution = NULL;
	struct gb_err err = {0};
	gb_service_submit(client, submission, &execution, &err);
	done(execution, &err, data);
}

void gb_service_submit_later(struct gb_service_client *client, const struct gb_submission *submission,
    size_t bytes, gb_service_submitted done, void *data) {
	bool is_long = submission->request.face == GB_FACE_RUN_CODE && bytes >= GB_SERVICE_LONG;
	struct pending *pending = is_long ? create_pending(client, submission) : NULL;
	if (!pending) {
		submit_now(client, submission, done, data);
		return;
	}
	pending->done = done;
	pending->data = data;
	if (!gb_execution_create_run(
		pending->execution, &submission->request, &pending->options, &pending->err)) {
		on_encoded(&pending->work);
	} else if (!gb_service_work(client->service, &pending->work, bytes)) {
		encode(&pending->work, NULL);
		on_encoded(&pending->work);
	}
}

void gb_service_abandon_pending(struct gb_service_client *client) {
	gb_list_each(struct pending, pending, &client->pending, link) {
		gb_list_remove(&pending->link);
		pending->client = NULL;
	}
}
