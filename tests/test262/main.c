/*
 * test262: the suite's tests through the worker, beside the plain engine.
 *
 *	test262 SUITE EXPECTATIONS DIFFERENCES [folder or test, as seen from the suite...]
 *
 * Any of the two in the middle may be "" for none. The exit status is 1 if there is a regression.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "test262/suite.h"

static const char *unless_empty(const char *text) {
	return *text ? text : NULL;
}

/* The other program is built beside this one. */
static bool find_plain(char *ret, size_t n) {
	ssize_t length = readlink("/proc/self/exe", ret, n - 1);
	if (length < 0)
		return false;
	ret[length] = '\0';
	char *slash = strrchr(ret, '/');
	size_t room = slash ? n - (size_t)(slash + 1 - ret) : 0;
	return slash && (size_t)snprintf(slash + 1, room, "test262-plain") < room;
}

static bool check_suite(const char *suite, struct gb_err *err) {
	char path[4096];
	struct stat status;
	snprintf(path, sizeof path, "%s/harness/assert.js", suite);
	if (stat(path, &status) == 0)
		return true;
	return gb_fail(err, GB_ENOENT, 0,
	    "'%s' is not a copy of test262: it has no harness/assert.js (see tests/test262/README.md)",
	    suite);
}

int main(int argc, char **argv) {
	char plain[4096];
	struct gb_err err = {0};
	struct gb_engine *engine = NULL;
	struct t262_counts counts = {.unlisted = 0};
	if (argc < 4 || !find_plain(plain, sizeof plain)) {
		fprintf(stderr, "usage: test262 SUITE EXPECTATIONS DIFFERENCES [folder or test...]\n");
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	struct t262_options options = {
	    .suite = argv[1],
	    .expectations = unless_empty(argv[2]),
	    .differences = unless_empty(argv[3]),
	    .plain = plain,
	    .paths = argc > 4 ? (const char *const *)argv + 4 : NULL,
	};
	const struct gb_engine_options engine_options = {.worker_dir = getenv("GB_WORKER_DIR"), .shards = 1};
	bool ok = check_suite(options.suite, &err) && gb_engine_create(&engine_options, &engine, &err) &&
		  t262_run(&options, engine, &counts, &err);
	gb_engine_destroy(engine);
	if (!ok)
		fprintf(stderr, "test262: %s\n", err.message);
	return !ok ? 2 : counts.of[T262_REGRESSION] > 0;
}
