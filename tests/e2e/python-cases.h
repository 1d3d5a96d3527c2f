/*
 * The tables in tests/data/python, the programs in tests/data/python/functions, and the check of their
 * outcome.
 *
 *	=== title
 *	+++ {"globals": …}		options of the run, as JSON
 *	6 * 7				jobs of a session, separated by "~~~"
 *	--- success			expected status of the last one,
 *	value: 42			and lines of "field: value"
 */
#ifndef GB_TESTS_PYTHON_CASES_H
#define GB_TESTS_PYTHON_CASES_H

#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "e2e/python-outcome.h"
#include "tap.h"

#ifndef CASES
#define CASES "python"
#endif

struct one_case {
	char name[200];
	char options[4096]; /* JSON, or empty */
	char source[16384]; /* jobs of a session, separated by "~~~" */
	char status[32];
	char expected[8192];
};

/* --- checks --- */

/* The output of a program, on one line. */
static inline char *escape(const struct gb_buf *text) {
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

static inline const struct gb_buf *said(const struct outcome *outcome, const char *field) {
	return strcmp(field, "stdout") == 0    ? &outcome->out
	       : strcmp(field, "stderr") == 0  ? &outcome->err
	       : strcmp(field, "both") == 0    ? &outcome->both
	       : strcmp(field, "display") == 0 ? &outcome->displays
	       : strcmp(field, "reports") == 0 ? &outcome->reports
	       : strcmp(field, "logs") == 0    ? &outcome->logs
					       : NULL;
}

static inline void judge_value(const struct outcome *outcome, const char *json) {
	/* Parse both and compare the values, not the texts. */
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

/* Whether @text is @pattern, in which each "…" stands for any text: versions of Python differ in their carets. */
static inline bool matches_pattern(const char *text, const char *pattern) {
	static const char dots[] = "…";
	const char *mark = strstr(pattern, dots);
	if (!mark)
		return strcmp(text, pattern) == 0;
	if (strncmp(text, pattern, (size_t)(mark - pattern)) != 0)
		return false;
	text += mark - pattern;
	for (pattern = mark + strlen(dots);; text++) {
		if (matches_pattern(text, pattern))
			return true;
		if (!*text)
			return false;
	}
}

static inline void judge_text(const char *actual, const char *expected) {
	if (CHECK(actual && matches_pattern(actual, expected)))
		return;
	tap_quote("actual:   ", actual ? actual : "nothing");
	tap_quote("expected: ", expected);
}

static inline void judge_field(const struct outcome *outcome, const char *field, const char *expected) {
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

static inline void tell(const struct outcome *outcome) {
	if (outcome->error[0])
		printf("#   %s: %s (line %u)\n", outcome->error[0], outcome->error[1], outcome->line);
	if (outcome->err.len)
		printf("#   stderr: %.*s\n", (int)outcome->err.len, outcome->err.data);
}

/* Each line of the expectation is "field: value". */
static inline void judge(const struct one_case *c, const char *status, const struct outcome *outcome) {
	if (!CHECK_STR(status, c->status))
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

/* --- reading --- */

static inline char *read_file(const char *path) {
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

static inline int by_name(const void *a, const void *b) {
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The sorted paths of the functions; never freed. */
static inline size_t list_functions(char **ret_paths, size_t max) {
	const char *dir_name = getenv("GB_TEST_DATA");
	char folder[4000];
	snprintf(folder, sizeof folder, "%s/python/functions", dir_name ? dir_name : "tests/data");
	DIR *dir = opendir(folder);
	size_t n = 0;
	for (struct dirent *entry; dir && (entry = readdir(dir));)
		if (strstr(entry->d_name, ".py") && n < max &&
		    asprintf(&ret_paths[n], "%s/%s", folder, entry->d_name) > 0)
			n++;
	if (dir)
		closedir(dir);
	qsort(ret_paths, n, sizeof *ret_paths, by_name);
	return n;
}

static inline void append(char *text, size_t max, const char *line) {
	if (strlen(text) + strlen(line) + 1 > max)
		abort();
	strcat(text, line);
}

static inline void end_case(struct one_case *c, void (*run)(void)) {
	if (*c->name) {
		struct one_case *copy = malloc(sizeof *copy);
		*copy = *c;
		tap_add(copy->name, run, copy);
	}
	memset(c, 0, sizeof *c);
}

/* Add a test for each case of @table: @run, with the case as its data. */
static inline void add_table(const char *table, void (*run)(void)) {
	const char *dir = getenv("GB_TEST_DATA");
	char path[4096];
	snprintf(path, sizeof path, "%s/" CASES "/%s.txt", dir ? dir : "tests/data", table);
	FILE *file = fopen(path, "r");
	if (!file) {
		printf("Bail out! cannot read %s\n", path);
		exit(1);
	}
	static struct one_case c;
	bool in_source = false;
	for (char line[8192]; fgets(line, sizeof line, file);) {
		if (strncmp(line, "=== ", 4) == 0) {
			end_case(&c, run);
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
	end_case(&c, run);
	fclose(file);
}

#endif
