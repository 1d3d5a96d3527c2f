/* Submitting, deciding and using approvals; timeouts and limits; trust. */
#include "approvals-fixture.h"

/* --- submitting and deciding --- */

TEST(submitted_request_can_be_read) {
	auto_fixture struct fixture fixture = fixture_open(plain);
	gb_auto_approval struct gb_approval *approval = NULL;
	struct gb_approval_ticket ticket = submit(fixture.approvals, "print(1)");
	CHECK_INT(strlen(ticket.id), 32);
	CHECK_INT(ticket.expires_ms, clock_ms + 300000);
	CHECK(gb_approval_get(fixture.approvals, ticket.id, &approval, NULL));
	struct gb_approval_request expected = a_request("print(1)");
	for (size_t i = 0; i < gb_approval_n_fields; i++)
		CHECK(gb_str_eq(*gb_approval_text(&approval->request, &gb_approval_fields[i]),
		    *gb_approval_text(&expected, &gb_approval_fields[i])));
	CHECK_INT(approval->state, GB_APPROVAL_PENDING);
	CHECK_INT(approval->created_ms, clock_ms);
	CHECK(gb_hash_eq(&approval->hash, &ticket.hash));
}

TEST(approval_can_be_used_once) {
	auto_fixture struct fixture fixture = fixture_open(plain);
	struct gb_approval_ticket ticket = submit(fixture.approvals, "print(1)");
	CHECK_INT(use(fixture.approvals, ticket.id, a_request("print(1)")), GB_USE_PENDING);
	struct gb_standing standing = decide(fixture.approvals, &ticket, GB_APPROVE);
	CHECK(standing.is_mine && standing.state == GB_APPROVAL_APPROVED && !standing.trusts);
	CHECK_STR(standing.decider, "ann");
	CHECK_STR(standing.reason, "because");
	CHECK_INT(use(fixture.approvals, ticket.id, a_request("print(1)")), GB_USE_GRANTED);
	CHECK_INT(use(fixture.approvals, ticket.id, a_request("print(1)")), GB_USE_USED);
}

TEST(denied_approval_cannot_be_used) {
	auto_fixture struct fixture fixture = fixture_open(plain);
	struct gb_approval_ticket ticket = submit(fixture.approvals, "print(1)");
	CHECK_INT(decide(fixture.approvals, &ticket, GB_DENY).state, GB_APPROVAL_DENIED);
	CHECK_INT(use(fixture.approvals, ticket.id, a_request("print(1)")), GB_USE_DENIED);
}

TEST(change_of_any_bound_field_invalidates_the_approval) {
	auto_fixture struct fixture fixture = fixture_open(plain);
	struct gb_approval_ticket ticket = submit(fixture.approvals, "print(1)");
	unsigned bound = 0;
	decide(fixture.approvals, &ticket, GB_APPROVE);
	for (size_t i = 0; i < gb_approval_n_fields; i++) {
		struct gb_approval_request request = a_request("print(1)");
		struct gb_str *text = gb_approval_text(&request, &gb_approval_fields[i]);
		bool matches = false;
		char longer[300];
		snprintf(longer, sizeof longer, "%.*s ", GB_STR_ARG(*text));
		*text = gb_str_from(longer);
		CHECK(gb_approval_matches(fixture.approvals, ticket.id, &request, &matches, NULL));
		CHECK_INT(matches, !gb_approval_fields[i].is_bound);
		if (gb_approval_fields[i].is_bound)
			CHECK_INT(use(fixture.approvals, ticket.id, request), GB_USE_CHANGED);
		bound += gb_approval_fields[i].is_bound;
	}
	CHECK_INT(bound, 8);
	CHECK_INT(use(fixture.approvals, ticket.id, a_request("print(1)")), GB_USE_GRANTED);
}

TEST(hash_depends_on_field_boundaries) {
	struct gb_approval_request a = a_request("x"), b = a_request("x");
	struct gb_hash one, two;
	a.session = GB_STR("ab"), a.conversation = GB_STR("c");
	b.session = GB_STR("a"), b.conversation = GB_STR("bc");
	gb_approval_hash(&a, &one);
	gb_approval_hash(&b, &two);
	CHECK(!gb_hash_eq(&one, &two));
}

