/* Sessions by name: limits, queues, timeouts, ends. */
#include <glovebox/sessions.h>

#include "e2e/engine.h"
#include "tap.h"

static struct gb_engine *engine;

__attribute__((constructor)) static void set_up(void) {
	engine = engine_with((struct gb_engine_options){.shards = 1});
	if (!engine)
		exit(1);
}

__attribute__((destructor)) static void tear_down(void) {
	gb_engine_destroy(engine);
}

/* --- helpers --- */

static struct gb_manager *manage(struct gb_manager_options options) {
	struct gb_manager *manager = NULL;
	struct gb_err err = {0};
	CHECK(gb_manager_create(engine, &options, &manager, &err));
	return manager;
}

static bool open_named(struct gb_manager *manager, const char *name, struct gb_err *err) {
	struct gb_session_info info;
	return gb_manager_open(
	    manager, &(struct gb_session_asked){.language = GB_JAVASCRIPT, .name = name}, &info, err);
}

static struct gb_run *execute(struct gb_manager *manager, const char *session, const char *source) {
	struct gb_run *run = NULL;
	struct gb_err err = {0};
	if (!CHECK(
		gb_manager_execute(manager, session, &(struct gb_run_options){.source = source}, &run, &err)))
		printf("#   %s\n", err.message);
	return run;
}

static double number(struct gb_manager *manager, const char *session, const char *source) {
	struct gb_run *run = execute(manager, session, source);
	const struct gb_result *result = run ? gb_run_wait(run) : NULL;
	double value = result && result->status == GB_SUCCESS ? gb_value_as_number(result->value) : -1;
	gb_run_destroy(run);
	return value;
}

static struct gb_session_info info_of(struct gb_manager *manager, const char *session) {
	struct gb_session_info info = {0};
	struct gb_err err = {0};
	CHECK(gb_manager_get(manager, session, &info, &err));
	return info;
}

/* Dispatch until @session has ended. */
static void wait_for_end(struct gb_manager *manager, const char *session) {
	for (int i = 0; i < 3000 && info_of(manager, session).state != GB_SESSION_TERMINATED; i++)
		gb_engine_dispatch(engine, 20, NULL);
	CHECK_STR(gb_session_state_name(info_of(manager, session).state), "terminated");
}

/* --- records --- */

TEST(session_info_has_all_fields) {
	struct gb_manager *manager = manage((struct gb_manager_options){0});
	struct gb_session_info info;
	struct gb_err err = {0};
	const struct gb_session_asked asked = {
	    .conversation = "chat", .language = GB_TYPESCRIPT, .name = "work"};
	CHECK(gb_manager_open(manager, &asked, &info, &err));
	CHECK_INT((int)strlen(info.id), 32);
	CHECK_INT((int)strspn(info.id, "0123456789abcdef"), 32);
	CHECK_STR(info.name, "work");
	CHECK_STR(info.conversation, "chat");
	CHECK_STR(gb_session_state_name(info.state), "idle");
	CHECK_STR(info.reason, "");
	CHECK(info.created_at > 1e12 && info.last_used_at >= info.created_at);
	CHECK_INT((int)info.executions, 0);
	char id[33];
	strcpy(id, info.id);
	CHECK_INT((int)number(manager, "work", "let x: number = 3; x"), 3);
	CHECK_INT((int)number(manager, id, "x + 1"), 4);
	CHECK(
	    gb_manager_add_tokens(manager, "work", 70, &err) && gb_manager_add_tokens(manager, id, 7, &err));
	CHECK(gb_manager_trust(manager, "work", true, &err));
	info = info_of(manager, id);
	CHECK_INT((int)info.executions, 2);
	CHECK_INT((int)info.tokens, 77);
	CHECK(info.trusted);
	gb_manager_destroy(manager);
}

TEST(two_sessions_share_nothing) {
	struct gb_manager *manager = manage((struct gb_manager_options){0});
	struct gb_err err = {0};
	CHECK(open_named(manager, "a", &err) && open_named(manager, "b", &err));
	number(manager, "a", "var x = 1");
	CHECK_INT((int)number(manager, "b", "typeof x === 'undefined' ? 5 : 6"), 5);
	CHECK(strcmp(info_of(manager, "a").id, info_of(manager, "b").id) != 0);
	gb_manager_destroy(manager);
}

