/* Helpers for the tests of approvals: folders, a clock, requests. */
#ifndef GB_TESTS_APPROVALS_H
#define GB_TESTS_APPROVALS_H

#include "audit.h"
#include "store/approvals.h"

static inline struct gb_approval_request a_request(const char *code) {
	return (struct gb_approval_request){
	    .token = GB_STR("token-1"),
	    .face = GB_STR("mcp"),
	    .purpose = GB_STR("count things"),
	    .runtime = GB_STR("python"),
	    .session = GB_STR("session-1"),
	    .conversation = GB_STR("conversation-1"),
	    .policy = GB_STR("policy-1"),
	    .code = gb_str_from(code),
	    .inputs = GB_STR("{\"n\":1}"),
	    .permissions = GB_STR("{\"network\":[]}"),
	    .limits = GB_STR("{\"timeoutMs\":5000}"),
	};
}

static inline struct gb_decision a_decision(
    enum gb_approval_verdict verdict, const struct gb_hash *hash, const char *decider) {
	return (struct gb_decision){
	    .verdict = verdict, .hash = *hash, .decider = gb_str_from(decider), .reason = GB_STR("because")};
}

#endif
