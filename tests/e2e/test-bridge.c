/* The bridge from an embedder's view: which operations are allowed in which callback, and lifetimes. */
#include <time.h>

#include "e2e/engine.h"
#include "e2e/host.h"
#include "tap.h"

static struct gb_engine *engine;
static struct gb_values *pool; /* for the inputs of runs */

__attribute__((constructor)) static void set_up(void) {
	engine = engine_with((struct gb_engine_options){0});
	pool = gb_values_create(0);
	if (!engine)
		exit(1);
}

__attribute__((destructor)) static void tear_down(void) {
	gb_engine_destroy(engine);
	gb_values_destroy(pool);
}

/* --- a host whose callbacks do what a test sets up --- */

struct host {
	/* called in on_call and on_report */
	void (*act)(struct gb_run *run, struct gb_call *call, struct host *host);
	struct gb_call *kept[1200];
	size_t n_kept;
	struct gb_run *other;
	unsigned calls, reports, settled, answers, told_nothing;
	double last;
};

static void keep(struct gb_run *run, struct gb_call *call, struct host *host) {
	(void)run;
	host->kept[host->n_kept++] = call;
}

static void keep_promised(struct gb_run *run, struct gb_call *call, struct host *host) {
	gb_call_promise(call);
	keep(run, call, host);
}

static void on_call(struct gb_run *run, struct gb_call *call, void *data) {
	struct host *host = data;
	host->calls++;
	host->act(run, call, host);
}

static void on_report(struct gb_run *run, const struct gb_value *value, struct gb_call *call, void *data) {
	struct host *host = data;
	host->reports++;
	host->last = gb_value_as_number(value);
	host->act(run, call, host);
}

static void on_settled(struct gb_run *run, const struct gb_result *result, void *data) {
	(void)result;
	struct host *host = data;
	host->settled++;
	CHECK(gb_run_settled(run));
}

static void answer_kept(struct host *host, double number) {
	while (host->n_kept) {
		struct gb_call *call = host->kept[--host->n_kept];
		gb_call_return(call, gb_value_number(gb_call_values(call), number));
	}
}

/* {f: function 1} */
static const struct gb_value *just_f(void) {
	struct gb_value *globals = gb_value_object(pool);
	gb_value_put_key(globals, "f", gb_value_function(pool, 1, "f"));
	return globals;
}

static struct gb_run *start_with(struct host *host, const char *source) {
	return start(engine, (struct gb_run_options){.source = source,
				 .globals = just_f(),
				 .on_call = on_call,
				 .on_report = on_report,
				 .on_settled = on_settled,
				 .report = true,
				 .timeout_ms = 600000,
				 .data = host});
}

static void dispatch_until_calls(struct host *host, unsigned n) {
	while (host->calls + host->reports < n && !host->settled)
		gb_engine_dispatch(engine, 1000, NULL);
}

static void check_number(struct gb_run *run, double number) {
	const struct gb_result *result = gb_run_wait(run);
	if (!CHECK(result))
		return;
	if (!CHECK(result->status == GB_SUCCESS && gb_value_as_number(result->value) == number))
		printf("#   %s: %s\n", result->error.name, result->error.message);
}

static bool engine_works(void) {
	struct gb_run *run = start(engine, (struct gb_run_options){.source = "export default 42"});
	const struct gb_result *result = run ? gb_run_wait(run) : NULL;
	bool works = result && result->status == GB_SUCCESS && gb_value_as_number(result->value) == 42;
	gb_run_destroy(run);
	return works;
}

/* --- options --- */

static struct gb_value *object_with(const char *key, struct gb_value *item) {
	struct gb_value *object = gb_value_object(pool);
	gb_value_put_key(object, key, item);
	return object;
}

