/* 'glovebox stdio' as seen by an SDK: runs, errors, many runs, slow readers, shutdown. The tests of calls are in
 * test-stdio-calls.c. */
#include <sys/stat.h>

#include "e2e/engine.h"
#include "e2e/stdio.h"
#include "table.h"

#define RUN(number, rest) "{\"type\":\"run\",\"run\":" #number "," rest "}"

/* --- runs --- */

TEST(hello_comes_first_and_end_of_input_ends_the_server) {
	struct client client = client_start(NULL);
	const struct gb_value *hello = client_expect(&client, "hello", -1);
	CHECK_INT(number_at(hello, "protocol"), 1);
	CHECK_STR(text_at(hello, "version"), GB_VERSION);
	CHECK_INT(client_end(&client), 0);
}

TEST(a_run_has_logs_and_a_result) {
	struct client client = client_ready(NULL);
	client_say(&client, RUN(1, "\"source\":\"console.warn('hi', [1n]); export default {a: 6*7}\""));
	const struct gb_value *log = client_expect(&client, "log", 1);
	CHECK_STR(text_at(log, "level"), "warn");
	CHECK_STR(text_at(log, "args.0"), "hi");
	CHECK_INT(gb_value_type(at(log, "args.1.0")), GB_BIGINT);
	CHECK(number_at(log, "timestamp") > 1e12);
	const struct gb_value *result = client_result(&client, 1, "success");
	CHECK_INT(number_at(result, "result.result.a"), 42);
	CHECK_INT(gb_value_count(at(result, "result.logs")), 1);
	CHECK_INT(strlen(text_at(result, "result.runId")), 32);
	CHECK_INT(client_end(&client), 0);
}

TEST(options_and_limits_are_applied) {
	struct client client = client_ready(NULL);
	client_say(&client,
	    RUN(1,
		"\"source\":\"export const f = (a) => [a + g, import.meta.url]\",\"options\":{\"execute\":{"
		"\"fn\":\"f\",\"args\":[40]},\"globals\":{\"g\":2},\"filename\":\"x.js\",\"language\":"
		"\"javascript\"}"));
	const struct gb_value *result = client_result(&client, 1, "success");
	CHECK_INT(number_at(result, "result.result.0"), 42);
	CHECK_STR(text_at(result, "result.result.1"), "sandbox:x.js");
	client_say(&client, RUN(2, "\"source\":\"for(;;);\",\"limits\":{\"timeoutMs\":50}"));
	result = client_result(&client, 2, "terminated");
	CHECK(gb_value_is_true(at(result, "result.timedOut")));
	client_say(&client,
	    RUN(3, "\"source\":\"for(const a=[];;)a.push([1])\",\"options\":{\"memoryLimitBytes\":2097152}"));
	client_result(&client, 3, "memory");
	client_say(&client,
	    RUN(4, "\"source\":\"export default 'x'.repeat(2000)\",\"limits\":{\"resultBytes\":1000}"));
	client_result(&client, 4, "error");
	CHECK_INT(client_end(&client), 0);
}

TEST(a_timeout_is_limited_by_the_server) {
	struct client client = client_ready((const char *const[]){"--timeout", "100ms", NULL});
	client_say(&client, RUN(1, "\"source\":\"for(;;);\",\"limits\":{\"timeoutMs\":3600000}"));
	client_say(&client, RUN(2, "\"source\":\"for(;;);\""));
	for (int i = 0; i < 2; i++) {
		const struct gb_value *result = client_hear(&client);
		CHECK_STR(text_at(result, "result.status"), "terminated");
		CHECK(gb_value_is_true(at(result, "result.timedOut")));
	}
	CHECK_INT(client_end(&client), 0);
}

