#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "cli/cli.h"
#include "cli/language.h"
#include "cli/masked_output.h"
#include "cli/paths.h"
#include "cli/run_flags.h"
#include "cli/session.h"
#include "cli/settings.h"
#include "cli/show.h"
#include "limits/limits.h"
#include "value/wtf8.h"

enum { INPUTS_MAX = 64 << 20 };

/* --- the command line --- */

struct request {
	const char *file; /* NULL with -e; "-" is standard input */
	const char *code;
	const char *language_name; /* of -l, or NULL */
	enum gb_language language;
	bool json;
	const char *out; /* a folder for what the program shows */
	const char *session;
	const char *packages; /* a folder, or NULL */
	char packages_path[PATH_MAX];
	struct gb_value *allowed, *files, *net;
	struct gb_values *values;
	struct gb_value *globals;
	struct gb_run_options options;
	struct gb_buf source;
	struct settings_request settings;
};

enum {
	FLAG_EVAL,
	FLAG_LANGUAGE,
	FLAG_FN,
	FLAG_ARGS,
	FLAG_INPUT,
	FLAG_TIMEOUT,
	FLAG_MEMORY,
	FLAG_STDIN,
	FLAG_FILE,
	FLAG_PROFILE,
	FLAG_RESTRICTED,
	FLAG_ALLOW,
	FLAG_PACKAGES,
	FLAG_NET,
	FLAG_OUT,
	FLAG_SESSION,
	FLAG_JSON,
	FLAG_SETTINGS
};

static const struct flag flags[] = {
    [FLAG_EVAL] = {"eval", 'e', "CODE", "run CODE instead of a file", FLAG_EMPTY, NULL},
    [FLAG_LANGUAGE] = {"language", 'l', LANGUAGE_ARGUMENT,
	"what the code is written in; else the file's ending says, else typescript", 0, NULL},
    [FLAG_FN] = {"fn", 0, "NAME", "the export that is the result; called if it is a function", 0, NULL},
    [FLAG_ARGS] = {"args", 0, "JSON", "an array: what it is called with; a script's parameters", 0, NULL},
    [FLAG_INPUT] = {"input", 0, "NAME=JSON", "let the code see NAME; may be repeated", FLAG_REPEATS, NULL},
    [FLAG_TIMEOUT] = {"timeout", 0, "TIME", "end it after 250ms, 5s, 2m (default 30s, or limits.*.timeout)",
	0, NULL},
    [FLAG_MEMORY] = {"memory", 0, "SIZE",
	"end it when it needs more than 32M, 1G (default 64M; 256M for programs)", 0, NULL},
    [FLAG_STDIN] = {"stdin", 0, "TEXT", "what a program reads from its standard input", FLAG_EMPTY, NULL},
    [FLAG_FILE] = {"file", 0, "PATH", "put a copy of PATH into the program's folder; may be repeated",
	FLAG_REPEATS | FLAG_PATH, NULL},
    [FLAG_PROFILE] = {"profile", 0, "NAME",
	"Python: stdlib, or data (numpy, pandas, matplotlib loaded); with --session, when that is made", 0,
	NULL},
    [FLAG_RESTRICTED] = {"restricted", 0, NULL, "Python, shell: refuse what honest code does not need", 0,
	NULL},
    [FLAG_ALLOW] = {"allow", 0, "MODULE",
	"Node.js, Python with --restricted: let it import MODULE; may be repeated", FLAG_REPEATS, NULL},
    [FLAG_PACKAGES] = {"packages", 0, "DIR",
	"Node.js: a node_modules folder, of which --allow lets it use packages; not with --session",
	FLAG_PATH, NULL},
    [FLAG_NET] = {"net", 0, "HOST,...",
	"Deno: let it ask for HOST, or HOST:PORT; its network ends at the wall", FLAG_REPEATS, NULL},
    [FLAG_OUT] = {"out", 0, "DIR", "write the files that a program made, and what Python shows, to DIR",
	FLAG_PATH, NULL},
    [FLAG_SESSION] = {"session", 0, "NAME",
	"run in the session NAME, which is made if there is none: see 'glovebox session'", 0, NULL},
    [FLAG_JSON] = {"json", 0, NULL, "print one JSON object with everything, and nothing else", 0, NULL},
    [FLAG_SETTINGS] = SETTINGS_FLAGS,
    {0},
};

