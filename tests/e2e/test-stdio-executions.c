/* Executions of all clients over 'glovebox stdio --socket': list, get, cancel, subscribe. */
#include <sys/stat.h>

#include "base/cleanup.h"
#include "e2e/stdio.h"

static char folder[] = "/tmp/gb-socket-XXXXXX", path[100];

__attribute__((constructor)) static void set_up(void) {
	if (!mkdtemp(folder))
		exit(1);
	snprintf(path, sizeof path, "%s/glovebox.sock", folder);
}

__attribute__((destructor)) static void tear_down(void) {
	rmdir(folder);
}

static struct client serve(const char *setting) {
	return client_start((const char *const[]){
	    "--socket", path, "--set", setting ? setting : "service.keepResults=20", NULL});
}

static struct client join(void) {
	struct client client = client_connect(path);
	client_expect(&client, "hello", -1);
	return client;
}

static int stop(struct client *server) {
	kill(server->pid, SIGTERM);
	return client_end(server);
}

/* Receive a message, which must be the event @name with the number @seq. */
static const struct gb_value *event(struct client *client, const char *name, double seq) {
	const struct gb_value *heard = client_hear(client);
	CHECK_STR(text_at(heard, "type"), "event");
	CHECK_STR(text_at(heard, "event"), name);
	CHECK_INT(number_at(heard, "seq"), seq);
	return heard;
}

static void note_id(const struct gb_value *heard, char id[33]) {
	snprintf(id, 33, "%s", text_at(heard, "execution"));
	CHECK_INT(strlen(id), 32);
}

TEST(a_client_gets_events_of_runs_of_other_clients) {
	struct client server = serve(NULL), a = join(), b = join();
	client_say(&b, "{\"type\":\"subscribe\",\"request\":7}");
	CHECK_STR(text_at(client_hear(&b), "type"), "subscribed");
	client_say(&a, "{\"type\":\"run\",\"run\":1,\"source\":\"console.log(1); export default 2\"}");
	char id[33];
	note_id(event(&b, "started", 1), id);
	CHECK_STR(text_at(event(&b, "log", 2), "execution"), id);
	const struct gb_value *heard = event(&b, "finished", 3);
	CHECK_INT(number_at(heard, "subscription"), 7);
	CHECK_STR(text_at(heard, "result.runId"), id);
	CHECK_INT(number_at(heard, "result.result"), 2);
	client_expect(&a, "log", 1);
	CHECK_STR(text_at(client_result(&a, 1, "success"), "result.runId"), id);
	client_say(&b, "{\"type\":\"unsubscribe\",\"request\":8,\"subscription\":7}");
	CHECK_STR(text_at(client_hear(&b), "type"), "unsubscribed");
	client_say(&b, "{\"type\":\"unsubscribe\",\"request\":9,\"subscription\":7}");
	CHECK_STR(text_at(client_hear(&b), "field"), "subscription");
	client_shut(&a);
	client_shut(&b);
	CHECK_INT(stop(&server), 0);
}

TEST(subscriptions_to_everything_are_limited) {
	struct client client = client_ready(NULL);
	for (int i = 1; i <= 64; i++) {
		client_say(&client, "{\"type\":\"subscribe\",\"request\":%d}", i);
		client_expect(&client, "subscribed", -1);
	}
	client_say(&client, "{\"type\":\"subscribe\",\"request\":65}");
	CHECK(strstr(text_at(client_expect(&client, "error", -1), "message"), "which is the limit"));
	client_say(&client, "{\"type\":\"unsubscribe\",\"request\":66,\"subscription\":1}");
	client_expect(&client, "unsubscribed", -1);
	client_say(&client, "{\"type\":\"subscribe\",\"request\":67}");
	client_expect(&client, "subscribed", -1);
	CHECK_INT(client_end(&client), 0);
}

