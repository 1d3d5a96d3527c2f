/* The names of the languages as a list, for option tables. */
#ifndef GB_ENGINE_LANGUAGE_H
#define GB_ENGINE_LANGUAGE_H

#include "glovebox/glovebox.h"

/* Indexed by enum gb_language; NULL-terminated. */
extern const char *const gb_language_names[];

#endif
