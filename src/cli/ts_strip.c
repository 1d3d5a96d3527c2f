#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "cli/cli.h"
#include "cli/paths.h"
#include "cli/untrusted.h"
#include "ts/erase.h"
#include "value/json.h"

enum { SOURCE_MAX = 64 << 20, TEXT_MAX = 512 << 20 };

struct request {
	const char *file; /* "-" is standard input */
	bool json;
};

static const struct flag flags[] = {
    {"json", 0, NULL, "one JSON object: {\"text\"} or {\"error\"}", 0, NULL},
    {0},
};

static bool on_flag(const struct flag *flag, const char *value, void *data) {
	struct request *request = data;
	if (flag) {
		request->json = true;
		return true;
	}
	if (request->file)
		return report_error(&command_ts_strip, "takes one file, but also got '%s'", value);
	request->file = value;
	return true;
}

static bool load(const char *file, struct gb_buf *source) {
	if (!read_path(&command_ts_strip, "", file, source))
		return false;
	return gb_buf_c_str(source) ||
	       report_error(&command_ts_strip, "the code is larger than %d bytes", SOURCE_MAX);
}

static void print_json(const struct gb_str *text, const struct gb_ts_error *error) {
	gb_auto_buf struct gb_buf out;
	gb_buf_init(&out, (size_t)TEXT_MAX * 2);
	if (text) {
		gb_buf_printf(&out, "{\"text\":");
		gb_json_append_bytes(&out, *text);
	} else {
		gb_buf_printf(&out, "{\"error\":{\"message\":");
		gb_json_append_string(&out, gb_str_from(error->message));
		gb_buf_printf(&out, ",\"line\":%u,\"column\":%u}", error->line, error->column);
	}
	gb_buf_printf(&out, "}\n");
	fwrite(out.data, 1, out.len, stdout);
}

static void print_error(
    const struct request *request, struct gb_str source, const struct gb_ts_error *error) {
	const char *name = strcmp(request->file, "-") == 0 ? "<stdin>" : request->file;
	print_name(stderr, name, strlen(name));
	fprintf(stderr, ":%u:%u: ", error->line, error->column);
	print_styled(stderr, RED, "error");
	fputs(": ", stderr);
	print_message(stderr, error->message, strlen(error->message));
	fputc('\n', stderr);
	print_excerpt(stderr, source, error->line, error->column);
}

static int strip(const struct request *request, const struct gb_buf *source) {
	struct gb_ts_output out;
	struct gb_ts_error error;
	gb_ts_output_init(&out, TEXT_MAX);
	bool ok = gb_ts_erase(source->data, source->len, &out, &error);
	struct gb_str text = gb_buf_str(&out.text);
	if (request->json)
		print_json(ok ? &text : NULL, &error);
	else if (ok)
		print_data(stdout, text.p, text.n);
	else
		print_error(request, gb_buf_str(source), &error);
	gb_ts_output_finish(&out);
	return ok ? EXIT_OK : EXIT_CODE_FAILED;
}

static int run(const struct command *self, int argc, char **argv) {
	struct request request = {0};
	enum parsed parsed = parse_flags(self, argc, argv, on_flag, &request);
	if (parsed != PARSED)
		return parsed == PARSED_HELP ? EXIT_OK : EXIT_BAD_USE;
	if (!request.file) {
		report_error(self, "nothing to strip: give a FILE, or - for standard input");
		return EXIT_BAD_USE;
	}
	gb_auto_buf struct gb_buf source;
	gb_buf_init(&source, SOURCE_MAX);
	return load(request.file, &source) ? strip(&request, &source) : EXIT_BAD_USE;
}

const struct command command_ts_strip = {
    .name = "ts-strip",
    .synopsis = "[FILE|-] [--json]",
    .summary = "convert TypeScript to the JavaScript that is run",
    .details =
	"Erase the types of TypeScript. They are replaced by spaces, so every line and column stays the\n"
	"same; enums, namespaces and parameter properties become JavaScript on their own lines. Imports\n"
	"that are used only as types are dropped. Types are not checked.\n"
	"\n"
	"  glovebox ts-strip main.ts                           print the JavaScript\n"
	"  echo 'let x: number = 1' | glovebox ts-strip -      read standard input\n"
	"\n"
	"Decorators, 'accessor', JSX, 'import x = require()' and 'export =' are refused, with a hint\n"
	"about what to write instead. The exit status is 1 if the code has a syntax error.",
    .flags = flags,
    .run = run,
};
