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

static void refuse_without_energy(struct gb_agent_run *run, const struct gb_energy_outcome *outcome) {
	char when[40] = "never, by the present settings";
	if (outcome->enough_at_ms)
		describe_time(outcome->enough_at_ms, when, sizeof when);
	gb_agent_run_refuse(run, GB_CODE_ENERGY,
	    "the energy level is %.3f and %.3f is needed; there will be enough: %s", outcome->level,
	    outcome->needed, when);
}

static void on_spent(struct gb_store_op *op) {
	struct gb_agent_run *run = gb_agent_run_op_done(op);
	if (!run)
		return;
	if (op->ok)
		run->spent = op->energy;
	if (gb_agent_run_interrupted(run))
		return;
	if (!op->ok)
		gb_agent_run_refuse(
		    run, GB_CODE_ENERGY, "the energy level cannot be read: %s", op->err.message);
	else if (!op->energy.granted)
		refuse_without_energy(run, &op->energy);
	else
		gb_agent_run_begin(run);
}

static void spend_and_begin(struct gb_agent_run *run, const char *decision, const char *decider) {
	run->decision = decision;
	run->decider = gb_agent_run_text(run, decider);
	run->state = GB_AGENT_RUN_ADMITTING;
	if (run->request.is_input || gb_agent_run_only_reads(run) || !run->gate->open.energy ||
	    !gb_face_is_charged(run->request.face, run->rules->config)) {
		gb_agent_run_begin(run);
		return;
	}
	struct gb_store_op *op = gb_store_op_create(GB_STORE_SPEND);
	if (op)
		op->tier = run->request.tier;
	gb_agent_run_step(run, op, op, on_spent);
}

void gb_agent_run_refund(struct gb_agent_run *run) {
	struct gb_store_op *op = run->spent.granted ? gb_store_op_create(GB_STORE_REFUND) : NULL;
	if (op)
		op->energy = run->spent;
	run->spent.granted = false;
	gb_gate_submit_op(run->gate, op, op);
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

static void on_asked(struct gb_store_op *op) {
	struct gb_agent_run *run = gb_agent_run_op_done(op);
	if (!run)
		return;
	memcpy(run->approval, op->id, sizeof run->approval);
	run->expires_ms = op->expires_ms;
	if (gb_agent_run_interrupted(run))
		return;
	if (!op->ok) {
		gb_agent_run_refuse(run, GB_CODE_NOT_APPROVED,
		    op->has_looked_up ? "the request for approval cannot be submitted: %s"
				      : "it cannot be determined whether the session is trusted: %s",
		    op->err.message);
	} else if (op->granted) {
		spend_and_begin(run, "trusted_session", op->decider);
	} else {
		run->state = GB_AGENT_RUN_WAITING;
		if (run->request.on_pending)
			run->request.on_pending(run, op->id, op->expires_ms, run->request.data);
	}
}

void gb_agent_run_proceed(struct gb_agent_run *run) {
	if (gb_agent_run_only_reads(run)) {
		spend_and_begin(run, "not_needed", "");
	} else if (run->request.embedder_decides) {
		spend_and_begin(run, "embedder", "");
	} else if (gb_config_is_waived(run->rules->config, run->request.face)) {
		spend_and_begin(run, "auto", "");
	} else {
		const struct gb_approval_request request = approval_request(run);
		struct gb_store_op *op = gb_store_op_create(GB_STORE_ASK);
		gb_agent_run_step(run, op, op && gb_store_op_set_request(op, &request), on_asked);
	}
}

static void refuse_as_decided(struct gb_agent_run *run, const struct gb_store_op *op) {
	run->decision = op->use == GB_USE_EXPIRED ? "expired" : "denied";
	if (op->use == GB_USE_DENIED && *op->decider) {
		run->decider = gb_agent_run_text(run, op->decider);
		gb_agent_run_refuse(run, GB_CODE_NOT_APPROVED, "denied by %s%s%s", op->decider,
		    *op->reason ? ": " : "", op->reason);
	} else if (op->use == GB_USE_EXPIRED) {
		gb_agent_run_refuse(
		    run, GB_CODE_NOT_APPROVED, "no decision was made in time, which counts as a denial");
	} else {
		gb_agent_run_refuse(run, GB_CODE_NOT_APPROVED, "the approval is %s", gb_use_name(op->use));
	}
}

static void on_used(struct gb_store_op *op) {
	struct gb_agent_run *run = gb_agent_run_op_done(op);
	if (!run)
		return;
	if (op->ok && op->use != GB_USE_PENDING)
		*run->approval = '\0';
	run->trusts = op->ok && op->use == GB_USE_GRANTED && op->trusts;
	if (gb_agent_run_interrupted(run))
		return;
	if (!op->ok)
		gb_agent_run_refuse(
		    run, GB_CODE_NOT_APPROVED, "the decision cannot be read: %s", op->err.message);
	else if (op->use == GB_USE_GRANTED)
		spend_and_begin(run, "user", op->decider);
	else if (op->use != GB_USE_PENDING)
		refuse_as_decided(run, op);
	else if (run->must_check)
		gb_agent_run_check_decision(run);
}

void gb_agent_run_check_decision(struct gb_agent_run *run) {
	/* A decision may be made after the step that is under way has looked. */
	run->must_check = run->is_stepping;
	if (run->is_stepping)
		return;
	const struct gb_approval_request request = approval_request(run);
	struct gb_store_op *op = gb_store_op_create(GB_STORE_USE);
	if (op) {
		memcpy(op->id, run->approval, sizeof op->id);
		gb_approval_hash(&request, &op->hash);
	}
	gb_agent_run_step(run, op, op, on_used);
}

static void on_decided(struct gb_store_op *op) {
	struct gb_agent_run *run = gb_agent_run_op_done(op);
	/* If the decision could not be recorded, the request continues to wait. */
	if (run && run->state == GB_AGENT_RUN_WAITING)
		gb_agent_run_check_decision(run);
}

bool gb_agent_run_decide(
    struct gb_agent_run *run, enum gb_approval_verdict verdict, const char *decider, const char *reason) {
	struct gb_store_op *op =
	    run->state == GB_AGENT_RUN_WAITING && *run->approval ? gb_store_op_create(GB_STORE_DECIDE) : NULL;
	if (!op)
		return false;
	const struct gb_approval_request request = approval_request(run);
	memcpy(op->id, run->approval, sizeof op->id);
	gb_approval_hash(&request, &op->hash);
	op->verdict = verdict;
	gb_copy_text(op->decider, sizeof op->decider, gb_str_from(decider));
	gb_copy_text(op->reason, sizeof op->reason, gb_str_from(reason ? reason : ""));
	gb_agent_run_submit(run, op, on_decided);
	return true;
}

void gb_agent_run_withdraw(struct gb_agent_run *run) {
	struct gb_store_op *op = *run->approval ? gb_store_op_create(GB_STORE_WITHDRAW) : NULL;
	if (op)
		memcpy(op->id, run->approval, sizeof op->id);
	*run->approval = '\0';
	gb_gate_submit_op(run->gate, op, op);
}
