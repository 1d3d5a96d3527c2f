/* The gate: limits, counts, changing rules, and the audit record. */
#include "e2e/gate.h"

/* --- the record --- */

TEST(record_contains_the_version_and_the_layers) {
	auto_site struct site site = site_make(OPEN_TO_ALL);
	struct heard heard = ask(&site, python("6 * 7"));
	CHECK_STR(heard.value, "42");
	struct seen seen = records(&site);
	CHECK_INT(seen.n, 1);
	CHECK(strncmp(seen.version, "Python 3.", 9) == 0);
	CHECK(strstr(seen.layers, "\"seccomp\"") && strstr(seen.layers, "\"landlock\""));
	CHECK_STR(seen.session, "");
}

TEST(active_layers_are_listed) {
	const char *names[20];
	CHECK(gb_engine_layers(engine, GB_JAVASCRIPT, names, 20) >= 10);
	CHECK_INT(gb_engine_layers(engine, GB_DENO, names, 20), 0);
	CHECK(strncmp(gb_engine_version(engine, GB_JAVASCRIPT), "quickjs-ng ", 11) == 0);
	CHECK(gb_engine_version(engine, GB_JAVASCRIPT) == gb_engine_version(engine, GB_TYPESCRIPT));
}

TEST(record_counts_masked_secrets) {
	auto_site struct site site = site_make(OPEN_TO_ALL);
	struct heard heard =
	    ask(&site, python("t = 'ghp_' + '0123456789abcdefghijABCDEFGHIJ012345'\nprint(t)\nt"));
	CHECK_STR(heard.value, "\"***\"");
	CHECK_STR(heard.output, "***\n");
	struct seen seen = records(&site);
	CHECK_INT(seen.masked_input, 0);
	CHECK_INT(seen.masked_output, 2);
	ask(&site, python("'ghp_0123456789abcdefghijABCDEFGHIJ012345'; 1"));
	CHECK_INT(records(&site).masked_input, 1);
}

TEST(displays_are_masked) {
	auto_site struct site site = site_make(OPEN_TO_ALL);
	struct heard heard = ask(&site, python("class C:\n  def _repr_html_(self): return '<b>ghp_' + "
					       "'0123456789abcdefghijABCDEFGHIJ012345</b>'\n"
					       "display(C())"));
	CHECK_INT(heard.n_displays, 1);
	CHECK(strstr(heard.display, "<b>***</b>"));
}

/* --- limits --- */

static unsigned long long limit_of(struct site *site, const char *name) {
	const char *found = strstr(records(site).limits, name);
	return found ? strtoull(found + strlen(name) + 2, NULL, 10) : 0;
}

TEST(limits_of_a_face_are_recorded) {
	auto_site struct site site = site_make(OPEN_TO_ALL);
	struct gb_gate_request request = python("1");
	request.run.timeout_ms = 60000;
	request.run.result_bytes = 1 << 20;
	ask(&site, request);
	CHECK_INT(limit_of(&site, "timeoutMs"), 60000);
	request.face = GB_FACE_CORE_EXECUTE;
	request.run.language = GB_JAVASCRIPT;
	ask(&site, request);
	CHECK_INT(limit_of(&site, "timeoutMs"), 5000);
	CHECK_INT(limit_of(&site, "resultBytes"), 32 << 10);
	request.run.timeout_ms = 1;
	ask(&site, request);
	CHECK_INT(limit_of(&site, "timeoutMs"), 100);
	request.face = GB_FACE_ACTIONS;
	request.run.timeout_ms = 0;
	ask(&site, request);
	CHECK_INT(limit_of(&site, "timeoutMs"), 30000);
	CHECK_INT(limit_of(&site, "outputBytes"), 64 << 10);
}

