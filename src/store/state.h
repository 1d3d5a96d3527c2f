/* The state folder, for data that persists between processes. */
#ifndef GB_STORE_STATE_H
#define GB_STORE_STATE_H

#include <stdbool.h>

#include "base/err.h"

enum { GB_STATE_PATH = 3900 }; /* leaves room for a file's name below PATH_MAX */

/* $GLOVEBOX_STATE_DIR, else $XDG_STATE_HOME/glovebox, else ~/.local/state/glovebox. Creates nothing. */
bool gb_state_find(char path[GB_STATE_PATH], struct gb_err *err);

/* @configured if not empty, else gb_state_find. */
bool gb_state_choose(const char *configured, char path[GB_STATE_PATH], struct gb_err *err);

/* Create @path (0700) with missing parent folders, and check that no other user can write there. */
bool gb_state_prepare(const char *path, struct gb_err *err);

#endif
