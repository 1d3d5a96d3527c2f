/* Runs through the public API: options, results, limits, events, and the effect on the host process. */
#include <poll.h>
#include <signal.h>
#include <time.h>

#include "e2e/engine.h"
#include "tap.h"

static struct gb_engine *engine;

__attribute__((constructor)) static void set_up(void) {
	engine = engine_with((struct gb_engine_options){0});
	if (!engine)
		exit(1);
}

__attribute__((destructor)) static void tear_down(void) {
	gb_engine_destroy(engine);
}

/* --- options --- */

static void check_refused(struct gb_run_options options, enum gb_err_code code, const char *text) {
	struct gb_err err = {0};
	struct gb_run *run = NULL;
	CHECK(!gb_run_start(engine, &options, &run, &err));
	CHECK(run == NULL);
	CHECK_INT(err.code, code);
	if (!CHECK(strstr(err.message, text)))
		printf("#   %s\n", err.message);
}

TEST(error_names_the_invalid_option) {
	struct gb_values *pool = gb_values_create(0);
	struct gb_value *object = gb_value_object(pool), *bad_name = gb_value_object(pool);
	gb_value_put_key(bad_name, "a-b", gb_value_null(pool));
	check_refused((struct gb_run_options){0}, GB_EINVAL, "source");
	check_refused((struct gb_run_options){.source = "\xff"}, GB_EINVAL, "source");
	check_refused((struct gb_run_options){.source = "1", .fn = "\xff"}, GB_EINVAL, "fn");
	check_refused((struct gb_run_options){.source = "1", .filename = "\xff"}, GB_EINVAL, "filename");
	check_refused((struct gb_run_options){.source = "1", .args = object}, GB_EINVAL, "args");
	check_refused(
	    (struct gb_run_options){.source = "1", .globals = gb_value_null(pool)}, GB_EINVAL, "globals");
	check_refused((struct gb_run_options){.source = "1", .globals = bad_name}, GB_EINVAL, "a-b");
	check_refused(
	    (struct gb_run_options){.source = "1", .memory_bytes = 1000}, GB_EINVAL, "memory_bytes");
	check_refused(
	    (struct gb_run_options){.source = "1", .output_bytes = UINT64_MAX}, GB_EINVAL, "output_bytes");
	check_refused(
	    (struct gb_run_options){.source = "1", .source_bytes = GB_SOURCE_MAX + 1}, GB_ELIMIT, "source");
	gb_values_destroy(pool);
}

TEST(error_names_the_missing_worker) {
	struct gb_engine *none = NULL;
	struct gb_err err = {0};
	CHECK(!gb_engine_create(&(struct gb_engine_options){.worker_dir = "/nonexistent"}, &none, &err));
	CHECK_INT(err.code, GB_ENOENT);
	CHECK(strstr(err.message, "glovebox-js"));
}

/* --- results --- */

static void check_number(struct gb_run_options options, double expected) {
	struct gb_run *run = start(engine, options);
	if (!CHECK(run))
		return;
	const struct gb_result *result = gb_run_wait(run);
	if (!CHECK_INT(result->status, GB_SUCCESS))
		printf("#   %s\n", result->error.message);
	CHECK(gb_value_as_number(result->value) == expected);
	CHECK_INT(strlen(result->run_id), 32);
	CHECK(result->duration_ms > 0);
	CHECK(result->memory_used_bytes > 0);
	gb_run_destroy(run);
}

TEST(a_named_export_is_called_with_arguments) {
	struct gb_values *pool = gb_values_create(0);
	struct gb_value *args = gb_value_array(pool);
	gb_value_push(args, gb_value_number(pool, 100));
	check_number(
	    (struct gb_run_options){
		.source = "export function inc(n) { return n + 1 }", .fn = "inc", .args = args},
	    101);
	gb_values_destroy(pool);
}

TEST(globals_are_bindings_and_not_properties_of_globalThis) {
	struct gb_values *pool = gb_values_create(0);
	struct gb_value *globals = gb_value_object(pool), *list = gb_value_array(pool);
	for (int i = 1; i <= 3; i++)
		gb_value_push(list, gb_value_number(pool, i));
	gb_value_put_key(globals, "input", list);
	gb_value_put_key(globals, "console", gb_value_number(pool, 7));
	check_number(
	    (struct gb_run_options){
		.source = "export default 'input' in globalThis || Object.keys(globalThis).length ? -1 : "
			  "input.reduce((a, b) => a + b, 0) + console",
		.globals = globals},
	    13);
	check_number(
	    (struct gb_run_options){.source = "const input = 5; export default input", .globals = globals},
	    5);
	gb_values_destroy(pool);
}

