/*
 * The tables in tests/data/js:
 *
 *	=== title
 *	+++ {"globals": …}		options of the run, as JSON
 *	export default 6 * 7
 *	--- success			expected status,
 *	42				and result: JSON, or lines of "field: value" of the error
 *	*** 42				result in a naive sandbox, if it is part of the case
 *
 * Between cases, lines that begin with '#' are comments.
 */
#ifndef GB_TESTS_CASES_H
#define GB_TESTS_CASES_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct one_case {
	char name[200];
	char options[4096]; /* JSON, or empty */
	char source[16384];
	char status[32];
	char expected[8192];
	char naive[1024]; /* JSON, or empty */
};

static inline void cases_append(char *text, size_t max, const char *line) {
	if (strlen(text) + strlen(line) + 1 > max)
		abort();
	strcat(text, line);
}

static inline void cases_trim(char *text) {
	size_t n = strlen(text);
	while (n && text[n - 1] == '\n')
		text[--n] = '\0';
}

/* Pass @c to @add and clear it. Memory that @add keeps is never freed. */
static inline void cases_end(struct one_case *c, bool (*add)(const struct one_case *c)) {
	if (*c->name) {
		struct one_case *copy = malloc(sizeof *copy);
		*copy = *c;
		cases_trim(copy->expected);
		cases_trim(copy->naive);
		if (!add(copy))
			free(copy);
	}
	memset(c, 0, sizeof *c);
}

static inline void read_cases(const char *table, bool (*add)(const struct one_case *c)) {
	const char *dir = getenv("GB_TEST_DATA");
	char path[4096];
	snprintf(path, sizeof path, "%s/js/%s.txt", dir ? dir : "tests/data", table);
	FILE *file = fopen(path, "r");
	if (!file) {
		printf("Bail out! cannot read %s\n", path);
		exit(1);
	}
	static struct one_case c;
	bool in_source = false;
	for (char line[8192]; fgets(line, sizeof line, file);) {
		if (!in_source && line[0] == '#')
			continue;
		if (strncmp(line, "=== ", 4) == 0) {
			cases_end(&c, add);
			cases_append(c.name, sizeof c.name, line + 4);
			cases_trim(c.name);
			in_source = true;
		} else if (in_source && strncmp(line, "+++ ", 4) == 0) {
			cases_append(c.options, sizeof c.options, line + 4);
		} else if (strncmp(line, "--- ", 4) == 0) {
			cases_append(c.status, sizeof c.status, line + 4);
			cases_trim(c.status);
			in_source = false;
		} else if (!in_source && strncmp(line, "*** ", 4) == 0) {
			cases_append(c.naive, sizeof c.naive, line + 4);
		} else if (*c.name) {
			cases_append(in_source ? c.source : c.expected,
			    in_source ? sizeof c.source : sizeof c.expected, line);
		}
	}
	cases_end(&c, add);
	fclose(file);
}

#endif
