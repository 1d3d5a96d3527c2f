/* Approval of one call that running code makes: a person sees the tool and its arguments, and decides. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "gate/agent_run.h"

enum { TOOL_MAX = 150 }; /* bytes of a name, which is part of a field that is shown */

struct gb_ask {
	uint64_t number; /* of the run's asks: an operation of an earlier one is ignored */
	bool has_op;     /* one of its operations is under way */
	bool must_check; /* after that: read the decision again */
	char approval[GB_APPROVAL_ID];
	int64_t expires_ms;
	char runtime[TOOL_MAX + 8], face[GB_APPROVAL_NAME_MAX];
	char *code;
	char *params;
	gb_agent_asked then;
	void *data;
};

static struct gb_approval_request request_of(const struct gb_agent_run *run, const struct gb_ask *ask) {
	const struct gb_gate_request *request = &run->request;
	/* Without a session: trust in one does not cover tools. */
	return (struct gb_approval_request){
	    .face = gb_str_from(ask->face),
	    .purpose = gb_str_from(request->purpose ? request->purpose : ""),
	    .runtime = gb_str_from(ask->runtime),
	    .conversation = gb_str_from(request->conversation ? request->conversation : ""),
	    .policy = gb_str_from(run->rules->policy),
	    .code = gb_str_from(ask->code),
	    .inputs = gb_str_from(ask->params),
	    .permissions = run->permissions,
	    .limits = run->limits,
	};
}

static void withdraw(struct gb_agent_run *run, const char *approval) {
	struct gb_store_op *op = *approval ? gb_store_op_create(GB_STORE_WITHDRAW) : NULL;
	if (op)
		memcpy(op->id, approval, sizeof op->id);
	gb_gate_submit_op(run->gate, op, op);
}

static void free_ask(struct gb_agent_run *run) {
	struct gb_ask *ask = gb_take_pointer(&run->ask);
	if (!ask)
		return;
	free(ask->code);
	free(ask->params);
	free(ask);
}

void gb_agent_run_end_ask(struct gb_agent_run *run) {
	if (run->ask)
		withdraw(run, run->ask->approval);
	free_ask(run);
}

/* The code continues, whatever was decided. */
static void decide(struct gb_agent_run *run, bool approved, const char *reason) {
	gb_agent_asked then = run->ask->then;
	void *data = run->ask->data;
	bool in_callback = run->in_callback;
	free_ask(run);
	gb_run_hold_clock(run->engine_run, false);
	run->in_callback = true;
	then(run, approved, reason, data);
	run->in_callback = in_callback;
	if (run->was_destroyed && !in_callback)
		gb_agent_run_destroy(run);
}

/* The run of an operation whose ask still waits; NULL: neither waits any more. */
static struct gb_agent_run *op_done(struct gb_store_op *op) {
	struct gb_agent_run *run = gb_agent_run_op_done(op);
	uint64_t number = (uint64_t)(uintptr_t)op->data;
	if (!run || !run->ask || run->ask->number != number) {
		/* It was submitted meanwhile, and is of no use. */
		if (run && op->kind == GB_STORE_ASK && op->ok)
			withdraw(run, op->id);
		return NULL;
	}
	run->ask->has_op = false;
	return run;
}

static void submit(struct gb_agent_run *run, struct gb_store_op *op, void (*then)(struct gb_store_op *op)) {
	run->ask->has_op = true;
	op->data = (void *)(uintptr_t)run->ask->number;
	gb_agent_run_submit(run, op, then);
}

static void on_used(struct gb_store_op *op) {
	struct gb_agent_run *run = op_done(op);
	char reason[GB_APPROVAL_DECIDER_MAX + GB_APPROVAL_REASON_MAX + 32];
	if (!run)
		return;
	if (!op->ok)
		snprintf(reason, sizeof reason, "the decision cannot be read: %.800s", op->err.message);
	else if (op->use == GB_USE_DENIED)
		snprintf(reason, sizeof reason, "denied by %s%s%s", op->decider, *op->reason ? ": " : "",
		    op->reason);
	else if (op->use == GB_USE_EXPIRED)
		snprintf(reason, sizeof reason, "no decision was made in time, which counts as a denial");
	else
		snprintf(reason, sizeof reason, "the approval is %s", gb_use_name(op->use));
	if (op->ok && op->use == GB_USE_PENDING) {
		if (run->ask->must_check)
			gb_agent_run_check_ask(run);
		return;
	}
	if (op->ok)
		*run->ask->approval = '\0'; /* it is used up */
	decide(run, op->ok && op->use == GB_USE_GRANTED, reason);
}

