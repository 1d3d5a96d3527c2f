/* Sandboxes that outlive a run. */
#include <poll.h>

#include "base/cleanup.h"
#include "e2e/engine.h"
#include "engine/engine.h"
#include "tap.h"

static struct gb_engine *engine;

__attribute__((constructor)) static void set_up(void) {
	engine = engine_with((struct gb_engine_options){.ready = 1u << GB_PYTHON, .shards = 1});
	if (!engine)
		exit(1);
}

__attribute__((destructor)) static void tear_down(void) {
	gb_engine_destroy(engine);
}

static struct gb_session *open_session(void) {
	struct gb_session *session = NULL;
	struct gb_err err = {0};
	if (!CHECK(gb_session_open(engine, GB_PYTHON, NULL, &session, &err)))
		printf("#   %s\n", err.message);
	return session;
}

static struct gb_run *begin(struct gb_session *session, const char *source, uint64_t timeout_ms) {
	return start(
	    engine, (struct gb_run_options){.session = session, .source = source, .timeout_ms = timeout_ms});
}

/* The number that @source evaluates to in @session; or -1, and the error code in @ret_code. */
static double number(struct gb_session *session, const char *source, char ret_code[64]) {
	struct gb_run *run = begin(session, source, 60000);
	const struct gb_result *result = run ? gb_run_wait(run) : NULL;
	double value = -1;
	snprintf(ret_code, 64, "%s", result ? result->error.name : "no run");
	if (result && result->status == GB_SUCCESS)
		value = gb_value_as_number(result->value);
	gb_run_destroy(run);
	return value;
}

TEST(two_runs_in_a_session_share_variables) {
	struct gb_session *session = open_session();
	char why[64];
	number(session, "x = 41\nimport math as m", why);
	CHECK_INT((int)number(session, "x + 1", why), 42);
	CHECK_INT((int)number(session, "m.floor(2.5)", why), 2);
	CHECK_INT(gb_session_state(session), GB_SESSION_IDLE);
	gb_session_close(session);
}

/* A source that is just a name is looked up without compilation. That must not be observable. */
TEST(a_variable_name_evaluates_to_its_value) {
	static const char set[] = "import asyncio\n"
				  "x, match, fi, nothing, result = 7, 5, 8, None, 9\n"
				  "class Later:\n"
				  "    def __await__(self):\n"
				  "        yield from asyncio.sleep(0).__await__()\n"
				  "        return 3\n"
				  "later = Later()\n"
				  "globals().update({'True': 0, 'pass': 1, '__debug__': 0, 'a b': 1})";
	static const struct {
		const char *source, *expected; /* as JSON, or the error's name */
	} cases[] = {
	    {"x", "7"},
	    {"x\n", "7"},
	    {" x", "IndentationError"},
	    {"missing", "NameError"},
	    {"later", "3"},
	    {"later", "3"},
	    {"True", "true"},
	    {"pass", "{\"$type\":\"undefined\"}"},
	    {"__debug__", "true"},
	    {"a b", "SyntaxError"},
	    {"match", "5"},
	    {"fi", "8"},
	    {"\xef\xac\x81", "8"}, /* a ligature that Python normalises to these two letters */
	    {"nothing", "{\"$type\":\"undefined\"}"},
	    {"result", "9"},
	    {"max", "\"<built-in function max>\""},
	};
	struct gb_session *session = open_session();
	char why[64];
	number(session, set, why);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct gb_run *run = begin(session, cases[i].source, 60000);
		const struct gb_result *result = gb_run_wait(run);
		char *json = gb_value_to_json(result->value, 0, NULL, NULL);
		CHECK_STR(result->status == GB_SUCCESS ? json : result->error.name, cases[i].expected);
		free(json);
		gb_run_destroy(run);
	}
	gb_session_close(session);
}

TEST(two_sessions_share_nothing) {
	struct gb_session *a = open_session(), *b = open_session();
	char why[64];
	number(a,
	    "x = 1\nopen('/box/f', 'w').write('a')\nopen('/tmp/f', 'w').write('a')\nimport json; json.mine = "
	    "1",
	    why);
	CHECK_INT((int)number(b, "x", why), -1);
	CHECK_STR(why, "NameError");
	CHECK_INT((int)number(b, "import os; len(os.listdir('/box')) + len(os.listdir('/tmp'))", why), 0);
	CHECK_INT((int)number(b, "import json; int(hasattr(json, 'mine'))", why), 0);
	CHECK_INT((int)number(b, "import os\nos.kill(1, 0)", why), -1);
	CHECK_STR(why, "PermissionError");
	CHECK_INT((int)number(a, "x", why), 1);
	gb_session_close(a);
	gb_session_close(b);
}

