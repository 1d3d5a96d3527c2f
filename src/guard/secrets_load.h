/* Creates the secrets filter that the settings describe. */
#ifndef GB_GUARD_SECRETS_LOAD_H
#define GB_GUARD_SECRETS_LOAD_H

#include "config/config.h"
#include "guard/secrets.h"

/* Patterns that are known, those of the settings; values that are registered, and of the @environment those
 * that begin with GLOVEBOX_SECRET_ and those that the settings name. */
bool gb_filter_load(
    const struct gb_config *config, char **environment, struct gb_filter **ret, struct gb_err *err);

/* The same, as far as @masking enables it. *ret is NULL if there is nothing to search for: then nothing is masked.
 * A missing state folder is not created, and has no secrets. */
bool gb_filter_choose(const struct gb_config *config, enum gb_config_masking masking, char **environment,
    struct gb_filter **ret, struct gb_err *err);

#endif
