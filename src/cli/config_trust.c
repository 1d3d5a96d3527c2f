/* Project files that the user trusts. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "cli/config.h"
#include "cli/untrusted.h"
#include "config/place.h"
#include "config/settings.h"
#include "config/yaml.h"
#include "store/chain.h"
#include "store/state.h"
#include "store/trusted.h"

#define PROJECT_FILE "./glovebox.yaml"

enum { VALUE_MAX = 4 << 20 };

static const char *file_of(const struct config_request *request) {
	return request->operand ? request->operand : PROJECT_FILE;
}

/* The state directory of the owner's settings. A project file has no effect here. */
static bool find_state(const struct config_request *request, char ret[GB_STATE_PATH], struct gb_err *err) {
	struct settings_request settings = request->settings;
	const struct gb_config *config = NULL;
	settings.no_project = true;
	bool ok = settings_reload(&settings, &config, err) && gb_state_choose(config->state_dir, ret, err);
	gb_config_unref(config);
	return ok;
}

/* Paths are untrusted: a folder can have any name. */
static void print_path(const char *path) {
	print_name(stdout, path, strlen(path));
}

/* --- trust --- */

/* Whether the loader asked for trust, that is, the file would grant something. */
struct asked {
	bool answer; /* to give */
	bool is_asked;
	struct gb_hash hash;
	char path[PATH_MAX];
};

static bool on_asked(const struct gb_config *owner, const char *path, struct gb_str text, void *data) {
	(void)owner;
	struct asked *asked = data;
	asked->is_asked = true;
	gb_hash_bytes(text.p, text.n, &asked->hash);
	snprintf(asked->path, sizeof asked->path, "%s", path);
	return asked->answer;
}

/* Present environment variables must not hide what the file grants at another time. */
static bool is_setting(const char *variable) {
	return strncmp(variable, "GLOVEBOX_", 9) == 0 && strncmp(variable, "GLOVEBOX_CONFIG=", 16) != 0;
}

static bool load(const struct config_request *request, struct asked *asked, const struct gb_config **ret,
    struct gb_err *err) {
	struct gb_config_sources sources = settings_sources(&request->settings);
	size_t n = 0, n_kept = 0;
	while (sources.environment && sources.environment[n])
		n++;
	gb_auto_free char **kept = calloc(n + 1, sizeof *kept);
	if (!kept)
		return gb_fail(err, GB_ENOMEM, 0, "the environment");
	for (size_t i = 0; i < n; i++)
		if (!is_setting(sources.environment[i]))
			kept[n_kept++] = sources.environment[i];
	sources.environment = kept;
	sources.n_set = 0;
	sources.project = file_of(request);
	sources.is_trusted = on_asked;
	sources.data = asked;
	return gb_config_load(&sources, ret, err);
}

static void print_value(const struct gb_setting *setting, const struct gb_config *config) {
	gb_auto_buf struct gb_buf text;
	gb_buf_init(&text, VALUE_MAX);
	gb_setting_write(setting, config, &text);
	print_name(stdout, text.data ? text.data : "", text.len);
}

/* Print the settings that apply only if the file is trusted, or (@is_stricter) those that apply in any case. Trust
 * covers the latter too: they are grants as soon as the owner's settings become stricter. */
static void print_effects(
    const struct gb_config *without, const struct gb_config *with, bool is_stricter, const char *title) {
	for (size_t i = 0; i < gb_settings_count; i++) {
		const struct gb_setting *setting = &gb_settings[i];
		const struct gb_config_origin *at = gb_config_origin(with, setting);
		bool applies = gb_config_origin(without, setting)->layer == GB_CONFIG_PROJECT;
		if (at->layer != GB_CONFIG_PROJECT || applies != is_stricter)
			continue;
		fputs(title, stdout);
		title = "";
		printf("  line %u: %s: ", at->line, setting->name);
		print_value(setting, with);
		if (!is_stricter) {
			printf("  (yours: ");
			print_value(setting, without);
			putchar(')');
		}
		putchar('\n');
	}
}

static int note(const struct command *self, const struct config_request *request, const struct asked *asked) {
	char dir[GB_STATE_PATH];
	struct gb_err err = {0};
	bool changed = false;
	if (!find_state(request, dir, &err) ||
	    !gb_trusted_set(dir, asked->path, &asked->hash, &changed, &err)) {
		report_error(self, "%s", err.message);
		return EXIT_REFUSED;
	}
	print_path(asked->path);
	printf(changed ? ": trusted as it is now; it is no longer once it changes\n"
		       : ": was trusted already\n");
	return EXIT_OK;
}