TEST(decision_must_have_the_hash_that_was_shown) {
	auto_fixture struct fixture fixture = fixture_open(plain);
	struct gb_approval_ticket ticket = submit(fixture.approvals, "print(1)");
	struct gb_standing standing;
	struct gb_err err = {0};
	ticket.hash.bytes[31] ^= 1;
	struct gb_decision decision = a_decision(GB_APPROVE, &ticket.hash, "ann");
	CHECK(!gb_approval_decide(fixture.approvals, ticket.id, &decision, &standing, &err));
	CHECK_INT(err.code, GB_EINVAL);
	CHECK_INT(state_of(fixture.approvals, ticket.id), GB_APPROVAL_PENDING);
}

TEST(a_decision_needs_a_decider) {
	auto_fixture struct fixture fixture = fixture_open(plain);
	struct gb_approval_ticket ticket = submit(fixture.approvals, "print(1)");
	struct gb_standing standing;
	struct gb_err err = {0};
	struct gb_decision decision = a_decision(GB_APPROVE, &ticket.hash, "");
	CHECK(!gb_approval_decide(fixture.approvals, ticket.id, &decision, &standing, &err));
	CHECK(strstr(err.message, "decider") != NULL);
	CHECK(!gb_approval_decide(fixture.approvals, "0000", &decision, &standing, &err));
}

TEST(second_decider_gets_the_first_decision) {
	auto_fixture struct fixture fixture = fixture_open(plain);
	struct gb_approval_ticket ticket = submit(fixture.approvals, "print(1)");
	struct gb_standing standing = {0};
	decide(fixture.approvals, &ticket, GB_DENY);
	struct gb_decision late = a_decision(GB_TRUST, &ticket.hash, "bob");
	CHECK(gb_approval_decide(fixture.approvals, ticket.id, &late, &standing, NULL));
	CHECK(!standing.is_mine && standing.state == GB_APPROVAL_DENIED);
	CHECK_STR(standing.decider, "ann");
	struct gb_trust trust;
	struct gb_approval_request request = a_request("print(1)");
	bool is_trusted = true;
	CHECK(gb_trust_find(fixture.approvals, &request, &is_trusted, &trust, NULL) && !is_trusted);
}

/* --- time --- */

TEST(undecided_approval_expires) {
	auto_fixture struct fixture fixture = fixture_open((struct gb_approvals_options){.timeout_ms = 1000});
	struct gb_approval_ticket ticket = submit(fixture.approvals, "print(1)");
	int64_t left;
	CHECK(gb_approvals_next_deadline(fixture.approvals, &left, NULL) && left == 1000);
	clock_ms += 999;
	CHECK(gb_approvals_next_deadline(fixture.approvals, &left, NULL) && left == 1);
	CHECK_INT(use(fixture.approvals, ticket.id, a_request("print(1)")), GB_USE_PENDING);
	clock_ms += 1;
	CHECK_INT(state_of(fixture.approvals, ticket.id), GB_APPROVAL_EXPIRED);
	CHECK_INT(decide(fixture.approvals, &ticket, GB_APPROVE).state, GB_APPROVAL_EXPIRED);
	CHECK_INT(use(fixture.approvals, ticket.id, a_request("print(1)")), GB_USE_EXPIRED);
	CHECK(gb_approvals_next_deadline(fixture.approvals, &left, NULL) && left == -1);
}

TEST(clock_set_back_does_not_extend_the_timeout) {
	auto_fixture struct fixture fixture = fixture_open(plain);
	struct gb_approval_ticket ticket = submit(fixture.approvals, "print(1)");
	clock_ms -= 1000;
	CHECK_INT(state_of(fixture.approvals, ticket.id), GB_APPROVAL_PENDING);
	clock_ms -= 3600000;
	CHECK_INT(decide(fixture.approvals, &ticket, GB_APPROVE).state, GB_APPROVAL_EXPIRED);
	clock_ms += 3600000;
	CHECK_INT(state_of(fixture.approvals, ticket.id), GB_APPROVAL_EXPIRED);
}

TEST(decision_is_usable_for_a_limited_time) {
	auto_fixture struct fixture fixture = fixture_open((struct gb_approvals_options){.use_ms = 1000});
	struct gb_approval_ticket ticket = submit(fixture.approvals, "print(1)");
	decide(fixture.approvals, &ticket, GB_APPROVE);
	clock_ms += 1000;
	CHECK_INT(use(fixture.approvals, ticket.id, a_request("print(1)")), GB_USE_STALE);
	CHECK(strcmp(submit(fixture.approvals, "print(1)").id, ticket.id) != 0);
}

