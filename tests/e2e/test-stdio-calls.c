/* 'glovebox stdio': calls in both directions, promises, reports. The client in these tests is a script: the
 * lines that it receives and sends, in order. */
#include "e2e/stdio.h"

/* Two functions of the client, f and g, with the ids 7 and 8. */
#define LENT                                                                                                 \
	"\"globals\":{\"f\":{\"$type\":\"function\",\"id\":7,\"name\":\"f\"},"                               \
	"\"g\":{\"$type\":\"function\",\"id\":8}}"

static struct client client;
static int last_run;

static void start_with(const char *options, const char *source) {
	if (!client.pid)
		client = client_ready(NULL);
	client_say(&client, "{\"type\":\"run\",\"run\":%d,\"source\":\"%s\",\"options\":{%s}}", ++last_run,
	    source, options);
}

__attribute__((destructor)) static void tear_down(void) {
	if (client.pid)
		client_end(&client);
}

static void answer(int call, const char *how) {
	client_say(&client, "{\"type\":\"answer\",\"run\":%d,\"call\":%d,%s}", last_run, call, how);
}

static const struct gb_value *hear_call(int call, int function) {
	const struct gb_value *heard = client_expect(&client, "call", last_run);
	CHECK_INT(number_at(heard, "call"), call);
	CHECK_INT(number_at(heard, "function"), function);
	CHECK_INT(gb_value_type(at(heard, "args")), GB_ARRAY);
	return heard;
}

static const struct gb_value *hear_result(const char *status) {
	return client_result(&client, last_run, status);
}

TEST(a_call_is_answered) {
	start_with(LENT, "export default [f(1, 'x', [2n]), f.name, g()]");
	const struct gb_value *call = hear_call(1, 7);
	CHECK_INT(gb_value_count(at(call, "args")), 3);
	CHECK_STR(text_at(call, "args.1"), "x");
	CHECK_INT(gb_value_type(at(call, "args.2.0")), GB_BIGINT);
	answer(1, "\"return\":{\"a\":[1]}");
	CHECK_INT(gb_value_count(at(hear_call(2, 8), "args")), 0);
	answer(2, "\"return\":{\"$type\":\"Map\",\"entries\":[]}");
	const struct gb_value *result = hear_result("success");
	CHECK_INT(number_at(result, "result.result.0.a.0"), 1);
	CHECK_STR(text_at(result, "result.result.1"), "f");
	CHECK_INT(gb_value_type(at(result, "result.result.2")), GB_MAP);
}

TEST(a_throw_of_the_client_is_thrown_in_the_code) {
	start_with(LENT,
	    "try { f() } catch (e) { globalThis.e = e }; export default [e instanceof TypeError, e.message]");
	hear_call(1, 7);
	answer(1, "\"throw\":{\"$type\":\"Error\",\"name\":\"TypeError\",\"message\":\"no\"}");
	const struct gb_value *result = hear_result("success");
	CHECK(gb_value_is_true(at(result, "result.result.0")));
	CHECK_STR(text_at(result, "result.result.1"), "no");
}

TEST(promises_settle_in_any_order) {
	start_with(LENT,
	    "const a = f(), b = f(), c = f(); export default [a instanceof Promise, await a, await b, await "
	    "c.catch(e => e)]");
	for (int i = 1; i <= 3; i++) {
		hear_call(i, 7);
		answer(i, "\"promise\":true");
	}
	answer(3, "\"throw\":\"c\"");
	answer(1, "\"return\":\"a\"");
	answer(2, "\"return\":\"b\"");
	const struct gb_value *result = hear_result("success");
	CHECK(gb_value_is_true(at(result, "result.result.0")));
	CHECK_STR(text_at(result, "result.result.1"), "a");
	CHECK_STR(text_at(result, "result.result.2"), "b");
	CHECK_STR(text_at(result, "result.result.3"), "c");
}

TEST(a_promise_of_the_client_is_awaited_by_its_id) {
	start_with("\"globals\":{\"p\":{\"$type\":\"promise\",\"id\":9}}", "export default await p");
	hear_call(1, 9);
	answer(1, "\"return\":5");
	CHECK_INT(number_at(hear_result("success"), "result.result"), 5);
}

TEST(imports_modules_and_an_answer_with_a_function) {
	start_with("\"imports\":{\"tools\":{\"f\":{\"$type\":\"function\",\"id\":7},\"x\":4}},"
		   "\"modules\":{\"./m.js\":\"export const y = 6\"}",
	    "import {f, x} from 'tools'; import {y} from './m.js'; export default f(x, y)()");
	const struct gb_value *call = hear_call(1, 7);
	CHECK_INT(number_at(call, "args.0"), 4);
	CHECK_INT(number_at(call, "args.1"), 6);
	answer(1, "\"return\":{\"$type\":\"function\",\"id\":77}");
	hear_call(2, 77);
	answer(2, "\"return\":\"done\"");
	CHECK_STR(text_at(hear_result("success"), "result.result"), "done");
}

