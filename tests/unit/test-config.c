#include "../tap.h"

#include <ctype.h>

#include "../table.h"
#include "base/cleanup.h"
#include "config/settings.h"
#include "config/values.h"

/* The three sources of one test record. */
struct given {
	struct gb_buf text;
	char *environment[4];
	const char *set[4];
	struct gb_config_sources sources;
};

static void given_init(struct given *given, const struct record *record) {
	unsigned n_env = 1;
	*given = (struct given){.environment = {(char *)"HOME=/home/somebody"}};
	gb_buf_init(&given->text, 1 << 20);
	for (unsigned i = 0; i < record->n; i++) {
		char *name = record->lines[i], *text = name + strlen(name) + 1;
		if (strcmp(name, "yaml") == 0)
			gb_buf_printf(&given->text, "%s\n", text);
		if (strcmp(name, "env") == 0)
			given->environment[n_env++] = text;
		if (strcmp(name, "set") == 0)
			given->set[given->sources.n_set++] = text;
	}
	given->sources.set = given->set;
	given->sources.environment = given->environment;
	given->sources.file = "f.yaml";
	given->sources.text = given->text.len ? given->text.data : "";
	given->sources.text_bytes = given->text.len;
}

static void where(const struct gb_config_origin *origin, char ret[100]) {
	if (origin->layer == GB_CONFIG_FILE)
		snprintf(ret, 100, "%u", origin->line);
	else if (origin->layer == GB_CONFIG_ENVIRONMENT)
		snprintf(ret, 100, "$%s", origin->place);
	else
		snprintf(ret, 100, "%s",
		    origin->layer == GB_CONFIG_FLAG ? "--set"
		    : origin->lowered               ? "lowered"
						    : "default");
}

static void check_value(const struct record *record) {
	struct given given;
	const struct gb_config *config = NULL;
	struct gb_err err = {0};
	enum gb_setting_unit unit;
	given_init(&given, record);
	const struct gb_setting *setting = gb_setting_find(record_get(record, "setting"), &unit);
	bool loaded = gb_config_load(&given.sources, &config, &err);
	CHECK_STR(err.message, "");
	if (CHECK(loaded && setting)) {
		gb_auto_buf struct gb_buf text;
		char from[100];
		gb_buf_init(&text, 1 << 20);
		gb_setting_write(setting, config, &text);
		CHECK_STR(gb_buf_c_str(&text), record_get(record, "value"));
		where(gb_config_origin(config, setting), from);
		CHECK_STR(from, record_get(record, "from"));
	}
	gb_config_unref(config);
	gb_buf_finish(&given.text);
}

TEST(values_by_name_alias_and_source) {
	CHECK_INT(table_each("config/values.txt", check_value), 50);
}

static void check_error(const struct record *record) {
	struct given given;
	const struct gb_config *config = NULL;
	struct gb_err err = {0};
	given_init(&given, record);
	CHECK(!gb_config_load(&given.sources, &config, &err));
	CHECK(!config);
	CHECK_STR(err.message, record_get(record, "err"));
	gb_config_unref(config);
	gb_buf_finish(&given.text);
}

TEST(errors_name_their_place) {
	CHECK_INT(table_each("config/errors.txt", check_error), 91);
}

