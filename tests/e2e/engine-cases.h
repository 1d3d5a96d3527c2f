/* The tables of tests/data/<CASES> through the engine: see python-cases.h for their form. */
#ifndef GB_TESTS_ENGINE_CASES_H
#define GB_TESTS_ENGINE_CASES_H

#include "e2e/engine.h"
#include "e2e/host.h"
#include "e2e/python-cases.h"

static inline const char *take_settings(const struct gb_value *settings, struct gb_run_options *options) {
	for (size_t i = 0; i < gb_value_count(settings); i++) {
		const char *name = gb_value_bytes(gb_value_key_at(settings, i), NULL);
		const struct gb_value *value = gb_value_at(settings, i);
		if (strcmp(name, "stdin") == 0)
			options->input = gb_value_bytes(value, NULL);
		else if (strcmp(name, "restricted") == 0)
			options->restricted = true;
		else if (strcmp(name, "allowedModules") == 0)
			options->allowed_modules = value;
		else if (strcmp(name, "net") == 0)
			options->net = value;
		else if (strcmp(name, "session") != 0)
			return "the engine does not offer this setting of a job";
	}
	return NULL;
}

/* "+++ {"globals": …}": the options of the run. Returns the reason of a failure, or NULL. */
static inline const char *read_options(
    const struct one_case *c, struct gb_values *pool, struct gb_run_options *options) {
	struct gb_err err = {0};
	if (!*c->options)
		return NULL;
	const struct gb_value *given = gb_value_from_json(pool, c->options, strlen(c->options), &err);
	if (!CHECK(given))
		printf("#   %s\n", err.message);
	options->imports = gb_value_get(given, "imports");
	options->modules = gb_value_get(given, "modules");
	options->globals = gb_value_get(given, "globals");
	options->args = gb_value_get(given, "args");
	options->fn = gb_value_bytes(gb_value_get(given, "fn"), NULL);
	options->filename = gb_value_bytes(gb_value_get(given, "filename"), NULL);
	options->report = gb_value_get(given, "report") != NULL;
	const struct {
		const char *name;
		uint64_t *limit;
	} limits[] = {{"memory", &options->memory_bytes}, {"output", &options->output_bytes},
	    {"result", &options->result_bytes}};
	for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
		if (gb_value_get(given, limits[i].name))
			*limits[i].limit = (uint64_t)gb_value_as_number(gb_value_get(given, limits[i].name));
	return take_settings(gb_value_get(given, "settings"), options);
}

static inline void on_output(struct gb_run *run, int stream, const char *bytes, size_t n, void *data) {
	(void)run;
	outcome_hear(data, stream, bytes, n);
}

static inline void on_log(struct gb_run *run, const struct gb_log *log, void *data) {
	(void)run;
	struct outcome *outcome = data;
	char *json = gb_value_to_json(log->args, 0, NULL, NULL);
	gb_buf_printf(&outcome->logs, "%s %s\n", gb_log_level_name(log->level), json);
	free(json);
}

static inline void on_display(struct gb_run *run, const struct gb_value *display, void *data) {
	(void)run;
	outcome_show(data, display);
}

static inline char *text_or_null(const char *text) {
	return *text ? strdup(text) : NULL;
}

static inline void read_result(const struct gb_result *result, struct outcome *outcome) {
	const struct gb_run_error *error = &result->error;
	const char *const texts[] = {
	    error->name, error->message, error->stack, error->code, error->specifier, error->filename};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		outcome->error[i] = text_or_null(texts[i]);
	outcome->line = error->line;
	outcome->column = error->column;
	outcome->truncated = result->truncated;
	outcome->exit_code = result->exit_code;
	outcome->value = (struct gb_value *)result->value;
	for (size_t i = 0; i < result->n_reports; i++) {
		char *json = gb_value_to_json(result->reports[i], 0, NULL, NULL);
		gb_buf_printf(&outcome->reports, "%s\n", json);
		free(json);
	}
	/* The result must contain the same output as the callbacks got. */
	CHECK_INT(result->stdout_bytes, outcome->out.len);
	CHECK_INT(result->stderr_bytes, outcome->err.len);
	CHECK(outcome->out.len == 0 ||
	      memcmp(result->stdout_text, outcome->out.data, result->stdout_bytes) == 0);
}

/* "exit: -1" means that there was no exit code. */
static inline void expect_exit_code(struct one_case *c) {
	char *none = strstr(c->expected, "exit: -1");
	if (none)
		memcpy(none, strcmp(c->status, "success") == 0 ? "exit: 00" : "exit: 01", 8);
}

/* Run all jobs of a case; the outcome is that of the last one. */
static inline void run_jobs(struct gb_engine *engine, struct one_case *c, struct gb_run_options *options) {
	char *source = c->source;
	for (char *next; source; source = next) {
		struct outcome outcome;
		outcome_init(&outcome);
		next = strstr(source, "~~~\n");
		if (next) {
			*next = '\0';
			next += 4;
		}
		options->source = source;
		options->source_bytes = strlen(source);
		options->data = &outcome;
		struct gb_run *run = start(engine, *options);
		const struct gb_result *result = run ? host_wait(engine, run) : NULL;
		if (CHECK(result) && !next) {
			read_result(result, &outcome);
			judge(c, gb_status_name(result->status), &outcome);
		}
		outcome_finish(&outcome);
		gb_run_destroy(run);
	}
}

/* The case that is the test's data, with all its jobs. */
static inline void run_engine_case(struct gb_engine *engine, enum gb_language language, const char *profile) {
	struct one_case c = *(const struct one_case *)tap.data;
#ifdef __SANITIZE_ADDRESS__
	if (strstr(c.options, "\"memory\":"))
		SKIP("a sanitizer has its own malloc, which nobody counts");
#endif
	struct gb_values *pool = gb_values_create(0);
	struct gb_err err = {0};
	struct gb_run_options options = {.language = language,
	    .profile = profile,
	    .timeout_ms = 600000,
	    .call_bytes = 1 << 20,
	    .report_bytes = 1 << 20,
	    .on_log = on_log,
	    .on_output = on_output,
	    .on_display = on_display,
	    .on_call = host_on_call};
	tap.skipped = read_options(&c, pool, &options);
	bool is_session = strstr(c.source, "~~~\n") || strstr(c.options, "\"session\":");
	expect_exit_code(&c);
	if (is_session && !tap.skipped &&
	    !CHECK(gb_session_open(engine, language, profile, &options.session, &err)))
		printf("#   %s\n", err.message);
	else if (!tap.skipped)
		run_jobs(engine, &c, &options);
	gb_session_close(options.session);
	gb_values_destroy(pool);
}

#endif
