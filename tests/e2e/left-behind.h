/* Helpers for tests that compare processes, descriptors and memory before and after runs. */
#ifndef GB_TESTS_LEFT_BEHIND_H
#define GB_TESTS_LEFT_BEHIND_H

#include "e2e/engine.h"
#include "tap.h"

/* The number of runs: GB_MANY_RUNS, else @usual, or fewer in a build with a sanitizer. */
static inline long many(long usual, long usual_when_sanitized) {
	const char *text = getenv("GB_MANY_RUNS");
#ifdef __SANITIZE_ADDRESS__
	usual = usual_when_sanitized;
#endif
	(void)usual_when_sanitized;
	return text ? atol(text) : usual;
}

/* Wait until killed processes are reaped and warm ones have started: until the counts are stable. */
static inline void calm_down(struct gb_engine *engine) {
	unsigned before = 0, n_same = 0;
	for (int i = 0; i < 6000 && n_same < 100; i++) {
		usleep(10000);
		gb_engine_dispatch(engine, 0, NULL);
		unsigned now = count_descendants(getpid());
		n_same = now == before ? n_same + 1 : 0;
		before = now;
	}
}

static inline void check_same(const struct census *before, const struct census *after) {
	CHECK_INT(after->fds, before->fds);
	CHECK_INT(after->descendants, before->descendants);
	CHECK_INT(after->mounts, before->mounts);
	CHECK_INT(after->cgroups, before->cgroups);
}

#endif
