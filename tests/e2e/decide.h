/* Decide approvals in another process while the test waits. */
#ifndef GB_TESTS_DECIDE_H
#define GB_TESTS_DECIDE_H

#include "approvals.h"
#include "tap.h"

/* Decide as the user "ann", with a handle that is open only for this. */
static inline void decide_in(const char *folder, const char *id, enum gb_approval_verdict verdict) {
	struct gb_approvals *approvals = NULL;
	struct gb_approval *approval = NULL;
	struct gb_standing standing = {0};
	struct gb_err err = {0};
	CHECK(gb_approvals_open(folder, NULL, &approvals, &err) &&
	      gb_approval_get(approvals, id, &approval, &err));
	if (approval) {
		struct gb_decision decision = a_decision(verdict, &approval->hash, "ann");
		CHECK(gb_approval_decide(approvals, id, &decision, &standing, &err) && standing.is_mine);
	}
	gb_approval_destroy(approval);
	gb_approvals_close(approvals);
}

#endif
