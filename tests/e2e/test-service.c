/* The life cycle of executions in the service, of callers and of agents. */
#include "e2e/decide.h"
#include "e2e/service.h"
#include "service/execution.h"

static const char endless[] = "for (;;);";

/* Start an execution that does not end and takes one of .max_runs, so that others wait. */
static void occupy(struct place *place, struct task *task) {
	task_submit(task, &place->client, javascript(endless));
	CHECK_STR(gb_execution_state(task->execution), "running");
}

/* --- ids --- */

static struct gb_execution *execution_at(struct gb_service *service, size_t i) {
	struct gb_execution *execution = NULL;
	do
		execution = gb_service_next(service, execution);
	while (execution && i--);
	return execution;
}

TEST(id_is_known_after_submission_and_is_in_the_result) {
	auto_place struct place place = {0};
	struct task first = {0}, second = {0};
	place_open(&place, (struct wants){.max_runs = 1});
	task_submit(&first, &place.client, javascript("export default 1"));
	task_submit(&second, &place.client, javascript("export default 2"));
	CHECK_STR(gb_execution_state(first.execution), "running");
	CHECK_STR(gb_execution_state(second.execution), "waiting");
	CHECK_INT(strspn(first.id, "0123456789abcdef"), 32);
	CHECK_INT(strspn(second.id, "0123456789abcdef"), 32);
	CHECK(strcmp(first.id, second.id) != 0);
	CHECK(!gb_execution_result(second.execution));
	task_wait(&place, &first);
	task_wait(&place, &second);
	CHECK_STR(gb_execution_state(second.execution), "done");
	CHECK_STR(first.run_id, first.id);
	CHECK_STR(second.run_id, second.id);
	CHECK_STR(gb_execution_result(second.execution)->run_id, second.id);
	CHECK_INT(first.status, GB_SUCCESS);
	CHECK_INT(second.status, GB_SUCCESS);
	/* The submitter of one that starts at once is not called with STARTED. */
	CHECK_STR(first.kinds, "finished");
	CHECK_STR(second.kinds, "started finished");
	task_finish(&first);
	task_finish(&second);
}

TEST(invalid_request_is_refused_with_its_field) {
	auto_place struct place place = {0};
	struct task task = {0};
	struct gb_err err = {0};
	place_open(&place, (struct wants){0});
	struct gb_gate_request request = javascript("1");
	request.run.profile = "data";
	CHECK(!task_try(&task, &place.client, request, &err));
	CHECK_INT(err.code, GB_EINVAL);
	CHECK(*err.field);
	request = javascript("1");
	request.session = "none";
	CHECK(!task_try(&task, &place.client, request, &err));
	CHECK_INT(err.code, GB_ENOENT);
	CHECK_STR(err.field, "session");
	CHECK(!task_try(&task, &place.client, of_agent(javascript("1")), &err));
	CHECK_INT(err.code, GB_EINVAL);
	CHECK(!execution_at(place.service, 0));
}

/* --- finding executions --- */

TEST(executions_are_found_by_id_and_listed_by_age) {
	auto_place struct place place = {0};
	struct task tasks[4] = {0};
	place_open(&place, (struct wants){.max_runs = 2, .keep_results = 10, .keep_ms = 3600000});
	for (int i = 0; i < 4; i++)
		task_submit(&tasks[i], &place.client, javascript(i ? endless : "export default 1"));
	for (unsigned i = 0; i < 4; i++) {
		CHECK(gb_service_find(place.service, tasks[i].id) == tasks[i].execution);
		CHECK(execution_at(place.service, i) == tasks[i].execution);
	}
	CHECK(!execution_at(place.service, 4));
	CHECK(!gb_service_find(place.service, ""));
	CHECK(!gb_service_find(place.service, "0123456789abcdef0123456789abcdef"));
	task_wait(&place, &tasks[0]);
	CHECK(gb_service_find(place.service, tasks[0].id) == tasks[0].execution);
	CHECK(execution_at(place.service, 0) == tasks[0].execution);
	CHECK_STR(gb_execution_state(execution_at(place.service, 0)), "done");
	CHECK(!gb_execution_is_agent(tasks[0].execution));
	for (int i = 0; i < 4; i++)
		task_finish(&tasks[i]);
}

/* --- waiting executions --- */

