/* Parsing messages of a client, without an engine. Invalid messages: tests/data/stdio-errors.txt. */
#include "server/messages.h"

#include "base/err.h"
#include "tap.h"

static struct gb_values *pool;
static struct gb_message message;
static struct gb_rejection rejection;

static bool read_line(const char *line) {
	gb_values_destroy(pool);
	pool = gb_values_create(gb_message_memory(strlen(line)));
	message = (struct gb_message){0};
	bool ok = gb_message_read(pool, line, strlen(line), &message, &rejection);
	if (!ok)
		printf("# %s: %s\n", rejection.code, rejection.message);
	return ok;
}

__attribute__((destructor)) static void tear_down(void) {
	gb_values_destroy(pool);
}

TEST(a_run_with_all_fields) {
	if (!CHECK(
		read_line("{\"type\":\"run\",\"run\":7,\"source\":\"a\\u0000b\",\"options\":{\"execute\":{"
			  "\"fn\":\"f\",\"args\":[1]},\"imports\":{\"m\":{}},\"modules\":{\"./a.js\":\"\"},"
			  "\"globals\":{\"g\":1},\"language\":\"javascript\",\"filename\":\"x.js\","
			  "\"memoryLimitBytes\":1048576,\"report\":true},\"limits\":{\"timeoutMs\":1,"
			  "\"outputBytes\":2,\"resultBytes\":3,\"reportBytes\":4,\"callBytes\":5,"
			  "\"maxCalls\":6,\"maxCallsInFlight\":4294967295}}")))
		return;
	const struct gb_run_options *options = &message.options;
	CHECK_INT(message.type, GB_MESSAGE_RUN);
	CHECK_INT(message.run, 7);
	CHECK_INT(message.source.n, 3);
	CHECK_STR(options->fn, "f");
	CHECK_INT(gb_value_count(options->args), 1);
	CHECK(gb_value_get(options->imports, "m"));
	CHECK(gb_value_get(options->modules, "./a.js"));
	CHECK(gb_value_get(options->globals, "g"));
	CHECK_INT(options->language, GB_JAVASCRIPT);
	CHECK_STR(options->filename, "x.js");
	CHECK_INT(options->memory_bytes, 1048576);
	CHECK(options->report);
	CHECK_INT(options->timeout_ms, 1);
	CHECK_INT(options->output_bytes, 2);
	CHECK_INT(options->result_bytes, 3);
	CHECK_INT(options->report_bytes, 4);
	CHECK_INT(options->call_bytes, 5);
	CHECK_INT(options->max_calls, 6);
	CHECK_INT(options->max_in_flight, UINT32_MAX);
}

TEST(a_run_with_required_fields_only) {
	if (!CHECK(read_line("{\"source\":\"\",\"run\":0,\"type\":\"run\"}")))
		return;
	CHECK_INT(message.options.language, GB_TYPESCRIPT);
	CHECK_STR(message.source.p, "");
	CHECK(!message.options.args && !message.options.filename && !message.options.timeout_ms);
}

TEST(a_language_has_aliases) {
	CHECK(
	    read_line("{\"type\":\"run\",\"run\":1,\"source\":\"\",\"options\":{\"language\":\"nodejs\"}}"));
	CHECK_INT(message.options.language, GB_NODE);
	CHECK(read_line("{\"type\":\"execute\",\"run\":1,\"source\":\"\",\"language\":\"bash\"}"));
	CHECK_INT(message.options.language, GB_SHELL);
	CHECK(read_line("{\"type\":\"session_open\",\"request\":1,\"language\":\"ts\"}"));
	CHECK_INT(message.options.language, GB_TYPESCRIPT);
	CHECK(!read_line("{\"type\":\"session_open\",\"request\":1,\"language\":\"cobol\"}"));
}

TEST(the_last_of_duplicate_keys_wins) {
	CHECK(read_line("{\"type\":\"call\",\"type\":\"run\",\"run\":\"x\",\"run\":3,\"source\":\"\"}"));
	CHECK_INT(message.run, 3);
}

TEST(the_three_kinds_of_answers) {
	CHECK(read_line("{\"type\":\"answer\",\"run\":1,\"call\":2,\"return\":null}"));
	CHECK(message.returned && !message.thrown && !message.promise);
	CHECK(read_line("{\"type\":\"answer\",\"run\":1,\"call\":2,\"return\":{\"$type\":\"undefined\"}}"));
	CHECK_INT(gb_value_type(message.returned), GB_UNDEFINED);
	CHECK(message.returned);
	CHECK(read_line("{\"type\":\"answer\",\"run\":1,\"call\":2,\"throw\":1}"));
	CHECK(message.thrown);
	CHECK(read_line("{\"type\":\"answer\",\"run\":1,\"call\":2,\"promise\":true}"));
	CHECK(message.promise);
}

TEST(calls_and_terminations) {
	CHECK(read_line("{\"type\":\"call\",\"run\":1,\"call\":9007199254740991,\"function\":4294967295}"));
	CHECK_INT(message.call, 9007199254740991);
	CHECK_INT(message.function, UINT32_MAX);
	CHECK(!message.args);
	CHECK(read_line("{\"type\":\"terminate\",\"run\":1,\"reason\":\"over\"}"));
	char reason[GB_REASON_MAX];
	CHECK_STR(gb_message_reason(&message, reason), "over");
	CHECK(read_line("{\"type\":\"terminate\",\"run\":1}"));
	CHECK(!gb_message_reason(&message, reason));
	CHECK(read_line("{\"type\":\"terminate\",\"run\":1,\"reason\":\"\\u0000\\u0000x\"}"));
	CHECK_STR(gb_message_reason(&message, reason), "\xef\xbf\xbd\xef\xbf\xbdx");
}

