/* Interrupts at any moment, in every language with sessions: they stop the intended run, and no other. */
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
	    engine, (struct gb_run_options){.session = session, .source = source, .timeout_ms = 600000});
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

static void check_interrupted_at_once(const char *source) {
	struct gb_run *run = begin(source);
	CHECK(gb_run_interrupt(run));
	CHECK(!gb_run_interrupt(run));
	check_interrupted(run);
}

/* The run cannot have begun: its process may not even exist. */
static void check_at_once(const struct kind *kind, unsigned warm) {
	if (open_session(kind, warm)) {
		check_interrupted_at_once(kind->loop);
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

static void interrupted_at_any_moment(void) {
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

/* The interrupt arrives when the run is ending, or has ended. */
static void interrupt_late(const struct kind *kind, uint64_t us) {
	struct gb_run *run = begin(kind->get);
	dispatch_for(us);
	gb_run_interrupt(run);
	gb_run_wait(run);
	gb_run_destroy(run);
}

/* The next run is never interrupted. */
static void late_interrupt(void) {
	const struct kind *kind = tap.data;
	if (open_session(kind, GB_NONE)) {
		number_of(begin(kind->set));
		for (unsigned i = 0; i < 100 && !tap.failures; i++) {
			interrupt_late(kind, i * 37 % 1000);
			CHECK_INT(number_of(begin(kind->get)), 42);
		}
		CHECK_INT(gb_session_state(session), GB_SESSION_IDLE);
	}
	close_session();
}

/* A late interrupt is still in transit when the next one is sent. */
static void interrupt_after_late_interrupt(void) {
	const struct kind *kind = tap.data;
	if (open_session(kind, GB_NONE)) {
		number_of(begin(kind->set));
		for (unsigned i = 0; i < 20 && !tap.failures; i++) {
			interrupt_late(kind, i * 37 % 1000);
			check_interrupted_at_once(kind->loop);
		}
		CHECK_INT(number_of(begin(kind->get)), 42);
	}
	close_session();
}

static void interrupt(struct gb_run *run, int stream, const char *bytes, size_t n, void *data) {
	(void)stream, (void)bytes, (void)n, (void)data;
	gb_run_interrupt(run);
}

/* The interrupt is sent repeatedly, but the code sees it once: its cleanup is not interrupted. */
TEST(python_cleanup_code_is_interrupted_once) {
	static const char tidy[] = "import asyncio\n"
				   "async def main():\n"
				   "    try:\n"
				   "        print('on')\n"
				   "        await asyncio.sleep(100)\n"
				   "    finally:\n"
				   "        await asyncio.sleep(0.3)\n"
				   "        globals()['kept'] = 42\n"
				   "asyncio.run(main())";
	if (open_session(&kinds[1], GB_NONE)) {
		check_interrupted(start(engine,
		    (struct gb_run_options){.session = session, .source = tidy, .on_output = interrupt}));
		CHECK_INT(number_of(begin(kinds[1].get)), 42);
	}
	close_session();
}

/* A SIGINT listener that the code added and removed does not affect later interrupts. */
TEST(node_code_that_removed_its_sigint_listeners_can_be_interrupted) {
	static const char *const listens[] = {
	    "const f = () => {}; process.on('SIGINT', f); process.off('SIGINT', f); 0",
	    "process.once('SIGINT', () => {}); 0",
	    "process.removeAllListeners('SIGINT'); 0",
	};
	for (size_t i = 0; i < sizeof listens / sizeof *listens; i++) {
		if (open_session(&kinds[3], GB_NONE)) {
			CHECK_INT(number_of(begin(listens[i])), 0);
			number_of(begin(kinds[3].set));
			check_interrupted_at_once(kinds[3].loop);
			CHECK_INT(number_of(begin(kinds[3].get)), 42);
		}
		close_session();
	}
}

/* Timers count as pending signals. A cell at its limit takes none from other cells. */
TEST(timers_of_other_cells_do_not_block_interrupts) {
	enum { MANY = 30 };
	static const char timer[] =
	    "import ctypes\nlibc = ctypes.CDLL(None)\nn = 0\n"
	    "while libc.timer_create(1, None, ctypes.byref(ctypes.c_void_p())) == 0: n += 1\n"
	    "n";
	struct gb_session *others[MANY] = {NULL};
	struct gb_err err = {0};
	if (open_session(&kinds[1], GB_NONE)) {
		int n = 0;
		for (int i = 0; i < MANY; i++) {
			CHECK(gb_session_open(engine, GB_PYTHON, NULL, &others[i], &err));
			struct gb_run *run =
			    start(engine, (struct gb_run_options){.session = others[i], .source = timer});
			n += number_of(run);
		}
		/* More than a shared limit would allow for all cells together. */
		CHECK(n > 2 * 16);
		number_of(begin(kinds[1].set));
		check_interrupted_at_once(kinds[1].loop);
		CHECK_INT(number_of(begin(kinds[1].get)), 42);
	}
	for (int i = 0; i < MANY; i++)
		gb_session_close(others[i]);
	close_session();
}

__attribute__((constructor)) static void list_tests(void) {
	static const struct {
		const char *what;
		void (*run)(void);
	} cases[] = {
	    {"a run is interrupted before it has begun", at_once},
	    {"a run is interrupted before it has begun in a warm sandbox", at_once_when_warm},
	    {"a loop is interrupted at any moment, and the session stays", interrupted_at_any_moment},
	    {"a late interrupt stops no other run", late_interrupt},
	    {"an interrupt after a late interrupt takes effect", interrupt_after_late_interrupt},
	};
	static char names[sizeof kinds / sizeof *kinds][sizeof cases / sizeof *cases][100];
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		for (size_t j = 0; j < sizeof cases / sizeof *cases; j++) {
			snprintf(names[i][j], sizeof names[i][j], "%s: %s",
			    gb_language_name(kinds[i].language), cases[j].what);
			tap_add(names[i][j], cases[j].run, &kinds[i]);
		}
}