static void check_refused(struct gb_run_options options, const char *field, const char *names) {
	struct gb_err err = {0};
	struct gb_run *run = NULL;
	options.source = "1";
	CHECK(!gb_run_start(engine, &options, &run, &err) && !run);
	CHECK_INT(err.code, GB_EINVAL);
	if (!CHECK(strncmp(err.message, field, strlen(field)) == 0 && strstr(err.message, names)))
		printf("#   %s\n", err.message);
}

TEST(error_names_the_invalid_option) {
	struct gb_value *text = gb_value_string(pool, "1", 1), *none = gb_value_object(pool);
	check_refused((struct gb_run_options){.imports = text}, "imports", "object");
	check_refused((struct gb_run_options){.modules = text}, "modules", "object");
	static const char *const not_bare[] = {"", "./a", "../a", "/a", "https://x/y", "file:x", "data:x"};
	for (size_t i = 0; i < sizeof not_bare / sizeof *not_bare; i++)
		check_refused((struct gb_run_options){.imports = object_with(not_bare[i], none)}, "imports",
		    not_bare[i]);
	check_refused((struct gb_run_options){.imports = object_with("fs", text)}, "imports", "fs");
	static const char *const not_relative[] = {
	    "", "a.js", "/a.js", "./", "./a/", "./a//b", "./../a", "./a/../b", "./.", "https://x/y"};
	for (size_t i = 0; i < sizeof not_relative / sizeof *not_relative; i++)
		check_refused((struct gb_run_options){.modules = object_with(not_relative[i], text)},
		    "modules", not_relative[i]);
	check_refused((struct gb_run_options){.modules = object_with("./a.js", none)}, "modules", "./a.js");
	check_refused((struct gb_run_options){.report = true, .globals = object_with("report", text)},
	    "globals", "report");
	check_refused((struct gb_run_options){.call_bytes = 1ull << 40}, "call_bytes", "between");
	check_refused((struct gb_run_options){.report_bytes = 1ull << 40}, "report_bytes", "between");
}

TEST(functions_may_occur_in_imports_globals_and_arguments) {
	struct gb_value *args = gb_value_array(pool);
	gb_value_push(args, gb_value_function(pool, HOST_ECHO, NULL));
	struct gb_run *run = start(engine,
	    (struct gb_run_options){
		.source =
		    "import { lend } from 'm'; export default async (f, p) => f(1) + lend()(2) + g.g(4)",
		.args = args,
		.imports = object_with("m", object_with("lend", gb_value_function(pool, HOST_LEND, NULL))),
		.globals = object_with("g", object_with("g", gb_value_function(pool, HOST_ECHO, "g"))),
		.on_call = host_on_call});
	check_number(run, 7);
	gb_run_destroy(run);
}

TEST(the_reserved_function_id_is_rejected) {
	struct gb_err err = {0};
	struct gb_run *run = NULL;
	const struct gb_run_options options = {
	    .source = "1", .globals = object_with("f", gb_value_function(pool, UINT32_MAX, NULL))};
	CHECK(!gb_run_start(engine, &options, &run, &err));
	CHECK(strncmp(err.message, "globals", 7) == 0);
}

TEST(calls_throw_if_the_host_has_no_callback) {
	struct gb_run *run = start(engine, (struct gb_run_options){.globals = just_f(),
					       .source = "try { f() } catch (e) { var r = e.name === "
							 "'TypeError' ? 1 : 2 } export default r"});
	check_number(run, 1);
	gb_run_destroy(run);
}

/* --- answers --- */

static void promise_twice(struct gb_run *run, struct gb_call *call, struct host *host) {
	gb_call_promise(call);
	keep_promised(run, call, host);
}

TEST(a_call_is_promised_once) {
	struct host host = {.act = promise_twice};
	struct gb_run *run =
	    start_with(&host, "const p = f(1); export default p instanceof Promise ? await p : 0");
	dispatch_until_calls(&host, 1);
	answer_kept(&host, 9);
	check_number(run, 9);
	CHECK_INT(host.settled, 1);
	gb_run_destroy(run);
}

