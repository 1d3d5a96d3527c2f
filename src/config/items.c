#include "config/items.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/language.h"
#include "egress/rules.h"

/* --- kinds of items --- */

/* Length of the UTF-8 character at @p, which has @n bytes; 0 if it is invalid or a control character. */
static size_t character(const unsigned char *p, size_t n) {
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t length = p[0] < 0x80 ? 1 : p[0] >> 5 == 6 ? 2 : p[0] >> 4 == 14 ? 3 : p[0] >> 3 == 30 ? 4 : 0;
	if (length == 0 || length > n)
		return 0;
	uint32_t code = length == 1 ? p[0] : p[0] & (0x7fu >> length);
	for (size_t i = 1; i < length; i++) {
		if (p[i] >> 6 != 2)
			return 0;
		code = code << 6 | (p[i] & 0x3fu);
	}
	bool control = code < 0x20 || (code >= 0x7f && code < 0xa0);
	bool valid = code >= least[length] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
	return valid && !control ? length : 0;
}

bool gb_config_is_text(struct gb_str text) {
	if (text.n > GB_CONFIG_TEXT_MAX)
		return false;
	for (size_t i = 0, n; i < text.n; i += n)
		if ((n = character((const unsigned char *)text.p + i, text.n - i)) == 0)
			return false;
	return true;
}

static bool all_of(struct gb_str text, const char *punctuation) {
	for (size_t i = 0; i < text.n; i++)
		if (!isalnum((unsigned char)text.p[i]) && !(text.p[i] && strchr(punctuation, text.p[i])))
			return false;
	return text.n > 0;
}

bool gb_config_is_variable(struct gb_str text) {
	return all_of(text, "_") && !isdigit((unsigned char)text.p[0]);
}

static bool is_module(struct gb_str text) {
	return all_of(text, "_-.@/:") && text.n <= 200;
}

static bool is_some_text(struct gb_str text) {
	return text.n > 0 && gb_config_is_text(text);
}

#define RUNTIME_NAME(section, name, ...) [GB_CONFIG_##section] = name,
static const char *const runtime_names[] = {GB_LANGUAGE_SECTION_TABLE(RUNTIME_NAME)};

const char *gb_config_runtime_name(enum gb_config_runtime runtime) {
	return (unsigned)runtime < GB_CONFIG_RUNTIMES ? runtime_names[runtime] : "?";
}

#define RUNTIME_OF(language, name, aliases, endings, section, ...) [language] = GB_CONFIG_##section,
static const enum gb_config_runtime runtime_of[] = {GB_LANGUAGE_TABLE(RUNTIME_OF)};

enum gb_config_runtime gb_config_runtime_of(enum gb_language language) {
	return runtime_of[language];
}

static bool is_runtime(struct gb_str text) {
	enum gb_language language;
	return gb_language_find_str(text, &language);
}

/* run_code has no approval and costs no energy. */
static bool is_gated_face(struct gb_str text) {
	enum gb_face face;
	return gb_face_find(text.p, &face) && face != GB_FACE_RUN_CODE;
}

/* The names of which an item must be one. NULL: the kind has no fixed names. */
static const char *choice(enum gb_setting_type type, unsigned i) {
	if (type == GB_SETTING_RUNTIMES)
		return i < GB_CONFIG_RUNTIMES ? runtime_names[i] : NULL;
	_Static_assert(GB_FACE_RUN_CODE == 0, "the faces that an item may name follow run_code");
	unsigned face = i + 1;
	return type == GB_SETTING_FACES && face < GB_FACE_COUNT ? gb_face_name((enum gb_face)face) : NULL;
}

/* "javascript, python or deno". */
static void write_choices(enum gb_setting_type type, char *to, size_t size) {
	*to = '\0';
	for (unsigned i = 0, n = 0; choice(type, i) && n < size; i++)
		n += (unsigned)snprintf(to + n, size - n, "%s%s",
		    i == 0                ? ""
		    : choice(type, i + 1) ? ", "
					  : " or ",
		    choice(type, i));
}

