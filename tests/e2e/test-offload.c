/* Long values are decoded on threads of the caller: order, and everything that can end a run meanwhile. */
#include <unistd.h>

#include "e2e/engine.h"
#include "e2e/threads.h"
#include "tap.h"

static struct held_tasks held;
static struct gb_engine *engine;
static struct gb_values *pool; /* for the inputs of runs */

__attribute__((constructor)) static void set_up(void) {
	engine = engine_with((struct gb_engine_options){.offload = hold_task, .offload_data = &held});
	pool = gb_values_create(0);
	if (!engine)
		exit(1);
}

__attribute__((destructor)) static void tear_down(void) {
	gb_engine_destroy(engine);
	gb_values_destroy(pool);
}

/* --- a run that notes its events: "l" a short log line, "L" a long one, "r" report, "c" call, "." settled --- */

struct seen {
	char events[64];
	size_t n;
	const struct gb_result *result;
	struct gb_call *call;
	bool destroys;
};

static void note(struct seen *seen, char event) {
	if (seen->n < sizeof seen->events - 1)
		seen->events[seen->n++] = event;
}

static size_t length_of(const struct gb_value *value) {
	size_t n = 0;
	gb_value_bytes(value, &n);
	return n;
}

static void on_log(struct gb_run *run, const struct gb_log *log, void *data) {
	struct seen *seen = data;
	note(seen, length_of(gb_value_at(log->args, 0)) > 1000 ? 'L' : 'l');
	if (seen->destroys)
		gb_run_destroy(run);
}

static void on_call(struct gb_run *run, struct gb_call *call, void *data) {
	(void)run;
	note(data, 'c');
	((struct seen *)data)->call = call;
}

static void on_report(struct gb_run *run, const struct gb_value *value, struct gb_call *call, void *data) {
	(void)run, (void)value;
	note(data, 'r');
	gb_call_return(call, NULL);
}

static void on_settled(struct gb_run *run, const struct gb_result *result, void *data) {
	(void)run;
	note(data, '.');
	((struct seen *)data)->result = result;
}

static struct gb_run *start_seen(struct seen *seen, struct gb_run_options options) {
	struct gb_value *globals = gb_value_object(pool);
	gb_value_put_key(globals, "f", gb_value_function(pool, 1, "f"));
	options.globals = globals;
	options.report = true;
	options.on_log = on_log;
	options.on_call = on_call;
	options.on_report = on_report;
	options.on_settled = on_settled;
	options.data = seen;
	if (!options.timeout_ms)
		options.timeout_ms = 600000;
	*seen = (struct seen){0};
	return start(engine, options);
}

static void await_tasks(unsigned n) {
	while (held.n < n && gb_engine_dispatch(engine, -1, NULL))
		;
}

static void await_settled(struct gb_run *run) {
	while (!gb_run_settled(run) && gb_engine_dispatch(engine, -1, NULL))
		run_held(&held);
}

static bool engine_works(void) {
	struct seen seen;
	struct gb_run *run = start_seen(&seen, (struct gb_run_options){.source = "export default 42"});
	const struct gb_result *result = run ? gb_run_wait(run) : NULL;
	bool works = result && gb_value_as_number(result->value) == 42;
	gb_run_destroy(run);
	return works;
}

#define LONG  "'x'.repeat(200000)"
#define LONGS "Array.from({length: 50000}, (_, i) => ({i}))"

/* --- results --- */

TEST(long_result_is_decoded_by_another_thread) {
	struct seen seen;
	struct gb_run *run = start_seen(&seen, (struct gb_run_options){.source = "export default " LONG});
	await_tasks(1);
	CHECK(!gb_run_settled(run));
	run_held(&held);
	CHECK(!gb_run_settled(run)); /* before the next turn */
	await_settled(run);
	CHECK_STR(seen.events, ".");
	CHECK(seen.result->status == GB_SUCCESS && length_of(seen.result->value) == 200000);
	gb_run_destroy(run);
}

