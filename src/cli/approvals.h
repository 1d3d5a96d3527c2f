/* Shared by the files of `glovebox approvals`: the command line (approvals.c), output (approvals_print.c),
 * and deciding at a terminal (approvals_watch.c). */
#ifndef GB_CLI_APPROVALS_H
#define GB_CLI_APPROVALS_H

#include "cli/state.h"
#include "store/approvals.h"

struct approvals_request {
	struct state_request state;
	const char *action, *id, *dir, *reason;
	bool json, all;
	struct gb_approval_filter filter;
	char decider[GB_APPROVAL_DECIDER_MAX + 1];
};

/* The words of a person's decision, as an action or at the prompt of 'watch'. A row without a word ends the table. */
struct approvals_verdict {
	const char *word;
	enum gb_approval_verdict verdict;
};
extern const struct approvals_verdict approvals_verdicts[];

/* Report @err, which may quote a file. Returns an exit status. */
int approvals_fail(const struct gb_err *err);

/* --- approvals_print.c --- */

int approvals_list(struct gb_approvals *approvals, const struct approvals_request *request);
int approvals_show(struct gb_approvals *approvals, const struct approvals_request *request);
/* Print all of it, for the person that decides. */
void approvals_print(struct gb_approval *approval);
/* "approved by ann at 2026-01-31T12:00:00.000Z: because" */
void approvals_print_standing(const struct gb_standing *standing);
int approvals_finish_output(void);

/* --- approvals_watch.c --- */

int approvals_watch(struct gb_approvals *approvals, const struct approvals_request *request);

#endif
