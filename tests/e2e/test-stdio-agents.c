/* Requests of agents over 'glovebox stdio', through the gate. */
#include "e2e/decide.h"
#include "e2e/served.h"
#include "locker.h"

static char state[FOLDER];

__attribute__((constructor)) static void set_state(void) {
	folder_create(state);
	setenv("GLOVEBOX_STATE_DIR", state, 1);
}

__attribute__((destructor)) static void drop_state(void) {
	folder_destroy(state);
}

#define OPEN_TO_ALL "agent: {enabled: true, autoApprove: true}\nenergy: {enabled: false}\n"
#define ASKING      "agent: {enabled: true}\nenergy: {enabled: false}\n"

#define EXECUTE(run, source, rest)                                                                           \
	"{\"type\":\"execute\",\"run\":" #run ",\"language\":\"python\",\"source\":\"" source "\"" rest "}"

static struct client serve(const char *text) {
	configure(text);
	return serve_file();
}

static bool keep(void *data, uint64_t seq, const struct gb_hash *hash, const struct gb_audit_record *record) {
	snprintf(data, 200, "%.*s %.*s %.*s", (int)record->status.n, record->status.p,
	    (int)record->decision.n, record->decision.p, (int)record->purpose.n, record->purpose.p);
	return true;
}

/* "status decision purpose" of the newest record. */
static const char *last_record(void) {
	static char text[200];
	struct gb_err err = {0};
	*text = '\0';
	if (!CHECK(gb_audit_each(state, &(struct gb_audit_filter){0}, keep, text, &err)))
		printf("# %s\n", err.message);
	return text;
}

TEST(agents_are_refused_by_default) {
	struct client client = serve("");
	client_say(&client, EXECUTE(1, "1", ""));
	const struct gb_value *heard = client_result(&client, 1, "denied");
	CHECK_STR(text_at(heard, "result.error.code"), "disabled");
	CHECK(strstr(text_at(heard, "result.error.message"), "agent.enabled"));
	client_say(&client, "{\"type\":\"session_list\",\"request\":1,\"agent\":true}");
	heard = client_expect(&client, "error", -1);
	CHECK_STR(text_at(heard, "field"), "agent");
	/* Runs of the client itself are not affected. */
	client_say(&client, "{\"type\":\"run\",\"run\":2,\"source\":\"export default 6*7\"}");
	client_result(&client, 2, "success");
	CHECK_INT(end_file(&client), 0);
	CHECK(access(file_in(state, "audit.db"), F_OK) != 0);
}

TEST(one_setting_enables_agents_also_after_a_reload) {
	struct client client = serve("");
	client_say(&client, EXECUTE(1, "1", ""));
	client_result(&client, 1, "denied");
	configure(OPEN_TO_ALL);
	read_again(&client, "settings were read again");
	client_say(&client, EXECUTE(2, "print('1\\\\n', end=''); 6*7", ",\"purpose\":\"a sum\""));
	const struct gb_value *heard = client_expect(&client, "output", 2);
	CHECK_STR(text_at(heard, "text"), "1\n");
	heard = client_result(&client, 2, "success");
	CHECK_INT(number_at(heard, "result.result"), 42);
	CHECK_STR(last_record(), "success auto a sum");
	/* Settings that the gate rejects change nothing, neither there nor elsewhere. */
	configure("limits: {javascript: {timeout: 1ms}}\naudit: {directory: /nowhere}\n" OPEN_TO_ALL);
	read_again(&client, "settings stay as they were: audit.directory");
	client_say(&client,
	    "{\"type\":\"run\",\"run\":3,\"source\":\"for (const t = Date.now(); Date.now() < t + 50;);\"}");
	client_result(&client, 3, "success");
	configure("");
	read_again(&client, "settings were read again");
	client_say(&client, EXECUTE(4, "1", ""));
	client_result(&client, 4, "denied");
	CHECK_INT(end_file(&client), 0);
}

TEST(hello_says_whether_agents_are_enabled) {
	configure(OPEN_TO_ALL);
	struct client client = client_start((const char *const[]){"--config", path, NULL});
	CHECK(gb_value_is_true(at(client_hear(&client), "agent")));
	CHECK_INT(client_end(&client), 0);
	configure("");
	client = client_start((const char *const[]){"--config", path, NULL});
	CHECK(!at(client_hear(&client), "agent"));
	CHECK_INT(client_end(&client), 0);
}

