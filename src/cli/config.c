#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/io.h"
#include "cli/config.h"
#include "cli/untrusted.h"
#include "config/settings.h"
#include "value/json.h"

enum { TEXT_MAX = 8 << 20 };

static const struct flag flags[] = {
    SETTINGS_FLAGS,
    {"json", 0, NULL, "show, trusted: JSON objects, one per line", 0, " show trusted "},
    {0},
};

static bool on_flag(const struct flag *flag, const char *value, void *data) {
	struct config_request *request = data;
	if (flag && !settings_flag(&request->settings, flag, value))
		request->json = true;
	if (flag)
		return true;
	if (request->operand)
		return report_error(&command_config, "got the unexpected operand '%s'", value);
	*(request->action ? &request->operand : &request->action) = value;
	return true;
}

static int print(struct gb_buf *out) {
	fwrite(out->data, 1, out->len, stdout);
	return fflush(stdout) == 0 ? EXIT_OK : EXIT_REFUSED;
}

/* --- show --- */

static const char *const layers[] = {[GB_CONFIG_DEFAULT] = "default",
    [GB_CONFIG_FILE] = "file",
    [GB_CONFIG_PROJECT] = "project",
    [GB_CONFIG_ENVIRONMENT] = "environment",
    [GB_CONFIG_FLAG] = "flag"};

static void write_origin(
    struct gb_buf *out, const struct gb_setting *setting, const struct gb_config_origin *origin) {
	if (origin->layer == GB_CONFIG_FILE || origin->layer == GB_CONFIG_PROJECT)
		gb_buf_printf(out, "%s:%u", origin->place, origin->line);
	else if (origin->layer == GB_CONFIG_ENVIRONMENT)
		gb_buf_printf(out, "$%s", origin->place);
	else if (origin->layer == GB_CONFIG_FLAG)
		gb_buf_printf(out, "--set");
	else
		gb_buf_printf(out, "default");
	if (origin->lowered)
		gb_buf_printf(out, ", lowered to the maximum");
	if (origin->name && strcmp(origin->name, setting->name) != 0)
		gb_buf_printf(out, " as %s", origin->name);
	if (setting->unavailable)
		gb_buf_printf(out, ", " GB_SETTING_UNAVAILABLE);
}

static void print_line(const char *label, const char *text) {
	fputs(label, stdout);
	print_name(stdout, text, strlen(text));
	putchar('\n');
}

static void print_files(const struct gb_config *config) {
	const char *file = gb_config_file(config), *project = gb_config_project(config);
	const char *const *warnings;
	size_t n = gb_config_warnings(config, &warnings);
	if (!file && !project)
		printf("# no file: every value is a default, or from the environment\n");
	if (file)
		print_line("# file: ", file);
	if (project)
		print_line(
		    gb_config_is_trusted(config) ? "# project file, trusted: " : "# project file: ", project);
	for (size_t i = 0; i < n; i++)
		print_line("# warning: ", warnings[i]);
}

static int show_text(const struct gb_config *config) {
	gb_auto_buf struct gb_buf value, origin;
	gb_buf_init(&value, TEXT_MAX);
	gb_buf_init(&origin, TEXT_MAX);
	print_files(config);
	for (size_t i = 0; i < gb_settings_count; i++) {
		const struct gb_config_origin *from = gb_config_origin(config, &gb_settings[i]);
		gb_buf_clear(&value);
		gb_buf_clear(&origin);
		gb_setting_write(&gb_settings[i], config, &value);
		write_origin(&origin, &gb_settings[i], from);
		const char *said = gb_buf_c_str(&value), *where = gb_buf_c_str(&origin);
		if (!said || !where)
			return EXIT_REFUSED;
		printf("%-31s ", gb_settings[i].name);
		print_name_padded(stdout, from->name ? BOLD : PLAIN, said, 20);
		fputs("  # ", stdout);
		print_name_padded(stdout, DIM, where, 0);
		putchar('\n');
	}
	return EXIT_OK;
}

static void add_list(struct gb_buf *out, const struct gb_config_list *list) {
	gb_buf_append_char(out, '[');
	for (size_t i = 0; i < list->n; i++) {
		gb_buf_printf(out, i ? "," : "");
		gb_json_append_bytes(out, gb_str_from(list->items[i]));
	}
	gb_buf_append_char(out, ']');
}

static void add_profiles(struct gb_buf *out, const struct gb_config_profiles *profiles) {
	gb_buf_append_char(out, '{');
	for (size_t i = 0; i < profiles->n; i++) {
		gb_buf_printf(out, i ? "," : "");
		gb_json_append_bytes(out, gb_str_from(profiles->items[i].name));
		gb_buf_append_char(out, ':');
		add_list(out, &profiles->items[i].modules);
	}
	gb_buf_append_char(out, '}');
}

static void add_runtimes(struct gb_buf *out, unsigned set) {
	const char *names[GB_CONFIG_RUNTIMES];
	struct gb_config_list list = {names, 0};
	for (unsigned i = 0; i < GB_CONFIG_RUNTIMES; i++)
		if (set & 1u << i)
			names[list.n++] = gb_config_runtime_name((enum gb_config_runtime)i);
	add_list(out, &list);
}

