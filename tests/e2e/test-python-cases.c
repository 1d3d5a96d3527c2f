/*
 * Runs the tables in tests/data/python: Python sources with their expected results; and the functions in
 * tests/data/python/functions, which check themselves. Built once for each profile.
 */
#include "e2e/python-cases.h"
#include "e2e/python.h"

#ifndef PROFILE
#define PROFILE "stdlib"
#endif

static const char *const status_names[] = {
    [GB_WIRE_SUCCESS] = "success",
    [GB_WIRE_ERROR] = "error",
    [GB_WIRE_MEMORY] = "memory",
    [GB_WIRE_LINK_ERROR] = "link_error",
};

/* "+++ {"globals": …}": the inputs of the run. */
static void read_options(const struct one_case *c, struct gb_values *pool, struct job *job) {
	struct gb_err err = {0};
	if (!*c->options)
		return;
	const struct gb_value *given = gb_value_from_json(pool, c->options, strlen(c->options), &err);
	if (!CHECK(given))
		printf("#   %s\n", err.message);
	job->imports = gb_value_get(given, "imports");
	job->modules = gb_value_get(given, "modules");
	job->globals = gb_value_get(given, "globals");
	job->args = gb_value_get(given, "args");
	job->settings = gb_value_get(given, "settings");
	job->fn = gb_value_bytes(gb_value_get(given, "fn"), NULL);
	job->filename = gb_value_bytes(gb_value_get(given, "filename"), NULL);
	job->report = gb_value_get(given, "report") != NULL;
	const struct {
		const char *name;
		uint64_t *limit;
	} limits[] = {{"memory", &job->memory}, {"output", &job->output}, {"result", &job->result}};
	for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
		if (gb_value_get(given, limits[i].name))
			*limits[i].limit = (uint64_t)gb_value_as_number(gb_value_get(given, limits[i].name));
}

/* All jobs of a case in one cell; the result of the last one is compared. */
static bool run_jobs(struct cell *cell, struct job *job, char *source, struct outcome *outcome) {
	for (;;) {
		char *next = strstr(source, "~~~\n");
		if (next)
			*next = '\0';
		job->source = source;
		cell_send(cell, job);
		if (!cell_receive(cell, outcome))
			return false;
		if (!next)
			return true;
		outcome_finish(outcome);
		source = next + 4;
	}
}

static void run_case(void) {
	const struct one_case *c = tap.data;
#ifdef __SANITIZE_ADDRESS__
	if (strstr(c->options, "\"memory\":"))
		SKIP("the malloc of a sanitizer is not counted");
#endif
	struct gb_values *pool = gb_values_create(0);
	struct job job = {0};
	struct outcome outcome;
	char source[sizeof c->source];
	strcpy(source, c->source);
	read_options(c, pool, &job);
	if (strstr(source, "~~~\n") && !job.settings)
		job.settings = gb_value_from_json(pool, "{\"session\":true}", 16, NULL);
	struct cell cell = cell_start(false);
	if (CHECK(run_jobs(&cell, &job, source, &outcome)))
		judge(c, status_names[outcome.status], &outcome);
	outcome_finish(&outcome);
	cell_end(&cell);
	gb_values_destroy(pool);
}

/* --- functions: each file is a program with assertions --- */

static void run_function(void) {
	char *source = read_file(tap.data);
	struct outcome outcome;
	struct cell cell = cell_start(true);
	cell_send(&cell, &(struct job){.source = source, .filename = strrchr(tap.data, '/') + 1});
	if (CHECK(source) && CHECK(cell_receive(&cell, &outcome)) &&
	    !CHECK_INT(outcome.status, GB_WIRE_SUCCESS))
		tell(&outcome);
	outcome_finish(&outcome);
	cell_end(&cell);
	free(source);
}

__attribute__((constructor)) static void set_up(void) {
	static const char *const stdlib[] = {"results", "values", "failures", "output", "display", "bridge",
	    "modules", "sessions", "processes", "restricted", "escapes", NULL};
	static const char *const data[] = {"data", NULL};
	bool is_data = strcmp(PROFILE, "data") == 0;
	for (const char *const *table = is_data ? data : stdlib; *table; table++)
		add_table(*table, run_case);
	static char *paths[500];
	size_t n = is_data ? 0 : list_functions(paths, sizeof paths / sizeof *paths);
	for (size_t i = 0; i < n; i++)
		tap_add(strrchr(paths[i], '/') + 1, run_function, paths[i]);
	python_init(PROFILE);
}