TEST(requests_are_approved_and_a_session_is_trusted) {
	struct client client = serve(ASKING);
	client_say(&client, EXECUTE(1, "x = 41", ",\"conversation\":\"c\",\"session\":true"));
	const struct gb_value *heard = client_expect(&client, "pending", 1);
	CHECK(number_at(heard, "expiresAt") > 0);
	decide_in(state, text_at(heard, "approval"), GB_TRUST);
	heard = client_result(&client, 1, "success");
	char session[33];
	snprintf(session, sizeof session, "%s", text_at(heard, "session"));
	client_say(&client, EXECUTE(2, "x + 1", ",\"conversation\":\"c\",\"session\":true"));
	heard = client_result(&client, 2, "success");
	CHECK_INT(number_at(heard, "result.result"), 42);
	CHECK_STR(text_at(heard, "session"), session);
	client_say(
	    &client, "{\"type\":\"session_list\",\"request\":1,\"agent\":true,\"conversation\":\"c\"}");
	heard = client_expect(&client, "sessions", -1);
	CHECK_STR(text_at(heard, "sessions.0.id"), session);
	CHECK(gb_value_is_true(at(heard, "sessions.0.trusted")));
	/* Sessions of the application are separate. */
	client_say(&client, "{\"type\":\"session_list\",\"request\":2}");
	heard = client_expect(&client, "sessions", -1);
	CHECK_INT(gb_value_count(at(heard, "sessions")), 0);
	client_say(&client, "{\"type\":\"session_kill\",\"request\":3,\"session\":\"%s\"}", session);
	client_expect(&client, "error", -1);
	client_say(
	    &client, "{\"type\":\"session_kill\",\"request\":4,\"agent\":true,\"session\":\"%s\"}", session);
	heard = client_expect(&client, "session", -1);
	CHECK_STR(text_at(heard, "session.state"), "terminated");
	client_say(&client, EXECUTE(3, "1", ",\"conversation\":\"c\",\"session\":true"));
	heard = client_expect(&client, "pending", 3);
	decide_in(state, text_at(heard, "approval"), GB_DENY);
	heard = client_result(&client, 3, "denied");
	CHECK_STR(text_at(heard, "result.error.code"), "not_approved");
	/* The denied request has not opened a session. */
	CHECK(!at(heard, "session"));
	client_say(
	    &client, "{\"type\":\"session_cleanup\",\"request\":5,\"agent\":true,\"conversation\":\"c\"}");
	heard = client_expect(&client, "cleaned", -1);
	CHECK_INT(number_at(heard, "count"), 0);
	CHECK_INT(end_file(&client), 0);
}

TEST(a_request_can_be_withdrawn_and_stopped) {
	struct client client = serve(ASKING);
	client_say(&client, EXECUTE(1, "1", ""));
	client_expect(&client, "pending", 1);
	client_say(&client, "{\"type\":\"terminate\",\"run\":1,\"reason\":\"never mind\"}");
	const struct gb_value *heard = client_result(&client, 1, "denied");
	CHECK_STR(text_at(heard, "result.error.code"), "withdrawn");
	CHECK_STR(text_at(heard, "result.error.message"), "never mind");
	configure(OPEN_TO_ALL);
	read_again(&client, "settings were read again");
	client_say(&client, EXECUTE(2, "print('1\\\\n', end='', flush=True)\\nwhile True: pass", ""));
	client_expect(&client, "output", 2);
	client_say(&client, "{\"type\":\"terminate\",\"run\":2}");
	client_result(&client, 2, "terminated");
	CHECK_INT(end_file(&client), 0);
}

TEST(a_disconnected_client_withdraws_its_requests) {
	struct client client = serve(ASKING);
	client_say(&client, EXECUTE(1, "1", ",\"purpose\":\"lost\""));
	const struct gb_value *heard = client_expect(&client, "pending", 1);
	char id[GB_APPROVAL_ID];
	snprintf(id, sizeof id, "%s", text_at(heard, "approval"));
	CHECK_INT(end_file(&client), 0);
	struct gb_approvals *approvals = NULL;
	struct gb_approval *approval = NULL;
	struct gb_err err = {0};
	CHECK(gb_approvals_open(state, NULL, &approvals, &err) &&
	      gb_approval_get(approvals, id, &approval, &err));
	CHECK(approval && approval->state == GB_APPROVAL_WITHDRAWN);
	gb_approval_destroy(approval);
	gb_approvals_close(approvals);
	CHECK_STR(last_record(), "denied denied lost");
}

