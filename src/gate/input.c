/* Text that an agent wants to type for a run that waits for input. */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "gate/agent_run.h"
#include "value/json.h"

static bool is_open_input(const struct gb_pass *pass, const char *session) {
	return pass->request.is_input && pass->state == GB_PASS_WAITING &&
	       strcmp(pass->session, session) == 0;
}

/* An approval is for one prompt; with two of them open, a person could not tell which is typed first. */
static bool has_open_input(const struct gb_pass *pass) {
	const struct gb_gate *gate = pass->gate;
	for (const struct gb_list *link = gate->passes.next; link != &gate->passes; link = link->next) {
		const struct gb_pass *other = gb_container(struct gb_pass, link, link);
		if (other != pass && is_open_input(other, pass->session))
			return true;
	}
	return false;
}

/* The person who decides sees it, and the record has it: masked, since a program has written it. */
static bool describe_prompt(struct gb_pass *pass, const char *prompt) {
	gb_auto_buf struct gb_buf json;
	gb_buf_init(&json, GB_APPROVAL_JSON_MAX);
	gb_buf_printf(&json, "{\"prompt\":");
	gb_json_append_string(&json, gb_masked_text(&pass->masked, prompt, strlen(prompt)));
	gb_buf_printf(&json, "}");
	const char *kept = gb_buf_failed(&json) ? NULL : gb_arena_copy(&pass->texts, gb_buf_str(&json));
	if (kept)
		pass->inputs = (struct gb_str){kept, json.len};
	return kept;
}

static bool find_waiting(struct gb_pass *pass, struct gb_session_info *ret) {
	struct gb_err err;
	return gb_manager_get(pass->gate->sessions, pass->session, ret, &err) &&
	       ret->state == GB_SESSION_AWAITING_INPUT;
}

bool gb_pass_bind_input(struct gb_pass *pass) {
	struct gb_session_info info;
	if (!find_waiting(pass, &info))
		gb_pass_refuse(
		    pass, "not_awaiting_input", "nothing in session '%s' waits for input", pass->session);
	else if (has_open_input(pass))
		gb_pass_refuse(
		    pass, "too_many", "another input for session '%s' waits for approval", pass->session);
	else if (!describe_prompt(pass, info.prompt))
		gb_pass_refuse(pass, "refused", "out of memory");
	else {
		pass->n_prompts = info.n_prompts;
		return true;
	}
	return false;
}

static bool type(struct gb_pass *pass, struct gb_err *err) {
	const struct gb_run_options *run = &pass->request.run;
	struct gb_session_info info;
	if (!find_waiting(pass, &info) || info.n_prompts != pass->n_prompts)
		return gb_fail(err, GB_EINVAL, 0, "the prompt that it answers is gone");
	return gb_manager_send(pass->gate->sessions, pass->session, run->source, run->source_bytes, err);
}

void gb_pass_type(struct gb_pass *pass) {
	struct gb_err err = {0};
	if (!gb_pass_reserve(pass, &err)) {
		gb_pass_refuse(pass, "audit", "what cannot be recorded is not typed: %s", err.message);
		return;
	}
	if (!type(pass, &err)) {
		gb_audit_cancel(pass->gate->audit, &pass->ticket);
		gb_pass_refuse(
		    pass, err.code == GB_ELIMIT ? "code_size" : "not_awaiting_input", "%s", err.message);
		return;
	}
	pass->result = (struct gb_result){
	    .status = GB_SUCCESS,
	    .error = {"", "", "", "", "", "", 0, 0},
	    .stdout_text = "",
	    .stderr_text = "",
	};
	if (gb_pass_record(pass, &err))
		return;
	gb_audit_cancel(pass->gate->audit, &pass->ticket);
	gb_pass_refuse(pass, "audit", "it was typed and cannot be recorded: %s", err.message);
}

void gb_gate_drop_inputs(struct gb_gate *gate, const char *session) {
	gb_list_each(struct gb_pass, pass, &gate->passes, link) {
		if (!is_open_input(pass, session))
			continue;
		gb_pass_withdraw(pass);
		gb_pass_refuse(pass, "not_awaiting_input", "the prompt that it answers is gone");
	}
}
