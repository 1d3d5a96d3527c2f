/* Sessions of agents: they belong to a conversation, and trust in them ends with them. */
#include "e2e/gate.h"

static struct gb_gate_request lasting(const char *conversation, const char *source) {
	struct gb_gate_request request = python(source);
	request.conversation = conversation;
	request.persistent = true;
	return request;
}

TEST(session_keeps_variables) {
	auto_site struct site site = site_make(OPEN_TO_ALL);
	struct heard first = ask(&site, lasting("c", "x = 41"));
	CHECK_INT(first.status, GB_SUCCESS);
	CHECK_INT(strlen(first.session), 32);
	struct heard second = ask(&site, lasting("c", "x + 1"));
	CHECK_STR(second.value, "42");
	CHECK_STR(second.session, first.session);
	CHECK_STR(records(&site).session, first.session);
	/* Other conversations have their own sessions. */
	CHECK_INT(ask(&site, lasting("d", "x")).status, GB_FAILURE);
	struct gb_gate_request alone = python("x");
	alone.conversation = "c";
	CHECK_INT(ask(&site, alone).status, GB_FAILURE);
}

TEST(session_id_is_valid_in_its_conversation_only) {
	auto_site struct site site = site_make(OPEN_TO_ALL);
	struct heard first = ask(&site, lasting("c", "x = 41"));
	struct gb_gate_request request = python("x + 1");
	request.session = first.session;
	request.conversation = "c";
	CHECK_STR(ask(&site, request).value, "42");
	request.conversation = "d";
	struct heard foreign = ask(&site, request);
	CHECK_STR(foreign.code, "unknown_session");
	request.conversation = "c";
	request.run.language = GB_SHELL;
	CHECK_STR(ask(&site, request).code, "unknown_session");
	request.run.language = GB_PYTHON;
	request.session = "nothing";
	CHECK_STR(ask(&site, request).code, "unknown_session");
	request.conversation = NULL;
	CHECK(!submit(&site, request, &foreign));
	CHECK(strstr(foreign.message, "conversation: "));
}

TEST(sessions_can_be_disabled) {
	auto_site struct site site = site_make(OPEN_TO_ALL "agent.persistentSessions: false\n");
	struct heard heard = ask(&site, lasting("c", "1"));
	CHECK_STR(heard.code, "sessions_disabled");
	CHECK(strstr(heard.message, "agent.persistentSessions"));
}

TEST(number_of_sessions_is_limited) {
	auto_site struct site site = site_make(OPEN_TO_ALL "agent.maxConcurrentSessions: 1\n");
	struct gb_gate_request shell = {
	    .conversation = "c", .persistent = true, .run = {.source = "echo 1", .language = GB_SHELL}};
	struct gb_err err = {0};
	CHECK_INT(ask(&site, lasting("c", "1")).status, GB_SUCCESS);
	struct heard second = ask(&site, shell);
	CHECK_STR(second.code, "too_many");
	CHECK_INT(gb_manager_count(gb_gate_sessions(site.gate)), 1);
	/* A changed limit applies at once. */
	CHECK(site_configure(&site, OPEN_TO_ALL, &err));
	CHECK_INT(ask(&site, shell).status, GB_SUCCESS);
	CHECK_INT(gb_manager_count(gb_gate_sessions(site.gate)), 2);
}

TEST(session_is_trusted_until_it_ends) {
	auto_site struct site site = site_make(ASKING);
	struct gb_err err = {0};
	struct gb_session_info info;
	struct heard first, other;
	CHECK(submit(&site, lasting("c", "x = 1"), &first));
	CHECK_INT(first.n_pending, 1);
	decide(&site, first.approval, GB_TRUST);
	wait_for(&site, &first);
	CHECK_INT(first.status, GB_SUCCESS);
	CHECK(gb_manager_get(gb_gate_sessions(site.gate), first.session, &info, &err) && info.trusted);
	struct heard second = ask(&site, lasting("c", "x + 1"));
	CHECK_STR(second.value, "2");
	CHECK_INT(second.n_pending, 0);
	CHECK_STR(records(&site).decision, "trusted_session");
	CHECK_STR(records(&site).decider, "ann");
	/* Trust does not cover runs outside the session, or another conversation. */
	struct gb_gate_request alone = python("1");
	alone.conversation = "c";
	CHECK(submit(&site, alone, &other) && other.n_pending == 1);
	gb_agent_run_destroy(other.run);
	CHECK(submit(&site, lasting("d", "1"), &other) && other.n_pending == 1);
	gb_agent_run_destroy(other.run);
	/* Nor a new session after its end. */
	CHECK(gb_manager_kill(gb_gate_sessions(site.gate), first.session, NULL, &err));
	CHECK(submit(&site, lasting("c", "1"), &other) && other.n_pending == 1);
	gb_agent_run_destroy(other.run);
}

