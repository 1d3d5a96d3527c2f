/*
 * The tables in tests/data/python: Python in, what must come out beside it; and the functions in
 * tests/data/python/functions, which judge themselves. Built once for each profile.
 */
#include "e2e/python.h"

#include <dirent.h>

#include "tap.h"

#ifndef PROFILE
#define PROFILE "stdlib"
#endif

struct one_case {
	char name[200];
	char options[4096]; /* JSON, or empty */
	char source[16384]; /* jobs of a session, with "~~~" between them */
	char status[32];
	char expected[8192];
};

/* --- judging --- */

static const char *const status_names[] = {
    [GB_WIRE_SUCCESS] = "success",
    [GB_WIRE_ERROR] = "error",
    [GB_WIRE_MEMORY] = "memory",
    [GB_WIRE_LINK_ERROR] = "link_error",
};

/* What a program said, in one line. */
static char *escape(const struct gb_buf *text) {
	struct gb_buf out;
	gb_buf_init(&out, SIZE_MAX);
	for (size_t i = 0; i < text->len; i++) {
		if (text->data[i] == '\n')
			gb_buf_append(&out, "\\n", 2);
		else
			gb_buf_append_char(&out, text->data[i]);
	}
	gb_buf_append_char(&out, '\0');
	return out.data;
}

static const struct gb_buf *said(const struct outcome *outcome, const char *field) {
	return strcmp(field, "stdout") == 0    ? &outcome->out
	       : strcmp(field, "stderr") == 0  ? &outcome->err
	       : strcmp(field, "both") == 0    ? &outcome->both
	       : strcmp(field, "display") == 0 ? &outcome->displays
	       : strcmp(field, "reports") == 0 ? &outcome->reports
					       : NULL;
}

static void judge_value(const struct outcome *outcome, const char *json) {
	/* Through our own reader, so that only the value counts, not how it is written. */
	struct gb_err err = {0};
	struct gb_values *pool = gb_values_create(0);
	struct gb_value *expected = gb_value_from_json(pool, json, strlen(json), &err);
	if (CHECK(expected)) {
		char *a = gb_value_to_json(outcome->value, 0, NULL, &err),
		     *e = gb_value_to_json(expected, 0, NULL, &err);
		CHECK_STR(a, e);
		free(a);
		free(e);
	} else {
		printf("#   %s\n", err.message);
	}
	gb_values_destroy(pool);
}

static void judge_text(const char *actual, const char *expected) {
	/* "…x…": it is somewhere in there. */
	size_t dots = strlen("…"), n = strlen(expected);
	if (n > 2 * dots && strncmp(expected, "…", dots) == 0 && strcmp(expected + n - dots, "…") == 0) {
		char part[8192];
		snprintf(part, sizeof part, "%.*s", (int)(n - 2 * dots), expected + dots);
		if (!CHECK(actual && strstr(actual, part))) {
			tap_quote("actual:   ", actual);
			tap_quote("expected: ", expected);
		}
		return;
	}
	CHECK_STR(actual, expected);
}

static void judge_field(const struct outcome *outcome, const char *field, const char *expected) {
	static const char *const texts[] = {"name", "message", "stack", "code", "specifier", "filename"};
	for (unsigned i = 0; i < GB_WIRE_ERROR_TEXTS; i++) {
		if (strcmp(field, texts[i]) == 0) {
			struct gb_buf text = {.data = outcome->error[i],
			    .len = outcome->error[i] ? strlen(outcome->error[i]) : 0};
			char *line = escape(&text);
			judge_text(outcome->error[i] ? line : NULL, expected);
			free(line);
			return;
		}
	}
	const struct gb_buf *text = said(outcome, field);
	if (text) {
		char *line = escape(text);
		judge_text(line, expected);
		free(line);
	} else if (strcmp(field, "value") == 0) {
		judge_value(outcome, expected);
	} else {
		long actual = strcmp(field, "line") == 0        ? (long)outcome->line
			      : strcmp(field, "column") == 0    ? (long)outcome->column
			      : strcmp(field, "exit") == 0      ? outcome->exit_code
			      : strcmp(field, "truncated") == 0 ? outcome->truncated
								: -100;
		CHECK_INT(actual, strtol(expected, NULL, 10));
	}
}

static void tell(const struct outcome *outcome) {
	if (outcome->error[0])
		printf("#   %s: %s (line %u)\n", outcome->error[0], outcome->error[1], outcome->line);
	if (outcome->err.len)
		printf("#   stderr: %.*s\n", (int)outcome->err.len, outcome->err.data);
}

/* Each line of what is expected is "field: value". */
static void judge(const struct one_case *c, const struct outcome *outcome) {
	if (!CHECK_STR(status_names[outcome->status], c->status))
		tell(outcome);
	char lines[sizeof c->expected];
	strcpy(lines, c->expected);
	for (char *save = NULL, *line = strtok_r(lines, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		char *value = strchr(line, ':');
		if (!CHECK(value))
			continue;
		*value++ = '\0';
		judge_field(outcome, line, *value == ' ' ? value + 1 : value);
	}
}

/* --- running --- */

/* "+++ {"globals": …}": what the run is given. */
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

/* Every job of a case in one cell; the last one counts. */
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
		SKIP("a sanitizer has its own malloc, which nobody counts");
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
		judge(c, &outcome);
	outcome_finish(&outcome);
	cell_end(&cell);
	gb_values_destroy(pool);
}

/* --- functions: a file is a program that asserts --- */

static char *read_file(const char *path) {
	FILE *file = fopen(path, "r");
	if (!file)
		return NULL;
	struct gb_buf text;
	gb_buf_init(&text, SIZE_MAX);
	for (int c; (c = getc(file)) != EOF;)
		gb_buf_append_char(&text, (char)c);
	fclose(file);
	gb_buf_append_char(&text, '\0');
	return text.data;
}

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

static int by_name(const void *a, const void *b) {
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void add_functions(const char *folder) {
	DIR *dir = opendir(folder);
	char *paths[500];
	size_t n = 0;
	for (struct dirent *entry; dir && (entry = readdir(dir));)
		if (strstr(entry->d_name, ".py") && n < sizeof paths / sizeof *paths &&
		    asprintf(&paths[n], "%s/%s", folder, entry->d_name) > 0)
			n++;
	if (dir)
		closedir(dir);
	qsort(paths, n, sizeof *paths, by_name);
	for (size_t i = 0; i < n; i++)
		tap_add(strrchr(paths[i], '/') + 1, run_function, paths[i]);
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
	static const char *const stdlib[] = {"results", "values", "failures", "output", "display", "bridge",
	    "modules", "sessions", "processes", "restricted", "escapes", NULL};
	static const char *const data[] = {"data", NULL};
	bool is_data = strcmp(PROFILE, "data") == 0;
	const char *dir = getenv("GB_TEST_DATA");
	char path[4096];
	for (const char *const *table = is_data ? data : stdlib; *table; table++) {
		snprintf(path, sizeof path, "%s/python/%s.txt", dir ? dir : "tests/data", *table);
		read_table(path);
	}
	snprintf(path, sizeof path, "%s/python/functions", dir ? dir : "tests/data");
	if (!is_data)
		add_functions(path);
	python_init(PROFILE);
}
