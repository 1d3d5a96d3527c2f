/* An engine under load whose processes are killed at random moments: every run is answered, the engine works
 * afterwards, and nothing is left when it is destroyed. GB_SOAK_KILLS says how many are killed; GB_SOAK_SEED
 * repeats the choices of another time, though not its timing. */
#include <time.h>

#include "attack/processes.h"
#include "base/io.h"
#include "e2e/left-behind.h"
#include "soak/killer.h"
#include "soak/load.h"
#include "tap.h"

enum { KILLS = 1000, GONE_MS = 1000, ATTEMPTS_MAX = 20, SUCCESSES = 20 };

static struct {
	struct census at_first;
	struct killer killer;
	struct gb_engine *engine;
	struct load load;
	bool has_node;
} soak;

static unsigned number_from(const char *name, unsigned otherwise) {
	const char *text = getenv(name);
	return text && *text ? (unsigned)strtoul(text, NULL, 10) : otherwise;
}

static bool check_load(bool ok) {
	if (!CHECK(ok))
		tap_quote("", soak.load.why);
	return ok;
}

static struct gb_engine *start_engine(void) {
	const unsigned ready = 1u << GB_JAVASCRIPT | 1u << GB_PYTHON | 1u << GB_SHELL;
	struct gb_engine *engine = engine_with((struct gb_engine_options){.ready = ready | 1u << GB_NODE});
	soak.has_node = engine;
	return engine ? engine : engine_with((struct gb_engine_options){.ready = ready});
}

static void report(void) {
	const struct load *load = &soak.load;
	printf("# killed:");
	for (int i = 0; i < N_TARGETS; i++)
		printf(
		    " %u %s%s", soak.killer.shared->kills[i], target_names[i], i + 1 < N_TARGETS ? "," : "");
	printf("\n# %u runs started, %u answered:", load->n_started, load->n_answered);
	for (unsigned i = 0; i < load->n_outcomes; i++)
		printf(" %u %s%s%s;", load->outcomes[i].n, gb_status_name(load->outcomes[i].status),
		    *load->outcomes[i].code ? " " : "", load->outcomes[i].code);
	puts("");
}

TEST(every_run_is_answered_while_processes_are_killed) {
	unsigned seed = number_from("GB_SOAK_SEED", (unsigned)time(NULL)),
		 kills = number_from("GB_SOAK_KILLS", KILLS);
	soak.at_first = take_census();
	/* The killer's process and the memory that it shares are there until it has finished. */
	if (!CHECK(killer_start(&soak.killer, seed, kills)))
		return;
	printf("# GB_SOAK_SEED=%u GB_SOAK_KILLS=%u\n", seed, kills);
	soak.engine = start_engine();
	if (CHECK(soak.engine)) {
		load_init(&soak.load, soak.engine, soak.has_node);
		soak.load.successes = soak.killer.shared->successes;
		killer_go(&soak.killer);
		bool ok = true;
		while (ok && killer_works(&soak.killer))
			ok = check_load(load_turn(&soak.load, true));
		if (ok)
			check_load(load_drain(&soak.load));
		CHECK_INT(soak.load.n_answered, soak.load.n_started);
		report();
		unsigned killed = 0;
		for (int i = 0; i < N_TARGETS; i++)
			killed += soak.killer.shared->kills[i];
		CHECK_INT(killed, kills);
	}
	soak.load.successes = NULL;
	killer_finish(&soak.killer);
}

/* Run @source until it has succeeded many times in a row. A cell that waited for a run when it was killed may
 * still be handed out before its zygote has told that it is gone, so that some of the first runs may fail. */
static bool works(enum gb_language language, const char *source) {
	unsigned n_successes = 0;
	for (unsigned i = 0; i < ATTEMPTS_MAX + SUCCESSES && n_successes < SUCCESSES; i++) {
		struct gb_run *run = start(
		    soak.engine, (struct gb_run_options){
				     .source = source, .language = language, .timeout_ms = GB_NO_TIMEOUT});
		const struct gb_result *result = run ? gb_run_wait(run) : NULL;
		bool ok = result && result->status == GB_SUCCESS;
		if (result && !ok)
			printf("# %s: %s: %s\n", gb_language_name(language), result->error.code,
			    result->error.message);
		n_successes = ok ? n_successes + 1 : 0;
		gb_run_destroy(run);
	}
	return n_successes == SUCCESSES;
}

TEST(engine_works_after_the_kills) {
	if (!soak.engine)
		SKIP("there is no engine");
	CHECK(works(GB_JAVASCRIPT, "export default 1+1"));
	CHECK(works(GB_PYTHON, "1+1"));
	CHECK(works(GB_SHELL, "echo x"));
	if (soak.has_node)
		CHECK(works(GB_NODE, "1+1"));
}

/* Destroyed while runs are in flight. */
TEST(no_process_is_left_when_the_engine_is_destroyed) {
	struct processes all, left;
	if (!soak.engine)
		SKIP("there is no engine");
	unsigned before = soak.load.n_answered;
	/* All have begun when as many have been answered: a slot is refilled only then. */
	while (soak.load.n_answered < before + soak.load.n_slots && check_load(load_turn(&soak.load, true)))
		;
	processes_descendants(getpid(), &all);
	CHECK(all.n > soak.load.n_slots / 2);
	load_close(&soak.load);
	gb_engine_destroy(soak.engine);
	CHECK_INT(processes_await_end(&all, GONE_MS), 0);
	processes_descendants(getpid(), &left);
	CHECK_INT(left.n, 0);
	CHECK_INT(count_own_cgroups(), 0);
	struct census at_last = take_census();
	check_same(&soak.at_first, &at_last);
}
