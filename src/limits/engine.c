/* The options of an engine and its sessions, from the settings. */
#include <string.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "config/settings.h"
#include "egress/rules.h"
#include "limits/limits.h"

enum { PROFILES_MAX = 1 << 20 };

/* --- the engine --- */

static const char *join(struct gb_arena *arena, const struct gb_config_list *list) {
	gb_auto_buf struct gb_buf text;
	gb_buf_init(&text, PROFILES_MAX);
	for (size_t i = 0; i < list->n; i++)
		gb_buf_printf(&text, "%s%s", i ? "," : "", list->items[i]);
	return gb_buf_failed(&text) ? NULL : gb_arena_copy(arena, gb_buf_str(&text));
}

static bool add_profiles(const struct gb_config_profiles *profiles, struct gb_arena *arena,
    struct gb_engine_options *options, struct gb_err *err) {
	struct gb_python_profile *list = gb_arena_array(arena, profiles->n, sizeof *list);
	for (size_t i = 0; list && i < profiles->n; i++) {
		list[i] = (struct gb_python_profile){
		    profiles->items[i].name, join(arena, &profiles->items[i].modules)};
		if (!list[i].modules)
			list = NULL;
	}
	options->python_profiles = list;
	options->n_python_profiles = profiles->n;
	return list || gb_fail(err, GB_ENOMEM, 0, "there is no memory for python.profiles");
}

/* The entries of an allowlist that are addresses, without their ports, each once. */
static size_t find_addresses(const struct gb_config_list *list, const char **ret, struct gb_arena *arena) {
	size_t n = 0;
	for (size_t i = 0; i < list->n; i++) {
		struct gb_host_rule rule;
		const char *problem;
		bool known = !gb_host_rule_parse(gb_str_from(list->items[i]), &rule, &problem) ||
			     rule.host.kind == GB_HOST_NAME || gb_host_is_loopback(&rule.host);
		for (size_t k = 0; k < n && !known; k++)
			known = strcmp(ret[k], rule.host.name) == 0;
		if (!known && (ret[n] = gb_arena_copy(arena, gb_str_from(rule.host.name))))
			n++;
	}
	return n;
}

static const char *choose(const char *own, const char *configured) {
	return own ? own : *configured ? configured : NULL;
}

bool gb_limits_engine_create(const struct gb_config *config, const struct gb_engine_options *options,
    struct gb_engine **ret, struct gb_err *err) {
	struct gb_engine_options all = *options;
	struct gb_arena arena;
	gb_arena_init(&arena, PROFILES_MAX);
	all.shell = choose(options->shell, config->programs.shell);
	all.node = choose(options->node, config->programs.node);
	all.deno = choose(options->deno, config->programs.deno);
	all.node_packages = choose(options->node_packages, config->programs.node_packages);
	all.proxy = options->proxy ? options->proxy : config->network.proxy;
	all.authorities = choose(options->authorities, config->network.authorities);
	const char **addresses = gb_arena_array(&arena, config->network.allowlist.n + 1, sizeof *addresses);
	all.n_addresses = addresses ? find_addresses(&config->network.allowlist, addresses, &arena) : 0;
	all.addresses = addresses;
	bool ok = options->n_python_profiles || !config->python.profiles.n ||
		  add_profiles(&config->python.profiles, &arena, &all, err);
	ok = ok && gb_engine_create(&all, ret, err);
	gb_arena_finish(&arena);
	return ok;
}

void gb_limits_write_fixed(const struct gb_config *was, const struct gb_config *now, struct gb_buf *out) {
	static const char *const fixed[] = {"programs.shell", "programs.node", "programs.deno",
	    "programs.nodePackages", "python.profiles", "network.proxy", "network.authorities"};
	bool any = false;
	for (size_t i = 0; i < GB_COUNT(fixed); i++) {
		enum gb_setting_unit unit;
		const struct gb_setting *setting = gb_setting_find(fixed[i], &unit);
		if (gb_setting_same(setting, was, now))
			continue;
		gb_buf_printf(out, "%s%s", any ? ", " : "", fixed[i]);
		any = true;
	}
}

/* --- sessions --- */

void gb_limits_sessions(const struct gb_config *config, struct gb_manager_options *options) {
	options->max_sessions = config->sessions.max;
	options->max_per_conversation = config->agent.max_concurrent_sessions;
	options->max_queue = config->sessions.queue ? config->sessions.queue : GB_NONE;
	options->idle_ms = config->sessions.idle_ms;
	options->max_age_ms = config->sessions.max_age_ms;
}

/* --- energy --- */

void gb_limits_energy(const struct gb_config *config, struct gb_energy_options *ret_options) {
	*ret_options = (struct gb_energy_options){
	    .initial = config->energy.initial,
	    .maximum = config->energy.maximum,
	    .per_hour = config->energy.recharge_per_hour,
	    .cost = {config->energy.cost_isolated, config->energy.cost_network},
	    .at_least = {config->energy.gate, config->energy.gate_network},
	};
}
