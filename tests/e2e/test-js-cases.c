/* Runs the tables in tests/data/js: JavaScript sources with their expected results. */
#include <glovebox/glovebox.h>

#include "e2e/cases.h"
#include "e2e/host.h"
#include "tap.h"

static struct gb_engine *engine;

/* --- comparison --- */

static const char *error_field(const struct gb_run_error *error, const char *field, char *number) {
	if (strcmp(field, "line") == 0 || strcmp(field, "column") == 0) {
		sprintf(number, "%u", field[0] == 'l' ? error->line : error->column);
		return number;
	}
	return strcmp(field, "name") == 0        ? error->name
	       : strcmp(field, "message") == 0   ? error->message
	       : strcmp(field, "code") == 0      ? error->code
	       : strcmp(field, "specifier") == 0 ? error->specifier
	       : strcmp(field, "filename") == 0  ? error->filename
						 : "?";
}

/* Each line of the expected result is "field: value". */
static void compare_failure(const struct one_case *c, const struct gb_result *result) {
	char lines[sizeof c->expected];
	strcpy(lines, c->expected);
	for (char *save = NULL, *line = strtok_r(lines, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		char *value = strstr(line, ": "), number[16];
		if (!CHECK(value))
			continue;
		*value = '\0';
		CHECK_STR(error_field(&result->error, line, number), value + 2);
	}
}

static void judge(const struct one_case *c, const struct gb_result *result) {
	if (!CHECK(result) || !CHECK_STR(gb_status_name(result->status), c->status)) {
		if (result)
			printf("#   %s: %s\n", result->error.name, result->error.message);
		return;
	}
	if (result->status != GB_SUCCESS) {
		compare_failure(c, result);
		return;
	}
	if (!*c->expected) {
		CHECK_INT(gb_value_type(result->value), GB_UNDEFINED);
		return;
	}
	/* Compare parsed values, so that formatting does not matter. */
	struct gb_err err = {0};
	struct gb_values *pool = gb_values_create(0);
	struct gb_value *expected = gb_value_from_json(pool, c->expected, strlen(c->expected), &err);
	if (CHECK(expected)) {
		char *a = gb_value_to_json(result->value, 0, NULL, &err),
		     *e = gb_value_to_json(expected, 0, NULL, &err);
		CHECK_STR(a, e);
		free(a);
		free(e);
	} else {
		printf("#   %s: %s\n", c->name, err.message);
	}
	gb_values_destroy(pool);
}

/* "+++ {"globals": …}": the inputs of the run. */
static void read_options(const struct one_case *c, struct gb_values *pool, struct gb_run_options *options) {
	struct gb_err err = {0};
	if (!*c->options)
		return;
	const struct gb_value *given = gb_value_from_json(pool, c->options, strlen(c->options), &err);
	if (!CHECK(given))
		printf("#   %s\n", err.message);
	options->imports = gb_value_get(given, "imports");
	options->modules = gb_value_get(given, "modules");
	options->globals = gb_value_get(given, "globals");
	options->args = gb_value_get(given, "args");
	options->fn = gb_value_bytes(gb_value_get(given, "fn"), NULL);
	options->filename = gb_value_bytes(gb_value_get(given, "filename"), NULL);
	options->reset = gb_value_get(given, "reset") != NULL;
	if (gb_value_get(given, "timeout"))
		options->timeout_ms = (uint64_t)gb_value_as_number(gb_value_get(given, "timeout"));
	options->report = gb_value_get(given, "report") != NULL;
	options->is_body = gb_value_get(given, "body") != NULL;
	options->head = gb_value_bytes(gb_value_get(given, "head"), NULL);
	options->tail = gb_value_bytes(gb_value_get(given, "tail"), NULL);
	if (gb_value_get(given, "typescript"))
		options->language = GB_TYPESCRIPT;
	const struct {
		const char *name;
		uint64_t *limit;
	} limits[] = {{"callBytes", &options->call_bytes}, {"reportBytes", &options->report_bytes},
	    {"resultBytes", &options->result_bytes}};
	for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
		if (gb_value_get(given, limits[i].name))
			*limits[i].limit = (uint64_t)gb_value_as_number(gb_value_get(given, limits[i].name));
	if (gb_value_get(given, "maxCalls"))
		options->max_calls = (uint32_t)gb_value_as_number(gb_value_get(given, "maxCalls"));
	if (gb_value_get(given, "maxInFlight"))
		options->max_in_flight = (uint32_t)gb_value_as_number(gb_value_get(given, "maxInFlight"));
}

/* --- running --- */

/* Jobs of one session, separated by lines of "~~~", which may add inputs for the next job to the common ones.
 * The result of the last job is compared. */
static void run_session_case(void) {
	const struct one_case *c = tap.data;
	struct gb_err err = {0};
	struct gb_values *pool = gb_values_create(0);
	struct gb_run_options all = {.timeout_ms = 600000, .memory_bytes = 32 << 20, .on_call = host_on_call};
	read_options(c, pool, &all);
	const char *more = strstr(c->options, "\"typescript\"");
	if (!CHECK(gb_session_open(engine, more ? GB_TYPESCRIPT : GB_JAVASCRIPT, NULL, &all.session, &err)))
		return;
	char text[sizeof c->source];
	strcpy(text, c->source);
	const char *given = "";
	for (char *job = text, *next; job; job = next) {
		char *line = strstr(job, "~~~");
		next = line ? strchr(line, '\n') + 1 : NULL;
		struct gb_run_options options = all;
		struct one_case own = {0};
		strcpy(own.options, given);
		if (*given)
			read_options(&own, pool, &options);
		if (line)
			*line = '\0', next[-1] = '\0', given = line + 3 + strspn(line + 3, " ");
		options.source = job;
		options.data = (void *)options.globals;
		struct gb_run *run;
		if (!CHECK(gb_run_start(engine, &options, &run, &err))) {
			printf("#   %s\n", err.message);
			break;
		}
		const struct gb_result *result = host_wait(engine, run);
		if (!next)
			judge(c, result);
		gb_run_destroy(run);
	}
	gb_session_close(all.session);
	gb_values_destroy(pool);
}

static void run_case(void) {
	const struct one_case *c = tap.data;
	struct gb_err err = {0};
	struct gb_run *run;
	struct gb_run_options options = {.source = c->source,
	    .language = GB_JAVASCRIPT,
	    .timeout_ms = 600000,
	    .memory_bytes = 32 << 20,
	    .on_call = host_on_call};
	struct gb_values *pool = gb_values_create(0);
	read_options(c, pool, &options);
	options.data = (void *)options.globals;
	if (CHECK(gb_run_start(engine, &options, &run, &err))) {
		judge(c, host_wait(engine, run));
		gb_run_destroy(run);
	} else {
		printf("#   %s\n", err.message);
	}
	gb_values_destroy(pool);
}

static bool add_session_case(const struct one_case *c) {
	tap_add(c->name, run_session_case, c);
	return true;
}

static bool add_case(const struct one_case *c) {
	tap_add(c->name, run_case, c);
	return true;
}

__attribute__((constructor)) static void set_up(void) {
	static const char *const tables[] = {"results", "failures", "bodies", "around", "closed", "bridge",
	    "modules", "typescript", "escapes"};
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
		read_cases(tables[i], add_case);
	read_cases("sessions", add_session_case);
	struct gb_err err = {0};
	if (!gb_engine_create(
		&(struct gb_engine_options){.worker_dir = getenv("GB_WORKER_DIR")}, &engine, &err)) {
		printf("Bail out! %s\n", err.message);
		exit(1);
	}
}

__attribute__((destructor)) static void tear_down(void) {
	gb_engine_destroy(engine);
}
