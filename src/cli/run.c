#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "cli/cli.h"
#include "cli/code_flags.h"
#include "cli/language.h"
#include "cli/masked_output.h"
#include "cli/paths.h"
#include "cli/run_flags.h"
#include "cli/session.h"
#include "cli/settings.h"
#include "cli/show.h"
#include "glovebox/errors.h"
#include "limits/limits.h"
#include "value/wtf8.h"

enum { INPUTS_MAX = 64 << 20 };

/* --- the command line --- */

struct request {
	struct code_flags code;
	enum gb_language language;
	const char *out; /* a folder for files and displays */
	const char *session;
	const char *packages; /* a folder, or NULL */
	char packages_path[PATH_MAX];
	struct gb_value *allowed, *files, *net;
	struct gb_values *values;
	struct gb_value *globals;
	struct gb_run_options options;
	struct settings_request settings;
};

static const struct flag flags[] = {
    CODE_FLAGS,
    LANGUAGE_FLAG,
    {"fn", 0, "NAME", "the export that is the result; called if it is a function", 0, NULL},
    ARGS_FLAG,
    {"input", 0, "NAME=JSON", "define the variable NAME for the code; may be repeated", FLAG_REPEATS, NULL},
    LIMIT_FLAGS{"stdin", 0, "TEXT", "the standard input of a program", FLAG_EMPTY, NULL},
    {"file", 0, "PATH", "put a copy of PATH into the program's folder; may be repeated",
	FLAG_REPEATS | FLAG_PATH, NULL},
    {"profile", 0, "NAME",
	"Python: stdlib, or data (numpy, pandas, matplotlib loaded); with --session, for a new session", 0,
	NULL},
    {"restricted", 0, NULL, "Python, shell: reject risky constructs", 0, NULL},
    {"allow", 0, "MODULE", "Node.js, Python with --restricted: let it import MODULE; may be repeated",
	FLAG_REPEATS, NULL},
    {"packages", 0, "DIR",
	"Node.js: a node_modules folder, from which it may use the packages of --allow; not with --session",
	FLAG_PATH, NULL},
    {"net", 0, "HOST,...",
	"Deno: grant its permission for HOST or HOST:PORT; the sandbox still has no other hosts",
	FLAG_REPEATS, NULL},
    {"out", 0, "DIR", "write the files that a program created, and what Python displays, to DIR", FLAG_PATH,
	NULL},
    {"session", 0, "NAME",
	"run in the session NAME, which is created if there is none: see 'glovebox session'", 0, NULL},
    SETTINGS_FLAGS,
    {0},
};

static bool take_input(struct request *request, const char *text) {
	struct gb_str json = gb_str_from(text), name;
	if (!gb_str_cut(&json, '=', &name))
		return report_error(&command_run, "--input: '%s' is not NAME=JSON", text);
	struct gb_err err = {0};
	struct gb_value *value = gb_value_from_json(request->values, json.p, json.n, &err);
	if (!value)
		return report_error(&command_run, "--input %.*s: %s", GB_STR_ARG(name), err.message);
	for (size_t i = 0; i < gb_value_count(request->globals); i++) {
		size_t n;
		const char *other = gb_value_bytes(gb_value_key_at(request->globals, i), &n);
		if (n == name.n && memcmp(other, name.p, n) == 0)
			return report_error(&command_run, "--input: '%.*s' is given twice", GB_STR_ARG(name));
	}
	return gb_value_put(request->globals, gb_value_string(request->values, name.p, name.n), value) ||
	       report_error(&command_run, "--input: too large, or a name that is not UTF-8");
}

static bool take_file(struct request *request, const char *path) {
	gb_auto_buf struct gb_buf bytes;
	gb_buf_init(&bytes, INPUTS_MAX);
	if (!read_path(&command_run, "--file: ", path, &bytes))
		return false;
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	if (gb_wtf8_scan(name, strlen(name)) == GB_WTF8_UTF8 && gb_value_get(request->files, name))
		return report_error(
		    &command_run, "--file: there is another file '%s' before '%s'", name, path);
	return gb_value_put_key(
		   request->files, name, gb_value_buffer(request->values, bytes.data, bytes.len)) ||
	       report_error(&command_run, "--file: too large together, or a name that is not UTF-8");
}

static bool take_net(struct request *request, const char *hosts) {
	for (struct gb_str rest = gb_str_from(hosts), host; rest.n;) {
		gb_str_cut(&rest, ',', &host);
		if (!host.n || !gb_value_push(request->net, gb_value_string(request->values, host.p, host.n)))
			return report_error(
			    &command_run, "--net: '%s' is not HOST or HOST:PORT, with commas between", hosts);
	}
	return true;
}

static bool take_allowed(struct request *request, const char *name) {
	return gb_value_push(request->allowed, gb_value_string(request->values, name, strlen(name))) ||
	       report_error(&command_run, "--allow: a name that is not UTF-8");
}

