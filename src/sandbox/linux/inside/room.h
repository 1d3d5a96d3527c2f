/*
 * What a zygote and its cells find behind the wall instead of the host's files: see enum gb_room. Only system
 * calls, as everything here. Each returns NULL when it is done, else what it could not do, with errno set.
 */
#ifndef GB_SANDBOX_LINUX_INSIDE_ROOM_H
#define GB_SANDBOX_LINUX_INSIDE_ROOM_H

#include <stdbool.h>

#include "sandbox/linux/plan.h"

/* How large the tmpfs are, and how many files they can hold. The verification recognises them by it. */
enum {
	GB_ROOM_NONE_BYTES = 4096,
	GB_ROOM_NONE_FILES = 1,
	GB_ROOM_ROOT_BYTES = 256 << 10, /* of a room that is not empty */
	GB_ROOM_ROOT_FILES = 256,
	GB_ROOM_OWN_FILES = 16384, /* of a cell's own folder */
};

/* In the root of a room that is not empty: readable by its mode, admitted by no Landlock rule. */
#define GB_ROOM_CANARY "/.landlock"

/* Change to a root of our own. */
const char *gb_room_enter(const struct gb_plan *plan);

/* Whether this zygote could mount /proc. */
bool gb_room_has_proc(void);
/* Mount flags of /box and /tmp. */
unsigned long gb_room_own_flags(const struct gb_plan *plan);

/* In a cell, in its own mount namespace: put up what is its alone, and go to /box. */
const char *gb_room_prepare_cell(const struct gb_plan *plan);

#endif
