#include "cli/settings.h"

#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "guard/secrets_load.h"
#include "store/chain.h"
#include "store/state.h"
#include "store/trusted.h"

/* Printed on stderr by one command. */
enum { WARNINGS_MAX = 8 };

bool settings_flag(struct settings_request *request, const struct flag *flag, const char *value) {
	if (strcmp(flag->name, "config") == 0)
		request->file = value;
	else if (strcmp(flag->name, "set") != 0)
		return false;
	else if (request->n_set < SETTINGS_MAX)
		request->set[request->n_set++] = value;
	return true;
}

/* If the list cannot be read, no file is trusted; 'glovebox config trusted' reports the error. */
static bool is_trusted(const struct gb_config *owner, const char *path, struct gb_str text, void *data) {
	(void)data;
	char dir[GB_STATE_PATH];
	struct gb_trusted *list = NULL;
	struct gb_hash hash;
	gb_hash_bytes(text.p, text.n, &hash);
	bool trusted = gb_state_choose(owner->state_dir, dir, NULL) && gb_trusted_read(dir, &list, NULL) &&
		       gb_trusted_has(list, path, &hash);
	gb_trusted_destroy(list);
	return trusted;
}

struct gb_config_sources settings_sources(const struct settings_request *request) {
	return (struct gb_config_sources){.file = request->file,
	    .set = request->set,
	    .n_set = request->n_set,
	    .environment = environ,
	    .no_project = request->no_project,
	    .is_trusted = is_trusted};
}

bool settings_reload(
    const struct settings_request *request, const struct gb_config **config, struct gb_err *err) {
	const struct gb_config_sources sources = settings_sources(request);
	if (request->n_set == SETTINGS_MAX)
		return gb_fail(
		    err, GB_ELIMIT, 0, "--set: more than %d of them; write a file", SETTINGS_MAX - 1);
	return gb_config_reload(&sources, config, err);
}

void settings_warn(const struct command *command, const struct gb_config *config) {
	const char *const *warnings;
	size_t n = gb_config_warnings(config, &warnings);
	for (size_t i = 0; i < n && i < WARNINGS_MAX; i++)
		report_warning(command, "warning: %s", warnings[i]);
	if (n > WARNINGS_MAX)
		report_warning(
		    command, "warning: %zu more are ignored; see 'glovebox config show'", n - WARNINGS_MAX);
}

const struct gb_config *settings_load(const struct command *command, const struct settings_request *request) {
	const struct gb_config *config = NULL;
	struct gb_err err = {0};
	if (settings_reload(request, &config, &err))
		settings_warn(command, config);
	else
		report_error(command, "%s", err.message);
	return config;
}

/* Fails closed: without a filter nothing is run, unless the setting is 'none'. */
bool settings_filter(
    const struct gb_config *config, const char *setting, struct gb_filter **ret, struct gb_err *err) {
	bool of_run = strcmp(setting, "secrets.maskRun") == 0;
	enum gb_config_masking masking = of_run ? config->secrets.mask_run : config->secrets.mask_stdio;
	struct gb_err why = {0};
	if (gb_filter_choose(config, masking, environ, ret, &why))
		return true;
	return gb_fail(err, why.code, 0,
	    "secrets cannot be masked: %s; to continue without masking: --set %s=none", why.message, setting);
}
