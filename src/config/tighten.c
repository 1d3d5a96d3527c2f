/* Whether a project file makes a setting stricter. Only then its value applies without trust. */
#include <string.h>

#include "base/cleanup.h"
#include "config/values.h"
#include "egress/rules.h"

static const void *value_in(const struct gb_setting *setting, const struct gb_config *config) {
	return (const char *)config + setting->offset;
}

/* For ordered values: how much they allow. */
static double rank(const struct gb_setting *setting, const struct gb_config *config) {
	const void *at = value_in(setting, config);
	switch (setting->type) {
	case GB_SETTING_BOOL:
		return *(const bool *)at;
	case GB_SETTING_MODE:
		return *(const enum gb_config_mode *)at;
	case GB_SETTING_MASKING: /* all, registered, none */
		return *(const enum gb_config_masking *)at;
	default:
		return gb_setting_number(setting, config);
	}
}

static bool has_item(const struct gb_config_list *list, const char *item) {
	for (size_t i = 0; i < list->n; i++)
		if (strcmp(list->items[i], item) == 0)
			return true;
	return false;
}

/* Whether the hosts of @list include all that @item admits. */
static bool has_hosts(const struct gb_config_list *list, const char *item) {
	struct gb_host_rule inner, outer[GB_CONFIG_LIST_MAX];
	const char *problem;
	size_t n = 0;
	for (size_t i = 0; i < list->n && n < GB_CONFIG_LIST_MAX; i++)
		n += gb_host_rule_parse(gb_str_from(list->items[i]), &outer[n], &problem);
	return gb_host_rule_parse(gb_str_from(item), &inner, &problem) &&
	       gb_host_rules_cover(outer, n, &inner);
}

/* Lists of known names are stored as bits. */
static bool is_bits(const struct gb_setting *setting) {
	return setting->type == GB_SETTING_RUNTIMES || setting->type == GB_SETTING_FACES;
}

/* In every list of what is allowed, an empty list allows nothing. */
static bool is_subset(
    const struct gb_setting *setting, const struct gb_config *owner, const struct gb_config *project) {
	if (is_bits(setting))
		return !(*(const unsigned *)value_in(setting, project) &
			 ~*(const unsigned *)value_in(setting, owner));
	const struct gb_config_list *allowed = value_in(setting, owner), *given = value_in(setting, project);
	bool (*const has)(const struct gb_config_list *, const char *) =
	    setting->type == GB_SETTING_HOSTS ? has_hosts : has_item;
	for (size_t i = 0; i < given->n; i++)
		if (!has(allowed, given->items[i]))
			return false;
	return true;
}

bool gb_setting_may(
    const struct gb_setting *setting, const struct gb_config *owner, const struct gb_config *project) {
	if (setting->project == GB_PROJECT_ADD || gb_setting_same(setting, owner, project))
		return true;
	/* An owner that uses E2B has not agreed to run the code on this machine. */
	if (setting->type == GB_SETTING_MODE &&
	    *(const enum gb_config_mode *)value_in(setting, owner) == GB_CONFIG_E2B)
		return false;
	switch (setting->project) {
	case GB_PROJECT_LOWER:
		return rank(setting, project) <= rank(setting, owner);
	case GB_PROJECT_HIGHER:
		return rank(setting, project) >= rank(setting, owner);
	case GB_PROJECT_SUBSET:
		return is_subset(setting, owner, project);
	default:
		return false;
	}
}

/* The items of the owner, then the new ones. */
static bool add_items(
    struct gb_config_list *owner, const struct gb_config_list *more, struct gb_arena *arena) {
	const char **items = gb_arena_array(arena, owner->n + more->n + 1, sizeof *items);
	struct gb_config_list all = {items, owner->n};
	if (!items)
		return false;
	if (owner->n)
		memcpy(items, owner->items, owner->n * sizeof *items);
	for (size_t i = 0; i < more->n; i++)
		if (!has_item(&all, more->items[i]))
			items[all.n++] = more->items[i];
	if (all.n > GB_CONFIG_LIST_MAX)
		return false;
	*owner = all;
	return true;
}

bool gb_setting_tighten(const struct gb_setting *setting, struct gb_config *owner,
    const struct gb_config *project, struct gb_arena *arena) {
	if (setting->project == GB_PROJECT_ADD && is_bits(setting)) {
		*(unsigned *)((char *)owner + setting->offset) |=
		    *(const unsigned *)value_in(setting, project);
		return true;
	}
	if (setting->project == GB_PROJECT_ADD)
		return add_items((struct gb_config_list *)((char *)owner + setting->offset),
		    value_in(setting, project), arena);
	gb_setting_copy(setting, project, owner);
	return true;
}

const char *gb_setting_project_text(const struct gb_setting *setting) {
	static const char *const texts[] = {[GB_PROJECT_NEVER] = "not set it",
	    [GB_PROJECT_LOWER] = "only lower it",
	    [GB_PROJECT_HIGHER] = "only raise it",
	    [GB_PROJECT_SUBSET] = "only shorten it",
	    [GB_PROJECT_ADD] = "only add to it"};
	if (setting->type == GB_SETTING_BOOL && setting->project != GB_PROJECT_NEVER)
		return setting->project == GB_PROJECT_LOWER ? "only set it to false" : "only set it to true";
	if (setting->type == GB_SETTING_MASKING)
		return "only mask more";
	if (setting->type == GB_SETTING_MODE)
		return "only change permissive to restricted";
	return texts[setting->project];
}