TEST(terminate_ends_a_run_with_the_reason) {
	struct client client = client_ready(NULL);
	client_say(&client, RUN(1, "\"source\":\"for(;;);\""));
	client_say(&client, RUN(2, "\"source\":\"for(;;);\""));
	client_say(&client, "{\"type\":\"terminate\",\"run\":1,\"reason\":\"30 s are over\"}");
	const struct gb_value *result = client_result(&client, 1, "terminated");
	CHECK_STR(text_at(result, "result.error.message"), "30 s are over");
	CHECK_STR(text_at(result, "result.error.code"), "terminated");
	client_say(&client, "{\"type\":\"terminate\",\"run\":2}");
	client_result(&client, 2, "terminated");
	CHECK_INT(client_end(&client), 0);
}

static void check_memory(const char *language) {
	struct client client = client_ready(NULL);
	client_say(&client, "{\"type\":\"run\",\"run\":1,\"source\":\"1\",\"options\":{\"language\":\"%s\"}}",
	    language);
	const struct gb_value *heard = client_result(&client, 1, "success");
	if (!CHECK(number_at(heard, "result.memoryUsedBytes") > 0))
		printf("# %s\n", language);
	CHECK_INT(client_end(&client), 0);
}

/* test-stdio-terminate.c tests that the field is absent if the usage is unknown. */
TEST(known_memory_usage_is_reported) {
	check_memory("typescript");
	check_memory("javascript");
#ifndef __SANITIZE_ADDRESS__ /* the sanitizer replaces malloc */
	check_memory("python");
#endif
}

TEST(late_messages_are_not_errors) {
	struct client client = client_ready(NULL);
	client_say(&client, RUN(5, "\"source\":\"export default 1\""));
	client_result(&client, 5, "success");
	client_say(&client, "{\"type\":\"terminate\",\"run\":5}");
	client_say(&client, "{\"type\":\"answer\",\"run\":5,\"call\":1,\"return\":1}");
	client_say(&client, RUN(6, "\"source\":1"));
	client_expect(&client, "error", 6);
	client_say(&client, "{\"type\":\"terminate\",\"run\":6}");
	client_say(&client, "{\"type\":\"call\",\"run\":5,\"call\":3,\"function\":1}");
	const struct gb_value *answer = client_expect(&client, "answer", 5);
	CHECK(gb_value_is_true(at(answer, "ended")));
	CHECK_INT(number_at(answer, "call"), 3);
	client_say(&client, RUN(7, "\"source\":\"export default 2\""));
	client_result(&client, 7, "success");
	CHECK_INT(client_end(&client), 0);
}

TEST(a_message_longer_than_the_line_limit_is_an_error) {
	struct client client = client_ready(NULL);
	/* 68 million newlines, each of which takes two bytes of JSON: more than a line can have. */
	client_say(&client, RUN(1, "\"source\":\"const s = '\\\\n'.repeat(68e6); console.log(s); let e; "
				   "try { f(s) } catch (x) { e = x }; "
				   "console.log(e.name); export default "
				   "s\",\"options\":{\"globals\":{\"f\":{\"$type\":\"function\",\"id\":1}},"
				   "\"memoryLimitBytes\":500000000},\"limits\":{\"resultBytes\":80000000,"
				   "\"outputBytes\":80000000,"
				   "\"callBytes\":80000000}"));
	CHECK(strstr(text_at(client_expect(&client, "log", 1), "args.0"), "longer than a line"));
	CHECK_STR(text_at(client_expect(&client, "log", 1), "args.0"), "RangeError");
	const struct gb_value *result = client_result(&client, 1, "error");
	CHECK_STR(text_at(result, "result.error.code"), "result_size");
	CHECK(gb_value_is_true(at(result, "result.truncated")));
	client_say(&client, RUN(2, "\"source\":\"1\""));
	client_result(&client, 2, "success");
	CHECK_INT(client_end(&client), 0);
}

