/* Before and after: what the tests share that look for what runs have left. */
#ifndef GB_TESTS_LEFT_BEHIND_H
#define GB_TESTS_LEFT_BEHIND_H

#include "e2e/engine.h"
#include "tap.h"

/* How many runs: what GB_MANY_RUNS says, else @usual, or fewer where a sandbox costs ten times as much. */
static inline long many(long usual, long usual_when_sanitized) {
	const char *text = getenv("GB_MANY_RUNS");
#ifdef __SANITIZE_ADDRESS__
	usual = usual_when_sanitized;
#endif
	(void)usual_when_sanitized;
	return text ? atol(text) : usual;
}

/* Let what was killed be reaped and what is to be warm be warm: until nothing has changed for a while. */
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
