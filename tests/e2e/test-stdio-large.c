/* Large messages and results of one client of a server do not delay others. The threads of the service are held until
 * the test releases them, so that nothing depends on time. */
#include "base/cleanup.h"
#include "base/list.h"
#include "e2e/stdio.h"
#include "server/server.h"

enum { MANY = 20, LARGE = 38000000, LONG = 100000 };

/* A server in a process of its own, with two clients. */
struct held {
	pid_t pid;
	int hold; /* the threads of the service are held until both processes have closed it */
	struct client a, b;
};

/* --- the server's process --- */

struct holder {
	struct gb_work work;
	int fd;
};

static enum gb_work_end wait_for_release(struct gb_work *work, void *data) {
	char byte;
	(void)data;
	while (read(((struct holder *)work)->fd, &byte, 1) > 0)
		;
	return GB_WORK_DONE;
}

static void on_released(struct gb_work *work) {
	(void)work;
}

/* Serve until only @last clients are left. If @until_end, the threads are held until the clients are destroyed. */
static bool serve(int a, int b, const int hold[2], unsigned last, bool until_end) {
	struct gb_err err = {0};
	struct gb_loop loop;
	const struct gb_config_sources sources = {.file = "test.yaml", .text = "", .text_bytes = 0};
	const struct gb_config *config = NULL;
	struct gb_service *service = NULL;
	struct gb_server *server = NULL;
	struct gb_service_options options = {.loop = &loop, .engine.worker_dir = getenv("GB_WORKER_DIR")};
	const size_t sizes[] = {GB_SERVICE_LONG, GB_SERVICE_LARGE + 1};
	struct holder holders[2];
	bool ok = gb_loop_init(&loop, &err) && gb_config_load(&sources, &config, &err);
	options.config = config;
	ok = ok && gb_service_create(&options, &service, &err) && gb_server_create(service, &server, &err) &&
	     gb_server_add(server, a, dup(a), &err) && gb_server_add(server, b, dup(b), &err);
	for (int i = 0; i < 2 && ok; i++) {
		holders[i] =
		    (struct holder){.work = {.run = wait_for_release, .done = on_released}, .fd = hold[0]};
		ok = gb_service_work(service, &holders[i].work, sizes[i]);
	}
	if (!until_end)
		close(hold[1]);
	while (ok && gb_server_clients(server) > last)
		ok = gb_server_turn(server, &err);
	gb_server_destroy(server);
	if (until_end)
		close(hold[1]);
	gb_service_destroy(service);
	gb_loop_finish(&loop);
	gb_config_unref(config);
	if (!ok)
		printf("# %s\n", err.message);
	return ok;
}

static struct held start_until(unsigned last, bool until_end) {
	struct held held = {0};
	int a[2], b[2], hold[2];
	signal(SIGPIPE, SIG_IGN);
	CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, a) == 0);
	CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, b) == 0);
	CHECK(pipe2(hold, O_CLOEXEC) == 0);
	fflush(stdout);
	held.pid = fork();
	if (held.pid == 0) {
		close(a[1]);
		close(b[1]);
		exit(!serve(a[0], b[0], hold, last, until_end));
	}
	close(a[0]);
	close(b[0]);
	close(hold[0]);
	held.hold = hold[1];
	held.a = (struct client){.in = a[1], .out = dup(a[1])};
	held.b = (struct client){.in = b[1], .out = dup(b[1])};
	gb_buf_init(&held.a.got, 1000u << 20);
	gb_buf_init(&held.b.got, 1000u << 20);
	client_expect(&held.a, "hello", -1);
	client_expect(&held.b, "hello", -1);
	return held;
}

static struct held start(void) {
	return start_until(0, false);
}

static void release(struct held *held) {
	close(held->hold);
	held->hold = -1;
}

static void end(struct held *held) {
	int status = -1;
	if (held->hold >= 0)
		release(held);
	client_shut(&held->a);
	client_shut(&held->b);
	CHECK(waitpid(held->pid, &status, 0) == held->pid);
	CHECK_INT(status, 0);
}

/* --- clients --- */

