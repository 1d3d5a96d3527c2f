/* Operations of one request in the stores. */
#include <stdlib.h>
#include <string.h>

#include "gate/agent_run.h"
#include "glovebox/errors.h"

void gb_gate_submit_op(struct gb_gate *gate, struct gb_store_op *op, bool complete) {
	if (complete && op && gate->stores)
		gb_stores_submit(gate->stores, op);
	else
		gb_store_op_destroy(op);
}

void gb_agent_run_submit(
    struct gb_agent_run *run, struct gb_store_op *op, void (*then)(struct gb_store_op *op)) {
	op->run = run;
	op->then = then;
	run->n_ops++;
	gb_stores_submit(run->gate->stores, op);
}

struct gb_agent_run *gb_agent_run_op_done(struct gb_store_op *op) {
	struct gb_agent_run *run = op->run;
	run->n_ops--;
	if (!run->is_freed)
		return run;
	if (!run->n_ops)
		free(run);
	return NULL;
}

void gb_agent_run_step(
    struct gb_agent_run *run, struct gb_store_op *op, bool complete, void (*then)(struct gb_store_op *op)) {
	if (!op || !complete) {
		gb_store_op_destroy(op);
		gb_agent_run_refuse(run, GB_CODE_REFUSED, "out of memory");
		return;
	}
	op->run = run;
	op->then = then;
	if (!gb_stores_try(run->gate->stores, op)) {
		gb_agent_run_refuse(run, GB_CODE_TOO_MANY,
		    "too many requests of agents wait for the databases of approvals and records; try again "
		    "later");
		return;
	}
	run->n_ops++;
	run->is_stepping = true;
}

bool gb_agent_run_interrupted(struct gb_agent_run *run) {
	const struct gb_rules *rules = run->gate->rules;
	run->is_stepping = false;
	if (run->stop_code) {
		gb_agent_run_refuse(run, run->stop_code, "%s", run->stop_reason);
		return true;
	}
	if (run->rules == rules ||
	    (strcmp(run->rules->policy, rules->policy) == 0 && gb_agent_run_adopt(run)))
		return false;
	gb_agent_run_enter(run);
	return true;
}

void gb_agent_run_stop_admission(struct gb_agent_run *run, const char *code, const char *reason) {
	if (!run->is_stepping) {
		gb_agent_run_refuse(run, code, "%s", reason);
		return;
	}
	const char *kept = gb_agent_run_text(run, reason);
	run->stop_code = code;
	run->stop_reason = kept ? kept : "out of memory";
}
