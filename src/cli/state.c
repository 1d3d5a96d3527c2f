#include "cli/state.h"

#include <string.h>

#include "base/err.h"

bool state_flag(struct state_request *request, const struct flag *flag, const char *value) {
	if (strcmp(flag->name, "dir") != 0)
		return settings_flag(&request->settings, flag, value);
	request->dir = value;
	return true;
}

const char *state_folder_of(const struct command *command, struct state_request *request,
    enum state_kind kind, const struct gb_config *config) {
	struct gb_err err = {0};
	if (request->dir)
		return request->dir;
	bool apart = kind == STATE_AUDIT && *config->audit.directory;
	if (gb_state_choose(apart ? config->audit.directory : config->state_dir, request->found, &err))
		return request->found;
	report_error(command, "%s; or give --dir", err.message);
	return NULL;
}

const char *state_folder(const struct command *command, struct state_request *request, enum state_kind kind) {
	if (request->dir)
		return request->dir;
	const struct gb_config *config = settings_load(command, &request->settings);
	const char *folder = config ? state_folder_of(command, request, kind, config) : NULL;
	gb_config_unref(config);
	return folder;
}