TEST(waiting_execution_can_be_terminated) {
	auto_place struct place place = {0};
	struct task busy = {0}, waiting = {0}, next = {0};
	place_open(&place, (struct wants){.max_runs = 1});
	occupy(&place, &busy);
	task_submit(&waiting, &place.client, javascript("export default 1"));
	task_submit(&next, &place.client, javascript("export default 2"));
	gb_execution_terminate(waiting.execution, "not needed");
	/* gb_execution_terminate has called the callback. */
	CHECK_STR(waiting.kinds, "finished");
	CHECK_INT(waiting.status, GB_TERMINATED);
	CHECK_STR(waiting.run_id, waiting.id);
	CHECK_STR(gb_execution_state(waiting.execution), "done");
	CHECK(strstr(gb_execution_result(waiting.execution)->error.message, "not needed"));
	gb_execution_terminate(waiting.execution, "again");
	CHECK_INT(waiting.n_finished, 1);
	CHECK_STR(gb_execution_state(next.execution), "waiting");
	gb_execution_terminate(busy.execution, NULL);
	CHECK_INT(busy.status, GB_TERMINATED);
	task_wait(&place, &next);
	CHECK_INT(next.status, GB_SUCCESS);
	task_finish(&busy);
	task_finish(&waiting);
	task_finish(&next);
}

TEST(waiting_execution_can_be_released) {
	auto_place struct place place = {0};
	struct task busy = {0}, waiting = {0}, next = {0};
	place_open(&place, (struct wants){.max_runs = 1, .keep_results = 10, .keep_ms = 3600000});
	occupy(&place, &busy);
	task_submit(&waiting, &place.client, javascript("export default 1"));
	task_submit(&next, &place.client, javascript("export default 2"));
	task_finish(&waiting);
	CHECK_INT(waiting.n_events, 0);
	struct gb_execution *kept = gb_service_find(place.service, waiting.id);
	CHECK(kept && gb_execution_result(kept) && gb_execution_result(kept)->status == GB_TERMINATED);
	task_finish(&busy);
	task_wait(&place, &next);
	CHECK_INT(next.status, GB_SUCCESS);
	task_finish(&next);
}

/* --- sandboxes of sessions --- */

static void open_session(struct place *place, const char *name) {
	const struct gb_session_asked asked = {.language = GB_JAVASCRIPT, .name = name};
	struct gb_session_info info;
	struct gb_err err = {0};
	if (!CHECK(gb_manager_open(gb_service_sessions(place->service), &asked, &info, &err)))
		printf("# %s\n", err.message);
}

static void kill_session(struct place *place, const char *name) {
	struct gb_err err = {0};
	CHECK(gb_manager_kill(gb_service_sessions(place->service), name, NULL, &err));
}

TEST(runs_in_a_session_do_not_count_as_running_sandboxes) {
	enum { QUEUED = 4 };
	auto_place struct place place = {0};
	struct gb_service_client another;
	struct task queued[QUEUED] = {0}, other = {0}, busy[2] = {0}, waiting = {0};
	struct gb_gate_request in_session = javascript(endless);
	in_session.session = "s";
	place_open(&place, (struct wants){.max_runs = 2});
	gb_service_client_init(place.service, &another);
	open_session(&place, "s");
	for (int i = 0; i < QUEUED; i++)
		task_submit(&queued[i], &place.client, in_session);
	task_submit(&other, &another, javascript("export default 1"));
	CHECK_STR(gb_execution_state(other.execution), "running");
	task_wait(&place, &other);
	CHECK_STR(gb_execution_state(queued[0].execution), "running");
	kill_session(&place, "s");
	/* Nor do they count when they end: there is room for two, as before. */
	for (int i = 0; i < QUEUED; i++)
		CHECK_INT(queued[i].status, GB_TERMINATED);
	occupy(&place, &busy[0]);
	occupy(&place, &busy[1]);
	task_submit(&waiting, &another, javascript("export default 1"));
	CHECK_STR(gb_execution_state(waiting.execution), "waiting");
	for (int i = 0; i < QUEUED; i++)
		task_finish(&queued[i]);
	task_finish(&other);
	task_finish(&busy[0]);
	task_finish(&busy[1]);
	task_finish(&waiting);
	gb_service_client_finish(&another);
}

TEST(session_closes_and_a_waiting_run_starts) {
	auto_place struct place place = {0};
	struct task busy = {0}, waiting = {0};
	place_open(&place, (struct wants){.max_sandboxes = 2});
	open_session(&place, "s");
	occupy(&place, &busy);
	task_submit(&waiting, &place.client, javascript("export default 1"));
	CHECK_STR(gb_execution_state(waiting.execution), "waiting");
	/* A turn in which it finds no sandbox. */
	place_turn(&place);
	kill_session(&place, "s");
	task_wait(&place, &waiting);
	CHECK_INT(waiting.status, GB_SUCCESS);
	CHECK_STR(gb_execution_state(busy.execution), "running");
	task_finish(&busy);
	task_finish(&waiting);
}

