#include "guard/secrets_load.h"

#include <stdio.h>
#include <string.h>

#include "guard/secrets_store.h"
#include "store/state.h"

static const char *find_variable(char **environment, const char *name) {
	size_t n = strlen(name);
	for (char **at = environment; at && *at; at++)
		if (strncmp(*at, name, n) == 0 && (*at)[n] == '=')
			return *at + n + 1;
	return NULL;
}

/* Those that are not set, or are too short to be told from any other text, have nothing to be found. */
static bool add_variables(
    struct gb_filter *filter, const struct gb_config_list *names, char **environment, struct gb_err *err) {
	for (size_t i = 0; i < names->n; i++) {
		const char *value = find_variable(environment, names->items[i]);
		if (value && strlen(value) >= GB_SECRET_MIN &&
		    !gb_secrets_add(filter, names->items[i], value, strlen(value), err))
			return gb_wrap(err, "secrets.environment: %s", names->items[i]);
	}
	return true;
}

static bool add_patterns(
    struct gb_filter *filter, const struct gb_config_list *patterns, struct gb_err *err) {
	for (size_t i = 0; i < patterns->n; i++)
		if (!gb_secret_patterns_add(filter, "configured", patterns->items[i], err))
			return gb_wrap(err, "secrets.patterns");
	return true;
}

bool gb_filter_load(
    const struct gb_config *config, char **environment, struct gb_filter **ret, struct gb_err *err) {
	char dir[GB_STATE_PATH];
	struct gb_filter *filter = gb_filter_create();
	if (!filter)
		return gb_fail(err, GB_ENOMEM, 0, "the secrets filter");
	if (gb_state_choose(config->state_dir, dir, err) &&
	    add_patterns(filter, &config->secrets.patterns, err) && gb_secret_store_load(dir, filter, err) &&
	    gb_secrets_add_environment(filter, environment, err) &&
	    add_variables(filter, &config->secrets.environment, environment, err)) {
		*ret = filter;
		return true;
	}
	gb_filter_destroy(filter);
	return false;
}
