/*
 * --config and --set, for every command that has settings:
 *
 *	static const struct flag flags[] = {SETTINGS_FLAGS, {0}};
 *	if (settings_flag(&request->settings, flag, value)) ...		// it was one of them
 *	const struct gb_config *config = settings_load(self, &request->settings);	// NULL: reported
 */
#ifndef GB_CLI_SETTINGS_H
#define GB_CLI_SETTINGS_H

#include "cli/cli.h"
#include "config/config.h"
#include "guard/secrets.h"

enum { SETTINGS_MAX = 256 };

struct settings_request {
	const char *file;
	const char *set[SETTINGS_MAX];
	size_t n_set;
	bool no_project; /* of a process that serves all folders, or keeps state for them */
};

#define SETTINGS_FLAGS                                                                                       \
	{"config", 0, "FILE", "read the settings from there", FLAG_PATH, NULL}, {                            \
		"set", 0, "KEY=VALUE", "a setting, before file and environment; can be repeated",            \
		    FLAG_REPEATS, NULL                                                                       \
	}

/* Is @flag one of them? Then it is noted. */
bool settings_flag(struct settings_request *request, const struct flag *flag, const char *value);
/* Where these settings come from; the sources live as long as @request. A project file is trusted if the
 * owner's state folder has it in its list. */
struct gb_config_sources settings_sources(const struct settings_request *request);
/* Show on stderr what was ignored in the project file. settings_load does so. */
void settings_warn(const struct command *command, const struct gb_config *config);
/* Load once more, as gb_config_reload does. */
bool settings_reload(
    const struct settings_request *request, const struct gb_config **config, struct gb_err *err);
const struct gb_config *settings_load(const struct command *command, const struct settings_request *request);

/* What @setting, secrets.maskRun or secrets.maskStdio, wants masked; NULL if that is nothing. */
bool settings_filter(
    const struct gb_config *config, const char *setting, struct gb_filter **ret, struct gb_err *err);

#endif