TEST(default_limits_of_agents_are_their_maximums) {
	auto_site struct site site = site_make(OPEN_TO_ALL "agent.maxOutputSize: 4M\n");
	struct gb_gate_request request = python("1");
	ask(&site, request);
	CHECK_INT(limit_of(&site, "timeoutMs"), 180000);
	CHECK_INT(limit_of(&site, "outputBytes"), 4 << 20);
	request.run.timeout_ms = 7000;
	request.run.output_bytes = 2048;
	ask(&site, request);
	CHECK_INT(limit_of(&site, "timeoutMs"), 7000);
	CHECK_INT(limit_of(&site, "outputBytes"), 2048);
	request.run.timeout_ms = 181000;
	ask(&site, request);
	CHECK_INT(limit_of(&site, "timeoutMs"), 180000);
}

TEST(limits_of_a_runtime_lower_the_maximum_of_agents) {
	auto_site struct site site = site_make(
	    OPEN_TO_ALL "limits: {python: {maxTimeout: 9s, maxOutput: 3K}, shell: {timeout: 5s}}\n");
	struct gb_gate_request request = python("1");
	ask(&site, request);
	CHECK_INT(limit_of(&site, "timeoutMs"), 9000);
	CHECK_INT(limit_of(&site, "outputBytes"), 3072);
	request.run.language = GB_SHELL;
	request.run.source = "true";
	ask(&site, request);
	CHECK_INT(limit_of(&site, "timeoutMs"), 5000);
	request.run.timeout_ms = 60000;
	ask(&site, request);
	CHECK_INT(limit_of(&site, "timeoutMs"), 60000);
}

TEST(expected_output_and_trace_are_recorded_masked) {
	auto_site struct site site = site_make(OPEN_TO_ALL);
	struct gb_gate_request request = python("1");
	request.expected = "one, not ghp_0123456789abcdefghijABCDEFGHIJ012345";
	request.trace = "{\"from\":\"a plan\"}";
	CHECK_INT(ask(&site, request).status, GB_SUCCESS);
	CHECK_STR(records(&site).expected, "one, not ***");
	CHECK_STR(records(&site).trace, "{\"from\":\"a plan\"}");
	struct heard heard;
	request.trace = "{from";
	CHECK(!submit(&site, request, &heard));
	CHECK(strstr(heard.message, "trace: "));
}

/* --- number of calls and of concurrent runs --- */

TEST(calls_in_a_turn_are_counted) {
	auto_site struct site site = site_make(OPEN_TO_ALL "agent.callsPerTurn: 2\n");
	struct gb_gate_request request = python("1");
	request.conversation = "c";
	request.turn = "t1";
	CHECK_INT(ask(&site, request).status, GB_SUCCESS);
	gb_gate_close(site.gate); /* the count survives a restart */
	CHECK(site_open(&site, OPEN_TO_ALL "agent.callsPerTurn: 2\n"));
	CHECK_INT(ask(&site, request).status, GB_SUCCESS);
	struct heard third = ask(&site, request);
	CHECK_INT(third.status, GB_DENIED);
	CHECK_STR(third.code, "calls_per_turn");
	CHECK(strstr(third.message, "agent.callsPerTurn"));
	request.turn = "t2";
	CHECK_INT(ask(&site, request).status, GB_SUCCESS);
	request.turn = "t1";
	request.conversation = "d";
	CHECK_INT(ask(&site, request).status, GB_SUCCESS);
	request.turn = NULL;
	request.conversation = "c";
	CHECK_INT(ask(&site, request).status, GB_SUCCESS);
}

TEST(core_execute_has_its_own_calls_per_turn) {
	auto_site struct site site = site_make(OPEN_TO_ALL);
	struct gb_gate_request request = python("1");
	request.face = GB_FACE_CORE_EXECUTE;
	request.run.language = GB_JAVASCRIPT;
	request.turn = "t";
	CHECK_INT(ask(&site, request).status, GB_SUCCESS);
	struct heard second = ask(&site, request);
	CHECK_STR(second.code, "calls_per_turn");
	CHECK(strstr(second.message, "core.callsPerTurn"));
}

TEST(refused_request_is_not_counted_as_a_call) {
	auto_site struct site site = site_make(OPEN_TO_ALL "agent.callsPerTurn: 1\n");
	struct gb_gate_request request = {
	    .turn = "t", .run = {.source = "process.exit()", .language = GB_JAVASCRIPT}};
	CHECK_STR(ask(&site, request).code, "guard");
	request.run.source = "export default 1";
	CHECK_INT(ask(&site, request).status, GB_SUCCESS);
	CHECK_STR(ask(&site, request).code, "calls_per_turn");
}

