#include "cli/session.h"

#include <string.h>

#include "base/cleanup.h"

static const struct command *const subcommands[] = {
    &command_session_create,
    &command_session_exec,
    &command_session_attach,
    &command_session_send,
    &command_session_interrupt,
    &command_session_expose,
    &command_session_list,
    &command_session_kill,
    &command_session_cleanup,
    NULL,
};

static void usage(const struct command *self, FILE *to) {
	print_styled(to, BOLD, "glovebox session");
	fprintf(to, " %s\n\n%s\n\n", self->synopsis, self->details);
	for (size_t i = 0; subcommands[i]; i++)
		fprintf(to, "  glovebox session %-10s %s\n", command_word(subcommands[i]),
		    subcommands[i]->summary);
	fprintf(to, "\n'glovebox session COMMAND --help' describes a command.\n");
	manual_refer(self, to);
}

static int run(const struct command *self, int argc, char **argv) {
	const char *name = argc > 0 ? argv[0] : "";
	if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
		usage(self, stdout);
		return EXIT_OK;
	}
	const struct command *command = find_command(subcommands, name);
	if (command)
		return command->run(command, argc - 1, argv + 1);
	if (*name)
		return refuse_command(self, name, argc - 1, argv + 1);
	usage(self, stderr);
	return EXIT_BAD_USE;
}

const struct command command_session = {
    .name = "session",
    .synopsis = "COMMAND ...",
    .summary = "manage sandboxes that keep their state between runs",
    .details =
	"A session keeps its state: variables and functions that one run defines are there in the next\n"
	"run. A background process of this user keeps the sessions. The first command starts it, and it\n"
	"exits after the last session has ended.\n"
	"\n"
	"  glovebox session create -l python --name work\n"
	"  glovebox session exec work -e 'x = 41'\n"
	"  glovebox session exec work -e 'x + 1'\n"
	"  glovebox session kill work",
    .commands = subcommands,
    .run = run,
};