/* Send a run of @source with a global 'data': an array of about @n bytes of small values. */
static void say_long(struct client *client, int run, const char *source, size_t n) {
	static const char item[] = "{\"id\":12345,\"tags\":[1,\"x\"]},";
	struct gb_buf line;
	gb_buf_init(&line, 200u << 20);
	gb_buf_printf(&line,
	    "{\"type\":\"run\",\"run\":%d,\"source\":\"%s\",\"limits\":{\"timeoutMs\":200000},"
	    "\"options\":{\"memoryLimitBytes\":2000000000,\"globals\":{\"data\":[",
	    run, source);
	while (line.len < n)
		gb_buf_append(&line, item, sizeof item - 1);
	gb_buf_printf(&line, "0]}}}\n");
	CHECK(client_say_bytes(client, line.data, line.len));
	gb_buf_finish(&line);
}

static void say_one(struct client *client, int run) {
	client_say(client, "{\"type\":\"run\",\"run\":%d,\"source\":\"export default 1+1\"}", run);
}

/* Runs of this client settle. Meanwhile the loop reads everything that the other client has sent. */
static void run_some(struct client *client, int first) {
	for (int i = first; i < first + MANY; i++) {
		say_one(client, i);
		CHECK_INT(number_at(client_result(client, i, "success"), "result.result"), 2);
	}
}

static bool has_line(const struct client *client) {
	struct pollfd ready = {.fd = client->in, .events = POLLIN};
	return client->got.len > client->used || poll(&ready, 1, 0) > 0;
}

/* Receive the results of two runs, in either order. */
static void expect_both(struct client *client, const char *const statuses[2]) {
	for (int i = 0; i < 2; i++) {
		const struct gb_value *heard = client_hear(client);
		long long run = number_at(heard, "run");
		CHECK_STR(text_at(heard, "type"), "result");
		if (CHECK(run == 1 || run == 2))
			CHECK_STR(text_at(heard, "result.status"), statuses[run - 1]);
	}
}

/* --- messages --- */

TEST(runs_of_others_settle_while_a_large_message_is_read) {
	struct held held = start();
	say_long(&held.a, 1, "export default data.length", LARGE);
	run_some(&held.b, 1);
	CHECK(!has_line(&held.a));
	release(&held);
	CHECK(number_at(client_result(&held.a, 1, "success"), "result.result") > 1000000);
	run_some(&held.b, MANY + 1);
	end(&held);
}

TEST(messages_of_a_client_keep_their_order_around_a_long_one) {
	struct held held = start();
	say_one(&held.a, 1);
	client_result(&held.a, 1, "success");
	say_long(&held.a, 2, "export default data.length", LONG);
	say_one(&held.a, 3);
	run_some(&held.b, 1);
	CHECK(!has_line(&held.a));
	release(&held);
	/* Numbers of runs must increase: if 3 had been handled first, 2 would be rejected. */
	for (int i = 0; i < 2; i++)
		CHECK_STR(text_at(client_hear(&held.a), "result.status"), "success");
	end(&held);
}

TEST(a_terminate_behind_a_long_message_ends_its_run) {
	struct held held = start();
	client_say(&held.a, "{\"type\":\"run\",\"run\":1,\"source\":\"for(;;);\"}");
	say_long(&held.a, 2, "export default 2", LONG);
	client_say(&held.a, "{\"type\":\"terminate\",\"run\":1}");
	run_some(&held.b, 1);
	release(&held);
	expect_both(&held.a, (const char *const[]){"terminated", "success"});
	end(&held);
}

TEST(long_messages_of_several_clients_are_all_handled) {
	struct held held = start();
	for (int i = 1; i <= MANY; i++) {
		say_long(&held.a, i, "export default data.length", LONG);
		say_long(&held.b, i, "export default data.length", i == 1 ? GB_SERVICE_LARGE + LONG : LONG);
		if (i == 1)
			release(&held);
		CHECK(number_at(client_result(&held.a, i, "success"), "result.result") > 3000);
		client_result(&held.b, i, "success");
	}
	end(&held);
}