TEST(input_values_are_decoded_unchanged) {
	static const char json[] = "[{\"$type\":\"bigint\",\"value\":\"-300\"},{\"$type\":\"Map\","
				   "\"entries\":[[1,{\"$type\":\"Set\",\"values\":[2]}]]},"
				   "{\"$type\":\"Date\",\"value\":\"1970-01-01T00:00:00.005Z\"},{\"$type\":"
				   "\"Float64Array\",\"data\":\"AAAAAAAA8D8=\"},"
				   "{\"$type\":\"number\",\"value\":\"-0\"},{\"$type\":\"undefined\"},{\"$"
				   "type\":\"shared\",\"id\":1,\"value\":"
				   "{\"me\":{\"$type\":\"ref\",\"id\":1}}},{\"$type\":\"RegExp\",\"source\":"
				   "\"a\",\"flags\":\"g\"},\"\\ud800\",{\"__proto__\":1}]";
	struct gb_err err = {0};
	struct gb_values *pool = gb_values_create(0);
	struct gb_value *args = gb_value_array(pool),
			*value = gb_value_from_json(pool, json, strlen(json), &err);
	if (!CHECK(value))
		printf("# %s\n", err.message);
	gb_value_push(args, value);
	check_number(
	    (struct gb_run_options){
		.source =
		    "export default ([b, m, d, f, z, u, c, r, s, p]) => +[b === -300n, m.get(1).has(2), "
		    "d.getTime() === 5, f instanceof Float64Array && f[0] === 1, Object.is(z, -0), "
		    "u === undefined, c.me === c, r instanceof RegExp && r.global, s === '\\ud800', "
		    "Object.hasOwn(p, '__proto__')].every(Boolean)",
		.args = args},
	    1);
	/* The same graph is returned unchanged. */
	struct gb_run *run =
	    start(engine, (struct gb_run_options){.source = "export default x => x", .args = args});
	const struct gb_result *result = gb_run_wait(run);
	char *returned = gb_value_to_json(result->value, 0, NULL, &err),
	     *sent = gb_value_to_json(value, 0, NULL, &err);
	CHECK_STR(returned, sent);
	free(returned);
	free(sent);
	gb_run_destroy(run);
	gb_values_destroy(pool);
}

static void check_failed(struct gb_run_options options, enum gb_status status, const char *code) {
	struct gb_run *run = start(engine, options);
	const struct gb_result *result = gb_run_wait(run);
	CHECK_INT(result->status, status);
	CHECK_STR(result->error.code, code);
	CHECK(result->value == NULL);
	CHECK(*result->error.message);
	gb_run_destroy(run);
}

TEST(a_missing_export_requested_by_name_is_a_link_error) {
	check_failed((struct gb_run_options){.source = "1", .fn = "default"}, GB_LINK_ERROR, "");
	check_failed((struct gb_run_options){.source = "export default 1", .fn = "other"}, GB_LINK_ERROR, "");
}

TEST(arguments_for_an_export_that_is_not_a_function_are_an_error) {
	struct gb_values *pool = gb_values_create(0);
	struct gb_value *args = gb_value_array(pool);
	gb_value_push(args, gb_value_null(pool));
	check_failed((struct gb_run_options){.source = "export default 1", .args = args}, GB_FAILURE,
	    "not_a_function");
	gb_values_destroy(pool);
}

TEST(a_result_beyond_its_limit_is_an_error) {
	check_failed(
	    (struct gb_run_options){.source = "export default 'x'.repeat(1e5)", .result_bytes = 1000},
	    GB_FAILURE, "result_size");
	check_number((struct gb_run_options){.source = "export default 1", .result_bytes = 100}, 1);
}

TEST(a_large_source_and_a_large_result_are_transferred) {
	enum { N = 4 << 20 };
	char *source = malloc(N + 64);
	memset(source, ' ', N);
	strcpy(source + N, "export default 'é'.repeat(2e6)");
	struct gb_run *run = start(engine, (struct gb_run_options){.source = source});
	const struct gb_result *result = gb_run_wait(run);
	size_t n = 0;
	CHECK(gb_value_bytes(result->value, &n));
	CHECK_INT(n, 4000000);
	gb_run_destroy(run);
	free(source);
}

/* --- limits --- */