static bool take_source(struct request *request, const char *file, const char *code) {
	if (request->file || request->code)
		return complain(
		    &command_run, "one piece of code at a time: a FILE, or - for standard input, or -e CODE");
	request->file = file;
	request->code = code;
	return true;
}

static bool take_args(struct request *request, const char *json) {
	struct gb_err err = {0};
	struct gb_value *args = gb_value_from_json(request->values, json, strlen(json), &err);
	if (!args)
		return complain(&command_run, "--args: %s", err.message);
	if (gb_value_type(args) != GB_ARRAY)
		return complain(&command_run, "--args: must be an array, like '[1, \"x\"]'");
	request->options.args = args;
	return true;
}

static bool take_input(struct request *request, const char *text) {
	struct gb_str json = gb_str_from(text), name;
	if (!gb_str_cut(&json, '=', &name))
		return complain(&command_run, "--input: '%s' is not NAME=JSON", text);
	struct gb_err err = {0};
	struct gb_value *value = gb_value_from_json(request->values, json.p, json.n, &err);
	if (!value)
		return complain(&command_run, "--input %.*s: %s", GB_STR_ARG(name), err.message);
	for (size_t i = 0; i < gb_value_count(request->globals); i++) {
		size_t n;
		const char *other = gb_value_bytes(gb_value_key_at(request->globals, i), &n);
		if (n == name.n && memcmp(other, name.p, n) == 0)
			return complain(&command_run, "--input: '%.*s' is given twice", GB_STR_ARG(name));
	}
	return gb_value_put(request->globals, gb_value_string(request->values, name.p, name.n), value) ||
	       complain(&command_run, "--input: too large, or a name that is not UTF-8");
}

static bool take_file(struct request *request, const char *path) {
	gb_auto_buf struct gb_buf bytes;
	gb_buf_init(&bytes, INPUTS_MAX);
	if (!read_path(&command_run, "--file: ", path, &bytes))
		return false;
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	if (gb_wtf8_scan(name, strlen(name)) == GB_WTF8_UTF8 && gb_value_get(request->files, name))
		return complain(&command_run, "--file: there is another file '%s' before '%s'", name, path);
	return gb_value_put_key(
		   request->files, name, gb_value_buffer(request->values, bytes.data, bytes.len)) ||
	       complain(&command_run, "--file: too large together, or a name that is not UTF-8");
}

static bool take_net(struct request *request, const char *hosts) {
	for (struct gb_str rest = gb_str_from(hosts), host; rest.n;) {
		gb_str_cut(&rest, ',', &host);
		if (!host.n || !gb_value_push(request->net, gb_value_string(request->values, host.p, host.n)))
			return complain(
			    &command_run, "--net: '%s' is not HOST or HOST:PORT, with commas between", hosts);
	}
	return true;
}