static bool on_flag(const struct flag *flag, const char *value, void *data) {
	struct request *request = data;
	const struct {
		const char *name;
		const char **text; /* where to store the value, or NULL */
		bool (*take)(struct request *request, const char *value); /* else handles the value */
	} own[] = {
	    {"stdin", &request->options.input, NULL},
	    {"profile", &request->options.profile, NULL},
	    {"packages", &request->packages, NULL},
	    {"out", &request->out, NULL},
	    {"session", &request->session, NULL},
	    {"input", NULL, take_input},
	    {"file", NULL, take_file},
	    {"allow", NULL, take_allowed},
	    {"net", NULL, take_net},
	};
	bool ok;
	if (!flag)
		return code_flags_take_file(&request->code, value);
	if (settings_flag(&request->settings, flag, value))
		return true;
	if (code_flags_take(&request->code, flag, value, &ok))
		return ok;
	for (size_t i = 0; i < GB_COUNT(own); i++) {
		if (strcmp(own[i].name, flag->name) != 0)
			continue;
		if (own[i].take)
			return own[i].take(request, value);
		*own[i].text = value;
		return true;
	}
	request->options.restricted = true;
	return true;
}

/* --- showing --- */

static int show(const struct request *request, struct gb_filter *filter, const struct gb_result *result) {
	struct gb_err err = {0};
	struct shown shown = {.command = &command_run,
	    .source = gb_buf_str(&request->code.source),
	    .filter = filter,
	    .out = request->out};
	gb_auto_free char *json = request->code.json ? gb_result_to_json(result, NULL, &err) : NULL;
	if (request->code.json && !json) {
		report_error(&command_run, "%s", err.message);
		return EXIT_CODE_FAILED;
	}
	shown.json = json;
	return show_result(&shown, result);
}

/* --- running --- */

/* Report a run that never began in the same JSON form as a result. */
static int refuse(const struct request *request, const char *code, const char *message) {
	return show_refusal(&command_run, request->code.json, code, message);
}

/* One run needs one zygote; waking up another CPU would cost time. */
static void pin_to_this_cpu(void) {
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET((size_t)sched_getcpu(), &set);
	sched_setaffinity(0, sizeof set, &set);
}

static void fill_options(struct request *request) {
	request->options.language = request->language;
	if (gb_value_count(request->globals))
		request->options.globals = request->globals;
	if (gb_value_count(request->files))
		request->options.files = request->files;
	if (gb_value_count(request->net))
		request->options.net = request->net;
	if (gb_value_count(request->allowed))
		request->options.allowed_modules = request->allowed;
}

/* The host of the sessions has its own settings and folder of packages, so options for them are refused. */
static bool check_session(const struct request *request) {
	if (request->settings.file || request->settings.n_set)
		return report_error(&command_run,
		    "--config and --set have no effect on sessions: the process that keeps them reads "
		    "the settings when it starts, and on SIGHUP");
	if (!run_flags_has_sessions(&command_run, request->language))
		return false;
	return !request->packages ||
	       report_error(&command_run,
		   "--packages has no effect on sessions: the process that keeps them reads the setting "
		   "programs.nodePackages when it starts");
}

static int execute_in_session(struct request *request) {
	const struct session_job job = {.command = &command_run,
	    .session = request->session,
	    .options = &request->options,
	    .create = true,
	    .fixed_language = request->code.language,
	    .json = request->code.json,
	    .out = request->out};
	return check_session(request) ? session_execute(&job) : EXIT_BAD_USE;
}

static int run_and_show(struct request *request, struct gb_engine *engine, struct gb_filter *filter) {
	struct gb_err err = {0};
	struct masked_output output;
	struct gb_run *run = NULL;
	int status = EXIT_BAD_USE;
	if (masked_output_begin(&output, filter, request->code.json, &request->options, &err) &&
	    gb_run_start(engine, &request->options, &run, &err)) {
		const struct gb_result *result = gb_run_wait(run);
		status =
		    result ? show(request, filter, masked_output_end(&output, result)) : EXIT_CODE_FAILED;
		gb_run_destroy(run);
	} else {
		report_flag_error(&command_run, &err);
	}
	masked_output_finish(&output);
	return status;
}

static int execute(struct request *request, const struct gb_config *config) {
	struct gb_err err = {0};
	struct gb_engine *engine;
	struct gb_filter *filter;
	const struct gb_engine_options options = {.shards = 1,
	    .warm = GB_NONE,
	    .max_runs = 1,
	    .ready = 1u << request->language,
	    .node_packages = request->packages ? request->packages_path : NULL};
	if (!settings_filter(config, "secrets.maskRun", &filter, &err))
		return refuse(request, GB_CODE_MASKING, err.message);
	pin_to_this_cpu();
	int status = EXIT_REFUSED;
	if (gb_limits_engine_create(config, &options, &engine, &err)) {
		status = run_and_show(request, engine, filter);
		gb_engine_destroy(engine);
	} else if (request->packages && strcmp(err.field, "node_packages") == 0) {
		report_flag_error(&command_run, &err);
		status = EXIT_BAD_USE;
	} else {
		refuse(request, err.code == GB_ENOENT ? GB_CODE_RUNTIME_DISABLED : GB_CODE_WALL, err.message);
	}
	gb_filter_destroy(filter);
	return status;
}

