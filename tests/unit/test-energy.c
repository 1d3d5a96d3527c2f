#include "store/energy.h"

#include <math.h>
#include <sys/wait.h>

#include "audit.h"
#include "tap.h"

enum { HOUR = 3600000 };

static int64_t clock_ms;
static int64_t our_clock(void) {
	return clock_ms;
}

struct cell {
	char folder[FOLDER];
	struct gb_energy *energy;
};

static struct gb_energy_options usual(void) {
	struct gb_energy_options options = gb_energy_defaults;
	options.now_ms = our_clock;
	return options;
}

static struct gb_energy *open_in(const char *folder, struct gb_energy_options options) {
	struct gb_energy *energy = NULL;
	struct gb_err err = {0};
	if (!CHECK(gb_energy_open(folder, &options, &energy, &err)))
		printf("# %s\n", err.message);
	return energy;
}

static struct cell cell_open(struct gb_energy_options options) {
	struct cell cell;
	clock_ms = 1000000000000;
	folder_create(cell.folder);
	cell.energy = open_in(cell.folder, options);
	return cell;
}

static void cell_leave(struct cell *cell) {
	gb_energy_close(cell->energy);
	folder_destroy(cell->folder);
}
#define auto_cell __attribute__((cleanup(cell_leave)))

static struct gb_energy_outcome spend(struct cell *cell, enum gb_tier tier) {
	struct gb_energy_outcome outcome = {0};
	CHECK(gb_energy_spend(cell->energy, tier, &outcome, NULL));
	return outcome;
}

static struct gb_energy_state look(struct cell *cell) {
	struct gb_energy_state state = {0};
	struct gb_err err = {0};
	if (!CHECK(gb_energy_look(cell->folder, our_clock, &state, &err)))
		printf("# %s\n", err.message);
	return state;
}

/* Levels are exact; what shows them is not. */
static bool is(double a, double b) {
	return fabs(a - b) < 1e-11;
}

TEST(isolated_runs_until_too_little_is_left) {
	auto_cell struct cell cell = cell_open(usual());
	for (unsigned i = 0; i < 18; i++) {
		CHECK_INT(look(&cell).runs[GB_TIER_ISOLATED], 18 - i);
		CHECK(spend(&cell, GB_TIER_ISOLATED).granted);
	}
	struct gb_energy_outcome outcome = spend(&cell, GB_TIER_ISOLATED);
	CHECK(!outcome.granted && is(outcome.level, 0.1) && is(outcome.needed, 0.15) && outcome.cost == 0);
	CHECK_INT(outcome.enough_at_ms, clock_ms + HOUR / 10);
	CHECK_INT(look(&cell).runs[GB_TIER_ISOLATED], 0);
	CHECK(is(look(&cell).level, 0.1));
}

TEST(network_needs_more_and_costs_more) {
	auto_cell struct cell cell = cell_open(usual());
	for (unsigned i = 0; i < 5; i++)
		CHECK(spend(&cell, GB_TIER_NETWORK).granted);
	struct gb_energy_outcome outcome = spend(&cell, GB_TIER_NETWORK);
	CHECK(!outcome.granted && is(outcome.level, 0.25) && is(outcome.needed, 0.3));
	CHECK_INT(outcome.enough_at_ms, clock_ms + HOUR / 10);
	CHECK(spend(&cell, GB_TIER_ISOLATED).granted);
}

TEST(the_gates_are_exact) {
	static const struct {
		double level;
		bool isolated, network;
	} cases[] = {{0, false, false}, {0.149999999999, false, false}, {0.15, true, false},
	    {0.299999999999, true, false}, {0.3, true, true}, {1, true, true}};
	auto_cell struct cell cell = cell_open(usual());
	for (size_t i = 0; i < GB_COUNT(cases); i++) {
		CHECK(gb_energy_set(cell.energy, cases[i].level, NULL));
		CHECK_INT(look(&cell).enough_at_ms[GB_TIER_ISOLATED] == 0, cases[i].isolated);
		CHECK_INT(spend(&cell, GB_TIER_NETWORK).granted, cases[i].network);
		CHECK(gb_energy_set(cell.energy, cases[i].level, NULL));
		CHECK_INT(spend(&cell, GB_TIER_ISOLATED).granted, cases[i].isolated);
	}
}

TEST(time_gives_it_back_up_to_the_maximum) {
	auto_cell struct cell cell = cell_open(usual());
	CHECK(gb_energy_set(cell.energy, 0, NULL));
	CHECK_INT(look(&cell).full_at_ms, clock_ms + 2 * HOUR);
	CHECK_INT(look(&cell).enough_at_ms[GB_TIER_NETWORK], clock_ms + 6 * HOUR / 10);
	clock_ms += HOUR;
	CHECK(is(look(&cell).level, 0.5));
	struct gb_energy_outcome outcome = spend(&cell, GB_TIER_NETWORK);
	CHECK(outcome.granted && is(outcome.level, 0.35));
	clock_ms += INT64_C(1000) * HOUR;
	CHECK(look(&cell).level == 1 && look(&cell).full_at_ms == 0);
	CHECK(is(spend(&cell, GB_TIER_ISOLATED).level, 0.95));
}