static bool on_flag(const struct flag *flag, const char *value, void *data) {
	struct request *request = data;
	if (!flag)
		return take_source(request, value, NULL);
	if (settings_flag(&request->settings, flag, value))
		return true;
	switch (flag - flags) {
	case FLAG_EVAL:
		return take_source(request, NULL, value);
	case FLAG_LANGUAGE:
		request->language_name = value;
		return true;
	case FLAG_FN:
		request->options.fn = value;
		return true;
	case FLAG_ARGS:
		return take_args(request, value);
	case FLAG_INPUT:
		return take_input(request, value);
	case FLAG_TIMEOUT:
		return (gb_str_parse_duration_ms(value, &request->options.timeout_ms) &&
			   request->options.timeout_ms) ||
		       complain(&command_run, "--timeout: '%s' is not a time like 250ms, 5s or 2m", value);
	case FLAG_MEMORY:
		return (gb_str_parse_size(value, &request->options.memory_bytes) &&
			   request->options.memory_bytes) ||
		       complain(&command_run, "--memory: '%s' is not a size like 32M or 1G", value);
	case FLAG_STDIN:
		request->options.input = value;
		return true;
	case FLAG_FILE:
		return take_file(request, value);
	case FLAG_PROFILE:
		request->options.profile = value;
		return true;
	case FLAG_RESTRICTED:
		request->options.restricted = true;
		return true;
	case FLAG_ALLOW:
		return gb_value_push(
			   request->allowed, gb_value_string(request->values, value, strlen(value))) ||
		       complain(&command_run, "--allow: a name that is not UTF-8");
	case FLAG_PACKAGES:
		request->packages = value;
		return true;
	case FLAG_NET:
		return take_net(request, value);
	case FLAG_OUT:
		request->out = value;
		return true;
	case FLAG_SESSION:
		request->session = value;
		return true;
	case FLAG_JSON:
		request->json = true;
		return true;
	}
	return false;
}

static bool load_source(struct request *request) {
	gb_buf_init(&request->source, GB_SOURCE_MAX);
	if (request->code) {
		gb_buf_append(&request->source, request->code, strlen(request->code));
	} else {
		if (!read_path(&command_run, "", request->file, &request->source))
			return false;
		request->options.filename = strcmp(request->file, "-") == 0 ? "<stdin>" : request->file;
	}
	if (gb_buf_c_str(&request->source))
		return true;
	return complain(&command_run, "the code is larger than %u bytes", GB_SOURCE_MAX);
}

/* --- showing --- */

static int show(const struct request *request, struct gb_filter *filter, const struct gb_result *result) {
	struct gb_err err = {0};
	struct shown shown = {.command = &command_run,
	    .source = gb_buf_str(&request->source),
	    .filter = filter,
	    .out = request->out};
	gb_auto_free char *json = request->json ? gb_result_to_json(result, NULL, &err) : NULL;
	if (request->json && !json) {
		complain(&command_run, "%s", err.message);
		return EXIT_CODE_FAILED;
	}
	shown.json = json;
	return show_result(&shown, result);
}

/* --- running --- */

/* A run that never began, in the shape of one that did: programs that read --json need no second way. */
static int refuse(const struct request *request, const char *code, const char *message) {
	return show_refusal(&command_run, request->json, code, message);
}

/* One run wants one zygote, and no time for another CPU to wake up. */
static void stay_on_this_cpu(void) {
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET((size_t)sched_getcpu(), &set);
	sched_setaffinity(0, sizeof set, &set);
}

