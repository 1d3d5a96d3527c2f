/* The project file: applies what may be tightened, and warns about the rest. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "config/load.h"
#include "config/search.h"
#include "config/yaml.h"

#define PROJECT_FILE "./glovebox.yaml"

enum { WARNING_MAX = 2 * GB_ERR_MESSAGE_MAX };

/* At most one warning for each setting, and one for the file. */
static bool warn(struct gb_loading *l, const char *text) {
	struct gb_snapshot *snapshot = l->snapshot;
	if (!snapshot->warnings)
		snapshot->warnings =
		    gb_arena_array(&snapshot->arena, gb_settings_count + 1, sizeof *snapshot->warnings);
	const char *copy = gb_arena_copy(&snapshot->arena, gb_str_from(text));
	if (!snapshot->warnings || !copy)
		return gb_fail(l->err, GB_ENOMEM, 0, "there is no memory for the settings");
	snapshot->warnings[snapshot->n_warnings++] = copy;
	return true;
}

static bool warn_grant(
    struct gb_loading *l, const struct gb_setting *setting, const struct gb_config_origin *at) {
	char text[WARNING_MAX], place[GB_CONFIG_PLACE_MAX];
	snprintf(text, sizeof text,
	    "%s: %s is ignored: a project file may %s; if you trust this file: glovebox config trust",
	    gb_config_place_text(at, place), at->name, gb_setting_project_text(setting));
	return warn(l, text);
}

/* --- content --- */

/* The values of one file and their places. */
struct project {
	struct gb_config config;
	struct gb_config_origin *origins;
	struct gb_place place;
};

static bool parse(struct gb_loading *l, struct project *project, struct gb_str text) {
	struct gb_config *config = l->config;
	struct gb_config_origin *origins = l->origins;
	project->config = *config;
	l->config = &project->config;
	l->origins = project->origins;
	l->layer = GB_CONFIG_PROJECT;
	l->place = l->snapshot->project;
	bool ok = gb_loading_text(l, text);
	l->config = config;
	l->origins = origins;
	return ok;
}

static bool grants(const struct gb_loading *l, const struct project *project, size_t i) {
	return project->origins[i].name && !gb_setting_may(&gb_settings[i], l->config, &project->config);
}

/* The state directory is taken from the owner's settings, the environment and --set, never from the project
 * file. */
static bool ask_owner(struct gb_loading *l, const struct project *project, struct gb_str text) {
	struct gb_config_sources sources = *l->sources;
	const struct gb_config *owner = NULL;
	sources.no_project = true;
	if (!sources.is_trusted)
		return true;
	if (!gb_config_load(&sources, &owner, l->err))
		return false;
	l->snapshot->trusted = sources.is_trusted(owner, project->place.real, text, sources.data);
	gb_config_unref(owner);
	return true;
}

static bool take(struct gb_loading *l, const struct project *project, size_t i) {
	const struct gb_setting *setting = &gb_settings[i];
	const struct gb_config_origin *at = &project->origins[i];
	char place[GB_CONFIG_PLACE_MAX];
	if (!at->name)
		return true;
	if (!l->snapshot->trusted && grants(l, project, i))
		return warn_grant(l, setting, at);
	if (!gb_setting_tighten(setting, l->config, &project->config, &l->snapshot->arena))
		return gb_fail(l->err, GB_ELIMIT, 0,
		    "%s: %s: too many items, together with those of the owner",
		    gb_config_place_text(at, place), at->name);
	l->origins[i] = *at;
	return true;
}

static bool judge(struct gb_loading *l, struct project *project, struct gb_str text) {
	bool any = false;
	if (!parse(l, project, text))
		return false;
	for (size_t i = 0; i < gb_settings_count; i++)
		any = any || grants(l, project, i);
	if (any && !ask_owner(l, project, text))
		return false;
	for (size_t i = 0; i < gb_settings_count; i++)
		if (!take(l, project, i))
			return false;
	return true;
}

/* --- place --- */

/* In the configuration folder of the owner, ./glovebox.yaml is the owner's file. */
static bool is_owners(const struct gb_loading *l, const struct gb_place *place) {
	return l->file_place.inode && l->file_place.inode == place->inode &&
	       l->file_place.device == place->device;
}

/* Links are ignored: a repository can contain a link to a file that was trusted elsewhere, or to a secret
 * file that error messages would quote. */