TEST(a_result_whose_output_is_too_long_for_a_line_is_sent_without_output) {
	struct client client = client_ready(NULL);
	client_say(&client, "{\"type\":\"run\",\"run\":1,\"options\":{\"language\":\"python\"},\"limits\":{"
			    "\"outputBytes\":67108864,\"timeoutMs\":600000},"
			    "\"source\":\"print('\\\\1' * (30 << 20))\"}");
	const struct gb_value *heard;
	do
		heard = client_hear(&client);
	while (strcmp(text_at(heard, "type"), "output") == 0);
	CHECK_STR(text_at(heard, "type"), "result");
	CHECK_STR(text_at(heard, "result.error.code"), "result_size");
	CHECK(gb_value_is_true(at(heard, "result.truncated")));
	CHECK_INT(client_end(&client), 0);
}

/* --- errors --- */

static struct client shared;
static long long fresh_number = 100;

/* Copy @text, with fresh_number in place of each '@'. */
static void fill_in(char *to, size_t size, const char *text) {
	size_t n = 0;
	for (; *text && n + 24 < size; text++)
		if (*text == '@')
			n += (size_t)snprintf(to + n, size - n, "%lld", fresh_number);
		else
			to[n++] = *text;
	to[n] = '\0';
}

static void check_field(const struct gb_value *heard, const char *field, const char *expected) {
	const struct gb_value *found = at(heard, field);
	if (strcmp(expected, "-") == 0)
		CHECK(!found);
	else if (strcmp(expected, "?") == 0)
		CHECK(found);
	else
		CHECK_STR(text_at(heard, field), expected);
}

static void check_error(const struct record *record) {
	const char *said = record_get(record, "say"), *field = record_get(record, "field");
	char line[1000];
	unsigned before = tap.failures;
	fresh_number++;
	fill_in(line, sizeof line, said);
	client_say(&shared, "%s", line);
	const struct gb_value *heard = client_hear(&shared);
	CHECK_STR(text_at(heard, "type"), "error");
	CHECK_STR(text_at(heard, "code"), record_get(record, "code"));
	check_field(heard, "field", field);
	check_field(heard, "about", record_get(record, "about"));
	if (record_get(record, "run"))
		CHECK(!at(heard, "run"));
	else if (strchr(said, '@'))
		CHECK_INT(number_at(heard, "run"), fresh_number);
	const char *message = text_at(heard, "message");
	CHECK(*message);
	if (strcmp(field, "-") != 0 && strcmp(field, "?") != 0)
		CHECK(strncmp(message, field, strlen(field)) == 0 && message[strlen(field)] == ':');
	if (tap.failures > before)
		printf("# line %u: %s\n# heard: %s\n", record->line, line, shared.got.data);
}

static void open_shared(void) {
	shared = client_ready(NULL);
	client_say(&shared, RUN(1, "\"source\":\"for(;;);\""));
	client_say(&shared, RUN(2, "\"source\":\"1\""));
	client_result(&shared, 2, "success");
}

/* After all invalid messages the open run still works. */
static void close_shared(void) {
	client_say(&shared, "{\"type\":\"terminate\",\"run\":1}");
	client_result(&shared, 1, "terminated");
	client_say(&shared, "{\"type\":\"run\",\"run\":%lld,\"source\":\"1\"}", ++fresh_number);
	client_result(&shared, fresh_number, "success");
	CHECK_INT(client_end(&shared), 0);
}

TEST(every_invalid_message_is_answered_with_an_error) {
	open_shared();
	CHECK(table_each("stdio-errors.txt", check_error) > 70);
	close_shared();
}

/* A value of each JSON type, and the kinds of fields that accept it. */
static const struct {
	const char *json;
	const char *accepted_by; /* kinds of fields: see fields[].kind */
} samples[] = {
    {"null", ""},
    {"true", "b"},
    {"false", "b"},
    {"7", "n"},
    {"7.5", ""},
    {"-7", ""},
    {"1e999", ""},
    {"\"x\"", "s"},
    {"[]", "a"},
    {"{}", "of"},
    {"{\"$type\":\"undefined\"}", ""},
    {"{\"$type\":\"bigint\",\"value\":\"7\"}", ""},
    {"{\"$type\":\"number\",\"value\":\"Infinity\"}", ""},
    {"{\"$type\":\"Map\",\"entries\":[]}", ""},
    {"{\"$type\":\"Set\",\"values\":[]}", ""},
    {"{\"$type\":\"Date\",\"value\":null}", ""},
    {"{\"$type\":\"ArrayBuffer\",\"data\":\"\"}", ""},
    {"{\"$type\":\"Error\",\"name\":\"\",\"message\":\"\"}", ""},
};