TEST(a_timeout_interrupts_an_endless_loop_and_keeps_the_session) {
	struct gb_session *session = open_session();
	char why[64];
	number(session, "x = 7", why);
	struct gb_run *run = begin(session, "while True: pass", 300);
	CHECK_INT(gb_session_state(session), GB_SESSION_EXECUTING);
	const struct gb_result *result = gb_run_wait(run);
	CHECK_STR(gb_status_name(result->status), "terminated");
	CHECK_STR(result->error.code, "timeout");
	CHECK(result->timed_out);
	gb_run_destroy(run);
	CHECK_INT((int)number(session, "x", why), 7);
	gb_session_close(session);
}

TEST(a_caller_can_interrupt) {
	struct gb_session *session = open_session();
	char why[64];
	number(session, "x = 8", why);
	struct gb_run *run = begin(session, "import time\ntime.sleep(100)", 60000);
	CHECK(gb_run_interrupt(run));
	CHECK(!gb_run_interrupt(run));
	const struct gb_result *result = gb_run_wait(run);
	CHECK_STR(result->error.code, "interrupted");
	gb_run_destroy(run);
	CHECK_INT((int)number(session, "x", why), 8);
	gb_session_close(session);
}

TEST(code_that_ignores_an_interrupt_is_killed) {
	struct gb_session *session = open_session();
	struct gb_err err = {0};
	struct gb_run *run = begin(session, "import itertools\nsum(itertools.repeat(1))", 5000), *next;
	const struct gb_result *result = gb_run_wait(run);
	CHECK_STR(result->error.code, "timeout");
	CHECK_STR(gb_session_state_name(gb_session_state(session)), "terminated");
	CHECK(strstr(gb_session_reason(session), "5000 ms"));
	gb_run_destroy(run);
	CHECK(
	    !gb_run_start(engine, &(struct gb_run_options){.session = session, .source = "1"}, &next, &err));
	CHECK(strstr(err.message, "session: has ended"));
	gb_session_close(session);
}

TEST(a_crash_ends_the_session_and_is_reported) {
	struct gb_session *session = open_session();
	struct gb_run *run = begin(session, "import ctypes\nctypes.string_at(0)", 60000);
	const struct gb_result *result = gb_run_wait(run);
	CHECK_STR(result->error.code, "crashed");
	CHECK(strstr(gb_session_reason(session), "SIGSEGV"));
	gb_run_destroy(run);
	gb_session_close(session);
}

/* Later frames must not be taken for the next run's result. */
TEST(a_protocol_violation_ends_the_session) {
	struct gb_session *session = open_session();
	struct gb_run *run =
	    begin(session, "import os, time\nos.write(3, b'\\xff' * 8)\ntime.sleep(5)", 60000);
	const struct gb_result *result = gb_run_wait(run);
	struct gb_err err = {0};
	struct gb_run *next;
	CHECK_STR(result->error.code, "protocol");
	CHECK(
	    !gb_run_start(engine, &(struct gb_run_options){.session = session, .source = "1"}, &next, &err));
	CHECK(strstr(err.message, "without a result"));
	CHECK_INT(gb_session_state(session), GB_SESSION_TERMINATED);
	gb_run_destroy(run);
	gb_session_close(session);
}

TEST(ignoring_a_callers_interrupt_is_not_reported_as_a_timeout) {
	struct gb_session *session = open_session();
	struct gb_run *run = begin(session, "import itertools\nsum(itertools.repeat(1))", 60000);
	for (int i = 0; i < 20; i++)
		gb_engine_dispatch(engine, 10, NULL);
	CHECK(gb_run_interrupt(run));
	const struct gb_result *result = gb_run_wait(run);
	CHECK_STR(result->error.code, "interrupted");
	CHECK(!result->timed_out);
	gb_run_destroy(run);
	gb_session_close(session);
}

