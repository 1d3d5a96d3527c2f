/*
 * Deno in the sandbox: the table of tests/data/deno, then the requirements for an executor with permissions,
 * one by one, with the real Deno.
 */
#define CASES "deno"

#include <glob.h>

#include "e2e/engine-cases.h"

static struct gb_engine *engine;
static char deno[4096]; /* empty: not installed */

static const char no_deno[] = "there is no Deno: not on PATH, and npm did not have it for scripts/setup";

static void run_case(void) {
	if (!*deno)
		SKIP(no_deno);
	run_engine_case(engine, GB_DENO, NULL);
}

/* --- runs --- */

static struct gb_run *run_with(struct gb_run_options options) {
	options.language = GB_DENO;
	options.timeout_ms = options.timeout_ms ? options.timeout_ms : 600000;
	options.on_call = host_on_call;
	struct gb_run *run = start(engine, options);
	if (run)
		host_wait(engine, run);
	return run;
}

static void check_value(struct gb_run *run, const char *json) {
	const struct gb_result *result = run ? gb_run_result(run) : NULL;
	char *actual = result && result->value ? gb_value_to_json(result->value, 0, NULL, NULL) : NULL;
	if (!CHECK_STR(actual, json) && result)
		printf("#   %s: %s\n", result->error.name, result->error.message);
	free(actual);
	gb_run_destroy(run);
}

/* Deno's own permission error. */
static void check_not_capable(struct gb_run *run, const char *message) {
	const struct gb_result *result = gb_run_result(run);
	CHECK_STR(gb_status_name(result->status), "error");
	CHECK_STR(result->error.name, "NotCapable");
	if (!CHECK(strstr(result->error.message, message)))
		printf("#   %s\n", result->error.message);
	gb_run_destroy(run);
}

static struct gb_value *list_of(struct gb_values *pool, const char *name) {
	struct gb_value *list = gb_value_array(pool);
	gb_value_push(list, gb_value_string(pool, name, strlen(name)));
	return list;
}

/* Connects to a server that it starts itself: its network namespace has no other. */
static const char ask_oneself[] =
    "const s = Deno.serve({port: 8123, hostname: '127.0.0.1', onListen() {}}, () => new Response('own'));\n"
    "const t = await (await fetch('http://127.0.0.1:8123/')).text();\n"
    "await s.shutdown();\n"
    "export default t";

TEST(ac3_1_typescript_is_written_and_run_in_deno) {
	if (!*deno)
		SKIP(no_deno);
	check_value(
	    run_with((struct gb_run_options){
		.source = "const x: number = 1 + 2; export default [String(x), typeof Deno.version.deno]"}),
	    "[\"3\",\"string\"]");
}

TEST(ac3_2_an_allowed_host_can_be_reached) {
	if (!*deno)
		SKIP(no_deno);
	struct gb_values *pool = gb_values_create(0);
	check_value(
	    run_with((struct gb_run_options){.source = ask_oneself, .net = list_of(pool, "127.0.0.1")}),
	    "\"own\"");
	gb_values_destroy(pool);
}

TEST(ac3_3_files_can_be_accessed_in_the_working_folder_only) {
	if (!*deno)
		SKIP(no_deno);
	struct gb_run *run =
	    run_with((struct gb_run_options){.source = "await Deno.writeTextFile('a.txt', 'kept'); export "
						       "default await Deno.readTextFile('a.txt')"});
	size_t n = 0;
	const char *kept = gb_value_bytes(gb_value_get(gb_run_result(run)->files, "a.txt"), &n);
	CHECK(kept && n == 4 && memcmp(kept, "kept", 4) == 0);
	CHECK_INT(gb_value_count(gb_run_result(run)->files), 1);
	check_value(run, "\"kept\"");
	check_not_capable(run_with((struct gb_run_options){.source = "Deno.readTextFileSync('/etc/passwd')"}),
	    "read access");
	check_not_capable(run_with((struct gb_run_options){.source = "Deno.writeTextFileSync('/usr/x', '')"}),
	    "write access");
}

TEST(ac3_4_host_functions_can_be_called) {
	if (!*deno)
		SKIP(no_deno);
	struct gb_values *pool = gb_values_create(0);
	struct gb_value *globals = gb_value_object(pool);
	gb_value_put_key(globals, "__callTool__", gb_value_function(pool, HOST_LATER, "__callTool__"));
	check_value(
	    run_with((struct gb_run_options){.globals = globals,
		.source = "export default await __callTool__({name: 'echo_tool', params: {a: [1]}})"}),
	    "{\"name\":\"echo_tool\",\"params\":{\"a\":[1]}}");
	gb_values_destroy(pool);
}

TEST(ac3_5_programs_cannot_be_started) {
	if (!*deno)
		SKIP(no_deno);
	check_not_capable(
	    run_with((struct gb_run_options){.source = "new Deno.Command('/usr/bin/ls').spawn()"}),
	    "run access");
}

TEST(ac3_6_environment_variables_cannot_be_read) {
	if (!*deno)
		SKIP(no_deno);
	check_not_capable(run_with((struct gb_run_options){.source = "Deno.env.get('PATH')"}), "env access");
}