TEST(withdrawn_approval_cannot_be_decided_or_used) {
	auto_fixture struct fixture fixture = fixture_open(plain);
	struct gb_approval_ticket one = submit(fixture.approvals, "1"), two = submit(fixture.approvals, "2");
	bool was_open = false;
	decide(fixture.approvals, &two, GB_APPROVE);
	CHECK(gb_approval_withdraw(fixture.approvals, one.id, &was_open, NULL) && was_open);
	CHECK(gb_approval_withdraw(fixture.approvals, two.id, &was_open, NULL) && was_open);
	CHECK(gb_approval_withdraw(fixture.approvals, two.id, &was_open, NULL) && !was_open);
	CHECK_INT(decide(fixture.approvals, &one, GB_APPROVE).state, GB_APPROVAL_WITHDRAWN);
	CHECK_INT(use(fixture.approvals, one.id, a_request("1")), GB_USE_WITHDRAWN);
	CHECK_INT(use(fixture.approvals, two.id, a_request("2")), GB_USE_WITHDRAWN);
}

/* --- a restart --- */

TEST(pending_approval_survives_a_restart) {
	auto_fixture struct fixture fixture = fixture_open(plain);
	struct gb_approval_ticket ticket = submit(fixture.approvals, "print(1)");
	gb_approvals_close(fixture.approvals);
	fixture.approvals = open_in(fixture.folder, plain);
	gb_auto_approval struct gb_approval *found = NULL;
	struct gb_approval_request request = a_request("print(1)");
	CHECK(gb_approval_find(fixture.approvals, &request, &found, NULL));
	CHECK_STR(found ? found->id : "", ticket.id);
	struct gb_approval_ticket again = submit(fixture.approvals, "print(1)");
	CHECK(again.existed && again.expires_ms == ticket.expires_ms);
	CHECK_STR(again.id, ticket.id);
	decide(fixture.approvals, &ticket, GB_APPROVE);
	CHECK_STR(submit(fixture.approvals, "print(1)").id, ticket.id);
	CHECK_INT(use(fixture.approvals, ticket.id, a_request("print(1)")), GB_USE_GRANTED);
	CHECK(!submit(fixture.approvals, "print(1)").existed);
}

TEST(expired_approval_is_submitted_again) {
	auto_fixture struct fixture fixture = fixture_open(plain);
	struct gb_approval_ticket ticket = submit(fixture.approvals, "print(1)");
	gb_approvals_close(fixture.approvals);
	clock_ms += 300000;
	fixture.approvals = open_in(fixture.folder, plain);
	CHECK(!submit(fixture.approvals, "print(1)").existed);
	CHECK_INT(state_of(fixture.approvals, ticket.id), GB_APPROVAL_EXPIRED);
}

TEST(different_token_gets_a_different_approval) {
	auto_fixture struct fixture fixture = fixture_open(plain);
	struct gb_approval_request request = a_request("print(1)");
	struct gb_approval_ticket first = submit(fixture.approvals, "print(1)"), ticket;
	gb_auto_approval struct gb_approval *found = NULL;
	request.token = GB_STR("token-2");
	CHECK(!gb_approval_find(fixture.approvals, &request, &found, NULL));
	CHECK(gb_approval_submit(fixture.approvals, &request, &ticket, NULL) && !ticket.existed);
	CHECK(strcmp(first.id, ticket.id) != 0);
	request.token = GB_STR("");
	CHECK(gb_approval_submit(fixture.approvals, &request, &ticket, NULL) && !ticket.existed);
	CHECK(gb_approval_submit(fixture.approvals, &request, &ticket, NULL) && !ticket.existed);
}

/* --- limits --- */