TEST(a_tight_loop_ends_at_its_timeout) {
	check_failed(
	    (struct gb_run_options){.source = "for (;;);", .timeout_ms = 50}, GB_TERMINATED, "timeout");
	check_number((struct gb_run_options){.source = "export default 1"}, 1);
}

TEST(a_catastrophic_regular_expression_ends_at_its_timeout) {
	check_failed(
	    (struct gb_run_options){.source = "/(a+)+$/.test('a'.repeat(40) + 'b')", .timeout_ms = 100},
	    GB_TERMINATED, "timeout");
}

TEST(an_endless_chain_of_microtasks_ends_at_its_timeout) {
	check_failed(
	    (struct gb_run_options){
		.source = "const f = () => Promise.resolve().then(f); await f(); await new Promise(() => {})",
		.timeout_ms = 100},
	    GB_TERMINATED, "timeout");
}

TEST(an_endless_getter_in_the_result_ends_at_its_timeout) {
	check_failed(
	    (struct gb_run_options){.source = "export default { get a() { for (;;); } }", .timeout_ms = 100},
	    GB_TERMINATED, "timeout");
}

TEST(memory_limit_applies_to_each_run) {
	check_failed((struct gb_run_options){.source = "const a = []; for (;;) a.push('x'.repeat(1e6))",
			 .memory_bytes = 8 << 20},
	    GB_MEMORY, "memory");
	check_number((struct gb_run_options){.source = "export default new Uint8Array(40e6).length"}, 40e6);
}

/* At the minimum memory limit and slightly above, garbage is collected before the limit is exceeded. */
TEST(cyclic_garbage_is_collected_before_the_memory_limit) {
	for (uint64_t memory = GB_MEMORY_MIN; memory <= 16 * GB_MEMORY_MIN; memory *= 4)
		check_number(
		    (struct gb_run_options){
			.source = "for (let i = 0; i < 200000; i++) { const a = { i }; a.self = a; }\n"
				  "export default 1",
			.memory_bytes = memory},
		    1);
}

/* --- stopping --- */

static void set_flag_on_log(struct gb_run *run, const struct gb_log *log, void *data) {
	(void)run, (void)log;
	*(bool *)data = true;
}

TEST(terminate_stops_a_tight_loop_at_once) {
	bool is_looping = false;
	struct gb_run *run = start(engine, (struct gb_run_options){.source = "console.log('in'); for (;;);",
					       .timeout_ms = GB_NO_TIMEOUT,
					       .on_log = set_flag_on_log,
					       .data = &is_looping});
	while (!is_looping)
		gb_engine_dispatch(engine, 50, NULL);
	gb_run_terminate(run, "enough");
	const struct gb_result *result = gb_run_result(run);
	if (!CHECK(result))
		return;
	CHECK_INT(result->status, GB_TERMINATED);
	CHECK_STR(result->error.message, "enough");
	CHECK_STR(result->error.code, "terminated");
	CHECK(!result->timed_out);
	gb_run_terminate(run, "again");
	CHECK_STR(gb_run_result(run)->error.message, "enough");
	gb_run_destroy(run);
}

TEST(terminate_works_before_the_sandbox_exists) {
	struct gb_engine *cold = engine_with((struct gb_engine_options){.warm = GB_NONE, .shards = 1});
	struct gb_run *run = start(cold, (struct gb_run_options){.source = "for (;;);"});
	gb_run_terminate(run, NULL);
	CHECK(gb_run_settled(run));
	gb_run_destroy(run);
	run = start(cold, (struct gb_run_options){.source = "export default 1"});
	CHECK_INT(gb_run_wait(run)->status, GB_SUCCESS);
	gb_run_destroy(run);
	gb_engine_destroy(cold);
}

static void count_log(struct gb_run *run, const struct gb_log *log, void *data) {
	(void)run, (void)log;
	++*(unsigned *)data;
}

TEST(destroying_the_engine_ends_runs_in_flight) {
	enum { IN_FLIGHT = 20, CHILDREN_MAX = 256 };
	int before[CHILDREN_MAX], during[CHILDREN_MAX];
	size_t n_before = list_children(before, CHILDREN_MAX);
	unsigned n_looping = 0;
	struct gb_engine *busy = engine_with((struct gb_engine_options){0});
	for (int i = 0; i < IN_FLIGHT; i++)
		CHECK(start(busy, (struct gb_run_options){.source = "console.log('in'); for (;;);",
				      .timeout_ms = GB_NO_TIMEOUT,
				      .on_log = count_log,
				      .data = &n_looping}));
	while (n_looping < IN_FLIGHT && CHECK(gb_engine_dispatch(busy, -1, NULL)))
		;
	/* The children are zygotes. A zygote exits only after all its cells: counting zygotes is enough. */
	CHECK(list_children(during, CHILDREN_MAX) > n_before);
	gb_engine_destroy(busy);
	CHECK_INT(list_children(during, CHILDREN_MAX), n_before);
}

