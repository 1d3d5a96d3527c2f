/* A 'terminate' or 'session_kill' ends the run or session for any value of its reason. */
#include "e2e/stdio.h"

#define FOREVER           "\"source\":\"for(;;);\""
#define RUN(number, rest) "{\"type\":\"run\",\"run\":" #number "," rest "}"

/* Send a line about run 1, which loops, and receive its result. @expected is the error message. */
static void check_ends(const char *line, bool refused, const char *expected) {
	struct client client = client_ready(NULL);
	client_say(&client, RUN(1, FOREVER));
	client_say(&client, "%s", line);
	if (refused)
		CHECK_STR(text_at(client_expect(&client, "error", 1), "about"), "terminate");
	const struct gb_value *heard = client_result(&client, 1, "terminated");
	if (!CHECK_STR(text_at(heard, "result.error.message"), expected))
		printf("# %.200s\n", line);
	CHECK_STR(text_at(heard, "result.error.code"), "terminated");
	CHECK(!at(heard, "result.memoryUsedBytes"));
	CHECK_INT(client_end(&client), 0);
}

#define DEFAULT "terminated by the caller"

TEST(a_reason_of_any_kind_ends_the_run) {
	check_ends("{\"type\":\"terminate\",\"run\":1,\"reason\":\"a\\u0000b\"}", false,
	    "a\xef\xbf\xbd"
	    "b");
	check_ends("{\"type\":\"terminate\",\"run\":1,\"reason\":\"\"}", false, "");
	check_ends("{\"type\":\"terminate\",\"run\":1,\"reason\":\"a\\ud800\"}", false, "a\xed\xa0\x80");
	check_ends("{\"type\":\"terminate\",\"run\":1,\"reason\":17}", false, DEFAULT);
	check_ends("{\"type\":\"terminate\",\"run\":1,\"reason\":null}", false, DEFAULT);
	check_ends("{\"type\":\"terminate\",\"run\":1,\"reason\":{\"$type\":\"undefined\"}}", false, DEFAULT);
}

TEST(a_rejected_terminate_still_ends_the_run) {
	check_ends("{\"type\":\"terminate\",\"run\":1,\"why\":\"x\"}", true, DEFAULT);
	check_ends("{\"type\":\"terminate\",\"run\":1,\"reason\":\"\xff\"}", true, DEFAULT);
	check_ends("{\"type\":\"terminate\",\"run\":1,\"reason\":{\"$type\":\"Socket\"}}", true, DEFAULT);
	check_ends("{\"type\":\"terminate\",\"run\":1,\"reason\":\"x\"", true, DEFAULT);
}

TEST(a_long_reason_is_cut_at_a_character_boundary) {
	enum { EUROS = 40000, KEPT = 4095 / 3 * 3 };
	struct client client = client_ready(NULL);
	gb_auto_buf struct gb_buf line;
	gb_buf_init(&line, 1 << 20);
	gb_buf_printf(&line, "{\"type\":\"terminate\",\"run\":1,\"reason\":\"");
	for (int i = 0; i < EUROS; i++)
		gb_buf_printf(&line, "€");
	gb_buf_printf(&line, "\"}");
	client_say(&client, RUN(1, FOREVER));
	client_say(&client, "%s", gb_buf_c_str(&line));
	const struct gb_value *heard = client_result(&client, 1, "terminated");
	CHECK_INT(strlen(text_at(heard, "result.error.message")), KEPT);
	CHECK_INT(client_end(&client), 0);
}

TEST(a_terminate_longer_than_the_line_limit_ends_the_run) {
	enum { MIB = 1 << 20, LONGEST = 128 };
	static char block[MIB + 1];
	struct client client = client_ready(NULL);
	static const char begin[] = "{\"type\":\"terminate\",\"run\":1,\"reason\":\"";
	client_say(&client, RUN(1, FOREVER));
	memset(block, 'x', MIB);
	CHECK(client_say_bytes(&client, begin, strlen(begin)));
	for (int i = 0; i < LONGEST; i++)
		CHECK(client_say_bytes(&client, block, MIB));
	client_say(&client, "\"}");
	const struct gb_value *heard = client_expect(&client, "error", 1);
	CHECK_STR(text_at(heard, "code"), "too_long");
	CHECK_STR(text_at(heard, "about"), "terminate");
	client_result(&client, 1, "terminated");
	CHECK_INT(client_end(&client), 0);
}

/* A terminate without the number of an active run ends no run. */
TEST(a_rejected_terminate_of_an_unknown_run_ends_no_run) {
	struct client client = client_ready(NULL);
	client_say(&client, RUN(1, "\"source\":\"export default 1\""));
	client_result(&client, 1, "success");
	client_say(&client, RUN(2, FOREVER));
	client_say(&client, "{\"type\":\"terminate\",\"run\":1,\"why\":1}");
	client_expect(&client, "error", 1);
	client_say(&client, "{\"type\":\"terminate\",\"run\":3,\"why\":1}");
	client_expect(&client, "error", 3);
	client_say(&client, "{\"type\":\"terminate\",\"why\":1}");
	client_expect(&client, "error", -1);
	client_say(&client, "{\"type\":\"interrupt\",\"run\":2,\"why\":1}");
	client_expect(&client, "error", 2);
	client_say(&client, "{\"type\":\"terminate\",\"run\":2}");
	client_result(&client, 2, "terminated");
	CHECK_INT(client_end(&client), 0);
}

static void check_kill(const char *reason, const char *expected, size_t n) {
	struct client client = client_ready(NULL);
	client_say(
	    &client, "{\"type\":\"session_open\",\"request\":1,\"name\":\"s\",\"language\":\"javascript\"}");
	client_expect(&client, "session", -1);
	client_say(&client, RUN(1, "\"session\":\"s\"," FOREVER));
	client_say(
	    &client, "{\"type\":\"session_kill\",\"request\":2,\"session\":\"s\",\"reason\":%s}", reason);
	client_result(&client, 1, "terminated");
	const struct gb_value *heard = client_expect(&client, "session", -1);
	CHECK_STR(text_at(heard, "session.state"), "terminated");
	const char *said = text_at(heard, "session.reason");
	CHECK_INT(strlen(said), n);
	CHECK(strncmp(said, expected, strlen(expected)) == 0);
	CHECK_INT(client_end(&client), 0);
}

TEST(a_reason_of_any_kind_kills_a_session) {
	check_kill("\"a\\u0000b\"",
	    "a\xef\xbf\xbd"
	    "b",
	    5);
	check_kill("[1]", "killed by the caller", strlen("killed by the caller"));
	char euros[400] = "\"";
	for (int i = 0; i < 90; i++)
		strcat(euros, "€ ");
	/* As many four-byte characters as fit, and an ellipsis. */
	check_kill(strcat(euros, "\""), "€ € €", 252 / 4 * 4 + 3);
}