/* --- turns of clients --- */

enum { CROWD = 12 };

/* @crowds clients have many waiting executions each; @singles clients have one each. */
static void check_fairness(unsigned crowds, unsigned singles) {
	auto_place struct place place = {0};
	struct gb_service_client clients[6];
	struct task busy = {0}, many[6][CROWD] = {0}, one[6] = {0};
	unsigned n_ended = 0, late = 0;
	place_open(&place, (struct wants){.max_runs = 1});
	occupy(&place, &busy);
	for (unsigned c = 0; c < crowds + singles; c++)
		gb_service_client_init(place.service, &clients[c]);
	for (unsigned c = 0; c < crowds; c++)
		for (unsigned i = 0; i < CROWD; i++) {
			many[c][i].n_ended = &n_ended;
			task_submit(&many[c][i], &clients[c], javascript("export default 1"));
		}
	for (unsigned c = 0; c < singles; c++) {
		one[c].n_ended = &n_ended;
		task_submit(&one[c], &clients[crowds + c], javascript("export default 2"));
	}
	task_finish(&busy);
	while (n_ended < crowds * CROWD + singles && place_turn(&place))
		;
	/* At most one execution of each other client starts before that of a client with one. */
	for (unsigned c = 0; c < singles; c++)
		late += one[c].ended_as > crowds + singles;
	CHECK_INT(late, 0);
	/* The executions of a client end in the order of submission, and one of each client in turn. */
	for (unsigned c = 0; c < crowds; c++)
		for (unsigned i = 0; i < CROWD; i++)
			late += many[c][i].ended_as > singles + crowds * (i + 1);
	CHECK_INT(late, 0);
	for (unsigned c = 0; c < crowds; c++)
		for (unsigned i = 0; i < CROWD; i++)
			task_finish(&many[c][i]);
	for (unsigned c = 0; c < singles; c++)
		task_finish(&one[c]);
	for (unsigned c = 0; c < crowds + singles; c++)
		gb_service_client_finish(&clients[c]);
}

TEST(client_with_many_waiting_executions_delays_another_by_one_turn) {
	check_fairness(1, 1);
}

TEST(waiting_executions_of_many_clients_start_in_turn) {
	check_fairness(2, 1);
	check_fairness(3, 3);
	check_fairness(4, 0);
}

/* --- finished executions --- */

static void run_and_release(struct place *place, struct task *task, const char *source) {
	task_submit(task, &place->client, javascript(source));
	task_wait(place, task);
	task_finish(task);
}

TEST(a_limited_number_of_results_is_kept_after_release) {
	auto_place struct place place = {0};
	struct task tasks[4] = {0};
	place_open(&place, (struct wants){.keep_results = 2, .keep_ms = 3600000});
	for (int i = 0; i < 4; i++)
		run_and_release(&place, &tasks[i], "export default 42");
	struct task last = {0};
	task_submit(&last, &place.client, javascript(endless));
	while (gb_service_find(place.service, tasks[1].id) && place_turn(&place))
		;
	CHECK(!gb_service_find(place.service, tasks[0].id));
	CHECK(!gb_service_find(place.service, tasks[1].id));
	for (unsigned i = 2; i < 4; i++) {
		struct gb_execution *kept = gb_service_find(place.service, tasks[i].id);
		CHECK(kept && kept == execution_at(place.service, i - 2));
		const struct gb_result *result = kept ? gb_execution_result(kept) : NULL;
		CHECK(result && gb_value_as_number(result->value) == 42);
		CHECK_STR(result ? result->run_id : "", tasks[i].id);
	}
	CHECK(execution_at(place.service, 2) == last.execution);
	task_finish(&last);
}

/* Each has about 40 MB of values. */
TEST(large_results_are_freed_before_they_fill_the_memory) {
	auto_place struct place place = {0};
	struct task tasks[3] = {0};
	place_open(&place, (struct wants){.keep_results = 10, .keep_ms = 3600000});
	for (int i = 0; i < 3; i++)
		run_and_release(&place, &tasks[i], "export default new Array(1e6).fill(1)");
	struct task last = {0};
	task_submit(&last, &place.client, javascript("export default 1"));
	task_wait(&place, &last);
	CHECK_INT(last.status, GB_SUCCESS);
	CHECK(!gb_service_find(place.service, tasks[0].id));
	CHECK(!gb_service_find(place.service, tasks[1].id));
	CHECK(gb_service_find(place.service, tasks[2].id));
	task_finish(&last);
}