TEST(a_late_subscriber_gets_the_events_that_are_kept) {
	struct client server = serve(NULL), a = join();
	client_say(&a, "{\"type\":\"run\",\"run\":1,\"source\":\"console.log(1); export default 2\"}");
	client_expect(&a, "log", 1);
	char id[33];
	snprintf(id, sizeof id, "%s", text_at(client_result(&a, 1, "success"), "result.runId"));
	client_say(&a, "{\"type\":\"execution_get\",\"request\":1,\"execution\":\"%s\"}", id);
	const struct gb_value *heard = client_hear(&a);
	CHECK_STR(text_at(heard, "execution.state"), "done");
	CHECK_INT(number_at(heard, "execution.result.result"), 2);
	client_say(&a, "{\"type\":\"subscribe\",\"request\":2,\"execution\":\"%s\",\"after\":1}", id);
	CHECK_STR(text_at(client_hear(&a), "type"), "subscribed");
	event(&a, "log", 2);
	event(&a, "finished", 3);
	client_shut(&a);
	CHECK_INT(stop(&server), 0);
}

/* Otherwise it would keep the execution as long as the client is connected. */
TEST(a_subscription_to_a_finished_execution_always_ends) {
	static const char *const afters[] = {"2", "3", "9007199254740991"};
	struct client server = serve(NULL), a = join();
	client_say(&a, "{\"type\":\"run\",\"run\":1,\"source\":\"export default 2\"}");
	char id[33];
	snprintf(id, sizeof id, "%s", text_at(client_result(&a, 1, "success"), "result.runId"));
	for (size_t i = 0; i < sizeof afters / sizeof *afters; i++) {
		client_say(&a, "{\"type\":\"subscribe\",\"request\":7,\"execution\":\"%s\",\"after\":%s}", id,
		    afters[i]);
		client_say(&a, "{\"type\":\"unsubscribe\",\"request\":8,\"subscription\":7}");
		CHECK_STR(text_at(client_hear(&a), "type"), "subscribed");
		/* Otherwise the reply to the second message would be the last. */
		if (!CHECK_STR(text_at(client_hear(&a), "event"), "finished"))
			break;
		CHECK_STR(text_at(client_hear(&a), "field"), "subscription");
	}
	client_shut(&a);
	CHECK_INT(stop(&server), 0);
}

TEST(results_are_kept_only_as_long_as_the_settings_say) {
	struct client server = serve("service.keepResults=0"), a = join();
	client_say(&a, "{\"type\":\"run\",\"run\":1,\"source\":\"export default 2\"}");
	char id[33];
	snprintf(id, sizeof id, "%s", text_at(client_result(&a, 1, "success"), "result.runId"));
	/* After another run, at least one turn has passed, in which the first execution was freed. */
	client_say(&a, "{\"type\":\"run\",\"run\":2,\"source\":\"export default 3\"}");
	client_result(&a, 2, "success");
	client_say(&a, "{\"type\":\"execution_get\",\"request\":1,\"execution\":\"%s\"}", id);
	CHECK_STR(text_at(client_hear(&a), "field"), "execution");
	client_shut(&a);
	CHECK_INT(stop(&server), 0);
}

TEST(another_client_can_end_an_execution) {
	struct client server = serve(NULL), a = join(), b = join();
	client_say(&b, "{\"type\":\"subscribe\",\"request\":1}");
	client_hear(&b);
	client_say(&a, "{\"type\":\"run\",\"run\":1,\"source\":\"for(;;);\"}");
	char id[33];
	note_id(event(&b, "started", 1), id);
	client_say(&b, "{\"type\":\"execution_list\",\"request\":2}");
	const struct gb_value *heard = client_hear(&b);
	CHECK_STR(text_at(heard, "executions.0.id"), id);
	CHECK_STR(text_at(heard, "executions.0.state"), "running");
	client_say(
	    &b, "{\"type\":\"execution_cancel\",\"request\":3,\"execution\":\"%s\",\"reason\":\"no\"}", id);
	event(&b, "finished", 2);
	CHECK_STR(text_at(client_hear(&b), "execution.state"), "done");
	CHECK_STR(text_at(client_result(&a, 1, "terminated"), "result.error.message"), "no");
	client_say(&b, "{\"type\":\"execution_cancel\",\"request\":4,\"execution\":\"zz\"}");
	CHECK_STR(text_at(client_hear(&b), "code"), "unknown_run");
	client_shut(&a);
	client_shut(&b);
	CHECK_INT(stop(&server), 0);
}

