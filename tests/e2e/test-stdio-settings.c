/* 'glovebox stdio' with settings, and settings that are reloaded while it serves. */
#include "e2e/served.h"

#define LOOP "for(;;);"
/* A time limit for runs that reach another limit first. */
#define LONG ",\"limits\":{\"timeoutMs\":60000}"

/* Check that a loop is ended after @ms. */
static void check_time(struct client *client, int run, const char *limits, const char *ms) {
	client_say(client, "{\"type\":\"run\",\"run\":%d,\"source\":\"" LOOP "\"%s}", run, limits);
	const struct gb_value *heard = client_result(client, run, "terminated");
	CHECK_STR(text_at(heard, "result.error.code"), "timeout");
	if (!CHECK(strstr(text_at(heard, "result.error.message"), ms)))
		printf("# expected %s: %s\n", ms, text_at(heard, "result.error.message"));
}

TEST(a_run_without_limits_has_those_of_the_settings) {
	struct client client = SERVE("--set", "limits.javascript.timeout=1210ms", "--set",
	    "limits.javascript.memory=8M", "--set", "limits.javascript.output=1K");
	check_time(&client, 1, "", "1210 ms");
	client_say(&client,
	    "{\"type\":\"run\",\"run\":2,\"source\":\"export default new ArrayBuffer(2e7).byteLength\"" LONG
	    "}");
	client_result(&client, 2, "memory");
	client_say(&client, "{\"type\":\"run\",\"run\":3,\"source\":\"for (let i = 0; i < 100; i++) "
			    "console.log('x'.repeat(100))\"" LONG "}");
	const struct gb_value *heard;
	do
		heard = client_hear(&client);
	while (strcmp(text_at(heard, "type"), "log") == 0);
	CHECK(gb_value_is_true(at(heard, "result.truncated")));
	CHECK_INT(client_end(&client), 0);
}

TEST(limits_above_the_maximum_are_reduced_to_it) {
	struct client client =
	    SERVE("--set", "limits.javascript.maxTimeout=5020ms", "--set", "limits.javascript.maxMemory=8M");
	check_time(&client, 1, LONG, "5020 ms");
	client_say(&client, "{\"type\":\"run\",\"run\":2,\"options\":{\"memoryLimitBytes\":9007199254740991},"
			    "\"source\":\"export default new ArrayBuffer(2e7).byteLength\"}");
	client_result(&client, 2, "memory");
	check_time(&client, 3, ",\"limits\":{\"timeoutMs\":110}", "110 ms");
	CHECK_INT(client_end(&client), 0);
}

TEST(the_flag_overrides_the_settings) {
	struct client client = SERVE("--timeout", "230ms", "--set", "limits.javascript.timeout=60ms", "--set",
	    "limits.javascript.maxTimeout=70ms");
	check_time(&client, 1, "", "230 ms");
	check_time(&client, 2, ",\"limits\":{\"timeoutMs\":60000}", "230 ms");
	CHECK_INT(client_end(&client), 0);
}

TEST(each_language_has_its_own_limits_also_in_a_session) {
	struct client client = SERVE("--set", "limits.python.timeout=300ms");
	client_say(
	    &client, "{\"type\":\"session_open\",\"request\":1,\"name\":\"s\",\"language\":\"python\"}");
	client_expect(&client, "session", -1);
	client_say(&client, "{\"type\":\"run\",\"run\":1,\"session\":\"s\",\"source\":\"while True: pass\"}");
	const struct gb_value *heard = client_result(&client, 1, "terminated");
	CHECK(strstr(text_at(heard, "result.error.message"), "300 ms"));
	CHECK_INT(client_end(&client), 0);
}

TEST(the_numbers_of_sessions_and_queued_runs_are_those_of_the_settings) {
	struct client client = SERVE("--set", "sessions.max=1", "--set", "sessions.queue=0");
	client_say(&client, "{\"type\":\"session_open\",\"request\":1,\"name\":\"a\"}");
	client_expect(&client, "session", -1);
	client_say(&client, "{\"type\":\"session_open\",\"request\":2,\"name\":\"b\"}");
	const struct gb_value *heard = client_expect(&client, "error", -1);
	CHECK(strstr(text_at(heard, "message"), "which is the limit"));
	client_say(
	    &client, "{\"type\":\"run\",\"run\":1,\"session\":\"a\",\"source\":\"console.log(1);" LOOP "\"}");
	client_expect(&client, "log", 1);
	client_say(&client, "{\"type\":\"run\",\"run\":2,\"session\":\"a\",\"source\":\"2\"}");
	heard = client_expect(&client, "error", 2);
	CHECK(strstr(text_at(heard, "message"), "which is the limit"));
	client_say(&client, "{\"type\":\"interrupt\",\"run\":1}");
	client_result(&client, 1, "terminated");
	CHECK_INT(client_end(&client), 0);
}

