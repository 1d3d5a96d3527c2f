/* The first runs of a language, while its sandboxes start. Other runs and callers do not wait for the start. */
#include <glovebox/errors.h>
#include <glovebox/sessions.h>
#include <limits.h>
#include <signal.h>
#include <sys/stat.h>

#include "base/io.h"
#include "e2e/engine.h"
#include "tap.h"

enum { CHILDREN_MAX = 16 };

static struct gb_engine *engine_with_js(void) {
	struct gb_engine *engine = engine_with((struct gb_engine_options){.shards = 1, .warm = 1});
	if (!engine)
		exit(1);
	return engine;
}

static unsigned count_zygotes(void) {
	int pids[CHILDREN_MAX];
	return (unsigned)list_children(pids, CHILDREN_MAX);
}

static struct gb_run *start_python(struct gb_engine *engine, struct gb_run_options options) {
	options.language = GB_PYTHON;
	options.source = options.source ? options.source : "6 * 7";
	return start(engine, options);
}

static void check_success(struct gb_run *run) {
	const struct gb_result *result = run ? gb_run_wait(run) : NULL;
	if (CHECK(result) && !CHECK_INT(result->status, GB_SUCCESS))
		printf("#   %s: %s\n", result->error.code, result->error.message);
}

/* --- a zygote that is stopped while it starts --- */

struct zygotes {
	int pids[CHILDREN_MAX];
	size_t n;
};

/* Stop the zygotes that are not in @before. */
static struct zygotes stop_new(const struct zygotes *before) {
	struct zygotes all = {0}, ret = {0};
	all.n = list_children(all.pids, CHILDREN_MAX);
	for (size_t i = 0; i < all.n; i++) {
		bool is_new = true;
		for (size_t k = 0; k < before->n; k++)
			is_new &= all.pids[i] != before->pids[k];
		if (is_new && kill(all.pids[i], SIGSTOP) == 0)
			ret.pids[ret.n++] = all.pids[i];
	}
	CHECK(ret.n > 0);
	return ret;
}

static void resume(const struct zygotes *stopped) {
	for (size_t i = 0; i < stopped->n; i++)
		kill(stopped->pids[i], SIGCONT);
}

static struct zygotes running_zygotes(void) {
	struct zygotes ret = {0};
	ret.n = list_children(ret.pids, CHILDREN_MAX);
	return ret;
}

TEST(other_languages_run_while_a_language_starts) {
	struct gb_engine *engine = engine_with_js();
	const struct zygotes before = running_zygotes();
	struct gb_run *cold = start_python(engine, (struct gb_run_options){0});
	const struct zygotes stopped = stop_new(&before);
	CHECK(cold && !gb_run_begun(cold));
	for (int i = 0; i < 5; i++) {
		struct gb_run *warm =
		    start(engine, (struct gb_run_options){.source = "export default 1 + 1"});
		check_success(warm);
		gb_run_destroy(warm);
	}
	CHECK(!gb_run_begun(cold) && !gb_run_settled(cold));
	CHECK_INT(gb_engine_layers(engine, GB_PYTHON, NULL, 0), 0);
	resume(&stopped);
	check_success(cold);
	CHECK(gb_run_begun(cold));
	CHECK(gb_engine_layers(engine, GB_PYTHON, NULL, 0) > 0);
	gb_run_destroy(cold);
	gb_engine_destroy(engine);
	CHECK_INT(count_zygotes(), 0);
}

TEST(time_limit_starts_when_the_code_begins) {
	struct gb_engine *engine = engine_with_js();
	const struct zygotes before = running_zygotes();
	struct gb_run *cold = start_python(engine, (struct gb_run_options){.timeout_ms = 100});
	const struct zygotes stopped = stop_new(&before);
	for (uint64_t until = gb_now_ns() + 300000000; gb_now_ns() < until;)
		gb_engine_dispatch(engine, 50, NULL);
	CHECK(!gb_run_settled(cold));
	gb_run_destroy(cold);
	/* The duration of a run does not include the start of its sandbox either. */
	cold = start_python(engine, (struct gb_run_options){0});
	uint64_t waited = gb_now_ns();
	for (uint64_t until = gb_now_ns() + 300000000; gb_now_ns() < until;)
		gb_engine_dispatch(engine, 50, NULL);
	resume(&stopped);
	check_success(cold);
	waited = gb_now_ns() - waited;
	CHECK(gb_run_result(cold)->duration_ms < (double)waited / 1e6 - 250);
	gb_run_destroy(cold);
	gb_engine_destroy(engine);
}

