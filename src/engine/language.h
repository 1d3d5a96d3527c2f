/* The names of languages as a list, for tables. */
#ifndef GB_ENGINE_LANGUAGE_H
#define GB_ENGINE_LANGUAGE_H

#include "glovebox/glovebox.h"

/* By enum gb_language; NULL ends it. */
extern const char *const gb_language_names[];

#endif