static const struct {
	const char *field;
	char kind; /* boolean, number, string, array, object, or language ('l', which accepts no sample) */
	const char *before, *after; /* the message before and after the value */
} fields[] = {
#define OPTIONS "{\"type\":\"run\",\"run\":@,\"source\":\"\",\"options\":{"
#define LIMITS  "{\"type\":\"run\",\"run\":@,\"source\":\"\",\"limits\":{"
    {"source", 's', "{\"type\":\"run\",\"run\":@,\"source\":", "}"},
    {"options", 'o', "{\"type\":\"run\",\"run\":@,\"source\":\"\",\"options\":", "}"},
    {"limits", 'o', "{\"type\":\"run\",\"run\":@,\"source\":\"\",\"limits\":", "}"},
    {"options.execute", 'o', OPTIONS "\"execute\":", "}}"},
    {"options.execute.fn", 's', OPTIONS "\"execute\":{\"fn\":", "}}}"},
    {"options.execute.args", 'a', OPTIONS "\"execute\":{\"args\":", "}}}"},
    {"options.imports", 'o', OPTIONS "\"imports\":", "}}"},
    {"options.modules", 'o', OPTIONS "\"modules\":", "}}"},
    {"options.globals", 'o', OPTIONS "\"globals\":", "}}"},
    {"options.language", 'l', OPTIONS "\"language\":", "}}"},
    {"options.filename", 's', OPTIONS "\"filename\":", "}}"},
    {"options.memoryLimitBytes", 'n', OPTIONS "\"memoryLimitBytes\":", "}}"},
    {"options.report", 'b', OPTIONS "\"report\":", "}}"},
    {"limits.timeoutMs", 'n', LIMITS "\"timeoutMs\":", "}}"},
    {"limits.outputBytes", 'n', LIMITS "\"outputBytes\":", "}}"},
    {"limits.resultBytes", 'n', LIMITS "\"resultBytes\":", "}}"},
    {"limits.reportBytes", 'n', LIMITS "\"reportBytes\":", "}}"},
    {"limits.callBytes", 'n', LIMITS "\"callBytes\":", "}}"},
    {"limits.maxCalls", 'n', LIMITS "\"maxCalls\":", "}}"},
    {"limits.maxCallsInFlight", 'n', LIMITS "\"maxCallsInFlight\":", "}}"},
    {"run", 'n', "{\"type\":\"answer\",\"call\":1,\"return\":1,\"run\":", "}"},
    {"call", 'n', "{\"type\":\"answer\",\"run\":1,\"return\":1,\"call\":", "}"},
    {"function", 'n', "{\"type\":\"call\",\"run\":1,\"call\":1,\"function\":", "}"},
    {"args", 'a', "{\"type\":\"call\",\"run\":1,\"call\":1,\"function\":1,\"args\":", "}"},
    {"type", 's', "{\"run\":1,\"type\":", "}"},
};

TEST(every_field_is_checked_for_its_type) {
	open_shared();
	for (size_t f = 0; f < sizeof fields / sizeof *fields; f++)
		for (size_t s = 0; s < sizeof samples / sizeof *samples; s++) {
			if (strchr(samples[s].accepted_by, fields[f].kind))
				continue;
			char line[1000], before[500];
			fresh_number++;
			fill_in(before, sizeof before, fields[f].before);
			snprintf(line, sizeof line, "%s%s%s", before, samples[s].json, fields[f].after);
			client_say(&shared, "%s", line);
			const struct gb_value *heard = client_hear(&shared);
			if (!CHECK_STR(text_at(heard, "code"), "invalid") ||
			    !CHECK_STR(text_at(heard, "field"), fields[f].field))
				printf("# %s\n# heard: %s\n", line, shared.got.data);
		}
	close_shared();
}