static void note_settled(struct gb_run *run, const struct gb_result *result, void *data) {
	(void)run, (void)result;
	++*(unsigned *)data;
}

TEST(waiting_runs_may_be_terminated_and_destroyed) {
	struct gb_engine *engine = engine_with_js();
	const struct zygotes before = running_zygotes();
	unsigned n_settled = 0;
	const struct gb_run_options options = {.on_settled = note_settled, .data = &n_settled};
	struct gb_run *terminated = start_python(engine, options), *destroyed = start_python(engine, options),
		      *kept = start_python(engine, options);
	start_python(engine, (struct gb_run_options){.source = "while True: pass"});
	const struct zygotes stopped = stop_new(&before);
	gb_run_terminate(terminated, "not needed");
	CHECK_INT(n_settled, 1);
	CHECK_STR(gb_status_name(gb_run_result(terminated)->status), "terminated");
	CHECK_STR(gb_run_result(terminated)->error.message, "not needed");
	CHECK(!gb_run_begun(terminated));
	gb_run_destroy(destroyed);
	CHECK_INT(n_settled, 1);
	gb_engine_dispatch(engine, 0, NULL);
	resume(&stopped);
	check_success(kept);
	gb_run_destroy(terminated);
	gb_run_destroy(kept);
	gb_engine_destroy(engine); /* with a run that has not settled */
	CHECK_INT(count_zygotes(), 0);
}

TEST(an_engine_may_be_destroyed_while_a_language_starts) {
	struct gb_engine *engine = engine_with_js();
	/* Cannot settle: no event is dispatched. */
	start_python(engine, (struct gb_run_options){0});
	gb_engine_destroy(engine);
	CHECK_INT(count_zygotes(), 0);
}

/* --- from a callback --- */

struct starter {
	struct gb_engine *engine;
	struct gb_run *runs[4];
	size_t n;
};

static void start_in_log(struct gb_run *run, const struct gb_log *log, void *data) {
	(void)run, (void)log;
	struct starter *starter = data;
	for (int i = 0; i < 2; i++)
		starter->runs[starter->n++] = start_python(starter->engine, (struct gb_run_options){0});
}

TEST(runs_that_callbacks_start_share_one_pool) {
	struct starter starter = {.engine = engine_with_js()};
	starter.runs[starter.n++] = start_python(starter.engine, (struct gb_run_options){0});
	struct gb_run *outer = start(starter.engine,
	    (struct gb_run_options){.source = "console.log(1)", .on_log = start_in_log, .data = &starter});
	check_success(outer);
	CHECK_INT(starter.n, 3);
	CHECK_INT(count_zygotes(), 2);
	for (size_t i = 0; i < starter.n; i++) {
		check_success(starter.runs[i]);
		gb_run_destroy(starter.runs[i]);
	}
	CHECK_INT(count_zygotes(), 2);
	gb_run_destroy(outer);
	gb_engine_destroy(starter.engine);
	CHECK_INT(count_zygotes(), 0);
}

/* --- sessions --- */

static double python_number(struct gb_engine *engine, struct gb_session *session, const char *source) {
	struct gb_run *run =
	    start_python(engine, (struct gb_run_options){.session = session, .source = source});
	const struct gb_result *result = run ? gb_run_wait(run) : NULL;
	double number = result && result->status == GB_SUCCESS ? gb_value_as_number(result->value) : -1;
	gb_run_destroy(run);
	return number;
}

TEST(a_session_may_be_opened_while_its_language_starts) {
	struct gb_engine *engine = engine_with_js();
	const struct zygotes before = running_zygotes();
	struct gb_session *session = NULL;
	CHECK(gb_session_open(engine, GB_PYTHON, NULL, &session, NULL));
	const struct zygotes stopped = stop_new(&before);
	CHECK_INT(gb_session_state(session), GB_SESSION_IDLE);
	/* Runs that end before they begin leave the session as it is. */
	struct gb_run *run =
	    start_python(engine, (struct gb_run_options){.session = session, .source = "x = 1"});
	CHECK(run && !gb_run_begun(run));
	CHECK_INT(gb_session_state(session), GB_SESSION_EXECUTING);
	gb_run_terminate(run, NULL);
	CHECK_INT(gb_session_state(session), GB_SESSION_IDLE);
	gb_run_destroy(run);
	gb_run_destroy(start_python(engine, (struct gb_run_options){.session = session, .source = "x = 2"}));
	CHECK_INT(gb_session_state(session), GB_SESSION_IDLE);
	run =
	    start_python(engine, (struct gb_run_options){.session = session, .source = "x = 3; len(dir())"});
	resume(&stopped);
	check_success(run);
	gb_run_destroy(run);
	CHECK_INT((int)python_number(engine, session, "x"), 3);
	gb_session_close(session);
	gb_engine_destroy(engine);
}