static void fill_source(struct request *request) {
	request->options.source = request->source.data;
	request->options.source_bytes = request->source.len;
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

/* The process that keeps the sessions has settings of its own, and one folder of packages. */
static bool check_session(const struct request *request) {
	if (request->settings.file || request->settings.n_set)
		return complain(&command_run,
		    "--config and --set are not for sessions: the process that keeps them reads "
		    "the settings when it starts, and on SIGHUP");
	if (!run_flags_has_sessions(&command_run, request->language))
		return false;
	return !request->packages ||
	       complain(&command_run,
		   "--packages is not for sessions: the process that keeps them takes the setting "
		   "programs.nodePackages when it starts");
}

static int execute_in_session(struct request *request) {
	const struct session_job job = {.command = &command_run,
	    .session = request->session,
	    .options = &request->options,
	    .create = true,
	    .fixed_language = request->language_name,
	    .json = request->json,
	    .out = request->out};
	return check_session(request) ? session_execute(&job) : EXIT_BAD_USE;
}

static int speak(struct request *request, struct gb_engine *engine, struct gb_filter *filter) {
	struct gb_err err = {0};
	struct masked_output output;
	struct gb_run *run = NULL;
	int status = EXIT_BAD_USE;
	if (masked_output_begin(&output, filter, request->json, &request->options, &err) &&
	    gb_run_start(engine, &request->options, &run, &err)) {
		const struct gb_result *result = gb_run_wait(run);
		status =
		    result ? show(request, filter, masked_output_end(&output, result)) : EXIT_CODE_FAILED;
		gb_run_destroy(run);
	} else {
		complain_of_flag(&command_run, &err);
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
		return refuse(request, "masking", err.message);
	stay_on_this_cpu();
	int status = EXIT_REFUSED;
	if (gb_limits_engine_create(config, &options, &engine, &err)) {
		status = speak(request, engine, filter);
		gb_engine_destroy(engine);
	} else if (request->packages && strcmp(err.field, "node_packages") == 0) {
		complain_of_flag(&command_run, &err);
		status = EXIT_BAD_USE;
	} else {
		refuse(request, err.code == GB_ENOENT ? "runtime_disabled" : "wall", err.message);
	}
	gb_filter_destroy(filter);
	return status;
}

/* What is set, where nothing was asked for; and no more than that allows. */
static bool apply_settings(struct request *request, const struct gb_config *config) {
	const struct gb_config_list *modules = &config->node.allowed_modules;
	struct gb_err err = {0};
	for (size_t i = 0; request->language == GB_NODE && i < modules->n; i++)
		gb_value_push(request->allowed,
		    gb_value_string(request->values, modules->items[i], strlen(modules->items[i])));
	fill_options(request);
	if (request->packages && !gb_value_count(request->allowed))
		return complain(&command_run,
		    "--packages has no effect without --allow, which names the packages that may be used");
	if (request->packages && !find_folder(request->packages, request->packages_path, &err))
		return complain(&command_run, "--packages: %s", err.message);
	if (!gb_limits_check(config, &request->options, &err)) {
		complain_of_flag(&command_run, &err);
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
	if (!request->file && !request->code) {
		complain(&command_run, "nothing to run: give a FILE, or - for standard input, or -e CODE");
		return EXIT_BAD_USE;
	}
	if (!language_choose(&command_run, request->language_name, request->file, &request->language))
		return EXIT_BAD_USE;
	const struct run_flags given = {&command_run, &request->options, request->packages, request->out};
	fill_options(request);
	if (!run_flags_check_out(&given) ||
	    (!request->session && !run_flags_fit(&given, request->language)) || !load_source(request))
		return EXIT_BAD_USE;
	fill_source(request);
	return request->session ? execute_in_session(request) : execute_alone(request);
}

static int run(const struct command *self, int argc, char **argv) {
	struct request request = {.values = gb_values_create(INPUTS_MAX)};
	request.globals = gb_value_object(request.values);
	request.allowed = gb_value_array(request.values);
	request.files = gb_value_object(request.values);
	request.net = gb_value_array(request.values);
	enum parsed parsed = parse_flags(self, argc, argv, on_flag, &request);
	int status = parsed == PARSED        ? run_request(&request)
		     : parsed == PARSED_HELP ? EXIT_OK
					     : EXIT_BAD_USE;
	gb_buf_finish(&request.source);
	gb_values_destroy(request.values);
	return status;
}

const struct command command_run = {
    .name = "run",
    .synopsis = "[FILE | -e CODE | -] [OPTIONS]",
    .summary = "run code in a fresh sandbox and show what it gave",
    .details =
	"The code is an ES module, or a program in the language that -l says. A module's result is its "
	"default export, or the one "
	"that --fn names; a function\n"
	"is called with --args, a promise is awaited. console.log and its kin are shown as they happen. "
	"There\n"
	"are no files, no network, no environment and no clock but Date in there.\n"
	"\n"
	"What it says has its secrets masked (docs/SECRETS.md); limits, programs and the rest are as the "
	"settings "
	"say.\n"
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