TEST(results_are_freed_after_keep_ms) {
	auto_place struct place place = {0};
	struct task task = {0};
	place_open(&place, (struct wants){.keep_results = 10, .keep_ms = 1});
	run_and_release(&place, &task, "export default 1");
	while (gb_service_find(place.service, task.id) && place_turn(&place))
		;
	CHECK(!execution_at(place.service, 0));
}

TEST(result_is_not_freed_before_its_release) {
	auto_place struct place place = {0};
	struct task held = {0}, others[3] = {0};
	place_open(&place, (struct wants){0});
	task_submit(&held, &place.client, javascript("export default 'kept'"));
	task_wait(&place, &held);
	for (int i = 0; i < 3; i++)
		run_and_release(&place, &others[i], "export default 1");
	while (gb_service_find(place.service, others[2].id) && place_turn(&place))
		;
	CHECK(gb_service_find(place.service, held.id) == held.execution);
	CHECK_STR(gb_value_bytes(gb_execution_result(held.execution)->value, NULL), "kept");
	task_finish(&held);
}

struct watcher {
	struct gb_subscription subscription;
	char kinds[100];
};

static void on_watched(struct gb_subscription *subscription, const struct gb_event *event) {
	struct watcher *watcher = gb_container(struct watcher, subscription, subscription);
	size_t n = strlen(watcher->kinds);
	snprintf(
	    watcher->kinds + n, sizeof watcher->kinds - n, "%s%s", n ? " " : "", gb_event_name(event->kind));
}

TEST(events_of_a_kept_execution_are_replayed) {
	auto_place struct place place = {0};
	struct task task = {0};
	struct watcher watcher = {.subscription.on_event = on_watched};
	place_open(&place,
	    (struct wants){.keep_results = 10, .keep_ms = 3600000, .replay = {.bytes = 1000, .count = 100}});
	run_and_release(&place, &task, "console.log('a'); console.log('b')");
	struct gb_execution *kept = gb_service_find(place.service, task.id);
	CHECK(kept);
	gb_events_subscribe(gb_execution_events(kept), &watcher.subscription, 0);
	CHECK_STR(watcher.kinds, "started log log finished");
	gb_subscription_end(&watcher.subscription);
}

TEST(execution_with_a_subscription_is_not_freed) {
	auto_place struct place place = {0};
	struct task task = {0}, other = {0};
	struct watcher watcher = {.subscription.on_event = on_watched};
	place_open(&place, (struct wants){0});
	task_submit(&task, &place.client, javascript("export default 1"));
	gb_events_subscribe(gb_execution_events(task.execution), &watcher.subscription, 0);
	task_wait(&place, &task);
	task_finish(&task);
	run_and_release(&place, &other, "export default 1");
	while (gb_service_find(place.service, other.id) && place_turn(&place))
		;
	CHECK(gb_service_find(place.service, task.id));
	CHECK_STR(watcher.kinds, "started finished");
	gb_subscription_end(&watcher.subscription);
	run_and_release(&place, &other, "export default 1");
	while (gb_service_find(place.service, other.id) && place_turn(&place))
		;
	CHECK(!gb_service_find(place.service, task.id));
}

/* --- release --- */

TEST(release_of_a_running_execution_ends_it) {
	auto_place struct place place = {0};
	struct task task = {0}, next = {0};
	struct watcher watcher = {.subscription.on_event = on_watched};
	place_open(&place, (struct wants){.max_runs = 1});
	occupy(&place, &task);
	gb_events_subscribe(gb_execution_events(task.execution), &watcher.subscription, 0);
	task_submit(&next, &place.client, javascript("export default 1"));
	task_finish(&task);
	/* Its submitter is not called; others are. */
	CHECK_INT(task.n_events, 0);
	task_wait(&place, &next);
	CHECK_INT(next.status, GB_SUCCESS);
	CHECK_STR(watcher.kinds, "started finished");
	struct gb_execution *ended = gb_service_find(place.service, task.id);
	CHECK(ended && gb_execution_result(ended)->status == GB_TERMINATED);
	gb_subscription_end(&watcher.subscription);
	task_finish(&next);
}

static void release_at_once(struct task *task, const struct gb_event *event) {
	if (event->kind == GB_EVENT_LOG)
		task_finish(task);
}

TEST(execution_can_be_released_in_its_own_callback) {
	auto_place struct place place = {0};
	struct task task = {.then = release_at_once}, next = {0};
	place_open(&place, (struct wants){.max_runs = 1});
	task_submit(&task, &place.client, javascript("for (;;) console.log(1)"));
	task_submit(&next, &place.client, javascript("export default 1"));
	task_wait(&place, &next);
	CHECK_INT(task.n_events, 1);
	CHECK(!task.execution);
	task_finish(&next);
}

/* --- hold --- */

