#include <limits.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "cli/cli.h"
#include "cli/untrusted.h"
#include "engine/workers.h"
#include "glovebox/glovebox.h"

enum { FLAG_JSON, FLAG_RUNTIMES };

static const struct flag flags[] = {
    [FLAG_JSON] = {"json", 0, NULL, "one JSON object", 0, NULL},
    [FLAG_RUNTIMES] = {"runtimes", 0, NULL, "also list the programs of this machine that run code", 0, NULL},
    {0},
};

struct choice {
	bool json, runtimes;
};

static bool on_flag(const struct flag *flag, const char *value, void *data) {
	struct choice *choice = data;
	if (!flag)
		return report_error(&command_version, "takes no operand, but got '%s'", value);
	*(flag == &flags[FLAG_JSON] ? &choice->json : &choice->runtimes) = true;
	return true;
}

static void print_runtime(const char *name, enum gb_language language, bool json, bool first) {
	char path[PATH_MAX], version[200];
	struct gb_err err = {0};
	bool found = gb_program_find(NULL, name, path, sizeof path, &err);
	if (found)
		gb_program_version(language, path, version, sizeof version);
	if (!json) {
		const char *lines[] = {found ? path : err.message, found ? version : NULL};
		for (size_t i = 0; i < GB_COUNT(lines) && lines[i]; i++) {
			printf("%-8s ", i == 0 ? name : "");
			print_name(stdout, lines[i], strlen(lines[i]));
			putchar('\n');
		}
		return;
	}
	printf("%s\"%s\":", first ? "" : ",", name);
	if (!found) {
		printf("null");
		return;
	}
	printf("{\"path\":");
	print_json_string(stdout, path);
	printf(",\"version\":");
	print_json_string(stdout, version);
	printf("}");
}

static int run(const struct command *self, int argc, char **argv) {
	static const struct {
		const char *name;
		enum gb_language language;
	} programs[] = {{"bash", GB_SHELL}, {"node", GB_NODE}, {"deno", GB_DENO}};
	struct choice choice = {0};
	enum parsed parsed = parse_flags(self, argc, argv, on_flag, &choice);
	if (parsed != PARSED)
		return parsed == PARSED_HELP ? EXIT_OK : EXIT_BAD_USE;
	printf(choice.json ? "{\"version\":\"%s\"" : "glovebox %s\n", GB_VERSION);
	if (choice.json && choice.runtimes)
		printf(",\"runtimes\":{");
	for (size_t i = 0; i < GB_COUNT(programs) && choice.runtimes; i++)
		print_runtime(programs[i].name, programs[i].language, choice.json, i == 0);
	if (choice.json)
		puts(choice.runtimes ? "}}" : "}");
	return EXIT_OK;
}

const struct command command_version = {
    .name = "version",
    .synopsis = "[--runtimes] [--json]",
    .summary = "print the version of Glovebox",
    .details =
	"Print the version. With --runtimes also print where bash, Node.js and Deno were found, and their\n"
	"versions, which each program prints in a sandbox.",
    .flags = flags,
    .run = run,
};