TEST(a_run_of_a_disconnected_client_is_recorded) {
	struct client client = serve(OPEN_TO_ALL);
	client_say(&client,
	    EXECUTE(1, "print('1\\\\n', end='', flush=True)\\nwhile True: pass", ",\"purpose\":\"endless\""));
	client_expect(&client, "output", 1);
	CHECK_INT(end_file(&client), 0);
	CHECK_STR(last_record(), "terminated auto endless");
}

TEST(secrets_of_agents_are_masked_regardless_of_other_settings) {
	struct client client = serve(OPEN_TO_ALL);
	client_say(&client,
	    EXECUTE(1, "t = 'ghp_' + '0123456789abcdefghijABCDEFGHIJ012345'\\nprint(t + '\\\\n', end='')\\nt",
		""));
	const struct gb_value *heard = client_expect(&client, "output", 1);
	CHECK_STR(text_at(heard, "text"), "***\n");
	heard = client_result(&client, 1, "success");
	CHECK_STR(text_at(heard, "result.result"), "***");
	CHECK_INT(end_file(&client), 0);
}

#define ADD(request, value)                                                                                  \
	"{\"type\":\"secret_add\",\"request\":" #request ",\"name\":\"X\",\"value\":\"" value "\"}"

/* Both kinds of run print it. */
static void check_said(struct client *client, int run, const char *expected) {
	const struct gb_value *heard;
	client_say(client,
	    "{\"type\":\"run\",\"run\":%d,\"source\":\"export default 'correct' + '-horse-9'\"}", run);
	heard = client_result(client, run, "success");
	CHECK_STR(text_at(heard, "result.result"), expected);
	client_say(client,
	    "{\"type\":\"execute\",\"run\":%d,\"source\":\"export default 'correct' + '-horse-9'\"}",
	    run + 1);
	heard = client_result(client, run + 1, "success");
	CHECK_STR(text_at(heard, "result.result"), expected);
}

TEST(a_client_can_register_secrets) {
	struct client client = serve(OPEN_TO_ALL);
	check_said(&client, 1, "correct-horse-9");
	client_say(&client, ADD(1, "correct-horse-9"));
	const struct gb_value *heard = client_expect(&client, "secret", -1);
	CHECK_INT(number_at(heard, "request"), 1);
	check_said(&client, 3, "***");
	/* A reload of the settings does not change it. */
	configure(OPEN_TO_ALL "secrets.maskStdio: none\n");
	read_again(&client, "settings were read again");
	check_said(&client, 5, "***");
	client_say(&client, ADD(2, "short"));
	heard = client_expect(&client, "error", -1);
	CHECK_STR(text_at(heard, "field"), "value");
	CHECK_INT(number_at(heard, "request"), 2);
	client_say(
	    &client, "{\"type\":\"secret_add\",\"request\":4,\"name\":\"\",\"value\":\"correct-horse-9\"}");
	heard = client_expect(&client, "error", -1);
	CHECK_STR(text_at(heard, "field"), "name");
	client_say(&client, "{\"type\":\"secret_add\",\"request\":3,\"name\":\"X\"}");
	heard = client_expect(&client, "error", -1);
	CHECK_STR(text_at(heard, "field"), "value");
	CHECK_INT(end_file(&client), 0);
	client = serve(OPEN_TO_ALL);
	check_said(&client, 1, "correct-horse-9");
	CHECK_INT(end_file(&client), 0);
}

/* An invalid request is answered with the field, and the number of the run is used up. */
static void check_wrong(struct client *client, long long run, const char *rest, const char *field) {
	client_say(client, "{\"type\":\"execute\",\"run\":%lld%s}", run, rest);
	const struct gb_value *heard = client_expect(client, "error", run);
	CHECK_STR(text_at(heard, "field"), field);
	CHECK_STR(text_at(heard, "about"), "execute");
}

/* Numbers take more memory than their text. */
static void check_too_large(struct client *client) {
	gb_auto_buf struct gb_buf rest;
	gb_buf_init(&rest, 16 << 20);
	gb_buf_printf(&rest, ",\"source\":\"1\",\"args\":[1");
	for (int i = 0; i < 1500000; i++)
		gb_buf_append(&rest, ",1", 2);
	gb_buf_append_char(&rest, ']');
	check_wrong(client, 10, gb_buf_c_str(&rest), "args");
}

