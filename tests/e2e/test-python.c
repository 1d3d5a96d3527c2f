/*
 * Python in the sandbox. First the tables of tests/data/python, which tests/e2e/test-python-cases.c runs in a
 * bare worker, through the engine; then tests that need the engine.
 *
 * Differences in the sandbox, and their reasons:
 *  - cases with job settings that the engine does not offer are skipped;
 *  - if the worker reports no exit code, the engine reports 0 or 1.
 */
#define CASES "python"

#include "e2e/engine-cases.h"
#include "e2e/engine.h"
#include "e2e/host.h"
#include "e2e/python-run.h"

static struct gb_engine *engine;

/* --- the tables --- */

static void run_stdlib_case(void) {
	run_engine_case(engine, GB_PYTHON, NULL);
}

static void run_data_case(void) {
	run_engine_case(engine, GB_PYTHON, "data");
}

/* --- tests of the engine --- */

TEST(a_program_prints_and_its_last_expression_is_the_result) {
	struct gb_run *run = python(engine, "import statistics; print(\"hi\"); statistics.mean([1,2,6])");
	CHECK_STR(gb_run_result(run)->stdout_text, "hi\n");
	CHECK_INT(gb_run_result(run)->exit_code, 0);
	CHECK_GIVES(run, "3");
	gb_run_destroy(run);
}

TEST(exit_codes) {
	static const struct {
		const char *source;
		int code;
		enum gb_status status;
	} cases[] = {
	    {"1", 0, GB_SUCCESS},
	    {"raise SystemExit", 0, GB_SUCCESS},
	    {"import sys\nsys.exit(3)", 3, GB_FAILURE},
	    {"import sys\nsys.exit('no')", 1, GB_FAILURE},
	    {"1 / 0", 1, GB_FAILURE},
	    {"x = (", 1, GB_FAILURE},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct gb_run *run = python(engine, cases[i].source);
		CHECK_INT(gb_run_result(run)->exit_code, cases[i].code);
		CHECK_INT(gb_run_result(run)->status, cases[i].status);
		gb_run_destroy(run);
	}
}

TEST(input_is_read) {
	struct gb_run *run = python_with(
	    engine, (struct gb_run_options){.source = "import sys\n[input('? '), input(), sys.stdin.read()]",
			.input = "one\ntwo\nthree\nfour"});
	CHECK_GIVES(run, "[\"one\",\"two\",\"three\\nfour\"]");
	CHECK_STR(gb_run_result(run)->stdout_text, "? ");
	gb_run_destroy(run);
	run = python(engine, "input()");
	CHECK_REFUSED(run, "EOFError", "EOF");
	gb_run_destroy(run);
}

/* The bytes of form @type of display @i; NULL if missing. */
static const char *shown(const struct gb_run *run, size_t i, const char *type, size_t *ret_n) {
	const struct gb_result *result = gb_run_result(run);
	return i < result->n_displays ? gb_value_bytes(gb_value_get(result->displays[i], type), ret_n) : NULL;
}

static unsigned big_endian(const char *bytes) {
	const unsigned char *b = (const unsigned char *)bytes;
	return (unsigned)b[0] << 24 | (unsigned)b[1] << 16 | (unsigned)b[2] << 8 | b[3];
}

TEST(a_figure_is_a_png_of_its_size) {
	struct gb_run *run = python_with(
	    engine, (struct gb_run_options){.profile = "data",
			.source = "import matplotlib.pyplot as plt\n"
				  "plt.figure(figsize=(3, 2), dpi=100); plt.plot([1, 4, 9]); plt.show()"});
	if (!CHECK(run))
		return;
	size_t n = 0;
	const char *png = shown(run, 0, "image/png", &n);
	if (gb_run_result(run)->status == GB_FAILURE &&
	    strcmp(gb_run_result(run)->error.name, "ModuleNotFoundError") == 0)
		tap.skipped = "matplotlib is not installed";
	else if (CHECK(tell_why(run, png && n > 100))) {
		/* Signature, then the length and name of the first chunk, then width and height. */
		CHECK(memcmp(png, "\x89PNG\r\n\x1a\n", 8) == 0);
		CHECK(memcmp(png + 12, "IHDR", 4) == 0);
		/* 300 by 200, minus most of the empty border. */
		unsigned width = big_endian(png + 16), height = big_endian(png + 20);
		CHECK(width > 240 && width <= 320);
		CHECK(height > 160 && height <= 220);
		CHECK(memcmp(png + n - 8, "IEND", 4) == 0);
	}
	gb_run_destroy(run);
}

TEST(a_dataframe_is_an_html_table) {
	struct gb_run *run = python_with(
	    engine, (struct gb_run_options){.profile = "data",
			.source = "import pandas as pd\npd.DataFrame({'a': [1, 2], 'b': ['x', '<y>']})"});
	if (!CHECK(run))
		return;
	const char *html = shown(run, 0, "text/html", NULL);
	if (gb_run_result(run)->status == GB_FAILURE &&
	    strcmp(gb_run_result(run)->error.name, "ModuleNotFoundError") == 0)
		tap.skipped = "pandas is not installed";
	else if (CHECK(tell_why(run, html)))
		CHECK(strstr(html, "<table") && strstr(html, "<td>2</td>") && strstr(html, "&lt;y&gt;"));
	gb_run_destroy(run);
}