/* Submit @second while another run of conversation "c" executes. It must be refused because of @setting, or
 * succeed if @setting is NULL. After the first run has ended, it must succeed. */
static void check_second_run(const char *yaml, struct gb_gate_request second, const char *setting) {
	auto_site struct site site = site_make(yaml);
	struct gb_gate_request request = python("import time; time.sleep(1000)");
	struct heard first;
	request.conversation = "c";
	CHECK(submit(&site, request, &first));
	struct heard refused = ask(&site, second);
	CHECK_STR(refused.code, setting ? "too_many" : "");
	CHECK(!setting || strstr(refused.message, setting));
	gb_agent_run_terminate(first.run, "enough");
	wait_for(&site, &first);
	CHECK_INT(first.status, GB_TERMINATED);
	CHECK_INT(ask(&site, second).status, GB_SUCCESS);
}

TEST(concurrent_runs_are_limited) {
	struct gb_gate_request request = python("1");
	request.conversation = "d";
	request.transport = "other";
	check_second_run(OPEN_TO_ALL "agent.maxConcurrentRuns: 1\n", request, "agent.maxConcurrentRuns");
}

TEST(concurrent_runs_of_one_transport_are_limited) {
	struct gb_gate_request request = python("1");
	check_second_run(OPEN_TO_ALL "agent.maxConcurrentRunsPerTransport: 1\n", request,
	    "agent.maxConcurrentRunsPerTransport");
	request.transport = "other";
	check_second_run(OPEN_TO_ALL "agent.maxConcurrentRunsPerTransport: 1\n", request, NULL);
}

TEST(concurrent_runs_of_one_conversation_are_limited) {
	struct gb_gate_request request = python("1");
	request.conversation = "c";
	check_second_run(OPEN_TO_ALL "agent.maxConcurrentRunsPerConversation: 1\n", request,
	    "agent.maxConcurrentRunsPerConversation");
	request.conversation = "d";
	check_second_run(OPEN_TO_ALL "agent.maxConcurrentRunsPerConversation: 1\n", request, NULL);
	request.conversation = NULL;
	check_second_run(OPEN_TO_ALL "agent.maxConcurrentRunsPerConversation: 1\n", request, NULL);
}

/* --- what a request may contain --- */

TEST(python_can_import_only_the_allowed_modules) {
	auto_site struct site site =
	    site_make(OPEN_TO_ALL "python: {restricted: true, allowedModules: [math]}\n");
	CHECK_STR(ask(&site, python("import math; math.floor(2.5)")).value, "2");
	CHECK(strstr(records(&site).permissions, "\"modules\":[\"math\"]"));
	CHECK_INT(ask(&site, python("import json")).status, GB_FAILURE);
}

TEST(options_that_are_not_shown_for_approval_are_rejected) {
	auto_site struct site site = site_make(OPEN_TO_ALL);
	struct gb_gate_request request = python("1");
	struct heard heard;
	request.run.input = "more";
	CHECK(!submit(&site, request, &heard));
	CHECK(strstr(heard.message, "input: "));
	CHECK_INT(records(&site).n, 0);
}

TEST(texts_have_a_maximum_length) {
	auto_site struct site site = site_make(OPEN_TO_ALL);
	static char long_text[5000];
	memset(long_text, 'x', sizeof long_text - 1);
	struct heard heard;
	struct gb_gate_request request = python("1");
	request.purpose = long_text;
	CHECK(!submit(&site, request, &heard));
	CHECK(strstr(heard.message, "purpose: has 4999 bytes"));
	request.purpose = "\xff";
	CHECK(!submit(&site, request, &heard));
	CHECK(strstr(heard.message, "purpose: is not UTF-8"));
	request.purpose = NULL;
	long_text[201] = '\0';
	request.conversation = long_text;
	CHECK(!submit(&site, request, &heard));
	CHECK(strstr(heard.message, "conversation: has 201 bytes"));
	CHECK_INT(records(&site).n, 0);
}