/* --- hello --- */

static const char *decides_of(struct client *client) {
	static char text[200];
	const struct gb_value *heard = client_expect(client, "embedder", -1);
	gb_auto_free char *json = gb_value_to_json(gb_value_get(heard, "decides"), 0, NULL, NULL);
	CHECK_INT(number_at(heard, "request"), 1);
	snprintf(text, sizeof text, "%s", json ? json : "");
	return text;
}

TEST(client_states_that_it_decides) {
	struct client client = serve(ASKING);
	client_say(&client, "{\"type\":\"hello\",\"request\":1,\"decides\":[\"actions\",\"executor\"]}");
	CHECK_STR(decides_of(&client), "[\"executor\",\"actions\"]");
	/* An execute is of another face: a person is asked. */
	client_say(&client, EXECUTE(1, "1", ""));
	client_expect(&client, "pending", 1);
	client_say(&client, "{\"type\":\"terminate\",\"run\":1}");
	client_expect(&client, "result", 1);
	CHECK_INT(end_file(&client), 0);
}

static void check_hello_refused(const char *decides, const char *field) {
	struct client client = serve(ASKING);
	client_say(&client, "{\"type\":\"hello\",\"request\":1,\"decides\":%s}", decides);
	const struct gb_value *heard = client_expect(&client, "error", -1);
	CHECK_STR(text_at(heard, "about"), "hello");
	CHECK_STR(text_at(heard, "field"), field);
	CHECK_INT(end_file(&client), 0);
}

TEST(client_cannot_decide_on_other_faces) {
	check_hello_refused("[\"executor\",\"execute_code\"]", "decides");
	check_hello_refused("[\"core_execute\"]", "decides");
	check_hello_refused("[\"run_code\"]", "decides");
	check_hello_refused("[\"everything\"]", "decides");
	check_hello_refused("[7]", "decides");
	check_hello_refused("true", "decides");
}

TEST(hello_is_the_first_message_or_refused) {
	struct client client = serve(ASKING);
	client_say(&client, "{\"type\":\"session_list\",\"request\":1}");
	client_expect(&client, "sessions", -1);
	client_say(&client, "{\"type\":\"hello\",\"request\":2,\"decides\":[\"actions\"]}");
	const struct gb_value *heard = client_expect(&client, "error", -1);
	CHECK_STR(text_at(heard, "code"), "refused");
	CHECK_INT(end_file(&client), 0);
}

TEST(errors_of_invalid_requests_name_the_field) {
	struct client client = serve(OPEN_TO_ALL);
	check_wrong(&client, 1, "", "source");
	check_wrong(&client, 2, ",\"source\":1", "source");
	check_wrong(&client, 3, ",\"source\":\"1\",\"language\":\"cobol\"", "language");
	check_wrong(&client, 4, ",\"source\":\"1\",\"session\":7", "session");
	check_wrong(&client, 5, ",\"source\":\"1\",\"session\":true", "conversation");
	check_wrong(&client, 6, ",\"source\":\"1\",\"tier\":\"all\"", "tier");
	check_wrong(&client, 7, ",\"source\":\"1\",\"options\":{}", "options");
	check_wrong(&client, 8, ",\"source\":\"1\",\"limits\":{\"timeoutMs\":0}", "limits.timeoutMs");
	check_wrong(&client, 9, ",\"source\":\"1\",\"args\":{}", "args");
	client_say(&client, EXECUTE(9, "1", ""));
	client_expect(&client, "error", -1);
	check_too_large(&client);
	/* No error of the request: what it asks for is refused. */
	client_say(&client, EXECUTE(11, "1", ",\"tier\":\"network\""));
	client_result(&client, 11, "denied");
	client_say(&client, EXECUTE(12, "print('1\\\\n', end='', flush=True)\\nwhile True: pass", ""));
	client_expect(&client, "output", 12);
	client_say(&client, "{\"type\":\"answer\",\"run\":12,\"call\":1,\"return\":1}");
	client_expect(&client, "error", 12);
	client_say(&client, "{\"type\":\"call\",\"run\":12,\"call\":1,\"function\":1}");
	client_expect(&client, "error", 12);
	client_say(&client, "{\"type\":\"interrupt\",\"run\":12}");
	client_result(&client, 12, "terminated");
	CHECK_INT(end_file(&client), 0);
}

