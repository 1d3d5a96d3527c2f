/* From the sources to a snapshot. */
#include "config/load.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "config/items.h"
#include "config/search.h"

enum {
	SNAPSHOT_MAX = 32 << 20,
	VALUE_MAX = 4 << 20, /* as text; larger than any value */
	MAX_KEYS = 512,      /* of one mapping */
};

static struct gb_snapshot *snapshot_of(const struct gb_config *config) {
	return (struct gb_snapshot *)((char *)(uintptr_t)config - offsetof(struct gb_snapshot, config));
}

static struct gb_config_origin *origin_of(struct gb_loading *l, const struct gb_setting *setting) {
	return &l->origins[setting - gb_settings];
}

/* --- errors --- */

const char *gb_config_shorten(const char *path) {
	size_t n = strlen(path);
	return n > 120 ? path + n - 120 : path;
}

const char *gb_config_place_text(const struct gb_config_origin *at, char ret[GB_CONFIG_PLACE_MAX]) {
	if (at->layer == GB_CONFIG_FILE || at->layer == GB_CONFIG_PROJECT)
		snprintf(
		    ret, GB_CONFIG_PLACE_MAX, "%s:%u:%u", gb_config_shorten(at->place), at->line, at->column);
	else if (at->layer == GB_CONFIG_ENVIRONMENT)
		snprintf(ret, GB_CONFIG_PLACE_MAX, "$%s", at->place);
	else
		snprintf(ret, GB_CONFIG_PLACE_MAX, "%s", at->layer == GB_CONFIG_FLAG ? "--set" : "default");
	return ret;
}

static bool fail_unknown(struct gb_loading *l, const struct gb_config_origin *at, const char *name) {
	char place[GB_CONFIG_PLACE_MAX], near[GB_SETTING_NAME_MAX], quoted[GB_CONFIG_QUOTED_MAX];
	const char *meant = gb_setting_nearest(name, near);
	return gb_fail(l->err, GB_EINVAL, 0, "%s: there is no setting %s%s%s%s",
	    gb_config_place_text(at, place), gb_config_quote(gb_str_from(name), quoted),
	    meant ? "; did you mean '" : "; ", meant ? meant : "see 'glovebox config docs'",
	    meant ? "'?" : "");
}

static bool fail_unavailable(
    struct gb_loading *l, const struct gb_setting *setting, const struct gb_config_origin *at) {
	char place[GB_CONFIG_PLACE_MAX];
	return gb_fail(l->err, GB_EINVAL, 0,
	    "%s: %s: " GB_SETTING_UNAVAILABLE "; leave it out, or at its default, %s",
	    gb_config_place_text(at, place), at->name, *setting->fallback ? setting->fallback : "\"\"");
}

/* The same setting by two names, or twice on the command line. */
static bool fail_twice(
    struct gb_loading *l, const struct gb_config_origin *before, const struct gb_config_origin *now) {
	char one[GB_CONFIG_PLACE_MAX], two[GB_CONFIG_PLACE_MAX];
	return gb_fail(l->err, GB_EINVAL, 0,
	    "%s: %s sets the setting a second time, to another value; the first is %s at %s; keep one of "
	    "them",
	    gb_config_place_text(now, two), now->name, before->name, gb_config_place_text(before, one));
}

/* --- one value --- */

bool gb_setting_same(const struct gb_setting *setting, const struct gb_config *a, const struct gb_config *b) {
	gb_auto_buf struct gb_buf one, two;
	gb_buf_init(&one, VALUE_MAX);
	gb_buf_init(&two, VALUE_MAX);
	gb_setting_write(setting, a, &one);
	gb_setting_write(setting, b, &two);
	return !gb_buf_failed(&one) && !gb_buf_failed(&two) && gb_str_eq(gb_buf_str(&one), gb_buf_str(&two));
}

static bool accept(
    struct gb_loading *l, const struct gb_setting *setting, const struct gb_config_origin *origin) {
	struct gb_config_origin *before = origin_of(l, setting);
	/* l->config has the default: no earlier source can have changed it. */
	if (setting->unavailable && origin->name && !gb_setting_same(setting, l->config, &l->scratch))
		return fail_unavailable(l, setting, origin);
	if (before->layer == origin->layer && before->name && origin->name &&
	    !gb_setting_same(setting, l->config, &l->scratch))
		return fail_twice(l, before, origin);
	gb_setting_copy(setting, &l->scratch, l->config);
	*before = *origin;
	return true;
}

