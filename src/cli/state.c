#include "cli/state.h"

#include <string.h>

#include "base/err.h"

bool state_flag(struct state_request *request, const struct flag *flag, const char *value) {
	if (strcmp(flag->name, "dir") != 0)
		return settings_flag(&request->settings, flag, value);
	request->dir = value;
	return true;
}

const char *state_folder(const struct command *command, struct state_request *request, enum state_kind kind) {
	struct gb_err err = {0};
	if (request->dir)
		return request->dir;
	const struct gb_config *config = settings_load(command, &request->settings);
	if (!config)
		return NULL;
	bool apart = kind == STATE_AUDIT && *config->audit.directory;
	bool ok = gb_state_choose(apart ? config->audit.directory : config->state_dir, request->found, &err);
	gb_config_unref(config);
	if (!ok)
		report_error(command, "%s; or give --dir", err.message);
	return ok ? request->found : NULL;
}
