/*
 * A process that kills processes of an engine at random moments.
 *
 *	struct killer killer;
 *	killer_start(&killer, seed, 1000);	// before the engine exists: it must inherit nothing of it
 *	killer_go(&killer);			// when the engine is under load
 *	... while (killer_works(&killer)) ...; count killer.shared->successes[language] up
 *	killer_finish(&killer);
 */
#ifndef GB_TESTS_SOAK_KILLER_H
#define GB_TESTS_SOAK_KILLER_H

#include <stdbool.h>
#include <sys/types.h>

#include "glovebox/glovebox.h"

/* Which process: seen from the engine's, a child, a grandchild, or below that. A keeper is a cell whose
 * program is the machine's own. */
enum target { TARGET_ZYGOTE, TARGET_CELL, TARGET_KEEPER, TARGET_PROGRAM, N_TARGETS };

extern const char *const target_names[N_TARGETS];

struct killer {
	pid_t pid;
	struct killer_shared {
		volatile bool go;
		volatile unsigned kills[N_TARGETS];
		/* Runs of each language that have succeeded, as the engine's process counts them. A zygote is
		 * killed only when some have since the last one was, because the engine gives a zygote up
		 * that dies five times without one cell having ended in between. */
		volatile unsigned successes[GB_LANGUAGES];
	} * shared;
};

bool killer_start(struct killer *killer, unsigned seed, unsigned kills);
void killer_go(struct killer *killer);
/* True until it has killed the requested number. */
bool killer_works(struct killer *killer);
void killer_finish(struct killer *killer);

#endif
