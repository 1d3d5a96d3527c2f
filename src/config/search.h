/* Finding the configuration file and the variables of the environment. */
#ifndef GB_CONFIG_SEARCH_H
#define GB_CONFIG_SEARCH_H

#include "config/config.h"

/* The variable that names the file. */
#define GB_CONFIG_VARIABLE "GLOVEBOX_CONFIG"

/* Like getenv, but in @environment; also NULL if the value is empty. */
const char *gb_config_getenv(char *const *environment, const char *name);

/* Whether --config or $GLOVEBOX_CONFIG names the only file to read. */
bool gb_config_names_file(const struct gb_config_sources *sources);

/* An unknown variable that begins with GLOVEBOX_ is an error. */
bool gb_config_check_environment(char *const *environment, struct gb_err *err);

#endif
