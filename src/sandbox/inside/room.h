/*
 * What a zygote and its cells find behind the wall instead of the host's files: see enum gb_room. Only system
 * calls, as everything here. Each returns NULL when it is done, else what it could not do, with errno set.
 */
#ifndef GB_SANDBOX_INSIDE_ROOM_H
#define GB_SANDBOX_INSIDE_ROOM_H

#include "sandbox/plan.h"

/* Change to a root of our own. */
const char *gb_room_enter(const struct gb_plan *plan);

/* In a cell, in its own mount namespace: put up what is its alone, and go to /box. */
const char *gb_room_prepare_cell(const struct gb_plan *plan);

#endif