/* The modules that the settings name, and those of --allow. The default, node:safe, is for runs without
 * --allow. False if --packages is given and no package is named. */
static bool allow_modules(struct request *request, const struct gb_config_list *modules) {
	size_t n_flags = gb_value_count(request->allowed), n_named = n_flags;
	for (size_t i = 0; i < modules->n; i++)
		n_named += strcmp(modules->items[i], GB_CONFIG_NODE_SAFE) != 0;
	bool is_default = modules->n == 1 && n_named == n_flags;
	for (size_t i = 0; i < modules->n && !(is_default && n_flags); i++)
		gb_value_push(request->allowed,
		    gb_value_string(request->values, modules->items[i], strlen(modules->items[i])));
	request->options.allowed_modules = request->allowed; /* an empty list, too: it allows nothing */
	return !request->packages || n_named;
}

/* Check the request against the settings, and fill in their defaults. */
static bool apply_settings(struct request *request, const struct gb_config *config) {
	struct gb_err err = {0};
	if (request->language == GB_NODE && !allow_modules(request, &config->node.allowed_modules))
		return report_error(&command_run,
		    "--packages has no effect without --allow, which names the packages that may be used");
	if (request->packages && !find_folder(request->packages, request->packages_path, &err))
		return report_error(&command_run, "--packages: %s", err.message);
	if (!gb_limits_check(config, &request->options, &err)) {
		report_flag_error(&command_run, &err);
		return false;
	}
	gb_limits_apply(config, 0, &request->options);
	return true;
}

static int execute_alone(struct request *request) {
	const struct gb_config *config = settings_load(&command_run, &request->settings);
	int status = config && apply_settings(request, config) ? execute(request, config) : EXIT_BAD_USE;
	gb_config_unref(config);
	return status;
}

static int run_request(struct request *request) {
	if (!request->code.file && !request->code.code) {
		report_error(
		    &command_run, "nothing to run: give a FILE, or - for standard input, or -e CODE");
		return EXIT_BAD_USE;
	}
	if (!code_flags_choose_language(&request->code, &request->language))
		return EXIT_BAD_USE;
	const struct run_flags given = {&command_run, &request->options, request->packages, request->out};
	fill_options(request);
	if (!run_flags_check_out(&given) ||
	    (!request->session && !run_flags_fit(&given, request->language)) ||
	    !code_flags_load(&request->code))
		return EXIT_BAD_USE;
	return request->session ? execute_in_session(request) : execute_alone(request);
}

static int run(const struct command *self, int argc, char **argv) {
	struct request request = {.values = gb_values_create(INPUTS_MAX)};
	request.code =
	    (struct code_flags){.command = self, .options = &request.options, .values = request.values};
	request.globals = gb_value_object(request.values);
	request.allowed = gb_value_array(request.values);
	request.files = gb_value_object(request.values);
	request.net = gb_value_array(request.values);
	enum parsed parsed = parse_flags(self, argc, argv, on_flag, &request);
	int status = parsed == PARSED        ? run_request(&request)
		     : parsed == PARSED_HELP ? EXIT_OK
					     : EXIT_BAD_USE;
	code_flags_finish(&request.code);
	gb_values_destroy(request.values);
	return status;
}

const struct command command_run = {
    .name = "run",
    .synopsis = "[FILE | -e CODE | -] [OPTIONS]",
    .summary = "run code in a new sandbox and show its result",
    .details =
	"The code is an ES module, or a program in the language that -l names. The result of a module is\n"
	"its default export, or the export that --fn names; a function is called with --args, and a\n"
	"promise is awaited. Output is shown while the code runs.\n"
	"\n"
	"JavaScript and TypeScript have no files, no network and no environment variables, and Date is\n"
	"their only clock. The other languages have a folder of their own and no network to other hosts.\n"
	"\n"
	"Secrets in the output are masked (docs/SECRETS.md). The settings define the limits and the\n"
	"programs (docs/CONFIGURATION.md).\n"
	"\n"
	"  glovebox run -e 'export default [1,2,3].map(n => n * n)'\n"
	"  glovebox run sum.js --fn add --args '[1, 2]'\n"
	"  glovebox run -e 'export default rows.length' --input rows='[1,2]' --json\n"
	"  glovebox run -l python -e 'print(\"hi\"); 6 * 7'\n"
	"  glovebox run plot.py --out pictures\n"
	"  glovebox run count.sh --file words.txt --args '[\"words.txt\"]'\n"
	"  glovebox run --session work -e 'let x = 1'\n"
	"  glovebox run -l node -e 'require(\"os\").cpus().length'\n"
	"  glovebox run -l deno main.ts --net localhost:8000\n"
	"\n"
	"An option that has no effect on the language or the session is refused.\n"
	"\n"
	"Exit status: 0 success, 1 the code failed, 2 bad use, 3 refused, 124 timeout.",
    .flags = flags,
    .run = run,
};
