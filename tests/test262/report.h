/* What a run prints: a line for each test that deserves one, as it happens, and the tables at the end. */
#ifndef GB_TEST262_REPORT_H
#define GB_TEST262_REPORT_H

#include "test262/suite.h"

struct t262_report;

/* NULL when memory is out. */
struct t262_report *t262_report_create(bool quiet);
void t262_report_destroy(struct t262_report *report);

/* The folder that what follows belongs to. @folder must outlive the report. */
void t262_report_folder(struct t262_report *report, const char *folder);
/* Count a test; reasons of what is closed or skipped are counted each. */
void t262_report_add(struct t262_report *report, enum t262_category category, const char *reason);
void t262_report_line(
    const struct t262_report *report, const char *what, const char *path, const char *reason);
void t262_report_print(const struct t262_report *report, const struct t262_counts *counts);

#endif
