/* Rules: one configuration, its secrets filter and its policy hash. */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "config/settings.h"
#include "gate/agent_run.h"
#include "guard/secrets_load.h"

enum { VALUE_MAX = 4 << 20 }; /* of one setting as text; larger than any value */

static void hash_bytes(crypto_generichash_state *state, const void *bytes, size_t n) {
	uint64_t length = n;
	crypto_generichash_update(state, (const uint8_t *)&length, sizeof length);
	crypto_generichash_update(state, bytes, n);
}

/* A different value of any setting that affects what runs is a different policy. The content of files that
 * settings name is not part of it: docs/APPROVALS.md. */
bool gb_policy_name(const struct gb_config *config, char ret[GB_POLICY_TEXT]) {
	crypto_generichash_state state;
	struct gb_hash hash;
	gb_auto_buf struct gb_buf value;
	gb_buf_init(&value, VALUE_MAX);
	bool ok = true;
	crypto_generichash_init(&state, NULL, 0, sizeof hash.bytes);
	for (size_t i = 0; i < gb_settings_count; i++) {
		const struct gb_setting *setting = &gb_settings[i];
		if (setting->apart)
			continue;
		gb_buf_clear(&value);
		gb_setting_write(setting, config, &value);
		ok = ok && !gb_buf_failed(&value);
		hash_bytes(&state, setting->name, strlen(setting->name));
		hash_bytes(&state, value.data, value.len);
	}
	/* These depend on whether a limit was set, even if it was set to its default. */
	for (size_t i = 0; i < GB_CONFIG_RUNTIMES; i++) {
		const uint64_t usual[] = {gb_config_agent_timeout(config, (enum gb_config_runtime)i),
		    gb_config_agent_output(config, (enum gb_config_runtime)i)};
		hash_bytes(&state, usual, sizeof usual);
	}
	crypto_generichash_final(&state, hash.bytes, sizeof hash.bytes);
	gb_hash_format(ret, &hash);
	return ok;
}

bool gb_rules_create(
    const struct gb_gate *gate, const struct gb_config *config, struct gb_rules **ret, struct gb_err *err) {
	struct gb_rules *rules = calloc(1, sizeof *rules);
	if (!rules)
		return gb_fail(err, GB_ENOMEM, 0, "the rules");
	rules->refs = 1;
	rules->config = gb_config_ref(config);
	/* With agents disabled and no audit log nothing has to be masked. */
	bool ok =
	    config->agent.enabled || gate->has_embedder || gate->open.audit
		? gb_filter_load(config, gate->environment, &rules->filter, err)
		: (rules->filter = gb_filter_create()) || gb_fail(err, GB_ENOMEM, 0, "the secrets filter");
	if (!ok) {
		gb_rules_unref(rules);
		return false;
	}
	if (!gb_policy_name(config, rules->policy)) {
		gb_rules_unref(rules);
		return gb_fail(err, GB_ENOMEM, 0, "the rules");
	}
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
