/* Sessions and Python over the protocol. */
#include "e2e/screen.h"
#include "e2e/stdio.h"

#define RUN(number, rest)     "{\"type\":\"run\",\"run\":" #number "," rest "}"
#define SESSION(action, rest) "{\"type\":\"session_" action "\",\"request\":1" rest "}"

static const struct gb_value *ask(struct client *client, const char *line) {
	client_say(client, "%s", line);
	return client_hear(client);
}

static void open_named(struct client *client, const char *name) {
	client_say(client,
	    "{\"type\":\"session_open\",\"request\":7,\"name\":\"%s\",\"language\":\"javascript\"}", name);
	const struct gb_value *reply = client_hear(client);
	CHECK_STR(text_at(reply, "type"), "session");
	CHECK_INT(number_at(reply, "request"), 7);
	CHECK_STR(text_at(reply, "session.name"), name);
}

TEST(python_runs_with_its_options) {
	struct client client = client_ready(NULL);
	client_say(&client,
	    RUN(1, "\"source\":\"import sys\\nprint(input())\\nprint('e', file=sys.stderr)\\n"
		   "open('out','w').write(open('in').read())\\n6*7\",\"options\":{\"language\":\"python\","
		   "\"stdin\":\"hé\\n\",\"files\":{\"in\":\"given\"}}"));
	char out[100] = "", err[100] = "";
	const struct gb_value *said;
	while ((said = client_hear(&client)) && strcmp(text_at(said, "type"), "output") == 0)
		strcat(strcmp(text_at(said, "stream"), "stdout") == 0 ? out : err, text_at(said, "text"));
	CHECK_STR(out, "hé\n");
	CHECK_STR(err, "e\n");
	CHECK_STR(text_at(said, "type"), "result");
	CHECK_INT(number_at(said, "result.result"), 42);
	CHECK(at(said, "result.files.out"));
	CHECK_INT(client_end(&client), 0);
}

/* The program writes single bytes; every piece of output is valid text. */
TEST(pieces_of_output_are_whole_characters) {
	struct client client = client_ready(NULL);
	client_say(
	    &client, RUN(1, "\"source\":\"import sys, time\\nfor b in 'aé€😀'.encode() + b'\\\\xff\\\\xe2':\\n"
			    "  sys.stdout.buffer.write(bytes([b])); sys.stdout.flush(); time.sleep(0.02)\","
			    "\"options\":{\"language\":\"python\"}"));
	char out[100] = "";
	const struct gb_value *said;
	while ((said = client_hear(&client)) && strcmp(text_at(said, "type"), "output") == 0)
		strcat(out, text_at(said, "text"));
	CHECK_STR(out, "aé€😀\xef\xbf\xbd\xef\xbf\xbd");
	CHECK_INT(client_end(&client), 0);
}

TEST(a_session_keeps_its_variables) {
	struct client client = client_ready(NULL);
	open_named(&client, "s");
	client_say(&client, RUN(1, "\"session\":\"s\",\"source\":\"let x = 20\""));
	client_result(&client, 1, "success");
	client_say(&client, RUN(2, "\"session\":\"s\",\"source\":\"console.log(x); x * 2 + 2\""));
	client_expect(&client, "log", 2);
	CHECK_INT(number_at(client_result(&client, 2, "success"), "result.result"), 42);
	const struct gb_value *reply = ask(&client, SESSION("get", ",\"session\":\"s\""));
	CHECK_INT(number_at(reply, "session.executionCount"), 2);
	CHECK_STR(text_at(reply, "session.state"), "idle");
	CHECK_STR(text_at(reply, "session.runtime"), "javascript");
	CHECK_INT(strlen(text_at(reply, "session.id")), 32);
	client_say(&client, RUN(3, "\"session\":\"s\",\"source\":\"typeof x\",\"options\":{\"reset\":true}"));
	CHECK_STR(text_at(client_result(&client, 3, "success"), "result.result"), "undefined");
	CHECK_INT(client_end(&client), 0);
}

