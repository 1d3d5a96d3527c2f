/*
 * The root file system of a zygote and its cells, which replaces the host's files: see enum gb_room. Uses
 * system calls only, as everything in inside/. Functions that return a string return NULL on success, else
 * the step that failed, with errno set.
 */
#ifndef GB_SANDBOX_LINUX_INSIDE_ROOM_H
#define GB_SANDBOX_LINUX_INSIDE_ROOM_H

#include <stdbool.h>

#include "sandbox/linux/plan.h"

/* Sizes of the tmpfs mounts, and how many files they can hold. The verification identifies the mounts by
 * these values. */
enum {
	GB_ROOM_NONE_BYTES = 4096,
	GB_ROOM_NONE_FILES = 1,
	GB_ROOM_ROOT_BYTES = 256 << 10, /* root of a room that is not empty */
	GB_ROOM_ROOT_FILES = 256,
	GB_ROOM_OWN_FILES = 16384, /* in each of a cell's own folders */
};

/* A file in the root of a room that is not empty: its mode permits reading, but no Landlock rule does. */
#define GB_ROOM_CANARY "/.landlock"

/* Open the host's files and folders of the room. This process must still be the host's user: folders such as /root
 * are closed to the unprivileged user that it becomes. What cannot be opened is not an error yet. */
void gb_room_open(const struct gb_plan *plan);
/* Mount the new root and change to it. Closes what gb_room_open opened. */
const char *gb_room_enter(const struct gb_plan *plan);

/* Whether this zygote was able to mount /proc. */
bool gb_room_has_proc(void);
/* Mount flags of /box and /tmp. */
unsigned long gb_room_own_flags(const struct gb_plan *plan);

/* In a cell, in its own mount namespace: mount the cell's own folders, and change to /box. */
const char *gb_room_prepare_cell(const struct gb_plan *plan);

#endif
