/*
 * Determines which version of which program runs a language. Worker programs that are interpreters themselves
 * report it when their zygote is ready. Programs of the machine are run with --version: settings and the
 * environment name them, so they run only in a sandbox, in a pool of their own that takes no cell from runs
 * and is stopped afterwards.
 */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "engine/engine.h"
#include "engine/workers.h"

enum { VERSION_TIMEOUT_MS = 5000 };

/* The runtime for the question, by language; 0: its worker is the interpreter. */
static const enum gb_runtime asked_in[GB_LANGUAGES] = {[GB_SHELL] = GB_RUNTIME_SHELL_VERSION,
    [GB_NODE] = GB_RUNTIME_NODE_VERSION,
    [GB_DENO] = GB_RUNTIME_DENO_VERSION};

/* The first line of the output, with non-printable bytes replaced: it is untrusted. */
static void on_answer(struct gb_run *run, const struct gb_result *result, void *data) {
	(void)run;
	struct gb_question *question = data;
	const char *text = result->stdout_text;
	size_t i = 0, n = result->status == GB_SUCCESS ? result->stdout_bytes : 0;
	for (; i < n && i < sizeof question->answer - 1 && text[i] != '\n'; i++)
		question->answer[i] = (char)(text[i] >= ' ' && text[i] < 0x7f ? text[i] : '?');
	question->answer[i] = '\0';
}

void gb_versions_clean_up(struct gb_engine *engine) {
	for (size_t i = 0; i < GB_LANGUAGES; i++) {
		struct gb_question *question = &engine->questions[i];
		if (!question->run || !gb_run_settled(question->run))
			continue;
		gb_pool_stop(engine->pools[asked_in[i]]);
		gb_run_destroy(question->run);
		question->run = NULL;
	}
}

void gb_versions_finish(struct gb_engine *engine) {
	for (size_t i = 0; i < GB_LANGUAGES; i++) {
		gb_run_destroy(engine->questions[i].run);
		engine->questions[i].run = NULL;
	}
}

static void ask(struct gb_engine *engine, enum gb_language language, enum gb_runtime runtime) {
	struct gb_question *question = &engine->questions[language];
	const struct gb_run_options how = {.language = language,
	    .source = "--version",
	    .timeout_ms = VERSION_TIMEOUT_MS,
	    .on_settled = on_answer,
	    .data = question};
	if (question->asked)
		return;
	question->asked = true;
	if (asked_in[language])
		(void)gb_run_ask_version(engine, &how, asked_in[language], &question->run, NULL);
	else
		(void)gb_runtime_start(engine, runtime, NULL);
}

bool gb_engine_ask_version(struct gb_engine *engine, enum gb_language language) {
	enum gb_runtime runtime = GB_RUNTIME_JS;
	if (!gb_runtime_find(engine, language, NULL, &runtime, NULL) || *gb_engine_version(engine, language))
		return false;
	ask(engine, language, runtime);
	if (asked_in[language]) {
		const struct gb_run *run = engine->questions[language].run;
		return run && !gb_run_settled(run);
	}
	const struct gb_pool *pool = engine->pools[runtime];
	return pool && gb_pool_state(pool, NULL) == GB_POOL_STARTING && !*gb_pool_version(pool);
}

const char *gb_engine_version(const struct gb_engine *engine, enum gb_language language) {
	enum gb_runtime runtime = GB_RUNTIME_JS;
	if (!gb_runtime_find(engine, language, NULL, &runtime, NULL))
		return "";
	if (asked_in[language])
		return engine->questions[language].answer;
	for (int i = 0; i < GB_RUNTIMES; i++)
		if (engine->pools[i] && gb_runtime_is_same((enum gb_runtime)i, runtime) &&
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
	/* No pool starts with the engine: this bit belongs to no language. */
	const struct gb_engine_options options = {
	    .shell = path, .node = path, .deno = path, .ready = 1u << GB_LANGUAGES, .max_runs = 1};
	struct gb_engine *engine = NULL;
	*ret = '\0';
	if (!gb_engine_create(&options, &engine, NULL))
		return;
	snprintf(ret, n, "%s", gb_engine_await_version(engine, language));
	gb_engine_destroy(engine);
}