TEST(an_interrupt_reaches_a_run_that_has_not_begun) {
	struct gb_engine *engine = engine_with_js();
	const struct zygotes before = running_zygotes();
	struct gb_session *session = NULL;
	CHECK(gb_session_open(engine, GB_PYTHON, NULL, &session, NULL));
	struct gb_run *run =
	    start_python(engine, (struct gb_run_options){.session = session, .source = "while True: pass"});
	const struct zygotes stopped = stop_new(&before);
	CHECK(gb_run_interrupt(run));
	gb_engine_dispatch(engine, 0, NULL);
	resume(&stopped);
	const struct gb_result *result = gb_run_wait(run);
	CHECK_STR(result->error.code, GB_CODE_INTERRUPTED);
	CHECK_INT(gb_session_state(session), GB_SESSION_IDLE);
	gb_run_destroy(run);
	CHECK_INT((int)python_number(engine, session, "1 + 1"), 2);
	gb_session_close(session);
	gb_engine_destroy(engine);
}

TEST(runs_of_managed_sessions_wait_in_order) {
	struct gb_engine *engine = engine_with_js();
	struct gb_manager *manager = NULL;
	struct gb_session_info info;
	struct gb_run *runs[3] = {0};
	static const char *const sources[] = {"x = [1]", "x.append(2)", "len(x)"};
	CHECK(gb_manager_create(engine, NULL, &manager, NULL));
	CHECK(gb_manager_open(
	    manager, &(struct gb_session_asked){.language = GB_PYTHON, .name = "a"}, &info, NULL));
	for (size_t i = 0; i < 3; i++)
		CHECK(gb_manager_execute(
		    manager, "a", &(struct gb_run_options){.source = sources[i]}, &runs[i], NULL));
	const struct gb_result *result = gb_run_wait(runs[2]);
	CHECK_INT((int)gb_value_as_number(result->value), 2);
	for (size_t i = 0; i < 3; i++)
		gb_run_destroy(runs[i]);
	gb_manager_destroy(manager);
	gb_engine_destroy(engine);
}

/* --- sandboxes that cannot be started --- */

static char workers[] = "/tmp/glovebox-workers-XXXXXX";

static void link_worker(const char *name, const char *target) {
	char path[PATH_MAX], whole[PATH_MAX];
	snprintf(path, sizeof path, "%s/%s", workers, name);
	unlink(path);
	snprintf(whole, sizeof whole, "%s/%s", getenv("GB_WORKER_DIR"), name);
	CHECK(symlink(target ? target : whole, path) == 0);
}

/* Kill the zygotes of this process, except those in @kept, until @run settles. */
static void kill_until_settled(struct gb_engine *engine, const struct zygotes *kept, struct gb_run *run) {
	while (!gb_run_settled(run)) {
		const struct zygotes all = running_zygotes();
		for (size_t i = 0; i < all.n; i++)
			if (all.pids[i] != kept->pids[0])
				kill(all.pids[i], SIGKILL);
		gb_engine_dispatch(engine, 20, NULL);
	}
}

struct restarter {
	struct gb_engine *engine;
	struct gb_err err;
	bool started;
};

static void start_again(struct gb_run *run, const struct gb_result *result, void *data) {
	(void)run, (void)result;
	struct restarter *restarter = data;
	struct gb_run *again;
	restarter->started = gb_run_start(restarter->engine,
	    &(struct gb_run_options){.language = GB_PYTHON, .source = "1"}, &again, &restarter->err);
}