/* The value is refused; the parser of its type is tested directly. */
static void check_unavailable(const struct record *record) {
	struct given given;
	const struct gb_config *config = NULL;
	struct gb_config read_into = {0};
	struct gb_err err = {0};
	struct gb_str rest = gb_str_from(record_get(record, "set")), head;
	char name[GB_SETTING_NAME_MAX], expected[300];
	gb_str_cut(&rest, '=', &head);
	snprintf(name, sizeof name, "%.*s", (int)head.n, head.p);
	given_init(&given, record);
	CHECK(!gb_config_load(&given.sources, &config, &err));
	snprintf(expected, sizeof expected,
	    "--set: %s: not yet available; leave it out, or at its default, %s", name,
	    record_get(record, "default"));
	CHECK_STR(err.message, expected);
	struct gb_arena arena;
	gb_auto_buf struct gb_buf text;
	gb_arena_init(&arena, 1 << 20);
	gb_buf_init(&text, 1 << 20);
	struct gb_setting_read read = {.arena = &arena};
	read.setting = gb_setting_find(name, &read.unit);
	if (CHECK(read.setting && read.setting->unavailable) &&
	    CHECK(gb_setting_read_text(&read, rest.p, &read_into))) {
		CHECK_STR(read.setting->name, record_get(record, "setting"));
		gb_setting_write(read.setting, &read_into, &text);
		CHECK_STR(gb_buf_c_str(&text), record_get(record, "value"));
	}
	gb_arena_finish(&arena);
	gb_config_unref(config);
	gb_buf_finish(&given.text);
}

TEST(unavailable_settings_are_refused) {
	CHECK_INT(table_each("config/unavailable.txt", check_unavailable), 2);
}

/* A setting becomes available together with the feature that uses it. */
TEST(unavailable_settings_are_those_of_missing_features) {
	static const char *const prefixes[] = {"core.maxNetwork", "e2b."};
	for (size_t i = 0; i < gb_settings_count; i++) {
		bool listed = false;
		for (size_t k = 0; k < GB_COUNT(prefixes); k++)
			listed |= strncmp(gb_settings[i].name, prefixes[k], strlen(prefixes[k])) == 0;
		if (!CHECK_INT(gb_settings[i].unavailable, listed))
			printf("# %s\n", gb_settings[i].name);
	}
}

/* --- the table --- */

static bool load_text(const char *text, const struct gb_config **ret, struct gb_err *err) {
	const struct gb_config_sources sources = {.file = "f.yaml", .text = text, .text_bytes = strlen(text)};
	return gb_config_load(&sources, ret, err);
}

TEST(names_and_variables_are_unique) {
	for (size_t i = 0; i < gb_settings_count; i++) {
		char one[GB_SETTING_NAME_MAX], two[GB_SETTING_NAME_MAX];
		enum gb_setting_unit unit;
		const struct gb_setting *setting = &gb_settings[i];
		CHECK(gb_setting_find(setting->name, &unit) == setting);
		CHECK(!gb_setting_is_section(setting->name));
		for (unsigned k = 0; k < GB_SETTING_ALIASES && setting->aliases[k].name; k++) {
			CHECK(gb_setting_find(setting->aliases[k].name, &unit) == setting);
			CHECK(!gb_setting_is_section(setting->aliases[k].name));
		}
		gb_setting_variable(setting, one);
		for (size_t k = 0; k < i; k++) {
			gb_setting_variable(&gb_settings[k], two);
			CHECK(strcmp(one, two) != 0);
			CHECK(setting->offset != gb_settings[k].offset);
		}
	}
}

TEST(every_setting_has_one_line_of_help) {
	for (size_t i = 0; i < gb_settings_count; i++) {
		const char *help = gb_settings[i].help;
		CHECK(help && *help && !strchr(help, '\n') && !strchr(help, '|') && strlen(help) < 110);
		CHECK(help && help[strlen(help) - 1] != '.');
		CHECK(!gb_settings[i].at_most ||
		      gb_setting_find(gb_settings[i].at_most, &(enum gb_setting_unit){0}));
	}
}