TEST(runs_of_a_session_are_queued_and_can_be_removed) {
	struct client client = client_ready(NULL);
	open_named(&client, "s");
	client_say(&client, RUN(1, "\"session\":\"s\",\"source\":\"var x = 1; console.log(x); for (;;);\""));
	client_expect(&client, "log", 1);
	client_say(&client, RUN(2, "\"session\":\"s\",\"source\":\"x = 2\""));
	client_say(&client, RUN(3, "\"session\":\"s\",\"source\":\"x\""));
	client_say(&client, "{\"type\":\"terminate\",\"run\":2,\"reason\":\"no\"}");
	CHECK_STR(text_at(client_result(&client, 2, "terminated"), "result.error.message"), "no");
	const struct gb_value *reply = ask(&client, SESSION("get", ",\"session\":\"s\""));
	CHECK_STR(text_at(reply, "session.state"), "executing");
	CHECK_INT(number_at(reply, "session.queued"), 1);
	client_say(&client, "{\"type\":\"interrupt\",\"run\":1}");
	CHECK_STR(text_at(client_result(&client, 1, "terminated"), "result.error.code"), "interrupted");
	CHECK_INT(number_at(client_result(&client, 3, "success"), "result.result"), 1);
	CHECK_INT(client_end(&client), 0);
}

TEST(a_session_is_killed_with_its_runs) {
	struct client client = client_ready(NULL);
	open_named(&client, "s");
	client_say(&client, RUN(1, "\"session\":\"s\",\"source\":\"for (;;);\""));
	client_say(&client, SESSION("kill", ",\"session\":\"s\",\"reason\":\"enough\""));
	CHECK_STR(text_at(client_result(&client, 1, "terminated"), "result.error.message"), "enough");
	const struct gb_value *reply = client_hear(&client);
	CHECK_STR(text_at(reply, "session.state"), "terminated");
	CHECK_STR(text_at(reply, "session.reason"), "enough");
	reply = ask(&client, SESSION("list", ""));
	CHECK_INT(gb_value_count(at(reply, "sessions")), 1);
	CHECK_STR(text_at(reply, "sessions.0.reason"), "enough");
	CHECK_INT(client_end(&client), 0);
}

TEST(conversations) {
	struct client client = client_ready(NULL);
	const struct gb_value *reply = ask(
	    &client, SESSION("open", ",\"conversation\":\"c\",\"language\":\"typescript\",\"reuse\":true"));
	char id[40];
	snprintf(id, sizeof id, "%s", text_at(reply, "session.id"));
	reply = ask(&client, SESSION("open", ",\"conversation\":\"c\",\"reuse\":true"));
	CHECK_STR(text_at(reply, "session.id"), id);
	CHECK_STR(text_at(reply, "session.conversationId"), "c");
	reply = ask(&client, SESSION("open", ",\"conversation\":\"c\""));
	CHECK(strcmp(text_at(reply, "session.id"), id) != 0);
	client_say(&client,
	    "{\"type\":\"session_update\",\"request\":2,\"session\":\"%s\",\"trusted\":true,\"addTokens\":"
	    "12}",
	    id);
	reply = client_hear(&client);
	CHECK_INT(number_at(reply, "session.totalTokens"), 12);
	CHECK(gb_value_is_true(at(reply, "session.trusted")));
	reply = ask(&client, SESSION("cleanup", ",\"conversation\":\"c\""));
	CHECK_STR(text_at(reply, "type"), "cleaned");
	CHECK_INT(number_at(reply, "count"), 2);
	CHECK_INT(client_end(&client), 0);
}

static void complains(struct client *client, const char *line, const char *code, const char *words) {
	const struct gb_value *reply = ask(client, line);
	CHECK_STR(text_at(reply, "type"), "error");
	CHECK_STR(text_at(reply, "code"), code);
	if (!CHECK(strstr(text_at(reply, "message"), words)))
		printf("#   %s\n", text_at(reply, "message"));
}

TEST(errors_name_the_invalid_field_or_session) {
	struct client client = client_ready(NULL);
	open_named(&client, "s");
	complains(&client, RUN(1, "\"session\":\"nobody\",\"source\":\"1\""), "unknown_session", "nobody");
	complains(&client, SESSION("kill", ",\"session\":\"nobody\""), "unknown_session", "nobody");
	complains(&client, SESSION("interrupt", ",\"session\":\"s\""), "invalid", "nothing executes");
	complains(
	    &client, SESSION("send", ",\"session\":\"s\",\"text\":\"y\\n\""), "refused", "takes no input");
	complains(&client, SESSION("open", ",\"name\":\"s\""), "invalid", "already");
	complains(&client, SESSION("open", ",\"name\":\"a b\""), "invalid", "name: ");
	complains(&client, SESSION("open", ",\"language\":\"cobol\""), "invalid", "language: must be");
	complains(&client, SESSION("open", ",\"profile\":\"x\""), "invalid", "profile: ");
	complains(&client, SESSION("update", ",\"session\":\"s\",\"trusted\":1"), "invalid", "trusted: ");
	complains(&client, SESSION("cleanup", ""), "invalid", "conversation: is missing");
	complains(&client, "{\"type\":\"session_get\",\"session\":\"s\"}", "invalid", "request: is missing");
	client_say(&client, RUN(2, "\"source\":\"for (;;);\""));
	complains(&client, "{\"type\":\"interrupt\",\"run\":2}", "invalid", "not in a session");
	const struct gb_value *reply = ask(&client, SESSION("get", ",\"session\":7"));
	CHECK_INT(number_at(reply, "request"), 1);
	CHECK_STR(text_at(reply, "about"), "session_get");
	CHECK_INT(client_end(&client), 0);
}

