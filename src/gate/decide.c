/* Approval and energy of a request that was admitted. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "gate/agent_run.h"
#include "glovebox/errors.h"

/* --- energy --- */

static void describe_time(int64_t at_ms, char *text, size_t n) {
	time_t at = (time_t)(at_ms / 1000);
	struct tm tm;
	gmtime_r(&at, &tm);
	strftime(text, n, "%Y-%m-%d %H:%M:%S UTC", &tm);
}

static bool spend(struct gb_agent_run *run) {
	struct gb_err err = {0};
	if (!run->gate->energy || !gb_face_is_charged(run->request.face, run->rules->config))
		return true;
	if (!gb_energy_spend(run->gate->energy, run->request.tier, &run->spent, &err)) {
		gb_agent_run_refuse(run, GB_CODE_ENERGY, "the energy level cannot be read: %s", err.message);
		return false;
	}
	if (run->spent.granted)
		return true;
	char when[40] = "never, by the present settings";
	if (run->spent.enough_at_ms)
		describe_time(run->spent.enough_at_ms, when, sizeof when);
	gb_agent_run_refuse(run, GB_CODE_ENERGY,
	    "the energy level is %.3f and %.3f is needed; there will be enough: %s", run->spent.level,
	    run->spent.needed, when);
	return false;
}

static void spend_and_begin(struct gb_agent_run *run, const char *decision, const char *decider) {
	run->decision = decision;
	run->decider = gb_agent_run_text(run, decider);
	if (run->request.is_input)
		gb_agent_run_type(run);
	else if (spend(run))
		gb_agent_run_begin(run);
}

/* --- approval --- */

static struct gb_approval_request approval_request(const struct gb_agent_run *run) {
	const struct gb_gate_request *request = &run->request;
	return (struct gb_approval_request){
	    .face = gb_str_from(run->through),
	    .purpose = gb_str_from(request->purpose ? request->purpose : ""),
	    .runtime = gb_str_from(gb_language_name(request->run.language)),
	    .session = gb_str_from(run->session),
	    .conversation = gb_str_from(request->conversation ? request->conversation : ""),
	    .policy = gb_str_from(run->rules->policy),
	    .code = {request->run.source, request->run.source_bytes},
	    .inputs = run->inputs,
	    .permissions = run->permissions,
	    .limits = run->limits,
	};
}

static void ask(struct gb_agent_run *run) {
	const struct gb_approval_request request = approval_request(run);
	struct gb_approval_ticket ticket;
	struct gb_err err = {0};
	if (!gb_approval_submit(run->gate->approvals, &request, &ticket, &err)) {
		gb_agent_run_refuse(run, GB_CODE_NOT_APPROVED,
		    "the request for approval cannot be submitted: %s", err.message);
		return;
	}
	memcpy(run->approval, ticket.id, sizeof run->approval);
	run->state = GB_AGENT_RUN_WAITING;
	if (run->request.on_pending)
		run->request.on_pending(run, ticket.id, ticket.expires_ms, run->request.data);
}

void gb_agent_run_proceed(struct gb_agent_run *run) {
	const struct gb_approval_request request = approval_request(run);
	bool trusted = false;
	struct gb_trust trust;
	struct gb_err err = {0};
	if (run->request.embedder_decides)
		spend_and_begin(run, "embedder", "");
	else if (gb_config_is_waived(run->rules->config, run->request.face))
		spend_and_begin(run, "auto", "");
	else if (!gb_trust_find(run->gate->approvals, &request, &trusted, &trust, &err))
		gb_agent_run_refuse(run, GB_CODE_NOT_APPROVED,
		    "it cannot be determined whether the session is trusted: %s", err.message);
	else if (trusted)
		spend_and_begin(run, "trusted_session", trust.decider);
	else
		ask(run);
}

static void refuse_as_decided(struct gb_agent_run *run, enum gb_use use) {
	struct gb_approval *approval = NULL;
	struct gb_err err = {0};
	run->decision = use == GB_USE_EXPIRED ? "expired" : "denied";
	if (use == GB_USE_DENIED && gb_approval_get(run->gate->approvals, run->approval, &approval, &err)) {
		run->decider = gb_arena_copy(&run->texts, approval->decider);
		gb_agent_run_refuse(run, GB_CODE_NOT_APPROVED, "denied by %.*s%s%.*s",
		    (int)approval->decider.n, approval->decider.p, approval->reason.n ? ": " : "",
		    (int)approval->reason.n, approval->reason.p);
	} else if (use == GB_USE_EXPIRED) {
		gb_agent_run_refuse(
		    run, GB_CODE_NOT_APPROVED, "no decision was made in time, which counts as a denial");
	} else {
		gb_agent_run_refuse(run, GB_CODE_NOT_APPROVED, "the approval is %s", gb_use_name(use));
	}
	gb_approval_destroy(approval);
}

/* Read the decider, and whether the decision also trusts the session. */
static void note_decision(struct gb_agent_run *run, char decider[GB_APPROVAL_DECIDER_MAX + 1]) {
	struct gb_approval *approval = NULL;
	struct gb_err err = {0};
	*decider = '\0';
	if (!gb_approval_get(run->gate->approvals, run->approval, &approval, &err))
		return;
	snprintf(decider, GB_APPROVAL_DECIDER_MAX + 1, "%.*s", (int)approval->decider.n, approval->decider.p);
	run->trusts = approval->trusts;
	gb_approval_destroy(approval);
}

void gb_agent_run_check_decision(struct gb_agent_run *run) {
	const struct gb_approval_request request = approval_request(run);
	enum gb_use use;
	struct gb_err err = {0};
	if (!gb_approval_use(run->gate->approvals, run->approval, &request, &use, &err)) {
		gb_agent_run_refuse(
		    run, GB_CODE_NOT_APPROVED, "the decision cannot be read: %s", err.message);
	} else if (use == GB_USE_GRANTED) {
		char decider[GB_APPROVAL_DECIDER_MAX + 1];
		note_decision(run, decider);
		spend_and_begin(run, "user", decider);
	} else if (use != GB_USE_PENDING) {
		refuse_as_decided(run, use);
	}
}

void gb_agent_run_withdraw(struct gb_agent_run *run) {
	bool was_open;
	struct gb_err err;
	if (*run->approval)
		gb_approval_withdraw(run->gate->approvals, run->approval, &was_open, &err);
	*run->approval = '\0';
}