/* --- events --- */

struct events {
	char text[64];
	unsigned n_settled;
	bool destroy_run; /* in the callback */
};

static void on_log(struct gb_run *run, const struct gb_log *log, void *data) {
	struct events *events = data;
	size_t n;
	const char *text = gb_value_bytes(gb_value_at(log->args, 0), &n);
	snprintf(events->text + strlen(events->text), sizeof events->text - strlen(events->text), "%s:%s ",
	    gb_log_level_name(log->level), text);
	if (events->destroy_run)
		gb_run_destroy(run);
}

static void on_settled(struct gb_run *run, const struct gb_result *result, void *data) {
	(void)run;
	struct events *events = data;
	events->n_settled++;
	snprintf(events->text + strlen(events->text), sizeof events->text - strlen(events->text), "%s",
	    gb_status_name(result->status));
	if (events->destroy_run)
		gb_run_destroy(run);
}

static const char log_at_each_level[] =
    "console.log('a'); console.info('b'); console.warn('c'); console.error('d'); console.debug('e')";

TEST(events_come_in_order_through_a_pollable_descriptor) {
	struct events events = {0};
	struct gb_run *run = start(engine,
	    (struct gb_run_options){
		.source = log_at_each_level, .on_log = on_log, .on_settled = on_settled, .data = &events});
	struct pollfd fd = {.fd = gb_engine_fd(engine), .events = POLLIN};
	while (!gb_run_settled(run) && poll(&fd, 1, 60000) > 0)
		gb_engine_dispatch(engine, 0, NULL);
	CHECK_STR(events.text, "log:a info:b warn:c error:d debug:e success");
	CHECK_INT(events.n_settled, 1);
	CHECK_INT(gb_run_result(run)->n_logs, 5);
	CHECK(gb_run_result(run)->logs[4].timestamp > 1.6e12);
	gb_run_destroy(run);
}

TEST(a_run_may_be_destroyed_in_its_own_callbacks) {
	struct events events = {.destroy_run = true};
	CHECK(start(
	    engine, (struct gb_run_options){.source = log_at_each_level, .on_log = on_log, .data = &events}));
	while (!*events.text)
		gb_engine_dispatch(engine, 10, NULL);
	CHECK_STR(events.text, "log:a ");
	events = (struct events){.destroy_run = true};
	CHECK(start(engine, (struct gb_run_options){
				.source = "export default 1", .on_settled = on_settled, .data = &events}));
	while (!events.n_settled)
		gb_engine_dispatch(engine, 10, NULL);
	CHECK_STR(events.text, "success");
}

TEST(output_beyond_its_limit_is_truncated_and_reported) {
	struct gb_run *run = start(engine,
	    (struct gb_run_options){
		.source = "for (let i = 0; i < 1e4; i++) console.log('x'.repeat(100)); export default 1",
		.output_bytes = 10000});
	const struct gb_result *result = gb_run_wait(run);
	CHECK_INT(result->status, GB_SUCCESS);
	CHECK(result->truncated);
	CHECK(result->n_logs > 50 && result->n_logs < 100);
	gb_run_destroy(run);
}

TEST(values_that_are_not_data_are_described_in_a_log) {
	struct gb_err err = {0};
	struct gb_run *run = start(engine,
	    (struct gb_run_options){.source = "class A { x = 1 }; console.log(function f() {}, Symbol('s'), "
					      "new A, new WeakMap, Promise.resolve(), new Proxy({}, {}), "
					      "{ get a() { throw 1 } }, new TypeError('t').message)"});
	const struct gb_result *result = gb_run_wait(run);
	if (CHECK_INT(result->n_logs, 1)) {
		char *json = gb_value_to_json(result->logs[0].args, 0, NULL, &err);
		CHECK_STR(json, "[\"[Function: "
				"f]\",\"Symbol(s)\",{\"x\":1},\"[WeakMap]\",\"[Promise]\",\"[Proxy]\",{\"a\":"
				"\"[threw]\"},\"t\"]");
		free(json);
	}
	gb_run_destroy(run);
}

/* --- randomness --- */

