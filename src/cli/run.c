#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "cli/cli.h"
#include "cli/code_flags.h"
#include "cli/language.h"
#include "cli/local.h"
#include "cli/paths.h"
#include "cli/repl.h"
#include "cli/run_flags.h"
#include "cli/session.h"
#include "cli/settings.h"
#include "cli/show.h"
#include "glovebox/errors.h"
#include "limits/limits.h"
#include "store/state.h"

/* --- the command line --- */

struct request {
	struct code_flags code;
	enum gb_language language;
	const char *out; /* a folder for files and displays */
	const char *session;
	const char *packages; /* a folder, or NULL */
	bool interactive;
	char packages_path[PATH_MAX];
	char workdir[WORKDIR_TEXT];
	struct gb_values *values;
	struct gb_run_options options;
	struct settings_request settings;
};

static const struct flag flags[] = {
    CODE_FLAGS,
    LANGUAGE_FLAG,
    {"interactive", 'i', NULL, "after that code, read more line by line, and run it in the same session", 0,
	NULL},
    RUN_FLAGS LIMIT_FLAGS{"packages", 0, "DIR",
	"Node.js: a node_modules folder; the code may use its packages that --allow names; not with "
	"--session",
	FLAG_PATH, NULL},
    {"out", 0, "DIR",
	"write the files that a program created, and what Python displays, to DIR, and create DIR", FLAG_PATH,
	NULL},
    {"session", 0, "NAME",
	"run in the session NAME, which is created if there is none: see 'glovebox session'", 0, NULL},
    SETTINGS_FLAGS,
    {0},
};

static bool on_flag(const struct flag *flag, const char *value, void *data) {
	struct request *request = data;
	const struct {
		const char *name, **text;
	} own[] = {
	    {"packages", &request->packages},
	    {"out", &request->out},
	    {"session", &request->session},
	};
	bool ok;
	request->interactive |= flag && strcmp(flag->name, "interactive") == 0;
	if (!flag)
		return code_flags_take_file(&request->code, value);
	if (settings_flag(&request->settings, flag, value))
		return true;
	if (code_flags_take(&request->code, flag, value, &ok))
		return ok;
	for (size_t i = 0; i < GB_COUNT(own); i++)
		if (strcmp(own[i].name, flag->name) == 0)
			*own[i].text = value;
	return true;
}

/* --- showing --- */

