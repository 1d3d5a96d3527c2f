/* The project file: it can only tighten the owner's settings. */
#include "../tap.h"

#include "../settings.h"
#include "base/cleanup.h"
#include "config/settings.h"

struct trial {
	const char *owner, *project;
	bool trusted;
	unsigned n_asked;
	char state_dir[100];
};

static bool on_asked(const struct gb_config *owner, const char *path, struct gb_str text, void *data) {
	struct trial *trial = data;
	trial->n_asked++;
	snprintf(trial->state_dir, sizeof trial->state_dir, "%s", owner->state_dir);
	CHECK(gb_str_eq(text, gb_str_from(trial->project)));
	CHECK(!gb_config_project(owner));
	return trial->trusted;
}

static const struct gb_config *load_with(struct trial *trial, char *const *environment) {
	const struct gb_config_sources sources = {.file = "o.yaml",
	    .text = trial->owner,
	    .text_bytes = strlen(trial->owner),
	    .project_text = trial->project,
	    .project_bytes = strlen(trial->project),
	    .environment = environment,
	    .is_trusted = on_asked,
	    .data = trial};
	const struct gb_config *config = NULL;
	struct gb_err err = {0};
	if (!CHECK(gb_config_load(&sources, &config, &err)))
		printf("# %s\n# %s# %s", err.message, trial->owner, trial->project);
	return config;
}

static const char *text_of(
    const struct gb_setting *setting, const struct gb_config *config, struct gb_buf *buf) {
	gb_buf_clear(buf);
	gb_setting_write(setting, config, buf);
	return gb_buf_c_str(buf);
}

/* Load the owner's and the project's value; @applies: the project's value is the result. */
static void check_trial(
    const struct gb_setting *setting, const char *owner, const char *project, bool applies) {
	char owners[400], projects[400], alike[400]; /* the project's value in the owner's file */
	gb_auto_buf struct gb_buf before, given, after;
	gb_buf_init(&before, 4096);
	gb_buf_init(&given, 4096);
	gb_buf_init(&after, 4096);
	line_for(setting, owner, true, owners, sizeof owners);
	line_for(setting, project, false, projects, sizeof projects);
	line_for(setting, project, true, alike, sizeof alike);
	for (int trusted = 0; trusted < 2; trusted++) {
		struct trial alone = {.owner = owners, .project = ""}, all = {.owner = alike, .project = ""};
		struct trial trial = {.owner = owners, .project = projects, .trusted = trusted};
		const struct gb_config *base = load_with(&alone, NULL), *full = load_with(&all, NULL);
		const struct gb_config *config = load_with(&trial, NULL);
		if (!base || !full || !config)
			return;
		const char *const *warnings;
		bool taken = applies || trusted;
		bool ok = CHECK_STR(text_of(setting, config, &after),
		    taken ? text_of(setting, full, &given) : text_of(setting, base, &before));
		ok = CHECK_INT(gb_config_warnings(config, &warnings), taken ? 0 : 1) && ok;
		ok = CHECK_INT(gb_config_origin(config, setting)->layer,
			 taken ? GB_CONFIG_PROJECT : GB_CONFIG_FILE) &&
		     ok;
		ok = CHECK(taken || strstr(warnings[0], setting->name)) && ok;
		ok = CHECK_INT(trial.n_asked, applies ? 0 : 1) && ok;
		if (!ok)
			printf("# %s: %s, then %s\n", setting->name, owner, project);
		gb_config_unref(base);
		gb_config_unref(full);
		gb_config_unref(config);
	}
}

/* The same for a setting that no file can set yet. */
static void check_unavailable(
    const struct gb_setting *setting, const char *owner, const char *project, bool applies) {
	struct gb_config before = {0}, given = {0};
	struct gb_arena arena;
	gb_arena_init(&arena, 1 << 20);
	bool ok =
	    CHECK(read_for(setting, owner, &arena, &before) && read_for(setting, project, &arena, &given));
	if (!ok || !CHECK_INT(gb_setting_may(setting, &before, &given), applies))
		printf("# %s: %s, then %s\n", setting->name, owner, project);
	gb_arena_finish(&arena);
}