static const struct {
	bool (*is)(struct gb_str text);
	const char *expected; /* NULL: one of the choices */
} kinds[GB_SETTING_TYPES] = {
    [GB_SETTING_RUNTIMES] = {is_runtime, NULL},
    [GB_SETTING_FACES] = {is_gated_face, NULL},
    [GB_SETTING_MODULES] = {is_module, "the name of a module"},
    [GB_SETTING_HOSTS] = {is_some_text, "a host such as api.example.com"},
    [GB_SETTING_VARIABLES] = {gb_config_is_variable, "the name of a variable"},
    [GB_SETTING_TEXTS] = {is_some_text, "a text"},
    [GB_SETTING_PROFILES] = {is_module, "the name of a module"},
};

/* --- reading --- */

static bool problem(struct gb_setting_read *read, const struct gb_yaml *at, const char *expected) {
	char quoted[GB_CONFIG_QUOTED_MAX];
	read->at = at;
	snprintf(read->problem, sizeof read->problem, "expected %s, found %s", expected,
	    at->kind == GB_YAML_SCALAR ? gb_config_quote(at->text, quoted) : "a list or mapping");
	return false;
}

static bool wrong_item(struct gb_setting_read *read, const struct gb_yaml *item) {
	const char *expected = kinds[read->setting->type].expected;
	char choices[200];
	write_choices(read->setting->type, choices, sizeof choices);
	return problem(read, item, expected ? expected : choices);
}

static bool too_many(struct gb_setting_read *read, const struct gb_yaml *at, int most) {
	read->at = at;
	snprintf(read->problem, sizeof read->problem, "more than %d items", most);
	return false;
}

static bool out_of_memory(struct gb_setting_read *read) {
	snprintf(read->problem, sizeof read->problem, "there is no memory for its value");
	return false;
}

/* A host is stored in its normal form. */
static bool normalise(
    struct gb_setting_read *read, const struct gb_yaml *item, char ret[GB_HOST_RULE_MAX + 1]) {
	struct gb_host_rule rule;
	const char *why;
	char quoted[GB_CONFIG_QUOTED_MAX];
	if (gb_host_rule_parse(item->text, &rule, &why)) {
		gb_host_rule_write(&rule, ret, GB_HOST_RULE_MAX + 1);
		return true;
	}
	read->at = item;
	snprintf(read->problem, sizeof read->problem, "expected a host such as api.example.com, found %s: %s",
	    gb_config_quote(item->text, quoted), why);
	return false;
}

static bool read_items(struct gb_setting_read *read, const struct gb_yaml *node, struct gb_config_list *to) {
	enum gb_setting_type type = read->setting->type;
	if (node->n > GB_CONFIG_LIST_MAX)
		return too_many(read, node, GB_CONFIG_LIST_MAX);
	const char **items = gb_arena_array(read->arena, node->n + 1, sizeof *items);
	size_t n = 0;
	if (!items)
		return out_of_memory(read);
	for (const struct gb_yaml_item *item = node->first; item; item = item->next) {
		const struct gb_yaml *value = item->value;
		if (value->kind != GB_YAML_SCALAR || gb_yaml_is_null(value) || !is_some_text(value->text) ||
		    !kinds[type].is(value->text))
			return wrong_item(read, value);
		char host[GB_HOST_RULE_MAX + 1] = "";
		if (type == GB_SETTING_HOSTS && !normalise(read, value, host))
			return false;
		char *copy = gb_arena_copy(read->arena, *host ? gb_str_from(host) : value->text);
		if (!copy)
			return out_of_memory(read);
		items[n++] = copy;
	}
	*to = (struct gb_config_list){items, n};
	return true;
}

bool gb_config_read_list(struct gb_setting_read *read, const struct gb_yaml *node, void *to) {
	enum gb_setting_type type = read->setting->type;
	struct gb_config_list list;
	if (!read_items(read, node, &list))
		return false;
	if (type != GB_SETTING_RUNTIMES && type != GB_SETTING_FACES) {
		*(struct gb_config_list *)to = list;
		return true;
	}
	unsigned set = 0;
	enum gb_language language;
	enum gb_face face;
	for (size_t i = 0; i < list.n; i++) {
		if (type == GB_SETTING_FACES && gb_face_find(list.items[i], &face))
			set |= 1u << face;
		if (type == GB_SETTING_RUNTIMES && gb_language_find(list.items[i], &language))
			set |= 1u << runtime_of[language];
	}
	*(unsigned *)to = set;
	return true;
}