void gb_agent_run_check_ask(struct gb_agent_run *run) {
	struct gb_ask *ask = run->ask;
	if (!ask)
		return;
	ask->must_check = ask->has_op || !*ask->approval;
	if (ask->must_check)
		return;
	const struct gb_approval_request request = request_of(run, ask);
	struct gb_store_op *op = gb_store_op_create(GB_STORE_USE);
	if (!op) {
		decide(run, false, "the host is out of memory");
		return;
	}
	memcpy(op->id, ask->approval, sizeof op->id);
	gb_approval_hash(&request, &op->hash);
	submit(run, op, on_used);
}

static void on_asked(struct gb_store_op *op) {
	struct gb_agent_run *run = op_done(op);
	if (!run)
		return;
	if (!op->ok || op->granted) {
		char reason[GB_ERR_MESSAGE_MAX + 64];
		snprintf(reason, sizeof reason, "the request for approval cannot be submitted: %s",
		    op->ok ? "it needs a decision of its own" : op->err.message);
		decide(run, false, reason);
		return;
	}
	memcpy(run->ask->approval, op->id, sizeof run->ask->approval);
	run->ask->expires_ms = op->expires_ms;
	if (run->request.on_pending)
		run->request.on_pending(run, op->id, op->expires_ms, run->request.data);
	if (run->ask && run->ask->must_check)
		gb_agent_run_check_ask(run);
}

int64_t gb_agent_run_ask_expires(const struct gb_agent_run *run) {
	return run->ask && *run->ask->approval && !run->ask->has_op ? run->ask->expires_ms : INT64_MAX;
}

static struct gb_ask *create(struct gb_agent_run *run, struct gb_str tool, struct gb_str params) {
	struct gb_ask *ask = calloc(1, sizeof *ask);
	if (!ask)
		return NULL;
	ask->number = ++run->n_asks;
	snprintf(ask->runtime, sizeof ask->runtime, "tool %.*s", GB_STR_ARG(tool));
	snprintf(ask->face, sizeof ask->face, "%s", run->through);
	ask->params = strndup(params.p, params.n);
	if (asprintf(&ask->code, "%.*s(%.*s)", GB_STR_ARG(tool), GB_STR_ARG(params)) < 0)
		ask->code = NULL;
	run->ask = ask;
	if (ask->params && ask->code)
		return ask;
	free_ask(run);
	return NULL;
}

bool gb_agent_run_ask(struct gb_agent_run *run, struct gb_str tool, struct gb_str params, gb_agent_asked then,
    void *data, struct gb_err *err) {
	if (run->state != GB_AGENT_RUN_RUNNING || run->abandoned)
		return gb_fail(err, GB_EINVAL, 0, "the code has ended");
	if (run->ask)
		return gb_fail(err, GB_EBUSY, 0, "another call waits for approval");
	if (tool.n > TOOL_MAX || memchr(tool.p, '\0', tool.n))
		return gb_fail(
		    err, GB_EINVAL, 0, "the name of the tool is too long to be shown for approval");
	struct gb_ask *ask = create(run, tool, params);
	if (!ask)
		return gb_fail(err, GB_ENOMEM, 0, "out of memory");
	const struct gb_approval_request request = request_of(run, ask);
	struct gb_store_op *op = gb_store_op_create(GB_STORE_ASK);
	if (!op || !gb_store_op_set_request(op, &request)) {
		gb_store_op_destroy(op);
		free_ask(run);
		return gb_fail(err, GB_ENOMEM, 0, "out of memory");
	}
	ask->then = then;
	ask->data = data;
	gb_run_hold_clock(run->engine_run, true);
	submit(run, op, on_asked);
	return true;
}