TEST(limits_are_reduced_to_those_of_the_settings) {
	struct client client = serve(OPEN_TO_ALL "agent.maxExecutionTime: 210ms\n");
	client_say(&client, EXECUTE(1, "while True: pass", ",\"limits\":{\"timeoutMs\":60000}"));
	const struct gb_value *heard = client_result(&client, 1, "terminated");
	CHECK(strstr(text_at(heard, "result.error.message"), "210 ms"));
	CHECK_INT(end_file(&client), 0);
}

/* The log was removed: no result without a record is returned, and other runs continue. */
TEST(a_result_that_cannot_be_recorded_is_not_returned) {
	struct client client = serve(OPEN_TO_ALL);
	client_say(&client, EXECUTE(1, "print('1\\\\n', end='', flush=True)\\nwhile True: pass", ""));
	client_expect(&client, "output", 1);
	char aside[FOLDER + 40];
	snprintf(aside, sizeof aside, "%s.aside", file_in(state, "audit.db"));
	CHECK(rename(file_in(state, "audit.db"), aside) == 0);
	client_say(&client, "{\"type\":\"terminate\",\"run\":1}");
	hear_trouble("results of agents are withheld until they can be recorded");
	client_say(&client, EXECUTE(2, "print(2)", ""));
	const struct gb_value *heard = client_result(&client, 2, "denied");
	CHECK_STR(text_at(heard, "result.error.code"), "audit");
	client_say(&client, "{\"type\":\"run\",\"run\":3,\"source\":\"export default 6*7\"}");
	client_result(&client, 3, "success");
	CHECK(rename(aside, file_in(state, "audit.db")) == 0);
	client_result(&client, 1, "terminated");
	CHECK_INT(end_file(&client), 0);
}

TEST(a_request_that_waits_for_approval_does_not_block_other_runs) {
	configure(ASKING);
	struct client client = SERVE("--config", path, "--max-runs", "1");
	client_say(&client, EXECUTE(1, "1", ""));
	client_expect(&client, "pending", 1);
	client_say(&client, "{\"type\":\"run\",\"run\":2,\"source\":\"export default 6*7\"}");
	client_result(&client, 2, "success");
	CHECK_INT(client_end(&client), 0);
}

TEST(agents_are_told_to_retry_if_no_sandbox_is_free) {
	configure(OPEN_TO_ALL);
	struct client client = SERVE("--config", path, "--max-runs", "1");
	client_say(&client, "{\"type\":\"run\",\"run\":1,\"options\":{\"language\":\"python\"},\"source\":"
			    "\"print('1\\\\n', end='', flush=True)\\nwhile True: pass\"}");
	client_expect(&client, "output", 1);
	client_say(&client, EXECUTE(2, "1", ""));
	const struct gb_value *heard = client_result(&client, 2, "denied");
	CHECK_STR(text_at(heard, "result.error.code"), "too_many");
	client_say(&client, "{\"type\":\"terminate\",\"run\":1}");
	client_result(&client, 1, "terminated");
	/* A run of the client waits for the end of the agent's run, and not for its record: either result may
	 * come first. */
	client_say(&client, EXECUTE(3, "print('1\\\\n', end='', flush=True)\\nwhile True: pass", ""));
	client_expect(&client, "output", 3);
	client_say(
	    &client, "{\"type\":\"run\",\"run\":4,\"options\":{\"language\":\"python\"},\"source\":\"6*7\"}");
	client_say(&client, "{\"type\":\"terminate\",\"run\":3}");
	for (int i = 0; i < 2; i++) {
		heard = client_hear(&client);
		CHECK_STR(
		    text_at(heard, "result.status"), number_at(heard, "run") == 3 ? "terminated" : "success");
	}
	CHECK_INT(client_end(&client), 0);
}

/* Skip output and prompts before it. */
static const struct gb_value *hear_of(struct client *client, const char *type, int run) {
	const struct gb_value *heard;
	do
		heard = client_hear(client);
	while (heard && (strcmp(text_at(heard, "type"), type) != 0 || number_at(heard, "run") != run));
	return heard;
}

static const struct gb_value *hear_result(struct client *client, int run, const char *status) {
	const struct gb_value *heard = hear_of(client, "result", run);
	CHECK_STR(text_at(heard, "result.status"), status);
	return heard;
}

