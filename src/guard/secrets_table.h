/* The patterns of secrets_patterns.c, compiled when this was built (table/make.c): kind i is pattern i. */
#ifndef GB_GUARD_SECRETS_TABLE_H
#define GB_GUARD_SECRETS_TABLE_H

#include "guard/secrets_match.h"

extern const struct gb_matcher gb_secret_table;

#endif
