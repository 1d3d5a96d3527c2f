#include "store/energy.h"

#include <math.h>
#include <sys/wait.h>

#include "audit.h"
#include "tap.h"

enum { HOUR = 3600000 };

static int64_t clock_ms;
static int64_t fake_clock(void) {
	return clock_ms;
}

struct fixture {
	char folder[FOLDER];
	struct gb_energy *energy;
	struct gb_energy_options rules;
};

static struct gb_energy_options default_options(void) {
	struct gb_energy_options options = gb_energy_defaults;
	options.now_ms = fake_clock;
	return options;
}

static struct gb_energy *open_in(const char *folder, struct gb_energy_options options) {
	struct gb_energy *energy = NULL;
	struct gb_err err = {0};
	if (!CHECK(gb_energy_open(folder, &options, &energy, &err)))
		printf("# %s\n", err.message);
	return energy;
}

static struct fixture fixture_open(struct gb_energy_options options) {
	struct fixture fixture;
	clock_ms = 1000000000000;
	folder_create(fixture.folder);
	fixture.rules = options;
	fixture.energy = open_in(fixture.folder, options);
	return fixture;
}

static void fixture_close(struct fixture *fixture) {
	gb_energy_close(fixture->energy);
	folder_destroy(fixture->folder);
}
#define auto_fixture __attribute__((cleanup(fixture_close)))

static struct gb_energy_outcome spend(struct fixture *fixture, enum gb_tier tier) {
	struct gb_energy_outcome outcome = {0};
	CHECK(gb_energy_spend(fixture->energy, tier, &outcome, NULL));
	return outcome;
}

static struct gb_energy_state read_state(struct fixture *fixture) {
	struct gb_energy_state state = {0};
	struct gb_err err = {0};
	if (!CHECK(gb_energy_look(fixture->folder, &fixture->rules, &state, &err)))
		printf("# %s\n", err.message);
	return state;
}

/* Levels are exact, but their doubles are rounded. */
static bool is_close(double a, double b) {
	return fabs(a - b) < 1e-11;
}

TEST(isolated_runs_are_granted_down_to_the_minimum) {
	auto_fixture struct fixture fixture = fixture_open(default_options());
	for (unsigned i = 0; i < 18; i++) {
		CHECK_INT(read_state(&fixture).runs[GB_TIER_ISOLATED], 18 - i);
		CHECK(spend(&fixture, GB_TIER_ISOLATED).granted);
	}
	struct gb_energy_outcome outcome = spend(&fixture, GB_TIER_ISOLATED);
	CHECK(!outcome.granted && is_close(outcome.level, 0.1) && is_close(outcome.needed, 0.15) &&
	      outcome.cost == 0);
	CHECK_INT(outcome.enough_at_ms, clock_ms + HOUR / 10);
	CHECK_INT(read_state(&fixture).runs[GB_TIER_ISOLATED], 0);
	CHECK(is_close(read_state(&fixture).level, 0.1));
}

TEST(network_needs_more_and_costs_more) {
	auto_fixture struct fixture fixture = fixture_open(default_options());
	for (unsigned i = 0; i < 5; i++)
		CHECK(spend(&fixture, GB_TIER_NETWORK).granted);
	struct gb_energy_outcome outcome = spend(&fixture, GB_TIER_NETWORK);
	CHECK(!outcome.granted && is_close(outcome.level, 0.25) && is_close(outcome.needed, 0.3));
	CHECK_INT(outcome.enough_at_ms, clock_ms + HOUR / 10);
	CHECK(spend(&fixture, GB_TIER_ISOLATED).granted);
}

