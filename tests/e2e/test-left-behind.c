/* A hundred thousand runs in a row and two hundred at once leave nothing: no process, descriptor, control
 * group, mount, or memory. GB_MANY_RUNS sets another number, for slower builds. */
#include "e2e/left-behind.h"

enum { AT_ONCE = 200 };

static bool run_in_turn(struct gb_engine *engine, long n) {
	for (long i = 0; i < n; i++) {
		struct gb_run *run = start(engine, (struct gb_run_options){.source = "export default 1+1"});
		const struct gb_result *result = run ? gb_run_wait(run) : NULL;
		bool ok = result && result->status == GB_SUCCESS && gb_value_as_number(result->value) == 2;
		gb_run_destroy(run);
		if (!CHECK(ok))
			return false;
	}
	return true;
}

TEST(many_runs_in_a_row_leave_nothing_behind) {
	struct census at_first = take_census();
	struct gb_engine *engine = engine_with((struct gb_engine_options){0});
	run_in_turn(engine, 500);
	calm_down(engine);
	struct census before = take_census();
	run_in_turn(engine, many(100000, 2000));
	calm_down(engine);
	struct census after = take_census();
	check_same(&before, &after);
#ifndef __SANITIZE_ADDRESS__ /* ASan keeps freed memory, to detect its use */
	CHECK(after.rss_kb < before.rss_kb + 4096);
#endif
	gb_engine_destroy(engine);
	struct census at_last = take_census();
	check_same(&at_first, &at_last);
}

TEST(two_hundred_runs_at_once_leave_nothing_behind) {
	struct census at_first = take_census();
	struct gb_engine *engine = engine_with((struct gb_engine_options){0});
	calm_down(engine);
	struct census before = take_census();
	static struct gb_run *runs[AT_ONCE];
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < AT_ONCE; i++) {
			static const char *const sources[] = {
			    "let n = 0; for (let i = 0; i < 1e5; i++) n += i; export default n", "for (;;);",
			    "throw 1"};
			runs[i] = start(engine, (struct gb_run_options){.source = sources[i % 3],
						    .timeout_ms = i % 3 == 1 ? 300 : GB_NO_TIMEOUT});
		}
		for (int i = 0; i < AT_ONCE; i++) {
			static const enum gb_status expected[] = {GB_SUCCESS, GB_TERMINATED, GB_FAILURE};
			CHECK_INT(gb_run_wait(runs[i])->status, expected[i % 3]);
		}
		for (int i = 0; i < AT_ONCE; i++)
			gb_run_destroy(runs[i]);
	}
	calm_down(engine);
	struct census after = take_census();
	check_same(&before, &after);
	gb_engine_destroy(engine);
	struct census at_last = take_census();
	check_same(&at_first, &at_last);
}