static void throw_after_promise(struct gb_run *run, struct gb_call *call, struct host *host) {
	(void)run, (void)host;
	gb_call_promise(call);
	CHECK(gb_call_throw(call, gb_value_error(gb_call_values(call), "RangeError", "no", NULL)));
}

TEST(a_promise_may_be_rejected_immediately) {
	struct host host = {.act = throw_after_promise};
	struct gb_run *run =
	    start_with(&host, "export default await f().then(() => 0, e => e instanceof RangeError ? 3 : 4)");
	check_number(run, 3);
	gb_run_destroy(run);
}

TEST(answers_may_come_in_any_order) {
	struct host host = {.act = keep_promised};
	struct gb_run *run = start_with(&host, "const all = Array.from({length: 900}, () => f()); export "
					       "default (await Promise.all(all)).length");
	dispatch_until_calls(&host, 900);
	CHECK_INT(host.n_kept, 900);
	answer_kept(&host, 1); /* in reverse order */
	check_number(run, 900);
	gb_run_destroy(run);
}

static void return_megabytes(struct gb_run *run, struct gb_call *call, struct host *host) {
	(void)run, (void)host;
	double n = gb_value_as_number(gb_value_at(gb_call_args(call), 0));
	size_t bytes = (size_t)(n * (1 << 20));
	char *text = malloc(bytes);
	memset(text, 'x', bytes);
	bool fits = gb_call_return(call, gb_value_string(gb_call_values(call), text, bytes));
	CHECK(fits == (n < 16));
	free(text);
}

TEST(an_answer_larger_than_its_limit_throws_in_the_code) {
	struct host host = {.act = return_megabytes};
	struct gb_run *run = start_with(&host,
	    "const said = []; for (const n of [1, 3, 15, 17, 40, 200]) try { said.push(f(n).length >> 20) } "
	    "catch (e) { said.push(e.name === 'SerializationError' && e instanceof Error ? 'no' : e.name) } "
	    "if (said.join() !== '1,3,15,no,no,no') throw new Error(said.join()); export default 1");
	check_number(run, 1);
	gb_run_destroy(run);
}

static void return_deep(struct gb_run *run, struct gb_call *call, struct host *host) {
	(void)run, (void)host;
	struct gb_values *values = gb_call_values(call);
	struct gb_value *deep = gb_value_array(values);
	for (int i = 0; i < 2000; i++) {
		struct gb_value *outer = gb_value_array(values);
		gb_value_push(outer, deep);
		deep = outer;
	}
	CHECK(!gb_call_return(call, deep));
}

TEST(a_too_deeply_nested_answer_throws_in_the_code) {
	struct host host = {.act = return_deep};
	struct gb_run *run = start_with(&host,
	    "try { f() } catch (e) { var r = e.name === 'SerializationError' ? 1 : 2 } export default r");
	check_number(run, 1);
	gb_run_destroy(run);
}

/* The code does not read while the answers are sent. */
static void return_much(struct gb_run *run, struct gb_call *call, struct host *host) {
	(void)host;
	static char text[1 << 20];
	memset(text, 'x', sizeof text);
	gb_call_promise(call);
	CHECK(gb_call_return(call, gb_value_string(gb_call_values(call), text, sizeof text)));
	CHECK(!gb_run_settled(run));
}

TEST(answers_are_queued_while_the_code_is_busy) {
	struct host host = {.act = return_much};
	struct gb_run *run =
	    start(engine, (struct gb_run_options){.globals = just_f(),
			      .memory_bytes = 256 << 20,
			      .on_call = on_call,
			      .on_settled = on_settled,
			      .data = &host,
			      .source = "const all = []; for (let i = 0; i < 60; i++) all.push(f()); "
					"for (const end = Date.now() + 200; Date.now() < end;); "
					"export default (await Promise.all(all)).length"});
	check_number(run, 60);
	gb_run_destroy(run);
}