TEST(a_session_executes_one_run_at_a_time) {
	struct gb_session *session = open_session();
	struct gb_err err = {0};
	struct gb_run *run = begin(session, "import time\ntime.sleep(0.2)", 60000), *other;
	CHECK(
	    !gb_run_start(engine, &(struct gb_run_options){.session = session, .source = "1"}, &other, &err));
	CHECK_INT(err.code, GB_EBUSY);
	gb_run_wait(run);
	gb_run_destroy(run);
	gb_session_close(session);
}

TEST(a_session_whose_process_dies_while_idle_is_terminated) {
	struct gb_session *session = open_session();
	char why[64];
	number(session,
	    "import ctypes, threading, time\n"
	    "def die():\n"
	    "    time.sleep(0.2)\n"
	    "    ctypes.string_at(0)\n"
	    "threading.Thread(target=die, daemon=True).start()",
	    why);
	while (gb_session_state(session) != GB_SESSION_TERMINATED)
		gb_engine_dispatch(engine, 20, NULL);
	CHECK(strstr(gb_session_reason(session), "SIGSEGV"));
	gb_session_close(session);
}

/* --- callbacks while the cell of a session is ending --- */

struct refused {
	struct gb_session *session;
	bool closes; /* the callback also closes the session */
	char why[GB_ERR_MESSAGE_MAX];
};

static void try_another(struct gb_run *run, const struct gb_result *result, void *data) {
	struct refused *refused = data;
	struct gb_err err = {0};
	struct gb_run *next = NULL;
	CHECK_STR(gb_status_name(result->status), "success");
	CHECK(!gb_run_start(
	    engine, &(struct gb_run_options){.session = refused->session, .source = "2"}, &next, &err));
	snprintf(refused->why, sizeof refused->why, "%s", err.message);
	gb_run_destroy(next);
	if (refused->closes)
		gb_session_close(refused->session);
}

/* A run whose result is in the socket of its cell, unread. Its callback tries to start another. */
static struct gb_run *run_until_answered(struct refused *refused) {
	char why[64];
	refused->session = open_session();
	CHECK_INT((int)number(refused->session, "1", why), 1);
	struct gb_run *run = start(engine,
	    (struct gb_run_options){
		.session = refused->session, .source = "6 * 7", .on_settled = try_another, .data = refused});
	struct pollfd answered = {.fd = run ? gb_cell_fd(run->cell) : -1, .events = POLLIN};
	CHECK(run && run->begun && poll(&answered, 1, -1) == 1);
	return run;
}

static void check_refused(struct gb_run *run, struct refused *refused) {
	CHECK_INT((int)gb_value_as_number(gb_run_result(run)->value), 42);
	CHECK(strstr(refused->why, "session: has ended"));
	gb_run_destroy(run);
	if (refused->closes)
		return;
	CHECK_STR(gb_session_state_name(gb_session_state(refused->session)), "terminated");
	gb_session_close(refused->session);
}

TEST(callback_cannot_start_a_run_in_a_session_whose_cell_has_died) {
	for (int closes = 0; closes < 2; closes++) {
		struct refused refused = {.closes = closes};
		struct gb_run *run = run_until_answered(&refused);
		/* The end of the cell is reported before its socket is read. */
		gb_cell_ignore(run->cell);
		gb_cell_kill(run->cell);
		while (!gb_run_settled(run))
			gb_engine_dispatch(engine, -1, NULL);
		check_refused(run, &refused);
	}
}

TEST(callback_cannot_start_a_run_in_a_session_whose_run_is_being_terminated) {
	for (int closes = 0; closes < 2; closes++) {
		struct refused refused = {.closes = closes};
		struct gb_run *run = run_until_answered(&refused);
		gb_run_terminate(run, "too late");
		check_refused(run, &refused);
	}
}

/* --- pause --- */

static void return_nothing(struct gb_run *run, struct gb_call *call, void *data) {
	gb_call_return(call, NULL);
}

/* Without input the call would not be answered. */
TEST(session_reads_input_after_a_paused_run_has_timed_out) {
	gb_auto_values struct gb_values *values = gb_values_create(0);
	struct gb_value *globals = gb_value_object(values);
	struct gb_session *session = NULL;
	struct gb_err err = {0};
	CHECK(gb_session_open(engine, GB_JAVASCRIPT, NULL, &session, &err));
	struct gb_run *paused = begin(session, "for (;;);", 100);
	gb_run_pause(paused, true);
	CHECK_STR(gb_run_wait(paused)->error.code, "timeout");
	CHECK_STR(gb_session_state_name(gb_session_state(session)), "idle");
	gb_run_destroy(paused);
	gb_value_put_key(globals, "f", gb_value_function(values, 1, "f"));
	struct gb_run *next = start(engine,
	    (struct gb_run_options){
		.session = session, .source = "f(); f(); 3", .globals = globals, .on_call = return_nothing});
	CHECK_STR(gb_status_name(gb_run_wait(next)->status), "success");
	gb_run_destroy(next);
	gb_session_close(session);
}