/* The next message of @type; others are skipped. */
static const struct gb_value *hear_type(struct client *client, const char *type) {
	const struct gb_value *said;
	while ((said = client_hear(client)) && strcmp(text_at(said, "type"), type) != 0)
		continue;
	CHECK(said);
	return said;
}

TEST(prompts_are_reported_and_answered) {
	struct client client = client_ready(NULL);
	ask(&client, SESSION("open", ",\"name\":\"sh\",\"language\":\"shell\""));
	client_say(&client, RUN(1, "\"session\":\"sh\",\"source\":\"read -p 'one? ' a; read -p 'two? ' b; "
				   "echo \\\"=$a,$b\\\"\""));
	const struct gb_value *said = hear_type(&client, "prompt");
	CHECK_INT(number_at(said, "run"), 1);
	CHECK_INT(strlen(text_at(said, "session")), 32);
	CHECK_STR(text_at(said, "prompt"), "one? ");
	said = ask(&client, SESSION("get", ",\"session\":\"sh\""));
	CHECK_STR(text_at(said, "session.state"), "awaiting_input");
	CHECK_STR(text_at(said, "session.prompt"), "one? ");
	client_say(&client, SESSION("send", ",\"session\":\"sh\",\"text\":\"x\\n\""));
	CHECK_STR(text_at(hear_type(&client, "prompt"), "prompt"), "two? ");
	client_say(&client, SESSION("send", ",\"session\":\"sh\",\"text\":{\"$type\":\"Uint8Array\","
					    "\"data\":\"eQo=\"}"));
	said = hear_type(&client, "result");
	CHECK(strstr(text_at(said, "result.stdout"), "=x,y"));
	complains(&client, SESSION("send", ",\"session\":\"sh\",\"text\":7"), "invalid", "text: must be");
	complains(&client, SESSION("send", ",\"session\":\"sh\",\"text\":\"x\""), "refused", "nothing runs");
	CHECK_INT(client_end(&client), 0);
}

/* Receive output of @client's terminal until it contains @text. */
static bool sees(struct client *client, struct screen *screen, const char *text) {
	bool shown;
	const struct gb_value *said;
	while (!(shown = screen_shows(screen, text)) && (said = client_hear(client))) {
		size_t n = 0;
		const char *bytes = gb_value_bytes(at(said, "bytes"), &n);
		if (strcmp(text_at(said, "type"), "terminal") != 0)
			continue;
		CHECK_INT(strlen(text_at(said, "session")), 32);
		screen_add(screen, bytes, n);
	}
	return screen_check(screen, text, shown);
}

/* A server with a socket, for several clients. */
struct place {
	char path[100];
	struct client server;
};

static struct place serve(void) {
	struct place place;
	snprintf(place.path, sizeof place.path, "/tmp/gb-sessions-%d.sock", (int)getpid());
	place.server = client_start((const char *const[]){"--socket", place.path, NULL});
	return place;
}

static struct client join(const struct place *place) {
	struct client client = client_connect(place->path);
	client_expect(&client, "hello", -1);
	return client;
}

static void stop(struct place *place) {
	kill(place->server.pid, SIGTERM);
	CHECK_INT(client_end(&place->server), 0);
}