/* --- ending runs inside callbacks --- */

static void terminate(struct gb_run *run, struct gb_call *call, struct host *host) {
	gb_run_terminate(run, "by its own call");
	CHECK_INT(host->settled, 1);
	CHECK(gb_call_run(call) == NULL);
	gb_run_terminate(run, "again");
	keep(run, call, host);
}

static void answer_and_terminate(struct gb_run *run, struct gb_call *call, struct host *host) {
	(void)host;
	gb_call_return(call, NULL);
	gb_run_terminate(run, "after its call");
}

static void destroy(struct gb_run *run, struct gb_call *call, struct host *host) {
	gb_run_destroy(run);
	CHECK(gb_call_run(call) == NULL);
	CHECK(gb_value_type(gb_call_args(call)) != GB_NULL);
	gb_call_promise(call);
	keep(NULL, call, host);
}

static void answer_and_destroy(struct gb_run *run, struct gb_call *call, struct host *host) {
	(void)host;
	gb_call_return(call, NULL);
	gb_run_destroy(run);
}

static const char *const both[] = {"f(1)", "report(1)"};

TEST(a_run_may_be_terminated_in_its_call_callback) {
	for (int i = 0; i < 4; i++) {
		struct host host = {.act = i < 2 ? terminate : answer_and_terminate};
		struct gb_run *run = start_with(&host, both[i % 2]);
		const struct gb_result *result = gb_run_wait(run);
		/* After the answer the code may finish before it is terminated. */
		CHECK(
		    result && (result->status == GB_TERMINATED || (i >= 2 && result->status == GB_SUCCESS)));
		CHECK_INT(host.settled, 1);
		gb_run_destroy(run);
		answer_kept(&host, 1);
	}
	CHECK(engine_works());
}

TEST(a_run_may_be_destroyed_in_its_call_callback) {
	for (int i = 0; i < 4; i++) {
		struct host host = {.act = i < 2 ? destroy : answer_and_destroy};
		start_with(&host, both[i % 2]);
		dispatch_until_calls(&host, 1);
		CHECK_INT(host.settled, 0);
		answer_kept(&host, 1);
	}
	CHECK(engine_works());
}

static struct host inner = {.act = answer_and_destroy};

static void start_another(struct gb_run *run, struct gb_call *call, struct host *host) {
	(void)run;
	inner.calls = 0;
	start_with(&inner, "f()");
	host->other = start(engine, (struct gb_run_options){.source = "export default 5"});
	gb_call_return(call, gb_value_number(gb_call_values(call), 6));
}

TEST(other_runs_may_be_started_in_a_call_callback) {
	for (int i = 0; i < 2; i++) {
		struct host host = {.act = start_another};
		struct gb_run *run = start_with(&host, i ? "export default report()" : "export default f()");
		check_number(run, 6);
		check_number(host.other, 5);
		dispatch_until_calls(&inner, 1);
		gb_run_destroy(host.other);
		gb_run_destroy(run);
	}
}

static void terminate_and_read(struct gb_run *run, const struct gb_log *log, void *data) {
	unsigned *said = data, mine = (*said)++;
	if (mine == 0) {
		usleep(100000); /* further log lines arrive meanwhile, and are delivered while the run ends */
		gb_run_terminate(run, NULL);
	}
	CHECK(log->timestamp > 0 && gb_value_as_number(gb_value_at(log->args, 0)) == mine);
}

TEST(a_log_line_stays_valid_when_its_callback_ends_the_run) {
	unsigned said = 0;
	/* On a busy machine the code may have logged nothing more by then. */
	for (int i = 0; i < 100 && said < 2; i++) {
		said = 0;
		struct gb_run *run = start(
		    engine, (struct gb_run_options){.source = "for (let i = 0; i < 5000; i++) console.log(i)",
				.on_log = terminate_and_read,
				.data = &said});
		CHECK(gb_run_wait(run));
		gb_run_destroy(run);
	}
	CHECK(said > 1);
}