static bool is_link(const char *path, const struct gb_place *place) {
	char folder[PATH_MAX], real[PATH_MAX];
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
	size_t n = realpath(folder, real) ? strlen(real) : 0;
	if (n == 1)
		n = 0; /* "/" */
	return strncmp(real, place->real, n) != 0 || place->real[n] != '/' ||
	       strcmp(place->real + n + 1, name) != 0;
}

/* Whether there is a link of the user's or root's. gb_place_read refuses links of others. */
static bool has_own_link(const char *path) {
	struct stat entry;
	return lstat(path, &entry) == 0 && S_ISLNK(entry.st_mode) &&
	       (entry.st_uid == 0 || entry.st_uid == geteuid());
}

static bool warn_foreign(struct gb_loading *l, const struct gb_err *why) {
	char text[WARNING_MAX];
	snprintf(text, sizeof text, "project file ignored: %s", why->message);
	return warn(l, text);
}

/* The file behind a link is not opened: opening a device can have effects, and a repository must not choose what
 * the host reads. */
static bool ignore_link(struct gb_loading *l, const char *path) {
	struct gb_err why = {0};
	struct stat st = {0};
	bool is_dangling = stat(path, &st) != 0 && (errno == ENOENT || errno == ENOTDIR);
	gb_fail(&why, GB_EINVAL, 0, "%s: is a link; name the file itself with --config", path);
	if (l->sources->project) {
		*l->err = why;
		return false;
	}
	const struct gb_place place = {.device = st.st_dev, .inode = st.st_ino};
	return is_dangling || is_owners(l, &place) || warn_foreign(l, &why);
}

/* A file that another user can write is ignored with a warning: it must neither have an effect nor make
 * commands fail. A mistake in the user's own file is an error, since its restrictions would not be
 * applied. */
static bool read_project(
    struct gb_loading *l, const char *path, struct project *project, struct gb_buf *text, bool *ret_read) {
	struct gb_err why = {0};
	*ret_read = false;
	if (has_own_link(path))
		return ignore_link(l, path);
	switch (gb_place_read(path, text, &project->place, &why)) {
	case GB_PLACE_READ:
		*ret_read = l->sources->project || !is_owners(l, &project->place);
		if (!*ret_read || !is_link(path, &project->place))
			return true;
		*ret_read = false;
		gb_fail(&why, GB_EINVAL, 0, "%s: is a link; name the file itself with --config", path);
		if (!l->sources->project)
			return warn_foreign(l, &why);
		break;
	case GB_PLACE_ABSENT:
		return !l->sources->project || gb_fail(l->err, GB_ENOENT, ENOENT, "'%s'", path);
	case GB_PLACE_FOREIGN:
		if (!l->sources->project)
			return warn_foreign(l, &why);
		break;
	case GB_PLACE_WRONG:
		break;
	}
	*l->err = why;
	return false;
}

static bool load_project(struct gb_loading *l, struct project *project) {
	const struct gb_config_sources *sources = l->sources;
	const char *path = sources->project ? sources->project : PROJECT_FILE;
	struct gb_str text = {sources->project_text, sources->project_bytes};
	gb_auto_buf struct gb_buf bytes;
	bool is_read = true;
	gb_buf_init(&bytes, GB_YAML_MAX_BYTES);
	if (!text.p) {
		if (!read_project(l, path, project, &bytes, &is_read))
			return false;
		text = gb_buf_str(&bytes);
	}
	if (!is_read)
		return true;
	l->snapshot->project = gb_arena_copy(&l->snapshot->arena, gb_str_from(path));
	if (!l->snapshot->project)
		return gb_fail(l->err, GB_ENOMEM, 0, "there is no memory for the settings");
	return judge(l, project, text);
}

bool gb_loading_project(struct gb_loading *l) {
	const struct gb_config_sources *sources = l->sources;
	bool given = sources->project || sources->project_text;
	if (sources->no_project || (!given && (sources->text || gb_config_names_file(sources))))
		return true;
	struct project *project = calloc(1, sizeof *project);
	if (project)
		project->origins = calloc(gb_settings_count, sizeof *project->origins);
	bool ok = project && project->origins
		      ? load_project(l, project)
		      : gb_fail(l->err, GB_ENOMEM, 0, "there is no memory for the settings");
	if (project)
		free(project->origins);
	free(project);
	return ok;
}
