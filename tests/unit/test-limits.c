/* The limits of runs, engines and sessions that follow from the settings. */
#include "limits/limits.h"

#include "base/cleanup.h"
#include "tap.h"

static const struct gb_config *config_of(const char *const *set) {
	struct gb_config_sources sources = {.set = set, .file = "test", .text = ""};
	const struct gb_config *config = NULL;
	struct gb_err err = {0};
	while (set[sources.n_set])
		sources.n_set++;
	if (!CHECK(gb_config_load(&sources, &config, &err)))
		printf("# %s\n", err.message);
	return config;
}
#define CONFIG(...) config_of((const char *const[]){__VA_ARGS__ __VA_OPT__(, ) NULL})

TEST(a_run_without_limits_has_the_defaults_of_its_runtime) {
	const struct gb_config *config = CONFIG("limits.python.timeout=7s", "limits.python.memory=32M",
	    "limits.python.output=2K", "limits.python.result=3K", "limits.deno.memory=128M");
	struct gb_run_options python = {.language = GB_PYTHON}, deno = {.language = GB_DENO}, ts = {0};
	gb_limits_apply(config, 0, &python);
	CHECK_INT(python.timeout_ms, 7000);
	CHECK_INT(python.memory_bytes, 32 << 20);
	CHECK_INT(python.output_bytes, 2 << 10);
	CHECK_INT(python.result_bytes, 3 << 10);
	gb_limits_apply(config, 0, &deno);
	CHECK_INT(deno.timeout_ms, 30000);
	CHECK_INT(deno.memory_bytes, 128 << 20);
	gb_limits_apply(config, 0, &ts);
	CHECK_INT(ts.memory_bytes, 64 << 20);
	gb_config_unref(config);
}

TEST(limits_above_the_maxima_are_reduced_to_them) {
	const struct gb_config *config =
	    CONFIG("limits.javascript.maxTimeout=7s", "limits.javascript.maxMemory=32M",
		"limits.javascript.maxOutput=2K", "limits.javascript.maxResult=3K");
	struct gb_run_options run = {.timeout_ms = GB_NO_TIMEOUT,
	    .memory_bytes = UINT64_MAX,
	    .output_bytes = UINT64_MAX,
	    .result_bytes = UINT64_MAX};
	gb_limits_apply(config, 0, &run);
	CHECK_INT(run.timeout_ms, 7000);
	CHECK_INT(run.memory_bytes, 32 << 20);
	CHECK_INT(run.output_bytes, 2 << 10);
	CHECK_INT(run.result_bytes, 3 << 10);
	struct gb_run_options less = {
	    .timeout_ms = 5, .memory_bytes = 6, .output_bytes = 7, .result_bytes = 8};
	gb_limits_apply(config, 0, &less);
	CHECK_INT(less.timeout_ms, 5);
	CHECK_INT(less.memory_bytes, 6);
	CHECK_INT(less.output_bytes, 7);
	CHECK_INT(less.result_bytes, 8);
	gb_config_unref(config);
}

TEST(default_timeout_applies_only_if_none_is_set) {
	const struct gb_config *config = CONFIG("limits.python.timeout=7s", "limits.node.maxTimeout=9s");
	struct gb_run_options set = {.language = GB_PYTHON}, bound = {.language = GB_NODE}, open = {0},
			      asked = {.timeout_ms = 3};
	gb_limits_apply(config, 60000, &set);
	CHECK_INT(set.timeout_ms, 7000);
	gb_limits_apply(config, 60000, &bound);
	CHECK_INT(bound.timeout_ms, 9000);
	gb_limits_apply(config, 60000, &open);
	CHECK_INT(open.timeout_ms, 60000);
	gb_limits_apply(config, 60000, &asked);
	CHECK_INT(asked.timeout_ms, 3);
	gb_config_unref(config);
}

TEST(a_refusal_names_the_field_and_the_setting) {
	const struct gb_config *config = CONFIG("limits.shell.maxTimeout=7s", "limits.shell.maxMemory=32M");
	struct gb_run_options run = {.language = GB_SHELL, .timeout_ms = 7000, .memory_bytes = 32 << 20};
	struct gb_err err = {0};
	CHECK(gb_limits_check(config, &run, &err));
	run.timeout_ms++;
	CHECK(!gb_limits_check(config, &run, &err));
	CHECK_INT(err.code, GB_ELIMIT);
	CHECK_STR(err.message,
	    "timeout_ms: 7001 ms are more than the setting limits.shell.maxTimeout allows, which is 7000");
	run.timeout_ms = 0;
	run.memory_bytes++;
	CHECK(!gb_limits_check(config, &run, &err) && strstr(err.message, "limits.shell.maxMemory"));
	run.language = GB_PYTHON;
	CHECK(gb_limits_check(config, &run, &err));
	gb_config_unref(config);
}

TEST(number_and_lifetime_of_sessions_are_those_of_the_settings) {
	const struct gb_config *config = CONFIG("sessions.max=3", "sessions.queue=0",
	    "sessions.idleTimeout=4s", "sessions.maxAge=5s", "agent.maxConcurrentSessions=2");
	struct gb_manager_options options = {.max_ended = 9};
	gb_limits_sessions(config, &options);
	CHECK_INT(options.max_sessions, 3);
	CHECK_INT(options.max_per_conversation, 2);
	CHECK(options.max_queue == GB_NONE);
	CHECK_INT(options.idle_ms, 4000);
	CHECK_INT(options.max_age_ms, 5000);
	CHECK_INT(options.max_ended, 9);
	gb_config_unref(config);
}

TEST(settings_that_need_a_new_engine_are_named) {
	const struct gb_config *was = CONFIG("programs.node=/usr/bin/node", "python.profiles={a: [b]}"),
			       *same = CONFIG("python.profiles={a: [b]}", "programs.node=/usr/bin/node",
				   "sessions.max=3"),
			       *other = CONFIG("programs.node=/opt/node", "python.profiles={a: [b, c]}");
	gb_auto_buf struct gb_buf names;
	gb_buf_init(&names, 1000);
	gb_limits_write_fixed(was, same, &names);
	CHECK_INT(names.len, 0);
	gb_limits_write_fixed(was, other, &names);
	CHECK_STR(gb_buf_c_str(&names), "programs.node, python.profiles");
	gb_config_unref(was);
	gb_config_unref(same);
	gb_config_unref(other);
}

TEST(too_many_profiles_are_an_error) {
	const struct gb_config *config =
	    CONFIG("python.profiles={a: [], b: [], c: [], d: [], e: [], f: [], g: [], h: [], i: []}");
	struct gb_engine *engine;
	struct gb_err err = {0};
	CHECK(!gb_limits_engine_create(config, &(struct gb_engine_options){0}, &engine, &err));
	CHECK_INT(err.code, GB_ELIMIT);
	gb_config_unref(config);
}