TEST(every_run_has_its_own_random_numbers) {
	char seen[50][64];
	for (int i = 0; i < 50; i++) {
		struct gb_run *run =
		    start(engine, (struct gb_run_options){.source = "export default String(Math.random())"});
		size_t n;
		snprintf(seen[i], sizeof seen[i], "%s", gb_value_bytes(gb_run_wait(run)->value, &n));
		gb_run_destroy(run);
		for (int k = 0; k < i; k++)
			CHECK(strcmp(seen[i], seen[k]) != 0);
	}
}

/* --- embedding --- */

static volatile sig_atomic_t n_sigchld;

static void count_sigchld(int sig) {
	(void)sig;
	n_sigchld++;
}

TEST(runs_send_no_sigchld_to_the_host_and_keep_its_signal_mask) {
	struct sigaction old;
	sigset_t before, after;
	memset(&before, 0, sizeof before); /* the kernel fills only the part that it supports */
	memset(&after, 0, sizeof after);
	sigprocmask(SIG_SETMASK, NULL, &before);
	sigaction(SIGCHLD, &(struct sigaction){.sa_handler = count_sigchld}, &old);
	struct gb_engine *other = engine_with((struct gb_engine_options){.shards = 1});
	struct gb_run *run = start(other, (struct gb_run_options){.source = "export default 1"});
	CHECK_INT(gb_run_wait(run)->status, GB_SUCCESS);
	gb_run_destroy(run);
	CHECK_INT(n_sigchld, 0);
	gb_engine_destroy(other);
	sigaction(SIGCHLD, &old, NULL);
	sigprocmask(SIG_SETMASK, NULL, &after);
	CHECK(memcmp(&before, &after, sizeof before) == 0);
}

TEST(runs_work_in_a_host_that_ignores_sigchld) {
	struct sigaction old;
	sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_IGN}, &old);
	struct gb_engine *other = engine_with((struct gb_engine_options){.shards = 1});
	struct gb_run *run = start(other, (struct gb_run_options){.source = "export default 1"});
	CHECK_INT(gb_run_wait(run)->status, GB_SUCCESS);
	gb_run_destroy(run);
	gb_engine_destroy(other);
	sigaction(SIGCHLD, &old, NULL);
	/* The zygotes of the shared engine are still running. */
	CHECK_INT(count_descendants(getpid()) > 0, 1);
}

TEST(microtasks_of_a_function_that_returns_a_primitive_are_run) {
	struct gb_run *run = start(engine,
	    (struct gb_run_options){
		.source =
		    "export default () => { Promise.resolve().then(() => console.log('later')); return 1 }"});
	CHECK_INT(gb_run_wait(run)->n_logs, 1);
	gb_run_destroy(run);
}

TEST(keywords_cannot_be_globals) {
	struct gb_values *pool = gb_values_create(0);
	static const char *const words[] = {"class", "await", "undefined", "globalThis", "let"};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		struct gb_value *globals = gb_value_object(pool);
		gb_value_put_key(globals, words[i], gb_value_null(pool));
		check_refused(
		    (struct gb_run_options){.source = "1", .globals = globals}, GB_EINVAL, words[i]);
	}
	gb_values_destroy(pool);
}

TEST(the_priming_module_cannot_be_imported) {
	check_failed((struct gb_run_options){.source = "import x from '<prime>'; export default x"},
	    GB_LINK_ERROR, "");
}

TEST(a_truncated_message_ends_at_a_character_boundary) {
	struct gb_run *run =
	    start(engine, (struct gb_run_options){.source = "throw new Error('ab' + '€'.repeat(40000))"});
	const char *message = gb_run_wait(run)->error.message;
	CHECK(strstr(message, "€") && !strchr(message, '?'));
	gb_run_destroy(run);
}

TEST(with_max_runs_1_a_run_can_follow_another_immediately) {
	struct gb_engine *single =
	    engine_with((struct gb_engine_options){.shards = 1, .warm = GB_NONE, .max_runs = 1});
	for (int i = 0; i < 20; i++) {
		struct gb_run *run = start(single, (struct gb_run_options){.source = "export default 1"});
		if (!CHECK(run))
			break;
		CHECK_INT(gb_run_wait(run)->status, GB_SUCCESS);
		gb_run_destroy(run);
	}
	gb_engine_destroy(single);
}

