#include "cli/cli.h"
#include "glovebox/glovebox.h"

static const struct flag flags[] = {
    {"json", 0, NULL, "one JSON object"},
    {0},
};

static bool on_flag(const struct flag *flag, const char *value, void *data) {
	if (!flag)
		return complain(&command_version, "takes no operand, but got '%s'", value);
	*(bool *)data = true;
	return true;
}

static int run(const struct command *self, int argc, char **argv) {
	bool json = false;
	enum parsed parsed = parse_flags(self, argc, argv, on_flag, &json);
	if (parsed != PARSED)
		return parsed == PARSED_HELP ? EXIT_OK : EXIT_BAD_USE;
	printf(json ? "{\"version\":\"%s\"}\n" : "glovebox %s\n", GB_VERSION);
	return EXIT_OK;
}

const struct command command_version = {
    .name = "version",
    .synopsis = "[--json]",
    .summary = "which Glovebox this is",
    .details = "Print the version.",
    .flags = flags,
    .run = run,
};
