/*
 * Energy: what an agent may still do. Runs cost some, time gives it back, and all processes share one level.
 *
 *	gb_energy_open(dir, &options, &energy, &err);
 *	gb_energy_spend(energy, GB_TIER_NETWORK, &outcome, &err);
 *	if (!outcome.granted)
 *		refuse(outcome.level, outcome.needed, outcome.enough_at_ms);
 *	...it was not run after all:
 *	gb_energy_refund(energy, &outcome, &err);
 *
 * The level is a whole number of trillionths, so that sums are exact: what was spent, by however many
 * processes at once, never exceeds what was there. The rules are kept beside it. Whoever opens with options
 * sets them for all; whoever opens without them gets those that hold.
 *
 * Time is the wall clock, since the level outlives machines' uptimes. Time that goes backwards recharges
 * nothing, and time that is seen a second time after a small step back does not count again; a jump forward
 * gives at most the maximum.
 */
#ifndef GB_STORE_ENERGY_H
#define GB_STORE_ENERGY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum gb_tier { GB_TIER_ISOLATED, GB_TIER_NETWORK };
#define GB_TIERS     2
#define GB_RUNS_MANY ((unsigned)-1) /* more than can be counted, or for nothing */

/* "isolated", "network". */
const char *gb_tier_name(enum gb_tier tier);

struct gb_energy_options {
	double initial, maximum; /* at most 1,000 */
	double per_hour;         /* what time gives back; 0: nothing */
	double cost[GB_TIERS];
	double at_least[GB_TIERS]; /* below it nothing of this tier is run */
	int64_t (*now_ms)(void);   /* the wall clock; NULL: the system's */
};

/* 1 of 1, 0.5 an hour; isolated costs 0.05 and needs 0.15, network costs 0.15 and needs 0.3. To be copied and
 * changed: here zero means zero. */
extern const struct gb_energy_options gb_energy_defaults;

struct gb_energy;

/* @options may be NULL. Fails with GB_EINVAL, naming the option. */
bool gb_energy_open(const char *dir, const struct gb_energy_options *options, struct gb_energy **ret_energy,
    struct gb_err *err);
void gb_energy_close(struct gb_energy *energy);

struct gb_energy_outcome {
	enum gb_tier tier;
	bool granted;
	double level;         /* left after it, or there when it was refused */
	double needed;        /* to be granted */
	double cost;          /* what was taken; 0 if refused, or given back */
	int64_t enough_at_ms; /* refused: when it will suffice, 0 if never */
};

/* Take what a run of @tier costs. True also if it is refused; false if that cannot be told, and then it is
 * not to be run. */
bool gb_energy_spend(
    struct gb_energy *energy, enum gb_tier tier, struct gb_energy_outcome *ret_outcome, struct gb_err *err);
/* What was taken for @outcome is given back, once: it did not run. */
bool gb_energy_refund(struct gb_energy *energy, struct gb_energy_outcome *outcome, struct gb_err *err);
/* By a person. From 0 to the maximum. */
bool gb_energy_set(struct gb_energy *energy, double level, struct gb_err *err);

struct gb_energy_state {
	double level;
	struct gb_energy_options rules;
	int64_t full_at_ms;             /* 0 if it is full, -1 if it never will be */
	int64_t enough_at_ms[GB_TIERS]; /* 0 if one can run now, -1 if none ever can */
	unsigned runs[GB_TIERS];        /* how many could run now, one after the other */
};

/* How it stands in @dir. Makes nothing: where nothing was spent yet it is as at the start. */
bool gb_energy_look(
    const char *dir, int64_t (*now_ms)(void), struct gb_energy_state *ret_state, struct gb_err *err);

#endif