TEST(a_subscriber_that_does_not_read_loses_events_and_delays_no_other_client) {
	struct client server = serve(NULL), a = join(), b = join(), c = join();
	client_say(&b, "{\"type\":\"subscribe\",\"request\":1}");
	client_hear(&b);
	/* Far more than fits into the sockets, the unread output of a client and the kept events. */
	for (int i = 1; i <= 40; i++) {
		client_say(&a,
		    "{\"type\":\"run\",\"run\":%d,\"source\":\"for(let "
		    "i=0;i<200;i++)console.log('x'.repeat(4000))\"}",
		    i);
		const struct gb_value *heard = client_hear(&a);
		while (strcmp(text_at(heard, "type"), "log") == 0)
			heard = client_hear(&a);
		CHECK_STR(text_at(heard, "result.status"), "success");
		client_say(&c, "{\"type\":\"run\",\"run\":%d,\"source\":\"export default 1\"}", i);
		client_result(&c, i, "success");
	}
	/* Of each execution, the last event is delivered, or it is counted as missed. */
	long long finished = 0, missed = 0;
	while (finished + missed < 80) {
		const struct gb_value *heard = client_hear(&b);
		if (!CHECK_STR(text_at(heard, "type"), "event"))
			break;
		if (number_at(heard, "executions") > 0)
			missed += number_at(heard, "executions");
		finished += strcmp(text_at(heard, "event"), "finished") == 0;
	}
	CHECK_INT(finished + missed, 80);
	CHECK(missed > 0);
	client_shut(&a);
	client_shut(&b);
	client_shut(&c);
	CHECK_INT(stop(&server), 0);
}

/* --- unread replies --- */

/* The number of sessions after the server has handled all that other clients sent before, as far as it reads from
 * them. It asks twice, since the server may handle the first request before those of others in the same turn. */
static size_t count_sessions(struct client *client) {
	static const char list[] = "{\"type\":\"session_list\",\"request\":2}";
	client_say(client, "%s", list);
	client_hear(client);
	client_say(client, "%s", list);
	return gb_value_count(at(client_hear(client), "sessions"));
}

/* The limit is 64 MiB. */
TEST(requests_behind_too_many_unread_replies_wait_until_these_are_read) {
	enum { BYTES = 5000000, FIRST = 12, TOGETHER = 8 };
	struct client server = serve(NULL), a = join(), b = join();
	client_say(&a, "{\"type\":\"run\",\"run\":1,\"source\":\"export default 'x'.repeat(%d)\"}", BYTES);
	char id[33];
	snprintf(id, sizeof id, "%s", text_at(client_result(&a, 1, "success"), "result.runId"));
	for (int i = 0; i < FIRST; i++) {
		client_say(&b, "{\"type\":\"execution_get\",\"request\":1,\"execution\":\"%s\"}", id);
		CHECK_INT(count_sessions(&a), 0);
	}
	/* In one write, so that the server receives them together. */
	gb_auto_buf struct gb_buf lines;
	gb_buf_init(&lines, 1 << 16);
	for (int i = 0; i < TOGETHER; i++)
		gb_buf_printf(
		    &lines, "{\"type\":\"execution_get\",\"request\":1,\"execution\":\"%s\"}\n", id);
	gb_buf_printf(&lines, "{\"type\":\"session_open\",\"request\":3}\n");
	CHECK(client_say_bytes(&b, lines.data, lines.len));
	CHECK_INT(count_sessions(&a), 0);
	for (int i = 0; i < FIRST + TOGETHER; i++)
		CHECK_STR(text_at(client_hear(&b), "execution.id"), id);
	CHECK_STR(text_at(client_hear(&b), "type"), "session");
	CHECK_INT(count_sessions(&a), 1);
	client_shut(&a);
	client_shut(&b);
	CHECK_INT(stop(&server), 0);
}
