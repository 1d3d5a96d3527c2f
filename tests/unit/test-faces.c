/* The table of faces: its rules, and the documentation of them. */
#include "../tap.h"

#include "base/cleanup.h"
#include "config/settings.h"
#include "gate/faces.h"

static const struct gb_config *defaults(void) {
	const struct gb_config_sources sources = {.file = "f.yaml", .text = ""};
	const struct gb_config *config = NULL;
	if (!gb_config_load(&sources, &config, NULL))
		abort();
	return config;
}

TEST(names_are_found) {
	for (unsigned i = 0; i < GB_FACE_COUNT; i++) {
		enum gb_face face = GB_FACE_COUNT;
		CHECK(gb_face_find(gb_face_name((enum gb_face)i), &face));
		CHECK_INT(face, i);
	}
	enum gb_face face = GB_FACE_COUNT;
	CHECK(!gb_face_find("cli", &face));
	CHECK_STR(gb_face_name(GB_FACE_COUNT), "?");
}

TEST(only_run_code_bypasses_the_gate) {
	for (unsigned i = 0; i < GB_FACE_COUNT; i++) {
		const struct gb_face_rules *rules = gb_face_rules((enum gb_face)i);
		CHECK_INT(rules->gated, i != GB_FACE_RUN_CODE);
		CHECK_INT(rules->guard, rules->gated);
		CHECK_INT(rules->approval != GB_FACE_ASKS_NEVER, rules->gated);
	}
}

TEST(embedder_may_decide_for_executor_and_actions_only) {
	for (unsigned i = 0; i < GB_FACE_COUNT; i++)
		CHECK_INT(gb_face_embedder_may_decide((enum gb_face)i),
		    i == GB_FACE_EXECUTOR || i == GB_FACE_ACTIONS);
}

TEST(only_core_execute_costs_energy_by_default) {
	const struct gb_config *config = defaults();
	for (unsigned i = 0; i < GB_FACE_COUNT; i++) {
		CHECK_INT(gb_face_is_charged((enum gb_face)i, config), i == GB_FACE_CORE_EXECUTE);
		CHECK(!gb_config_is_waived(config, (enum gb_face)i));
	}
	gb_config_unref(config);
}

TEST(calls_per_turn_are_those_of_the_setting) {
	const struct gb_config *config = defaults();
	const char *setting = NULL;
	CHECK_INT(gb_face_calls_per_turn(GB_FACE_CORE_EXECUTE, config, &setting), 1);
	CHECK_STR(setting, "core.callsPerTurn");
	CHECK_INT(gb_face_calls_per_turn(GB_FACE_EXECUTE_CODE, config, &setting), 25);
	CHECK_STR(setting, "agent.callsPerTurn");
	gb_config_unref(config);
}

/* --- limits --- */

struct limited {
	enum gb_face face;
	enum gb_tier tier;
	uint64_t asked_ms;   /* 0: none */
	uint64_t allowed_ms; /* to all agents */
	uint64_t timeout_ms; /* the result */
	uint64_t result, memory, output;
};

TEST(limits_of_each_face) {
	enum { LARGE = 1 << 30 };
	static const struct limited cases[] = {
	    {GB_FACE_EXECUTE_CODE, GB_TIER_ISOLATED, 0, 180000, 180000, LARGE, LARGE, LARGE},
	    {GB_FACE_EXECUTE_CODE, GB_TIER_ISOLATED, 7, 7, 7, LARGE, LARGE, LARGE},
	    {GB_FACE_CORE_EXECUTE, GB_TIER_ISOLATED, 60000, 60000, 5000, 32 << 10, LARGE, LARGE},
	    {GB_FACE_CORE_EXECUTE, GB_TIER_ISOLATED, 0, 180000, 5000, 32 << 10, LARGE, LARGE},
	    {GB_FACE_CORE_EXECUTE, GB_TIER_ISOLATED, 1, 1, 100, 32 << 10, LARGE, LARGE},
	    {GB_FACE_CORE_EXECUTE, GB_TIER_NETWORK, 60000, 60000, 30000, 32 << 10, LARGE, LARGE},
	    {GB_FACE_EXECUTOR, GB_TIER_ISOLATED, 0, 180000, 60000, LARGE, LARGE, LARGE},
	    {GB_FACE_EXECUTOR, GB_TIER_NETWORK, 90000, 90000, 60000, LARGE, LARGE, LARGE},
	    {GB_FACE_EXECUTOR, GB_TIER_ISOLATED, 50, 50, 50, LARGE, LARGE, LARGE},
	    {GB_FACE_ACTIONS, GB_TIER_ISOLATED, 0, 180000, 30000, LARGE, 256 << 20, 64 << 10},
	    {GB_FACE_ACTIONS, GB_TIER_ISOLATED, 90000, 90000, 90000, LARGE, 256 << 20, 64 << 10},
	    {GB_FACE_ACTIONS, GB_TIER_ISOLATED, 0, 20000, 20000, LARGE, 256 << 20, 64 << 10},
	};
	const struct gb_config *config = defaults();
	for (size_t i = 0; i < GB_COUNT(cases); i++) {
		const struct limited *c = &cases[i];
		const struct gb_run_options asked = {.timeout_ms = c->asked_ms};
		struct gb_run_options options = {.timeout_ms = c->allowed_ms,
		    .memory_bytes = LARGE,
		    .output_bytes = LARGE,
		    .result_bytes = LARGE};
		gb_face_limit(c->face, config, c->tier, &asked, &options);
		if (!(CHECK_INT(options.timeout_ms, c->timeout_ms) &&
			CHECK_INT(options.result_bytes, c->result) &&
			CHECK_INT(options.memory_bytes, c->memory) &&
			CHECK_INT(options.output_bytes, c->output)))
			printf("# case %zu\n", i);
	}
	gb_config_unref(config);
}

