#include "cli/settings.h"

#include <string.h>
#include <unistd.h>

#include "base/err.h"

bool settings_flag(struct settings_request *request, const struct flag *flag, const char *value) {
	if (strcmp(flag->name, "config") == 0)
		request->file = value;
	else if (strcmp(flag->name, "set") != 0)
		return false;
	else if (request->n_set < SETTINGS_MAX)
		request->set[request->n_set++] = value;
	return true;
}

const struct gb_config *settings_load(const struct command *command, const struct settings_request *request) {
	const struct gb_config *config = NULL;
	struct gb_err err = {0};
	const struct gb_config_sources sources = {
	    .file = request->file, .set = request->set, .n_set = request->n_set, .environment = environ};
	if (request->n_set == SETTINGS_MAX)
		complain(command, "--set: more than %d of them; write a file", SETTINGS_MAX - 1);
	else if (!gb_config_load(&sources, &config, &err))
		complain(command, "%s", err.message);
	return config;
}