TEST(runs_are_denied_if_their_sandbox_cannot_start) {
	char never[PATH_MAX];
	struct gb_engine *engine = NULL;
	struct gb_err err = {0};
	if (!CHECK(mkdtemp(workers)))
		return;
	snprintf(never, sizeof never, "%s/never-ready", workers);
	FILE *script = fopen(never, "we");
	fputs("#!/bin/sh\nexec sleep 1000\n", script);
	fclose(script);
	chmod(never, 0755);
	link_worker("glovebox-js", NULL);
	link_worker("glovebox-python", never);
	const struct gb_engine_options options = {.shards = 1, .warm = 1, .worker_dir = workers};
	if (!CHECK(gb_engine_create(&options, &engine, &err)))
		return;
	const struct zygotes kept = running_zygotes();
	CHECK_INT(kept.n, 1);
	struct restarter restarter = {.engine = engine};
	struct gb_session *session = NULL;
	struct gb_run *run =
	    start_python(engine, (struct gb_run_options){.on_settled = start_again, .data = &restarter});
	CHECK(gb_session_open(engine, GB_PYTHON, NULL, &session, NULL));
	struct gb_run *in_session = start_python(engine, (struct gb_run_options){.session = session});
	kill_until_settled(engine, &kept, run);
	const struct gb_run *const runs[] = {run, in_session};
	for (size_t i = 0; i < 2; i++) {
		const struct gb_result *result = gb_run_result(runs[i]);
		if (!CHECK(result))
			continue;
		CHECK_STR(gb_status_name(result->status), "denied");
		CHECK_STR(result->error.code, GB_CODE_WALL);
		CHECK(strstr(result->error.message, "SIGKILL"));
		CHECK(!gb_run_begun(runs[i]));
	}
	CHECK_INT(gb_session_state(session), GB_SESSION_TERMINATED);
	CHECK(strstr(gb_session_reason(session), "SIGKILL"));
	/* In the callback of the first run, another start failed with the reason. */
	CHECK(!restarter.started);
	CHECK_INT(restarter.err.code, GB_EWALL);
	gb_run_destroy(run);
	gb_run_destroy(in_session);
	gb_session_close(session);
	/* Afterwards sandboxes are started again. */
	link_worker("glovebox-python", NULL);
	run = start_python(engine, (struct gb_run_options){0});
	check_success(run);
	gb_run_destroy(run);
	CHECK_INT(count_zygotes(), 2);
	/* A missing program is reported by gb_run_start itself. */
	CHECK(
	    !gb_run_start(engine, &(struct gb_run_options){.language = GB_NODE, .source = "1"}, &run, &err));
	CHECK_INT(err.code, GB_ENOENT);
	gb_engine_destroy(engine);
	CHECK_INT(count_zygotes(), 0);
	char command[PATH_MAX + 16];
	snprintf(command, sizeof command, "rm -r %s", workers);
	CHECK(system(command) == 0);
}

/* --- versions --- */

TEST(versions_can_be_asked_for_without_blocking) {
	struct gb_engine *engine = engine_with_js();
	CHECK(strncmp(gb_engine_version(engine, GB_JAVASCRIPT), "quickjs-ng ", 11) == 0);
	CHECK(!gb_engine_ask_version(engine, GB_TYPESCRIPT));
	CHECK_STR(gb_engine_version(engine, GB_PYTHON), "");
	CHECK(gb_engine_ask_version(engine, GB_PYTHON));
	CHECK_STR(gb_engine_version(engine, GB_PYTHON), "");
	CHECK(strncmp(gb_engine_await_version(engine, GB_PYTHON), "Python 3.", 9) == 0);
	CHECK(!gb_engine_ask_version(engine, GB_PYTHON));
	/* The program of the machine is run in a sandbox, which is ended afterwards. */
	CHECK(gb_engine_ask_version(engine, GB_SHELL));
	CHECK(strstr(gb_engine_await_version(engine, GB_SHELL), "bash"));
	for (int i = 0; i < 1000 && count_zygotes() > 2; i++)
		gb_engine_dispatch(engine, 10, NULL);
	CHECK_INT(count_zygotes(), 2);
	struct gb_run *run = start(engine, (struct gb_run_options){.language = GB_SHELL, .source = "true"});
	check_success(run);
	gb_run_destroy(run);
	gb_engine_destroy(engine);
	engine = engine_with_js();
	CHECK(gb_engine_ask_version(engine, GB_SHELL));
	gb_engine_destroy(engine); /* while the program runs */
	CHECK_INT(count_zygotes(), 0);
}
