/*
 * From a test's file to modules that can be run: its harness as a module that makes globals, the test itself,
 * which imports the harness first, and every file that they import.
 *
 *	struct t262_case one;
 *	if (t262_case_init(&one, suite, "test/language/…/a.js", &err))
 *		...
 *	t262_case_finish(&one);
 */
#ifndef GB_TEST262_ASSEMBLE_H
#define GB_TEST262_ASSEMBLE_H

#include "base/arena.h"
#include "base/err.h"
#include "test262/meta.h"

/* The names of modules that are no files: the harness, and an entry that imports the test. */
#define T262_HARNESS "gb-test262-harness.js"
#define T262_ENTRY   "gb-test262-entry.js"

enum { T262_FILES_MAX = 64 };

struct t262_file {
	const char *name; /* as the entry's imports resolve to it */
	struct gb_str text;
};

struct t262_case {
	struct gb_arena arena;
	const char *path; /* as seen from the suite's folder; the caller's */
	struct t262_meta meta;
	struct gb_str source;  /* as it is in the suite */
	struct gb_str harness; /* as a script; empty for a raw test */
	/* The entry first: the test, with the same lines, only that the first is longer; or what imports it.
	 */
	struct t262_file files[T262_FILES_MAX];
	size_t n_files;
};

/* @suite is the folder, open. Fails if a file cannot be read, or is no test. */
bool t262_case_init(struct t262_case *one, int suite, const char *path, struct gb_err *err);
void t262_case_finish(struct t262_case *one);

#endif