static void hold_first(struct task *task, const struct gb_event *event) {
	if (task->n_events == 1)
		gb_execution_hold(task->execution, true);
}

TEST(held_execution_waits_and_loses_nothing) {
	auto_place struct place place = {0};
	/* More than fits into the buffers of a socket. */
	enum { LINES = 5000 };
	struct task task = {.then = hold_first}, others[5] = {0};
	struct gb_gate_request request =
	    javascript("for (let i = 0; i < 5000; i++) console.log('x'.repeat(1000), i)");
	request.run.output_bytes = 64 << 20;
	place_open(&place, (struct wants){0});
	task_submit(&task, &place.client, request);
	while (!task.n_events && place_turn(&place))
		;
	unsigned before = task.n_events;
	/* In these turns its events would be delivered if it were not held. */
	for (int i = 0; i < 5; i++)
		run_and_release(&place, &others[i], "export default 1");
	CHECK_INT(task.n_events, before);
	CHECK(before < LINES);
	CHECK_STR(gb_execution_state(task.execution), "running");
	gb_execution_hold(task.execution, false);
	task_wait(&place, &task);
	CHECK_INT(task.status, GB_SUCCESS);
	CHECK_INT(task.n_events, LINES + 1);
	CHECK(!task.out_of_order);
	task_finish(&task);
}

TEST(execution_that_is_held_while_it_waits_starts_held) {
	auto_place struct place place = {0};
	struct task busy = {0}, task = {0}, others[3] = {0};
	struct gb_gate_request request =
	    javascript("for (let i = 0; i < 5000; i++) console.log('x'.repeat(1000), i)");
	request.run.output_bytes = 64 << 20;
	place_open(&place, (struct wants){.max_runs = 2});
	occupy(&place, &busy);
	occupy(&place, &others[0]);
	task_submit(&task, &place.client, request);
	gb_execution_hold(task.execution, true);
	task_finish(&busy);
	while (!task.n_events && place_turn(&place))
		;
	CHECK_STR(task.kinds, "started");
	task_finish(&others[0]);
	for (int i = 1; i < 3; i++)
		run_and_release(&place, &others[i], "export default 1");
	CHECK_STR(task.kinds, "started");
	gb_execution_hold(task.execution, false);
	task_wait(&place, &task);
	CHECK_INT(task.n_events, 5000 + 2);
	CHECK(!task.out_of_order);
	task_finish(&task);
}

/* --- agents --- */

struct recorded {
	unsigned n;
	char run_id[40], status[40];
};

static bool count_record(
    void *data, uint64_t seq, const struct gb_hash *hash, const struct gb_audit_record *record) {
	struct recorded *recorded = data;
	if (gb_str_eq(record->kind, GB_STR("execution_begin")))
		return true;
	recorded->n++;
	snprintf(recorded->run_id, sizeof recorded->run_id, "%.*s", (int)record->run_id.n, record->run_id.p);
	snprintf(recorded->status, sizeof recorded->status, "%.*s", (int)record->status.n, record->status.p);
	return true;
}

/* Count the records of ended executions, and return the newest. */
static struct recorded records(const struct place *place) {
	struct recorded recorded = {0};
	struct gb_err err = {0};
	CHECK(gb_audit_each(place->folder, &(struct gb_audit_filter){0}, count_record, &recorded, &err));
	return recorded;
}

TEST(agents_execution_has_the_same_events_and_life_cycle) {
	auto_place struct place place = {0};
	struct task task = {0};
	struct watcher watcher = {.subscription.on_event = on_watched};
	place_open(&place, (struct wants){.yaml = OPEN_TO_ALL,
			       .keep_results = 10,
			       .keep_ms = 3600000,
			       .replay = {.bytes = 1000, .count = 100}});
	task_submit(&task, &place.client, of_agent(python("print('a')\n6 * 7")));
	CHECK_INT(strspn(task.id, "0123456789abcdef"), 32);
	CHECK_STR(gb_execution_state(task.execution), "waiting");
	CHECK(gb_execution_is_agent(task.execution));
	CHECK(gb_service_find(place.service, task.id) == task.execution);
	task_wait(&place, &task);
	CHECK_INT(task.status, GB_SUCCESS);
	CHECK_STR(task.kinds, "started output finished");
	CHECK_STR(task.run_id, task.id);
	CHECK_STR(gb_buf_c_str(&task.text), "a\n");
	struct recorded recorded = records(&place);
	CHECK_INT(recorded.n, 1);
	CHECK_STR(recorded.run_id, task.id);
	task_finish(&task);
	struct gb_execution *kept = gb_service_find(place.service, task.id);
	CHECK(kept && gb_value_as_number(gb_execution_result(kept)->value) == 42);
	gb_events_subscribe(gb_execution_events(kept), &watcher.subscription, 0);
	CHECK_STR(watcher.kinds, "started output finished");
	gb_subscription_end(&watcher.subscription);
}