TEST(long_messages_get_the_same_errors_as_short_ones) {
	static const struct {
		const char *head, *tail, *code, *field;
	} cases[] = {
	    {"{\"type\":\"run\",\"run\":1,\"source\":\"1\",\"x\":\"", "\"", "malformed", ""},
	    {"{\"type\":\"run\",\"run\":2,\"source\":\"1\",\"x\":\"", "\"}", "invalid", "x"},
	    {"{\"type\":\"run\",\"run\":3,\"source\":\"1\",\"options\":{\"globals\":{\"1a\":\"", "\"}}}",
		"invalid", "options.globals"},
	    {"{\"type\":\"run\",\"run\":4,\"source\":\"1\",\"session\":\"s\",\"options\":{\"globals\":{\"a\":"
	     "\"",
		"\"}}}", "unknown_session", ""},
	    {"{\"type\":\"run\",\"run\":3,\"source\":\"1\",\"options\":{\"globals\":{\"a\":\"", "\"}}}",
		"invalid", "run"},
	    {"{\"type\":\"what\",\"run\":5,\"x\":\"", "\"}", "unknown_type", ""},
	    {"{\"type\":\"answer\",\"run\":1000,\"call\":1,\"return\":\"", "\"}", "unknown_run", ""},
	};
	static char filler[LONG + 1];
	struct held held = start();
	release(&held);
	memset(filler, 'x', LONG);
	for (size_t i = 0; i < GB_COUNT(cases); i++)
		for (int is_long = 0; is_long < 2; is_long++) {
			struct client *client = is_long ? &held.a : &held.b;
			client_say(client, "%s%s%s", cases[i].head, is_long ? filler : "x", cases[i].tail);
			const struct gb_value *heard = client_hear(client);
			CHECK_STR(text_at(heard, "type"), "error");
			CHECK_STR(text_at(heard, "code"), cases[i].code);
			CHECK_STR(text_at(heard, "field"), cases[i].field);
		}
	say_one(&held.a, 10);
	client_result(&held.a, 10, "success");
	end(&held);
}

TEST(a_long_message_runs_in_its_session) {
	struct held held = start();
	client_say(&held.a, "{\"type\":\"session_open\",\"request\":1,\"name\":\"s\"}");
	client_expect(&held.a, "session", -1);
	client_say(&held.a, "{\"type\":\"run\",\"run\":1,\"session\":\"s\",\"source\":\"var x = 40\"}");
	client_result(&held.a, 1, "success");
	client_say(
	    &held.a, "{\"type\":\"run\",\"run\":2,\"session\":\"s\",\"source\":\"//%*d\\nx + 2\"}", LONG, 1);
	client_say(&held.a, "{\"type\":\"session_kill\",\"request\":2,\"session\":\"s\"}");
	run_some(&held.b, 1);
	release(&held);
	/* The session is killed only after the run was submitted. */
	const struct gb_value *heard = client_hear(&held.a);
	if (strcmp(text_at(heard, "type"), "session") == 0)
		heard = client_hear(&held.a);
	CHECK_STR(text_at(heard, "type"), "result");
	end(&held);
}

TEST(a_session_that_ends_while_a_long_message_is_read_is_an_error) {
	struct held held = start();
	client_say(&held.a, "{\"type\":\"session_open\",\"request\":1,\"name\":\"s\"}");
	client_expect(&held.a, "session", -1);
	client_say(
	    &held.a, "{\"type\":\"run\",\"run\":2,\"session\":\"s\",\"source\":\"//%*d\\n1\"}", LONG, 1);
	client_say(&held.b, "{\"type\":\"session_kill\",\"request\":2,\"session\":\"s\"}");
	client_expect(&held.b, "session", -1);
	run_some(&held.b, 1);
	release(&held);
	client_expect(&held.a, "error", 2);
	end(&held);
}

/* --- ends --- */

TEST(a_client_may_disconnect_while_its_message_is_read) {
	struct held held = start();
	say_long(&held.a, 1, "export default 1", LONG);
	run_some(&held.b, 1);
	client_shut(&held.a);
	release(&held);
	run_some(&held.b, MANY + 1);
	end(&held);
}

