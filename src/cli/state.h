/*
 * --dir, --config and --set, for commands that read the state directory:
 *
 *	static const struct flag flags[] = {STATE_FLAGS, {0}};
 *	if (state_flag(&request->state, flag, value)) ...			// it was one of them
 *	const char *dir = state_folder(self, &request->state, STATE_COMMON);	// NULL: reported
 */
#ifndef GB_CLI_STATE_H
#define GB_CLI_STATE_H

#include "cli/settings.h"
#include "store/state.h"

struct state_request {
	const char *dir; /* --dir */
	struct settings_request settings;
	char found[GB_STATE_PATH];
};

#define STATE_FLAGS                                                                                          \
	{"dir", 0, "DIR", "the state directory, instead of that of the settings", FLAG_PATH, NULL},          \
	    SETTINGS_FLAGS

enum state_kind { STATE_COMMON, STATE_AUDIT };

/* Handle @flag if it is one of these; returns whether it is. */
bool state_flag(struct state_request *request, const struct flag *flag, const char *value);
/* The folder of --dir, else that of the settings. Valid as long as @request. */
const char *state_folder(const struct command *command, struct state_request *request, enum state_kind kind);
/* The same, for a command that has loaded the settings itself. */
const char *state_folder_of(const struct command *command, struct state_request *request,
    enum state_kind kind, const struct gb_config *config);

#endif