TEST(agents_execution_without_output_has_the_same_events) {
	auto_place struct place place = {0};
	struct task task = {0};
	place_open(&place, (struct wants){.yaml = OPEN_TO_ALL});
	task_submit(&task, &place.client, of_agent(javascript("export default 1")));
	task_wait(&place, &task);
	CHECK_INT(task.status, GB_SUCCESS);
	CHECK_STR(task.kinds, "started finished");
	task_finish(&task);
}

TEST(agents_execution_waits_for_approval) {
	auto_place struct place place = {0};
	struct task task = {0}, denied = {0};
	place_open(&place, (struct wants){.yaml = ASKING});
	task_submit(&task, &place.client, of_agent(python("print('a')")));
	task_submit(&denied, &place.client, of_agent(python("print('b')")));
	while (!(*task.approval && *denied.approval) && place_turn(&place))
		;
	CHECK_STR(task.kinds, "pending");
	CHECK_STR(gb_execution_state(task.execution), "waiting");
	decide_in(place.folder, denied.approval, GB_DENY);
	decide_in(place.folder, task.approval, GB_APPROVE);
	task_wait(&place, &task);
	task_wait(&place, &denied);
	CHECK_STR(task.kinds, "pending started output finished");
	CHECK_INT(task.status, GB_SUCCESS);
	/* Its code was not run. */
	CHECK_STR(denied.kinds, "pending finished");
	CHECK_INT(denied.status, GB_DENIED);
	task_finish(&task);
	task_finish(&denied);
}

TEST(agents_execution_that_waits_can_be_terminated) {
	auto_place struct place place = {0};
	struct task task = {0};
	place_open(&place, (struct wants){.yaml = ASKING});
	task_submit(&task, &place.client, of_agent(javascript("export default 1")));
	while (!*task.approval && place_turn(&place))
		;
	gb_execution_terminate(task.execution, "not needed");
	task_wait(&place, &task);
	CHECK_STR(task.kinds, "pending finished");
	CHECK_INT(task.n_finished, 1);
	CHECK_INT(task.status, GB_DENIED);
	CHECK_STR(gb_execution_result(task.execution)->error.code, "withdrawn");
	task_finish(&task);
}

TEST(release_of_an_agents_running_execution_ends_and_records_it) {
	auto_place struct place place = {0};
	struct task task = {0};
	place_open(&place, (struct wants){.yaml = OPEN_TO_ALL, .keep_results = 10, .keep_ms = 3600000});
	task_submit(&task, &place.client, of_agent(python("print('a', flush=True)\nwhile True: pass")));
	while (!task.text.len && place_turn(&place))
		;
	CHECK_STR(gb_execution_state(task.execution), "running");
	task_finish(&task);
	struct gb_execution *kept = gb_service_find(place.service, task.id);
	while (kept && !gb_execution_result(kept) && place_turn(&place))
		;
	CHECK(kept && gb_execution_result(kept)->status == GB_TERMINATED);
	CHECK_STR(task.kinds, "started output");
	struct recorded recorded = records(&place);
	CHECK_INT(recorded.n, 1);
	CHECK_STR(recorded.run_id, task.id);
	CHECK_STR(recorded.status, "terminated");
}

/* --- masking --- */

/* Masking LARGE bytes takes more than a second, and LINE bytes longer than a callback of the loop may: the watchdog
 * ends a process in which the loop does it. A sanitizer makes it more than ten times slower. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define LARGE "2e5"
#else
#define LARGE "1.8e6"
#endif
#define LINE "1e5"

/* The worst text for the filter, with a secret at the end. */
#define TEXT(times) "'password='.repeat(" times ") + ' AKIA2E3F4G5H6I7J8K9L'"

static const char talkative[] = "console.log('first'); console.log(" TEXT(LINE) "); console.log('last');"
										"export default " TEXT(LARGE);

static bool is_masked(const struct gb_value *value) {
	size_t n;
	const char *text = value && gb_value_type(value) == GB_STRING ? gb_value_bytes(value, &n) : "";
	return strncmp(text, "password=", 9) == 0 && strcmp(text + n - 4, " ***") == 0;
}

static unsigned n_masked_logs;

static void check_log(struct task *task, const struct gb_event *event) {
	(void)task;
	if (event->kind == GB_EVENT_LOG)
		n_masked_logs += is_masked(gb_value_at(event->log.args, 0));
}

