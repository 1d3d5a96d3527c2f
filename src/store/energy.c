#include "store/energy.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/cleanup.h"
#include "store/db.h"
#include "store/state.h"

#define ENERGY_DB "energy.db"

enum { LEVEL_MAX = 1000, HOUR_MS = 3600000, SMALL_STEP_MS = HOUR_MS };
static const double units = 1e12;                          /* per 1 of energy */
static const int64_t never_ms = INT64_C(1000000000000000); /* 30,000 years */

typedef __int128 wide; /* for milliseconds times units, which overflow 64 bits */

const struct gb_energy_options gb_energy_defaults = {
    .initial = 1,
    .maximum = 1,
    .per_hour = 0.5,
    .cost = {0.05, 0.15},
    .at_least = {0.15, 0.3},
};

static const char *const migrations[] = {
    "CREATE TABLE energy(one INTEGER PRIMARY KEY CHECK (one = 1), level INTEGER NOT NULL, at INTEGER NOT "
    "NULL,"
    " initial INTEGER NOT NULL, maximum INTEGER NOT NULL, per_hour INTEGER NOT NULL, cost_isolated INTEGER "
    "NOT NULL,"
    " cost_network INTEGER NOT NULL, at_least_isolated INTEGER NOT NULL, at_least_network INTEGER NOT NULL)",
    /* The rules come from the settings of each process. */
    "ALTER TABLE energy RENAME TO before;"
    "CREATE TABLE energy(one INTEGER PRIMARY KEY CHECK (one = 1), level INTEGER NOT NULL, at INTEGER NOT "
    "NULL);"
    "INSERT INTO energy SELECT one, level, at FROM before;"
    "DROP TABLE before",
};
static const struct gb_db_options db_options = {
    .migrations = migrations, .n_migrations = GB_COUNT(migrations)};

/* The rules, in units, in the order of the table below. */
struct rules {
	int64_t values[7];
};

struct gb_energy {
	struct gb_db *db;
	struct rules rules;
	int64_t (*now_ms)(void);
};

/* The row, in units. */
struct row {
	int64_t level, at;
	const int64_t *rules; /* of the caller */
};
enum { INITIAL, MAXIMUM, PER_HOUR, COST, AT_LEAST = COST + GB_TIERS };

/* The option of each rule. */
static const struct {
	const char *name;
	size_t offset;
} options_of_rules[] = {
    {"initial", offsetof(struct gb_energy_options, initial)},
    {"maximum", offsetof(struct gb_energy_options, maximum)},
    {"per_hour", offsetof(struct gb_energy_options, per_hour)},
    {"cost of isolated", offsetof(struct gb_energy_options, cost[GB_TIER_ISOLATED])},
    {"cost of network", offsetof(struct gb_energy_options, cost[GB_TIER_NETWORK])},
    {"at_least of isolated", offsetof(struct gb_energy_options, at_least[GB_TIER_ISOLATED])},
    {"at_least of network", offsetof(struct gb_energy_options, at_least[GB_TIER_NETWORK])},
};
_Static_assert(
    GB_COUNT(options_of_rules) == GB_COUNT(((struct rules *)0)->values), "an option for each rule");

const char *gb_tier_name(enum gb_tier tier) {
	return tier == GB_TIER_ISOLATED ? "isolated" : "network";
}

/* --- numbers --- */

