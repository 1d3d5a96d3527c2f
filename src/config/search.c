#include "config/search.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "config/settings.h"
#include "config/values.h"

#define FILE_NAME "glovebox.yaml"
#define PREFIX    "GLOVEBOX_"

const char *gb_config_getenv(char *const *environment, const char *name) {
	size_t n = strlen(name);
	for (; environment && *environment; environment++)
		if (strncmp(*environment, name, n) == 0 && (*environment)[n] == '=')
			return (*environment)[n + 1] ? *environment + n + 1 : NULL;
	return NULL;
}

static bool exists(const char *path) {
	return access(path, F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

/* Whether the file exists; then @ret is its path. A file that cannot be accessed counts as existing, so
 * that it is not skipped silently. A relative folder is ignored, since it would depend on the working
 * directory. */
static bool try_place(char ret[PATH_MAX], const char *folder, const char *below) {
	if (!folder || folder[0] != '/')
		return false;
	int n = snprintf(ret, PATH_MAX, "%s%s", folder, below);
	return n < PATH_MAX && exists(ret);
}

bool gb_config_names_file(const struct gb_config_sources *sources) {
	return sources->file || gb_config_getenv(sources->environment, GB_CONFIG_VARIABLE);
}

bool gb_config_find(const struct gb_config_sources *sources, char ret[PATH_MAX], struct gb_err *err) {
	const char *named = sources->file, *by = "--config";
	if (!named) {
		named = gb_config_getenv(sources->environment, GB_CONFIG_VARIABLE);
		by = "$" GB_CONFIG_VARIABLE;
	}
	if (named) {
		if (strlen(named) >= PATH_MAX)
			return gb_fail(err, GB_EINVAL, ENAMETOOLONG, "%s", by);
		if (!exists(named))
			return gb_fail(err, GB_ENOENT, ENOENT, "%s: '%s'", by, named);
		memcpy(ret, named, strlen(named) + 1);
		return true;
	}
	if (try_place(
		ret, gb_config_getenv(sources->environment, "XDG_CONFIG_HOME"), "/glovebox/" FILE_NAME) ||
	    try_place(ret, gb_config_getenv(sources->environment, "HOME"), "/.config/glovebox/" FILE_NAME) ||
	    try_place(ret, "/etc", "/glovebox/" FILE_NAME))
		return true;
	ret[0] = '\0';
	return true;
}

/* Variables with our prefix that are not settings. */
static bool is_other(const char *name, size_t n) {
	static const char *const others[] = {"CONFIG", "PATH", "NODE", "DENO", "BASH", "SESSION_LINGER"};
	for (size_t i = 0; i < GB_COUNT(others); i++)
		if (strlen(others[i]) == n && strncmp(name, others[i], n) == 0)
			return true;
	return strncmp(name, "SECRET_", 7) == 0;
}

static bool is_variable(const char *name, size_t n) {
	char variable[GB_SETTING_NAME_MAX];
	for (size_t i = 0; i < gb_settings_count; i++) {
		gb_setting_variable(&gb_settings[i], variable);
		if (strlen(variable) == n && strncmp(name, variable, n) == 0)
			return true;
	}
	return false;
}

/* Search with "agent.auto.approve" for GLOVEBOX_AGENT_AUTO_APPROVE: it is similar enough. */
static const char *nearest_variable(const char *name, size_t n, char ret[GB_SETTING_NAME_MAX]) {
	char dotted[GB_SETTING_NAME_MAX], near[GB_SETTING_NAME_MAX];
	enum gb_setting_unit unit;
	if (n >= sizeof dotted)
		return NULL;
	for (size_t i = 0; i < n; i++)
		dotted[i] = name[i] == '_' ? '.' : name[i];
	dotted[n] = '\0';
	const char *meant = gb_setting_nearest(dotted, near);
	const struct gb_setting *setting = meant ? gb_setting_find(meant, &unit) : NULL;
	if (setting)
		gb_setting_variable(setting, ret);
	return setting ? ret : NULL;
}

bool gb_config_check_environment(char *const *environment, struct gb_err *err) {
	for (; environment && *environment; environment++) {
		const char *name = *environment, *end = strchr(name, '=');
		size_t skip = sizeof PREFIX - 1, n = end ? (size_t)(end - name) : strlen(name);
		char near[GB_SETTING_NAME_MAX], quoted[GB_CONFIG_QUOTED_MAX];
		if (n < skip || strncmp(name, PREFIX, skip) != 0 || is_other(name + skip, n - skip) ||
		    is_variable(name, n))
			continue;
		const char *meant = nearest_variable(name + skip, n - skip, near);
		return gb_fail(err, GB_EINVAL, 0, "the environment variable %s is not a setting%s%s%s",
		    gb_config_quote((struct gb_str){name, n}, quoted), meant ? "; did you mean '" : "",
		    meant ? meant : "; unset it, or see 'glovebox config docs'", meant ? "'?" : "");
	}
	return true;
}
