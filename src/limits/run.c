/* The limits of a run: defaults and maxima from the settings. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "config/settings.h"
#include "egress/rules.h"
#include "engine/workdir.h"
#include "limits/limits.h"
#include "store/state.h"

static void name_setting(enum gb_config_runtime runtime, const char *limit, char ret[GB_SETTING_NAME_MAX]) {
	snprintf(ret, GB_SETTING_NAME_MAX, "limits.%s.%s", gb_config_runtime_name(runtime), limit);
}

static uint64_t within(uint64_t asked, uint64_t fallback, uint64_t max) {
	uint64_t wanted = asked ? asked : fallback;
	return wanted > max ? max : wanted;
}

static uint64_t usual_timeout(
    const struct gb_config *config, enum gb_config_runtime runtime, uint64_t default_timeout_ms) {
	char name[GB_SETTING_NAME_MAX];
	name_setting(runtime, "timeout", name);
	return default_timeout_ms && !gb_config_is_set(config, name) ? default_timeout_ms
								     : config->limits[runtime].timeout_ms;
}

void gb_limits_apply(
    const struct gb_config *config, uint64_t default_timeout_ms, struct gb_run_options *run) {
	enum gb_config_runtime runtime = gb_config_runtime_of(run->language);
	const struct gb_config_limits *limits = &config->limits[runtime];
	if (!run->timeout_ms)
		run->timeout_ms = usual_timeout(config, runtime, default_timeout_ms);
	run->timeout_ms = within(run->timeout_ms, 0, limits->max_timeout_ms);
	run->memory_bytes = within(run->memory_bytes, limits->memory_bytes, limits->max_memory_bytes);
	run->output_bytes = within(run->output_bytes, limits->output_bytes, limits->max_output_bytes);
	run->result_bytes = within(run->result_bytes, limits->result_bytes, limits->max_result_bytes);
	run->max_connections = (uint32_t)within(
	    run->max_connections, config->network.max_connections, config->network.max_connections);
	run->sent_bytes = within(run->sent_bytes, config->network.sent_bytes, config->network.sent_bytes);
	run->received_bytes =
	    within(run->received_bytes, config->network.received_bytes, config->network.received_bytes);
	run->connect_ms =
	    (uint32_t)within(run->connect_ms, config->network.connect_ms, config->network.connect_ms);
	run->idle_ms = (uint32_t)within(run->idle_ms, config->network.idle_ms, config->network.idle_ms);
	run->record_bodies |= config->network.record_bodies;
}

static size_t read_allowlist(
    const struct gb_config_list *list, struct gb_host_rule rules[GB_HOST_RULES_MAX]) {
	const char *problem;
	size_t n = 0;
	for (size_t i = 0; i < list->n && n < GB_HOST_RULES_MAX; i++)
		n += gb_host_rule_parse(gb_str_from(list->items[i]), &rules[n], &problem);
	return n;
}

bool gb_limits_check_net(const struct gb_config *config, const struct gb_value *net, struct gb_err *err) {
	struct gb_host_rule rules[GB_HOST_RULES_MAX], rule;
	const size_t n = read_allowlist(&config->network.allowlist, rules);
	for (size_t i = 0; i < gb_value_count(net); i++) {
		size_t length = 0;
		const char *problem, *text = gb_value_bytes(gb_value_at(net, i), &length);
		char shown[GB_HOST_RULE_MAX + 1];
		if (!text)
			return gb_fail_field(err, GB_EINVAL, "net", "must be an array of texts");
		gb_copy_text(shown, sizeof shown, (struct gb_str){text, length});
		if (!gb_host_rule_parse((struct gb_str){text, length}, &rule, &problem))
			return gb_fail_field(err, GB_EINVAL, "net", "'%s': %s", shown, problem);
		if (!gb_host_rules_cover(rules, n, &rule))
			return gb_fail_field(err, GB_EINVAL, "net",
			    "'%s' is not in the setting network.allowlist; the owner can add it there",
			    shown);
	}
	return true;
}

static bool is_apart(
    const struct gb_workdir *workdir, const char *folder, const char *what, struct gb_err *err) {
	if (!gb_workdir_has(workdir, folder) && !gb_workdir_is_in(workdir, folder))
		return true;
	return gb_fail_field(err, GB_EINVAL, "workdir",
	    "'%s' cannot be one: code would reach %s in '%.400s' (mount namespace); name a directory apart "
	    "from "
	    "it",
	    workdir->path, what, folder);
}

/* The files of settings, so that code cannot change its own limits: those that exist, and those that would be read. */
static bool is_apart_from_settings(const struct gb_workdir *workdir, struct gb_err *err) {
	static const struct {
		const char *variable, *below;
	} places[] = {
	    {"GLOVEBOX_CONFIG", ""}, {"XDG_CONFIG_HOME", "/glovebox"}, {"HOME", "/.config/glovebox"}};
	char path[PATH_MAX];
	for (size_t i = 0; i < GB_COUNT(places); i++) {
		const char *value = getenv(places[i].variable);
		if (!value || !*value ||
		    (size_t)snprintf(path, sizeof path, "%s%s", value, places[i].below) >= sizeof path)
			continue;
		if (gb_workdir_has(workdir, path))
			return gb_fail_field(err, GB_EINVAL, "workdir",
			    "'%s' cannot be one: code would reach the settings of Glovebox, '%.400s' (mount "
			    "namespace); name a directory without them",
			    workdir->path, path);
	}
	return true;
}

bool gb_limits_check_workdir(const struct gb_config *config, const char *text, struct gb_err *err) {
	struct gb_workdir workdir;
	char state[GB_STATE_PATH];
	if (!text)
		return true;
	if (!gb_workdir_open(text, &workdir, err))
		return false;
	bool ok = (!gb_state_choose(config->state_dir, state, NULL) ||
		      is_apart(&workdir, state, "the state of Glovebox", err)) &&
		  (!*config->audit.directory ||
		      is_apart(&workdir, config->audit.directory, "the audit log of Glovebox", err)) &&
		  is_apart_from_settings(&workdir, err);
	gb_workdir_finish(&workdir);
	return ok;
}

bool gb_limits_check(const struct gb_config *config, const struct gb_run_options *run, struct gb_err *err) {
	enum gb_config_runtime runtime = gb_config_runtime_of(run->language);
	const struct gb_config_limits *limits = &config->limits[runtime];
	const struct {
		const char *field, *setting, *unit;
		uint64_t asked, max;
	} all[] = {
	    {"timeout_ms", "maxTimeout", "ms", run->timeout_ms, limits->max_timeout_ms},
	    {"memory_bytes", "maxMemory", "bytes", run->memory_bytes, limits->max_memory_bytes},
	    {"output_bytes", "maxOutput", "bytes", run->output_bytes, limits->max_output_bytes},
	    {"result_bytes", "maxResult", "bytes", run->result_bytes, limits->max_result_bytes},
	};
	for (size_t i = 0; i < GB_COUNT(all); i++) {
		if (all[i].asked <= all[i].max)
			continue;
		char name[GB_SETTING_NAME_MAX];
		name_setting(runtime, all[i].setting, name);
		return gb_fail_field(err, GB_ELIMIT, all[i].field,
		    "%llu %s are more than the setting %s allows, which is %llu",
		    (unsigned long long)all[i].asked, all[i].unit, name, (unsigned long long)all[i].max);
	}
	return true;
}