TEST(a_line_that_is_too_long_is_skipped) {
	enum { MIB = 1 << 20, LONGEST = 128 };
	struct client client = client_ready(NULL);
	char *block = malloc(MIB);
	memset(block, ' ', MIB);
	for (int i = 0; i < LONGEST + 3; i++)
		CHECK(client_say_bytes(&client, block, MIB));
	client_say(&client, "x");
	const struct gb_value *heard = client_expect(&client, "error", -1);
	CHECK_STR(text_at(heard, "code"), "too_long");
	/* A line of exactly the maximal length is read. */
	client_say(&client, RUN(1, "\"source\":\"1\""));
	client_result(&client, 1, "success");
	for (int i = 0; i < LONGEST - 1; i++)
		CHECK(client_say_bytes(&client, block, MIB));
	static const char run[] = RUN(2, "\"source\":\"export default 2\"");
	CHECK(client_say_bytes(&client, block, MIB - sizeof run + 1));
	client_say(&client, "%s", run);
	client_result(&client, 2, "success");
	CHECK_INT(client_end(&client), 0);
	free(block);
}

TEST(a_line_with_too_many_values_is_rejected) {
	enum { MIB = 1 << 20, N = 60 };
	struct client client = client_ready(NULL);
	char *block = malloc(MIB);
	for (int i = 0; i < MIB; i++)
		block[i] = i % 2 ? ',' : '1';
	static const char head[] =
	    "{\"type\":\"run\",\"run\":1,\"source\":\"1\",\"options\":{\"globals\":{\"a\":[";
	CHECK(client_say_bytes(&client, head, sizeof head - 1));
	for (int i = 0; i < N; i++)
		CHECK(client_say_bytes(&client, block, MIB));
	client_say(&client, "1]}}}");
	const struct gb_value *heard = client_expect(&client, "error", 1);
	CHECK_STR(text_at(heard, "code"), "too_long");
	CHECK_STR(text_at(heard, "about"), "run");
	client_say(&client, RUN(2, "\"source\":\"1\""));
	client_result(&client, 2, "success");
	CHECK_INT(client_end(&client), 0);
	free(block);
}

/* --- many runs --- */

static void check_many(struct client *client, int n) {
	for (int i = 1; i <= n; i++)
		client_say(client,
		    "{\"type\":\"run\",\"run\":%d,\"source\":\"console.log(%d); export default %d\"}", i, -i,
		    i);
	char *seen = calloc((size_t)n + 1, 1);
	for (int i = 0; i < 2 * n; i++) {
		const struct gb_value *heard = client_hear(client);
		long long run = number_at(heard, "run");
		if (!CHECK(run >= 1 && run <= n))
			break;
		bool log = strcmp(text_at(heard, "type"), "log") == 0;
		CHECK(gb_value_as_number(at(heard, log ? "args.0" : "result.result")) ==
		      (double)(log ? -run : run));
		/* The log of a run comes before its result. */
		CHECK_INT(seen[run]++, log ? 0 : 1);
	}
	free(seen);
}

TEST(a_thousand_runs_at_once) {
	struct client client = client_ready(NULL);
	check_many(&client, 1000);
	CHECK_INT(client_end(&client), 0);
}

TEST(runs_beyond_the_limit_are_queued) {
	struct client client = client_ready((const char *const[]){"--max-runs", "3", NULL});
	check_many(&client, 2000);
	CHECK_INT(client_end(&client), 0);
}