TEST(programs_and_profiles_of_the_settings_are_used) {
	struct client client = SERVE(
	    "--set", "programs.shell=/nowhere/bash", "--set", "python.profiles={texts: [textwrap, difflib]}");
	client_say(&client,
	    "{\"type\":\"run\",\"run\":1,\"source\":\"echo 1\",\"options\":{\"language\":\"shell\"}}");
	const struct gb_value *heard = client_expect(&client, "error", 1);
	CHECK(strstr(text_at(heard, "message"), "/nowhere/bash"));
	client_say(&client, "{\"type\":\"run\",\"run\":2,\"options\":{\"language\":\"python\",\"profile\":"
			    "\"texts\"},\"source\":\"import sys; 'difflib' in sys.modules\"}");
	heard = client_result(&client, 2, "success");
	CHECK(gb_value_is_true(at(heard, "result.result")));
	CHECK_INT(client_end(&client), 0);
}

TEST(invalid_settings_are_a_usage_error) {
	struct client client =
	    client_start((const char *const[]){"--set", "limits.javascript.timeout=soon", NULL});
	CHECK(!client_line(&client));
	CHECK_INT(client_end(&client), 2);
}

TEST(reloaded_settings_apply_to_later_runs) {
	configure("limits: {javascript: {timeout: 240ms}}\nsessions: {max: 1}\n");
	struct client client = serve_file();
	check_time(&client, 1, "", "240 ms");
	client_say(&client, "{\"type\":\"session_open\",\"request\":1,\"name\":\"a\"}");
	client_expect(&client, "session", -1);
	configure("limits: {javascript: {timeout: 250ms}}\nsessions: {max: 2}\n");
	check_time(&client, 2, "", "240 ms");
	read_again(&client, "settings were read again: ");
	check_time(&client, 3, "", "250 ms");
	client_say(&client, "{\"type\":\"session_open\",\"request\":2,\"name\":\"b\"}");
	client_expect(&client, "session", -1);
	client_say(&client, "{\"type\":\"session_open\",\"request\":3,\"name\":\"c\"}");
	client_expect(&client, "error", -1);
	CHECK_INT(end_file(&client), 0);
}

TEST(invalid_settings_are_not_applied_by_a_reload) {
	configure("limits: {javascript: {timeout: 260ms}}\n");
	struct client client = serve_file();
	configure("limits:\n  javascript:\n    timeout: soon\n    maxTimeout: 1s\n");
	read_again(&client, "glovebox.yaml:3:14: limits.javascript.timeout: expected a duration");
	check_time(&client, 1, "", "260 ms");
	unlink(path);
	read_again(&client, "settings stay as they were: --config");
	check_time(&client, 2, "", "260 ms");
	configure("limits: {javascript: {timeout: 270ms}}\n");
	read_again(&client, "settings were read again");
	check_time(&client, 3, "", "270 ms");
	CHECK_INT(end_file(&client), 0);
}

TEST(a_running_run_keeps_its_settings) {
	configure("limits: {javascript: {timeout: 50s, memory: 64M}}\n");
	struct client client = serve_file();
	client_say(&client, "{\"type\":\"run\",\"run\":1,\"source\":\"f(); const b = new ArrayBuffer(2e7); "
			    "export default b.byteLength\",\"options\":{\"globals\":{\"f\":"
			    "{\"$type\":\"function\",\"id\":1}}}}");
	client_expect(&client, "call", 1);
	configure("limits: {javascript: {timeout: 1ms, memory: 8M}}\n");
	read_again(&client, "settings were read again");
	usleep(20000);
	client_say(&client, "{\"type\":\"answer\",\"run\":1,\"call\":1,\"return\":null}");
	const struct gb_value *heard = client_result(&client, 1, "success");
	CHECK_INT(number_at(heard, "result.result"), 20000000);
	CHECK_INT(end_file(&client), 0);
}

TEST(settings_that_need_a_restart_are_reported) {
	configure("programs: {node: /usr/bin/node}\n");
	struct client client = serve_file();
	configure("programs: {node: /opt/node}\npython: {profiles: {a: [json]}}\n");
	read_again(&client, "these take effect after a restart: programs.node, python.profiles");
	CHECK_INT(end_file(&client), 0);
}