static void add_faces(struct gb_buf *out, unsigned set) {
	const char *names[GB_FACE_COUNT];
	struct gb_config_list list = {names, 0};
	for (unsigned i = 0; i < GB_FACE_COUNT; i++)
		if (set & 1u << i)
			names[list.n++] = gb_face_name((enum gb_face)i);
	add_list(out, &list);
}

/* Durations in milliseconds, sizes in bytes. */
static void add_value(struct gb_buf *out, const struct gb_setting *setting, const struct gb_config *config) {
	const void *at = (const char *)config + setting->offset;
	gb_auto_buf struct gb_buf text;
	gb_buf_init(&text, TEXT_MAX);
	switch (setting->type) {
	case GB_SETTING_BOOL:
		gb_setting_write(setting, config, out);
		return;
	case GB_SETTING_PATH:
	case GB_SETTING_VARIABLE:
	case GB_SETTING_HOST:
		gb_json_append_bytes(out, gb_str_from(*(const char *const *)at));
		return;
	case GB_SETTING_RUNTIMES:
		add_runtimes(out, *(const unsigned *)at);
		return;
	case GB_SETTING_FACES:
		add_faces(out, *(const unsigned *)at);
		return;
	case GB_SETTING_PROFILES:
		add_profiles(out, at);
		return;
	case GB_SETTING_MODULES:
	case GB_SETTING_HOSTS:
	case GB_SETTING_VARIABLES:
	case GB_SETTING_TEXTS:
		add_list(out, at);
		return;
	default:
		break;
	}
	if (gb_setting_is_number(setting)) {
		gb_buf_printf(out, "%.15g", gb_setting_number(setting, config));
		return;
	}
	gb_setting_write(setting, config, &text);
	gb_json_append_bytes(out, gb_buf_str(&text));
}

static void add_setting(
    struct gb_buf *out, const struct gb_setting *setting, const struct gb_config *config) {
	const struct gb_config_origin *origin = gb_config_origin(config, setting);
	gb_buf_printf(
	    out, "{\"name\":\"%s\",\"type\":\"%s\",\"value\":", setting->name, gb_setting_type_name(setting));
	add_value(out, setting, config);
	gb_buf_printf(out, ",\"from\":\"%s\"", layers[origin->layer]);
	if (origin->place) {
		gb_buf_printf(out, ",\"place\":");
		gb_json_append_bytes(out, gb_str_from(origin->place));
	}
	if (origin->line)
		gb_buf_printf(out, ",\"line\":%u,\"column\":%u", origin->line, origin->column);
	if (origin->name && strcmp(origin->name, setting->name) != 0)
		gb_buf_printf(out, ",\"as\":\"%s\"", origin->name);
	if (setting->unavailable)
		gb_buf_printf(out, ",\"available\":false");
	gb_buf_append_char(out, '}');
}

static void add_text(struct gb_buf *out, const char *text) {
	if (text)
		gb_json_append_bytes(out, gb_str_from(text));
	else
		gb_buf_printf(out, "null");
}

static int show_json(const struct gb_config *config) {
	struct gb_config_list warnings;
	gb_auto_buf struct gb_buf out;
	gb_buf_init(&out, TEXT_MAX);
	gb_buf_printf(&out, "{\"file\":");
	add_text(&out, gb_config_file(config));
	gb_buf_printf(&out, ",\"project\":");
	add_text(&out, gb_config_project(config));
	gb_buf_printf(&out, ",\"trusted\":%s,\"warnings\":", gb_config_is_trusted(config) ? "true" : "false");
	warnings.n = gb_config_warnings(config, &warnings.items);
	add_list(&out, &warnings);
	gb_buf_printf(&out, ",\"settings\":[");
	for (size_t i = 0; i < gb_settings_count; i++) {
		gb_buf_printf(&out, i ? "," : "");
		add_setting(&out, &gb_settings[i], config);
	}
	gb_buf_printf(&out, "]}\n");
	return gb_buf_failed(&out) ? EXIT_REFUSED : print(&out);
}

static int show(const struct command *self, const struct config_request *request) {
	const struct gb_config *config = settings_load(self, &request->settings);
	if (!config)
		return EXIT_BAD_USE;
	int status = request->json ? show_json(config) : show_text(config);
	gb_config_unref(config);
	return status;
}

/* --- check, init, docs --- */

static int check(const struct command *self, const struct config_request *request) {
	struct settings_request settings = request->settings;
	if (request->operand)
		settings.file = request->operand;
	const struct gb_config *config = settings_load(self, &settings);
	if (!config)
		return EXIT_BAD_USE;
	const char *file = gb_config_file(config), *project = gb_config_project(config);
	if (file || !project) {
		const char *name = file ? file : "there is no file";
		print_name(stdout, name, strlen(name));
		puts(": nothing is wrong with it");
	}
	if (project) {
		print_name(stdout, project, strlen(project));
		puts(": nothing is wrong with it");
	}
	gb_config_unref(config);
	return EXIT_OK;
}