/* --- docs/APPROVALS.md --- */

static void write_setting(struct gb_buf *out, size_t offset, const char *before) {
	const struct gb_setting *setting = offset ? gb_setting_at(offset) : NULL;
	if (setting)
		gb_buf_printf(out, "%s`%s`", before, setting->name);
}

static void write_limit(struct gb_buf *out, const struct gb_face_limit *limit, const char *what) {
	gb_auto_buf struct gb_buf text;
	gb_buf_init(&text, 1000);
	write_setting(&text, limit->usual, " default ");
	write_setting(&text, limit->max, " at most ");
	if (limit->max_network != limit->max)
		write_setting(&text, limit->max_network, ", network ");
	if (limit->min)
		gb_buf_printf(&text, ", at least %llu ms", (unsigned long long)limit->min);
	if (text.len)
		gb_buf_printf(out, "%s%s%s", out->len ? "; " : "", what, gb_buf_c_str(&text));
}

/* The row of a face, as the documentation has it. */
static void write_row(struct gb_buf *out, enum gb_face face, const struct gb_config *config) {
	static const char *const approvals[] = {[GB_FACE_ASKS_NEVER] = "no",
	    [GB_FACE_ASKS_UNLESS_WAIVED] = "unless waived",
	    [GB_FACE_ASKS_UNLESS_EMBEDDER] = "unless waived, or the embedding program decides"};
	const struct gb_face_rules *rules = gb_face_rules(face);
	const char *gated = rules->gated ? "yes" : "no";
	gb_auto_buf struct gb_buf limits;
	gb_buf_init(&limits, 4096);
	write_limit(&limits, &rules->timeout, "time");
	write_limit(&limits, &rules->memory, "memory");
	write_limit(&limits, &rules->output, "output");
	write_limit(&limits, &rules->result, "result");
	gb_buf_printf(out, "| `%s` | %s | %s | %s | %s | %s | ", gb_face_name(face),
	    rules->enabled_by_embedder ? "or the embedding program decides" : gated,
	    approvals[rules->approval], rules->guard ? "yes" : "no",
	    gb_face_is_charged(face, config) ? "by default"
	    : rules->gated                   ? "if set"
					     : "no",
	    gated);
	write_setting(out, rules->calls_per_turn, "");
	gb_buf_printf(out, " | %s |\n", limits.len ? gb_buf_c_str(&limits) : "");
}

TEST(documentation_has_the_table) {
	gb_auto_buf struct gb_buf page;
	char path[1000], line[4096];
	gb_buf_init(&page, 1 << 20);
	snprintf(path, sizeof path, "%s/../../docs/APPROVALS.md", getenv("GB_TEST_DATA"));
	FILE *file = fopen(path, "re");
	while (file && fgets(line, sizeof line, file))
		gb_buf_printf(&page, "%s", line);
	if (file)
		fclose(file);
	const struct gb_config *config = defaults();
	for (unsigned i = 0; i < GB_FACE_COUNT; i++) {
		gb_auto_buf struct gb_buf row;
		gb_buf_init(&row, 8192);
		write_row(&row, (enum gb_face)i, config);
		if (!CHECK(page.len && strstr(gb_buf_c_str(&page), gb_buf_c_str(&row))))
			printf("# expected: %s", gb_buf_c_str(&row));
	}
	gb_config_unref(config);
}
