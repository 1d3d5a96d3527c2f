/* Input of an agent for a run that waits for it. */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fields.h"
#include "gate/agent_run.h"
#include "glovebox/errors.h"
#include "value/json.h"

static bool is_open_input(const struct gb_agent_run *run, const char *session) {
	return run->request.is_input &&
	       (run->state == GB_AGENT_RUN_ADMITTING || run->state == GB_AGENT_RUN_WAITING) &&
	       strcmp(run->session, session) == 0;
}

/* An approval is for one prompt; with two open inputs, a person could not know which is typed first. */
static bool has_open_input(const struct gb_agent_run *run) {
	const struct gb_gate *gate = run->gate;
	for (const struct gb_list *link = gate->runs.next; link != &gate->runs; link = link->next) {
		const struct gb_agent_run *other = gb_container(struct gb_agent_run, link, link);
		if (other != run && is_open_input(other, run->session))
			return true;
	}
	return false;
}

/* Shown to the person who decides, and recorded. Masked, since a program has written it. */
static bool describe_prompt(struct gb_agent_run *run, const char *prompt) {
	gb_auto_buf struct gb_buf json;
	gb_buf_init(&json, GB_APPROVAL_JSON_MAX);
	gb_buf_printf(&json, "{\"prompt\":");
	gb_json_append_string(&json, gb_masked_text(&run->masked, prompt, strlen(prompt)));
	gb_buf_printf(&json, "}");
	const char *kept = gb_buf_failed(&json) ? NULL : gb_arena_copy(&run->texts, gb_buf_str(&json));
	if (kept)
		run->inputs = (struct gb_str){kept, json.len};
	return kept;
}

static bool find_waiting(struct gb_agent_run *run, struct gb_session_info *ret) {
	struct gb_err err;
	return gb_manager_get(run->gate->sessions, run->session, ret, &err) &&
	       ret->state == GB_SESSION_AWAITING_INPUT;
}

bool gb_agent_run_bind_input(struct gb_agent_run *run) {
	struct gb_session_info info;
	if (!find_waiting(run, &info))
		gb_agent_run_refuse(
		    run, GB_CODE_NOT_AWAITING_INPUT, "nothing in session '%s' waits for input", run->session);
	else if (has_open_input(run))
		gb_agent_run_refuse(
		    run, GB_CODE_TOO_MANY, "another input for session '%s' waits for approval", run->session);
	else if (!describe_prompt(run, info.prompt))
		gb_agent_run_refuse(run, GB_CODE_REFUSED, "out of memory");
	else {
		run->n_prompts = info.n_prompts;
		return true;
	}
	return false;
}

static bool type(struct gb_agent_run *run, struct gb_err *err) {
	const struct gb_run_options *options = &run->request.run;
	struct gb_session_info info;
	if (!find_waiting(run, &info) || info.n_prompts != run->n_prompts)
		return gb_fail(err, GB_EINVAL, 0, "the prompt that it answers no longer waits");
	return gb_manager_send(
	    run->gate->sessions, run->session, options->source, options->source_bytes, err);
}

void gb_agent_run_type(struct gb_agent_run *run) {
	struct gb_err err = {0};
	if (!type(run, &err)) {
		gb_agent_run_refuse(run,
		    err.code == GB_ELIMIT ? GB_CODE_CODE_SIZE : GB_CODE_NOT_AWAITING_INPUT, "%s",
		    err.message);
		return;
	}
	run->counted = false; /* it was typed: the call is not given back */
	run->result = gb_result_instead(GB_SUCCESS, "", "", "", NULL);
	gb_written_write(&run->written, &run->result);
	if (!gb_agent_run_record(run, &err))
		gb_agent_run_refuse(
		    run, GB_CODE_AUDIT, "the input was typed, but cannot be recorded: %s", err.message);
}

void gb_gate_drop_inputs(struct gb_gate *gate, const char *session) {
	gb_list_each(struct gb_agent_run, run, &gate->runs, link) {
		if (!is_open_input(run, session))
			continue;
		gb_agent_run_stop_admission(
		    run, GB_CODE_NOT_AWAITING_INPUT, "the prompt that it answers no longer waits");
	}
}
