/* Shared by the tests of the service: a service with its own loop, state folder and settings, and a record of the
 * events of an execution. */
#ifndef GB_TESTS_SERVICE_H
#define GB_TESTS_SERVICE_H

#include "audit.h"
#include "guard/secrets.h"
#include "service/service.h"
#include "tap.h"

/* Settings under which every run of an agent is approved automatically, or needs a decision. */
#define OPEN_TO_ALL "agent: {enabled: true, autoApprove: true}\nenergy: {enabled: false}\n"
#define ASKING      "agent: {enabled: true}\nenergy: {enabled: false}\n"

enum { TURN_MS = 20000 };

struct place {
	char folder[FOLDER];
	struct gb_loop loop;
	struct gb_service *service;
	struct gb_service_client client; /* for tests that need only one */
};

/* What a test wants of the service; 0: the default. */
struct wants {
	const char *yaml;                 /* settings; with agent.enabled, there is a gate */
	unsigned max_runs, max_sandboxes; /* of the service, and of each language */
	struct gb_events_limits replay;
	unsigned keep_results;
	uint64_t keep_ms;
	bool masks; /* output of callers' runs; that of agents always is */
};

static inline const struct gb_config *place_settings(const struct place *place, const struct wants *wants) {
	char text[2000];
	struct gb_err err = {0};
	int n =
	    snprintf(text, sizeof text, "stateDir: %s\n%s", place->folder, wants->yaml ? wants->yaml : "");
	const struct gb_config_sources sources = {.file = "test.yaml", .text = text, .text_bytes = (size_t)n};
	const struct gb_config *config = NULL;
	if (!gb_config_load(&sources, &config, &err))
		printf("# %s\n", err.message);
	return config;
}

static inline void place_open(struct place *place, struct wants wants) {
	struct gb_err err = {0};
	folder_create(place->folder);
	const struct gb_config *config = place_settings(place, &wants);
	struct gb_filter *filter = wants.masks ? gb_filter_create() : NULL;
	const struct gb_service_options options = {
	    .loop = &place->loop,
	    .config = config,
	    .engine = {.worker_dir = getenv("GB_WORKER_DIR"),
		.shards = 1,
		.warm = 1,
		.max_runs = wants.max_sandboxes},
	    .filter = filter,
	    .max_runs = wants.max_runs,
	    .replay = wants.replay,
	    .keep_results = wants.keep_results,
	    .keep_ms = wants.keep_ms,
	};
	if (!config || !gb_loop_init(&place->loop, &err) ||
	    !gb_service_create(&options, &place->service, &err) ||
	    (wants.yaml && !gb_service_accept_agents(place->service, NULL, &err))) {
		printf("Bail out! %s\n", err.message);
		exit(1);
	}
	gb_config_unref(config);
	gb_filter_destroy(filter);
	gb_service_client_init(place->service, &place->client);
}

static inline void place_leave(struct place *place) {
	gb_service_client_finish(&place->client);
	gb_service_destroy(place->service);
	gb_loop_finish(&place->loop);
	folder_destroy(place->folder);
}
#define auto_place __attribute__((cleanup(place_leave)))

static inline bool place_turn(struct place *place) {
	struct gb_err err = {0};
	bool ok = gb_service_turn(place->service, TURN_MS, &err);
	if (!ok)
		printf("# %s\n", err.message);
	return CHECK(ok);
}

/* --- executions --- */

/* An execution, and what its submitter received. */
struct task {
	struct gb_execution *execution;
	char id[33];
	char kinds[400]; /* the names of events; a number of equal ones as one */
	unsigned n_events, n_finished;
	char approval[40];
	struct gb_buf text; /* all output */
	uint64_t last;
	bool out_of_order;
	enum gb_status status;
	char run_id[33];
	/* Order of the ends of several tasks. */
	unsigned *n_ended, ended_as;
	void (*then)(struct task *task, const struct gb_event *event);
};

static inline void task_add_kind(struct task *task, const char *name) {
	size_t n = strlen(task->kinds), m = strlen(name);
	if (n >= m && strcmp(task->kinds + n - m, name) == 0 && (n == m || task->kinds[n - m - 1] == ' '))
		return;
	snprintf(task->kinds + n, sizeof task->kinds - n, "%s%s", n ? " " : "", name);
}

static inline void task_on_event(struct gb_execution *execution, const struct gb_event *event, void *data) {
	struct task *task = data;
	(void)execution;
	task_add_kind(task, gb_event_name(event->kind));
	task->n_events++;
	task->out_of_order |= task->last && event->seq != task->last + 1;
	task->last = event->seq;
	if (event->kind == GB_EVENT_OUTPUT)
		gb_buf_append(&task->text, event->text.p, event->text.n);
	if (event->kind == GB_EVENT_PENDING)
		snprintf(task->approval, sizeof task->approval, "%.*s", (int)event->text.n, event->text.p);
	if (event->kind == GB_EVENT_FINISHED) {
		task->n_finished++;
		task->status = event->result->status;
		memcpy(task->run_id, event->result->run_id, sizeof task->run_id);
		if (task->n_ended)
			task->ended_as = ++*task->n_ended;
	}
	if (task->then)
		task->then(task, event);
}

static inline bool task_try(
    struct task *task, struct gb_service_client *client, struct gb_gate_request request, struct gb_err *err) {
	const struct gb_submission submission = {.request = request, .on_event = task_on_event, .data = task};
	gb_buf_init(&task->text, 64 << 20);
	bool ok = gb_service_submit(client, &submission, &task->execution, err);
	if (ok)
		snprintf(task->id, sizeof task->id, "%s", gb_execution_id(task->execution));
	return ok;
}

static inline void task_submit(
    struct task *task, struct gb_service_client *client, struct gb_gate_request request) {
	struct gb_err err = {0};
	if (!CHECK(task_try(task, client, request, &err)))
		printf("# %s\n", err.message);
}

static inline void task_wait(struct place *place, struct task *task) {
	while (!gb_execution_result(task->execution) && place_turn(place))
		;
}

static inline void task_finish(struct task *task) {
	gb_execution_release(task->execution);
	task->execution = NULL;
	gb_buf_finish(&task->text);
}

static inline struct gb_gate_request javascript(const char *source) {
	return (struct gb_gate_request){
	    .face = GB_FACE_RUN_CODE, .run = {.source = source, .language = GB_JAVASCRIPT}};
}

static inline struct gb_gate_request python(const char *source) {
	return (struct gb_gate_request){
	    .face = GB_FACE_RUN_CODE, .run = {.source = source, .language = GB_PYTHON}};
}

/* The same, of an agent. */
static inline struct gb_gate_request of_agent(struct gb_gate_request request) {
	request.face = GB_FACE_EXECUTE_CODE;
	request.transport = "test";
	return request;
}

#endif