/* --- secrets that clients register --- */

#define SECRET "correct horse battery"

static void add_secret(struct client *client, const char *value) {
	client_say(client, "{\"type\":\"secret_add\",\"request\":1,\"name\":\"X\",\"value\":\"%s\"}", value);
	client_expect(client, "secret", -1);
}

TEST(secret_that_is_registered_after_a_reload_is_masked_in_a_run_that_began_before) {
	configure("sessions: {max: 1}\n");
	struct client client = serve_file();
	add_secret(&client, "another secret");
	client_say(&client, "{\"type\":\"run\",\"run\":1,\"source\":\"f(); console.log(['correct', 'horse', "
			    "'battery'].join(' '))\",\"options\":{\"globals\":{\"f\":"
			    "{\"$type\":\"function\",\"id\":1}}}}");
	client_expect(&client, "call", 1);
	configure("sessions: {max: 2}\n");
	read_again(&client, "settings were read again");
	add_secret(&client, SECRET);
	client_say(&client, "{\"type\":\"answer\",\"run\":1,\"call\":1,\"return\":null}");
	const struct gb_value *heard = client_expect(&client, "log", 1);
	size_t n;
	CHECK_STR(gb_value_bytes(gb_value_at(at(heard, "args"), 0), &n), "***");
	client_result(&client, 1, "success");
	CHECK_INT(end_file(&client), 0);
}

TEST(why_a_session_has_ended_is_masked_in_errors) {
	struct client client = client_ready(NULL);
	add_secret(&client, SECRET);
	client_say(&client, "{\"type\":\"session_open\",\"request\":2,\"name\":\"w\"}");
	client_expect(&client, "session", -1);
	client_say(
	    &client, "{\"type\":\"session_kill\",\"request\":3,\"session\":\"w\",\"reason\":\"" SECRET "\"}");
	CHECK_STR(text_at(client_expect(&client, "session", -1), "session.reason"), "***");
	client_say(&client, "{\"type\":\"run\",\"run\":1,\"source\":\"1\",\"session\":\"w\"}");
	CHECK(strstr(text_at(client_expect(&client, "error", 1), "message"), "has ended: ***"));
	client_say(&client, "{\"type\":\"session_interrupt\",\"request\":4,\"session\":\"w\"}");
	CHECK(strstr(text_at(client_expect(&client, "error", -1), "message"), "has ended: ***"));
	CHECK_INT(client_end(&client), 0);
}

static void configure_agents(const char *more) {
	char text[500];
	snprintf(text, sizeof text, "stateDir: %s/state\nagent: {enabled: true, %s}\n", folder, more);
	configure(text);
}

/* The session of a request that waits for a person ends, for a reason that is a secret; then other rules make the gate
 * admit the request again, which refuses it. */
TEST(refusals_by_a_reload_are_masked) {
	configure_agents("autoApprove: true");
	struct client client = serve_file();
	client_say(&client, "{\"type\":\"execute\",\"run\":1,\"source\":\"1\",\"language\":\"python\","
			    "\"session\":true,\"conversation\":\"c\"}");
	char session[64];
	snprintf(session, sizeof session, "%s", text_at(client_result(&client, 1, "success"), "session"));
	configure_agents("autoApprove: false");
	read_again(&client, "settings were read again");
	add_secret(&client, SECRET);
	client_say(&client,
	    "{\"type\":\"execute\",\"run\":2,\"source\":\"1\",\"language\":\"python\",\"session\":\"%s\","
	    "\"conversation\":\"c\"}",
	    session);
	client_expect(&client, "pending", 2);
	client_say(&client,
	    "{\"type\":\"session_kill\",\"request\":2,\"session\":\"%s\",\"agent\":true,\"reason\":\"" SECRET
	    "\"}",
	    session);
	client_expect(&client, "session", -1);
	configure_agents("autoApprove: false, maxCodeSize: 5000");
	read_again(&client, "settings were read again");
	const struct gb_value *heard = client_result(&client, 2, "denied");
	if (!CHECK(strstr(text_at(heard, "result.error.message"), "***")))
		printf("# %s\n", text_at(heard, "result.error.message"));
	CHECK_INT(end_file(&client), 0);
	char command[200];
	snprintf(command, sizeof command, "rm -rf %s/state", folder);
	CHECK(system(command) == 0);
}
