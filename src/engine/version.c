/*
 * Determines the version of the interpreter of each language. A worker that is itself the interpreter reports its
 * version when its zygote is ready. Interpreters of the machine (bash, Node.js, Deno) are run with --version.
 * Their paths come from settings and the environment, so they run only in a sandbox. A separate pool is used for
 * this, so that no run has to wait for a cell, and is stopped afterwards.
 */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "engine/engine.h"
#include "engine/workers.h"

enum { VERSION_TIMEOUT_MS = 5000 };

/* By language: the runtime that runs --version. 0: not needed, because the worker is itself the interpreter. */
static const enum gb_runtime query_runtimes[GB_LANGUAGES] = {[GB_SHELL] = GB_RUNTIME_SHELL_VERSION,
    [GB_NODE] = GB_RUNTIME_NODE_VERSION,
    [GB_DENO] = GB_RUNTIME_DENO_VERSION};

/* Keep the first line of the output. It is untrusted, so non-printable bytes are replaced. */
static void on_answer(struct gb_run *run, const struct gb_result *result, void *data) {
	(void)run;
	struct gb_version_query *query = data;
	const char *text = result->stdout_text;
	size_t i = 0, n = result->status == GB_SUCCESS ? result->stdout_bytes : 0;
	for (; i < n && i < sizeof query->answer - 1 && text[i] != '\n'; i++)
		query->answer[i] = (char)(text[i] >= ' ' && text[i] < 0x7f ? text[i] : '?');
	query->answer[i] = '\0';
}

void gb_versions_clean_up(struct gb_engine *engine) {
	for (size_t i = 0; i < GB_LANGUAGES; i++) {
		struct gb_version_query *query = &engine->version_queries[i];
		if (!query->run || !gb_run_settled(query->run))
			continue;
		gb_pool_stop(engine->pools[query_runtimes[i]]);
		gb_run_destroy(query->run);
		query->run = NULL;
	}
}

void gb_versions_finish(struct gb_engine *engine) {
	for (size_t i = 0; i < GB_LANGUAGES; i++) {
		gb_run_destroy(engine->version_queries[i].run);
		engine->version_queries[i].run = NULL;
	}
}

static void start_query(struct gb_engine *engine, enum gb_language language, enum gb_runtime runtime) {
	struct gb_version_query *query = &engine->version_queries[language];
	const struct gb_run_options options = {.language = language,
	    .source = "--version",
	    .timeout_ms = VERSION_TIMEOUT_MS,
	    .on_settled = on_answer,
	    .data = query};
	if (query->started)
		return;
	query->started = true;
	if (query_runtimes[language])
		(void)gb_run_query_version(engine, &options, query_runtimes[language], &query->run, NULL);
	else
		(void)gb_runtime_start(engine, runtime, NULL);
}

bool gb_engine_ask_version(struct gb_engine *engine, enum gb_language language) {
	enum gb_runtime runtime = GB_RUNTIME_JS;
	if (!gb_runtime_find(engine, language, NULL, &runtime, NULL) || *gb_engine_version(engine, language))
		return false;
	start_query(engine, language, runtime);
	if (query_runtimes[language]) {
		const struct gb_run *run = engine->version_queries[language].run;
		return run && !gb_run_settled(run);
	}
	const struct gb_pool *pool = engine->pools[runtime];
	return pool && gb_pool_state(pool, NULL) == GB_POOL_STARTING && !*gb_pool_version(pool);
}

const char *gb_engine_version(const struct gb_engine *engine, enum gb_language language) {
	enum gb_runtime runtime = GB_RUNTIME_JS;
	if (!gb_runtime_find(engine, language, NULL, &runtime, NULL))
		return "";
	if (query_runtimes[language])
		return engine->version_queries[language].answer;
	for (int i = 0; i < GB_RUNTIMES; i++)
		if (engine->pools[i] && gb_runtime_is_same(engine, (enum gb_runtime)i, runtime) &&
		    *gb_pool_version(engine->pools[i]))
			return gb_pool_version(engine->pools[i]);
	return "";
}

const char *gb_engine_await_version(struct gb_engine *engine, enum gb_language language) {
	while (gb_engine_ask_version(engine, language) && gb_engine_dispatch(engine, -1, NULL))
		;
	return gb_engine_version(engine, language);
}

void gb_program_version(enum gb_language language, const char *path, char *ret, size_t n) {
	/* The bit in .ready belongs to no language, so the engine starts no pool by itself. */
	const struct gb_engine_options options = {
	    .shell = path, .node = path, .deno = path, .ready = 1u << GB_LANGUAGES, .max_runs = 1};
	struct gb_engine *engine = NULL;
	*ret = '\0';
	if (!gb_engine_create(&options, &engine, NULL))
		return;
	snprintf(ret, n, "%s", gb_engine_await_version(engine, language));
	gb_engine_destroy(engine);
}
