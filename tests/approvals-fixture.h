/* Fixture: approvals in a temporary folder, with a fake clock, and shorthands for common operations. */
#ifndef GB_TESTS_APPROVALS_FIXTURE_H
#define GB_TESTS_APPROVALS_FIXTURE_H

#include "approvals.h"
#include "tap.h"

static int64_t clock_ms;
static inline int64_t fake_clock(void) {
	return clock_ms;
}

struct fixture {
	char folder[FOLDER];
	struct gb_approvals *approvals;
};

static inline struct gb_approvals *open_in(const char *folder, struct gb_approvals_options options) {
	struct gb_approvals *approvals = NULL;
	struct gb_err err = {0};
	if (!options.now_ms)
		options.now_ms = fake_clock;
	if (!CHECK(gb_approvals_open(folder, &options, &approvals, &err)))
		printf("# %s\n", err.message);
	return approvals;
}

static inline struct fixture fixture_open(struct gb_approvals_options options) {
	struct fixture fixture;
	clock_ms = 1000000000000;
	folder_create(fixture.folder);
	fixture.approvals = open_in(fixture.folder, options);
	return fixture;
}

static inline void fixture_leave(struct fixture *fixture) {
	gb_approvals_close(fixture->approvals);
	folder_destroy(fixture->folder);
}
#define auto_fixture __attribute__((cleanup(fixture_leave)))

static const struct gb_approvals_options plain __attribute__((unused));

static inline struct gb_approval_ticket submit(struct gb_approvals *approvals, const char *code) {
	struct gb_approval_request request = a_request(code);
	struct gb_approval_ticket ticket = {0};
	struct gb_err err = {0};
	if (!CHECK(gb_approval_submit(approvals, &request, &ticket, &err)))
		printf("# %s\n", err.message);
	return ticket;
}

static inline struct gb_standing decide(struct gb_approvals *approvals,
    const struct gb_approval_ticket *ticket, enum gb_approval_verdict verdict) {
	struct gb_decision decision = a_decision(verdict, &ticket->hash, "ann");
	struct gb_standing standing = {0};
	struct gb_err err = {0};
	if (!CHECK(gb_approval_decide(approvals, ticket->id, &decision, &standing, &err)))
		printf("# %s\n", err.message);
	return standing;
}

static inline enum gb_use use(
    struct gb_approvals *approvals, const char *id, struct gb_approval_request request) {
	enum gb_use use = GB_USE_GRANTED;
	CHECK(gb_approval_use(approvals, id, &request, &use, NULL));
	return use;
}

static inline enum gb_approval_state state_of(struct gb_approvals *approvals, const char *id) {
	gb_auto_approval struct gb_approval *approval = NULL;
	return CHECK(gb_approval_get(approvals, id, &approval, NULL)) ? approval->state
								      : GB_APPROVAL_WITHDRAWN;
}

static inline bool count(void *data, struct gb_approval *approval) {
	++*(unsigned *)data;
	return true;
}

static inline unsigned count_all(struct gb_approvals *approvals, struct gb_approval_filter filter) {
	unsigned n = 0;
	CHECK(gb_approvals_each(approvals, &filter, count, &n, NULL));
	return n;
}

static inline struct gb_approval_ticket submit_and_deny(struct gb_approvals *approvals, const char *code) {
	struct gb_approval_ticket ticket = submit(approvals, code);
	decide(approvals, &ticket, GB_DENY);
	return ticket;
}

#endif