TEST(get_or_create_returns_a_matching_session) {
	struct gb_manager *manager = manage((struct gb_manager_options){0});
	struct gb_err err = {0};
	struct gb_session_info a, b, c, d;
	struct gb_session_asked asked = {.conversation = "1", .language = GB_JAVASCRIPT};
	CHECK(gb_manager_get_or_create(manager, &asked, &a, &err));
	CHECK(gb_manager_get_or_create(manager, &asked, &b, &err));
	CHECK_STR(a.id, b.id);
	asked.language = GB_TYPESCRIPT;
	CHECK(gb_manager_get_or_create(manager, &asked, &c, &err));
	asked.conversation = "2";
	CHECK(gb_manager_get_or_create(manager, &asked, &d, &err));
	CHECK(strcmp(a.id, c.id) != 0 && strcmp(c.id, d.id) != 0);
	CHECK_INT((int)gb_manager_count(manager), 3);
	/* An ended session does not match. */
	CHECK(gb_manager_kill(manager, d.id, NULL, &err));
	struct gb_session_info again;
	CHECK(gb_manager_get_or_create(manager, &asked, &again, &err));
	CHECK(strcmp(again.id, d.id) != 0);
	gb_manager_destroy(manager);
}

TEST(names_are_checked) {
	static const char *const bad[] = {"", "-x", "a b", "a/b", "\x1b[1m", "ä"};
	struct gb_manager *manager = manage((struct gb_manager_options){0});
	struct gb_err err = {0};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		CHECK(!open_named(manager, bad[i], &err));
		CHECK_INT(err.code, GB_EINVAL);
	}
	char longest[80] = "";
	memset(longest, 'a', 65);
	CHECK(!open_named(manager, longest, &err) && strstr(err.message, "name: "));
	CHECK(open_named(manager, "a.b_c-1", &err));
	CHECK(!open_named(manager, "a.b_c-1", &err) && strstr(err.message, "already"));
	CHECK(!gb_manager_kill(manager, "nobody", NULL, &err));
	CHECK_INT(err.code, GB_ENOENT);
	gb_manager_destroy(manager);
}

/* --- limits --- */

TEST(the_number_of_sessions_is_limited) {
	struct gb_manager *manager = manage((struct gb_manager_options){.max_sessions = 2});
	struct gb_err err = {0};
	CHECK(open_named(manager, "a", &err) && open_named(manager, "b", &err));
	CHECK(!open_named(manager, "c", &err));
	CHECK_INT(err.code, GB_ELIMIT);
	CHECK(gb_manager_kill(manager, "a", NULL, &err) && open_named(manager, "c", &err));
	gb_manager_destroy(manager);
}

TEST(the_number_of_sessions_per_conversation_is_limited) {
	struct gb_manager *manager = manage((struct gb_manager_options){0});
	struct gb_err err = {0};
	struct gb_session_info info;
	struct gb_session_asked asked = {.conversation = "chat", .language = GB_JAVASCRIPT};
	for (int i = 0; i < 5; i++)
		CHECK(gb_manager_open(manager, &asked, &info, &err));
	CHECK(!gb_manager_open(manager, &asked, &info, &err));
	CHECK_INT(err.code, GB_ELIMIT);
	CHECK(strstr(err.message, "conversation 'chat' has 5"));
	asked.conversation = "another";
	CHECK(gb_manager_open(manager, &asked, &info, &err));
	CHECK_INT((int)gb_manager_cleanup(manager, "chat", NULL), 5);
	CHECK_INT((int)gb_manager_count(manager), 1);
	CHECK(gb_manager_at(manager, "chat", 4, &info));
	CHECK_STR(info.reason, "its conversation has ended");
	CHECK(!gb_manager_at(manager, "chat", 5, &info));
	gb_manager_destroy(manager);
}

/* --- queues --- */

static char order[16];

static void note_order(struct gb_run *run, const struct gb_result *result, void *data) {
	size_t n = strlen(order);
	if (n + 1 < sizeof order)
		order[n] = *(const char *)data;
}

static struct gb_run *queue(struct gb_manager *manager, const char *source, const char *mark) {
	struct gb_run *run = NULL;
	struct gb_err err = {0};
	struct gb_run_options options = {.source = source, .on_settled = note_order, .data = (void *)mark};
	if (!CHECK(gb_manager_execute(manager, "q", &options, &run, &err)))
		printf("#   %s\n", err.message);
	return run;
}