static void note_output(struct gb_run *run, int stream, const char *bytes, size_t n, void *data) {
	(void)run, (void)stream, (void)bytes, (void)n;
	*(bool *)data = true;
}

/* Returns the number of processes that @zygote had meanwhile. */
static unsigned close_while_executing(int zygote) {
	struct gb_session *session = open_session();
	bool begun = false;
	struct gb_run *run = start(engine, (struct gb_run_options){.session = session,
					       .source = "print('in', flush=True)\nwhile True: pass",
					       .timeout_ms = 600000,
					       .on_output = note_output,
					       .data = &begun});
	while (run && !begun && !gb_run_settled(run))
		gb_engine_dispatch(engine, -1, NULL);
	CHECK(begun);
	unsigned n = count_descendants(zygote);
	gb_session_close(session);
	return n;
}

/* A child of this process that is not in @before; 0 if none. */
static int find_new_child(const int *before, size_t n_before) {
	int now[64];
	size_t n = list_children(now, 64);
	for (size_t i = 0; i < n; i++) {
		bool is_new = true;
		for (size_t k = 0; k < n_before; k++)
			is_new = is_new && now[i] != before[k];
		if (is_new)
			return now[i];
	}
	return 0;
}

/* In an engine without warm cells, so that its zygote has no other processes. */
TEST(closing_an_executing_session_leaves_no_process_or_descriptor) {
	struct gb_engine *usual = engine;
	int children[64];
	unsigned fds[2] = {0};
	size_t n_children = list_children(children, 64);
	engine =
	    engine_with((struct gb_engine_options){.ready = 1u << GB_PYTHON, .shards = 1, .warm = GB_NONE});
	int zygote = find_new_child(children, n_children);
	for (int round = 0; round < 2 && CHECK(engine) && CHECK(zygote); round++) {
		for (int i = 0; i < 20; i++)
			CHECK(close_while_executing(zygote) > 0);
		for (int i = 0; i < 6000 && count_descendants(zygote); i++)
			gb_engine_dispatch(engine, 10, NULL);
		CHECK_INT(count_descendants(zygote), 0);
		fds[round] = take_census().fds;
	}
	/* Between none and all eight spare sockets may be open. */
	CHECK(fds[1] <= fds[0] + 8);
	gb_engine_destroy(engine);
	engine = usual;
}

TEST(javascript_over_its_memory_limit_ends_the_session) {
	struct gb_session *session = NULL;
	struct gb_err err = {0};
	struct gb_run *next;
	CHECK(gb_session_open(engine, GB_JAVASCRIPT, NULL, &session, &err));
	struct gb_run *run = begin(session, "let a = []; for (;;) a.push(new Array(1000).fill(0))", 60000);
	const struct gb_result *result = gb_run_wait(run);
	CHECK_STR(gb_status_name(result->status), "memory");
	CHECK_INT(gb_session_state(session), GB_SESSION_TERMINATED);
	CHECK(
	    !gb_run_start(engine, &(struct gb_run_options){.session = session, .source = "1"}, &next, &err));
	CHECK(strstr(err.message, "more memory than its limit"));
	gb_run_destroy(run);
	gb_session_close(session);
}

TEST(languages_without_input_reject_it) {
	struct gb_session *session = open_session();
	struct gb_err err = {0};
	CHECK_STR(gb_session_prompt(session), "");
	CHECK(!gb_session_send(session, "y", 1, &err));
	CHECK_STR(err.message, "this session's language takes no input while it runs");
	CHECK_STR(gb_session_state_name(GB_SESSION_AWAITING_INPUT), "awaiting_input");
	gb_session_close(session);
}

TEST(profiles_are_checked) {
	struct gb_session *session = NULL;
	struct gb_err err = {0};
	CHECK(!gb_session_open(engine, GB_JAVASCRIPT, "data", &session, &err));
	CHECK(strstr(err.message, "profile"));
	CHECK(!gb_session_open(engine, GB_PYTHON, "fortran", &session, &err));
	CHECK(strstr(err.message, "profile"));
}