TEST(a_request_that_is_not_run_takes_no_call_of_its_turn) {
	auto_site struct site site = site_make(ASKING "agent.callsPerTurn: 1\n");
	struct gb_gate_request request = lasting("c", "42");
	struct heard heard, other;
	request.turn = "t";
	/* Denied by a person. While it waits, another cannot have its call. */
	CHECK(submit(&site, request, &heard) && heard.n_pending == 1);
	CHECK_STR(ask(&site, request).code, "calls_per_turn");
	decide(&site, heard.approval, GB_DENY);
	wait_for(&site, &heard);
	CHECK_STR(heard.code, "not_approved");
	/* Withdrawn, and given up. */
	CHECK(submit(&site, request, &heard) && heard.n_pending == 1);
	gb_agent_run_terminate(heard.run, NULL);
	wait_for(&site, &heard);
	CHECK_STR(heard.code, "withdrawn");
	CHECK(submit(&site, request, &heard) && heard.n_pending == 1);
	gb_agent_run_destroy(heard.run);
	/* Refused by rules that changed while it waited. */
	struct gb_err err = {0};
	CHECK(submit(&site, request, &heard) && heard.n_pending == 1);
	CHECK(site_configure(&site, ASKING "agent.callsPerTurn: 1\nagent.allowedRuntimes: [shell]\n", &err));
	wait_for(&site, &heard);
	CHECK_STR(heard.code, "runtime_disabled");
	CHECK(site_configure(&site, ASKING "agent.callsPerTurn: 1\n", &err));
	/* What was approved is run, and is the turn's only call. */
	CHECK(submit(&site, request, &heard) && heard.n_pending == 1);
	decide(&site, heard.approval, GB_APPROVE);
	wait_for(&site, &heard);
	CHECK_STR(heard.value, "42");
	CHECK(submit(&site, request, &other));
	wait_for(&site, &other);
	CHECK_STR(other.code, "calls_per_turn");
}

TEST(a_request_that_expires_takes_no_call_of_its_turn) {
	auto_site struct site site = site_make(ASKING "agent.callsPerTurn: 1\napprovals.timeout: 1s\n");
	struct gb_gate_request request = lasting("c", "42");
	struct heard heard;
	request.turn = "t";
	for (int i = 0; i < 2; i++) {
		CHECK(submit(&site, request, &heard) && heard.n_pending == 1);
		wait_for(&site, &heard);
		CHECK_STR(heard.code, "not_approved");
	}
}

TEST(trust_ends_when_the_rules_change) {
	auto_site struct site site = site_make(ASKING);
	struct gb_err err = {0};
	struct heard heard;
	CHECK(submit(&site, lasting("c", "x = 1"), &heard));
	decide(&site, heard.approval, GB_TRUST);
	wait_for(&site, &heard);
	struct gb_session_info info;
	CHECK(gb_manager_get(gb_gate_sessions(site.gate), heard.session, &info, &err) && info.trusted);
	CHECK(site_configure(&site, ASKING, &err));
	CHECK(gb_manager_get(gb_gate_sessions(site.gate), heard.session, &info, &err) && info.trusted);
	CHECK(site_configure(&site, ASKING "python.restricted: true\n", &err));
	CHECK(gb_manager_get(gb_gate_sessions(site.gate), heard.session, &info, &err) && !info.trusted);
	CHECK(submit(&site, lasting("c", "x"), &heard) && heard.n_pending == 1);
	gb_agent_run_destroy(heard.run);
	/* Trust stays revoked if the old rules return. */
	CHECK(site_configure(&site, ASKING, &err));
	CHECK(submit(&site, lasting("c", "x"), &heard) && heard.n_pending == 1);
	gb_agent_run_destroy(heard.run);
}