TEST(queued_runs_execute_in_order) {
	struct gb_manager *manager = manage((struct gb_manager_options){0});
	struct gb_err err = {0};
	struct gb_run *runs[4];
	memset(order, 0, sizeof order);
	CHECK(open_named(manager, "q", &err));
	runs[0] = queue(manager, "let s = 'a'; for (let i = 0; i < 1e6; i++); s", "a");
	runs[1] = queue(manager, "s += 'b'", "b");
	runs[2] = queue(manager, "s += 'c'", "c");
	runs[3] = queue(manager, "s += 'd'", "d");
	CHECK_INT((int)info_of(manager, "q").queued, 3);
	CHECK_STR(gb_session_state_name(info_of(manager, "q").state), "executing");
	const struct gb_result *result = gb_run_wait(runs[3]);
	CHECK_STR(gb_value_bytes(result->value, NULL), "abcd");
	CHECK_STR(order, "abcd");
	CHECK_INT((int)info_of(manager, "q").executions, 4);
	for (int i = 0; i < 4; i++)
		gb_run_destroy(runs[i]);
	gb_manager_destroy(manager);
}

TEST(a_queued_run_can_be_terminated_or_destroyed) {
	struct gb_manager *manager = manage((struct gb_manager_options){0});
	struct gb_err err = {0};
	memset(order, 0, sizeof order);
	CHECK(open_named(manager, "q", &err));
	struct gb_run *first = queue(manager, "for (let i = 0; i < 1e6; i++);", "a");
	struct gb_run *second = queue(manager, "globalThis.never = 1", "b"),
		      *third = queue(manager, "globalThis.never = 1", "c");
	struct gb_run *last = queue(manager, "typeof never === 'undefined' ? 1 : 0", "d");
	CHECK(!gb_run_interrupt(second));
	gb_run_terminate(second, "not wanted any more");
	CHECK_STR(gb_run_result(second)->error.message, "not wanted any more");
	CHECK_STR(gb_status_name(gb_run_result(second)->status), "terminated");
	gb_run_destroy(third);
	CHECK_INT((int)info_of(manager, "q").queued, 1);
	CHECK_INT((int)gb_value_as_number(gb_run_wait(last)->value), 1);
	CHECK_STR(order, "bad");
	gb_run_destroy(first);
	gb_run_destroy(second);
	gb_run_destroy(last);
	gb_manager_destroy(manager);
}

TEST(the_length_of_a_queue_is_limited) {
	struct gb_manager *manager = manage((struct gb_manager_options){.max_queue = 2});
	struct gb_err err = {0};
	struct gb_run *runs[3], *more;
	CHECK(open_named(manager, "q", &err));
	for (int i = 0; i < 3; i++)
		runs[i] = execute(manager, "q", "for (;;);");
	CHECK(!gb_manager_execute(manager, "q", &(struct gb_run_options){.source = "1"}, &more, &err));
	CHECK_INT(err.code, GB_ELIMIT);
	CHECK(gb_manager_kill(manager, "q", "enough", &err));
	for (int i = 0; i < 3; i++) {
		CHECK_STR(gb_status_name(gb_run_result(runs[i])->status), "terminated");
		CHECK_STR(gb_run_result(runs[i])->error.message, "enough");
		gb_run_destroy(runs[i]);
	}
	CHECK_STR(info_of(manager, "q").reason, "enough");
	gb_manager_destroy(manager);
}

TEST(after_an_interrupt_the_next_queued_run_begins) {
	struct gb_manager *manager = manage((struct gb_manager_options){0});
	struct gb_err err = {0};
	CHECK(open_named(manager, "q", &err));
	CHECK(!gb_manager_interrupt(manager, "q", &err) && strstr(err.message, "nothing executes"));
	number(manager, "q", "var x = 6");
	struct gb_run *loop = execute(manager, "q", "for (;;);"), *next = execute(manager, "q", "x");
	for (int i = 0; i < 20; i++)
		gb_engine_dispatch(engine, 5, NULL);
	CHECK(gb_manager_interrupt(manager, "q", &err));
	CHECK_INT((int)gb_value_as_number(gb_run_wait(next)->value), 6);
	CHECK_STR(gb_run_result(loop)->error.code, "interrupted");
	CHECK(!gb_manager_send(manager, "q", "y", 1, &err) && strstr(err.message, "takes no input"));
	gb_run_destroy(loop);
	gb_run_destroy(next);
	gb_manager_destroy(manager);
}

