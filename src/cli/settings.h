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
	bool no_project; /* ignore project files: for a process that serves all folders */
};

#define SETTINGS_FLAGS                                                                                       \
	{"config", 0, "FILE", "read the settings from FILE instead of the usual files", FLAG_PATH, NULL}, {  \
		"set", 0, "KEY=VALUE", "override a setting of files and environment; may be repeated",       \
		    FLAG_REPEATS, NULL                                                                       \
	}

/* Handle @flag if it is one of these; returns whether it is. */
bool settings_flag(struct settings_request *request, const struct flag *flag, const char *value);
/* The sources of the settings, valid as long as @request. A project file is trusted if it is in the list in
 * the owner's state directory. */
struct gb_config_sources settings_sources(const struct settings_request *request);
/* Print on stderr the values that were ignored in the project file. settings_load calls this. */
void settings_warn(const struct command *command, const struct gb_config *config);
/* Load again, as gb_config_reload does. */
bool settings_reload(
    const struct settings_request *request, const struct gb_config **config, struct gb_err *err);
const struct gb_config *settings_load(const struct command *command, const struct settings_request *request);

/* The filter that @setting (secrets.maskRun or secrets.maskStdio) selects; NULL if it selects none. */
bool settings_filter(
    const struct gb_config *config, const char *setting, struct gb_filter **ret, struct gb_err *err);

#endif