TEST(warm_sandboxes_do_not_count_against_max_runs) {
	struct gb_engine *few = engine_with((struct gb_engine_options){.max_runs = 4});
	struct gb_run *runs[4];
	for (int i = 0; i < 4; i++)
		runs[i] = start(few, (struct gb_run_options){.source = "export default 1"});
	for (int i = 0; i < 4; i++)
		if (CHECK(runs[i]))
			CHECK_INT(gb_run_wait(runs[i])->status, GB_SUCCESS);
	for (int i = 0; i < 4; i++)
		gb_run_destroy(runs[i]);
	gb_engine_destroy(few);
}

static void start_another(struct gb_run *run, const struct gb_result *result, void *data) {
	(void)run, (void)result;
	struct gb_run **next = data;
	*next =
	    start(*(struct gb_engine **)(next + 1), (struct gb_run_options){.source = "export default 2"});
}

TEST(a_callback_may_start_the_next_run_at_the_limit) {
	struct {
		struct gb_run *next;
		struct gb_engine *engine;
	} state = {
	    NULL, engine_with((struct gb_engine_options){.shards = 1, .warm = GB_NONE, .max_runs = 1})};
	struct gb_run *first = start(
	    state.engine, (struct gb_run_options){
			      .source = "export default 1", .on_settled = start_another, .data = &state});
	CHECK_INT(gb_run_wait(first)->status, GB_SUCCESS);
	if (CHECK(state.next))
		CHECK_INT(gb_run_wait(state.next)->status, GB_SUCCESS);
	gb_run_destroy(first);
	gb_run_destroy(state.next);
	gb_engine_destroy(state.engine);
}

/* --- death of a zygote --- */

struct retries {
	struct gb_engine *engine;
	unsigned n, n_logs;
	struct gb_run *runs[8];
};

static void count_first_run_log(struct gb_run *run, const struct gb_log *log, void *data) {
	(void)run;
	(void)log;
	((struct retries *)data)->n_logs++;
}

static void retry_if_lost(struct gb_run *run, const struct gb_result *result, void *data) {
	(void)run;
	struct retries *retries = data;
	if (strcmp(result->error.code, "sandbox_lost") == 0 && retries->n < 8)
		retries->runs[retries->n++] = start(retries->engine,
		    (struct gb_run_options){
			.source = "export default 1", .on_settled = retry_if_lost, .data = data});
}

/* A child of this process that is not in @known; 0 if there is none. */
static int new_child(const int *known, size_t n) {
	int children[64];
	size_t n_children = list_children(children, 64);
	for (size_t i = 0; i < n_children; i++) {
		bool is_known = false;
		for (size_t k = 0; k < n; k++)
			is_known |= known[k] == children[i];
		if (!is_known)
			return children[i];
	}
	return 0;
}

TEST(a_retry_after_a_zygote_died_uses_another_zygote) {
	int known[64];
	size_t n_known = list_children(known, 64);
	struct retries retries = {.engine = engine_with((struct gb_engine_options){.shards = 1})};
	int zygote = new_child(known, n_known);
	if (!CHECK(zygote > 0))
		return;
	struct gb_run *first =
	    start(retries.engine, (struct gb_run_options){.source = "console.log(1); for (;;);",
				      .on_log = count_first_run_log,
				      .on_settled = retry_if_lost,
				      .data = &retries});
	/* Wait until the cell has read the job: an unread job would be moved to another cell and not fail. */
	while (!retries.n_logs)
		gb_engine_dispatch(retries.engine, 100, NULL);
	CHECK_INT(kill(zygote, SIGKILL), 0);
	CHECK_STR(gb_run_wait(first)->error.code, "sandbox_lost");
	if (CHECK_INT(retries.n, 1))
		CHECK_INT(gb_run_wait(retries.runs[0])->status, GB_SUCCESS);
	gb_run_destroy(first);
	for (unsigned i = 0; i < retries.n; i++)
		gb_run_destroy(retries.runs[i]);
	gb_engine_destroy(retries.engine);
}

TEST(runs_beyond_max_runs_are_rejected) {
	struct gb_engine *small =
	    engine_with((struct gb_engine_options){.shards = 1, .warm = GB_NONE, .max_runs = 2});
	struct gb_run *a = start(small, (struct gb_run_options){.source = "for (;;);"}),
		      *b = start(small, (struct gb_run_options){.source = "for (;;);"}), *c = NULL;
	struct gb_err err = {0};
	CHECK(!gb_run_start(small, &(struct gb_run_options){.source = "1"}, &c, &err));
	CHECK_INT(err.code, GB_EBUSY);
	gb_run_destroy(a);
	gb_run_destroy(b);
	gb_engine_destroy(small);
}