/* The names of built-in profiles are reserved. */
static bool is_profile_name(struct gb_str name) {
	return all_of(name, "-_") && name.n <= 32 && !gb_str_eq(name, GB_STR("stdlib")) &&
	       !gb_str_eq(name, GB_STR("data"));
}

bool gb_config_read_profiles(struct gb_setting_read *read, const struct gb_yaml *node, void *to) {
	if (node->n > GB_CONFIG_PROFILES_MAX)
		return too_many(read, node, GB_CONFIG_PROFILES_MAX);
	struct gb_config_profile *profiles = gb_arena_array(read->arena, node->n + 1, sizeof *profiles);
	size_t n = 0;
	if (!profiles)
		return out_of_memory(read);
	for (const struct gb_yaml_item *item = node->first; item; item = item->next, n++) {
		if (!is_profile_name(item->key->text))
			return problem(read, item->key,
			    "a name of letters, digits, - and _ that is neither stdlib nor data");
		for (size_t i = 0; i < n; i++)
			if (strcmp(profiles[i].name, item->key->text.p) == 0)
				return problem(read, item->key, "each profile once");
		if (item->value->kind != GB_YAML_SEQUENCE)
			return problem(read, item->value, "a list of modules");
		if (!read_items(read, item->value, &profiles[n].modules))
			return false;
		profiles[n].name = gb_arena_copy(read->arena, item->key->text);
		if (!profiles[n].name)
			return out_of_memory(read);
	}
	*(struct gb_config_profiles *)to = (struct gb_config_profiles){profiles, n};
	return true;
}

/* --- writing --- */

void gb_config_write_item(struct gb_buf *out, const char *text) {
	bool plain = isalpha((unsigned char)text[0]) || text[0] == '/' || text[0] == '_';
	if (plain && all_of(gb_str_from(text), "_-./@") && strcasecmp(text, "null") != 0) {
		gb_buf_printf(out, "%s", text);
		return;
	}
	gb_buf_append_char(out, '"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			gb_buf_append_char(out, '\\');
		gb_buf_append_char(out, *text);
	}
	gb_buf_append_char(out, '"');
}

void gb_config_write_list(struct gb_buf *out, const void *from) {
	const struct gb_config_list *list = from;
	for (size_t i = 0; i < list->n; i++) {
		gb_buf_printf(out, i ? ", " : "[");
		gb_config_write_item(out, list->items[i]);
	}
	gb_buf_printf(out, list->n ? "]" : "[]");
}

void gb_config_write_runtimes(struct gb_buf *out, const void *from) {
	const char *names[GB_CONFIG_RUNTIMES];
	struct gb_config_list list = {names, 0};
	for (unsigned i = 0; i < GB_CONFIG_RUNTIMES; i++)
		if (*(const unsigned *)from & 1u << i)
			names[list.n++] = runtime_names[i];
	gb_config_write_list(out, &list);
}

void gb_config_write_faces(struct gb_buf *out, const void *from) {
	const char *names[GB_FACE_COUNT];
	struct gb_config_list list = {names, 0};
	for (unsigned i = 0; i < GB_FACE_COUNT; i++)
		if (*(const unsigned *)from & 1u << i)
			names[list.n++] = gb_face_name((enum gb_face)i);
	gb_config_write_list(out, &list);
}

void gb_config_write_profiles(struct gb_buf *out, const void *from) {
	const struct gb_config_profiles *profiles = from;
	for (size_t i = 0; i < profiles->n; i++) {
		gb_buf_printf(out, i ? ", " : "{");
		gb_config_write_item(out, profiles->items[i].name);
		gb_buf_printf(out, ": ");
		gb_config_write_list(out, &profiles->items[i].modules);
	}
	gb_buf_printf(out, profiles->n ? "}" : "{}");
}
