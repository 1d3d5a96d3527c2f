/* The runtimes: their plans, and a real run in each that is installed. */
#include <stdio.h>

#include "cli/doctor.h"
#include "engine/engine.h"
#include "engine/workers.h"

enum { RUN_TIMEOUT_MS = 60000 };

const struct runtime_check runtime_checks[DOCTOR_RUNTIMES] = {
    {"js", GB_JAVASCRIPT, GB_ROOM_NONE, NULL, NULL, "export default 6*7", true},
    {"python", GB_PYTHON, GB_ROOM_FILES, NULL, NULL, "6*7", true},
    {"shell", GB_SHELL, GB_ROOM_PROGRAMS, "bash", "GLOVEBOX_BASH", "[ $((6*7)) = 42 ]", false},
    {"node", GB_NODE, GB_ROOM_PROGRAMS, "node", "GLOVEBOX_NODE", "6*7", true},
    {"deno", GB_DENO, GB_ROOM_PROGRAMS, "deno", "GLOVEBOX_DENO", "export default 6*7", true},
};

bool runtime_plan(struct gb_port *port, enum gb_room room, struct gb_plan **ret, struct gb_err *err) {
	struct gb_engine defaults = {.port = port};
	enum gb_runtime runtime;
	for (size_t i = 0; i < DOCTOR_RUNTIMES; i++)
		if (runtime_checks[i].room == room &&
		    gb_runtime_find(&defaults, runtime_checks[i].language, NULL, &runtime, err) &&
		    gb_runtime_plan(&defaults, runtime, ret, err))
			return true;
	return false;
}

static enum gb_verdict run_code(
    struct gb_engine *engine, const struct runtime_check *check, char *ret_text, size_t n) {
	struct gb_run *run;
	struct gb_err err = {0};
	const struct gb_run_options options = {
	    .language = check->language, .source = check->source, .timeout_ms = RUN_TIMEOUT_MS};
	if (!gb_run_start(engine, &options, &run, &err)) {
		snprintf(ret_text, n, "%s", err.message);
		return GB_MISSING;
	}
	const struct gb_result *result = gb_run_wait(run);
	bool ok = result && result->status == GB_SUCCESS &&
		  (!check->has_value || gb_value_as_number(result->value) == 42);
	snprintf(ret_text, n, "%s",
	    ok                                       ? "6*7 is 42"
	    : result && result->status != GB_SUCCESS ? result->error.message
	    : result                                 ? "6*7 is not 42"
						     : "waiting for the run failed");
	gb_run_destroy(run);
	return ok ? GB_OBSERVED : GB_MISSING;
}

enum gb_verdict runtime_observe(const struct runtime_check *check, char *ret_text, size_t n) {
	char path[PATH_MAX];
	struct gb_err err = {0};
	if (check->program && !gb_program_find(NULL, check->program, path, sizeof path, &err)) {
		snprintf(ret_text, n, "not installed: %s (%s=PATH)", err.message, check->variable);
		return GB_ABSENT;
	}
	struct gb_engine *engine;
	const struct gb_engine_options options = {
	    .ready = 1u << check->language, .shards = 1, .warm = GB_NONE};
	if (!gb_engine_create(&options, &engine, &err)) {
		snprintf(ret_text, n, "%s", err.message);
		return GB_MISSING;
	}
	enum gb_verdict verdict = run_code(engine, check, ret_text, n);
	gb_engine_destroy(engine);
	return verdict;
}
