#include "cli/cli.h"

#include <string.h>

/* In the order of 'glovebox help'. */
const struct command *const all_commands[] = {&command_run, &command_session, &command_stdio, &command_mcp,
    &command_ts_strip, &command_audit, &command_execute, &command_executor, &command_tool, &command_stubs,
    &command_approvals, &command_energy, &command_secrets, &command_config, &command_prompt, &command_doctor,
    &command_bench, &command_version, NULL};

const struct command *const hidden_commands[] = {&command_session_host, &command_complete, NULL};

const struct command *find_command(const struct command *const *commands, const char *word) {
	for (size_t i = 0; commands && commands[i]; i++)
		if (strcmp(command_word(commands[i]), word) == 0)
			return commands[i];
	return NULL;
}

const char *command_word(const struct command *command) {
	const char *space = strrchr(command->name, ' ');
	return space ? space + 1 : command->name;
}