TEST(a_run_is_validated_when_it_is_queued) {
	struct gb_manager *manager = manage((struct gb_manager_options){0});
	struct gb_err err = {0};
	struct gb_run *run = NULL;
	CHECK(open_named(manager, "q", &err));
	struct gb_run *loop = execute(manager, "q", "for (;;);");
	CHECK(!gb_manager_execute(
	    manager, "q", &(struct gb_run_options){.source = "1", .memory_bytes = 1}, &run, &err));
	CHECK(strstr(err.message, "memory_bytes: "));
	CHECK_INT((int)info_of(manager, "q").queued, 0);
	gb_run_destroy(loop);
	wait_for_end(manager, "q");
	gb_manager_destroy(manager);
}

/* --- waits for input --- */

struct asked {
	unsigned n;
	char prompts[8][64];
};

static void answer(
    struct gb_manager *manager, const struct gb_session_info *info, struct gb_run *run, void *data) {
	struct asked *asked = data;
	char text[64], id[33];
	CHECK(run && !gb_run_settled(run));
	CHECK_STR(gb_session_state_name(info->state), "awaiting_input");
	if (!CHECK(asked->n < 8))
		return;
	snprintf(asked->prompts[asked->n], sizeof asked->prompts[0], "%s", info->prompt);
	int n = snprintf(text, sizeof text, "answer %u\n", ++asked->n);
	strcpy(id, info->id);
	CHECK(gb_manager_send(manager, id, text, (size_t)n, NULL));
	CHECK_STR(gb_session_state_name(info_of(manager, id).state), "executing");
	CHECK_STR(info_of(manager, id).prompt, "");
}

TEST(every_wait_for_input_is_reported_and_can_be_answered) {
	struct asked asked = {0};
	struct gb_manager *manager =
	    manage((struct gb_manager_options){.on_awaiting = answer, .data = &asked});
	struct gb_session_info info;
	struct gb_err err = {0};
	CHECK(gb_manager_open(
	    manager, &(struct gb_session_asked){.language = GB_SHELL, .name = "sh"}, &info, &err));
	struct gb_run *run = execute(manager, "sh",
	    "for i in 1 2 3; do read -p \"question $i? \" a[$i]; done; printf %s, \"${a[@]}\"");
	const struct gb_result *result = gb_run_wait(run);
	CHECK(result && strstr(result->stdout_text, "answer 1,answer 2,answer 3,"));
	CHECK_INT((int)asked.n, 3);
	CHECK_STR(asked.prompts[0], "question 1? ");
	CHECK_STR(asked.prompts[2], "question 3? ");
	CHECK_STR(gb_session_state_name(info_of(manager, "sh").state), "idle");
	gb_run_destroy(run);
	gb_manager_destroy(manager);
}

/* --- ends --- */

TEST(an_idle_session_ends) {
	struct gb_manager *manager = manage((struct gb_manager_options){.idle_ms = 50});
	struct gb_err err = {0};
	CHECK(open_named(manager, "a", &err));
	wait_for_end(manager, "a");
	CHECK_STR(info_of(manager, "a").reason, "it was idle for 1 s");
	CHECK(!gb_manager_execute(
	    manager, "a", &(struct gb_run_options){.source = "1"}, &(struct gb_run *){0}, &err));
	CHECK(strstr(err.message, "'a' has ended: it was idle"));
	CHECK_INT((int)gb_manager_count(manager), 0);
	gb_manager_destroy(manager);
}

TEST(an_executing_session_is_not_idle_but_reaches_its_maximum_age) {
	struct gb_manager *manager = manage((struct gb_manager_options){.idle_ms = 50, .max_age_ms = 400});
	struct gb_err err = {0};
	CHECK(open_named(manager, "a", &err));
	struct gb_run *run = execute(manager, "a", "for (;;);");
	const struct gb_result *result = gb_run_wait(run);
	CHECK(strstr(result->error.message, "as old as a session gets"));
	gb_run_destroy(run);
	wait_for_end(manager, "a");
	gb_manager_destroy(manager);
}

TEST(exceeding_the_memory_limit_ends_the_session_and_its_queued_runs) {
	struct gb_manager *manager = manage((struct gb_manager_options){0});
	struct gb_err err = {0};
	CHECK(open_named(manager, "a", &err));
	struct gb_run *run = execute(manager, "a", "let a = []; for (;;) a.push(new Array(1000).fill(0))");
	struct gb_run *next = execute(manager, "a", "1");
	const struct gb_result *result = gb_run_wait(next);
	CHECK_STR(gb_status_name(gb_run_result(run)->status), "memory");
	CHECK_STR(gb_status_name(result->status), "terminated");
	CHECK(strstr(result->error.message, "more memory than its limit"));
	CHECK(strstr(info_of(manager, "a").reason, "more memory than its limit"));
	gb_run_destroy(run);
	gb_run_destroy(next);
	gb_manager_destroy(manager);
}

