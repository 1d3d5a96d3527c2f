/* Helpers for the tests of the shell: runs, sessions, and answers to prompts. */
#ifndef GB_TESTS_E2E_SHELL_H
#define GB_TESTS_E2E_SHELL_H

#include "e2e/engine.h"
#include "tap.h"

enum { LONG_MS = 600000 };

static struct gb_engine *engine;

__attribute__((constructor)) static void set_up(void) {
	engine = engine_with((struct gb_engine_options){.ready = 1u << GB_SHELL, .shards = 1});
	if (!engine)
		exit(1);
}

__attribute__((destructor)) static void tear_down(void) {
	gb_engine_destroy(engine);
}

static inline struct gb_session *open_shell(void) {
	struct gb_session *session = NULL;
	struct gb_err err = {0};
	if (!CHECK(gb_session_open(engine, GB_SHELL, NULL, &session, &err)))
		printf("#   %s\n", err.message);
	return session;
}

/* The input for each prompt, and the prompts. */
struct dialogue {
	struct gb_session *session;
	const char *answers[8];
	unsigned n;
	char asked[8][256];
	unsigned goes_on;
};

static inline void on_awaiting(struct gb_run *run, const char *prompt, void *data) {
	struct dialogue *dialogue = data;
	(void)run;
	if (!prompt) {
		dialogue->goes_on++;
		return;
	}
	CHECK_STR(gb_session_state_name(gb_session_state(dialogue->session)), "awaiting_input");
	CHECK_STR(gb_session_prompt(dialogue->session), prompt);
	if (dialogue->n == 8)
		return;
	snprintf(dialogue->asked[dialogue->n], sizeof dialogue->asked[0], "%s", prompt);
	const char *answer = dialogue->answers[dialogue->n++];
	if (answer)
		CHECK(gb_session_send(dialogue->session, answer, strlen(answer), NULL));
}

/* A run and its result, which lives until it is destroyed. */
static inline const struct gb_result *shell(struct gb_run **ret, struct gb_run_options options) {
	options.language = GB_SHELL;
	options.timeout_ms = options.timeout_ms ? options.timeout_ms : LONG_MS;
	*ret = start(engine, options);
	const struct gb_result *result = *ret ? gb_run_wait(*ret) : NULL;
	CHECK(result);
	return result;
}

/* Check that @source in @session (or NULL) ends with @status and writes @expected to stdout and stderr
 * together. */
static inline void check_run(
    struct gb_session *session, const char *source, int exit_code, const char *expected) {
	struct gb_run *run;
	const struct gb_result *result =
	    shell(&run, (struct gb_run_options){.session = session, .source = source});
	if (result) {
		char text[4096];
		snprintf(text, sizeof text, "%s%s", result->stdout_text, result->stderr_text);
		bool ok = CHECK_INT(result->exit_code, exit_code);
		ok &= CHECK_STR(text, expected);
		ok &= CHECK_STR(gb_status_name(result->status), exit_code ? "error" : "success");
		if (!ok)
			printf("#   %s: %s\n", source, result->error.message);
	}
	gb_run_destroy(run);
}

#endif