TEST(looking_often_loses_nothing) {
	auto_cell struct cell cell = cell_open(usual());
	struct gb_energy_options options = usual();
	CHECK(gb_energy_set(cell.energy, 0, NULL));
	for (unsigned i = 0; i < 1000; i++) {
		clock_ms += 1;
		CHECK(!spend(&cell, GB_TIER_ISOLATED).granted);
	}
	CHECK(fabs(look(&cell).level - options.per_hour / 3600) < 2e-9);
}

TEST(what_it_said_when_is_when) {
	auto_cell struct cell cell = cell_open(usual());
	CHECK(gb_energy_set(cell.energy, 0.123456789, NULL));
	struct gb_energy_outcome outcome = spend(&cell, GB_TIER_NETWORK);
	CHECK(!outcome.granted);
	clock_ms = outcome.enough_at_ms - 1;
	CHECK_INT(look(&cell).runs[GB_TIER_NETWORK], 0);
	clock_ms = outcome.enough_at_ms;
	CHECK(spend(&cell, GB_TIER_NETWORK).granted);
}

TEST(a_clock_that_goes_back_gives_nothing) {
	auto_cell struct cell cell = cell_open(usual());
	CHECK(gb_energy_set(cell.energy, 0.2, NULL));
	int64_t start = clock_ms;
	/* Small steps: the same time does not count twice. */
	for (unsigned i = 0; i < 10; i++) {
		clock_ms = start - HOUR / 2;
		CHECK(gb_energy_set(cell.energy, 0.2, NULL));
		CHECK(is(look(&cell).level, 0.2));
		clock_ms = start;
		CHECK(is(look(&cell).level, 0.2));
	}
	/* A clock that was years ahead is put right: then time counts from there. */
	clock_ms = start + INT64_C(10000) * HOUR;
	CHECK(gb_energy_set(cell.energy, 0.2, NULL));
	clock_ms = start;
	CHECK(is(spend(&cell, GB_TIER_ISOLATED).level, 0.15));
	clock_ms = start + HOUR / 10;
	CHECK(is(look(&cell).level, 0.2));
}

TEST(what_did_not_run_is_given_back_once) {
	auto_cell struct cell cell = cell_open(usual());
	struct gb_energy_outcome outcome = spend(&cell, GB_TIER_NETWORK);
	CHECK(gb_energy_refund(cell.energy, &outcome, NULL));
	CHECK(is(look(&cell).level, 1) && is(outcome.level, 1));
	CHECK(gb_energy_set(cell.energy, 0.1, NULL));
	CHECK(gb_energy_refund(cell.energy, &outcome, NULL));
	CHECK(is(look(&cell).level, 0.1));
	outcome = spend(&cell, GB_TIER_NETWORK);
	CHECK(!outcome.granted && gb_energy_refund(cell.energy, &outcome, NULL));
	CHECK(is(look(&cell).level, 0.1));
}

TEST(a_refund_does_not_go_over_the_maximum) {
	auto_cell struct cell cell = cell_open(usual());
	struct gb_energy_outcome outcome = spend(&cell, GB_TIER_NETWORK);
	clock_ms += 2 * HOUR;
	CHECK(gb_energy_refund(cell.energy, &outcome, NULL));
	CHECK(look(&cell).level == 1);
}

TEST(it_outlives_a_restart_with_its_rules) {
	struct gb_energy_options options = usual();
	options.initial = 5, options.maximum = 10, options.per_hour = 1, options.cost[GB_TIER_ISOLATED] = 2;
	auto_cell struct cell cell = cell_open(options);
	CHECK(is(spend(&cell, GB_TIER_ISOLATED).level, 3));
	gb_energy_close(cell.energy);
	clock_ms += HOUR;
	struct gb_energy_state state = look(&cell);
	CHECK(is(state.level, 4) && is(state.rules.maximum, 10) && is(state.rules.cost[GB_TIER_ISOLATED], 2));
	CHECK_INT(state.runs[GB_TIER_ISOLATED], 2);
	/* New rules hold from then on; what was gained under the old ones stays. */
	options.maximum = 3.5, options.initial = 0, options.per_hour = 0;
	cell.energy = open_in(cell.folder, options);
	CHECK(is(look(&cell).level, 3.5));
	struct gb_energy_outcome outcome;
	CHECK(gb_energy_set(cell.energy, 0, NULL));
	CHECK(gb_energy_spend(cell.energy, GB_TIER_ISOLATED, &outcome, NULL));
	CHECK(!outcome.granted && outcome.enough_at_ms == 0 && look(&cell).full_at_ms == -1);
}