/* The half of a secret would not be recognised when the reason is masked. */
TEST(reason_that_is_too_long_ends_behind_a_word) {
	char line[GB_REASON_MAX + 200], reason[GB_REASON_MAX];
	for (int before = GB_REASON_MAX - 40; before < GB_REASON_MAX + 10; before++) {
		snprintf(line, sizeof line,
		    "{\"type\":\"terminate\",\"run\":1,\"reason\":\"over %0*d horse-1234567890 and on\"}",
		    before, 0);
		CHECK(read_line(line));
		CHECK(gb_message_reason(&message, reason) == reason);
		size_t n = strlen(reason);
		CHECK(n < GB_REASON_MAX);
		CHECK(!strchr(reason, 'h') || strstr(reason, "horse-1234567890 "));
		/* A word of thousands of characters is kept: the mark is left out, or the room ends in it. */
		bool in_long_word = !strchr(reason + strlen("over "), ' ');
		CHECK(n > 3 && (in_long_word || strcmp(reason + n - 3, "…") == 0 ||
				   strcmp(reason + n - 2, "on") == 0));
	}
	/* One word without an end is cut at a character. */
	snprintf(
	    line, sizeof line, "{\"type\":\"terminate\",\"run\":1,\"reason\":\"%0*d\"}", GB_REASON_MAX, 0);
	CHECK(read_line(line));
	CHECK_INT(strlen(gb_message_reason(&message, reason)), GB_REASON_MAX - 1);
}

/* --- the run or request that an error concerns --- */

static void check_peek(const char *line, const char *about, long long run, long long call) {
	rejection = (struct gb_rejection){0};
	gb_message_peek(line, strlen(line), &rejection);
	if (!CHECK_STR(rejection.about, about) |
	    !CHECK_INT(rejection.has_run ? (long long)rejection.run : -1, run) |
	    !CHECK_INT(rejection.has_call ? (long long)rejection.call : -1, call))
		printf("# %s\n", line);
}

TEST(an_invalid_line_is_attributed_to_its_run_or_request) {
	check_peek("{\"type\":\"run\",\"run\":3,\"source\":", "run", 3, -1);
	check_peek(" { \"run\" : 3 , \"type\" : \"call\" , \"call\" : 4 }", "call", 3, 4);
	check_peek(
	    "{\"options\":{\"type\":\"run\",\"run\":9},\"type\":\"answer\",\"run\":3,x", "answer", 3, -1);
	check_peek("{\"a\":\"\\\"\",\"b\":[\"run\",\"]\"],\"run\":12}", "", 12, -1);
	check_peek("{\"run\":3.5}", "", -1, -1);
	check_peek("{\"run\":-3}", "", -1, -1);
	check_peek("{\"run\":3", "", -1, -1);
	check_peek("{\"run\":\"3\"}", "", -1, -1);
	check_peek("{\"run\":99999999999999999999999}", "", -1, -1);
	check_peek("{\"type\":\"ru\\u006e\",\"type\":7}", "", -1, -1);
	check_peek("[{\"run\":1}]", "", -1, -1);
	check_peek("{\"run\"", "", -1, -1);
	check_peek("{\"run\":", "", -1, -1);
	check_peek("{\"type\":\"", "", -1, -1);
	check_peek("{\"\\", "", -1, -1);
	check_peek("}{\"run\":1}", "", -1, -1);
	check_peek("", "", -1, -1);
}

/* @member is NULL for an error that does not concern a member. */
static void check_field(const char *member, const char *detail, const char *field, const char *text) {
	struct gb_err err = {0};
	rejection = (struct gb_rejection){0};
	if (member)
		gb_fail_field(&err, GB_EINVAL, member, "%s", detail);
	else
		gb_fail(&err, GB_EINVAL, 0, "%s", detail);
	CHECK_INT(gb_message_reject_option(&err, &rejection), field != NULL);
	CHECK_STR(rejection.field, field ? field : "");
	CHECK_STR(rejection.message, text);
}

TEST(errors_of_the_engine_use_the_clients_name_of_the_option) {
	check_field("globals", "no", "options.globals", "options.globals: no");
	check_field("args", "no: never", "options.execute.args", "options.execute.args: no: never");
	check_field("memory_bytes", "1", "options.memoryLimitBytes", "options.memoryLimitBytes: 1");
	check_field("max_in_flight", "1", "limits.maxCallsInFlight", "limits.maxCallsInFlight: 1");
	check_field("source", "x", "source", "source: x");
	check_field("node_packages", "x", NULL, "");
	check_field(NULL, "source, globals and args", NULL, "");
}

TEST(an_error_whose_text_starts_like_a_field_names_no_field) {
	check_field(NULL, "globals: no", NULL, "");
}

TEST(an_error_message_is_cut_at_a_character_boundary) {
	char line[2000] = "{\"type\":\"run\",\"run\":1,\"source\":\"\",\"options\":{\"";
	for (int i = 0; i < 300; i++)
		strcat(line, "€");
	strcat(line, "\":1}}");
	CHECK(!read_line(line));
	size_t n = strlen(rejection.field);
	CHECK(n > 100 && memcmp(rejection.field + n - 3, "€", 3) == 0);
}
