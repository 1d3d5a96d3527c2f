/*
 * Keeps some dozens of runs in flight: each settled run is replaced.
 *
 *	struct load load;
 *	load_init(&load, engine, with_node);
 *	while (...) load_turn(&load, true);	// replaces, and dispatches once
 *	load_drain(&load);			// lets all settle, replaces none
 *	load_close(&load);
 */
#ifndef GB_TESTS_SOAK_LOAD_H
#define GB_TESTS_SOAK_LOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "glovebox/glovebox.h"

enum { LOAD_SLOTS_MAX = 64, LOAD_OUTCOMES_MAX = 32 };

struct load_kind {
	const char *what;
	enum gb_language language;
	unsigned n; /* of them at once */
	bool session;
	uint64_t timeout_ms; /* 0: none, it ends by itself */
	const char *source;
};

struct load {
	struct gb_engine *engine;
	struct load_slot {
		const struct load_kind *kind;
		struct gb_session *session;
		struct gb_run *run;
		unsigned n_settled; /* times that this run has been reported */
		uint64_t began;     /* ns */
	} slots[LOAD_SLOTS_MAX];
	unsigned n_slots;
	volatile unsigned *successes; /* by language, to be counted up; or NULL */
	unsigned n_started, n_answered;
	/* How runs ended, and how often. */
	struct load_outcome {
		enum gb_status status;
		char code[32];
		unsigned n;
	} outcomes[LOAD_OUTCOMES_MAX];
	unsigned n_outcomes;
	char why[640]; /* the last call failed */
};

void load_init(struct load *load, struct gb_engine *engine, bool with_node);
/* Start what is missing if @replace, dispatch once, and look at what has settled. False, with load->why set,
 * if a run could not be started, was answered in a way that no kill explains, or was not answered in time. */
bool load_turn(struct load *load, bool replace);
bool load_drain(struct load *load);
/* Closes sessions. Runs in flight are left to the engine. */
void load_close(struct load *load);

#endif