TEST(a_function_of_the_client_is_passed_back_by_its_id) {
	start_with(LENT, "f(f, g); export default 1");
	const struct gb_value *call = hear_call(1, 7);
	enum gb_side side;
	uint32_t id;
	CHECK(gb_value_as_callable(at(call, "args.0"), &side, &id) && id == 7);
	CHECK(strstr(client.got.data, "{\"$type\":\"function\",\"id\":7"));
	CHECK(!strstr(client.got.data, "sandbox"));
	CHECK(gb_value_as_callable(at(call, "args.1"), &side, &id) && id == 8);
	answer(1, "\"return\":null");
	hear_result("success");
}

/* The id of the sandbox's function or promise at @path. */
static uint32_t lent_at(const struct gb_value *heard, const char *path) {
	enum gb_side side = GB_HOST;
	uint32_t id = 0;
	CHECK(gb_value_as_callable(at(heard, path), &side, &id));
	CHECK_INT(side, GB_SANDBOX);
	return id;
}

static void call(int number, uint32_t function, const char *args) {
	client_say(&client, "{\"type\":\"call\",\"run\":%d,\"call\":%d,\"function\":%u%s%s}", last_run,
	    number, function, *args ? ",\"args\":" : "", args);
}

TEST(a_function_of_the_code_is_called) {
	start_with(
	    LENT, "export default await f((a, b) => a + b, async () => { throw new RangeError('late') })");
	const struct gb_value *heard = hear_call(1, 7);
	uint32_t add = lent_at(heard, "args.0"), fail = lent_at(heard, "args.1");
	answer(1, "\"promise\":true");
	call(500, add, "[40,2]");
	heard = client_expect(&client, "answer", last_run);
	CHECK_INT(number_at(heard, "call"), 500);
	CHECK_INT(number_at(heard, "return"), 42);
	/* The call number can be used again. */
	call(500, fail, "");
	heard = client_expect(&client, "answer", last_run);
	CHECK_STR(gb_value_text(at(heard, "throw"), 0), "RangeError");
	CHECK_STR(gb_value_text(at(heard, "throw"), 1), "late");
	answer(1, "\"return\":1");
	hear_result("success");
}

TEST(a_promise_of_the_code_is_awaited) {
	start_with(
	    LENT, "let go; const p = new Promise(r => go = r); const q = f(p, go); export default await q");
	const struct gb_value *heard = hear_call(1, 7);
	uint32_t promise = lent_at(heard, "args.0"), go = lent_at(heard, "args.1");
	answer(1, "\"promise\":true");
	call(1, promise, "[]");
	call(2, go, "[\"went\"]");
	for (int i = 0; i < 2; i++) {
		heard = client_expect(&client, "answer", last_run);
		if (number_at(heard, "call") == 1)
			CHECK_STR(text_at(heard, "return"), "went");
	}
	answer(1, "\"return\":1");
	hear_result("success");
}

TEST(a_call_number_in_use_is_rejected) {
	start_with(LENT, "export default await f(new Promise(() => {}))");
	uint32_t promise = lent_at(hear_call(1, 7), "args.0");
	answer(1, "\"promise\":true");
	answer(1, "\"promise\":true");
	const struct gb_value *heard = client_expect(&client, "error", last_run);
	CHECK_STR(text_at(heard, "code"), "invalid");
	CHECK_STR(text_at(heard, "field"), "promise");
	CHECK_INT(number_at(heard, "call"), 1);
	call(1, promise, "");
	call(1, promise, "");
	heard = client_expect(&client, "error", last_run);
	CHECK_STR(text_at(heard, "field"), "call");
	answer(1, "\"return\":1");
	/* The first call is answered with "ended" before the result. */
	heard = client_expect(&client, "answer", last_run);
	CHECK(gb_value_is_true(at(heard, "ended")));
	hear_result("success");
}

TEST(a_call_of_an_unknown_function_throws) {
	start_with(LENT, "export default await f()");
	hear_call(1, 7);
	answer(1, "\"promise\":true");
	call(1, 12345, "[]");
	const struct gb_value *heard = client_expect(&client, "answer", last_run);
	CHECK_INT(gb_value_type(at(heard, "throw")), GB_ERROR);
	answer(1, "\"return\":1");
	hear_result("success");
}

TEST(an_invalid_answer_leaves_the_call_pending) {
	start_with(LENT, "export default f()");
	hear_call(1, 7);
	answer(1, "\"return\":1,\"throw\":1");
	CHECK_STR(text_at(client_expect(&client, "error", last_run), "about"), "answer");
	answer(2, "\"return\":1");
	CHECK_STR(text_at(client_expect(&client, "error", last_run), "code"), "unknown_call");
	answer(1, "\"return\":3");
	CHECK_INT(number_at(hear_result("success"), "result.result"), 3);
}

TEST(a_second_answer_is_rejected) {
	start_with(LENT, "f(); export default f()");
	hear_call(1, 7);
	answer(1, "\"return\":1");
	hear_call(2, 7);
	answer(1, "\"return\":1");
	const struct gb_value *heard = client_expect(&client, "error", last_run);
	CHECK_STR(text_at(heard, "code"), "unknown_call");
	CHECK(strstr(text_at(heard, "message"), "already"));
	answer(2, "\"return\":1");
	hear_result("success");
}

