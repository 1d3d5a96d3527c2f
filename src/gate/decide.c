/* What a request that may be asked about still needs: a person's word, and energy. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "gate/agent_run.h"

/* --- energy --- */

static void describe_time(int64_t at_ms, char *text, size_t n) {
	time_t at = (time_t)(at_ms / 1000);
	struct tm tm;
	gmtime_r(&at, &tm);
	strftime(text, n, "%Y-%m-%d %H:%M:%S UTC", &tm);
}

static bool spend(struct gb_pass *pass) {
	struct gb_err err = {0};
	if (!pass->gate->energy)
		return true;
	if (!gb_energy_spend(pass->gate->energy, pass->request.tier, &pass->spent, &err)) {
		gb_pass_refuse(pass, "energy", "how much energy there is cannot be told: %s", err.message);
		return false;
	}
	if (pass->spent.granted)
		return true;
	char when[40] = "never, as things are set";
	if (pass->spent.enough_at_ms)
		describe_time(pass->spent.enough_at_ms, when, sizeof when);
	gb_pass_refuse(pass, "energy", "%.3f of energy is there and %.3f is needed; it will suffice: %s",
	    pass->spent.level, pass->spent.needed, when);
	return false;
}

static void spend_and_begin(struct gb_pass *pass, const char *decision, const char *decider) {
	pass->decision = decision;
	pass->decider = gb_pass_text(pass, decider);
	if (pass->request.is_input)
		gb_pass_type(pass);
	else if (spend(pass))
		gb_pass_begin(pass);
}

/* --- a person --- */

static struct gb_approval_request asked_of(const struct gb_pass *pass) {
	const struct gb_gate_request *request = &pass->request;
	return (struct gb_approval_request){
	    .face = gb_str_from(request->face ? request->face : ""),
	    .purpose = gb_str_from(request->purpose ? request->purpose : ""),
	    .runtime = gb_str_from(gb_language_name(request->run.language)),
	    .session = gb_str_from(pass->session),
	    .conversation = gb_str_from(request->conversation ? request->conversation : ""),
	    .policy = gb_str_from(pass->rules->policy),
	    .code = {request->run.source, request->run.source_bytes},
	    .inputs = pass->inputs,
	    .permissions = pass->permissions,
	    .limits = pass->limits,
	};
}

static void ask(struct gb_pass *pass) {
	const struct gb_approval_request asked = asked_of(pass);
	struct gb_approval_ticket ticket;
	struct gb_err err = {0};
	if (!gb_approval_submit(pass->gate->approvals, &asked, &ticket, &err)) {
		gb_pass_refuse(pass, "not_approved", "nobody can be asked: %s", err.message);
		return;
	}
	memcpy(pass->approval, ticket.id, sizeof pass->approval);
	pass->state = GB_PASS_WAITING;
	if (pass->request.on_pending)
		pass->request.on_pending(pass, ticket.id, ticket.expires_ms, pass->request.data);
}

void gb_pass_proceed(struct gb_pass *pass) {
	const struct gb_approval_request asked = asked_of(pass);
	bool trusted = false;
	struct gb_trust trust;
	struct gb_err err = {0};
	if (pass->rules->config->agent.auto_approve)
		spend_and_begin(pass, "auto", "");
	else if (!gb_trust_find(pass->gate->approvals, &asked, &trusted, &trust, &err))
		gb_pass_refuse(
		    pass, "not_approved", "whether the session is trusted cannot be told: %s", err.message);
	else if (trusted)
		spend_and_begin(pass, "trusted_session", trust.decider);
	else
		ask(pass);
}

static void refuse_as_decided(struct gb_pass *pass, enum gb_use use) {
	struct gb_approval *approval = NULL;
	struct gb_err err = {0};
	pass->decision = use == GB_USE_EXPIRED ? "expired" : "denied";
	if (use == GB_USE_DENIED && gb_approval_get(pass->gate->approvals, pass->approval, &approval, &err)) {
		pass->decider = gb_arena_copy(&pass->texts, approval->decider);
		gb_pass_refuse(pass, "not_approved", "denied by %.*s%s%.*s", (int)approval->decider.n,
		    approval->decider.p, approval->reason.n ? ": " : "", (int)approval->reason.n,
		    approval->reason.p);
	} else if (use == GB_USE_EXPIRED) {
		gb_pass_refuse(pass, "not_approved", "nobody has decided in time, which is a denial");
	} else {
		gb_pass_refuse(pass, "not_approved", "the approval is %s", gb_use_name(use));
	}
	gb_approval_destroy(approval);
}

/* Who has decided, and whether the session is trusted from now on. */
static void note_decision(struct gb_pass *pass, char decider[GB_APPROVAL_DECIDER_MAX + 1]) {
	struct gb_approval *approval = NULL;
	struct gb_err err = {0};
	*decider = '\0';
	if (!gb_approval_get(pass->gate->approvals, pass->approval, &approval, &err))
		return;
	snprintf(decider, GB_APPROVAL_DECIDER_MAX + 1, "%.*s", (int)approval->decider.n, approval->decider.p);
	pass->trusts = approval->trusts;
	gb_approval_destroy(approval);
}

void gb_pass_look(struct gb_pass *pass) {
	const struct gb_approval_request asked = asked_of(pass);
	enum gb_use use;
	struct gb_err err = {0};
	if (!gb_approval_use(pass->gate->approvals, pass->approval, &asked, &use, &err)) {
		gb_pass_refuse(pass, "not_approved", "the decision cannot be read: %s", err.message);
	} else if (use == GB_USE_GRANTED) {
		char decider[GB_APPROVAL_DECIDER_MAX + 1];
		note_decision(pass, decider);
		spend_and_begin(pass, "user", decider);
	} else if (use != GB_USE_PENDING) {
		refuse_as_decided(pass, use);
	}
}

void gb_pass_withdraw(struct gb_pass *pass) {
	bool was_open;
	struct gb_err err;
	if (*pass->approval)
		gb_approval_withdraw(pass->gate->approvals, pass->approval, &was_open, &err);
	*pass->approval = '\0';
}