/* The value is @node, or @text if @node is NULL. */
static bool give(struct gb_loading *l, const struct gb_setting *setting, enum gb_setting_unit unit,
    const struct gb_config_origin *origin, const struct gb_yaml *node, const char *text) {
	struct gb_setting_read read = {
	    .setting = setting, .unit = unit, .arena = &l->snapshot->arena, .home = l->home};
	if (node ? gb_setting_read(&read, node, &l->scratch) : gb_setting_read_text(&read, text, &l->scratch))
		return accept(l, setting, origin);
	struct gb_config_origin at = *origin;
	char place[GB_CONFIG_PLACE_MAX];
	if (node && read.at) {
		at.line = read.at->line;
		at.column = read.at->column;
	}
	return gb_fail(l->err, GB_EINVAL, 0, "%s: %s: %s", gb_config_place_text(&at, place),
	    origin->name ? origin->name : setting->name, read.problem);
}

/* --- the defaults --- */

static bool give_defaults(struct gb_loading *l) {
	for (size_t i = 0; i < gb_settings_count; i++)
		if (!give(l, &gb_settings[i], GB_UNIT_USUAL, &(struct gb_config_origin){0}, NULL,
			gb_settings[i].fallback))
			return false;
	return true;
}

/* --- the file --- */

static bool give_mapping(
    struct gb_loading *l, const struct gb_yaml *mapping, const char *prefix, unsigned depth);

static bool give_item(
    struct gb_loading *l, const struct gb_yaml_item *item, const char *prefix, unsigned depth) {
	char path[2 * GB_CONFIG_TEXT_MAX];
	struct gb_config_origin at = {
	    .layer = l->layer, .place = l->place, .line = item->key->line, .column = item->key->column};
	char place[GB_CONFIG_PLACE_MAX];
	if (!gb_config_is_text(item->key->text))
		return gb_fail(l->err, GB_EINVAL, 0, "%s: invalid key: too long, or not a text",
		    gb_config_place_text(&at, place));
	snprintf(path, sizeof path, "%s%s%s", prefix, *prefix ? "." : "", item->key->text.p);
	enum gb_setting_unit unit;
	const struct gb_setting *setting = gb_setting_find(path, &unit);
	if (!setting && !gb_setting_is_section(path))
		return fail_unknown(l, &at, path);
	if (setting) {
		at.name = gb_arena_copy(&l->snapshot->arena, gb_str_from(path));
		return at.name ? give(l, setting, unit, &at, item->value, NULL)
			       : gb_fail(l->err, GB_ENOMEM, 0, "there is no memory for the settings");
	}
	if (gb_yaml_is_null(item->value))
		return true;
	if (item->value->kind == GB_YAML_MAPPING)
		return give_mapping(l, item->value, path, depth + 1);
	return gb_fail(l->err, GB_EINVAL, 0, "%s: %s: expected settings below it, found %s",
	    gb_config_place_text(&at, place), path,
	    item->value->kind == GB_YAML_SEQUENCE ? "a list" : "a value");
}

/* The same key at an earlier place of the mapping; NULL if there is none. */
static const struct gb_yaml_item *earlier_key(
    const struct gb_yaml *mapping, const struct gb_yaml_item *item) {
	for (const struct gb_yaml_item *i = mapping->first; i != item; i = i->next)
		if (gb_str_eq(i->key->text, item->key->text))
			return i;
	return NULL;
}

static bool give_mapping(
    struct gb_loading *l, const struct gb_yaml *mapping, const char *prefix, unsigned depth) {
	const char *file = gb_config_shorten(l->place);
	char quoted[GB_CONFIG_QUOTED_MAX];
	if (mapping->n > MAX_KEYS || depth > GB_YAML_MAX_DEPTH)
		return gb_fail(
		    l->err, GB_ELIMIT, 0, "%s:%u:%u: too many keys", file, mapping->line, mapping->column);
	for (const struct gb_yaml_item *item = mapping->first; item; item = item->next) {
		const struct gb_yaml_item *before = earlier_key(mapping, item);
		if (before)
			return gb_fail(l->err, GB_EINVAL, 0,
			    "%s:%u:%u: duplicate key %s, first in line %u; keep one of them", file,
			    item->key->line, item->key->column, gb_config_quote(item->key->text, quoted),
			    before->key->line);
		if (!give_item(l, item, prefix, depth))
			return false;
	}
	return true;
}