TEST(a_tier_that_costs_more_than_there_ever_is_never_runs) {
	struct gb_energy_options options = usual();
	options.cost[GB_TIER_NETWORK] = 2;
	auto_cell struct cell cell = cell_open(options);
	struct gb_energy_outcome outcome = spend(&cell, GB_TIER_NETWORK);
	CHECK(!outcome.granted && is(outcome.needed, 2) && outcome.enough_at_ms == 0);
	CHECK_INT(look(&cell).enough_at_ms[GB_TIER_NETWORK], -1);
}

TEST(wrong_options_are_named) {
	auto_folder char folder[FOLDER];
	struct gb_energy *energy;
	static const double wrong[] = {-1, NAN, INFINITY, 1001};
	folder_create(folder);
	for (size_t i = 0; i < GB_COUNT(wrong); i++) {
		struct gb_energy_options options = usual();
		struct gb_err err = {0};
		options.cost[GB_TIER_NETWORK] = wrong[i];
		CHECK(!gb_energy_open(folder, &options, &energy, &err) && err.code == GB_EINVAL);
		CHECK(strstr(err.message, "cost of network") != NULL);
	}
	struct gb_energy_options options = usual();
	options.initial = 2;
	CHECK(!gb_energy_open(folder, &options, &energy, NULL));
	energy = open_in(folder, usual());
	CHECK(!gb_energy_set(energy, 1.1, NULL) && !gb_energy_set(energy, -0.1, NULL) &&
	      !gb_energy_set(energy, NAN, NULL));
	gb_energy_close(energy);
}

TEST(looking_makes_nothing) {
	auto_folder char folder[FOLDER];
	struct gb_energy_state state;
	folder_create(folder);
	CHECK(gb_energy_look(folder, NULL, &state, NULL) && state.level == 1);
	CHECK(access(file_in(folder, "energy.db"), F_OK) != 0);
}

TEST(numbers_in_the_file_are_not_believed) {
	auto_cell struct cell cell = cell_open(usual());
	struct gb_energy_state state;
	struct gb_err err = {0};
	static const char *const lies[] = {"UPDATE energy SET level = 9000000000000000000",
	    "UPDATE energy SET level = -5", "UPDATE energy SET maximum = 9000000000000000000"};
	for (size_t i = 0; i < GB_COUNT(lies); i++) {
		sqlite3 *db;
		sqlite3_open(file_in(cell.folder, "energy.db"), &db);
		CHECK_INT(sqlite3_exec(db, lies[i], NULL, NULL, NULL), SQLITE_OK);
		sqlite3_close(db);
		bool ok = gb_energy_look(cell.folder, our_clock, &state, &err);
		CHECK_INT(ok, i < 2);
		if (ok)
			CHECK(state.level == (i == 0 ? 1 : 0));
	}
	CHECK_INT(err.code, GB_EFORMAT);
}

/* --- many processes --- */

enum { SPENDERS = 12 };

/* Each spends all that it can get, and gives every third back; the sum is what it kept. */
static unsigned spend_all(const char *folder) {
	struct gb_energy *energy = NULL; /* without options: the rules are those that hold */
	unsigned kept = 0;
	if (!CHECK(gb_energy_open(folder, NULL, &energy, NULL)))
		return 0;
	for (unsigned i = 0;; i++) {
		struct gb_energy_outcome outcome;
		if (!CHECK(gb_energy_spend(energy, GB_TIER_ISOLATED, &outcome, NULL)) || !outcome.granted)
			break;
		kept++;
		if (i % 3 == 2 && CHECK(gb_energy_refund(energy, &outcome, NULL)))
			kept--;
	}
	gb_energy_close(energy);
	return kept;
}

TEST(many_processes_spend_no_more_than_there_is) {
	auto_folder char folder[FOLDER];
	int start[2];
	unsigned sum = 0;
	clock_ms = 1000000000000;
	folder_create(folder);
	struct gb_energy_options options = usual();
	options.maximum = options.initial = 10;
	options.per_hour = 0;
	options.at_least[GB_TIER_ISOLATED] = 0;
	gb_energy_close(open_in(folder, options));
	pid_t pids[SPENDERS];
	if (pipe(start) != 0)
		abort();
	for (unsigned i = 0; i < SPENDERS; i++) {
		pids[i] = fork();
		if (pids[i] == 0) {
			char byte;
			close(start[1]);
			CHECK(read(start[0], &byte, 1) == 0);
			unsigned kept = spend_all(folder);
			_exit(tap.failures ? 255 : (int)kept);
		}
	}
	close(start[0]);
	close(start[1]);
	for (unsigned i = 0; i < SPENDERS; i++) {
		int status = -1;
		CHECK(waitpid(pids[i], &status, 0) == pids[i] && WIFEXITED(status) &&
		      WEXITSTATUS(status) < 255);
		sum += (unsigned)WEXITSTATUS(status);
	}
	struct gb_energy_state state;
	CHECK(gb_energy_look(folder, our_clock, &state, NULL));
	/* 10 at 0.05 each are 200; what is left is less than one costs. */
	CHECK_INT(sum, 200);
	CHECK(is(state.level, 10 - sum * 0.05));
}