TEST(functions_are_rejected_as_arguments) {
	auto_site struct site site = site_make(OPEN_TO_ALL);
	struct gb_values *pool = gb_values_create(1 << 20);
	struct gb_value *args = gb_value_array(pool);
	CHECK(gb_value_push(args, gb_value_function(pool, 7, "f")));
	struct gb_gate_request request = {.run = {.source = "export default f => f()", .args = args}};
	struct heard heard;
	CHECK(!submit(&site, request, &heard));
	CHECK(strstr(heard.message, "args: a function"));
	gb_values_destroy(pool);
}

TEST(arguments_are_copied) {
	auto_site struct site site = site_make(OPEN_TO_ALL);
	struct gb_values *pool = gb_values_create(1 << 20);
	struct gb_value *args = gb_value_array(pool);
	CHECK(gb_value_push(args, gb_value_bigint(pool, true, (const uint8_t *)"\1\0\0\0\0\0\0\0\0", 9)));
	struct gb_gate_request request = {
	    .run = {.source = "export default n => typeof n + n", .args = args}};
	struct heard heard;
	CHECK(submit(&site, request, &heard));
	gb_values_destroy(pool);
	wait_for(&site, &heard);
	CHECK_STR(heard.value, "\"bigint-18446744073709551616\"");
}

/* --- changing the rules of an open gate --- */

TEST(changed_rules_apply_at_once) {
	auto_site struct site site = site_make(OPEN_TO_ALL);
	struct gb_err err = {0};
	CHECK_INT(ask(&site, python("1")).status, GB_SUCCESS);
	CHECK(site_configure(&site, "agent.enabled: false\n", &err));
	CHECK_STR(ask(&site, python("1")).code, "disabled");
	CHECK(site_configure(&site, OPEN_TO_ALL "agent.maxCodeSize: 1K\n", &err));
	CHECK_INT(ask(&site, python("1")).status, GB_SUCCESS);
	char long_source[2000];
	snprintf(long_source, sizeof long_source, "%-1500d", 1);
	CHECK_STR(ask(&site, python(long_source)).code, "code_size");
}

TEST(gate_with_agents_disabled_can_be_enabled) {
	auto_site struct site site = site_make("agent.enabled: false\n");
	struct gb_err err = {0};
	CHECK_STR(ask(&site, python("1")).code, "disabled");
	CHECK(access(file_in(site.folder, "audit.db"), F_OK) != 0);
	CHECK(site_configure(&site, ASKING, &err));
	struct heard heard;
	CHECK(submit(&site, python("1"), &heard));
	decide(&site, heard.approval, GB_APPROVE);
	wait_for(&site, &heard);
	CHECK_INT(heard.status, GB_SUCCESS);
}

TEST(invalid_rules_change_nothing) {
	auto_site struct site site = site_make(OPEN_TO_ALL);
	struct gb_err err = {0};
	CHECK(!site_configure(&site, OPEN_TO_ALL "secrets.patterns: ['(']\nagent.maxCodeSize: 1K\n", &err));
	CHECK(strstr(err.message, "secrets.patterns"));
	CHECK(!site_configure(&site, OPEN_TO_ALL "audit.directory: /nowhere/at/all\n", &err));
	CHECK(strstr(err.message, "audit.directory"));
	char long_source[2000];
	snprintf(long_source, sizeof long_source, "%-1500d", 1);
	CHECK_INT(ask(&site, python(long_source)).status, GB_SUCCESS);
	CHECK_INT(records(&site).n, 1);
}

TEST(state_folder_cannot_change) {
	auto_site struct site site = site_make(OPEN_TO_ALL), other = site_make(OPEN_TO_ALL);
	struct gb_err err = {0};
	const struct gb_config *config = settings(other.folder, OPEN_TO_ALL, &err);
	CHECK(!site_configure_by(&site, config, &err));
	CHECK(strstr(err.message, "stateDir"));
	gb_config_unref(config);
	CHECK_INT(ask(&site, python("1")).status, GB_SUCCESS);
	CHECK_INT(records(&site).n, 1);
}