TEST(ac3_7_a_run_ends_at_its_timeout) {
	if (!*deno)
		SKIP(no_deno);
	struct gb_run *run =
	    run_with((struct gb_run_options){.timeout_ms = 2000, .source = "while (true) {}"});
	CHECK(gb_run_result(run)->timed_out);
	CHECK_STR(gb_status_name(gb_run_result(run)->status), "terminated");
	CHECK_STR(gb_run_result(run)->error.code, "timeout");
	gb_run_destroy(run);
}

/* The limit of 50 KB is an executor's; this is the engine's own limit. */
TEST(ac3_8_too_large_code_is_rejected_before_anything_starts) {
	struct gb_run *run = NULL;
	struct gb_err err = {0};
	size_t n = GB_SOURCE_MAX + 1;
	char *source = malloc(n);
	memset(source, ' ', n);
	CHECK(!gb_run_start(engine,
	    &(struct gb_run_options){.language = GB_DENO, .source = source, .source_bytes = n}, &run, &err));
	CHECK(strstr(err.message, "more than the limit"));
	free(source);
}

TEST(ac3_9_a_host_that_is_not_allowed_is_denied) {
	if (!*deno)
		SKIP(no_deno);
	struct gb_values *pool = gb_values_create(0);
	struct gb_run *run = run_with((struct gb_run_options){
	    .source = "await fetch('http://other.example/')", .net = list_of(pool, "127.0.0.1")});
	const struct gb_result *result = gb_run_result(run);
	CHECK_STR(gb_status_name(result->status), "error");
	const struct gb_value *denial = gb_value_at(result->denials, 0);
	CHECK_STR(gb_value_bytes(gb_value_get(denial, "host"), NULL), "other.example");
	gb_run_destroy(run);
	check_not_capable(run_with((struct gb_run_options){.source = ask_oneself}), "net access");
	gb_values_destroy(pool);
}

TEST(ffi_is_denied) {
	if (!*deno)
		SKIP(no_deno);
	check_not_capable(run_with((struct gb_run_options){
			      .source = "Deno.dlopen('/usr/lib/x86_64-linux-gnu/libc.so.6', {})"}),
	    "ffi access");
}

TEST(output_beyond_its_limit_is_truncated_and_reported) {
	if (!*deno)
		SKIP(no_deno);
	struct gb_run *run = run_with((struct gb_run_options){.output_bytes = 1024,
	    .source = "for (let i = 0; i < 100; i++) console.log('x'.repeat(100));"
		      "Deno.stdout.writeSync(new TextEncoder().encode('y'.repeat(5000)))"});
	const struct gb_result *result = gb_run_result(run);
	CHECK(result->truncated);
	CHECK(result->n_logs < 10 && result->stdout_bytes <= 1024);
	gb_run_destroy(run);
}

TEST(memory_exhaustion_is_reported) {
	if (!*deno)
		SKIP(no_deno);
	static const char *const sources[] = {
	    "const a = []; for (let i = 0; i < 300; i++) a.push(new Array(131072).fill(i + 0.5)); export "
	    "default 1",
	    "const a = []; for (let i = 0; i < 300; i++) a.push(new Uint8Array(1 << 20).fill(1)); export "
	    "default 1",
	};
	for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
		struct gb_run *run =
		    run_with((struct gb_run_options){.source = sources[i], .memory_bytes = 128 << 20});
		CHECK_STR(gb_status_name(gb_run_result(run)->status), "memory");
		gb_run_destroy(run);
	}
}

TEST(sessions_are_rejected) {
	struct gb_session *session = NULL;
	struct gb_err err = {0};
	CHECK(!gb_session_open(engine, GB_DENO, NULL, &session, &err));
	CHECK(strstr(err.message, "deno has no sessions"));
}

/* --- the Deno program --- */

/* On PATH, or where scripts/setup has installed it. */
static void find_deno(void) {
	glob_t found;
	const char *path = getenv("PATH"), *deps = getenv("GB_DEPS");
	char pattern[4096], dirs[8192];
	snprintf(dirs, sizeof dirs, "%s", path ? path : "");
	for (char *save = NULL, *dir = strtok_r(dirs, ":", &save); dir && !*deno;
	     dir = strtok_r(NULL, ":", &save)) {
		snprintf(deno, sizeof deno, "%s/deno", dir);
		if (access(deno, X_OK) != 0)
			*deno = '\0';
	}
	snprintf(pattern, sizeof pattern, "%s/deno/node_modules/@deno/*/deno", deps ? deps : ".deps");
	if (!*deno && glob(pattern, 0, NULL, &found) == 0) {
		snprintf(deno, sizeof deno, "%s", found.gl_pathv[0]);
		globfree(&found);
	}
}

__attribute__((constructor)) static void set_up(void) {
	find_deno();
	add_table("results", run_case);
	engine = engine_with((struct gb_engine_options){
	    .ready = *deno ? 1u << GB_DENO : 0, .deno = *deno ? deno : NULL, .shards = 1});
	if (!engine)
		exit(1);
}

__attribute__((destructor)) static void tear_down(void) {
	gb_engine_destroy(engine);
}
