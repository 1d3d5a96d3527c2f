/*
 * Calls in one turn of a model, counted over all processes.
 *
 *	gb_turns_open(dir, &turns, &err);
 *	gb_turns_take(turns, &(struct gb_turn){.face = "cli", .conversation = "c1", .turn = "7"}, 3, &granted,
 * &err); gb_turns_close(turns);
 *
 * A turn is whatever the face calls one. It is kept as a hash, and forgotten a day after its last call.
 */
#ifndef GB_STORE_TURNS_H
#define GB_STORE_TURNS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum { GB_TURNS_MAX = 10000 }; /* the oldest are forgotten */

struct gb_turns;

struct gb_turn {
	const char *face, *conversation, *turn;
};

bool gb_turns_open(const char *dir, struct gb_turns **ret, struct gb_err *err);
void gb_turns_close(struct gb_turns *turns); /* NULL is fine */

/* One call more, unless there were @max. False if that cannot be told, and then it is not to be run. */
bool gb_turns_take(
    struct gb_turns *turns, const struct gb_turn *turn, unsigned max, bool *ret_granted, struct gb_err *err);

#endif