static int show(const struct request *request, struct gb_filter *filter, const struct gb_result *result) {
	struct gb_err err = {0};
	struct shown shown = {.command = &command_run,
	    .source = gb_buf_str(&request->code.source),
	    .filter = filter,
	    .out = request->out,
	    .limits = &request->options};
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

static int run_and_show(struct request *request, struct local *local, struct gb_filter *filter) {
	struct gb_err err = {0};
	const struct gb_submission submission = {
	    .request = {.face = GB_FACE_RUN_CODE, .run = request->options}, .quiet = request->code.json};
	if (!local_submit(local, &submission, &err)) {
		report_flag_error(&command_run, &err);
		return EXIT_BAD_USE;
	}
	const struct gb_result *result = local_wait(local, NULL, &err);
	return result ? show(request, filter, result) : EXIT_CODE_FAILED;
}

static int execute(struct request *request, const struct gb_config *config) {
	struct gb_err err = {0};
	struct local local;
	struct gb_service_options options = {.config = config,
	    .max_runs = 1,
	    .engine = {.shards = 1,
		.warm = GB_NONE,
		.max_runs = 1,
		.ready = 1u << request->language,
		.node_packages = request->packages ? request->packages_path : NULL}};
	if (!settings_filter(config, "secrets.maskRun", &options.filter, &err))
		return refuse(request, GB_CODE_MASKING, err.message);
	pin_to_this_cpu();
	int status = EXIT_REFUSED;
	if (local_open(&local, &options, &err)) {
		status = run_and_show(request, &local, options.filter);
	} else if (request->packages && strcmp(err.field, "node_packages") == 0) {
		report_flag_error(&command_run, &err);
		status = EXIT_BAD_USE;
	} else {
		refuse(request, err.code == GB_ENOENT ? GB_CODE_RUNTIME_DISABLED : GB_CODE_WALL, err.message);
	}
	local_close(&local);
	gb_filter_destroy(options.filter);
	return status;
}

/* The modules that the settings name, and those of --allow. The default, node:safe, is for runs without
 * --allow. False if --packages is given and no package is named. */
static bool allow_modules(struct request *request, const struct gb_config_list *modules) {
	const struct gb_value *given = request->options.allowed_modules;
	size_t n_flags = gb_value_count(given), n_named = n_flags;
	struct gb_value *allowed = gb_value_array(request->values);
	for (size_t i = 0; i < n_flags; i++) {
		size_t n;
		const char *name = gb_value_bytes(gb_value_at(given, i), &n);
		gb_value_push(allowed, gb_value_string(request->values, name, n));
	}
	for (size_t i = 0; i < modules->n; i++)
		n_named += strcmp(modules->items[i], GB_CONFIG_NODE_SAFE) != 0;
	bool is_default = modules->n == 1 && n_named == n_flags;
	for (size_t i = 0; i < modules->n && !(is_default && n_flags); i++)
		gb_value_push(
		    allowed, gb_value_string(request->values, modules->items[i], strlen(modules->items[i])));
	request->options.allowed_modules = allowed; /* an empty list, too: it allows nothing */
	return !request->packages || n_named;
}

/* The descriptor stays open until the process ends: the engine shares exactly this folder, even if another process
 * puts a link in its place. */
static bool open_packages(struct request *request, struct gb_err *err) {
	int fd;
	if (!open_folder(request->packages, &fd, err))
		return false;
	snprintf(request->packages_path, sizeof request->packages_path, "/proc/self/fd/%d", fd);
	return true;
}

/* Check the request against the settings, and fill in their defaults. */
static bool apply_settings(struct request *request, const struct gb_config *config) {
	struct gb_err err = {0};
	if (request->language == GB_NODE && !allow_modules(request, &config->node.allowed_modules))
		return report_error(&command_run,
		    "--packages has no effect without --allow, which names the packages that may be used");
	if (request->packages && !open_packages(request, &err))
		return report_error(&command_run, "--packages: %s", err.message);
	if (!gb_limits_check(config, &request->options, &err) ||
	    !gb_limits_check_net(config, request->options.net, &err) ||
	    !gb_limits_check_workdir(config, request->options.workdir, &err)) {
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

/* --- the loop --- */

/* Options that only one run can have. */
static bool check_interactive(const struct request *request) {
	const char *flag = request->code.json       ? "json"
			   : request->options.fn    ? "fn"
			   : request->options.args  ? "args"
			   : request->options.input ? "stdin"
						    : NULL;
	if (request->code.file && strcmp(request->code.file, "-") == 0)
		return report_error(&command_run, "-: standard input has the code of the loop; give a FILE");
	return (!flag || report_error(&command_run, "--%s is for a run, not for a loop of runs", flag)) &&
	       check_session(request);
}

static int execute_interactively(struct request *request) {
	if (!check_interactive(request))
		return EXIT_BAD_USE;
	const struct gb_config *config = settings_load(&command_run, &request->settings);
	if (!config)
		return EXIT_BAD_USE;
	char state_dir[GB_STATE_PATH];
	struct repl repl = {.command = &command_run,
	    .options = &request->options,
	    .session = request->session,
	    .out = request->out,
	    .fixed_language = request->code.language};
	struct gb_err err = {0};
	/* Without the filter nothing is kept. */
	if (settings_filter(config, "secrets.maskRun", &repl.filter, &err) &&
	    gb_state_choose(config->state_dir, state_dir, &err))
		repl.state_dir = state_dir;
	int status = repl_run(&repl);
	gb_filter_destroy(repl.filter);
	gb_config_unref(config);
	return status;
}

static bool take_workdir(struct request *request) {
	const char *given = request->options.workdir;
	request->options.workdir = given ? request->workdir : NULL;
	return !given || find_workdir(&command_run, given, request->workdir);
}

static int run_request(struct request *request) {
	bool has_code = request->code.file || request->code.code;
	request->interactive |=
	    !has_code && !request->code.json && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
	if (!has_code && !request->interactive) {
		report_error(&command_run, "nothing to run: give a FILE, or - for standard input, or -e "
					   "CODE; or -i to read code line by "
					   "line");
		return EXIT_BAD_USE;
	}
	if (!code_flags_choose_language(&request->code, &request->language))
		return EXIT_BAD_USE;
	const struct run_flags given = {&command_run, &request->options, request->packages, request->out};
	request->options.language = request->language;
	request->options.last_value = !request->options.fn;
	if (!take_workdir(request) || !run_flags_check_out(&given) ||
	    (!request->session && !run_flags_fit(&given, request->language)) ||
	    (has_code && !code_flags_load(&request->code)))
		return EXIT_BAD_USE;
	if (request->interactive)
		return execute_interactively(request);
	return request->session ? execute_in_session(request) : execute_alone(request);
}

static int run(const struct command *self, int argc, char **argv) {
	struct request request = {.values = gb_values_create(CODE_VALUES_MAX)};
	request.code =
	    (struct code_flags){.command = self, .options = &request.options, .values = request.values};
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
    .synopsis = "[FILE | -e CODE | -] [-i] [OPTIONS]",
    .summary = "run code in a new sandbox and show its result",
    .details =
	"The code is an ES module, or a program in the language that -l names. The result of a module is\n"
	"its default export, or the export that --fn names; a function is called with --args, and a\n"
	"promise is awaited. If a module exports nothing, the result is the value of its last expression,\n"
	"as in other languages. Output is shown while the code runs.\n"
	"\n"
	"JavaScript and TypeScript have no files, no network and no environment variables, and Date is\n"
	"their only clock. The other languages have a folder of their own. They reach other hosts only if\n"
	"the setting network.allowlist has them, and --net names them.\n"
	"\n"
	"Secrets in the output are masked: glovebox-secrets(1). The settings define the limits and the\n"
	"programs: glovebox.yaml(5).\n"
	"\n"
	"  glovebox run -e 'export default [1,2,3].map(n => n * n)'\n"
	"  glovebox run sum.js --fn add --args '[1, 2]'\n"
	"  glovebox run -e 'export default rows.length' --input rows='[1,2]' --json\n"
	"  glovebox run -l python -e 'print(\"hi\"); 6 * 7'\n"
	"  glovebox run plot.py --out pictures\n"
	"  glovebox run count.sh --file words.txt --args '[\"words.txt\"]'\n"
	"  glovebox run --session work -e 'let x = 1'\n"
	"  glovebox run build.sh --workdir .:rw\n"
	"  glovebox run -l node -e 'require(\"os\").cpus().length'\n"
	"  glovebox run -l deno main.ts --net api.example.com\n"
	"\n"
	"Without code, at a terminal, the command reads code line by line and runs each piece in one\n"
	"session. The session ends with the command, unless --session names it. '.help' lists the\n"
	"commands and keys.\n"
	"\n"
	"An option that has no effect on the language or the session is refused.\n"
	"\n"
	"Exit status: 0 success, 1 the code failed, 2 usage error, 3 refused, 124 timeout. If the program "
	"ends\n"
	"with a status of its own, as by sys.exit(3), that is the exit status.",
    .flags = flags,
    .run = run,
};