/* --- calls that outlive their run --- */

TEST(calls_may_be_answered_after_their_run_has_ended) {
	struct host host = {.act = keep_promised};
	struct gb_run *run = start_with(&host, "f(1); f(2); f(3); export default 8");
	check_number(run, 8);
	CHECK_INT(host.n_kept, 3);
	CHECK(gb_call_run(host.kept[0]) == NULL && gb_call_function(host.kept[0]) == 1);
	CHECK(gb_value_as_number(gb_value_at(gb_call_args(host.kept[2]), 0)) == 3);
	gb_call_return(host.kept[--host.n_kept], NULL);
	gb_run_destroy(run);
	gb_call_throw(host.kept[--host.n_kept], NULL);
	answer_kept(&host, 1);
}

TEST(calls_may_be_answered_after_their_engine_was_destroyed) {
	struct gb_engine *mine = engine, *shorter = engine_with((struct gb_engine_options){.shards = 1});
	struct host host = {.act = keep};
	engine = shorter;
	start_with(&host, "f(1)");
	dispatch_until_calls(&host, 1);
	struct gb_run *run = start_with(&host, "f(2)");
	dispatch_until_calls(&host, 2);
	gb_run_terminate(run, NULL);
	gb_run_destroy(run);
	engine = mine;
	gb_engine_destroy(shorter);
	CHECK_INT(host.n_kept, 2);
	gb_call_promise(host.kept[0]);
	answer_kept(&host, 1);
}

TEST(a_run_times_out_while_the_host_has_not_answered) {
	struct host host = {.act = keep};
	struct gb_run *run = start(engine, (struct gb_run_options){.source = "f(1)",
					       .globals = just_f(),
					       .on_call = on_call,
					       .timeout_ms = 1000,
					       .data = &host});
	const struct gb_result *result = gb_run_wait(run);
	CHECK(result && result->timed_out);
	answer_kept(&host, 1);
	gb_run_destroy(run);
}

/* Answers the pending call of another run. */
static void answer_other(struct gb_run *run, struct gb_call *call, struct host *host) {
	(void)run;
	answer_kept(host, 11);
	gb_call_return(call, NULL);
}

TEST(a_call_may_be_answered_from_another_runs_callback) {
	struct host host = {.act = keep};
	struct gb_run *first = start_with(&host, "export default f()");
	dispatch_until_calls(&host, 1);
	host.act = answer_other;
	struct gb_run *second = start_with(&host, "f(); export default 12");
	check_number(second, 12);
	check_number(first, 11);
	gb_run_destroy(first);
	gb_run_destroy(second);
}

/* --- calls from the host --- */

static void on_answer(struct gb_run *run, const struct gb_value *value, bool thrown, void *data) {
	struct host *host = data;
	host->answers++;
	host->told_nothing += !value;
	host->last = thrown ? -1 : gb_value_as_number(value);
	struct gb_err err = {0};
	if (!value) {
		CHECK(!gb_run_call(run, 0, NULL, on_answer, data, &err));
		CHECK_INT(err.code, GB_EINVAL);
	}
}

/* Calls the given function three times, and keeps its own call open. */
static void call_back(struct gb_run *run, struct gb_call *call, struct host *host) {
	uint32_t function = 0;
	enum gb_side side = GB_HOST;
	CHECK(
	    gb_value_as_callable(gb_value_at(gb_call_args(call), 0), &side, &function) && side == GB_SANDBOX);
	for (int i = 0; i < 3; i++)
		CHECK(gb_run_call(run, function, NULL, on_answer, host, NULL));
	keep_promised(run, call, host);
}

