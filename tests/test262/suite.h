/*
 * Runs tests of a suite and counts what comes of them.
 *
 *	struct t262_options options = {.suite = "dir", .plain = "…/test262-plain"};
 *	struct t262_counts counts;
 *	if (t262_run(&options, engine, &counts, &err))
 *		return counts.of[T262_REGRESSION] > 0;
 */
#ifndef GB_TEST262_SUITE_H
#define GB_TEST262_SUITE_H

#include <glovebox/glovebox.h>

#include "test262/judge.h"

struct t262_options {
	const char *suite; /* the folder that holds harness/ and test/ */
	const char
	    *expectations; /* the folder of quickjs-ng's test262.conf and test262_errors.txt; may be NULL */
	const char *differences; /* the file of reviewed ones; may be NULL */
	const char *plain;       /* the program */
	const char *const
	    *paths; /* folders and tests, as seen from the suite; NULL: those of t262_default_paths */
	bool quiet; /* print nothing */
	/* For those who want to know of each. @reason is valid during the call. */
	void (*on_test)(const char *path, enum t262_category category, const char *reason, void *data);
	void *data;
};

/* What is about modules, import(), await and promises. Ends with NULL. */
extern const char *const t262_default_paths[];

struct t262_counts {
	size_t of[T262_CATEGORIES];
	size_t unlisted; /* of those that fail in the plain engine too: the list does not have them */
	size_t better;   /* of those that passed: fail in the plain engine */
	size_t stale;    /* differences whose tests were run, and that explained nothing */
};

/* Fails if the suite cannot be read or a test cannot be run at all. */
bool t262_run(const struct t262_options *options, struct gb_engine *engine, struct t262_counts *ret,
    struct gb_err *err);

#endif