TEST(a_queued_run_can_be_terminated) {
	struct client client = client_ready((const char *const[]){"--max-runs", "1", NULL});
	client_say(&client, RUN(1, "\"source\":\"for(;;);\""));
	client_say(&client, RUN(2, "\"source\":\"1\""));
	client_say(&client, RUN(3, "\"source\":\"export default 3\""));
	client_say(&client, "{\"type\":\"answer\",\"run\":2,\"call\":1,\"return\":1}");
	CHECK_STR(text_at(client_expect(&client, "error", 2), "code"), "unknown_call");
	client_say(&client, "{\"type\":\"call\",\"run\":2,\"call\":1,\"function\":1}");
	CHECK_STR(text_at(client_expect(&client, "error", 2), "field"), "function");
	client_say(&client, "{\"type\":\"terminate\",\"run\":2,\"reason\":\"no\"}");
	CHECK_STR(text_at(client_result(&client, 2, "terminated"), "result.error.message"), "no");
	/* An invalid option is reported at once. */
	client_say(&client, RUN(4, "\"source\":\"\",\"options\":{\"globals\":{\"a b\":1}}"));
	CHECK_STR(text_at(client_expect(&client, "error", 4), "field"), "options.globals");
	client_say(&client, "{\"type\":\"terminate\",\"run\":1}");
	client_result(&client, 1, "terminated");
	CHECK_INT(number_at(client_result(&client, 3, "success"), "result.result"), 3);
	CHECK_INT(client_end(&client), 0);
}

TEST(at_most_ten_thousand_runs_are_queued) {
	struct client client = client_ready((const char *const[]){"--max-runs", "1", NULL});
	client_say(&client, RUN(1, "\"source\":\"for(;;);\""));
	for (int i = 2; i <= 10002; i++)
		client_say(&client, "{\"type\":\"run\",\"run\":%d,\"source\":\"1\"}", i);
	const struct gb_value *heard = client_expect(&client, "error", 10002);
	CHECK_STR(text_at(heard, "code"), "refused");
	CHECK_INT(client_end(&client), 0);
}

/* --- slow readers --- */

static long peak_mib(pid_t pid) {
	char path[64], line[256];
	long kb = 0;
	snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	FILE *file = fopen(path, "re");
	while (file && fgets(line, sizeof line, file))
		if (sscanf(line, "VmHWM: %ld", &kb) == 1)
			break;
	if (file)
		fclose(file);
	return kb >> 10;
}

static unsigned long long cpu_time(pid_t pid) {
	unsigned long long user = 0, kernel = 0;
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	FILE *file = fopen(path, "re");
	if (!file)
		return 0;
	if (fscanf(file, "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &user,
		&kernel) != 2)
		user = kernel = 0;
	fclose(file);
	return user + kernel;
}

/* Until a process does nothing any more. If it only seems so, on a slow machine, the test is less strict. */
static void await_idle(pid_t pid) {
	unsigned long long last = cpu_time(pid);
	for (int looks = 0; looks < 20; looks++) {
		usleep(20000);
		const unsigned long long now = cpu_time(pid);
		if (now != last)
			looks = 0;
		last = now;
	}
}

TEST(a_slow_reader_slows_its_runs_and_loses_nothing) {
	enum { RUNS = 60 };
	struct client client = client_ready((const char *const[]){"--max-runs", "2", NULL});
	for (int i = 1; i <= RUNS; i++)
		client_say(&client,
		    "{\"type\":\"run\",\"run\":%d,\"source\":\"export default 'x'.repeat(15e6)\"}", i);
	struct pollfd first = {client.in, POLLIN, 0};
	CHECK_INT(poll(&first, 1, -1), 1);
	await_idle(client.pid);
	for (int i = 0; i < RUNS; i++) {
		const char *line = client_line(&client);
		if (!CHECK(line && strlen(line) > 15000000 && strncmp(line, "{\"type\":\"result\"", 16) == 0))
			break;
	}
	client_say(&client, RUN(1000, "\"source\":\"1\""));
	client_result(&client, 1000, "success");
	const long peak = peak_mib(client.pid);
#ifndef __SANITIZE_ADDRESS__
	CHECK(peak < 400); /* all results together have 900 MB */
#endif
	printf("# %ld MiB at most\n", peak);
	CHECK_INT(client_end(&client), 0);
}

