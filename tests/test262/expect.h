/*
 * What quickjs-ng expects (the configuration and the list of known failures of its own runner), and the reviewed
 * differences of the worker.
 *
 *	struct t262_expect expect;
 *	t262_expect_init(&expect, "dir", "differences.txt", &err);
 *	if (t262_expect_fails(&expect, "test/language/…/a.js")) ...
 *	t262_expect_finish(&expect);
 *
 * Paths of tests are as seen from the suite's folder.
 */
#ifndef GB_TEST262_EXPECT_H
#define GB_TEST262_EXPECT_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

enum { T262_DIFFERENCES_MAX = 100 };

struct t262_expect {
	struct gb_buf conf, errors, differences;
	/* Of the differences, which have explained something. */
	bool used[T262_DIFFERENCES_MAX];
};

/* @dir holds test262.conf and test262_errors.txt; NULL: nothing is expected. @differences may be NULL too. */
bool t262_expect_init(
    struct t262_expect *expect, const char *dir, const char *differences, struct gb_err *err);
void t262_expect_finish(struct t262_expect *expect);

enum t262_feature { T262_SUPPORTED, T262_UNSUPPORTED, T262_UNKNOWN };

enum t262_feature t262_expect_feature(const struct t262_expect *expect, struct gb_str name);
/* Is the test left out? */
bool t262_expect_excluded(const struct t262_expect *expect, const char *path);
/* Is it known to fail? */
bool t262_expect_fails(const struct t262_expect *expect, const char *path);

/* Why this test may fail here though it passes in the plain engine, or an empty string. */
struct gb_str t262_expect_difference(struct t262_expect *expect, const char *path);
/* The paths of the differences that have explained nothing, one a call, from *@at = 0 on. False: no more. */
bool t262_expect_stale(const struct t262_expect *expect, size_t *at, struct gb_str *ret_path);

/* Append to @buf what is in the file, as seen from the folder @dir (AT_FDCWD: the current one). */
bool t262_read_file(int dir, const char *path, struct gb_buf *buf, struct gb_err *err);

#endif