TEST(trust_ends_when_the_rules_change_while_approval_is_waived) {
	auto_site struct site site = site_make(ASKING);
	struct gb_gate_request request = python("1");
	request.conversation = "c";
	struct heard heard;
	CHECK(submit(&site, request, &heard));
	decide(&site, heard.approval, GB_TRUST);
	wait_for(&site, &heard);
	CHECK_INT(ask(&site, request).n_pending, 0);
	gb_gate_close(site.gate);
	CHECK(site_open(&site, OPEN_TO_ALL));
	gb_gate_close(site.gate);
	CHECK(site_open(&site, ASKING));
	CHECK(submit(&site, request, &heard) && heard.n_pending == 1);
	gb_agent_run_destroy(heard.run);
}

TEST(approval_request_contains_the_session) {
	auto_site struct site site = site_make(ASKING);
	struct gb_approvals *approvals = NULL;
	struct gb_approval *approval = NULL;
	struct gb_err err = {0};
	struct heard heard;
	CHECK(submit(&site, lasting("c", "1"), &heard));
	CHECK(gb_approvals_open(site.folder, NULL, &approvals, &err) &&
	      gb_approval_get(approvals, heard.approval, &approval, &err));
	if (approval) {
		char session[40];
		keep_str(session, sizeof session, approval->request.session);
		CHECK_STR(session, gb_agent_run_session(heard.run));
		CHECK_INT(strlen(session), 32);
	}
	gb_approval_destroy(approval);
	gb_approvals_close(approvals);
	gb_agent_run_destroy(heard.run);
}

TEST(request_for_a_session_that_ended_while_it_waited_is_refused) {
	auto_site struct site site = site_make(ASKING);
	struct gb_err err = {0};
	struct heard heard;
	CHECK(submit(&site, lasting("c", "1"), &heard));
	decide(&site, heard.approval, GB_APPROVE);
	wait_for(&site, &heard);
	CHECK(submit(&site, lasting("c", "1"), &heard));
	CHECK(gb_manager_kill(
	    gb_gate_sessions(site.gate), gb_agent_run_session(heard.run), "it was in the way", &err));
	decide(&site, heard.approval, GB_APPROVE);
	wait_for(&site, &heard);
	CHECK_STR(heard.code, "unknown_session");
	CHECK(strstr(heard.message, "it was in the way"));
}

/* --- requests that do not run --- */

static bool has_sessions(struct site *site) {
	struct gb_session_info info;
	return gb_manager_at(gb_gate_sessions(site->gate), NULL, 0, &info);
}

TEST(denied_or_withdrawn_request_opens_no_session) {
	auto_site struct site site = site_make(ASKING "agent.maxConcurrentSessions: 1\n");
	struct heard heard;
	CHECK(submit(&site, lasting("c", "1"), &heard));
	CHECK(!has_sessions(&site));
	decide(&site, heard.approval, GB_DENY);
	wait_for(&site, &heard);
	CHECK_STR(heard.code, "not_approved");
	CHECK_STR(heard.session, "");
	CHECK(submit(&site, lasting("c", "1"), &heard));
	gb_agent_run_terminate(heard.run, NULL);
	wait_for(&site, &heard);
	CHECK_STR(heard.code, "withdrawn");
	CHECK(!has_sessions(&site));
	/* A request that waits does not count towards the limit on sessions. */
	struct gb_gate_request shell = {
	    .conversation = "c", .persistent = true, .run = {.source = "echo 1", .language = GB_SHELL}};
	struct heard second;
	CHECK(submit(&site, lasting("c", "1"), &heard) && submit(&site, shell, &second));
	decide(&site, second.approval, GB_APPROVE);
	wait_for(&site, &second);
	CHECK_INT(second.status, GB_SUCCESS);
	decide(&site, heard.approval, GB_APPROVE);
	wait_for(&site, &heard);
	CHECK_STR(heard.code, "too_many");
	CHECK_INT(gb_manager_count(gb_gate_sessions(site.gate)), 1);
}