TEST(ended_sessions_are_listed_for_a_while) {
	struct gb_manager *manager = manage((struct gb_manager_options){.max_ended = 2, .ended_ms = 200});
	struct gb_err err = {0};
	struct gb_session_info info;
	const char *const names[] = {"a", "b", "c"};
	for (int i = 0; i < 3; i++)
		CHECK(open_named(manager, names[i], &err) && gb_manager_kill(manager, names[i], "why", &err));
	CHECK(!gb_manager_get(manager, "a", &info, &err));
	CHECK(gb_manager_at(manager, NULL, 1, &info));
	CHECK_STR(info.name, "c");
	CHECK_STR(info.reason, "why");
	/* The name is free again, and refers to the live session. */
	CHECK(open_named(manager, "c", &err));
	CHECK_STR(gb_session_state_name(info_of(manager, "c").state), "idle");
	for (int i = 0; i < 200 && gb_manager_at(manager, NULL, 1, &info); i++)
		gb_engine_dispatch(engine, 20, NULL);
	CHECK(gb_manager_at(manager, NULL, 0, &info));
	CHECK_STR(gb_session_state_name(info.state), "idle");
	CHECK(!gb_manager_at(manager, NULL, 1, &info));
	gb_manager_destroy(manager);
}

static struct gb_manager *reentered;

static void open_another(struct gb_run *run, const struct gb_result *result, void *data) {
	struct gb_err err = {0};
	CHECK(!gb_manager_execute(
	    reentered, "a", &(struct gb_run_options){.source = "1"}, &(struct gb_run *){0}, &err));
	CHECK(gb_manager_kill(reentered, "a", "again", &err));
	CHECK(open_named(reentered, data, &err));
	gb_run_destroy(run);
}

TEST(callbacks_may_use_the_manager) {
	struct gb_manager *manager = reentered = manage((struct gb_manager_options){0});
	struct gb_err err = {0};
	struct gb_run *run;
	CHECK(open_named(manager, "a", &err));
	struct gb_run_options options = {
	    .source = "for (;;);", .on_settled = open_another, .data = (void *)"b"};
	CHECK(gb_manager_execute(manager, "a", &options, &run, &err));
	options.data = (void *)"c";
	CHECK(gb_manager_execute(manager, "a", &options, &run, &err));
	CHECK(gb_manager_kill(manager, "a", "why", &err));
	CHECK_STR(info_of(manager, "a").reason, "why");
	CHECK_STR(gb_session_state_name(info_of(manager, "c").state), "idle");
	CHECK_INT((int)gb_manager_count(manager), 2);
	gb_manager_destroy(manager);
}

static void terminate_another(struct gb_run *run, const struct gb_result *result, void *data) {
	gb_run_terminate(*(struct gb_run **)data, "by a callback");
}

/* The session is closed when the callback is called. */
TEST(callback_of_a_queued_run_may_terminate_another_when_their_session_is_killed) {
	struct gb_manager *manager = manage((struct gb_manager_options){0});
	struct gb_err err = {0};
	struct gb_run *second = NULL, *third = NULL;
	CHECK(open_named(manager, "a", &err));
	struct gb_run *first = execute(manager, "a", "for (;;);");
	const struct gb_run_options options = {
	    .source = "2", .on_settled = terminate_another, .data = &third};
	CHECK(gb_manager_execute(manager, "a", &options, &second, &err));
	third = execute(manager, "a", "3");
	CHECK(gb_manager_kill(manager, "a", "killed", &err));
	CHECK_STR(gb_run_result(first)->error.message, "killed");
	CHECK_STR(gb_run_result(second)->error.message, "killed");
	CHECK_STR(gb_run_result(third)->error.message, "by a callback");
	CHECK_STR(info_of(manager, "a").reason, "killed");
	gb_run_destroy(first);
	gb_run_destroy(second);
	gb_run_destroy(third);
	gb_manager_destroy(manager);
}

static void note_log(struct gb_run *run, const struct gb_log *log, void *data) {
	*(bool *)data = true;
}

static void kill_session(struct gb_run *run, const struct gb_result *result, void *data) {
	CHECK(gb_manager_kill(reentered, "a", "by a callback", NULL));
}

