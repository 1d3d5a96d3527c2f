/* The secrets filter, as the settings want it. */
#ifndef GB_GUARD_SECRETS_LOAD_H
#define GB_GUARD_SECRETS_LOAD_H

#include "config/config.h"
#include "guard/secrets.h"

/* Patterns that are known, those of the settings; values that are registered, and of the @environment those
 * that begin with GLOVEBOX_SECRET_ and those that the settings name. */
bool gb_filter_load(
    const struct gb_config *config, char **environment, struct gb_filter **ret, struct gb_err *err);

/* The same as far as @masking wants it. *ret is NULL if there is nothing to look for, and then nothing is to
 * be masked. A state folder that is not there holds no secrets, and is not made. */
bool gb_filter_choose(const struct gb_config *config, enum gb_config_masking masking, char **environment,
    struct gb_filter **ret, struct gb_err *err);

#endif