TEST(project_file_can_tighten_each_setting_and_never_loosen_it) {
	unsigned n_tried = 0;
	for (size_t i = 0; i < gb_settings_count; i++) {
		const struct gb_setting *setting = &gb_settings[i];
		char owner[100], less[100], more[100];
		void (*check)(const struct gb_setting *, const char *, const char *, bool) =
		    setting->unavailable ? check_unavailable : check_trial;
		if (setting->type == GB_SETTING_BOOL) {
			check(setting, "true", "false", setting->project == GB_PROJECT_LOWER);
			check(setting, "false", "true", setting->project == GB_PROJECT_HIGHER);
			n_tried++;
			continue;
		}
		value_for(setting, OWNERS, owner, sizeof owner);
		value_for(setting, LESS, less, sizeof less);
		value_for(setting, MORE, more, sizeof more);
		if (setting->project == GB_PROJECT_ADD)
			continue;
		check(setting, owner, less,
		    setting->project == GB_PROJECT_LOWER || setting->project == GB_PROJECT_SUBSET);
		check(setting, owner, more, setting->project == GB_PROJECT_HIGHER);
		check(setting, owner, owner, true);
		n_tried++;
	}
	CHECK_INT(n_tried, gb_settings_count - 3); /* guard.javascript, guard.shell, energy.faces */
}

/* A change of what a project file may do must be made here as well. */
TEST(settings_that_a_project_file_cannot_set) {
	static const char *const never[] = {"stateDir", "executor.workingDir", "e2b.apiKey",
	    "secrets.patterns", "secrets.environment", "audit.directory", "audit.maxAge", "audit.maxSize",
	    "programs.shell", "programs.node", "programs.deno", "programs.nodePackages", "python.profiles",
	    "energy.initial", "energy.maximum", "energy.rechargePerHour", "mcp.heartbeat", "network.proxy",
	    "network.authorities"};
	size_t n = 0;
	for (size_t i = 0; i < gb_settings_count; i++)
		n += gb_settings[i].project == GB_PROJECT_NEVER;
	CHECK_INT(n, GB_COUNT(never));
	for (size_t i = 0; i < GB_COUNT(never); i++)
		CHECK_INT(gb_setting_find(never[i], &(enum gb_setting_unit){0})->project, GB_PROJECT_NEVER);
}

TEST(settings_that_a_project_file_may_raise) {
	static const char *const raised[] = {"energy.enabled", "energy.costIsolated", "energy.costNetwork",
	    "energy.gate", "energy.gateNetwork", "guard.enabled", "python.restricted", "shell.restricted"};
	size_t n = 0;
	for (size_t i = 0; i < gb_settings_count; i++)
		n += gb_settings[i].project == GB_PROJECT_HIGHER;
	CHECK_INT(n, GB_COUNT(raised));
	for (size_t i = 0; i < GB_COUNT(raised); i++)
		CHECK_INT(gb_setting_find(raised[i], &(enum gb_setting_unit){0})->project, GB_PROJECT_HIGHER);
}

TEST(project_file_adds_to_lists_of_what_is_refused_or_charged) {
	gb_auto_buf struct gb_buf text;
	gb_buf_init(&text, 4096);
	for (size_t i = 0; i < gb_settings_count; i++) {
		const struct gb_setting *setting = &gb_settings[i];
		bool faces = setting->type == GB_SETTING_FACES;
		char owner[200], project[200];
		if (setting->project != GB_PROJECT_ADD)
			continue;
		line_for(setting, faces ? "[executor, actions]" : "[aa, bb]", false, owner, sizeof owner);
		line_for(
		    setting, faces ? "[actions, execute_code]" : "[bb, cc]", false, project, sizeof project);
		for (int trusted = 0; trusted < 2; trusted++) {
			struct trial trial = {.owner = owner, .project = project, .trusted = trusted};
			const struct gb_config *config = load_with(&trial, NULL);
			CHECK_STR(text_of(setting, config, &text),
			    faces ? "[executor, actions, execute_code]" : "[aa, bb, cc]");
			CHECK_INT(trial.n_asked, 0);
			gb_config_unref(config);
		}
	}
}

TEST(project_file_cannot_move_code_from_e2b_to_this_machine) {
	const struct gb_setting *mode = gb_setting_find("actions.mode", &(enum gb_setting_unit){0});
	check_trial(mode, "e2b", "restricted", false);
}