TEST(a_run_that_waits_for_input_is_answered_or_ends) {
	struct client client = serve(OPEN_TO_ALL);
	char session[33];
	client_say(&client,
	    "{\"type\":\"execute\",\"run\":1,\"language\":\"shell\",\"conversation\":\"c\","
	    "\"session\":true,\"source\":\"read -p 'a? ' x; echo got $x\",\"onInput\":\"wait\"}");
	const struct gb_value *heard = hear_of(&client, "prompt", 1);
	CHECK_STR(text_at(heard, "prompt"), "a? ");
	snprintf(session, sizeof session, "%s", text_at(heard, "session"));
	client_say(&client,
	    "{\"type\":\"input\",\"run\":2,\"conversation\":\"c\",\"session\":\"%s\",\"text\":\"it\\n\"}",
	    session);
	hear_result(&client, 2, "success");
	heard = hear_result(&client, 1, "success");
	CHECK(strstr(text_at(heard, "result.stdout"), "got it"));
	client_say(&client, "{\"type\":\"execute\",\"run\":3,\"language\":\"shell\",\"conversation\":\"c\","
			    "\"session\":true,\"source\":\"read -p 'b? ' x\"}");
	heard = hear_result(&client, 3, "terminated");
	CHECK_STR(text_at(heard, "result.error.code"), "awaiting_input");
	CHECK(strstr(text_at(heard, "result.error.message"), "b? "));
	client_say(&client,
	    "{\"type\":\"input\",\"run\":4,\"conversation\":\"c\",\"session\":\"%s\",\"text\":\"x\"}",
	    session);
	heard = hear_result(&client, 4, "denied");
	CHECK_STR(text_at(heard, "result.error.code"), "not_awaiting_input");
	client_say(&client, "{\"type\":\"input\",\"run\":5,\"session\":\"s\",\"text\":\"x\"}");
	heard = hear_of(&client, "error", 5);
	CHECK_STR(text_at(heard, "field"), "conversation");
	client_say(&client, EXECUTE(6, "1", ",\"onInput\":\"wait\""));
	heard = hear_of(&client, "error", 6);
	CHECK_STR(text_at(heard, "field"), "onInput");
	CHECK_INT(end_file(&client), 0);
}

/* --- a database that another process keeps locked --- */

static void check_lock(const char *database) {
	auto_locker struct locker locker = locker_start();
	char address[100];
	snprintf(address, sizeof address, "%s/socket", folder);
	configure("agent: {enabled: true}\nenergy: {faces: [execute_code]}\n");
	struct client server =
	    client_start((const char *const[]){"--config", path, "--socket", address, NULL});
	struct client agent = client_connect(address), other = client_connect(address);
	client_expect(&agent, "hello", -1);
	client_expect(&other, "hello", -1);
	CHECK(locker_lock(&locker, file_in(state, database)));
	client_say(&agent, "{\"type\":\"hello\",\"request\":1,\"decides\":[]}");
	client_expect(&agent, "embedder", -1);
	client_say(&agent, EXECUTE(1, "6 * 7", ",\"conversation\":\"%s\",\"turn\":\"t\""), database);
	/* Neither a run of another client nor one of the same client waits for the lock. */
	client_say(&other, "{\"type\":\"run\",\"run\":1,\"source\":\"export default 1\"}");
	client_result(&other, 1, "success");
	if (strcmp(database, "turns.db") == 0 || strcmp(database, "approvals.db") == 0) {
		client_say(&agent, "{\"type\":\"run\",\"run\":2,\"source\":\"export default 1\"}");
		client_result(&agent, 2, "success");
		CHECK(locker_release(&locker));
	}
	const struct gb_value *heard = client_expect(&agent, "pending", 1);
	decide_in(state, text_at(heard, "approval"), GB_APPROVE);
	if (strcmp(database, "energy.db") == 0 || strcmp(database, "audit.db") == 0) {
		client_say(&agent, "{\"type\":\"run\",\"run\":2,\"source\":\"export default 1\"}");
		client_result(&agent, 2, "success");
		CHECK(locker_release(&locker));
	}
	heard = client_result(&agent, 1, "success");
	CHECK_INT(number_at(heard, "result.result"), 42);
	client_shut(&agent);
	client_shut(&other);
	kill(server.pid, SIGTERM);
	CHECK_INT(client_end(&server), 0);
}

TEST(a_locked_database_delays_only_requests_that_need_it) {
	check_lock("turns.db");
	check_lock("energy.db");
	check_lock("approvals.db");
	check_lock("audit.db");
}
