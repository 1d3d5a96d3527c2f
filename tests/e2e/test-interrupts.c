/* Interrupts at any moment, in every language that has sessions: what they are meant for stops, and nothing
 * else does. */
#include "base/io.h"
#include "e2e/engine.h"
#include "tap.h"

static const struct kind {
	enum gb_language language;
	const char *set, *get, *loop;
} kinds[] = {
    {GB_JAVASCRIPT, "globalThis.kept = 42; 0", "kept", "for (;;);"},
    {GB_PYTHON, "kept = 42", "kept", "while True: pass"},
    {GB_SHELL, "kept=42", "(exit $kept)", "while :; do :; done"},
    {GB_NODE, "globalThis.kept = 42; 0", "kept", "for (;;);"},
};

static struct gb_engine *engine;
static struct gb_session *session;

static struct gb_run *begin(const char *source) {
	return start(
	    engine, (struct gb_run_options){.session = session, .source = source, .timeout_ms = 60000});
}

static int number_of(struct gb_run *run) {
	const struct gb_result *result = run ? gb_run_wait(run) : NULL;
	int number = -1;
	if (result && result->status == GB_SUCCESS)
		number = (int)gb_value_as_number(result->value);
	else if (result && result->exit_code > 0)
		number = result->exit_code;
	else
		printf("#   %s\n", result ? result->error.message : "no run");
	gb_run_destroy(run);
	return number;
}

static void check_interrupted(struct gb_run *run) {
	const struct gb_result *result = run ? gb_run_wait(run) : NULL;
	if (CHECK(result) && (!CHECK_STR(gb_status_name(result->status), "terminated") |
				 !CHECK_STR(result->error.code, "interrupted") |
				 !CHECK_STR(result->error.message, "interrupted by the caller")))
		printf("#   %s: %s\n", result->error.name, result->error.message);
	gb_run_destroy(run);
}

static bool open_session(const struct kind *kind, unsigned warm) {
	struct gb_err err = {0};
	engine = engine_with((struct gb_engine_options){.shards = 1, .warm = warm});
	if (CHECK(engine && gb_session_open(engine, kind->language, NULL, &session, &err)))
		return true;
	printf("#   %s\n", err.message);
	return false;
}

static void close_session(void) {
	gb_session_close(session);
	gb_engine_destroy(engine);
	session = NULL;
	engine = NULL;
}

/* Nobody can have begun: the process may not even be there. */
static void check_at_once(const struct kind *kind, unsigned warm) {
	if (open_session(kind, warm)) {
		struct gb_run *run = begin(kind->loop);
		CHECK(gb_run_interrupt(run));
		CHECK(!gb_run_interrupt(run));
		check_interrupted(run);
		CHECK_INT(gb_session_state(session), GB_SESSION_IDLE);
		number_of(begin(kind->set));
		CHECK_INT(number_of(begin(kind->get)), 42);
	}
	close_session();
}

static void at_once(void) {
	check_at_once(tap.data, GB_NONE);
}

static void at_once_when_warm(void) {
	check_at_once(tap.data, 1);
}

static void dispatch_for(uint64_t us) {
	for (uint64_t end = gb_now_ns() + us * 1000; gb_now_ns() < end;)
		gb_engine_dispatch(engine, 0, NULL);
}

static void at_any_moment(void) {
	const struct kind *kind = tap.data;
	if (open_session(kind, GB_NONE)) {
		number_of(begin(kind->set));
		for (unsigned i = 0; i < 60 && !tap.failures; i++) {
			struct gb_run *run = begin(kind->loop);
			dispatch_for(i * 137 % 3000);
			CHECK(gb_run_interrupt(run));
			check_interrupted(run);
			CHECK_INT(number_of(begin(kind->get)), 42);
		}
	}
	close_session();
}

/* It meets a run that ends just then. The next one is never stopped. */
static void too_late(void) {
	const struct kind *kind = tap.data;
	if (open_session(kind, GB_NONE)) {
		number_of(begin(kind->set));
		for (unsigned i = 0; i < 100 && !tap.failures; i++) {
			struct gb_run *run = begin(kind->get);
			dispatch_for(i * 37 % 1000);
			gb_run_interrupt(run);
			gb_run_wait(run);
			gb_run_destroy(run);
			CHECK_INT(number_of(begin(kind->get)), 42);
		}
		CHECK_INT(gb_session_state(session), GB_SESSION_IDLE);
	}
	close_session();
}

__attribute__((constructor)) static void list_tests(void) {
	static const struct {
		const char *what;
		void (*run)(void);
	} cases[] = {
	    {"what has not begun is stopped all the same", at_once},
	    {"also where a sandbox was waiting", at_once_when_warm},
	    {"a loop is stopped at any moment, and the session stays", at_any_moment},
	    {"one that comes too late stops nobody", too_late},
	};
	static char names[sizeof kinds / sizeof *kinds][sizeof cases / sizeof *cases][100];
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		for (size_t j = 0; j < sizeof cases / sizeof *cases; j++) {
			snprintf(names[i][j], sizeof names[i][j], "%s: %s",
			    gb_language_name(kinds[i].language), cases[j].what);
			tap_add(names[i][j], cases[j].run, &kinds[i]);
		}
}
