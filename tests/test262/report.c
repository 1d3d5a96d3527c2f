#include "test262/report.h"

#include <stdio.h>
#include <stdlib.h>

enum { FOLDERS_MAX = 64, REASONS_MAX = 128, REASON_LENGTH = 120 };

struct t262_report {
	bool quiet;
	struct {
		const char *name;
		size_t of[T262_CATEGORIES];
	} folders[FOLDERS_MAX];
	size_t n_folders;
	struct {
		enum t262_category category;
		char text[REASON_LENGTH];
		size_t count;
	} reasons[REASONS_MAX];
	size_t n_reasons;
};

struct t262_report *t262_report_create(bool quiet) {
	struct t262_report *report = calloc(1, sizeof *report);
	if (report)
		report->quiet = quiet;
	return report;
}

void t262_report_destroy(struct t262_report *report) {
	free(report);
}

void t262_report_folder(struct t262_report *report, const char *folder) {
	/* Those beyond are counted with the last. */
	if (report->n_folders < FOLDERS_MAX)
		report->folders[report->n_folders++].name = folder;
}

static void count_reason(struct t262_report *report, enum t262_category category, const char *reason) {
	size_t i = 0;
	while (i < report->n_reasons && (report->reasons[i].category != category ||
					    strncmp(report->reasons[i].text, reason, REASON_LENGTH - 1) != 0))
		i++;
	if (i == REASONS_MAX)
		return;
	if (i == report->n_reasons) {
		report->reasons[report->n_reasons++].category = category;
		snprintf(report->reasons[i].text, REASON_LENGTH, "%s", reason);
	}
	report->reasons[i].count++;
}

void t262_report_add(struct t262_report *report, enum t262_category category, const char *reason) {
	if (report->n_folders)
		report->folders[report->n_folders - 1].of[category]++;
	if (category == T262_CLOSED || category == T262_SKIPPED)
		count_reason(report, category, reason);
}

void t262_report_line(
    const struct t262_report *report, const char *what, const char *path, const char *reason) {
	if (!report->quiet)
		printf("%s: %s: %s\n", what, path, reason);
}

static void print_reasons(const struct t262_report *report, enum t262_category category, const char *title) {
	for (size_t i = 0; i < report->n_reasons; i++)
		if (report->reasons[i].category == category)
			printf("%6zu %s: %s\n", report->reasons[i].count, title, report->reasons[i].text);
}

static void print_folders(const struct t262_report *report) {
	printf("\n%-42s %7s %7s %7s %7s %11s\n", "", "passed", "failed", "closed", "skipped", "regressions");
	for (size_t i = 0; i < report->n_folders; i++) {
		const size_t *of = report->folders[i].of;
		printf("%-42s %7zu %7zu %7zu %7zu %11zu\n", report->folders[i].name, of[T262_PASSED],
		    of[T262_ENGINE], of[T262_CLOSED], of[T262_SKIPPED], of[T262_REGRESSION]);
	}
}

void t262_report_print(const struct t262_report *report, const struct t262_counts *counts) {
	if (report->quiet)
		return;
	print_folders(report);
	puts("");
	print_reasons(report, T262_CLOSED, "closed by design");
	print_reasons(report, T262_SKIPPED, "skipped");
	if (counts->unlisted)
		printf("%6zu failed as in quickjs-ng, but are not in its list\n", counts->unlisted);
	if (counts->better)
		printf("%6zu passed, but fail in the plain engine\n", counts->better);
	if (counts->stale)
		printf("%6zu differences on the list are none any more\n", counts->stale);
	const size_t *of = counts->of;
	printf(
	    "%zu passed, %zu failed as in quickjs-ng, %zu closed by design, %zu skipped, %zu regressions\n",
	    of[T262_PASSED], of[T262_ENGINE], of[T262_CLOSED], of[T262_SKIPPED], of[T262_REGRESSION]);
}