TEST(the_host_may_call_a_function_of_the_code_repeatedly) {
	struct host host = {.act = call_back};
	struct gb_run *run = start_with(&host, "let n = 0; export default await f(() => ++n)");
	while (host.answers < 3)
		gb_engine_dispatch(engine, 1000, NULL);
	CHECK(host.last == 3);
	answer_kept(&host, 2);
	check_number(run, 2);
	CHECK_INT(host.told_nothing, 0);
	gb_run_destroy(run);
}

TEST(pending_host_calls_fail_when_the_run_ends) {
	struct host host = {.act = call_back};
	struct gb_run *run = start_with(&host, "f(() => new Promise(() => {})); await new Promise(() => {})");
	dispatch_until_calls(&host, 1);
	gb_run_terminate(run, NULL);
	CHECK_INT(host.told_nothing, 3);
	CHECK_INT(host.settled, 1);
	answer_kept(&host, 1);
	gb_run_destroy(run);
}

TEST(destroying_a_run_calls_no_callbacks) {
	struct host host = {.act = call_back};
	struct gb_run *run = start_with(&host, "f(() => new Promise(() => {})); await new Promise(() => {})");
	dispatch_until_calls(&host, 1);
	gb_run_destroy(run);
	CHECK_INT(host.answers + host.settled, 0);
	answer_kept(&host, 1);
}

static void on_answer_destroy(struct gb_run *run, const struct gb_value *value, bool thrown, void *data) {
	(void)value, (void)thrown;
	struct host *host = data;
	host->answers++;
	answer_kept(host, 1);
	gb_run_destroy(run);
}

static void call_back_and_destroy(struct gb_run *run, struct gb_call *call, struct host *host) {
	uint32_t function = 0;
	gb_value_as_callable(gb_value_at(gb_call_args(call), 0), NULL, &function);
	for (int i = 0; i < 3; i++)
		CHECK(gb_run_call(run, function, NULL, on_answer_destroy, host, NULL));
	keep_promised(run, call, host);
}

TEST(a_run_may_be_destroyed_in_an_answer_callback) {
	static const char *const sources[] = {"f(() => 1); await new Promise(() => {})",
	    "f(() => new Promise(() => {})); await new Promise(() => {})", "f(() => 1); export default 1",
	    "f(() => 1); throw 1"};
	for (int i = 0; i < 4; i++) {
		struct host host = {.act = call_back_and_destroy};
		struct gb_run *run = start_with(&host, sources[i]);
		dispatch_until_calls(&host, 1);
		if (i == 1)
			gb_run_terminate(run, NULL);
		while (!host.answers)
			gb_engine_dispatch(engine, 1000, NULL);
		CHECK_INT(host.answers, 1); /* the other calls failed with the end of the run */
		CHECK_INT(host.settled, 0);
		answer_kept(&host, 1);
	}
	CHECK(engine_works());
}

static void call_wrongly(struct gb_run *run, struct gb_call *call, struct host *host) {
	struct gb_err err = {0};
	struct gb_values *values = gb_values_create(0);
	struct gb_value *large = gb_value_array(values);
	gb_value_push(large, gb_value_buffer(values, NULL, 17 << 20));
	CHECK(!gb_run_call(run, 0, gb_value_null(values), on_answer, host, &err));
	CHECK(err.code == GB_EINVAL && strstr(err.message, "args"));
	CHECK(!gb_run_call(run, 0, large, on_answer, host, &err));
	CHECK(err.code == GB_ELIMIT && strstr(err.message, "args"));
	CHECK(gb_run_call(run, 12345, NULL, on_answer, host, &err)); /* the code has lent no such function */
	CHECK(gb_run_call(run, UINT32_MAX, NULL, on_answer, host, &err));
	gb_values_destroy(values);
	keep_promised(run, call, host);
}