static int64_t read_clock(int64_t (*now_ms)(void)) {
	if (now_ms)
		return now_ms();
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static bool to_units(const char *name, double number, int64_t *ret_units, struct gb_err *err) {
	if (!(number >= 0 && number <= LEVEL_MAX))
		return gb_fail(err, GB_EINVAL, 0, "energy: %s: %g is not a number from 0 to %d", name, number,
		    LEVEL_MAX);
	*ret_units = llround(number * units);
	return true;
}

static double from_units(int64_t number) {
	return (double)number / units;
}

/* @options may be NULL, for the defaults. */
static bool rules_from_options(
    const struct gb_energy_options *options, struct rules *ret_rules, struct gb_err *err) {
	struct rules rules = {0};
	const char *from = (const char *)(options ? options : &gb_energy_defaults);
	for (size_t i = 0; i < GB_COUNT(options_of_rules); i++)
		if (!to_units(options_of_rules[i].name, *(const double *)(from + options_of_rules[i].offset),
			&rules.values[i], err))
			return false;
	if (rules.values[INITIAL] > rules.values[MAXIMUM])
		return gb_fail(err, GB_EINVAL, 0, "energy: initial: is more than maximum");
	*ret_rules = rules;
	return true;
}

/* Recharge @row up to @now. */
static void recharge(struct row *row, int64_t now) {
	int64_t elapsed = now - row->at;
	if (elapsed > 0) {
		wide gained = (wide)elapsed * row->rules[PER_HOUR] / HOUR_MS;
		wide missing = row->rules[MAXIMUM] - row->level;
		row->level = gained >= missing ? row->rules[MAXIMUM] : row->level + (int64_t)gained;
	}
	/* After a small step back the repeated time must not count twice; after a large one the clock was far
	 * ahead, so restart from now. */
	if (elapsed > 0 || elapsed < -SMALL_STEP_MS)
		row->at = now;
	if (row->level > row->rules[MAXIMUM])
		row->level = row->rules[MAXIMUM];
	if (row->level < 0)
		row->level = 0;
}

static int64_t needed_for(const struct row *row, enum gb_tier tier) {
	int64_t cost = row->rules[COST + tier], least = row->rules[AT_LEAST + tier];
	return cost > least ? cost : least;
}

/* The time at which the level reaches @wanted: 0 if it has, -1 if never. */
static int64_t time_of_level(const struct row *row, int64_t wanted) {
	if (row->level >= wanted)
		return 0;
	if (wanted > row->rules[MAXIMUM] || row->rules[PER_HOUR] == 0)
		return -1;
	wide ms = ((wide)(wanted - row->level) * HOUR_MS + row->rules[PER_HOUR] - 1) / row->rules[PER_HOUR];
	return ms < never_ms ? row->at + (int64_t)ms : -1;
}

/* --- the row --- */

static bool read_row(struct gb_db *db, struct row *ret_row, bool *ret_is_present, struct gb_err *err) {
	gb_auto_stmt sqlite3_stmt *stmt = NULL;
	if (!gb_db_prepare(db, "SELECT level, at FROM energy", &stmt, err) ||
	    !gb_db_step(db, stmt, ret_is_present, err))
		return false;
	ret_row->level = sqlite3_column_int64(stmt, 0);
	ret_row->at = sqlite3_column_int64(stmt, 1);
	return true;
}

static bool write_row(struct gb_db *db, const struct row *row, struct gb_err *err) {
	gb_auto_stmt sqlite3_stmt *stmt = NULL;
	if (!gb_db_prepare(db, "INSERT OR REPLACE INTO energy VALUES (1, ?, ?)", &stmt, err))
		return false;
	sqlite3_bind_int64(stmt, 1, row->level);
	sqlite3_bind_int64(stmt, 2, row->at);
	return gb_db_run(db, stmt, err);
}

/* The row as it is @now. If none was stored, it has the initial level. */
static void update_row(struct row *row, bool is_present, int64_t now) {
	if (!is_present) {
		row->level = row->rules[INITIAL];
		row->at = now;
	}
	recharge(row, now);
}

typedef bool (*row_work)(struct row *row, void *data, struct gb_err *err);

static bool work_on_row(struct gb_energy *energy, row_work work, void *data, struct gb_err *err) {
	struct row row = {.rules = energy->rules.values};
	bool is_present;
	if (!read_row(energy->db, &row, &is_present, err))
		return false;
	/* Read the clock within the transaction: the later of two processes then has the later time. */
	update_row(&row, is_present, read_clock(energy->now_ms));
	return work(&row, data, err) && write_row(energy->db, &row, err);
}

/* Read the row, let @work change it, write it: in one transaction. */
static bool in_transaction(struct gb_energy *energy, row_work work, void *data, struct gb_err *err) {
	if (!gb_db_begin(energy->db, err))
		return false;
	if (work_on_row(energy, work, data, err))
		return gb_db_commit(energy->db, err);
	gb_db_rollback(energy->db);
	return false;
}

/* --- opening --- */

void gb_energy_close(struct gb_energy *energy) {
	if (!energy)
		return;
	gb_db_close(energy->db);
	free(energy);
}

static void close_energy(struct gb_energy **energy) {
	gb_energy_close(*energy);
}

/* Stores the initial level, if there is none yet. */
static bool keep_row(struct row *row, void *data, struct gb_err *err) {
	(void)row, (void)data, (void)err;
	return true;
}

bool gb_energy_open(const char *dir, const struct gb_energy_options *options, struct gb_energy **ret_energy,
    struct gb_err *err) {
	char path[GB_STATE_PATH + 32];
	struct rules rules;
	if (!rules_from_options(options, &rules, err) || !gb_state_prepare(dir, err))
		return false;
	__attribute__((cleanup(close_energy))) struct gb_energy *energy = calloc(1, sizeof *energy);
	if (!energy)
		return gb_fail(err, GB_ENOMEM, 0, "open the energy database");
	energy->rules = rules;
	energy->now_ms = options ? options->now_ms : NULL;
	snprintf(path, sizeof path, "%s/%s", dir, ENERGY_DB);
	struct gb_db_options opened = db_options;
	opened.busy_ms = options ? options->busy_ms : 0;
	if (!gb_db_open(path, &opened, &energy->db, err) || !gb_db_check_schema(energy->db, err) ||
	    !in_transaction(energy, keep_row, NULL, err))
		return gb_wrap(err, "open the energy database");
	*ret_energy = gb_take_pointer(&energy);
	return true;
}

/* --- spending --- */

static bool spend(struct row *row, void *data, struct gb_err *err) {
	struct gb_energy_outcome *outcome = data;
	int64_t needed = needed_for(row, outcome->tier), cost = row->rules[COST + outcome->tier];
	outcome->granted = row->level >= needed;
	if (outcome->granted)
		row->level -= cost;
	outcome->cost = outcome->granted ? from_units(cost) : 0;
	outcome->level = from_units(row->level);
	outcome->needed = from_units(needed);
	int64_t enough = outcome->granted ? 0 : time_of_level(row, needed);
	outcome->enough_at_ms = enough > 0 ? enough : 0;
	return true;
}

bool gb_energy_spend(
    struct gb_energy *energy, enum gb_tier tier, struct gb_energy_outcome *ret_outcome, struct gb_err *err) {
	struct gb_energy_outcome outcome = {.tier = tier};
	if (!in_transaction(energy, spend, &outcome, err))
		return gb_wrap(err, "spend energy");
	*ret_outcome = outcome;
	return true;
}

static bool refund(struct row *row, void *data, struct gb_err *err) {
	struct gb_energy_outcome *outcome = data;
	row->level += llround(outcome->cost * units);
	if (row->level > row->rules[MAXIMUM])
		row->level = row->rules[MAXIMUM];
	outcome->level = from_units(row->level);
	return true;
}

bool gb_energy_refund(struct gb_energy *energy, struct gb_energy_outcome *outcome, struct gb_err *err) {
	if (!outcome->granted || outcome->cost == 0)
		return true;
	if (!in_transaction(energy, refund, outcome, err))
		return gb_wrap(err, "refund energy");
	outcome->cost = 0;
	return true;
}

static bool set_level(struct row *row, void *data, struct gb_err *err) {
	int64_t level = *(const int64_t *)data;
	if (level > row->rules[MAXIMUM])
		return gb_fail(err, GB_EINVAL, 0, "energy: level: %g is more than the maximum, %g",
		    from_units(level), from_units(row->rules[MAXIMUM]));
	row->level = level;
	return true;
}

bool gb_energy_set(struct gb_energy *energy, double level, struct gb_err *err) {
	int64_t wanted = 0;
	return to_units("level", level, &wanted, err) && in_transaction(energy, set_level, &wanted, err);
}

/* --- reading --- */

static unsigned count_runs(struct row row, enum gb_tier tier) {
	int64_t needed = needed_for(&row, tier), cost = row.rules[COST + tier];
	if (row.level < needed)
		return 0;
	int64_t more = cost ? (row.level - needed) / cost : INT_MAX;
	return more < INT_MAX ? 1 + (unsigned)more : GB_RUNS_MANY;
}

static void close_db(struct gb_db **db) {
	gb_db_close(*db);
}

/* Read the row, if it exists; a missing database is not a failure. */
static bool read_existing_row(
    const char *path, struct row *ret_row, bool *ret_is_present, struct gb_err *err) {
	__attribute__((cleanup(close_db))) struct gb_db *db = NULL;
	struct gb_db_options options = db_options;
	struct gb_err open_err = {0};
	options.read_only = true;
	*ret_is_present = false;
	if (gb_db_open(path, &options, &db, &open_err))
		return gb_db_check_schema(db, err) && read_row(db, ret_row, ret_is_present, err);
	if (open_err.code == GB_ENOENT)
		return true;
	if (err)
		*err = open_err;
	return false;
}

bool gb_energy_look(const char *dir, const struct gb_energy_options *options,
    struct gb_energy_state *ret_state, struct gb_err *err) {
	char path[GB_STATE_PATH + 32];
	struct rules rules;
	bool is_present;
	if (!rules_from_options(options, &rules, err))
		return false;
	struct row row = {.rules = rules.values};
	int64_t now = read_clock(options ? options->now_ms : NULL);
	snprintf(path, sizeof path, "%s/%s", dir, ENERGY_DB);
	if (!read_existing_row(path, &row, &is_present, err))
		return gb_wrap(err, "read the energy database");
	update_row(&row, is_present, now);
	struct gb_energy_state state = {.level = from_units(row.level)};
	state.full_at_ms = time_of_level(&row, row.rules[MAXIMUM]);
	for (enum gb_tier tier = GB_TIER_ISOLATED; tier < GB_TIERS; tier++) {
		state.enough_at_ms[tier] = time_of_level(&row, needed_for(&row, tier));
		state.runs[tier] = count_runs(row, tier);
	}
	*ret_state = state;
	return true;
}
