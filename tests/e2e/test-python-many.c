/*
 * Many Python runs, concurrent and consecutive, leave no process, descriptor, control group, mount or memory
 * behind. GB_MANY_RUNS sets their number.
 */
#include "e2e/left-behind.h"
#include "e2e/python-cases.h"
#include "e2e/python-run.h"

enum { FUNCTIONS_MAX = 200, ROUNDS = 3, SESSIONS = 500, SESSIONS_AT_ONCE = 50 };

static struct gb_engine *python_engine(void) {
	return engine_with((struct gb_engine_options){.ready = 1u << GB_PYTHON});
}

TEST(all_functions_concurrently_three_times) {
	static char *paths[FUNCTIONS_MAX], *sources[FUNCTIONS_MAX];
	static struct gb_run *runs[ROUNDS][FUNCTIONS_MAX];
	size_t n = list_functions(paths, FUNCTIONS_MAX);
	struct gb_engine *engine = python_engine();
	CHECK(n >= 50);
	for (size_t i = 0; i < n; i++)
		sources[i] = read_file(paths[i]);
	for (int round = 0; round < ROUNDS; round++)
		for (size_t i = 0; i < n; i++)
			runs[round][i] = start(engine, (struct gb_run_options){.source = sources[i],
							   .language = GB_PYTHON,
							   .filename = strrchr(paths[i], '/') + 1,
							   .timeout_ms = PYTHON_TIMEOUT_MS});
	for (int round = 0; round < ROUNDS; round++)
		for (size_t i = 0; i < n; i++) {
			const struct gb_result *result = runs[round][i] ? gb_run_wait(runs[round][i]) : NULL;
			if (!CHECK(tell_why(runs[round][i], result && result->status == GB_SUCCESS)))
				printf("#   %s, round %d\n", paths[i], round);
		}
	for (int round = 0; round < ROUNDS; round++)
		for (size_t i = 0; i < n; i++)
			gb_run_destroy(runs[round][i]);
	for (size_t i = 0; i < n; i++)
		free(sources[i]);
	gb_engine_destroy(engine);
}

static long zygote_rss_kb(void) {
	int zygotes[64];
	size_t n = list_children(zygotes, sizeof zygotes / sizeof *zygotes);
	long total = 0;
	for (size_t i = 0; i < n; i++) {
		char path[64];
		long kb = 0;
		snprintf(path, sizeof path, "/proc/%d/status", zygotes[i]);
		FILE *file = fopen(path, "re");
		for (char line[256]; file && fgets(line, sizeof line, file);)
			if (sscanf(line, "VmRSS: %ld", &kb) == 1)
				break;
		if (file)
			fclose(file);
		total += kb;
	}
	return total;
}

/* Each run writes files, starts a thread, and ends in a different way. */
static bool run_in_turn(struct gb_engine *engine, long n) {
	static const struct {
		const char *source;
		enum gb_status status;
	} kinds[] = {
	    {"1 + 1", GB_SUCCESS},
	    {"open('/box/a', 'w').write('x' * 100000)\nopen('/tmp/a', 'w').write('x')\n2", GB_SUCCESS},
	    {"import threading\nt = threading.Thread(target=print)\nt.start()\n2", GB_SUCCESS},
	    {"raise ValueError", GB_FAILURE},
	    {"import ctypes, os\nf = [os.open('/dev/null', 0) for _ in "
	     "range(20)]\nctypes.CDLL(None)._exit(0)",
		GB_FAILURE},
	};
	for (long i = 0; i < n; i++) {
		struct gb_run *run = python(engine, kinds[i % 5].source);
		bool ok = tell_why(run, run && gb_run_result(run)->status == kinds[i % 5].status);
		gb_run_destroy(run);
		if (!CHECK(ok))
			return false;
	}
	return true;
}

TEST(many_consecutive_runs_leave_nothing_behind) {
	struct census at_first = take_census();
	struct gb_engine *engine = python_engine();
	run_in_turn(engine, 200);
	calm_down(engine);
	struct census before = take_census();
	long zygotes_before = zygote_rss_kb();
	run_in_turn(engine, many(2000, 200));
	calm_down(engine);
	struct census after = take_census();
	check_same(&before, &after);
#ifdef __SANITIZE_ADDRESS__ /* ASan keeps freed memory, to detect its use */
	(void)zygotes_before;
#else
	CHECK(after.rss_kb < before.rss_kb + 4096);
	CHECK(zygote_rss_kb() < zygotes_before + 4096);
#endif
	gb_engine_destroy(engine);
	struct census at_last = take_census();
	check_same(&at_first, &at_last);
}

/* Sessions closed after use, while executing, and unused. */
TEST(closed_sessions_leave_nothing_behind) {
	struct census at_first = take_census();
	struct gb_engine *engine = python_engine();
	calm_down(engine);
	struct census before = take_census();
	static struct gb_session *sessions[SESSIONS_AT_ONCE];
	for (int i = 0; i < SESSIONS / SESSIONS_AT_ONCE; i++) {
		for (int k = 0; k < SESSIONS_AT_ONCE; k++)
			CHECK(gb_session_open(engine, GB_PYTHON, NULL, &sessions[k], NULL));
		for (int k = 0; k < SESSIONS_AT_ONCE; k++) {
			if (k % 3 == 0)
				gb_run_destroy(
				    python_with(engine, (struct gb_run_options){.session = sessions[k],
							    .source = "x = open('/box/f', 'w')"}));
			else if (k % 3 == 1)
				start(engine, (struct gb_run_options){
						  .session = sessions[k], .source = "while True: pass"});
		}
		for (int k = 0; k < SESSIONS_AT_ONCE; k++)
			gb_session_close(sessions[k]);
	}
	calm_down(engine);
	struct census after = take_census();
	check_same(&before, &after);
	gb_engine_destroy(engine);
	struct census at_last = take_census();
	check_same(&at_first, &at_last);
}