TEST(defaults_are_the_documented_ones) {
	const struct gb_config *config = NULL;
	if (!CHECK(load_text("", &config, NULL)))
		return;
	CHECK(!config->agent.enabled && !config->agent.auto_approve && config->agent.persistent_sessions);
	CHECK_INT(config->agent.max_execution_ms, 180000);
	CHECK_INT(config->agent.max_output_bytes, 1048576);
	CHECK_INT(config->agent.max_code_bytes, 51200);
	CHECK_INT(config->agent.max_concurrent_sessions, 5);
	CHECK_INT(config->core.max_timeout_ms, 5000);
	CHECK_INT(config->core.max_network_timeout_ms, 30000);
	CHECK_INT(config->core.max_result_bytes, 32768);
	CHECK_INT(config->core.calls_per_turn, 1);
	CHECK_INT(config->actions.timeout_ms, 30000);
	CHECK_INT(config->actions.memory_bytes, 256 << 20);
	CHECK_INT(config->actions.output_bytes, 65536);
	CHECK_INT(config->actions.mode, GB_CONFIG_RESTRICTED);
	CHECK(config->energy.cost_isolated == 0.05 && config->energy.cost_network == 0.15);
	CHECK(config->energy.gate == 0.15 && config->energy.gate_network == 0.3);
	CHECK_INT(config->network.allowlist.n, 0);
	CHECK_INT(config->approvals.waive, 0);
	CHECK_INT(config->energy.faces, 1u << GB_FACE_CORE_EXECUTE);
	CHECK_STR(config->e2b.key_variable, "E2B_API_KEY");
	CHECK(!gb_config_file(config) || strcmp(gb_config_file(config), "f.yaml") == 0);
	gb_config_unref(config);
}

/* All values, one per line. */
static void write_all(const struct gb_config *config, struct gb_buf *out) {
	for (size_t i = 0; i < gb_settings_count; i++) {
		gb_buf_printf(out, "%s: ", gb_settings[i].name);
		gb_setting_write(&gb_settings[i], config, out);
		gb_buf_append_char(out, '\n');
	}
}

TEST(written_values_are_read_back_unchanged) {
	const struct gb_config *defaults = NULL, *again = NULL;
	struct gb_err err = {0};
	gb_auto_buf struct gb_buf one, two;
	gb_buf_init(&one, 1 << 20);
	gb_buf_init(&two, 1 << 20);
	if (!CHECK(load_text("", &defaults, NULL)))
		return;
	write_all(defaults, &one);
	if (CHECK(load_text(gb_buf_c_str(&one), &again, &err)))
		write_all(again, &two);
	CHECK_STR(err.message, "");
	CHECK_STR(gb_buf_c_str(&two), gb_buf_c_str(&one));
	gb_config_unref(again);
	gb_config_unref(defaults);
}

/* Remove the "#" of "#key: value"; comments for readers have a space after it. */
static void uncomment(const char *text, struct gb_buf *out) {
	for (bool leading = true; *text; text++) {
		bool drop = leading && *text == '#' && isalpha((unsigned char)text[1]);
		leading = *text == '\n' || (leading && *text == ' ');
		if (!drop)
			gb_buf_append_char(out, *text);
	}
}

TEST(template_contains_the_defaults) {
	const struct gb_config *as_it_is = NULL, *taken = NULL;
	struct gb_err err = {0};
	gb_auto_buf struct gb_buf text, bare, one, two;
	gb_buf_init(&text, 1 << 20);
	gb_buf_init(&bare, 1 << 20);
	gb_buf_init(&one, 1 << 20);
	gb_buf_init(&two, 1 << 20);
	gb_settings_write_template(&text);
	uncomment(gb_buf_c_str(&text), &bare);
	if (CHECK(load_text(gb_buf_c_str(&text), &as_it_is, &err)))
		write_all(as_it_is, &one);
	if (CHECK(load_text(gb_buf_c_str(&bare), &taken, &err)))
		write_all(taken, &two);
	CHECK_STR(err.message, "");
	CHECK_STR(gb_buf_c_str(&one), gb_buf_c_str(&two));
	for (size_t i = 0; taken && i < gb_settings_count; i++)
		CHECK_INT(gb_config_origin(taken, &gb_settings[i])->layer, GB_CONFIG_FILE);
	gb_config_unref(as_it_is);
	gb_config_unref(taken);
}

/* --- bounds --- */

