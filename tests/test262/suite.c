#include "test262/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "test262/closed.h"
#include "test262/expect.h"
#include "test262/report.h"
#include "test262/run.h"

const char *const t262_default_paths[] = {
    "test/language/module-code",
    "test/language/import",
    "test/language/export",
    "test/language/expressions/import.meta",
    "test/language/expressions/dynamic-import",
    "test/language/expressions/await",
    "test/built-ins/Promise",
    "test/built-ins/AsyncFunction",
    NULL,
};

struct suite {
	const struct t262_options *options;
	struct gb_engine *engine;
	int folder; /* of the suite */
	struct t262_expect expect;
	struct t262_report *report;
	struct t262_counts counts;
};

/* --- one test --- */

static void settle(struct suite *suite, const char *path, enum t262_category category, const char *reason) {
	suite->counts.of[category]++;
	t262_report_add(suite->report, category, reason);
	if (category == T262_REGRESSION)
		t262_report_line(suite->report, "REGRESSION", path, reason);
	if (suite->options->on_test)
		suite->options->on_test(path, category, reason, suite->options->data);
}

/* The plain engine fails too. A test that was written as a script gets its chance to be one. */
static bool judge_engine_failure(
    struct suite *suite, const struct t262_case *one, const char *why, bool *ret_script, struct gb_err *err) {
	char why_script[T262_TEXT_MAX] = "";
	struct t262_outcome outcome;
	*ret_script = false;
	if (!t262_list_has(&one->meta.flags, "module")) {
		if (!t262_plain(suite->options->plain, one, true, &outcome, err))
			return false;
		*ret_script = t262_judge(&one->meta, &outcome, why_script);
	}
	if (*ret_script)
		return true;
	bool listed = t262_expect_fails(&suite->expect, one->path);
	suite->counts.unlisted += !listed;
	t262_report_line(
	    suite->report, listed ? "as expected by quickjs-ng" : "not in quickjs-ng's list", one->path, why);
	return true;
}

static bool judge_both(struct suite *suite, const struct t262_case *one, const struct t262_outcome *sandbox,
    const struct t262_outcome *plain, struct gb_err *err) {
	char why[T262_TEXT_MAX] = "", why_plain[T262_TEXT_MAX] = "", difference[T262_TEXT_MAX];
	const char *reason = why;
	struct t262_verdicts verdicts = {
	    .sandbox = t262_judge(&one->meta, sandbox, why),
	    .plain = t262_judge(&one->meta, plain, why_plain),
	};
	if (verdicts.sandbox && !verdicts.plain) {
		suite->counts.better++;
		t262_report_line(suite->report, "fails only in the plain engine", one->path, why_plain);
	}
	if (!verdicts.sandbox && verdicts.plain) {
		struct gb_str reviewed = t262_expect_difference(&suite->expect, one->path);
		const char *closed = t262_reason_to_fail(one, why);
		snprintf(difference, sizeof difference, "%.*s", GB_STR_ARG(reviewed));
		verdicts.closed = closed || reviewed.n;
		reason = reviewed.n ? difference : closed ? closed : why;
	}
	if (!verdicts.sandbox && !verdicts.plain &&
	    !judge_engine_failure(suite, one, why_plain, &verdicts.plain_script, err))
		return false;
	if (verdicts.plain_script)
		reason = "has its meaning only as a script";
	settle(suite, one->path, t262_compare(verdicts), reason);
	return true;
}

static bool run_case(struct suite *suite, const struct t262_case *one, struct gb_err *err) {
	char buf[T262_TEXT_MAX];
	bool closed;
	const char *reason = t262_reason_not_to_run(one, &suite->expect, &closed, buf);
	if (reason) {
		settle(suite, one->path, closed ? T262_CLOSED : T262_SKIPPED, reason);
		return true;
	}
	struct gb_run *run;
	struct t262_outcome sandbox, plain;
	if (!t262_sandbox_start(suite->engine, one, &run, err))
		return false;
	bool ok = t262_plain(suite->options->plain, one, false, &plain, err);
	t262_sandbox_finish(run, &sandbox);
	if (ok)
		t262_outcome_excuse_rejection(&sandbox, &plain);
	return ok && judge_both(suite, one, &sandbox, &plain, err);
}

static bool run_path(struct suite *suite, const char *path, struct gb_err *err) {
	struct t262_case one;
	if (!t262_case_init(&one, suite->folder, path, err))
		return false;
	bool ok = run_case(suite, &one, err);
	t262_case_finish(&one);
	return ok;
}

/* --- all of them --- */

static int by_name(const FTSENT **a, const FTSENT **b) {
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

static bool is_test(const FTSENT *entry) {
	return entry->fts_info == FTS_F && !strstr(entry->fts_name, "_FIXTURE") &&
	       gb_str_ends_with(gb_str_from(entry->fts_name), GB_STR(".js"));
}

static bool run_folder(struct suite *suite, const char *folder, struct gb_err *err) {
	char full[4096];
	snprintf(full, sizeof full, "%s/%s", suite->options->suite, folder);
	char *roots[] = {full, NULL};
	FTS *tree = fts_open(roots, FTS_LOGICAL | FTS_NOCHDIR, by_name);
	if (!tree)
		return gb_fail(err, GB_ESYSTEM, errno, "read '%s'", full);
	t262_report_folder(suite->report, folder);
	bool ok = true;
	for (FTSENT *entry; ok && (entry = fts_read(tree));) {
		if (entry->fts_info == FTS_NS || entry->fts_info == FTS_DNR)
			ok = gb_fail(err, GB_ENOENT, entry->fts_errno, "read '%s'", entry->fts_path);
		else if (is_test(entry))
			ok = run_path(suite, entry->fts_path + strlen(suite->options->suite) + 1, err);
	}
	fts_close(tree);
	return ok;
}

static bool is_below(struct gb_str path, const char *const *folders) {
	for (; *folders; folders++) {
		size_t n = strlen(*folders);
		if (path.n >= n && memcmp(path.p, *folders, n) == 0)
			return true;
	}
	return false;
}

/* Entries of the list that are of no use, as far as their tests were run. */
static void find_stale(struct suite *suite, const char *const *folders) {
	struct gb_str path;
	for (size_t at = 0; t262_expect_stale(&suite->expect, &at, &path);) {
		char name[T262_TEXT_MAX];
		if (!is_below(path, folders))
			continue;
		snprintf(name, sizeof name, "%.*s", GB_STR_ARG(path));
		t262_report_line(suite->report, "STALE", name, "a difference that is none any more");
		suite->counts.stale++;
	}
}

bool t262_run(const struct t262_options *options, struct gb_engine *engine, struct t262_counts *ret,
    struct gb_err *err) {
	struct suite suite = {.options = options, .engine = engine};
	const char *const *folders = options->paths ? options->paths : t262_default_paths;
	gb_auto_fd int folder = suite.folder = open(options->suite, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0)
		return gb_fail(err, GB_ENOENT, errno, "open '%s'", options->suite);
	if (!t262_expect_init(&suite.expect, options->expectations, options->differences, err))
		return false;
	suite.report = t262_report_create(options->quiet);
	bool ok = suite.report || gb_fail(err, GB_ENOMEM, 0, "no memory for the report");
	for (size_t i = 0; ok && folders[i]; i++)
		ok = run_folder(&suite, folders[i], err);
	if (ok) {
		find_stale(&suite, folders);
		t262_report_print(suite.report, &suite.counts);
	}
	t262_report_destroy(suite.report);
	t262_expect_finish(&suite.expect);
	if (ok)
		*ret = suite.counts;
	return ok;
}
