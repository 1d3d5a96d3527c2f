/* The patterns of secrets_patterns.c, compiled at build time by table/make.c. The kind of a match is the index of
 * its pattern. */
#ifndef GB_GUARD_SECRETS_TABLE_H
#define GB_GUARD_SECRETS_TABLE_H

#include "guard/secrets_match.h"

extern const struct gb_matcher gb_secret_table;

#endif