TEST(short_result_needs_no_thread) {
	unsigned before = held.total;
	CHECK(engine_works());
	CHECK_INT(held.total, before);
}

TEST(wait_returns_the_result_of_a_thread) {
	struct gb_engine *other = engine_with((struct gb_engine_options){.offload = threads_offload});
	struct gb_run *run = start(other, (struct gb_run_options){.source = "export default " LONGS});
	const struct gb_result *result = gb_run_wait(run);
	CHECK(result && gb_value_count(result->value) == 50000);
	gb_run_destroy(run);
	gb_engine_destroy(other);
}

TEST(without_a_free_thread_the_engine_decodes_itself) {
	struct seen seen;
	unsigned before = held.total;
	held.refuses = true;
	struct gb_run *run =
	    start_seen(&seen, (struct gb_run_options){.source = "console.log(" LONG "); console.log(" LONG
								"); export default " LONGS});
	const struct gb_result *result = gb_run_wait(run);
	CHECK(result && gb_value_count(result->value) == 50000);
	CHECK_STR(seen.events, "LL.");
	CHECK_INT(held.total, before + 3);
	gb_run_destroy(run);
	held.refuses = false;
}

/* --- order --- */

TEST(events_behind_a_long_one_wait_for_it) {
	struct seen seen;
	struct gb_run *run = start_seen(&seen,
	    (struct gb_run_options){.source = "console.log('a'); console.log(" LONG "); console.log('b');"
					      "report(" LONGS "); console.log(" LONG "); export default 1"});
	await_tasks(1);
	CHECK_STR(seen.events, "l");
	/* Further turns change nothing. */
	CHECK(engine_works());
	CHECK_STR(seen.events, "l");
	await_settled(run);
	CHECK_STR(seen.events, "lLlrL.");
	CHECK(gb_value_count(seen.result->reports[0]) == 50000);
	CHECK(length_of(gb_value_at(seen.result->logs[3].args, 0)) == 200000);
	gb_run_destroy(run);
}

TEST(long_calls_and_answers_are_decoded_by_another_thread) {
	struct seen seen;
	unsigned before = held.total;
	struct gb_run *run = start_seen(
	    &seen, (struct gb_run_options){.source = "export default f(" LONGS ", " LONG ").length"});
	await_tasks(1);
	CHECK_STR(seen.events, "");
	run_held(&held);
	while (!seen.call && gb_engine_dispatch(engine, -1, NULL))
		;
	CHECK(gb_value_count(gb_value_at(gb_call_args(seen.call), 0)) == 50000);
	gb_call_return(seen.call, gb_value_string(gb_call_values(seen.call), "abc", 3));
	await_settled(run);
	CHECK(seen.result->status == GB_SUCCESS && gb_value_as_number(seen.result->value) == 3);
	CHECK_INT(held.total, before + 1);
	gb_run_destroy(run);
}

static unsigned n_answers;
static size_t answer_count;

static void on_answer(struct gb_run *run, const struct gb_value *value, bool thrown, void *data) {
	(void)run, (void)thrown, (void)data;
	n_answers++;
	answer_count = gb_value_count(value);
}

/* A run that lends the host a function, whose answer is long. */
static struct gb_run *start_lending(struct seen *seen) {
	n_answers = 0;
	answer_count = 0;
	struct gb_run *run = start_seen(
	    seen, (struct gb_run_options){.source = "f(() => " LONGS "); await new Promise(() => {})"});
	while (!seen->call && gb_engine_dispatch(engine, -1, NULL))
		;
	enum gb_side side;
	uint32_t id = 0;
	gb_value_as_callable(gb_value_at(gb_call_args(seen->call), 0), &side, &id);
	gb_call_return(seen->call, NULL);
	CHECK(gb_run_call(run, id, NULL, on_answer, NULL, NULL));
	await_tasks(1);
	CHECK_INT(n_answers, 0);
	return run;
}