TEST(invalid_request_is_rejected_with_the_field_name) {
	auto_fixture struct fixture fixture =
	    fixture_open((struct gb_approvals_options){.max_code = 100, .max_inputs = 10});
	static char big[GB_APPROVAL_JSON_MAX + 2];
	memset(big, '1', sizeof big - 1);
	const struct {
		const char *field;
		size_t offset;
		struct gb_str text;
		int code;
	} cases[] = {
	    {"code", offsetof(struct gb_approval_request, code), {big, 101}, GB_ELIMIT},
	    {"code", offsetof(struct gb_approval_request, code), GB_STR(""), GB_EINVAL},
	    {"code", offsetof(struct gb_approval_request, code), GB_STR("\xff"), GB_EINVAL},
	    {"inputs", offsetof(struct gb_approval_request, inputs), {big, 11}, GB_ELIMIT},
	    {"inputs", offsetof(struct gb_approval_request, inputs), GB_STR("{1}"), GB_EFORMAT},
	    {"permissions", offsetof(struct gb_approval_request, permissions), gb_str_from(big), GB_ELIMIT},
	    {"limits", offsetof(struct gb_approval_request, limits), GB_STR("no"), GB_EFORMAT},
	    {"runtime", offsetof(struct gb_approval_request, runtime), GB_STR(""), GB_EINVAL},
	    {"conversation", offsetof(struct gb_approval_request, conversation), {big, 201}, GB_ELIMIT},
	    {"purpose", offsetof(struct gb_approval_request, purpose), {big, 4097}, GB_ELIMIT},
	};
	for (size_t i = 0; i < GB_COUNT(cases); i++) {
		struct gb_approval_request request = a_request("1");
		struct gb_approval_ticket ticket;
		struct gb_err err = {0};
		*(struct gb_str *)((char *)&request + cases[i].offset) = cases[i].text;
		CHECK(!gb_approval_submit(fixture.approvals, &request, &ticket, &err));
		if (!CHECK(strstr(err.message, cases[i].field) != NULL) ||
		    !CHECK_INT(err.code, cases[i].code))
			printf("# %s\n", err.message);
	}
	CHECK_INT(count_all(fixture.approvals, (struct gb_approval_filter){0}), 0);
}

TEST(number_of_pending_approvals_is_limited) {
	auto_fixture struct fixture fixture =
	    fixture_open((struct gb_approvals_options){.max_pending = 5, .max_pending_conversation = 3});
	struct gb_approval_request request = a_request("1");
	struct gb_approval_ticket tickets[8];
	struct gb_err err = {0};
	request.token = GB_STR("");
	for (unsigned i = 0; i < 3; i++)
		CHECK(gb_approval_submit(fixture.approvals, &request, &tickets[i], NULL));
	CHECK(!gb_approval_submit(fixture.approvals, &request, &tickets[3], &err) && err.code == GB_ELIMIT);
	CHECK(strstr(err.message, "in this conversation") != NULL);
	request.conversation = GB_STR("another");
	for (unsigned i = 3; i < 5; i++)
		CHECK(gb_approval_submit(fixture.approvals, &request, &tickets[i], NULL));
	CHECK(!gb_approval_submit(fixture.approvals, &request, &tickets[5], &err) && err.code == GB_ELIMIT);
	CHECK(strstr(err.message, "5 approvals are pending") != NULL);
	decide(fixture.approvals, &tickets[0], GB_DENY);
	CHECK(gb_approval_submit(fixture.approvals, &request, &tickets[5], NULL));
	clock_ms += 300000;
	CHECK(gb_approval_submit(fixture.approvals, &request, &tickets[6], NULL));
}

TEST(decided_approvals_are_pruned_by_count) {
	auto_fixture struct fixture fixture = fixture_open((struct gb_approvals_options){.keep_count = 3});
	struct gb_approval_ticket kept = submit(fixture.approvals, "approved"),
				  waits = submit(fixture.approvals, "waits");
	decide(fixture.approvals, &kept, GB_APPROVE);
	for (unsigned i = 0; i < 10; i++)
		submit_and_deny(fixture.approvals, "1");
	submit(fixture.approvals, "last");
	CHECK_INT(count_all(fixture.approvals, (struct gb_approval_filter){0}), 3 + 3);
	CHECK_INT(state_of(fixture.approvals, waits.id), GB_APPROVAL_PENDING);
	CHECK_INT(use(fixture.approvals, kept.id, a_request("approved")), GB_USE_GRANTED);
}

TEST(decided_approvals_are_pruned_by_age_and_size) {
	auto_fixture struct fixture fixture =
	    fixture_open((struct gb_approvals_options){.keep_ms = 86400000, .keep_bytes = 10000});
	char code[3000];
	struct gb_approval_ticket old = submit_and_deny(fixture.approvals, "old");
	clock_ms += 86400001;
	submit(fixture.approvals, "new");
	gb_auto_approval struct gb_approval *deleted = NULL;
	struct gb_err err = {0};
	CHECK(!gb_approval_get(fixture.approvals, old.id, &deleted, &err) && err.code == GB_ENOENT);
	memset(code, 'x', sizeof code);
	code[sizeof code - 1] = '\0';
	for (unsigned i = 0; i < 8; i++)
		submit_and_deny(fixture.approvals, code);
	submit(fixture.approvals, "newer");
	CHECK_INT(count_all(fixture.approvals, (struct gb_approval_filter){0}), 2 + 3);
}

/* --- trust --- */

