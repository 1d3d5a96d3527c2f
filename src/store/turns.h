/*
 * Calls in one turn of a model, counted over all processes.
 *
 *	gb_turns_open(dir, &turns, &err);
 *	struct gb_turn turn = {.face = "execute_code", .conversation = "c1", .turn = "7"};
 *	gb_turns_take(turns, &turn, 3, &granted, &err);
 *	gb_turns_give_back(turns, &turn, &err);	// it was denied and did not run
 *	gb_turns_close(turns);
 *
 * The id of a turn is chosen by the interface. It is stored as a hash, and deleted a day after its last call.
 */
#ifndef GB_STORE_TURNS_H
#define GB_STORE_TURNS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum { GB_TURNS_MAX = 10000 }; /* beyond this the oldest are deleted */

struct gb_turns;

struct gb_turn {
	const char *face, *conversation, *turn;
};

bool gb_turns_open(const char *dir, struct gb_turns **ret, struct gb_err *err);
void gb_turns_close(struct gb_turns *turns); /* NULL is fine */
/* How long to wait for other processes: see store/db.h. */
void gb_turns_set_busy(struct gb_turns *turns, unsigned busy_ms);

/* Count one call, unless there were @max already. False if that cannot be determined; then the caller must
 * not run it. */
bool gb_turns_take(
    struct gb_turns *turns, const struct gb_turn *turn, unsigned max, bool *ret_granted, struct gb_err *err);
/* A call that gb_turns_take granted did not run: it does not count any more. If the process dies before this,
 * or this fails, the call stays counted. */
bool gb_turns_give_back(struct gb_turns *turns, const struct gb_turn *turn, struct gb_err *err);

#endif
