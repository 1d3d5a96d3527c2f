/*
 * Short Python programs through the engine, and the same ones without a sandbox.
 *
 *	struct gb_run *run = python(engine, "open('/etc/passwd')");
 *	CHECK_REFUSED(run, "FileNotFoundError", "/etc/passwd");
 *	gb_run_destroy(run);
 *	CHECK(works_bare("open('/etc/passwd')"));
 */
#ifndef GB_TESTS_PYTHON_RUN_H
#define GB_TESTS_PYTHON_RUN_H

#include "e2e/engine.h"
#include "tap.h"

enum { PYTHON_TIMEOUT_MS = 300000 };

/* Run @source until it has settled. */
static inline struct gb_run *python_with(struct gb_engine *engine, struct gb_run_options options) {
	if (!options.session)
		options.language = GB_PYTHON;
	if (!options.timeout_ms)
		options.timeout_ms = PYTHON_TIMEOUT_MS;
	struct gb_run *run = start(engine, options);
	if (run)
		gb_run_wait(run);
	return run;
}

static inline struct gb_run *python(struct gb_engine *engine, const char *source) {
	return python_with(engine, (struct gb_run_options){.source = source});
}

static inline struct gb_run *python_restricted(struct gb_engine *engine, const char *source) {
	return python_with(engine, (struct gb_run_options){.source = source, .restricted = true});
}

/* All output, the value and the error as one text. The caller must free() it. */
static inline char *all_of(const struct gb_run *run) {
	return gb_result_to_json(gb_run_result(run), NULL, NULL);
}

static inline bool tell_why(const struct gb_run *run, bool ok) {
	char *all = ok || !run ? NULL : all_of(run);
	if (all)
		printf("#   %.2000s\n", all);
	free(all);
	return ok;
}

static inline bool gives(const struct gb_run *run, const char *json) {
	const struct gb_result *result = run ? gb_run_result(run) : NULL;
	char *actual = result && result->value ? gb_value_to_json(result->value, 0, NULL, NULL) : NULL;
	bool ok = actual && strcmp(actual, json) == 0;
	free(actual);
	return tell_why(run, ok);
}

static inline bool is_refused(const struct gb_run *run, const char *name, const char *message) {
	const struct gb_result *result = run ? gb_run_result(run) : NULL;
	return tell_why(run, result && result->status == GB_FAILURE &&
				 strcmp(result->error.name, name) == 0 &&
				 strstr(result->error.message, message));
}

static inline bool is_restricted(const struct gb_run *run) {
	const struct gb_result *result = run ? gb_run_result(run) : NULL;
	return tell_why(run,
	    result && result->status == GB_FAILURE && strcmp(result->error.name, "RestrictedError") == 0);
}

#define CHECK_REFUSED(run, name, message) CHECK(is_refused(run, name, message))
#define CHECK_GIVES(run, json)            CHECK(gives(run, json))

/* Whether @source succeeds in a worker without a sandbox. */
static inline bool works_bare(const char *source) {
	const char *bare = getenv("GB_PYTHON_BARE");
	char path[] = "/tmp/glovebox-test-XXXXXX", command[4200], line[1000];
	int fd = mkstemp(path);
	bool ok = fd >= 0 && write(fd, source, strlen(source)) == (ssize_t)strlen(source);
	snprintf(command, sizeof command, "'%s' %s", bare ? bare : "build/tests/python-bare", path);
	FILE *pipe = ok ? popen(command, "re") : NULL;
	bool success = false;
	while (pipe && fgets(line, sizeof line, pipe)) {
		success |= strncmp(line, "-- status 0,", 12) == 0;
		if (strncmp(line, "-- error", 8) == 0)
			printf("#   bare: %s", line);
	}
	if (pipe)
		pclose(pipe);
	close(fd);
	unlink(path);
	return success;
}

#endif