bool gb_loading_text(struct gb_loading *l, struct gb_str text) {
	struct gb_yaml *root = NULL;
	const char *file = gb_config_shorten(l->place);
	if (!gb_yaml_read(&l->snapshot->arena, file, text, &root, l->err))
		return false;
	if (!root || gb_yaml_is_null(root))
		return true;
	if (root->kind != GB_YAML_MAPPING)
		return gb_fail(l->err, GB_EINVAL, 0,
		    "%s:%u:%u: expected settings such as 'agent:', found something else", file, root->line,
		    root->column);
	return give_mapping(l, root, "", 0);
}

static bool give_file(struct gb_loading *l) {
	const struct gb_config_sources *sources = l->sources;
	char path[PATH_MAX] = "";
	if (sources->text)
		snprintf(path, sizeof path, "%s", sources->file ? sources->file : "glovebox.yaml");
	else if (!gb_config_find(sources, path, l->err))
		return false;
	if (!*path)
		return true;
	l->snapshot->file = l->place = gb_arena_copy(&l->snapshot->arena, gb_str_from(path));
	l->layer = GB_CONFIG_FILE;
	if (!l->place)
		return gb_fail(l->err, GB_ENOMEM, 0, "there is no memory for the settings");
	if (sources->text)
		return gb_loading_text(l, (struct gb_str){sources->text, sources->text_bytes});
	gb_auto_buf struct gb_buf text;
	gb_buf_init(&text, GB_YAML_MAX_BYTES);
	bool read = gb_config_names_file(sources)
			? gb_place_read_named(path, &text, l->err)
			: gb_place_read(path, &text, &l->file_place, l->err) == GB_PLACE_READ;
	if (!read && !l->err->code)
		gb_fail(l->err, GB_ENOENT, 0, "%s: disappeared while it was read", gb_config_shorten(path));
	return read && gb_loading_text(l, gb_buf_str(&text));
}

/* --- the environment and the command line --- */

static bool give_environment(struct gb_loading *l) {
	char variable[GB_SETTING_NAME_MAX];
	for (size_t i = 0; i < gb_settings_count; i++) {
		gb_setting_variable(&gb_settings[i], variable);
		const char *text = gb_config_getenv(l->sources->environment, variable);
		if (!text)
			continue;
		const char *name = gb_arena_copy(&l->snapshot->arena, gb_str_from(variable));
		if (!name)
			return gb_fail(l->err, GB_ENOMEM, 0, "there is no memory for the settings");
		const struct gb_config_origin at = {
		    .layer = GB_CONFIG_ENVIRONMENT, .place = name, .name = gb_settings[i].name};
		if (!give(l, &gb_settings[i], GB_UNIT_USUAL, &at, NULL, text))
			return false;
	}
	return true;
}

static bool give_flag(struct gb_loading *l, const char *text) {
	struct gb_config_origin at = {.layer = GB_CONFIG_FLAG};
	struct gb_str rest = gb_str_from(text), head;
	if (!gb_str_cut(&rest, '=', &head)) {
		char quoted[GB_CONFIG_QUOTED_MAX];
		return gb_fail(l->err, GB_EINVAL, 0,
		    "--set: expected KEY=VALUE such as agent.enabled=true, found %s",
		    gb_config_quote(head, quoted));
	}
	at.name = gb_arena_copy(&l->snapshot->arena, head);
	if (!at.name)
		return gb_fail(l->err, GB_ENOMEM, 0, "there is no memory for the settings");
	enum gb_setting_unit unit;
	const struct gb_setting *setting = gb_setting_find(at.name, &unit);
	return setting ? give(l, setting, unit, &at, NULL, rest.p) : fail_unknown(l, &at, at.name);
}

static bool give_flags(struct gb_loading *l) {
	for (size_t i = 0; i < l->sources->n_set; i++)
		if (!give_flag(l, l->sources->set[i]))
			return false;
	return true;
}

/* --- settings with a maximum --- */

/* A default is lowered to a maximum that was set. A value of the owner's file is lowered to a maximum of the
 * project file, and vice versa, since the author of one does not know the other. */
static bool is_lowered(const struct gb_config_origin *origin, const struct gb_config_origin *bound) {
	bool by_project = origin->layer == GB_CONFIG_PROJECT, to_project = bound->layer == GB_CONFIG_PROJECT;
	return !origin->name || by_project != to_project;
}