TEST(expired_request_opens_no_session) {
	auto_site struct site site = site_make(ASKING "approvals.timeout: 1s\n");
	struct heard heard = ask(&site, lasting("c", "1"));
	CHECK_STR(heard.code, "not_approved");
	CHECK(!has_sessions(&site));
}

TEST(request_that_cannot_start_leaves_no_session) {
	auto_site struct site site = site_make(OPEN_TO_ALL);
	struct gb_gate_request request = lasting("c", "echo 1");
	struct gb_values *values = gb_values_create(1 << 16);
	request.run.language = GB_SHELL;
	request.run.args = gb_value_from_json(values, "[{}]", 4, NULL);
	CHECK_INT(ask(&site, request).status, GB_DENIED);
	CHECK_INT(gb_manager_count(gb_gate_sessions(site.gate)), 0);
	gb_values_destroy(values);
}

TEST(requests_that_wait_at_the_same_time_share_a_session) {
	auto_site struct site site = site_make(ASKING);
	struct heard denied, first, second;
	CHECK(submit(&site, lasting("c", "1"), &denied) && submit(&site, lasting("c", "x = 20"), &first) &&
	      submit(&site, lasting("c", "x + 1"), &second));
	CHECK_STR(gb_agent_run_session(first.run), gb_agent_run_session(second.run));
	decide(&site, denied.approval, GB_DENY);
	wait_for(&site, &denied);
	decide(&site, first.approval, GB_TRUST);
	wait_for(&site, &first);
	decide(&site, second.approval, GB_APPROVE);
	wait_for(&site, &second);
	CHECK_STR(second.value, "21");
	CHECK_STR(second.session, first.session);
	struct heard third = ask(&site, lasting("c", "x + 2"));
	CHECK_STR(third.value, "22");
	CHECK_INT(third.n_pending, 0);
}

TEST(trust_in_a_session_that_was_never_opened_is_revoked) {
	auto_site struct site site = site_make(
	    "agent: {enabled: true}\nenergy: {faces: [execute_code], initial: 0, rechargePerHour: 0}\n");
	struct gb_approvals *approvals = NULL;
	struct gb_err err = {0};
	uint64_t revoked = 9;
	struct heard heard;
	CHECK(submit(&site, lasting("c", "1"), &heard));
	decide(&site, heard.approval, GB_TRUST);
	wait_for(&site, &heard);
	CHECK_STR(heard.code, "energy");
	CHECK(!has_sessions(&site));
	CHECK(gb_approvals_open(site.folder, NULL, &approvals, &err) &&
	      gb_trust_revoke(approvals, NULL, "c", &revoked, &err));
	CHECK_INT(revoked, 0);
	gb_approvals_close(approvals);
}

TEST(stopped_run_leaves_its_session_open) {
	auto_site struct site site = site_make(OPEN_TO_ALL);
	struct gb_err err = {0};
	struct heard heard;
	ask(&site, lasting("c", "x = 7"));
	CHECK(submit(&site, lasting("c", "while True: pass"), &heard));
	for (int i = 0; i < 20; i++)
		CHECK(gb_gate_turn(site.gate, 10, &err));
	gb_agent_run_terminate(heard.run, NULL);
	wait_for(&site, &heard);
	CHECK_STR(heard.code, "interrupted");
	CHECK_STR(ask(&site, lasting("c", "x")).value, "7");
	/* A destroyed run is recorded too. */
	unsigned before = records(&site).n;
	CHECK(submit(&site, lasting("c", "while True: pass"), &heard));
	for (int i = 0; i < 20; i++)
		CHECK(gb_gate_turn(site.gate, 10, &err));
	gb_agent_run_destroy(heard.run);
	CHECK_STR(ask(&site, lasting("c", "x")).value, "7");
	CHECK_INT(records(&site).n, before + 2);
}

static double level(const struct site *site) {
	struct gb_energy_state state = {0};
	struct gb_err err = {0};
	CHECK(gb_energy_look(site->folder, NULL, &state, &err));
	return state.level;
}