TEST(a_session_can_be_reset) {
	struct gb_session *session = open_session();
	char why[64];
	number(session, "x = 5", why);
	struct gb_run *run =
	    start(engine, (struct gb_run_options){.session = session, .source = "y = 1", .reset = true});
	gb_run_wait(run);
	gb_run_destroy(run);
	CHECK_INT((int)number(session, "x", why), -1);
	CHECK_STR(why, "NameError");
	CHECK_INT((int)number(session, "y", why), 1);
	gb_session_close(session);
}

/* --- files --- */

static struct gb_run *run_with_files(
    struct gb_values *pool, const char *source, const char *path, const char *text) {
	struct gb_value *files = gb_value_object(pool);
	if (path)
		gb_value_put_key(files, path, gb_value_string(pool, text, strlen(text)));
	struct gb_run *run = start(engine,
	    (struct gb_run_options){.language = GB_PYTHON, .source = source, .files = path ? files : NULL});
	if (run)
		gb_run_wait(run);
	return run;
}

TEST(input_files_are_written_and_changed_files_returned) {
	struct gb_values *pool = gb_values_create(0);
	struct gb_run *run = run_with_files(pool,
	    "import os\n"
	    "text = open('data/in.txt').read()\n"
	    "os.makedirs('out/deep')\n"
	    "open('out/deep/a.bin', 'wb').write(bytes(3))\n"
	    "os.symlink('/etc/passwd', 'link')\n"
	    "open('/tmp/other', 'w').write('not in the box')\n"
	    "text",
	    "data/in.txt", "given");
	const struct gb_result *result = gb_run_result(run);
	size_t n = 0;
	CHECK_STR(gb_value_bytes(result->value, NULL), "given");
	CHECK_INT((int)gb_value_count(result->files), 1);
	CHECK(gb_value_bytes(gb_value_get(result->files, "out/deep/a.bin"), &n) && n == 3);
	gb_run_destroy(run);
	run = run_with_files(pool, "open('data/in.txt', 'a').write('!')", "data/in.txt", "given");
	CHECK_INT((int)gb_value_count(gb_run_result(run)->files), 1);
	gb_run_destroy(run);
	run = run_with_files(pool, "1", "a", "b");
	CHECK(gb_run_result(run)->files == NULL);
	gb_run_destroy(run);
	gb_values_destroy(pool);
}

/* The number of files that a run of @session returns. */
static int count_files(struct gb_session *session, const char *source) {
	struct gb_run *run = begin(session, source, 60000);
	const struct gb_result *result = run ? gb_run_wait(run) : NULL;
	int n = result && result->status == GB_SUCCESS ? (int)gb_value_count(result->files) : -1;
	gb_run_destroy(run);
	return n;
}

TEST(a_file_is_returned_each_time_it_changes) {
	struct gb_session *session = open_session();
	CHECK_INT(count_files(session, "for i in range(40): open(str(i), 'w').write('x')"), 40);
	CHECK_INT(count_files(session, "1"), 0);
	CHECK_INT(count_files(session, "open('3', 'a').write('y')\nimport os; os.remove('7')"), 1);
	CHECK_INT(count_files(session, "open('39').read()"), 0);
	CHECK_INT(count_files(session, "open('7', 'w').close(); open('0', 'a').write('z')"), 2);
	CHECK_INT(count_files(session, "for i in range(40): os.remove(str(i))"), 0);
	CHECK_INT(count_files(session, "open('0', 'w').close()"), 1);
	gb_session_close(session);
}

TEST(files_that_a_thread_writes_between_runs_are_returned_by_the_next_run) {
	struct gb_session *session = open_session();
	CHECK_INT(count_files(session, "import threading, os, time\n"
				       "go = threading.Event()\n"
				       "def write():\n"
				       "    go.wait()\n"
				       "    time.sleep(0.05)\n"
				       "    open('late.tmp', 'w').write('x'); os.rename('late.tmp', 'late')\n"
				       "t = threading.Thread(target=write); t.start()"),
	    0);
	/* On a busy machine the thread may write before the first run ends. */
	int n = count_files(session, "go.set()");
	usleep(200000);
	CHECK_INT(n + count_files(session, "t.join()"), 1);
	gb_session_close(session);
}