TEST(terminals_over_the_protocol) {
	static struct screen ones, twos;
	struct place place = serve();
	struct client one = join(&place), two = join(&place);
	ask(&one, SESSION("open", ",\"name\":\"sh\",\"language\":\"shell\""));
	complains(&one, SESSION("detach", ",\"session\":\"sh\""), "invalid", "not attached");
	complains(
	    &one, SESSION("resize", ",\"session\":\"sh\",\"columns\":0,\"rows\":1"), "invalid", "columns: ");
	const struct gb_value *said = ask(&one, SESSION("attach", ",\"session\":\"sh\""));
	CHECK(gb_value_is_true(at(said, "session.attached")));
	complains(&two, SESSION("attach", ",\"session\":\"sh\""), "refused", "another client is attached");
	complains(&two, SESSION("detach", ",\"session\":\"sh\""), "invalid", "not attached");
	/* Input before the prompt may be discarded, as at any terminal. */
	sees(&one, &ones, "$ ");
	client_say(&one, SESSION("resize", ",\"session\":\"sh\",\"columns\":44,\"rows\":11"));
	client_say(&one, SESSION("send", ",\"session\":\"sh\",\"text\":\"stty size; printf '\\\\377!'\\r\""));
	sees(&one, &ones, "11 44\r\n");
	sees(&one, &ones, "\377!");
	sees(&one, &ones, "$ ");
	said = ask(&two, SESSION("attach", ",\"session\":\"sh\",\"steal\":true"));
	CHECK_STR(text_at(said, "type"), "session");
	said = hear_type(&one, "detached");
	CHECK(!gb_value_is_true(at(said, "ended")));
	CHECK(strstr(text_at(said, "reason"), "another client"));
	client_say(&two, SESSION("resize", ",\"session\":\"sh\",\"columns\":80,\"rows\":24"));
	client_say(&two, SESSION("send", ",\"session\":\"sh\",\"text\":\"stty size\\r\""));
	sees(&two, &twos, "24 80\r\n");
	client_say(&one, SESSION("kill", ",\"session\":\"sh\",\"reason\":\"over\""));
	CHECK_STR(text_at(hear_type(&one, "session"), "session.reason"), "over");
	said = hear_type(&two, "detached");
	CHECK(gb_value_is_true(at(said, "ended")));
	CHECK_STR(text_at(said, "reason"), "over");
	/* After a disconnect another client can attach. */
	ask(&two, SESSION("open", ",\"name\":\"sh\",\"language\":\"shell\""));
	ask(&two, SESSION("attach", ",\"session\":\"sh\""));
	client_shut(&two);
	do
		said = ask(&one, SESSION("attach", ",\"session\":\"sh\""));
	while (said && strcmp(text_at(said, "code"), "refused") == 0);
	client_say(&one, SESSION("detach", ",\"session\":\"sh\""));
	while ((said = client_hear(&one)) && strcmp(text_at(said, "type"), "session") != 0)
		continue;
	CHECK(!at(said, "session.attached"));
	client_shut(&one);
	stop(&place);
}

TEST(sessions_outlive_their_clients) {
	struct place place = serve();
	struct client first = join(&place);
	open_named(&first, "s");
	client_say(&first, RUN(1, "\"session\":\"s\",\"source\":\"var x = 3; 1\""));
	client_result(&first, 1, "success");
	client_say(&first, RUN(2, "\"session\":\"s\",\"source\":\"for (;;);\""));
	client_say(&first, RUN(3, "\"session\":\"s\",\"source\":\"x = 4\""));
	usleep(100000);
	client_shut(&first);
	struct client second = join(&place);
	client_say(&second, RUN(1, "\"session\":\"s\",\"source\":\"x\""));
	CHECK_INT(number_at(client_result(&second, 1, "success"), "result.result"), 3);
	client_shut(&second);
	stop(&place);
}

TEST(a_client_may_disconnect_while_its_call_is_pending) {
	struct place place = serve();
	struct client first = join(&place);
	open_named(&first, "s");
	client_say(&first,
	    RUN(1, "\"session\":\"s\",\"source\":\"await f(() => new Promise(() => {}))\",\"options\":{"
		   "\"globals\":{\"f\":{\"$type\":\"function\",\"id\":7,\"name\":\"f\"}}}"));
	client_expect(&first, "call", 1);
	client_say(&first, "{\"type\":\"answer\",\"run\":1,\"call\":1,\"promise\":true}");
	client_say(&first, "{\"type\":\"call\",\"run\":1,\"call\":1,\"function\":0,\"args\":[]}");
	usleep(100000);
	client_shut(&first);
	/* The run is interrupted, and its result is discarded. */
	struct client second = join(&place);
	client_say(&second, RUN(1, "\"session\":\"s\",\"source\":\"6 * 7\""));
	CHECK_INT(number_at(client_result(&second, 1, "success"), "result.result"), 42);
	client_shut(&second);
	stop(&place);
}