TEST(profiles_of_the_caller_can_be_used) {
	const struct gb_python_profile profiles[] = {
	    {"text", "sqlite3,difflib,no_such_module"}, {"bare", NULL}};
	struct gb_engine *own = engine_with((struct gb_engine_options){
	    .ready = 1u << GB_PYTHON, .python_profiles = profiles, .n_python_profiles = 2});
	const char *source = "import sys\n'sqlite3' in sys.modules";
	struct gb_run *with = python_with(own, (struct gb_run_options){.profile = "text", .source = source}),
		      *without =
			  python_with(own, (struct gb_run_options){.profile = "bare", .source = source});
	CHECK(gives(with, "true"));
	CHECK(gives(without, "false"));
	gb_run_destroy(with);
	gb_run_destroy(without);
	gb_engine_destroy(own);
}

TEST(profiles_are_checked) {
	const struct {
		struct gb_python_profile profile;
		const char *says;
	} wrong[] = {{{"data", "x"}, "taken"}, {{"", "x"}, "word"}, {{"a b", "x"}, "word"},
	    {{"ok", "os; evil"}, "modules"}, {{"sixteen-letters-", "x"}, "word"}};
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct gb_err err = {0};
		struct gb_engine *none = NULL;
		const struct gb_engine_options options = {
		    .python_profiles = &wrong[i].profile, .n_python_profiles = 1};
		CHECK(!gb_engine_create(&options, &none, &err));
		CHECK(strstr(err.message, wrong[i].says));
	}
}

TEST(threads_work) {
	struct gb_run *run =
	    python(engine, "import threading, time\n"
			   "n = 40; barrier = threading.Barrier(n); met = []\n"
			   "def meet(i): barrier.wait(); met.append(i)\n"
			   "ts = [threading.Thread(target=meet, args=(i,)) for i in range(n)]\n"
			   "[t.start() for t in ts]; [t.join() for t in ts]\nlen(met)");
	CHECK_GIVES(run, "40");
	gb_run_destroy(run);
}

TEST(too_many_threads_are_rejected_with_an_error) {
	struct gb_run *run =
	    python_with(engine, (struct gb_run_options){.memory_bytes = 1 << 30,
				    .source = "import threading\nstop = threading.Event()\ntry:\n"
					      "    while True: threading.Thread(target=stop.wait).start()\n"
					      "finally:\n    stop.set()"});
	CHECK_REFUSED(run, "RuntimeError", "this sandbox cannot start a thread");
	gb_run_destroy(run);
}

TEST(thread_limits_of_cells_are_independent) {
	struct gb_session *session = NULL;
	CHECK(gb_session_open(engine, GB_PYTHON, NULL, &session, NULL));
	struct gb_run *many = python_with(engine,
	    (struct gb_run_options){.session = session,
		.memory_bytes = 8ull << 30,
		.source = "import threading\nstop = threading.Event()\n"
			  "for i in range(600): threading.Thread(target=stop.wait, daemon=True).start()\ni"});
	CHECK_GIVES(many, "599");
	struct gb_run *one =
	    python(engine, "import threading\nt = threading.Thread(target=print)\nt.start()\n1");
	CHECK_GIVES(one, "1");
	gb_run_destroy(many);
	gb_run_destroy(one);
	gb_session_close(session);
}

TEST(a_crash_is_reported) {
	struct gb_run *run =
	    python(engine, "print('last words', flush=True)\nimport ctypes\nctypes.string_at(0)");
	CHECK_REFUSED(run, "SandboxError", "SIGSEGV");
	CHECK_STR(gb_run_result(run)->stdout_text, "last words\n");
	gb_run_destroy(run);
	run = python(engine, "import ctypes\nctypes.CDLL(None)._exit(3)");
	CHECK_REFUSED(run, "SandboxError", "exit status 3");
	gb_run_destroy(run);
}

TEST(a_hang_in_native_code_ends_at_its_timeout) {
	struct gb_run *run =
	    python_with(engine, (struct gb_run_options){.timeout_ms = 5000,
				    .source = "print('before')\nimport itertools\nsum(itertools.repeat(1))"});
	const struct gb_result *result = gb_run_result(run);
	CHECK_STR(gb_status_name(result->status), "terminated");
	CHECK_STR(result->error.message, "the run took longer than its 5000 ms");
	CHECK_STR(result->stdout_text, "before\n");
	CHECK(result->timed_out);
	gb_run_destroy(run);
}

__attribute__((constructor)) static void set_up(void) {
	static const char *const tables[] = {"results", "values", "failures", "output", "display", "bridge",
	    "modules", "sessions", "processes", "restricted", "escapes"};
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
		add_table(tables[i], run_stdlib_case);
	add_table("data", run_data_case);
	engine = engine_with((struct gb_engine_options){.ready = 1u << GB_PYTHON, .shards = 1});
	if (!engine)
		exit(1);
}

__attribute__((destructor)) static void tear_down(void) {
	gb_engine_destroy(engine);
}