TEST(file_that_is_too_large_is_refused) {
	gb_auto_buf struct gb_buf text;
	gb_buf_init(&text, 1 << 20);
	while (text.len < 300 << 10)
		gb_buf_printf(&text, "# nothing\n");
	const struct gb_config *config = NULL;
	struct gb_err err = {0};
	CHECK(!load_text(gb_buf_c_str(&text), &config, &err));
	CHECK_INT(err.code, GB_ELIMIT);
}

TEST(many_values_and_long_lists_are_refused) {
	const struct gb_config *config = NULL;
	struct gb_err err = {0};
	gb_auto_buf struct gb_buf text;
	gb_buf_init(&text, 1 << 20);
	gb_buf_printf(&text, "network:\n  allowlist: [a");
	for (int i = 0; i < 256; i++)
		gb_buf_printf(&text, ", a");
	gb_buf_printf(&text, "]\n");
	CHECK(!load_text(gb_buf_c_str(&text), &config, &err));
	CHECK_STR(err.message, "f.yaml:2:14: network.allowlist: more than 256 items");
	gb_buf_clear(&text);
	gb_buf_printf(&text, "network: {allowlist: [a");
	for (int i = 0; i < 30000; i++)
		gb_buf_printf(&text, ",a");
	CHECK(!load_text(gb_buf_c_str(&text), &config, &err));
	CHECK(strstr(err.message, "too many values"));
	gb_buf_clear(&text);
	gb_buf_printf(&text, "python:\n  profiles:\n");
	for (int i = 0; i < 33; i++)
		gb_buf_printf(&text, "    p%d: []\n", i);
	CHECK(!load_text(gb_buf_c_str(&text), &config, &err));
	CHECK_STR(err.message, "f.yaml:3:5: python.profiles: more than 32 items");
}

/* Nested aliases: the tree must not grow exponentially. */
TEST(nested_yaml_aliases_are_not_expanded) {
	const struct gb_config *config = NULL;
	struct gb_err err = {0};
	gb_auto_buf struct gb_buf text;
	gb_buf_init(&text, 1 << 20);
	gb_buf_printf(&text, "stateDir:\n  - &a0 [x,x,x,x,x,x,x,x,x]\n");
	for (int i = 1; i < 10; i++)
		gb_buf_printf(&text, "  - &a%d [*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d]\n", i, i - 1,
		    i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
	CHECK(!load_text(gb_buf_c_str(&text), &config, &err));
	CHECK_STR(err.message, "f.yaml:2:3: stateDir: expected an absolute path, found a list");
}

/* --- reloading --- */

TEST(failed_reload_keeps_the_old_snapshot) {
	const struct gb_config *config = NULL;
	struct gb_err err = {0};
	if (!CHECK(load_text("agent: {enabled: true}", &config, &err)))
		return;
	const struct gb_config *held = gb_config_ref(config);
	struct gb_config_sources sources = {
	    .file = "f.yaml", .text = "agent: {enabled: 17}", .text_bytes = strlen("agent: {enabled: 17}")};
	CHECK(!gb_config_reload(&sources, &config, &err));
	CHECK(config == held && config->agent.enabled);
	sources.text = "sessions: {max: 3}";
	sources.text_bytes = strlen(sources.text);
	CHECK(gb_config_reload(&sources, &config, &err));
	CHECK(config != held && !config->agent.enabled);
	CHECK_INT(config->sessions.max, 3);
	CHECK(held->agent.enabled && held->sessions.max == 64);
	gb_config_unref(held);
	gb_config_unref(config);
	gb_config_unref(NULL);
}

TEST(runtimes_have_names) {
	CHECK_STR(gb_config_runtime_name(GB_CONFIG_JAVASCRIPT), "javascript");
	CHECK_STR(gb_config_runtime_name(GB_CONFIG_DENO), "deno");
	CHECK_STR(gb_config_runtime_name((enum gb_config_runtime)99), "?");
}