TEST(long_answer_of_the_code_is_decoded_by_another_thread) {
	struct seen seen;
	struct gb_run *run = start_lending(&seen);
	run_held(&held);
	while (!n_answers && gb_engine_dispatch(engine, -1, NULL))
		;
	CHECK_INT(answer_count, 50000);
	gb_run_destroy(run);
}

TEST(an_answer_that_is_being_decoded_is_not_delivered_after_the_end) {
	struct seen seen;
	struct gb_run *run = start_lending(&seen);
	gb_run_terminate(run, NULL);
	CHECK_INT(n_answers, 1); /* without a value */
	CHECK_INT(answer_count, 0);
	run_held(&held);
	CHECK(engine_works());
	CHECK_INT(n_answers, 1);
	gb_run_destroy(run);
}

/* --- ends meanwhile --- */

TEST(terminate_does_not_wait_for_the_thread) {
	static const char *const sources[] = {
	    "export default " LONG, "console.log(" LONG "); for (;;);", "f(" LONG ")", "report(" LONG ")"};
	for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
		struct seen seen;
		struct gb_run *run = start_seen(&seen, (struct gb_run_options){.source = sources[i]});
		await_tasks(1);
		gb_run_terminate(run, "enough");
		CHECK_STR(seen.events, ".");
		CHECK(seen.result->status == GB_TERMINATED);
		CHECK_STR(seen.result->error.message, "enough");
		run_held(&held);
		CHECK(engine_works());
		CHECK_STR(seen.events, ".");
		gb_run_destroy(run);
	}
}

TEST(run_can_be_destroyed_while_a_thread_decodes) {
	static const char *const sources[] = {
	    "export default " LONGS, "console.log(" LONG ")", "f(" LONGS ")", "report(" LONGS ")"};
	for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
		struct seen seen;
		struct gb_run *run = start_seen(&seen, (struct gb_run_options){.source = sources[i]});
		await_tasks(1);
		gb_run_destroy(run);
		CHECK(engine_works());
		run_held(&held);
		CHECK(engine_works());
		CHECK_STR(seen.events, "");
	}
}

TEST(callback_of_a_decoded_value_may_destroy_the_run) {
	struct seen seen;
	struct gb_run *run = start_seen(&seen,
	    (struct gb_run_options){.source = "console.log(" LONG "); console.log('b'); export default 1"});
	seen.destroys = true;
	await_tasks(1);
	run_held(&held);
	(void)run;
	CHECK(engine_works());
	CHECK_STR(seen.events, "L");
}

TEST(engine_waits_for_threads_before_it_is_freed) {
	struct held_tasks own = {0};
	pthread_t thread;
	struct gb_engine *other =
	    engine_with((struct gb_engine_options){.offload = hold_task, .offload_data = &own});
	for (int i = 0; i < 3; i++)
		start(other, (struct gb_run_options){.source = "export default " LONGS});
	while (own.n < 3 && gb_engine_dispatch(other, -1, NULL))
		;
	CHECK(pthread_create(&thread, NULL, run_all_held, &own) == 0);
	gb_engine_destroy(other);
	pthread_join(thread, NULL);
}

/* When a run that was started now has reached its deadline, so have the runs before it with the same timeout. */
enum { SHORT_MS = 2000 };

static void await_deadline(void) {
	struct seen seen;
	struct gb_run *run =
	    start_seen(&seen, (struct gb_run_options){.source = "for (;;);", .timeout_ms = SHORT_MS});
	gb_run_wait(run);
	CHECK(seen.result->timed_out);
	gb_run_destroy(run);
}

TEST(log_that_is_being_decoded_at_the_deadline_is_kept) {
	struct seen seen;
	struct gb_run *run = start_seen(&seen,
	    (struct gb_run_options){.source = "console.log(" LONG "); for (;;);", .timeout_ms = SHORT_MS});
	await_tasks(1);
	await_deadline();
	CHECK_STR(seen.events, "");
	await_settled(run);
	CHECK_STR(seen.events, "L.");
	CHECK(seen.result->status == GB_TERMINATED && seen.result->timed_out);
	gb_run_destroy(run);
}