static bool check_bound(struct gb_loading *l, const struct gb_setting *setting) {
	enum gb_setting_unit unit;
	const struct gb_setting *bound = setting->at_most ? gb_setting_find(setting->at_most, &unit) : NULL;
	struct gb_config *config = l->config;
	if (!bound || gb_setting_number(setting, config) <= gb_setting_number(bound, config))
		return true;
	struct gb_config_origin *origin = origin_of(l, setting);
	if (is_lowered(origin, origin_of(l, bound))) {
		memcpy((char *)config + setting->offset, (char *)config + bound->offset,
		    setting->type == GB_SETTING_COUNT ? sizeof(unsigned) : sizeof(uint64_t));
		origin->lowered = true;
		return true;
	}
	char one[GB_CONFIG_PLACE_MAX], two[GB_CONFIG_PLACE_MAX];
	return gb_fail(l->err, GB_EINVAL, 0, "%s: %s: more than %s allows (%s)",
	    gb_config_place_text(origin, one), origin->name, bound->name,
	    gb_config_place_text(origin_of(l, bound), two));
}

static bool check_bounds(struct gb_loading *l) {
	for (size_t i = 0; i < gb_settings_count; i++)
		if (!check_bound(l, &gb_settings[i]))
			return false;
	return true;
}

/* --- snapshots --- */

static void destroy(struct gb_snapshot *snapshot) {
	gb_arena_finish(&snapshot->arena);
	free(snapshot->origins);
	free(snapshot);
}

static struct gb_snapshot *create(struct gb_err *err) {
	struct gb_snapshot *snapshot = calloc(1, sizeof *snapshot);
	if (!snapshot || !(snapshot->origins = calloc(gb_settings_count, sizeof *snapshot->origins))) {
		free(snapshot);
		gb_fail(err, GB_ENOMEM, 0, "there is no memory for the settings");
		return NULL;
	}
	gb_arena_init(&snapshot->arena, SNAPSHOT_MAX);
	atomic_init(&snapshot->references, 1);
	return snapshot;
}

bool gb_config_load(
    const struct gb_config_sources *sources, const struct gb_config **ret, struct gb_err *err) {
	struct gb_snapshot *snapshot = create(err);
	if (!snapshot)
		return false;
	const char *home = gb_config_getenv(sources->environment, "HOME");
	struct gb_err ignored = {0}; /* the functions below read the error */
	struct gb_loading l = {.snapshot = snapshot,
	    .config = &snapshot->config,
	    .origins = snapshot->origins,
	    .sources = sources,
	    .home = home && home[0] == '/' ? home : NULL,
	    .err = err ? err : &ignored};
	if (!give_defaults(&l) || !give_file(&l) || !gb_loading_project(&l) || !give_environment(&l) ||
	    !gb_config_check_environment(sources->environment, l.err) || !give_flags(&l) ||
	    !check_bounds(&l)) {
		destroy(snapshot);
		return false;
	}
	*ret = &snapshot->config;
	return true;
}

bool gb_config_reload(
    const struct gb_config_sources *sources, const struct gb_config **config, struct gb_err *err) {
	const struct gb_config *fresh = NULL;
	if (!gb_config_load(sources, &fresh, err))
		return false;
	gb_config_unref(*config);
	*config = fresh;
	return true;
}

const struct gb_config *gb_config_ref(const struct gb_config *config) {
	atomic_fetch_add(&snapshot_of(config)->references, 1);
	return config;
}

void gb_config_unref(const struct gb_config *config) {
	if (config && atomic_fetch_sub(&snapshot_of(config)->references, 1) == 1)
		destroy(snapshot_of(config));
}

const struct gb_config_origin *gb_config_origin(
    const struct gb_config *config, const struct gb_setting *setting) {
	return &snapshot_of(config)->origins[setting - gb_settings];
}

bool gb_config_is_set(const struct gb_config *config, const char *name) {
	enum gb_setting_unit unit;
	const struct gb_setting *setting = gb_setting_find(name, &unit);
	return setting && gb_config_origin(config, setting)->layer != GB_CONFIG_DEFAULT;
}

const char *gb_config_file(const struct gb_config *config) {
	return snapshot_of(config)->file;
}

const char *gb_config_project(const struct gb_config *config) {
	return snapshot_of(config)->project;
}

bool gb_config_is_trusted(const struct gb_config *config) {
	return snapshot_of(config)->trusted;
}

size_t gb_config_warnings(const struct gb_config *config, const char *const **ret) {
	*ret = snapshot_of(config)->warnings;
	return snapshot_of(config)->n_warnings;
}
