/* The tables in tests/data/js: JavaScript in, what must come out beside it. */
#include <glovebox/glovebox.h>

#include "e2e/host.h"
#include "tap.h"

static struct gb_engine *engine;

struct one_case {
	char name[200];
	char options[4096]; /* JSON, or empty */
	char source[16384];
	char status[32];
	char expected[8192];
};

/* --- judging --- */

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

/* Each line of what is expected is "field: value". */
static void judge_failure(const struct one_case *c, const struct gb_result *result) {
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
		judge_failure(c, result);
		return;
	}
	if (!*c->expected) {
		CHECK_INT(gb_value_type(result->value), GB_UNDEFINED);
		return;
	}
	/* Through our own reader, so that only the value counts, not how it is written. */
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

/* "+++ {"globals": …}": what the run is given. */
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
	options->report = gb_value_get(given, "report") != NULL;
	if (gb_value_get(given, "typescript"))
		options->language = GB_TYPESCRIPT;
	const struct {
		const char *name;
		uint64_t *limit;
	} limits[] = {{"callBytes", &options->call_bytes}, {"reportBytes", &options->report_bytes}};
	for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
		if (gb_value_get(given, limits[i].name))
			*limits[i].limit = (uint64_t)gb_value_as_number(gb_value_get(given, limits[i].name));
	if (gb_value_get(given, "maxCalls"))
		options->max_calls = (uint32_t)gb_value_as_number(gb_value_get(given, "maxCalls"));
	if (gb_value_get(given, "maxInFlight"))
		options->max_in_flight = (uint32_t)gb_value_as_number(gb_value_get(given, "maxInFlight"));
}

static void run_case(void) {
	const struct one_case *c = tap.data;
	struct gb_err err = {0};
	struct gb_run *run;
	struct gb_run_options options = {.source = c->source,
	    .language = GB_JAVASCRIPT,
	    .timeout_ms = 20000,
	    .memory_bytes = 32 << 20,
	    .on_call = host_on_call};
	struct gb_values *pool = gb_values_create(0);
	read_options(c, pool, &options);
	if (CHECK(gb_run_start(engine, &options, &run, &err))) {
		judge(c, host_wait(engine, run));
		gb_run_destroy(run);
	} else {
		printf("#   %s\n", err.message);
	}
	gb_values_destroy(pool);
}

/* --- reading the tables --- */

static void append(char *text, size_t max, const char *line) {
	if (strlen(text) + strlen(line) + 1 > max)
		abort();
	strcat(text, line);
}

static void add_case(const struct one_case *c) {
	struct one_case *copy = malloc(sizeof *copy);
	*copy = *c;
	size_t n = strlen(copy->expected);
	while (n && copy->expected[n - 1] == '\n')
		copy->expected[--n] = '\0';
	tap_add(copy->name, run_case, copy);
}

static void read_table(const char *path) {
	FILE *file = fopen(path, "r");
	if (!file) {
		printf("Bail out! cannot read %s\n", path);
		exit(1);
	}
	static struct one_case c;
	memset(&c, 0, sizeof c);
	bool in_source = false;
	for (char line[8192]; fgets(line, sizeof line, file);) {
		if (strncmp(line, "=== ", 4) == 0) {
			if (*c.name)
				add_case(&c);
			memset(&c, 0, sizeof c);
			line[strcspn(line, "\n")] = '\0';
			append(c.name, sizeof c.name, line + 4);
			in_source = true;
		} else if (in_source && strncmp(line, "+++ ", 4) == 0) {
			append(c.options, sizeof c.options, line + 4);
		} else if (strncmp(line, "--- ", 4) == 0) {
			line[strcspn(line, "\n")] = '\0';
			append(c.status, sizeof c.status, line + 4);
			in_source = false;
		} else if (*c.name) {
			append(in_source ? c.source : c.expected,
			    in_source ? sizeof c.source : sizeof c.expected, line);
		}
	}
	if (*c.name)
		add_case(&c);
	fclose(file);
}

__attribute__((constructor)) static void set_up(void) {
	static const char *const tables[] = {
	    "results", "failures", "closed", "bridge", "modules", "typescript"};
	const char *dir = getenv("GB_TEST_DATA");
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
		char path[4096];
		snprintf(path, sizeof path, "%s/js/%s.txt", dir ? dir : "tests/data", tables[i]);
		read_table(path);
	}
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
