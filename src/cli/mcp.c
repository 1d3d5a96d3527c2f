/* Serves the Model Context Protocol on standard input and output. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "cli/mcp.h"
#include "mcp/stdio.h"

static const struct action actions[] = {
    {"serve", "", "Serve one client on standard input and output; the default. The client starts this."},
    {"install", "--client NAME",
	"Show the change to the configuration file of this client, ask, and write it; --yes does not ask.\n"
	"The rest of the file stays as it is. Clients: " MCP_CLIENTS ".\n"
	"For others, --print shows the entry. --config and --set become arguments of the server."},
    {0},
};

#define INSTALLS " install "

static const struct flag flags[] = {
    {"client", 0, "NAME", "the client: " MCP_CLIENTS, 0, INSTALLS},
    {"file", 0, "PATH", "the client's configuration file, if it is elsewhere", FLAG_PATH, INSTALLS},
    {"yes", 0, NULL, "write without asking", 0, INSTALLS},
    {"print", 0, NULL, "print the entry, and change nothing", 0, INSTALLS},
    SETTINGS_FLAGS,
    {0},
};
enum { FLAG_CLIENT, FLAG_FILE, FLAG_YES, FLAG_PRINT };

struct mcp {
	struct serving serving;
	struct mcp_install install;
	const char *action;
	struct gb_mcp_stdio *stdio;
};

static bool on_flag(const struct flag *flag, const char *value, void *data) {
	struct mcp *mcp = data;
	if (!flag && mcp->action)
		return report_error(&command_mcp, "takes one operand, but got '%s' too", value);
	if (!flag) {
		mcp->action = value;
		return true;
	}
	if (settings_flag(&mcp->serving.settings, flag, value))
		return true;
	switch (flag - flags) {
	case FLAG_CLIENT:
		mcp->install.client = value;
		break;
	case FLAG_FILE:
		mcp->install.file = value;
		break;
	case FLAG_YES:
		mcp->install.yes = true;
		break;
	case FLAG_PRINT:
		mcp->install.print = true;
		break;
	}
	return true;
}

/* --- serving --- */

/* Only messages may reach the client: whatever else is printed goes to standard error. */
static bool take_standard_streams(int *ret_in, int *ret_out, struct gb_err *err) {
	gb_auto_fd int in = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	gb_auto_fd int out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	gb_auto_fd int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (in < 0 || out < 0 || null < 0 || dup2(null, STDIN_FILENO) < 0 ||
	    dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		return gb_fail(err, GB_ESYSTEM, errno, "take over the standard streams");
	*ret_in = gb_take_fd(&in);
	*ret_out = gb_take_fd(&out);
	return true;
}

static bool open_stdio(struct mcp *mcp, struct gb_err *err) {
	struct gb_mcp_stdio_options options = {
	    .service = mcp->serving.service, .config = mcp->serving.config};
	if (isatty(STDIN_FILENO))
		fprintf(stderr, "glovebox mcp exchanges messages with an MCP client, which starts it. "
				"'glovebox mcp install' "
				"shows how. Ctrl-D ends it.\n");
	return take_standard_streams(&options.in, &options.out, err) &&
	       gb_mcp_stdio_open(&options, &mcp->stdio, err);
}

static bool serve(struct mcp *mcp, struct gb_err *err) {
	struct serving *serving = &mcp->serving;
	const struct gb_config *config = serving->config;
	while (!serving->stopped && !gb_mcp_stdio_ended(mcp->stdio)) {
		if (!gb_mcp_stdio_turn(mcp->stdio, err))
			return false;
		if (serving->config != config)
			gb_mcp_configure(gb_mcp_stdio_client(mcp->stdio), serving->config);
		config = serving->config;
	}
	return true;
}

static int run_server(struct mcp *mcp) {
	struct gb_err err = {0};
	serving_prepare_process();
	mcp->serving.config = settings_load(&command_mcp, &mcp->serving.settings);
	if (!mcp->serving.config)
		return EXIT_BAD_USE;
	bool opened =
	    serving_open(&mcp->serving, &(struct gb_service_options){0}, &err) && open_stdio(mcp, &err);
	bool ok = opened && serve(mcp, &err);
	if (!ok)
		report_error(&command_mcp, "%s", err.message);
	gb_mcp_stdio_close(mcp->stdio);
	serving_close(&mcp->serving);
	return ok ? EXIT_OK : opened ? EXIT_CODE_FAILED : EXIT_REFUSED;
}

static int run(const struct command *self, int argc, char **argv) {
	struct mcp mcp = {.serving = {.command = self, .agents = true, SERVING_CLOSED}};
	enum parsed parsed = parse_flags(self, argc, argv, on_flag, &mcp);
	if (parsed != PARSED)
		return parsed == PARSED_HELP ? EXIT_OK : EXIT_BAD_USE;
	if (!check_action_flags(self, mcp.action ? mcp.action : "serve"))
		return EXIT_BAD_USE;
	return mcp.action && strcmp(mcp.action, "install") == 0
		   ? mcp_install(self, &mcp.install, &mcp.serving.settings)
		   : run_server(&mcp);
}

const struct command command_mcp = {
    .name = "mcp",
    .synopsis = "[serve | install --client NAME] [OPTIONS]",
    .summary = "serve an agent's MCP client: execute_code and sessions, with approvals",
    .details =
	"An agent's client of the Model Context Protocol starts this command and exchanges messages with\n"
	"it on standard input and output. The agent has the tools execute_code, send_input,\n"
	"list_sessions, kill_session, read_file, write_file and list_files. There are no tools until the\n"
	"owner sets agent.enabled. Each execution then waits for approval ('glovebox approvals watch'),\n"
	"unless agent.autoApprove is set, and is recorded in the audit log. The process is one\n"
	"conversation: its sessions end when the input ends.\n"
	"\n"
	"  glovebox mcp install --client cursor       show the entry in the client's file, and ask\n"
	"  glovebox mcp install --print               the entry, for any other client\n"
	"\n"
	"SIGHUP makes the server read its settings again.\n"
	"\n"
	"Exit status: 0 the input ended, or the entry is in the file or was shown, 1 an error while "
	"serving,\n"
	"2 usage error, 3 the sandbox could not be started, or the file cannot be changed.",
    .flags = flags,
    .actions = actions,
    .run = run,
};
