/* Where settings are found: the file, and the environment. */
#ifndef GB_CONFIG_SEARCH_H
#define GB_CONFIG_SEARCH_H

#include "config/config.h"

/* Names the file. */
#define GB_CONFIG_VARIABLE "GLOVEBOX_CONFIG"

/* As getenv, but of @environment; NULL also if it is empty. */
const char *gb_config_getenv(char *const *environment, const char *name);

/* Does --config or $GLOVEBOX_CONFIG name the one file to read? */
bool gb_config_names_file(const struct gb_config_sources *sources);

/* A variable that begins with GLOVEBOX_ and is nothing to us is a mistake, and is named. */
bool gb_config_check_environment(char *const *environment, struct gb_err *err);

#endif
