/* What the files of `glovebox audit` share: the command line (audit.c), what is printed (audit_print.c), and
 * which runs have no end (audit_begun.c). */
#ifndef GB_CLI_AUDIT_H
#define GB_CLI_AUDIT_H

#include "cli/state.h"
#include "store/audit.h"

struct audit_request {
	struct state_request state;
	const char *action, *id, *dir;
	bool json, has_limit;
	bool unfinished; /* only runs that have no end */
	struct gb_audit_filter filter;
	struct gb_audit_expected expected;
};

/* Each returns the exit status. */
int audit_list(const struct audit_request *request);
int audit_show(const struct audit_request *request);
int audit_export(const struct audit_request *request);
int audit_verify(const struct audit_request *request);
/* The JSON of a verification where there is no log. */
void audit_verify_nothing(void);

/* --- audit_begun.c --- */

/* The runs that begin in what is listed, ordered by id. */
struct audit_begun {
	struct audit_begun_run *runs;
	size_t n, cap;
	uint64_t oldest; /* number of the first such record */
	bool failed;
};

/* Of the records that pass @filter. To be finished also after a failure. */
bool audit_begun_load(
    struct audit_begun *begun, const char *dir, const struct gb_audit_filter *filter, struct gb_err *err);
/* Is @record the beginning of a run that has no record of its end? */
bool audit_is_unfinished(const struct audit_begun *begun, const struct gb_audit_record *record);
void audit_begun_finish(struct audit_begun *begun);

#endif
