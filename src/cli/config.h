/* Shared by the files of 'glovebox config'. */
#ifndef GB_CLI_CONFIG_H
#define GB_CLI_CONFIG_H

#include "cli/settings.h"

struct config_request {
	const char *action, *operand;
	struct settings_request settings;
	bool json;
};

/* --- config_trust.c --- */

/* Trust a project file, stop trusting it, and list the trusted project files. All return an exit status. */
int config_trust(const struct command *self, const struct config_request *request);
int config_untrust(const struct command *self, const struct config_request *request);
int config_trusted(const struct command *self, const struct config_request *request);

#endif