TEST(minimum_levels_are_exact) {
	static const struct {
		double level;
		bool isolated, network;
	} cases[] = {{0, false, false}, {0.149999999999, false, false}, {0.15, true, false},
	    {0.299999999999, true, false}, {0.3, true, true}, {1, true, true}};
	auto_fixture struct fixture fixture = fixture_open(default_options());
	for (size_t i = 0; i < GB_COUNT(cases); i++) {
		CHECK(gb_energy_set(fixture.energy, cases[i].level, NULL));
		CHECK_INT(read_state(&fixture).enough_at_ms[GB_TIER_ISOLATED] == 0, cases[i].isolated);
		CHECK_INT(spend(&fixture, GB_TIER_NETWORK).granted, cases[i].network);
		CHECK(gb_energy_set(fixture.energy, cases[i].level, NULL));
		CHECK_INT(spend(&fixture, GB_TIER_ISOLATED).granted, cases[i].isolated);
	}
}

TEST(level_recharges_up_to_the_maximum) {
	auto_fixture struct fixture fixture = fixture_open(default_options());
	CHECK(gb_energy_set(fixture.energy, 0, NULL));
	CHECK_INT(read_state(&fixture).full_at_ms, clock_ms + 2 * HOUR);
	CHECK_INT(read_state(&fixture).enough_at_ms[GB_TIER_NETWORK], clock_ms + 6 * HOUR / 10);
	clock_ms += HOUR;
	CHECK(is_close(read_state(&fixture).level, 0.5));
	struct gb_energy_outcome outcome = spend(&fixture, GB_TIER_NETWORK);
	CHECK(outcome.granted && is_close(outcome.level, 0.35));
	clock_ms += INT64_C(1000) * HOUR;
	CHECK(read_state(&fixture).level == 1 && read_state(&fixture).full_at_ms == 0);
	CHECK(is_close(spend(&fixture, GB_TIER_ISOLATED).level, 0.95));
}

TEST(frequent_updates_lose_no_recharge) {
	auto_fixture struct fixture fixture = fixture_open(default_options());
	struct gb_energy_options options = default_options();
	CHECK(gb_energy_set(fixture.energy, 0, NULL));
	for (unsigned i = 0; i < 1000; i++) {
		clock_ms += 1;
		CHECK(!spend(&fixture, GB_TIER_ISOLATED).granted);
	}
	CHECK(fabs(read_state(&fixture).level - options.per_hour / 3600) < 2e-9);
}

TEST(predicted_time_is_exact) {
	auto_fixture struct fixture fixture = fixture_open(default_options());
	CHECK(gb_energy_set(fixture.energy, 0.123456789, NULL));
	struct gb_energy_outcome outcome = spend(&fixture, GB_TIER_NETWORK);
	CHECK(!outcome.granted);
	clock_ms = outcome.enough_at_ms - 1;
	CHECK_INT(read_state(&fixture).runs[GB_TIER_NETWORK], 0);
	clock_ms = outcome.enough_at_ms;
	CHECK(spend(&fixture, GB_TIER_NETWORK).granted);
}

TEST(clock_set_back_recharges_nothing) {
	auto_fixture struct fixture fixture = fixture_open(default_options());
	CHECK(gb_energy_set(fixture.energy, 0.2, NULL));
	int64_t start = clock_ms;
	/* Small steps: repeated time does not count twice. */
	for (unsigned i = 0; i < 10; i++) {
		clock_ms = start - HOUR / 2;
		CHECK(gb_energy_set(fixture.energy, 0.2, NULL));
		CHECK(is_close(read_state(&fixture).level, 0.2));
		clock_ms = start;
		CHECK(is_close(read_state(&fixture).level, 0.2));
	}
	/* A clock that was years ahead is corrected: time counts from then on. */
	clock_ms = start + INT64_C(10000) * HOUR;
	CHECK(gb_energy_set(fixture.energy, 0.2, NULL));
	clock_ms = start;
	CHECK(is_close(spend(&fixture, GB_TIER_ISOLATED).level, 0.15));
	clock_ms = start + HOUR / 10;
	CHECK(is_close(read_state(&fixture).level, 0.2));
}