TEST(callback_of_a_terminated_run_may_kill_its_session) {
	struct gb_manager *manager = reentered = manage((struct gb_manager_options){0});
	struct gb_err err = {0};
	struct gb_run *run = NULL;
	bool runs = false;
	CHECK(open_named(manager, "a", &err));
	const struct gb_run_options options = {.source = "console.log(1); for (;;);",
	    .on_log = note_log,
	    .on_settled = kill_session,
	    .data = &runs};
	CHECK(gb_manager_execute(manager, "a", &options, &run, &err));
	while (!runs && !gb_run_settled(run))
		gb_engine_dispatch(engine, -1, NULL);
	gb_run_terminate(run, "terminated");
	CHECK_STR(gb_run_result(run)->error.message, "terminated");
	CHECK_STR(gb_session_state_name(info_of(manager, "a").state), "terminated");
	CHECK_STR(info_of(manager, "a").reason, "terminated");
	CHECK_INT((int)gb_manager_count(manager), 0);
	gb_run_destroy(run);
	gb_manager_destroy(manager);
}

TEST(an_engine_is_destroyed_with_its_sessions) {
	struct gb_engine *own = engine_with((struct gb_engine_options){.shards = 1});
	struct gb_manager *manager;
	struct gb_err err = {0};
	struct gb_run *run;
	CHECK(gb_manager_create(own, NULL, &manager, &err));
	CHECK(open_named(manager, "a", &err));
	CHECK(gb_manager_execute(manager, "a", &(struct gb_run_options){.source = "for (;;);"}, &run, &err));
	CHECK(gb_manager_execute(manager, "a", &(struct gb_run_options){.source = "1"}, &run, &err));
	gb_engine_destroy(own);
	CHECK_STR(info_of(manager, "a").reason, "the engine has ended");
	CHECK(!open_named(manager, "b", &err) && strstr(err.message, "engine has ended"));
	gb_manager_destroy(manager);
}

static void let_engine_rest(void) {
	for (int i = 0; i < 50; i++)
		gb_engine_dispatch(engine, 10, NULL);
}

TEST(destroyed_managers_leave_nothing_behind) {
	let_engine_rest();
	struct census before = take_census();
	for (int i = 0; i < 20; i++) {
		struct gb_manager *manager = manage((struct gb_manager_options){0});
		struct gb_err err = {0};
		struct gb_run *runs[2];
		CHECK(open_named(manager, "a", &err));
		runs[0] = execute(manager, "a", "for (;;);");
		runs[1] = execute(manager, "a", "1");
		gb_manager_destroy(manager);
		CHECK_STR(gb_run_result(runs[1])->error.message, "the session manager has ended");
		gb_run_destroy(runs[0]);
		gb_run_destroy(runs[1]);
	}
	for (int i = 0; i < 100 && take_census().fds > before.fds + 8; i++)
		let_engine_rest();
	CHECK(take_census().fds <= before.fds + 8);
}

TEST(find_does_not_open_a_session) {
	struct gb_manager *manager = manage((struct gb_manager_options){.max_per_conversation = 1});
	static const char id[] = "00112233445566778899aabbccddeeff";
	struct gb_session_asked asked = {.conversation = "c", .language = GB_JAVASCRIPT};
	struct gb_session_info info;
	struct gb_err err = {0};
	bool found = true;
	CHECK(gb_manager_find(manager, &asked, &found, &info, &err) && !found);
	CHECK_INT(gb_manager_count(manager), 0);
	asked.id = "00112233445566778899aabbccddeefF";
	CHECK(!gb_manager_open(manager, &asked, &info, &err));
	asked.id = id;
	CHECK(gb_manager_open(manager, &asked, &info, &err));
	CHECK_STR(info.id, id);
	asked.id = NULL;
	CHECK(gb_manager_find(manager, &asked, &found, &info, &err) && found);
	CHECK_STR(info.id, id);
	/* Another session could not be opened. */
	asked.language = GB_PYTHON;
	CHECK(!gb_manager_find(manager, &asked, &found, &info, &err));
	CHECK_INT(err.code, GB_ELIMIT);
	/* Ids are not reused. */
	CHECK(gb_manager_kill(manager, id, NULL, &err));
	asked.id = id;
	CHECK(!gb_manager_open(manager, &asked, &info, &err));
	asked.id = NULL;
	asked.language = GB_DENO;
	CHECK(!gb_manager_find(manager, &asked, &found, &info, &err));
	gb_manager_destroy(manager);
}