TEST(calls_of_unknown_functions_throw_and_invalid_calls_are_rejected) {
	struct host host = {.act = call_wrongly};
	struct gb_run *run = start_with(&host, "export default await f(() => 1)");
	while (host.answers < 2)
		gb_engine_dispatch(engine, 1000, NULL);
	CHECK(host.last == -1 && host.told_nothing == 0);
	answer_kept(&host, 4);
	check_number(run, 4);
	gb_run_destroy(run);
}

/* --- reports --- */

static void return_double(struct gb_run *run, struct gb_call *call, struct host *host) {
	CHECK(gb_run_result(run) == NULL);
	gb_call_return(call, gb_value_number(gb_call_values(call), host->last * 2));
}

TEST(reports_come_in_order_and_as_they_happen) {
	struct host host = {.act = return_double};
	struct gb_run *run = start_with(
	    &host, "let sum = 0; for (let i = 0; i < 100; i++) sum += report(i); export default sum");
	check_number(run, 9900);
	const struct gb_result *result = gb_run_result(run);
	CHECK_INT(host.reports, 100);
	CHECK_INT(host.calls, 0);
	CHECK_INT(result->n_reports, 100);
	for (size_t i = 0; i < result->n_reports; i++)
		CHECK(gb_value_as_number(result->reports[i]) == (double)i);
	gb_run_destroy(run);
}

TEST(a_report_preserves_shared_values) {
	struct gb_run *run = start(
	    engine, (struct gb_run_options){
			.source = "const a = {}, l = [a, {}, a]; l.push(l); report(l)", .report = true});
	const struct gb_result *result = gb_run_wait(run);
	if (CHECK(result && result->status == GB_SUCCESS && result->n_reports == 1)) {
		const struct gb_value *list = result->reports[0];
		CHECK_INT(gb_value_count(list), 4);
		CHECK(gb_value_at(list, 0) == gb_value_at(list, 2) &&
		      gb_value_at(list, 0) != gb_value_at(list, 1));
		CHECK(gb_value_at(list, 3) == list);
	}
	gb_run_destroy(run);
}

TEST(reports_stay_when_the_run_fails) {
	struct gb_run *run = start(engine,
	    (struct gb_run_options){
		.source = "report(1); report([2]); console.log(3); throw new Error('x')", .report = true});
	const struct gb_result *result = gb_run_wait(run);
	CHECK(result && result->status == GB_FAILURE && result->n_reports == 2 && result->n_logs == 1);
	gb_run_destroy(run);
}

/* --- many runs --- */

TEST(two_hundred_concurrent_runs_with_calls) {
	enum { RUNS = 200 };
	struct gb_run *runs[RUNS] = {0};
	struct census before = take_census();
	struct gb_engine *own = engine_with((struct gb_engine_options){0});
	struct gb_value *globals = gb_value_object(pool);
	gb_value_put_key(globals, "later", gb_value_function(pool, HOST_LATER, NULL));
	gb_value_put_key(globals, "apply", gb_value_function(pool, HOST_APPLY, NULL));
	for (int i = 0; i < RUNS; i++) {
		struct gb_value *args = gb_value_array(pool);
		gb_value_push(args, gb_value_number(pool, i));
		runs[i] = start(
		    own, (struct gb_run_options){
			     .source = "export default async n => { for (let i = 0; i < 20; i++) n += await "
				       "later(i) - await apply(x => x, i); return n }",
			     .args = args,
			     .globals = globals,
			     .on_call = host_on_call,
			     .timeout_ms = 120000});
		CHECK(runs[i]);
	}
	for (int i = 0; i < RUNS; i++) {
		const struct gb_result *result = runs[i] ? host_wait(own, runs[i]) : NULL;
		CHECK(result && result->status == GB_SUCCESS && gb_value_as_number(result->value) == i);
		gb_run_destroy(runs[i]);
	}
	gb_engine_destroy(own);
	struct census after = take_census();
	CHECK_INT(after.fds, before.fds);
	CHECK_INT(after.mounts, before.mounts);
	CHECK_INT(after.cgroups, before.cgroups);
}