/* Other executions are finished while @task is masked. */
static void check_others_go_on(struct place *place, struct task *task) {
	unsigned n_others = 0;
	while (!gb_execution_result(task->execution) && n_others < 100000) {
		struct task other = {0};
		task_submit(&other, &place->client, javascript("export default 1"));
		task_wait(place, &other);
		CHECK_INT(other.status, GB_SUCCESS);
		task_finish(&other);
		n_others++;
	}
	CHECK(n_others > 2);
	CHECK_INT(task->status, GB_SUCCESS);
	CHECK(!task->out_of_order);
	CHECK_INT(n_masked_logs, 1);
	const struct gb_result *result = gb_execution_result(task->execution);
	CHECK(result && is_masked(result->value));
	CHECK(result && result->n_logs == 3 && is_masked(gb_value_at(result->logs[1].args, 0)));
}

TEST(masking_a_long_result_does_not_hold_up_the_loop) {
	auto_place struct place place = {0};
	struct task task = {.then = check_log};
	n_masked_logs = 0;
	place_open(&place, (struct wants){.masks = true});
	task_submit(&task, &place.client, javascript(talkative));
	check_others_go_on(&place, &task);
	CHECK_STR(task.kinds, "log finished");
	CHECK_INT(task.n_events, 4);
	task_finish(&task);
}

TEST(masking_a_long_result_of_an_agent_does_not_hold_up_the_loop) {
	auto_place struct place place = {0};
	struct task task = {.then = check_log};
	n_masked_logs = 0;
	place_open(&place, (struct wants){.yaml = OPEN_TO_ALL});
	task_submit(&task, &place.client, of_agent(javascript(talkative)));
	check_others_go_on(&place, &task);
	CHECK_STR(task.kinds, "started log finished");
	CHECK_INT(task.n_events, 5);
	CHECK_INT(records(&place).n, 1);
	task_finish(&task);
}

TEST(masking_much_output_does_not_hold_up_the_loop) {
	auto_place struct place place = {0};
	struct task task = {0};
	place_open(&place, (struct wants){.masks = true});
	task_submit(&task, &place.client, python("print('password=' * 100000, 'AKIA2E3F4G5H6I7J8K9L')\n1"));
	task_wait(&place, &task);
	CHECK_STR(task.kinds, "output finished");
	CHECK_INT(task.text.len, 900000 + 5);
	CHECK(task.text.len > 5 && memcmp(task.text.data + task.text.len - 5, " ***\n", 5) == 0);
	CHECK_INT(gb_execution_result(task.execution)->stdout_bytes, task.text.len);
	task_finish(&task);
}

static void on_report(
    struct gb_execution *execution, const struct gb_value *value, struct gb_call *call, void *data) {
	struct task *task = data;
	(void)execution;
	task_add_kind(task, is_masked(value) ? "answered" : "unmasked");
	gb_call_return(call, NULL);
}

static void submit_with_reports(struct place *place, struct task *task, const char *source) {
	struct gb_err err = {0};
	struct gb_submission submission = {
	    .request = javascript(source), .on_event = task_on_event, .on_report = on_report, .data = task};
	submission.request.run.report = true;
	CHECK(gb_service_submit(&place->client, &submission, &task->execution, &err));
	snprintf(task->id, sizeof task->id, "%s", gb_execution_id(task->execution));
}

/* Until something is being masked on a thread. */
static void wait_until_busy(struct place *place, struct task *task) {
	while (!gb_masked_is_busy(task->execution->masked) && place_turn(place))
		;
}

TEST(long_report_is_answered_when_it_is_masked) {
	auto_place struct place place = {0};
	struct task task = {0}, other = {0};
	place_open(&place, (struct wants){.masks = true});
	submit_with_reports(&place, &task,
	    "console.log('a'); await report(" TEXT(LINE) "); console.log('b');"
							 "report(" TEXT(LINE) "); export default 1");
	task_wait(&place, &task);
	CHECK_INT(task.status, GB_SUCCESS);
	/* The code did not wait for the second answer. */
	CHECK_STR(task.kinds, "log report answered log report answered finished");
	CHECK_INT(gb_execution_result(task.execution)->n_reports, 2);
	task_finish(&task);
	/* The client goes while a report is masked. */
	submit_with_reports(&place, &other, "await report(" TEXT(LARGE) "); for (;;);");
	wait_until_busy(&place, &other);
	task_finish(&other);
	while (gb_service_find(place.service, other.id) && place_turn(&place))
		;
}

/* Until the code has ended and its result is being masked. */
static void wait_for_masking(struct place *place, struct task *task) {
	while (!gb_run_settled(gb_execution_run(task->execution)) && place_turn(place))
		;
	CHECK(!gb_execution_result(task->execution));
	CHECK_STR(gb_execution_state(task->execution), "running");
}

