/*
 * Readable test cases from tests/data/: records of "name text" lines, separated by empty lines.
 *
 *	static void check(const struct record *record) {
 *		CHECK_STR(f(record_get(record, "in")), record_get(record, "out"));
 *	}
 *	CHECK_INT(table_each("cases.txt", check), 12);
 *
 * Lines that begin with '#' are comments. The folder is found beside the test's source.
 */
#ifndef GB_TESTS_TABLE_H
#define GB_TESTS_TABLE_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

enum { RECORD_MAX_LINES = 16 };

struct record {
	char *lines[RECORD_MAX_LINES]; /* "name text", cut into two at the space */
	unsigned n;
	unsigned line; /* of the file, where the record begins */
};

/* NULL if the record has no such line. */
static inline const char *record_get(const struct record *record, const char *name) {
	for (unsigned i = 0; i < record->n; i++)
		if (strcmp(record->lines[i], name) == 0)
			return record->lines[i] + strlen(name) + 1;
	return NULL;
}

static inline void record_finish(struct record *record) {
	while (record->n)
		free(record->lines[--record->n]);
}

static inline FILE *table_open(const char *name) {
	char path[1000];
	const char *slash = strrchr(__FILE__, '/');
	snprintf(path, sizeof path, "%.*s/data/%s", slash ? (int)(slash - __FILE__) : 1,
	    slash ? __FILE__ : ".", name);
	return fopen(path, "re");
}

/* Call @check for each record. Returns the number of records, -1 if the file cannot be read. */
static inline int table_each(const char *name, void (*check)(const struct record *record)) {
	FILE *file = table_open(name);
	if (!file)
		return -1;
	struct record record = {.n = 0};
	char *text = NULL;
	size_t cap = 0;
	int count = 0;
	unsigned line = 0;
	for (bool more = true; more;) {
		ssize_t n = getline(&text, &cap, file);
		more = n >= 0;
		line++;
		if (n > 0 && text[n - 1] == '\n')
			text[--n] = '\0';
		if (n > 0 && text[0] == '#')
			continue;
		if (n > 0) {
			if (record.n == RECORD_MAX_LINES)
				abort();
			if (record.n == 0)
				record.line = line;
			char *copy = strdup(text), *space = strchr(copy, ' ');
			if (!space)
				abort();
			*space = '\0';
			record.lines[record.n++] = copy;
			continue;
		}
		if (record.n) {
			check(&record);
			count++;
		}
		record_finish(&record);
	}
	free(text);
	fclose(file);
	return count;
}

#endif