TEST(cost_is_refunded_once) {
	auto_fixture struct fixture fixture = fixture_open(default_options());
	struct gb_energy_outcome outcome = spend(&fixture, GB_TIER_NETWORK);
	CHECK(gb_energy_refund(fixture.energy, &outcome, NULL));
	CHECK(is_close(read_state(&fixture).level, 1) && is_close(outcome.level, 1));
	CHECK(gb_energy_set(fixture.energy, 0.1, NULL));
	CHECK(gb_energy_refund(fixture.energy, &outcome, NULL));
	CHECK(is_close(read_state(&fixture).level, 0.1));
	outcome = spend(&fixture, GB_TIER_NETWORK);
	CHECK(!outcome.granted && gb_energy_refund(fixture.energy, &outcome, NULL));
	CHECK(is_close(read_state(&fixture).level, 0.1));
}

TEST(refund_does_not_exceed_the_maximum) {
	auto_fixture struct fixture fixture = fixture_open(default_options());
	struct gb_energy_outcome outcome = spend(&fixture, GB_TIER_NETWORK);
	clock_ms += 2 * HOUR;
	CHECK(gb_energy_refund(fixture.energy, &outcome, NULL));
	CHECK(read_state(&fixture).level == 1);
}

TEST(level_survives_a_restart_and_rules_do_not) {
	struct gb_energy_options options = default_options();
	options.initial = 5, options.maximum = 10, options.per_hour = 1, options.cost[GB_TIER_ISOLATED] = 2;
	auto_fixture struct fixture fixture = fixture_open(options);
	CHECK(is_close(spend(&fixture, GB_TIER_ISOLATED).level, 3));
	gb_energy_close(fixture.energy);
	clock_ms += HOUR;
	struct gb_energy_state state = read_state(&fixture);
	CHECK(is_close(state.level, 4));
	CHECK_INT(state.runs[GB_TIER_ISOLATED], 2);
	fixture.rules.maximum = 3.5, fixture.rules.initial = 0;
	fixture.energy = open_in(fixture.folder, fixture.rules);
	CHECK(is_close(read_state(&fixture).level, 3.5));
	gb_energy_close(fixture.energy);
	fixture.rules.per_hour = 0;
	fixture.energy = open_in(fixture.folder, fixture.rules);
	struct gb_energy_outcome outcome;
	CHECK(gb_energy_set(fixture.energy, 0, NULL));
	CHECK(gb_energy_spend(fixture.energy, GB_TIER_ISOLATED, &outcome, NULL));
	CHECK(!outcome.granted && outcome.enough_at_ms == 0 && read_state(&fixture).full_at_ms == -1);
}

TEST(rules_of_one_process_have_no_effect_on_another) {
	auto_fixture struct fixture fixture = fixture_open(default_options());
	struct gb_energy_options strict = default_options();
	strict.cost[GB_TIER_ISOLATED] = strict.at_least[GB_TIER_ISOLATED] = 0.9;
	struct gb_energy *other = open_in(fixture.folder, strict);
	struct gb_energy_outcome outcome = {0};
	CHECK(gb_energy_spend(other, GB_TIER_NETWORK, &outcome, NULL) && outcome.granted);
	CHECK(gb_energy_spend(other, GB_TIER_ISOLATED, &outcome, NULL) && !outcome.granted);
	gb_energy_close(other);
	CHECK(spend(&fixture, GB_TIER_ISOLATED).granted);
	CHECK(is_close(read_state(&fixture).level, 0.8));
	CHECK_INT(read_state(&fixture).runs[GB_TIER_ISOLATED], 14);
}

TEST(database_with_stored_rules_is_migrated) {
	auto_fixture struct fixture fixture = fixture_open(default_options());
	gb_energy_close(fixture.energy);
	sqlite3 *db;
	sqlite3_open(file_in(fixture.folder, "energy.db"), &db);
	CHECK_INT(
	    sqlite3_exec(db,
		"DROP TABLE energy; CREATE TABLE energy(one INTEGER PRIMARY KEY, level INTEGER NOT NULL,"
		" at INTEGER NOT NULL, initial, maximum, per_hour, cost_isolated, cost_network,"
		" at_least_isolated, at_least_network);"
		"INSERT INTO energy VALUES (1, 250000000000, 1000000000000, 0, 0, 0, 0, 0, 0, 0);"
		"DELETE FROM schema_version WHERE version > 1",
		NULL, NULL, NULL),
	    SQLITE_OK);
	sqlite3_close(db);
	fixture.energy = open_in(fixture.folder, fixture.rules);
	CHECK(is_close(spend(&fixture, GB_TIER_ISOLATED).level, 0.2));
}

