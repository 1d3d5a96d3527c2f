/* The secrets filter, as the settings want it. */
#ifndef GB_GUARD_SECRETS_LOAD_H
#define GB_GUARD_SECRETS_LOAD_H

#include "config/config.h"
#include "guard/secrets.h"

/* Patterns that are known, those of the settings; values that are registered, and of the @environment those
 * that begin with GLOVEBOX_SECRET_ and those that the settings name. */
bool gb_filter_load(
    const struct gb_config *config, char **environment, struct gb_filter **ret, struct gb_err *err);

#endif