TEST(files_have_limits) {
	struct gb_values *pool = gb_values_create(0);
	struct gb_run *run = run_with_files(
	    pool, "open('big', 'wb').write(bytes(20 << 20))\nopen('small', 'w').write('x')", NULL, NULL);
	CHECK(gb_run_result(run)->truncated);
	CHECK_INT((int)gb_value_count(gb_run_result(run)->files), 1);
	gb_run_destroy(run);
	run = run_with_files(pool, "for i in range(1100): open(str(i), 'w').close()", NULL, NULL);
	CHECK(gb_run_result(run)->truncated);
	CHECK_INT((int)gb_value_count(gb_run_result(run)->files), 1000);
	gb_run_destroy(run);
	run = run_with_files(pool, "open('x', 'wb').write(bytes(100 << 20))", NULL, NULL);
	CHECK(gb_run_result(run)->status != GB_SUCCESS);
	gb_run_destroy(run);
	gb_values_destroy(pool);
}

TEST(file_paths_outside_the_box_are_rejected) {
	static const char *const paths[] = {"/etc/passwd", "../x", "a/../../x", "", "a/"};
	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
		struct gb_values *pool = gb_values_create(0);
		struct gb_value *files = gb_value_object(pool);
		struct gb_err err = {0};
		struct gb_run *run;
		gb_value_put_key(files, paths[i], gb_value_string(pool, "x", 1));
		CHECK(!gb_run_start(engine,
		    &(struct gb_run_options){.language = GB_PYTHON, .source = "1", .files = files}, &run,
		    &err));
		CHECK(strstr(err.message, "files: "));
		gb_values_destroy(pool);
	}
}

/* True if the traceback of calling @name shows its source line. */
static bool shows_line(struct gb_session *session, const char *call, const char *line) {
	struct gb_run *run = begin(session, call, 60000);
	const struct gb_result *result = run ? gb_run_wait(run) : NULL;
	bool shown = result && strstr(result->error.stack, line);
	CHECK(result && result->status == GB_FAILURE && strstr(result->error.message, "zero"));
	gb_run_destroy(run);
	return shown;
}

TEST(a_python_session_keeps_the_newest_sources_only) {
	struct gb_session *session = open_session();
	char why[64], source[100];
	number(session, "def first(): return 1 / 0 # the first\n0", why);
	CHECK(shows_line(session, "first()", "# the first"));
	for (int i = 0; i < 300; i++) {
		snprintf(source, sizeof source, "def f%d(): return 1 / 0 # line of %d\n0", i, i);
		CHECK_INT((int)number(session, source, why), 0);
	}
	CHECK(shows_line(session, "f290()", "# line of 290"));
	CHECK(!shows_line(session, "first()", "# the first"));
	const char *count =
	    "import linecache\nsum(1 for name in linecache.cache if name.startswith('<runCode>'))";
	CHECK_INT((int)number(session, count, why), 256);
	/* Sources are also dropped by total length. */
	gb_auto_free char *large = malloc((1 << 20) + 100);
	for (int i = 0; large && i < 4; i++) {
		int n = snprintf(large, 100, "def g%d(): return 1 / 0 # large %d\n%d #", i, i, i);
		memset(large + n, 'x', 1 << 20);
		large[n + (1 << 20)] = '\0';
		CHECK_INT((int)number(session, large, why), i);
	}
	CHECK((int)number(session, count, why) <= 4);
	CHECK(shows_line(session, "g3()", "# large 3"));
	gb_session_close(session);
}

TEST(displays_are_limited_in_number) {
	struct gb_session *session = open_session();
	struct gb_run *run = begin(session,
	    "import sys\nfor i in range(1000): sys.modules['_glovebox'].display({'text/plain': str(i)})",
	    60000);
	const struct gb_result *result = run ? gb_run_wait(run) : NULL;
	if (CHECK(result && result->status == GB_SUCCESS)) {
		CHECK_INT(result->n_displays, 201);
		CHECK(result->truncated);
		const struct gb_value *last = gb_value_get(result->displays[200], "text/plain");
		size_t n = 0;
		const char *text = last ? gb_value_bytes(last, &n) : "";
		CHECK(n > 9 && strncmp(text, "[more than 200 displays", 23) == 0);
	}
	gb_run_destroy(run);
	gb_session_close(session);
}
