/* The rules of one configuration. */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "gate/pass.h"
#include "guard/secrets_load.h"

static void hash_bytes(crypto_generichash_state *state, const void *bytes, size_t n) {
	uint64_t length = n;
	crypto_generichash_update(state, (const uint8_t *)&length, sizeof length);
	crypto_generichash_update(state, bytes, n);
}

/* Which rules a request was asked under: another configuration is another policy. */
static void name_policy(struct gb_rules *rules) {
	const struct gb_config *config = rules->config;
	const struct gb_config_list *lists[] = {&config->guard.javascript, &config->guard.shell,
	    &config->network.allowlist, &config->python.allowed_modules, &config->node.allowed_modules};
	const uint64_t numbers[] = {config->agent.enabled, config->agent.auto_approve,
	    config->agent.allowed_runtimes, config->agent.max_execution_ms, config->agent.max_output_bytes,
	    config->agent.max_code_bytes, config->agent.persistent_sessions, config->guard.enabled,
	    config->python.restricted, config->shell.restricted, config->core.max_timeout_ms,
	    config->core.max_network_timeout_ms, config->core.max_result_bytes, config->executor.timeout_ms,
	    config->actions.timeout_ms, config->actions.memory_bytes, config->actions.output_bytes};
	crypto_generichash_state state;
	struct gb_hash hash;
	crypto_generichash_init(&state, NULL, 0, sizeof hash.bytes);
	hash_bytes(&state, numbers, sizeof numbers);
	hash_bytes(&state, config->limits, sizeof config->limits);
	for (size_t i = 0; i < GB_COUNT(lists); i++) {
		hash_bytes(&state, &lists[i]->n, sizeof lists[i]->n);
		for (size_t k = 0; k < lists[i]->n; k++)
			hash_bytes(&state, lists[i]->items[k], strlen(lists[i]->items[k]));
	}
	crypto_generichash_final(&state, hash.bytes, sizeof hash.bytes);
	gb_hash_format(rules->policy, &hash);
}

bool gb_rules_create(
    const struct gb_gate *gate, const struct gb_config *config, struct gb_rules **ret, struct gb_err *err) {
	struct gb_rules *rules = calloc(1, sizeof *rules);
	if (!rules)
		return gb_fail(err, GB_ENOMEM, 0, "the rules");
	rules->refs = 1;
	rules->config = gb_config_ref(config);
	/* Nothing is masked where nothing is run or recorded. */
	bool ok =
	    config->agent.enabled || gate->audit
		? gb_filter_load(config, gate->environment, &rules->filter, err)
		: (rules->filter = gb_filter_create()) || gb_fail(err, GB_ENOMEM, 0, "the secrets filter");
	if (!ok) {
		gb_rules_unref(rules);
		return false;
	}
	name_policy(rules);
	*ret = rules;
	return true;
}

struct gb_rules *gb_rules_ref(struct gb_rules *rules) {
	rules->refs++;
	return rules;
}

void gb_rules_unref(struct gb_rules *rules) {
	if (!rules || --rules->refs)
		return;
	gb_filter_destroy(rules->filter);
	gb_config_unref(rules->config);
	free(rules);
}