static bool is_trusted(struct gb_approvals *approvals, struct gb_approval_request request) {
	struct gb_trust trust;
	bool is_trusted = false;
	CHECK(gb_trust_find(approvals, &request, &is_trusted, &trust, NULL));
	if (is_trusted)
		CHECK_STR(trust.decider, "ann");
	return is_trusted;
}

TEST(trust_is_for_the_same_session_runtime_permissions_and_policy) {
	auto_fixture struct fixture fixture = fixture_open(plain);
	struct gb_approval_ticket ticket = submit(fixture.approvals, "print(1)");
	static const char *const named[] = {"runtime", "session", "conversation", "policy", "permissions"};
	CHECK(!is_trusted(fixture.approvals, a_request("print(2)")));
	struct gb_standing standing = decide(fixture.approvals, &ticket, GB_TRUST);
	CHECK(standing.trusts && standing.state == GB_APPROVAL_APPROVED);
	CHECK(is_trusted(fixture.approvals, a_request("print(2)")));
	for (size_t i = 0; i < gb_approval_n_fields; i++) {
		struct gb_approval_request request = a_request("print(2)");
		bool matters = false;
		*gb_approval_text(&request, &gb_approval_fields[i]) = GB_STR("other");
		for (size_t j = 0; j < GB_COUNT(named); j++)
			matters |= strcmp(gb_approval_fields[i].name, named[j]) == 0;
		CHECK_INT(is_trusted(fixture.approvals, request), !matters);
	}
	CHECK_INT(use(fixture.approvals, ticket.id, a_request("print(1)")), GB_USE_GRANTED);
}

TEST(trust_ends_with_the_session_the_conversation_or_its_time) {
	auto_fixture struct fixture fixture = fixture_open(plain);
	uint64_t revoked = 0;
	for (unsigned round = 0; round < 3; round++) {
		struct gb_approval_ticket ticket = submit(fixture.approvals, "print(1)");
		struct gb_approval_request request = a_request("print(1)");
		decide(fixture.approvals, &ticket, GB_TRUST);
		use(fixture.approvals, ticket.id, request);
		CHECK(is_trusted(fixture.approvals, request));
		if (round < 2) {
			CHECK(gb_trust_revoke(fixture.approvals, round ? NULL : "other",
			    round ? "other" : NULL, &revoked, NULL));
			CHECK_INT(revoked, 0);
			CHECK(gb_trust_revoke(fixture.approvals, round ? NULL : "session-1",
			    round ? "conversation-1" : NULL, &revoked, NULL));
			CHECK_INT(revoked, 1);
		} else {
			clock_ms += 12 * 3600000;
		}
		CHECK(!is_trusted(fixture.approvals, request));
	}
	CHECK(!gb_trust_revoke(fixture.approvals, NULL, NULL, &revoked, NULL));
}

TEST(trust_ends_permanently_when_the_policy_changes) {
	auto_fixture struct fixture fixture = fixture_open(plain);
	struct gb_approval_ticket ticket = submit(fixture.approvals, "print(1)");
	uint64_t revoked = 9;
	decide(fixture.approvals, &ticket, GB_TRUST);
	CHECK(gb_trust_revoke_policy(fixture.approvals, GB_STR("policy-1"), &revoked, NULL) && revoked == 0);
	CHECK(is_trusted(fixture.approvals, a_request("1")));
	CHECK(gb_trust_revoke_policy(fixture.approvals, GB_STR("policy-2"), &revoked, NULL) && revoked == 1);
	CHECK(!is_trusted(fixture.approvals, a_request("1")));
	/* An approval under the old policy is not valid under the new one. */
	struct gb_approval_request request = a_request("print(1)");
	request.policy = GB_STR("policy-2");
	CHECK_INT(use(fixture.approvals, ticket.id, request), GB_USE_CHANGED);
}

TEST(request_without_a_conversation_cannot_be_trusted) {
	auto_fixture struct fixture fixture = fixture_open(plain);
	struct gb_approval_request request = a_request("1");
	struct gb_approval_ticket ticket;
	struct gb_standing standing;
	struct gb_err err = {0};
	request.conversation = GB_STR("");
	CHECK(gb_approval_submit(fixture.approvals, &request, &ticket, NULL));
	struct gb_decision decision = a_decision(GB_TRUST, &ticket.hash, "ann");
	CHECK(!gb_approval_decide(fixture.approvals, ticket.id, &decision, &standing, &err));
	CHECK(strstr(err.message, "belongs to no conversation") != NULL);
	CHECK_INT(state_of(fixture.approvals, ticket.id), GB_APPROVAL_PENDING);
}