int config_trust(const struct command *self, const struct config_request *request) {
	const struct gb_config *without = NULL, *with = NULL;
	struct asked refused = {.answer = false}, granted = {.answer = true};
	struct gb_err err = {0};
	int status = EXIT_BAD_USE;
	if (!load(request, &refused, &without, &err) || !load(request, &granted, &with, &err)) {
		report_error(self, "%s", err.message);
	} else if (!refused.is_asked && !granted.is_asked) {
		print_path(file_of(request));
		puts(": grants nothing, and so needs no trust");
		status = EXIT_OK;
	} else if (refused.is_asked != granted.is_asked || !gb_hash_eq(&refused.hash, &granted.hash)) {
		report_error(self, "%s: it changed while it was read; try again", file_of(request));
	} else {
		print_path(granted.path);
		print_effects(without, with, false, " grants what your settings do not:\n");
		print_effects(without, with, true,
		    "It also sets, no less strictly than your settings do now; trust covers these as "
		    "well:\n");
		status = note(self, request, &granted);
	}
	gb_config_unref(without);
	gb_config_unref(with);
	return status;
}

/* --- untrust --- */

/* If the file no longer exists, its folder is resolved. */
static bool resolve(const char *path, char ret[PATH_MAX]) {
	char folder[PATH_MAX], real[PATH_MAX];
	if (realpath(path, ret))
		return true;
	if (errno != ENOENT || snprintf(folder, sizeof folder, "%s", path) >= (int)sizeof folder)
		return false;
	char *slash = strrchr(folder, '/');
	if (slash)
		*slash = '\0';
	const char *name = slash ? slash + 1 : path;
	if (!realpath(!slash ? "." : *folder ? folder : "/", real))
		return false;
	return snprintf(ret, PATH_MAX, "%s/%s", strcmp(real, "/") == 0 ? "" : real, name) < PATH_MAX;
}

int config_untrust(const struct command *self, const struct config_request *request) {
	char dir[GB_STATE_PATH], path[PATH_MAX];
	struct gb_err err = {0};
	bool changed = false;
	/* If the folder no longer exists, the path is used as given. */
	if (!resolve(file_of(request), path))
		snprintf(path, sizeof path, "%s", file_of(request));
	if (!find_state(request, dir, &err) || !gb_trusted_set(dir, path, NULL, &changed, &err)) {
		report_error(self, "%s", err.message);
		return EXIT_REFUSED;
	}
	print_path(path);
	printf(changed ? ": no longer trusted\n" : ": was not trusted\n");
	return changed ? EXIT_OK : EXIT_CODE_FAILED;
}

/* --- trusted --- */

/* Whether the file would be applied now. */
static const char *state_of(const struct gb_trusted_file *file) {
	struct gb_place place;
	struct gb_hash hash;
	gb_auto_buf struct gb_buf text;
	gb_buf_init(&text, GB_YAML_MAX_BYTES);
	enum gb_place_verdict verdict = gb_place_read(file->path, &text, &place, NULL);
	if (verdict != GB_PLACE_READ)
		return verdict == GB_PLACE_ABSENT ? "missing" : "unsafe";
	gb_hash_bytes(text.data, text.len, &hash);
	return gb_hash_eq(&hash, &file->hash) ? "current" : "changed";
}

static void print_file(const struct gb_trusted_file *file, bool json) {
	char hash[2 * GB_HASH_BYTES + 1];
	gb_hash_format(hash, &file->hash);
	if (json) {
		printf("{\"path\":");
		print_json_string(stdout, file->path);
		printf(",\"hash\":\"%s\",\"state\":\"%s\"}\n", hash, state_of(file));
		return;
	}
	printf("%-8s  %.16s  ", state_of(file), hash);
	print_path(file->path);
	putchar('\n');
}

int config_trusted(const struct command *self, const struct config_request *request) {
	char dir[GB_STATE_PATH];
	struct gb_err err = {0};
	struct gb_trusted *list = NULL;
	if (!find_state(request, dir, &err) || !gb_trusted_read(dir, &list, &err)) {
		report_error(self, "%s", err.message);
		return EXIT_REFUSED;
	}
	for (size_t i = 0; i < list->n; i++)
		print_file(&list->files[i], request->json);
	gb_trusted_destroy(list);
	return EXIT_OK;
}