TEST(run_that_never_started_is_refunded) {
	auto_site struct site site = site_make("agent: {enabled: true, autoApprove: true}\nenergy: {faces: "
					       "[execute_code], rechargePerHour: 0}\n");
	struct heard first, second, third;
	struct gb_err err = {0};
	CHECK(submit(&site, lasting("c", "while True: pass"), &first));
	CHECK(submit(&site, lasting("c", "1"), &second) && submit(&site, lasting("c", "2"), &third));
	CHECK(level(&site) > 0.84 && level(&site) < 0.86);
	gb_agent_run_terminate(second.run, "not needed");
	wait_for(&site, &second);
	CHECK_INT(second.status, GB_TERMINATED);
	CHECK(level(&site) > 0.89 && level(&site) < 0.91);
	CHECK(gb_manager_kill(gb_gate_sessions(site.gate), gb_agent_run_session(third.run), NULL, &err));
	wait_for(&site, &third);
	wait_for(&site, &first);
	CHECK(level(&site) > 0.94 && level(&site) < 0.96);
	CHECK_INT(records(&site).n, 3);
}

TEST(closing_the_gate_records_active_runs) {
	struct site site = site_make(OPEN_TO_ALL);
	struct heard heard;
	struct gb_err err = {0};
	CHECK(submit(&site,
	    lasting("c", "try:\n  while True: pass\nexcept KeyboardInterrupt:\n  while True: pass"), &heard));
	for (int i = 0; i < 20; i++)
		CHECK(gb_gate_turn(site.gate, 10, &err));
	gb_agent_run_destroy(heard.run);
	gb_gate_close(site.gate);
	site.gate = NULL;
	CHECK_INT(records(&site).n, 1);
	CHECK_STR(records(&site).status, "terminated");
	site_leave(&site);
}

/* --- input --- */

#define SECRET "ghp_%s? ' 0123456789abcdefghijABCDEFGHIJ012345"

static struct gb_gate_request shell_of(const char *conversation, const char *source) {
	return (struct gb_gate_request){.conversation = conversation,
	    .persistent = true,
	    .run = {.source = source, .language = GB_SHELL}};
}

static struct gb_gate_request input_for(
    const struct heard *heard, const char *conversation, const char *text) {
	return (struct gb_gate_request){.conversation = conversation,
	    .session = gb_agent_run_session(heard->run),
	    .is_input = true,
	    .run = {.source = text}};
}

static void wait_for_prompt(struct site *site, struct heard *heard) {
	struct gb_err err = {0};
	*heard->prompt = '\0';
	while (!*heard->prompt && !heard->n_done && CHECK(gb_gate_turn(site->gate, 20000, &err)))
		;
}

TEST(run_that_waits_for_input_ends_and_its_session_stays) {
	auto_site struct site site = site_make(OPEN_TO_ALL);
	CHECK_INT(ask(&site, shell_of("c", "x=7")).status, GB_SUCCESS);
	struct heard heard = ask(&site, shell_of("c", "printf 'key " SECRET "; read y; echo never"));
	CHECK_INT(heard.status, GB_TERMINATED);
	CHECK_STR(heard.code, "awaiting_input");
	CHECK_STR(heard.message, "the run waits for input: key ***? ");
	CHECK_STR(heard.prompt, "key ***? ");
	CHECK_STR(records(&site).status, "terminated");
	heard = ask(&site, shell_of("c", "cat"));
	CHECK_STR(heard.code, "awaiting_input");
	CHECK_STR(heard.message, "the run waits for input");
	heard = ask(&site, shell_of("c", "echo $x"));
	CHECK_STR(heard.output, "7\n");
	/* A run outside of a session cannot wait for input. */
	struct gb_gate_request alone = {.run = {.source = "read y; echo none", .language = GB_SHELL}};
	CHECK_STR(ask(&site, alone).output, "none\n");
	alone.waits_for_input = true;
	CHECK(!submit(&site, alone, &heard));
	CHECK(strstr(heard.message, "on_input: "));
}

