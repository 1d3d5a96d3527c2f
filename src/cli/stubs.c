#include <string.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "cli/cli.h"
#include "cli/paths.h"
#include "cli/untrusted.h"
#include "schema/schema.h"

enum { TEXT_MAX = 16 << 20 };

struct request {
	const char *file; /* "-" is standard input */
	bool python;
};

static const struct flag flags[] = {
    {"python", 0, NULL, "functions in Python instead of TypeScript", 0, NULL},
    {0},
};

static bool on_flag(const struct flag *flag, const char *value, void *data) {
	struct request *request = data;
	if (flag) {
		request->python = true;
		return true;
	}
	if (request->file)
		return report_error(&command_stubs, "takes one file, but also got '%s'", value);
	request->file = value;
	return true;
}

static bool write_stubs(
    const struct request *request, struct gb_str text, struct gb_buf *out, struct gb_err *err) {
	struct gb_values *pool = gb_values_create(16 * (size_t)TEXT_MAX);
	if (!pool)
		return gb_fail(err, GB_ENOMEM, 0, "the list of tools");
	const struct gb_value *json = gb_value_from_json(pool, text.p, text.n, err);
	const struct gb_value *tools = json ? gb_tools_list(json, err) : NULL;
	bool ok = tools && (request->python ? gb_stubs_python : gb_stubs_typescript)(tools, out, err);
	gb_values_destroy(pool);
	return ok;
}

static int run(const struct command *self, int argc, char **argv) {
	struct request request = {0};
	struct gb_err err = {0};
	enum parsed parsed = parse_flags(self, argc, argv, on_flag, &request);
	gb_auto_buf struct gb_buf text, out;
	gb_buf_init(&text, TEXT_MAX);
	gb_buf_init(&out, GB_STUBS_MAX);
	if (parsed != PARSED)
		return parsed == PARSED_HELP ? EXIT_OK : EXIT_BAD_USE;
	if (!read_path(self, "", request.file ? request.file : "-", &text))
		return EXIT_BAD_USE;
	if (!write_stubs(&request, gb_buf_str(&text), &out, &err)) {
		report_error(self, "%s", err.message);
		return EXIT_BAD_USE;
	}
	print_data(stdout, out.data, out.len);
	return EXIT_OK;
}

const struct command command_stubs = {
    .name = "stubs",
    .synopsis = "[FILE | -] [--python]",
    .summary = "functions for code that calls tools, from the tools' JSON Schemas",
    .details =
	"Read a list of tools as JSON: an array, or an object with \"tools\", such as the result of\n"
	"tools/list in MCP; each has a name, a description, and a JSON Schema (inputSchema, input_schema\n"
	"or parameters). Print a typed function for each, which calls __callTool__(name, params). The\n"
	"same tools give the same text. The name of a function is changed where the name of its tool is\n"
	"no identifier. Nothing is read from the network.\n"
	"\n"
	"  glovebox stubs tools.json > tools.ts\n"
	"  glovebox stubs tools.json --python > tools.py",
    .flags = flags,
    .run = run,
};
