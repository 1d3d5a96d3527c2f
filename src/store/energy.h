/*
 * Energy: the run budget of an agent. Runs cost energy, time restores it, and all processes share one level.
 *
 *	gb_energy_open(dir, &options, &energy, &err);
 *	gb_energy_spend(energy, GB_TIER_NETWORK, &outcome, &err);
 *	if (!outcome.granted)
 *		reject(outcome.level, outcome.needed, outcome.enough_at_ms);
 *	...if it did not run after all:
 *	gb_energy_refund(energy, &outcome, &err);
 *
 * The level is an integer number of trillionths, so that sums are exact: the total spent by concurrent
 * processes never exceeds the level. Only the level is stored. The rules (maximum, recharge, costs) are those of
 * the process that uses it: rules of one process have no effect on another.
 *
 * Time is the wall clock, since the level survives reboots. A clock that is set back recharges nothing, and
 * after a small step back the repeated time does not count again; a jump forward recharges at most to the
 * maximum.
 */
#ifndef GB_STORE_ENERGY_H
#define GB_STORE_ENERGY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum gb_tier { GB_TIER_ISOLATED, GB_TIER_NETWORK };
#define GB_TIERS     2
#define GB_RUNS_MANY ((unsigned)-1) /* more than fits, or runs cost nothing */

/* "isolated", "network". */
const char *gb_tier_name(enum gb_tier tier);

struct gb_energy_options {
	double initial, maximum; /* at most 1,000 */
	double per_hour;         /* restored per hour; 0: nothing */
	double cost[GB_TIERS];
	double at_least[GB_TIERS]; /* minimum level to run this tier */
	unsigned busy_ms;          /* how long to wait for other processes: see store/db.h */
	int64_t (*now_ms)(void);   /* the wall clock; NULL: the system's */
};

/* Level 1 of 1, 0.5 per hour; isolated costs 0.05 and needs 0.15, network costs 0.15 and needs 0.3. Copy and
 * change it: in these options zero means zero. */
extern const struct gb_energy_options gb_energy_defaults;

struct gb_energy;

/* @options may be NULL, for the defaults. Fails with GB_EINVAL, naming the option. */
bool gb_energy_open(const char *dir, const struct gb_energy_options *options, struct gb_energy **ret_energy,
    struct gb_err *err);
void gb_energy_close(struct gb_energy *energy);

struct gb_energy_outcome {
	enum gb_tier tier;
	bool granted;
	double level;         /* after the run was granted, or when it was denied */
	double needed;        /* minimum level to be granted */
	double cost;          /* what was spent; 0 if denied or refunded */
	int64_t enough_at_ms; /* if denied: when the level will suffice, 0 if never */
};

/* Spend the cost of a run of @tier. Returns true also if it is denied; false if that cannot be determined,
 * and then the caller must not run it. */
bool gb_energy_spend(
    struct gb_energy *energy, enum gb_tier tier, struct gb_energy_outcome *ret_outcome, struct gb_err *err);
/* Refund what was spent for @outcome, once: it did not run. */
bool gb_energy_refund(struct gb_energy *energy, struct gb_energy_outcome *outcome, struct gb_err *err);
/* Set the level, from 0 to the maximum; on behalf of a person. */
bool gb_energy_set(struct gb_energy *energy, double level, struct gb_err *err);

struct gb_energy_state {
	double level;
	int64_t full_at_ms;             /* 0 if it is full, -1 if it never will be */
	int64_t enough_at_ms[GB_TIERS]; /* 0 if a run is possible now, -1 if never */
	unsigned runs[GB_TIERS];        /* number of consecutive runs possible now */
};

/* Read the state in @dir, by the rules of @options (NULL: the defaults). Creates nothing: without a database it is
 * the initial state. */
bool gb_energy_look(const char *dir, const struct gb_energy_options *options,
    struct gb_energy_state *ret_state, struct gb_err *err);

#endif
