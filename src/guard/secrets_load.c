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

/* Where there is no place for state there are no registered values. */
static bool add_stored(
    struct gb_filter *filter, const struct gb_config *config, bool needed, struct gb_err *err) {
	char dir[GB_STATE_PATH];
	struct gb_err why = {0};
	if (gb_state_choose(config->state_dir, dir, &why))
		return gb_secret_store_load(dir, filter, err);
	if (!needed && why.code == GB_ENOENT)
		return true;
	if (err)
		*err = why;
	return false;
}

static bool fill(struct gb_filter *filter, const struct gb_config *config, char **environment, bool needed,
    struct gb_err *err) {
	return add_patterns(filter, &config->secrets.patterns, err) &&
	       add_stored(filter, config, needed, err) &&
	       gb_secrets_add_environment(filter, environment, err) &&
	       add_variables(filter, &config->secrets.environment, environment, err);
}

static bool make(struct gb_filter *filter, const struct gb_config *config, char **environment, bool needed,
    struct gb_filter **ret, struct gb_err *err) {
	if (!filter)
		return gb_fail(err, GB_ENOMEM, 0, "the secrets filter");
	if (!fill(filter, config, environment, needed, err)) {
		gb_filter_destroy(filter);
		return false;
	}
	*ret = filter;
	return true;
}

bool gb_filter_load(
    const struct gb_config *config, char **environment, struct gb_filter **ret, struct gb_err *err) {
	return make(gb_filter_create(), config, environment, true, ret, err);
}

bool gb_filter_choose(const struct gb_config *config, enum gb_config_masking masking, char **environment,
    struct gb_filter **ret, struct gb_err *err) {
	struct gb_filter *filter = NULL;
	bool all = masking == GB_CONFIG_MASK_ALL;
	if (masking != GB_CONFIG_MASK_NONE && !make(all ? gb_filter_create() : gb_filter_create_bare(),
						  config, environment, false, &filter, err))
		return false;
	if (filter && gb_filter_is_empty(filter)) {
		gb_filter_destroy(filter);
		filter = NULL;
	}
	*ret = filter;
	return true;
}
