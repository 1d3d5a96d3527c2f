/* An engine on the null port: every run is refused with a reason, and nothing is started. */
#include <errno.h>
#include <glovebox/glovebox.h>
#include <glovebox/sessions.h>
#include <sys/wait.h>

#include "engine/engine.h"
#include "sandbox/port.h"
#include "tap.h"

/* Of the Linux port. Not linked: NULL. */
extern __attribute__((weak)) const char gb_zygote_spawn[], gb_cgroup_create[], gb_seccomp_filter[],
    gb_landlock_rights[], gb_oneshot[], gb_spawn[], gb_shard_start[];

/* The layer, what is wrong, and what to do. */
static void check_refusal(const struct gb_err *err) {
	CHECK_INT(err->code, GB_EWALL);
	CHECK(strncmp(err->message, "sandbox: ", strlen("sandbox: ")) == 0);
	CHECK(strstr(err->message, "no sandbox for this operating system"));
	CHECK(strstr(err->message, "use a build for Linux"));
}

static void check_no_child(void) {
	errno = 0;
	CHECK_INT(waitpid(-1, NULL, WNOHANG), -1);
	CHECK_INT(errno, ECHILD);
}

/* With no language ready, which would be refused at once; this bit belongs to no language. */
static struct gb_engine *make_engine(void) {
	struct gb_engine *engine = NULL;
	const struct gb_engine_options options = {
	    .worker_dir = getenv("GB_WORKER_DIR"), .ready = 1u << GB_LANGUAGES};
	CHECK(gb_engine_create(&options, &engine, NULL));
	return engine;
}

TEST(nothing_of_the_linux_port_is_linked) {
	CHECK(!gb_zygote_spawn && !gb_cgroup_create && !gb_seccomp_filter && !gb_landlock_rights &&
	      !gb_oneshot && !gb_spawn && !gb_shard_start);
}

TEST(an_engine_with_a_ready_language_is_refused) {
	for (int language = 0; language < GB_LANGUAGES; language++) {
		struct gb_err err = {0};
		struct gb_engine *engine = NULL;
		const struct gb_engine_options options = {
		    .worker_dir = getenv("GB_WORKER_DIR"), .ready = 1u << language};
		CHECK(!gb_engine_create(&options, &engine, &err));
		CHECK(!engine);
		check_refusal(&err);
	}
	check_no_child();
}

TEST(a_run_in_any_language_is_refused) {
	struct gb_engine *engine = make_engine();
	for (int language = 0; engine && language < GB_LANGUAGES; language++) {
		struct gb_err err = {0};
		struct gb_run *run = NULL;
		const struct gb_run_options options = {.language = (enum gb_language)language, .source = "1"};
		CHECK(!gb_run_start(engine, &options, &run, &err));
		CHECK(!run);
		check_refusal(&err);
	}
	check_no_child();
	gb_engine_destroy(engine);
}

TEST(a_session_is_refused) {
	struct gb_engine *engine = make_engine();
	struct gb_session *session = NULL;
	struct gb_err err = {0};
	CHECK(!gb_session_open(engine, GB_PYTHON, NULL, &session, &err));
	CHECK(!session);
	check_refusal(&err);
	check_no_child();
	gb_engine_destroy(engine);
}

TEST(a_language_has_no_layers) {
	struct gb_engine *engine = make_engine();
	const char *layers[4];
	CHECK_INT(gb_engine_layers(engine, GB_JAVASCRIPT, layers, 4), 0);
	gb_engine_destroy(engine);
}

static bool plan(struct gb_port *port, enum gb_room room, struct gb_plan **ret, struct gb_err *err) {
	return gb_plan_create(port, &(struct gb_plan_options){.room = room, .profile = ""}, ret, err);
}

TEST(every_function_of_the_port_that_makes_something_refuses) {
	struct gb_port *port = NULL;
	struct gb_plan *made = NULL;
	struct gb_pool *pool = NULL;
	struct gb_observer *observer = NULL;
	struct gb_err errs[6] = {0};
	CHECK(gb_port_create(&(struct gb_port_options){0}, &port, NULL));
	for (int room = 0; room < GB_ROOMS; room++)
		CHECK(!plan(port, (enum gb_room)room, &made, &errs[0]));
	CHECK(!gb_plan_share(made, "/", NULL, GB_SHARE_READ, &errs[1]));
	CHECK(
	    !gb_pool_create(port, made, &(struct gb_pool_options){.program = "/bin/true"}, &pool, &errs[2]));
	CHECK(!gb_pool_take(pool, &port, &errs[3]));
	CHECK(!gb_observer_create(
	    &(struct gb_observer_options){.probe = "/bin/true", .plan = plan}, &observer, &errs[4]));
	CHECK(!gb_plan_work_in(made, 0, true, &errs[5]));
	for (size_t i = 0; i < sizeof errs / sizeof *errs; i++)
		check_refusal(&errs[i]);
	CHECK(!made && !pool && !observer);
	gb_port_destroy(port);
	check_no_child();
}
