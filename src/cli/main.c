#include <string.h>

#include "base/cleanup.h"
#include "cli/cli.h"
#include "glovebox/glovebox.h"

static void usage(FILE *to) {
	print_styled(to, BOLD, "glovebox");
	fprintf(to, " %s: run untrusted code safely.\n\n", GB_VERSION);
	for (size_t i = 0; all_commands[i]; i++)
		fprintf(to, "  glovebox %-9s %s\n", all_commands[i]->name, all_commands[i]->summary);
	fprintf(to, "\nExamples:\n"
		    "  glovebox run -e 'export default 6*7'\n"
		    "  echo 'console.log(\"hello\")' | glovebox run -\n\n"
		    "'glovebox help COMMAND' describes a command.\n");
	manual_refer(NULL, to);
}

/* What is wrong before the name of a command is known. */
static const struct command no_command = {.name = "", .commands = all_commands};

static int run_command(const char *name, int argc, char **argv) {
	const struct command *command = find_command(all_commands, name);
	if (!command)
		command = find_command(hidden_commands, name);
	return command ? command->run(command, argc, argv) : refuse_command(&no_command, name, argc, argv);
}

/* 'help audit list' is 'audit list --help'. */
static int help(int argc, char **argv) {
	static char option[] = "--help";
	char *arguments[] = {argc > 1 ? argv[1] : option, option};
	if (argc == 0 || argv[0][0] == '-') {
		usage(stdout);
		return EXIT_OK;
	}
	return run_command(argv[0], argc > 1 ? 2 : 1, arguments);
}

int main(int argc, char **argv) {
	const char *name = argc > 1 ? argv[1] : "";
	if (!*name) {
		usage(stderr);
		return EXIT_BAD_USE;
	}
	if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0)
		return help(argc - 2, argv + 2);
	int status = run_command(strcmp(name, "--version") == 0 ? "version" : name, argc - 2, argv + 2);
	usage_end(status);
	return status;
}