static int init(const struct command *self, const struct config_request *request) {
	const char *path = request->operand ? request->operand : "glovebox.yaml";
	gb_auto_buf struct gb_buf out;
	gb_buf_init(&out, TEXT_MAX);
	gb_settings_write_template(&out);
	gb_auto_fd int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0) {
		report_error(self, "%s: %s%s", path, strerror(errno),
		    errno == EEXIST ? "; it was not changed: move it away, or give another name" : "");
		return EXIT_REFUSED;
	}
	if (!gb_write_all(fd, out.data, out.len)) {
		report_error(self, "write '%s': %s", path, strerror(errno));
		return EXIT_REFUSED;
	}
	print_name(stdout, path, strlen(path));
	puts(": written; remove the # before the settings that you want to change");
	if (!request->operand)
		printf("In this folder it is a project file, which can only restrict your own settings. "
		       "Those are in\n"
		       "~/.config/glovebox/glovebox.yaml. See 'glovebox config --help'.\n");
	return EXIT_OK;
}

static int docs(const struct command *self, const struct config_request *request) {
	gb_auto_buf struct gb_buf out;
	gb_buf_init(&out, TEXT_MAX);
	gb_settings_write_markdown(&out);
	return print(&out);
}

static bool check_settings(const struct config_request *request) {
	bool reads = strcmp(request->action, "init") != 0 && strcmp(request->action, "docs") != 0;
	if (!reads && (request->settings.file || request->settings.n_set))
		return report_error(
		    &command_config, "--config and --set have no effect on %s", request->action);
	return !request->operand || !request->settings.file || strcmp(request->action, "check") != 0 ||
	       report_error(&command_config, "takes one file, but got --config and '%s'", request->operand);
}

static int run(const struct command *self, int argc, char **argv) {
	static const struct {
		const char *name;
		int (*run)(const struct command *self, const struct config_request *request);
		bool operand;
	} runners[] = {{"show", show, false}, {"check", check, true}, {"init", init, true},
	    {"docs", docs, false}, {"trust", config_trust, true}, {"untrust", config_untrust, true},
	    {"trusted", config_trusted, false}};
	struct config_request request = {0};
	enum parsed parsed = parse_flags(self, argc, argv, on_flag, &request);
	if (parsed != PARSED)
		return parsed == PARSED_HELP ? EXIT_OK : EXIT_BAD_USE;
	for (size_t i = 0; request.action && i < GB_COUNT(runners); i++) {
		if (strcmp(request.action, runners[i].name) != 0)
			continue;
		if (!check_action_flags(self, request.action) || !check_settings(&request))
			return EXIT_BAD_USE;
		if (!request.operand || runners[i].operand)
			return runners[i].run(self, &request);
		report_error(self, "%s takes no operand, but got '%s'", runners[i].name, request.operand);
		return EXIT_BAD_USE;
	}
	print_help(self, stderr);
	return EXIT_BAD_USE;
}

static const struct action actions[] = {
    {"show", "", "Show each setting, its value, and where the value comes from."},
    {"check", "[FILE]", "Report errors in a file. The exit status is 2 if there are any."},
    {"init", "[FILE]", "Write a file with every setting in it, as a comment."},
    {"docs", "", "Print all settings as the table of the manual."},
    {"trust", "[FILE]", "Show what ./glovebox.yaml grants, and apply it until it changes."},
    {"untrust", "[FILE]", "Stop applying what ./glovebox.yaml grants."},
    {"trusted", "", "List the trusted files: each is current, changed, missing or unsafe."},
    {0},
};

const struct command command_config = {
    .name = "config",
    .synopsis = "show|check|init|docs|trust|untrust|trusted [FILE]",
    .summary = "show, check and create settings",
    .details =
	"  glovebox config show             each setting, its value, and where the value comes from\n"
	"  glovebox config check [FILE]     report errors in a file; the exit status is 2 if there are any\n"
	"  glovebox config init [FILE]      write a file with every setting in it, as a comment\n"
	"  glovebox config docs             all settings, as a table in Markdown\n"
	"  glovebox config trust [FILE]     show what ./glovebox.yaml grants, and apply it until it changes\n"
	"  glovebox config untrust [FILE]   stop applying what it grants\n"
	"  glovebox config trusted          the trusted files; each is current, changed, missing or unsafe\n"
	"\n"
	"Your own file is the first of $XDG_CONFIG_HOME/glovebox/glovebox.yaml,\n"
	"~/.config/glovebox/glovebox.yaml and /etc/glovebox/glovebox.yaml. A ./glovebox.yaml belongs to\n"
	"the project: it is read after your own file and can only restrict your settings. Values that\n"
	"would grant more are ignored with a warning until you trust the file. With --config FILE or\n"
	"$GLOVEBOX_CONFIG only that file is read, and all of it applies. Environment variables such as\n"
	"GLOVEBOX_AGENT_ENABLED=true override files, and --set agent.enabled=true overrides everything.",
    .flags = flags,
    .actions = actions,
    .run = run,
};