TEST(errors_are_not_accumulated_for_a_client_that_does_not_read) {
	struct client client = client_ready(NULL);
	fcntl(client.out, F_SETFL, O_NONBLOCK);
	/* Each line is answered with an error that is longer than the line. If errors are not accumulated, the server
	 * eventually stops reading. */
	size_t total = 0;
	for (int idle = 0; idle < 100 && total < (200u << 20);) {
		static const char lines[] =
		    "{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n";
		ssize_t n = write(client.out, lines, sizeof lines - 1);
		total += n > 0 ? (size_t)n : 0;
		idle = n > 0 ? 0 : idle + 1;
		if (n <= 0)
			usleep(10000);
	}
	CHECK(total < (100u << 20));
	CHECK_INT(client_end(&client), 0);
}

/* --- shutdown --- */

/* Check that no descendant of this process is left. It is the subreaper, so it also reaps orphans. */
static void check_nothing_left(void) {
	for (int i = 0; i < 6000 && count_descendants(getpid()); i++, usleep(10000))
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
	CHECK_INT(count_descendants(getpid()), 0);
}

__attribute__((constructor)) static void adopt_orphans(void) {
	prctl(PR_SET_CHILD_SUBREAPER, 1);
}

static struct client start_endless(int n) {
	struct client client = client_ready(NULL);
	for (int i = 1; i <= n; i++)
		client_say(
		    &client, "{\"type\":\"run\",\"run\":%d,\"source\":\"console.log(1); for(;;);\"}", i);
	for (int i = 1; i <= n; i++)
		CHECK_STR(text_at(client_hear(&client), "type"), "log");
	return client;
}

TEST(end_of_input_ends_all_runs) {
	struct client client = start_endless(20);
	close(client.out);
	client.out = open("/dev/null", O_WRONLY | O_CLOEXEC);
	for (int i = 0; i < 20; i++)
		CHECK_STR(text_at(client_hear(&client), "result.status"), "terminated");
	CHECK(!client_line(&client));
	CHECK_INT(client_end(&client), 0);
	check_nothing_left();
}

TEST(a_client_that_closes_both_streams_ends_the_server) {
	struct client client = start_endless(20);
	close(client.in);
	client.in = -1;
	CHECK_INT(client_end(&client), 0);
	check_nothing_left();
}

TEST(a_client_that_closes_only_its_read_end_ends_the_server) {
	struct client client = start_endless(3);
	close(client.in);
	client.in = -1;
	client_say(&client, "{\"type\":\"terminate\",\"run\":1}");
	int status;
	CHECK(waitpid(client.pid, &status, 0) == client.pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
	client_shut(&client);
	check_nothing_left();
}

TEST(a_killed_server_leaves_no_processes) {
	struct client client = start_endless(20);
	kill(client.pid, SIGKILL);
	CHECK(!client_line(&client));
	CHECK_INT(client_end(&client), 1000 + SIGKILL);
	check_nothing_left();
}

TEST(sigterm_ends_the_server_cleanly) {
	struct client client = start_endless(5);
	kill(client.pid, SIGTERM);
	CHECK_INT(client_end(&client), 0);
	check_nothing_left();
}

TEST(files_can_be_used_as_standard_streams) {
	char path[] = "/tmp/gb-stdio-XXXXXX", command[300], line[200] = "";
	int file = mkstemp(path);
	CHECK(write(file, "{}\n[]\n", 6) == 6);
	close(file);
	snprintf(command, sizeof command, "'%s' stdio < %s > %s.out && grep -c '\"error\"' %s.out",
	    getenv("GB_GLOVEBOX"), path, path, path);
	FILE *pipe = popen(command, "re");
	CHECK(fgets(line, sizeof line, pipe));
	CHECK_INT(pclose(pipe), 0);
	CHECK_STR(line, "2\n");
	unlink(path);
	snprintf(command, sizeof command, "%s.out", path);
	unlink(command);
}
