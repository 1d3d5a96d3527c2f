/* The policy hash: it changes with every setting that affects what runs, and with no other. */
#include "../tap.h"

#include "../settings.h"
#include "base/cleanup.h"
#include "gate/agent_run.h"

/* The hash of the defaults with one value changed. */
static bool name_with(const struct gb_setting *setting, const char *value, char ret[GB_POLICY_TEXT]) {
	const struct gb_config_sources sources = {.file = "o.yaml", .text = ""};
	const struct gb_config *config = NULL;
	struct gb_arena arena;
	gb_arena_init(&arena, 1 << 20);
	bool ok = gb_config_load(&sources, &config, NULL) &&
		  read_for(setting, value, &arena, (struct gb_config *)config) && gb_policy_name(config, ret);
	gb_config_unref(config);
	gb_arena_finish(&arena);
	return ok;
}

static bool name_of(const char *text, char ret[GB_POLICY_TEXT]) {
	const struct gb_config_sources sources = {.file = "o.yaml", .text = text, .text_bytes = strlen(text)};
	const struct gb_config *config = NULL;
	struct gb_err err = {0};
	bool ok = gb_config_load(&sources, &config, &err) && gb_policy_name(config, ret);
	if (!ok)
		printf("# %s\n# %s\n", text, err.message);
	gb_config_unref(config);
	return ok;
}

TEST(each_setting_changes_the_policy_unless_it_is_apart) {
	for (size_t i = 0; i < gb_settings_count; i++) {
		const struct gb_setting *setting = &gb_settings[i];
		bool is_bool = setting->type == GB_SETTING_BOOL;
		char one[100], two[100], before[400], after[400], old[GB_POLICY_TEXT], fresh[GB_POLICY_TEXT];
		snprintf(one, sizeof one, "true");
		snprintf(two, sizeof two, "false");
		if (!is_bool) {
			value_for(setting, OWNERS, one, sizeof one);
			value_for(setting, LESS, two, sizeof two);
		}
		line_for(setting, one, true, before, sizeof before);
		line_for(setting, two, true, after, sizeof after);
		if (!CHECK(setting->unavailable
			       ? name_with(setting, one, old) && name_with(setting, two, fresh)
			       : name_of(before, old) && name_of(after, fresh)))
			continue;
		if (!CHECK_INT(strcmp(old, fresh) == 0, setting->apart))
			printf("# %s\n", setting->name);
	}
}

/* A change of this list must be deliberate. */
TEST(settings_that_do_not_change_the_policy) {
	static const char *const prefixes[] = {"agent.maxConcurrent", "agent.callsPerTurn",
	    "core.callsPerTurn", "approvals.timeout", "sessions.", "service.", "energy.", "audit.",
	    "secrets.mask", "mcp.heartbeat"};
	for (size_t i = 0; i < gb_settings_count; i++) {
		bool listed = false;
		for (size_t k = 0; k < GB_COUNT(prefixes); k++)
			listed |= strncmp(gb_settings[i].name, prefixes[k], strlen(prefixes[k])) == 0;
		if (!CHECK_INT(gb_settings[i].apart, listed))
			printf("# %s\n", gb_settings[i].name);
	}
}
