/* The folder in which Glovebox keeps what outlives it. */
#ifndef GB_STORE_STATE_H
#define GB_STORE_STATE_H

#include <stdbool.h>

#include "base/err.h"

enum { GB_STATE_PATH = 3900 }; /* leaves room for a file's name below PATH_MAX */

/* $GLOVEBOX_STATE_DIR, else $XDG_STATE_HOME/glovebox, else ~/.local/state/glovebox. Nothing is made. */
bool gb_state_find(char path[GB_STATE_PATH], struct gb_err *err);

/* @configured, unless that is empty. */
bool gb_state_choose(const char *configured, char path[GB_STATE_PATH], struct gb_err *err);

/* Make @path (0700) and what is missing above it, and see that nobody else can write there. */
bool gb_state_prepare(const char *path, struct gb_err *err);

#endif