TEST(waiting_request_needs_a_new_approval_after_the_rules_change) {
	auto_site struct site site = site_make(ASKING);
	struct gb_err err = {0};
	struct heard heard;
	CHECK(submit(&site, python("6 * 7"), &heard));
	char before[GB_APPROVAL_ID];
	memcpy(before, heard.approval, sizeof before);
	/* The same rules, written differently, need no new approval. */
	CHECK(site_configure(&site, "agent.enabled: true\nenergy.enabled: false\n", &err));
	CHECK_INT(heard.n_pending, 1);
	CHECK(site_configure(&site, ASKING "agent.maxExecutionTime: 50s\n", &err));
	CHECK_INT(heard.n_pending, 2);
	CHECK(strcmp(before, heard.approval) != 0);
	decide(&site, heard.approval, GB_APPROVE);
	wait_for(&site, &heard);
	CHECK_STR(heard.value, "42");
	CHECK_STR(records(&site).decision, "user");
}

TEST(waiting_request_runs_when_approval_is_no_longer_needed) {
	auto_site struct site site = site_make(ASKING);
	struct gb_err err = {0};
	struct heard heard;
	CHECK(submit(&site, python("6 * 7"), &heard));
	CHECK(site_configure(&site, OPEN_TO_ALL, &err));
	wait_for(&site, &heard);
	CHECK_STR(heard.value, "42");
	CHECK_STR(records(&site).decision, "auto");
}

TEST(waiting_request_is_refused_when_it_is_no_longer_allowed) {
	auto_site struct site site = site_make(ASKING);
	struct gb_err err = {0};
	struct heard heard;
	CHECK(submit(&site, python("6 * 7"), &heard));
	CHECK(site_configure(&site, ASKING "agent.allowedRuntimes: [shell]\n", &err));
	wait_for(&site, &heard);
	CHECK_STR(heard.code, "runtime_disabled");
}

TEST(active_run_continues_under_the_rules_that_admitted_it) {
	auto_site struct site site = site_make(OPEN_TO_ALL "secrets.patterns: ['horse-[0-9]+']\n");
	struct gb_err err = {0};
	struct heard heard;
	CHECK(submit(&site, python("import time; time.sleep(0.3); print('horse-' + '77')"), &heard));
	CHECK(site_configure(&site, OPEN_TO_ALL, &err));
	wait_for(&site, &heard);
	CHECK_STR(heard.output, "***\n");
	CHECK_STR(ask(&site, python("print('horse-' + '77')")).output, "horse-77\n");
}

/* --- withdrawn, destroyed and denied requests --- */

TEST(waiting_request_can_be_withdrawn) {
	auto_site struct site site = site_make(ASKING);
	struct heard heard;
	CHECK(submit(&site, python("1"), &heard));
	gb_agent_run_terminate(heard.run, "not needed");
	wait_for(&site, &heard);
	CHECK_STR(heard.code, "withdrawn");
	CHECK_STR(heard.message, "not needed");
	CHECK_INT(heard.n_done, 1);
	CHECK_STR(records(&site).status, "denied");
}

TEST(destroyed_run_is_recorded) {
	auto_site struct site site = site_make(OPEN_TO_ALL);
	struct gb_err err = {0};
	struct heard heard;
	CHECK(submit(&site, python("import time; time.sleep(1000)"), &heard));
	gb_agent_run_destroy(heard.run);
	while (!gb_list_empty(&site.gate->runs) && CHECK(gb_gate_turn(site.gate, 20000, &err)))
		;
	CHECK_INT(heard.n_done, 0);
	CHECK_INT(records(&site).n, 1);
	CHECK_STR(records(&site).status, "terminated");
}

TEST(denial_names_the_decider) {
	auto_site struct site site = site_make(ASKING);
	struct heard heard;
	CHECK(submit(&site, python("1"), &heard));
	decide(&site, heard.approval, GB_DENY);
	wait_for(&site, &heard);
	CHECK_STR(heard.code, "not_approved");
	CHECK_STR(records(&site).decision, "denied");
	CHECK_STR(records(&site).decider, "ann");
}
