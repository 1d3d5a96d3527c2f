/* 'glovebox mcp': the server, and the entry in the configuration file of a client. */
#ifndef GB_CLI_MCP_H
#define GB_CLI_MCP_H

#include "cli/serving.h"

struct mcp_install {
	const char *client; /* --client */
	const char *file;   /* --file; NULL: that of the client */
	bool yes, print;
};

/* 'glovebox mcp install'. @settings are passed on to the server. Returns the exit status. */
int mcp_install(const struct command *command, const struct mcp_install *install,
    const struct settings_request *settings);
/* The names of the clients, for messages and --help. */
#define MCP_CLIENTS "claude-code, claude-desktop, cursor, gemini, vscode"

#endif
