/* Zygotes are started on threads of the caller: other runs continue, and everything that can happen meanwhile. */
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "e2e/engine.h"
#include "e2e/threads.h"
#include "glovebox/errors.h"
#include "tap.h"

static struct gb_engine *engine_that_lends(struct held_tasks *held, const char *workers) {
	struct gb_engine_options options = {
	    .shards = 1, .warm = 1, .worker_dir = workers, .offload = hold_task, .offload_data = held};
	struct gb_engine *engine = NULL;
	struct gb_err err = {0};
	*held = (struct held_tasks){0};
	if (!workers)
		return engine_with(options);
	if (!CHECK(gb_engine_create(&options, &engine, &err)))
		printf("# %s\n", err.message);
	return engine;
}

static struct gb_run *start_shell(struct gb_engine *engine) {
	return start(engine,
	    (struct gb_run_options){.language = GB_SHELL, .source = "echo $((6 * 7))", .timeout_ms = 600000});
}

static bool javascript_works(struct gb_engine *engine) {
	struct gb_run *run = start(engine, (struct gb_run_options){.source = "export default 42"});
	const struct gb_result *result = run ? gb_run_wait(run) : NULL;
	bool works = result && gb_value_as_number(result->value) == 42;
	gb_run_destroy(run);
	return works;
}

static void check_shell(struct gb_run *run) {
	const struct gb_result *result = run ? gb_run_wait(run) : NULL;
	if (!CHECK(result && result->status == GB_SUCCESS) && result)
		printf("# %s\n", result->error.message);
	else if (result)
		CHECK_STR(result->stdout_text, "42\n");
	gb_run_destroy(run);
}

static size_t n_zygotes(void) {
	int found[16];
	return list_children(found, 16);
}

TEST(engine_starts_its_first_zygotes_itself) {
	struct held_tasks held;
	struct gb_engine *engine = engine_that_lends(&held, NULL);
	CHECK_INT(held.total, 0);
	CHECK(javascript_works(engine));
	gb_engine_destroy(engine);
}

TEST(other_runs_continue_while_a_thread_starts_a_zygote) {
	struct held_tasks held;
	struct gb_engine *engine = engine_that_lends(&held, NULL);
	struct gb_run *run = start_shell(engine);
	CHECK_INT(held.n, 1);
	CHECK_INT(n_zygotes(), 1);
	CHECK(javascript_works(engine));
	CHECK(!gb_run_settled(run) && !gb_run_begun(run));
	run_held(&held);
	CHECK_INT(n_zygotes(), 2);
	check_shell(run);
	gb_engine_destroy(engine);
	CHECK_INT(n_zygotes(), 0);
}

TEST(without_a_free_thread_the_engine_starts_the_zygote_itself) {
	struct held_tasks held;
	struct gb_engine *engine = engine_that_lends(&held, NULL);
	held.refuses = true;
	struct gb_run *run = start_shell(engine);
	CHECK_INT(held.total, 1);
	CHECK_INT(n_zygotes(), 2);
	check_shell(run);
	gb_engine_destroy(engine);
}

TEST(runs_that_wait_for_the_thread_can_be_ended) {
	struct held_tasks held;
	struct gb_engine *engine = engine_that_lends(&held, NULL);
	struct gb_run *destroyed = start_shell(engine), *terminated = start_shell(engine);
	CHECK_INT(held.n, 1);
	gb_run_destroy(destroyed);
	gb_run_terminate(terminated, "enough");
	CHECK(gb_run_settled(terminated) && gb_run_result(terminated)->status == GB_TERMINATED);
	gb_run_destroy(terminated);
	CHECK(javascript_works(engine));
	run_held(&held);
	check_shell(start_shell(engine));
	CHECK_INT(held.total, 1);
	gb_engine_destroy(engine);
}

TEST(engine_waits_for_the_thread_and_ends_the_zygote) {
	for (int i = 0; i < 5; i++) {
		struct held_tasks held;
		pthread_t thread;
		struct gb_engine *engine = engine_that_lends(&held, NULL);
		start_shell(engine);
		CHECK_INT(held.n, 1);
		CHECK(pthread_create(&thread, NULL, run_all_held, &held) == 0);
		gb_engine_destroy(engine);
		pthread_join(thread, NULL);
		CHECK_INT(n_zygotes(), 0);
	}
}

TEST(a_dead_zygote_is_replaced_on_the_thread) {
	struct held_tasks held;
	int found[16];
	struct gb_engine *engine = engine_that_lends(&held, NULL);
	CHECK_INT(list_children(found, 16), 1);
	kill(found[0], SIGKILL);
	while (!held.n && gb_engine_dispatch(engine, -1, NULL))
		;
	CHECK_INT(n_zygotes(), 0);
	struct gb_run *run = start(engine, (struct gb_run_options){.source = "export default 42"});
	for (int i = 0; i < 3; i++)
		gb_engine_dispatch(engine, 0, NULL);
	CHECK(!gb_run_settled(run));
	run_held(&held);
	const struct gb_result *result = gb_run_wait(run);
	CHECK(result && gb_value_as_number(result->value) == 42);
	gb_run_destroy(run);
	gb_engine_destroy(engine);
}

/* --- failures --- */

static char workers[] = "/tmp/glovebox-workers-XXXXXX";

static void link_worker(const char *name) {
	char from[PATH_MAX], to[PATH_MAX];
	snprintf(from, sizeof from, "%s/%s", getenv("GB_WORKER_DIR"), name);
	snprintf(to, sizeof to, "%s/%s", workers, name);
	unlink(to);
	CHECK(symlink(from, to) == 0);
}

/* An executable file that the kernel cannot execute. */
static void make_broken_worker(const char *name) {
	char path[PATH_MAX];
	snprintf(path, sizeof path, "%s/%s", workers, name);
	FILE *file = fopen(path, "we");
	fputs("no program\n", file);
	fclose(file);
	chmod(path, 0755);
}

static void remove_workers(void) {
	char path[PATH_MAX];
	const char *const names[] = {"glovebox-js", "glovebox-shell"};
	for (size_t i = 0; i < 2; i++) {
		snprintf(path, sizeof path, "%s/%s", workers, names[i]);
		unlink(path);
	}
	rmdir(workers);
}

TEST(runs_are_denied_if_the_thread_cannot_start_the_zygote) {
	struct held_tasks held;
	if (!CHECK(mkdtemp(workers)))
		return;
	link_worker("glovebox-js");
	make_broken_worker("glovebox-shell");
	struct gb_engine *engine = engine_that_lends(&held, workers);
	struct gb_run *run = start_shell(engine);
	CHECK_INT(held.n, 1);
	run_held(&held);
	const struct gb_result *result = gb_run_wait(run);
	CHECK_STR(gb_status_name(result->status), "denied");
	CHECK_STR(result->error.code, GB_CODE_WALL);
	if (!CHECK(strstr(result->error.message, "start the worker program")))
		printf("# %s\n", result->error.message);
	CHECK(!gb_run_begun(run));
	gb_run_destroy(run);
	CHECK(javascript_works(engine));
	/* The next run starts another zygote. */
	link_worker("glovebox-shell");
	run = start_shell(engine);
	CHECK_INT(held.n, 1);
	run_held(&held);
	check_shell(run);
	gb_engine_destroy(engine);
	remove_workers();
}