TEST(warning_names_place_setting_and_remedy) {
	struct trial trial = {
	    .owner = "", .project = "sessions: {max: 2}\nagent:\n  enabled: false\n  autoApprove: true\n"};
	const struct gb_config *config = load_with(&trial, NULL);
	const char *const *warnings;
	CHECK_INT(gb_config_warnings(config, &warnings), 1);
	CHECK_STR(warnings[0], "./glovebox.yaml:4:3: agent.autoApprove is ignored: a project file may only "
			       "set it to false; if you "
			       "trust this file: glovebox config trust");
	CHECK(!config->agent.auto_approve);
	CHECK_INT(config->sessions.max, 2);
	CHECK_STR(gb_config_project(config), "./glovebox.yaml");
	gb_config_unref(config);
}

TEST(alias_of_a_setting_grants_nothing_either) {
	struct trial trial = {.owner = "",
	    .project = "security: {codeExecution: {autoApprove: true, maxExecutionTime: 200000}}\n"};
	const struct gb_config *config = load_with(&trial, NULL);
	const char *const *warnings;
	CHECK_INT(gb_config_warnings(config, &warnings), 2);
	CHECK(!config->agent.auto_approve && config->agent.max_execution_ms == 180000);
	gb_config_unref(config);
}

TEST(project_file_cannot_choose_the_folder_of_trusted_files) {
	char *environment[] = {(char *)"GLOVEBOX_STATE_DIR=/of/environment", NULL};
	struct trial trial = {
	    .owner = "stateDir: /of/owner", .project = "stateDir: /of/project\nagent: {enabled: true}"};
	gb_config_unref(load_with(&trial, NULL));
	CHECK_STR(trial.state_dir, "/of/owner");
	gb_config_unref(load_with(&trial, environment));
	CHECK_STR(trial.state_dir, "/of/environment");
	CHECK_INT(trial.n_asked, 2);
}

TEST(environment_overrides_the_project_file) {
	char *environment[] = {(char *)"GLOVEBOX_SESSIONS_MAX=40", NULL};
	struct trial trial = {.owner = "", .project = "sessions: {max: 2}"};
	const struct gb_config *config = load_with(&trial, environment);
	CHECK_INT(config->sessions.max, 40);
	gb_config_unref(config);
}

TEST(maximum_in_one_file_lowers_the_value_in_the_other) {
	struct trial maximum = {
	    .owner = "limits: {python: {timeout: 20s}}", .project = "limits: {python: {maxTimeout: 2s}}"};
	struct trial value = {
	    .owner = "limits: {python: {maxTimeout: 2s}}", .project = "limits: {python: {timeout: 20s}}"};
	struct trial *const trials[] = {&maximum, &value};
	enum gb_setting_unit unit;
	for (size_t i = 0; i < GB_COUNT(trials); i++) {
		const struct gb_config *config = load_with(trials[i], NULL);
		CHECK_INT(config->limits[GB_CONFIG_PYTHON].timeout_ms, 2000);
		CHECK(gb_config_origin(config, gb_setting_find("limits.python.timeout", &unit))->lowered);
		gb_config_unref(config);
	}
}

TEST(mistake_in_a_project_file_is_an_error) {
	static const char text[] = "agent: {autoApprove: true}\nsessions: {max: many}\n";
	const struct gb_config_sources sources = {
	    .file = "o.yaml", .text = "", .project_text = text, .project_bytes = sizeof text - 1};
	const struct gb_config *config = NULL;
	struct gb_err err = {0};
	CHECK(!gb_config_load(&sources, &config, &err));
	CHECK_STR(err.message, "./glovebox.yaml:2:17: sessions.max: expected a whole number, found 'many'");
}

TEST(unavailable_setting_in_a_project_file_is_an_error) {
	static const char text[] = "core: {maxNetworkTimeout: 3s}\n";
	const struct gb_config_sources sources = {
	    .file = "o.yaml", .text = "", .project_text = text, .project_bytes = sizeof text - 1};
	const struct gb_config *config = NULL;
	struct gb_err err = {0};
	CHECK(!gb_config_load(&sources, &config, &err));
	CHECK_STR(err.message,
	    "./glovebox.yaml:1:8: core.maxNetworkTimeout: not yet available; leave it out, or "
	    "at its default, 30s");
}