TEST(execution_can_be_terminated_and_released_while_it_is_masked) {
	auto_place struct place place = {0};
	struct task task = {0}, gone = {0}, waiting = {0};
	struct gb_err err = {0};
	place_open(&place, (struct wants){.masks = true, .max_runs = 1});
	task_submit(&task, &place.client, javascript("export default " TEXT(LARGE)));
	task_submit(&waiting, &place.client, javascript("export default 1"));
	wait_for_masking(&place, &task);
	/* The code has ended, so these have no effect. */
	gb_execution_terminate(task.execution, "too late");
	gb_execution_hold(task.execution, true);
	CHECK(!gb_execution_interrupt(task.execution, &err));
	CHECK(gb_service_find(place.service, task.id) == task.execution);
	/* It has no sandbox any more. */
	task_wait(&place, &waiting);
	CHECK_INT(task.n_events, 0);
	task_wait(&place, &task);
	CHECK_INT(task.status, GB_SUCCESS);
	CHECK(is_masked(gb_execution_result(task.execution)->value));
	CHECK_STR(task.kinds, "finished");
	task_finish(&task);
	task_submit(&gone, &place.client, javascript("export default " TEXT(LARGE)));
	wait_for_masking(&place, &gone);
	task_finish(&gone);
	CHECK_INT(gone.n_events, 0);
	CHECK(gb_service_find(place.service, gone.id));
	while (gb_service_find(place.service, gone.id) && place_turn(&place))
		;
	task_finish(&waiting);
}

TEST(execution_that_is_terminated_while_a_log_is_masked_ends_after_it) {
	auto_place struct place place = {0};
	struct task task = {0};
	struct gb_gate_request request =
	    javascript("console.log('a'); console.log(" TEXT(LARGE) "); console.log('b'); for (;;);");
	request.run.output_bytes = 64 << 20;
	place_open(&place, (struct wants){.masks = true});
	task_submit(&task, &place.client, request);
	wait_until_busy(&place, &task);
	CHECK_INT(task.n_events, 1);
	gb_execution_terminate(task.execution, "enough");
	CHECK_INT(task.n_events, 1);
	CHECK_STR(gb_execution_state(task.execution), "running");
	task_wait(&place, &task);
	CHECK_STR(task.kinds, "log finished");
	CHECK_INT(task.status, GB_TERMINATED);
	CHECK(gb_execution_result(task.execution)->n_logs >= 2);
	CHECK(is_masked(gb_value_at(gb_execution_result(task.execution)->logs[1].args, 0)));
	task_finish(&task);
}

TEST(service_is_destroyed_while_a_result_is_masked) {
	auto_place struct place place = {0};
	struct task task = {0};
	place_open(&place, (struct wants){.masks = true});
	task_submit(&task, &place.client, javascript("export default " TEXT(LARGE)));
	wait_for_masking(&place, &task);
	task_finish(&task);
}

/* The result of an agent's execution is being masked some time after its first log is delivered. */
static void submit_talkative_agent(struct place *place, struct task *task) {
	task_submit(task, &place->client, of_agent(javascript(talkative)));
	while (!task->n_events && place_turn(place))
		;
	for (int i = 0; i < 20; i++) {
		struct task other = {0};
		run_and_release(place, &other, "export default 1");
	}
	CHECK(!gb_execution_result(task->execution));
}

TEST(agents_execution_that_is_released_while_it_is_masked_is_recorded) {
	auto_place struct place place = {0};
	struct task task = {0};
	place_open(&place, (struct wants){.yaml = OPEN_TO_ALL, .keep_results = 10, .keep_ms = 3600000});
	submit_talkative_agent(&place, &task);
	gb_execution_terminate(task.execution, "too late");
	task_finish(&task);
	struct gb_execution *kept = gb_service_find(place.service, task.id);
	while (kept && !gb_execution_result(kept) && place_turn(&place))
		;
	struct recorded recorded = records(&place);
	CHECK_INT(recorded.n, 1);
	CHECK_STR(recorded.run_id, task.id);
}

TEST(agents_execution_that_is_masked_when_the_service_ends_is_recorded) {
	auto_place struct place place = {0};
	struct task task = {0};
	place_open(&place, (struct wants){.yaml = OPEN_TO_ALL});
	submit_talkative_agent(&place, &task);
	task_finish(&task);
	gb_service_client_finish(&place.client);
	gb_service_destroy(place.service);
	place.service = NULL;
	struct recorded recorded = records(&place);
	CHECK_INT(recorded.n, 1);
	CHECK_STR(recorded.run_id, task.id);
}
