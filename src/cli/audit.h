/* What the two files of `glovebox audit` share: the command line (audit.c) and what is printed
 * (audit_print.c). */
#ifndef GB_CLI_AUDIT_H
#define GB_CLI_AUDIT_H

#include "cli/state.h"
#include "store/audit.h"

struct audit_request {
	struct state_request state;
	const char *action, *id, *dir;
	bool json, has_limit;
	struct gb_audit_filter filter;
	struct gb_audit_expected expected;
};

/* Each returns the exit status. */
int audit_list(const struct audit_request *request);
int audit_show(const struct audit_request *request);
int audit_export(const struct audit_request *request);
int audit_verify(const struct audit_request *request);

#endif
