#include "gate/faces.h"

#include "config/settings.h"

#define AT(field) offsetof(struct gb_config, field)

static const struct gb_face_rules faces[GB_FACE_COUNT] = {
    [GB_FACE_RUN_CODE] = {.approval = GB_FACE_ASKS_NEVER},
    [GB_FACE_CORE_EXECUTE] = {.gated = true,
	.guard = true,
	.is_body = true,
	.intent = "RUN_CODE",
	.approval = GB_FACE_ASKS_UNLESS_WAIVED,
	.calls_per_turn = AT(core.calls_per_turn),
	.timeout = {.max = AT(core.max_timeout_ms),
	    .max_network = AT(core.max_network_timeout_ms),
	    .min = 100},
	.result = {.max = AT(core.max_result_bytes), .max_network = AT(core.max_result_bytes)}},
    [GB_FACE_EXECUTOR] = {.gated = true,
	.guard = true,
	.with_tools = true,
	.counts_output = true,
	.approval = GB_FACE_ASKS_UNLESS_EMBEDDER,
	.calls_per_turn = AT(agent.calls_per_turn),
	.timeout = {.max = AT(executor.timeout_ms), .max_network = AT(executor.timeout_ms)}},
    [GB_FACE_ACTIONS] = {.gated = true,
	.guard = true,
	.approval = GB_FACE_ASKS_UNLESS_EMBEDDER,
	.is_action = true,
	.enabled_by_embedder = true,
	.calls_per_turn = AT(agent.calls_per_turn),
	.timeout = {.usual = AT(actions.timeout_ms)},
	.memory = {.usual = AT(actions.memory_bytes)},
	.output = {.usual = AT(actions.output_bytes)}},
    [GB_FACE_EXECUTE_CODE] = {.gated = true,
	.guard = true,
	.approval = GB_FACE_ASKS_UNLESS_WAIVED,
	.calls_per_turn = AT(agent.calls_per_turn)},
};

const struct gb_face_rules *gb_face_rules(enum gb_face face) {
	return &faces[face];
}

bool gb_face_embedder_may_decide(enum gb_face face) {
	return faces[face].approval == GB_FACE_ASKS_UNLESS_EMBEDDER;
}

bool gb_face_embedder_may_enable(enum gb_face face) {
	return faces[face].enabled_by_embedder;
}

bool gb_face_is_charged(enum gb_face face, const struct gb_config *config) {
	return config->energy.faces & 1u << face;
}

unsigned gb_face_calls_per_turn(enum gb_face face, const struct gb_config *config, const char **ret_setting) {
	size_t offset = faces[face].calls_per_turn;
	*ret_setting = gb_setting_at(offset)->name;
	return *(const unsigned *)((const char *)config + offset);
}

/* --- limits --- */

static uint64_t value_at(const struct gb_config *config, size_t offset) {
	return *(const uint64_t *)((const char *)config + offset);
}

static void limit(const struct gb_face_limit *face, const struct gb_config *config, bool network,
    uint64_t asked, uint64_t *value) {
	size_t max = network ? face->max_network : face->max;
	if (face->usual && !asked && *value > value_at(config, face->usual))
		*value = value_at(config, face->usual);
	if (max && *value > value_at(config, max))
		*value = value_at(config, max);
	if (*value < face->min)
		*value = face->min;
}

void gb_face_limit(enum gb_face face, const struct gb_config *config, enum gb_tier tier,
    const struct gb_run_options *asked, struct gb_run_options *options) {
	const struct gb_face_rules *rules = &faces[face];
	bool network = tier == GB_TIER_NETWORK;
	limit(&rules->timeout, config, network, asked->timeout_ms, &options->timeout_ms);
	limit(&rules->memory, config, network, asked->memory_bytes, &options->memory_bytes);
	limit(&rules->output, config, network, asked->output_bytes, &options->output_bytes);
	limit(&rules->result, config, network, asked->result_bytes, &options->result_bytes);
}