TEST(run_that_may_wait_gets_its_input) {
	auto_site struct site site = site_make(OPEN_TO_ALL "agent.maxConcurrentRuns: 1\n");
	struct gb_gate_request request =
	    shell_of("c", "read -p 'name? ' x; read -p 'age? ' y; echo \"$x is $y\"");
	struct heard run;
	request.waits_for_input = true;
	CHECK(submit(&site, request, &run));
	wait_for_prompt(&site, &run);
	CHECK_STR(run.prompt, "name? ");
	struct heard typed = ask(&site, input_for(&run, "c", "ann\n"));
	CHECK_INT(typed.status, GB_SUCCESS);
	CHECK_STR(records(&site).trace, "{\"prompt\":\"name? \"}");
	CHECK_STR(records(&site).kind, "code_input");
	CHECK_STR(records(&site).code, "ann\n");
	wait_for_prompt(&site, &run);
	CHECK_STR(run.prompt, "age? ");
	CHECK_INT(ask(&site, input_for(&run, "c", "9\n")).status, GB_SUCCESS);
	wait_for(&site, &run);
	CHECK_INT(run.status, GB_SUCCESS);
	CHECK(strstr(run.output, "ann is 9\n"));
	CHECK_INT(records(&site).n, 3);
}

TEST(input_is_approved_together_with_its_prompt) {
	auto_site struct site site = site_make(ASKING);
	struct gb_gate_request request = shell_of("c", "printf 'key " SECRET "; read x; echo \"got $x\"");
	struct gb_approvals *approvals = NULL;
	struct gb_approval *approval = NULL;
	struct gb_err err = {0};
	struct heard run, input, second;
	char text[100];
	request.waits_for_input = true;
	CHECK(submit(&site, request, &run));
	decide(&site, run.approval, GB_APPROVE);
	wait_for_prompt(&site, &run);
	CHECK(submit(&site, input_for(&run, "c", "sudo\n"), &input) && input.n_pending == 1);
	CHECK(gb_approvals_open(site.folder, NULL, &approvals, &err) &&
	      gb_approval_get(approvals, input.approval, &approval, &err));
	keep_str(text, sizeof text, approval ? approval->request.inputs : GB_STR(""));
	CHECK_STR(text, "{\"prompt\":\"key ***? \"}");
	keep_str(text, sizeof text, approval ? approval->request.code : GB_STR(""));
	CHECK_STR(text, "sudo\n");
	gb_approval_destroy(approval);
	gb_approvals_close(approvals);
	/* Only one input at a time. */
	second = ask(&site, input_for(&run, "c", "b\n"));
	CHECK_STR(second.code, "too_many");
	/* A denial leaves the run waiting. */
	decide(&site, input.approval, GB_DENY);
	wait_for(&site, &input);
	CHECK_STR(input.code, "not_approved");
	CHECK(submit(&site, input_for(&run, "c", "fine\n"), &input));
	decide(&site, input.approval, GB_APPROVE);
	wait_for(&site, &input);
	CHECK_INT(input.status, GB_SUCCESS);
	wait_for(&site, &run);
	CHECK(strstr(run.output, "got fine\n"));
}

TEST(input_is_valid_for_its_prompt_only) {
	auto_site struct site site = site_make(ASKING);
	struct gb_gate_request request = shell_of("c", "read -p 'a? ' x; echo $x");
	struct heard run, input;
	request.waits_for_input = true;
	CHECK(submit(&site, request, &run));
	decide(&site, run.approval, GB_APPROVE);
	wait_for_prompt(&site, &run);
	/* Another conversation cannot send input. */
	struct heard foreign = ask(&site, input_for(&run, "d", "1\n"));
	CHECK_STR(foreign.code, "unknown_session");
	CHECK(submit(&site, input_for(&run, "c", "1\n"), &input));
	gb_agent_run_terminate(run.run, NULL);
	wait_for(&site, &run);
	wait_for(&site, &input);
	CHECK_STR(input.code, "not_awaiting_input");
	struct gb_gate_request late = {
	    .conversation = "c", .session = run.session, .is_input = true, .run = {.source = "1\n"}};
	CHECK_STR(ask(&site, late).code, "not_awaiting_input");
	late.run.timeout_ms = 5;
	CHECK(!submit(&site, late, &input) && strstr(input.message, "timeout_ms: "));
	late = (struct gb_gate_request){.conversation = "c", .is_input = true, .run = {.source = "1\n"}};
	CHECK(!submit(&site, late, &input) && strstr(input.message, "session: "));
}