TEST(reports_are_answered_and_in_the_result) {
	start_with("\"report\":true", "const a = report({n: 1}); export default [a, await report(2)]");
	const struct gb_value *heard = client_expect(&client, "report", last_run);
	CHECK_INT(number_at(heard, "call"), 1);
	CHECK_INT(number_at(heard, "value.n"), 1);
	answer(1, "\"return\":\"go on\"");
	heard = client_expect(&client, "report", last_run);
	CHECK_INT(number_at(heard, "value"), 2);
	answer(2, "\"promise\":true");
	answer(2, "\"return\":\"enough\"");
	const struct gb_value *result = hear_result("success");
	CHECK_STR(text_at(result, "result.result.0"), "go on");
	CHECK_STR(text_at(result, "result.result.1"), "enough");
	CHECK_INT(number_at(result, "result.reports.0.n"), 1);
	CHECK_INT(number_at(result, "result.reports.1"), 2);
}

TEST(shared_values_keep_their_identity_in_a_line) {
	start_with(LENT, "const a = {}; a.a = a; f(a, a, [a]); export default [a, a]");
	const struct gb_value *heard = hear_call(1, 7);
	CHECK(at(heard, "args.0") && at(heard, "args.0") == at(heard, "args.1"));
	CHECK(at(heard, "args.0") == at(heard, "args.2.0"));
	CHECK(at(heard, "args.0") == at(heard, "args.0.a"));
	answer(1, "\"return\":{\"$type\":\"shared\",\"id\":0,\"value\":[{\"$type\":\"ref\",\"id\":0}]}");
	const struct gb_value *result = hear_result("success");
	CHECK(at(result, "result.result.0") == at(result, "result.result.1"));
}

TEST(exceeded_call_limits_throw_in_the_code) {
	if (!client.pid)
		client = client_ready(NULL);
	client_say(&client,
	    "{\"type\":\"run\",\"run\":%d,\"source\":\"f(); try { f() } catch (e) { globalThis.e = e } "
	    "export default "
	    "e.message\",\"options\":{" LENT "},\"limits\":{\"maxCalls\":1}}",
	    ++last_run);
	hear_call(1, 7);
	answer(1, "\"return\":1");
	CHECK(*text_at(hear_result("success"), "result.result"));
	client_say(&client,
	    "{\"type\":\"run\",\"run\":%d,\"source\":\"f('x'.repeat(5000))\",\"options\":{" LENT
	    "},\"limits\":{\"callBytes\":1000}}",
	    ++last_run);
	hear_result("error");
}

TEST(terminate_ends_a_run_that_waits_for_an_answer) {
	start_with(LENT, "f(); export default 1");
	hear_call(1, 7);
	client_say(&client, "{\"type\":\"terminate\",\"run\":%d}", last_run);
	hear_result("terminated");
	/* A late answer is not an error; neither is the next message. */
	answer(1, "\"return\":1");
	answer(9, "\"promise\":true");
	start_with(LENT, "export default f()");
	hear_call(1, 7);
	answer(1, "\"return\":2");
	CHECK_INT(number_at(hear_result("success"), "result.result"), 2);
}

TEST(a_client_may_disconnect_with_pending_calls) {
	struct client own = client_ready(NULL);
	for (int i = 1; i <= 5; i++)
		client_say(
		    &own, "{\"type\":\"run\",\"run\":%d,\"source\":\"f(()=>1)\",\"options\":{" LENT "}}", i);
	for (int i = 1; i <= 5; i++)
		CHECK_STR(text_at(client_hear(&own), "type"), "call");
	CHECK_INT(client_end(&own), 0);
}

/* The client answers every call. */
TEST(many_runs_with_many_calls_interleave) {
	enum { RUNS = 50, CALLS = 100 };
	struct client own = client_ready(NULL);
	for (int i = 1; i <= RUNS; i++)
		client_say(&own,
		    "{\"type\":\"run\",\"run\":%d,\"source\":\"let s = 0; for (let i = 0; i < %d; i++) s += "
		    "i %% 2 ? f(i) : "
		    "await f(i); export default s\",\"options\":{" LENT "}}",
		    i, CALLS);
	for (int results = 0; results < RUNS;) {
		const struct gb_value *heard = client_hear(&own);
		if (!CHECK(heard))
			break;
		long long run = number_at(heard, "run"), number = number_at(heard, "call");
		if (strcmp(text_at(heard, "type"), "call") != 0) {
			CHECK_INT(number_at(heard, "result.result"), CALLS * (CALLS - 1) / 2 * 2);
			results++;
			continue;
		}
		long long n = number_at(heard, "args.0");
		if (n % 2 == 0)
			client_say(&own, "{\"type\":\"answer\",\"run\":%lld,\"call\":%lld,\"promise\":true}",
			    run, number);
		client_say(&own, "{\"type\":\"answer\",\"run\":%lld,\"call\":%lld,\"return\":%lld}", run,
		    number, 2 * n);
	}
	CHECK_INT(client_end(&own), 0);
}