TEST(tier_that_costs_more_than_the_maximum_never_runs) {
	struct gb_energy_options options = default_options();
	options.cost[GB_TIER_NETWORK] = 2;
	auto_fixture struct fixture fixture = fixture_open(options);
	struct gb_energy_outcome outcome = spend(&fixture, GB_TIER_NETWORK);
	CHECK(!outcome.granted && is_close(outcome.needed, 2) && outcome.enough_at_ms == 0);
	CHECK_INT(read_state(&fixture).enough_at_ms[GB_TIER_NETWORK], -1);
}

TEST(invalid_options_are_rejected_by_name) {
	auto_folder char folder[FOLDER];
	struct gb_energy *energy;
	static const double wrong[] = {-1, NAN, INFINITY, 1001};
	folder_create(folder);
	for (size_t i = 0; i < GB_COUNT(wrong); i++) {
		struct gb_energy_options options = default_options();
		struct gb_err err = {0};
		options.cost[GB_TIER_NETWORK] = wrong[i];
		CHECK(!gb_energy_open(folder, &options, &energy, &err) && err.code == GB_EINVAL);
		CHECK(strstr(err.message, "cost of network") != NULL);
	}
	struct gb_energy_options options = default_options();
	options.initial = 2;
	CHECK(!gb_energy_open(folder, &options, &energy, NULL));
	energy = open_in(folder, default_options());
	CHECK(!gb_energy_set(energy, 1.1, NULL) && !gb_energy_set(energy, -0.1, NULL) &&
	      !gb_energy_set(energy, NAN, NULL));
	gb_energy_close(energy);
}

TEST(reading_the_state_creates_nothing) {
	auto_folder char folder[FOLDER];
	struct gb_energy_state state;
	folder_create(folder);
	CHECK(gb_energy_look(folder, NULL, &state, NULL) && state.level == 1);
	CHECK(access(file_in(folder, "energy.db"), F_OK) != 0);
}

TEST(levels_out_of_range_are_corrected) {
	auto_fixture struct fixture fixture = fixture_open(default_options());
	static const char *const changes[] = {
	    "UPDATE energy SET level = 9000000000000000000", "UPDATE energy SET level = -5"};
	for (size_t i = 0; i < GB_COUNT(changes); i++) {
		sqlite3 *db;
		sqlite3_open(file_in(fixture.folder, "energy.db"), &db);
		CHECK_INT(sqlite3_exec(db, changes[i], NULL, NULL, NULL), SQLITE_OK);
		sqlite3_close(db);
		CHECK(read_state(&fixture).level == (i == 0 ? 1 : 0));
	}
}

/* --- many processes --- */

enum { SPENDERS = 12 };

/* Spend until denied, and refund every third run. Returns the number of runs not refunded. */
static unsigned spend_all(const char *folder, const struct gb_energy_options *options) {
	struct gb_energy *energy = NULL;
	unsigned kept = 0;
	if (!CHECK(gb_energy_open(folder, options, &energy, NULL)))
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

TEST(concurrent_processes_do_not_overspend) {
	auto_folder char folder[FOLDER];
	int start[2];
	unsigned sum = 0;
	clock_ms = 1000000000000;
	folder_create(folder);
	struct gb_energy_options options = default_options();
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
			unsigned kept = spend_all(folder, &options);
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
	CHECK(gb_energy_look(folder, &options, &state, NULL));
	/* 10 / 0.05 = 200 runs; less than the cost of one is left. */
	CHECK_INT(sum, 200);
	CHECK(is_close(state.level, 10 - sum * 0.05));
}