TEST(result_that_is_being_decoded_at_the_deadline_counts) {
	struct seen seen;
	struct gb_run *run = start_seen(
	    &seen, (struct gb_run_options){.source = "export default " LONG, .timeout_ms = SHORT_MS});
	await_tasks(1);
	await_deadline();
	CHECK_STR(seen.events, "");
	await_settled(run);
	CHECK(seen.result->status == GB_SUCCESS && !seen.result->timed_out);
	gb_run_destroy(run);
}

TEST(log_that_is_being_decoded_when_the_process_ends_is_kept) {
	struct seen seen;
	struct gb_run *run = start_seen(
	    &seen, (struct gb_run_options){.source = "console.log(" LONG "); const a = [];"
						     "for (;;) a.push(new Uint8Array(1 << 20).fill(1))",
		       .memory_bytes = 16 << 20});
	await_tasks(1);
	await_deadline();
	CHECK_STR(seen.events, "");
	await_settled(run);
	CHECK_STR(seen.events, "L.");
	CHECK(seen.result->status == GB_MEMORY);
	gb_run_destroy(run);
}

/* --- sessions --- */

static struct gb_session *open_session(void) {
	struct gb_session *session = NULL;
	struct gb_err err = {0};
	if (!CHECK(gb_session_open(engine, GB_JAVASCRIPT, NULL, &session, &err)))
		printf("# %s\n", err.message);
	return session;
}

static struct gb_run *start_in(struct gb_session *session, struct seen *seen, const char *source) {
	*seen = (struct seen){0};
	return start(engine, (struct gb_run_options){.session = session,
				 .source = source,
				 .timeout_ms = 600000,
				 .on_log = on_log,
				 .on_settled = on_settled,
				 .data = seen});
}

TEST(session_continues_after_a_decoded_result) {
	struct gb_session *session = open_session();
	struct seen seen;
	for (int i = 0; i < 3; i++) {
		struct gb_run *run = start_in(session, &seen, "console.log(" LONG "); " LONG);
		await_tasks(1);
		CHECK(gb_session_state(session) == GB_SESSION_EXECUTING);
		await_settled(run);
		CHECK_STR(seen.events, "L.");
		CHECK(seen.result->status == GB_SUCCESS && length_of(seen.result->value) == 200000);
		CHECK(gb_session_state(session) == GB_SESSION_IDLE);
		gb_run_destroy(run);
	}
	gb_session_close(session);
}

TEST(interrupt_has_no_effect_on_a_result_that_is_being_decoded) {
	struct gb_session *session = open_session();
	struct seen seen;
	struct gb_run *run = start_in(session, &seen, LONG);
	await_tasks(1);
	CHECK(!gb_run_interrupt(run));
	await_settled(run);
	CHECK(seen.result->status == GB_SUCCESS);
	CHECK(gb_session_state(session) == GB_SESSION_IDLE);
	gb_run_destroy(run);
	gb_session_close(session);
}

TEST(session_can_be_closed_while_a_thread_decodes) {
	struct gb_session *session = open_session();
	struct seen seen;
	start_in(session, &seen, LONG);
	await_tasks(1);
	gb_session_close(session);
	run_held(&held);
	CHECK(engine_works());
	CHECK_STR(seen.events, "");
}

TEST(terminate_in_a_session_does_not_wait_for_the_thread) {
	struct gb_session *session = open_session();
	struct seen seen;
	struct gb_run *run = start_in(session, &seen, "console.log(" LONG "); for (;;);");
	await_tasks(1);
	gb_run_terminate(run, "enough");
	CHECK_STR(seen.events, ".");
	CHECK(gb_session_state(session) == GB_SESSION_TERMINATED);
	run_held(&held);
	CHECK(engine_works());
	gb_run_destroy(run);
	gb_session_close(session);
}
