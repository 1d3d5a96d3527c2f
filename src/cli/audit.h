/* Shared by the files of `glovebox audit`: the command line (audit.c), output (audit_print.c), and unfinished
 * runs (audit_begun.c). */
#ifndef GB_CLI_AUDIT_H
#define GB_CLI_AUDIT_H

#include "cli/state.h"
#include "store/audit.h"

struct audit_request {
	struct state_request state;
	const char *action, *id, *dir;
	bool json, has_limit;
	bool unfinished; /* only runs without a record of their end */
	struct gb_audit_filter filter;
	struct gb_audit_expected expected;
};

/* Each returns the exit status. */
int audit_list(const struct audit_request *request);
int audit_show(const struct audit_request *request);
int audit_export(const struct audit_request *request);
int audit_verify(const struct audit_request *request);
/* Print the JSON of a verification if there is no log. */
void audit_verify_nothing(void);

/* --- audit_begun.c --- */

/* The runs that begin in the listed records, ordered by id. */
struct audit_begun {
	struct audit_begun_run *runs;
	size_t n, cap;
	uint64_t oldest; /* number of the first such record */
	bool failed;
};

/* Load those of the records that pass @filter. Call audit_begun_finish also after a failure. */
bool audit_begun_load(
    struct audit_begun *begun, const char *dir, const struct gb_audit_filter *filter, struct gb_err *err);
/* Whether @record is the beginning of a run without a record of its end. */
bool audit_is_unfinished(const struct audit_begun *begun, const struct gb_audit_record *record);
void audit_begun_finish(struct audit_begun *begun);

#endif