TEST(a_client_is_destroyed_while_its_message_is_read) {
	struct held held = start_until(0, true);
	/* The server notices the disconnect when it writes the output of this run. */
	client_say(&held.a, "{\"type\":\"run\",\"run\":1,\"source\":\"for(;;)console.log(1)\"}");
	say_long(&held.a, 2, "export default 1", LONG);
	run_some(&held.b, 1);
	client_shut(&held.a);
	release(&held);
	run_some(&held.b, MANY + 1);
	end(&held);
}

TEST(the_server_is_destroyed_while_messages_are_read) {
	struct held held = start_until(1, true);
	say_long(&held.a, 1, "export default 1", LONG);
	run_some(&held.b, 1);
	release(&held);
	client_shut(&held.b);
	CHECK(!client_line(&held.a));
	end(&held);
}

/* --- results --- */

enum { LOGS = 200 };

/* A run without a long line or value, whose result is long, since it contains the logs. Returns after all logs. */
static void log_much(struct client *client, int run) {
	client_say(client,
	    "{\"type\":\"run\",\"run\":%d,\"source\":\"for (let i = 0; i < %d; i++)"
	    "console.log('x'.repeat(1000)); export default 1\"}",
	    run, LOGS);
	for (int i = 0; i < LOGS; i++)
		client_expect(client, "log", run);
}

/* Wait until the service has the result of run 1 of the other client. The result itself is held. */
static void wait_until_done(struct client *other) {
	const struct gb_value *heard;
	do {
		client_say(other, "{\"type\":\"execution_list\",\"request\":1}");
		heard = client_expect(other, "executions", -1);
	} while (strcmp(text_at(heard, "executions.0.state"), "running") == 0);
	CHECK_STR(text_at(heard, "executions.0.state"), "done");
}

static void check_logs(const struct gb_value *result) {
	CHECK_INT(number_at(result, "result.result"), 1);
	CHECK_INT(gb_value_count(at(result, "result.logs")), LOGS);
}

TEST(other_runs_settle_while_a_long_result_is_written) {
	struct held held = start();
	log_much(&held.a, 1);
	wait_until_done(&held.b);
	run_some(&held.b, 1);
	CHECK(!has_line(&held.a));
	/* The run has ended: messages about it are too late, and later runs of the client do not wait. */
	client_say(&held.a, "{\"type\":\"terminate\",\"run\":1}");
	run_some(&held.a, 2);
	CHECK(!has_line(&held.a));
	release(&held);
	check_logs(client_result(&held.a, 1, "success"));
	run_some(&held.a, MANY + 2);
	end(&held);
}

TEST(a_client_that_has_closed_its_input_gets_its_long_result) {
	struct held held = start();
	log_much(&held.a, 1);
	wait_until_done(&held.b);
	shutdown(held.a.out, SHUT_WR);
	run_some(&held.b, 1);
	release(&held);
	check_logs(client_result(&held.a, 1, "success"));
	CHECK(!client_line(&held.a));
	end(&held);
}

TEST(a_client_may_disconnect_while_its_result_is_written) {
	struct held held = start();
	log_much(&held.a, 1);
	client_shut(&held.a);
	run_some(&held.b, 1);
	release(&held);
	run_some(&held.b, MANY + 1);
	end(&held);
}

TEST(a_client_is_destroyed_while_its_result_is_written) {
	struct held held = start_until(0, true);
	log_much(&held.a, 1);
	/* The server notices the disconnect when it writes the output of this run. */
	client_say(&held.a, "{\"type\":\"run\",\"run\":2,\"source\":\"for(;;)console.log(1)\"}");
	client_expect(&held.a, "log", 2);
	client_shut(&held.a);
	run_some(&held.b, 1);
	end(&held);
}

TEST(the_server_is_destroyed_while_a_result_is_written) {
	struct held held = start_until(1, true);
	log_much(&held.a, 1);
	run_some(&held.b, 1);
	release(&held);
	client_shut(&held.b);
	CHECK(!client_line(&held.a));
	end(&held);
}
