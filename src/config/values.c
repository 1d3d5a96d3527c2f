#include "config/values.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "config/items.h"
#include "egress/rules.h"

/* --- problems --- */

const char *gb_config_quote(struct gb_str text, char ret[GB_CONFIG_QUOTED_MAX]) {
	size_t n = 0, most = GB_CONFIG_QUOTED_MAX - sizeof "''…";
	ret[n++] = '\'';
	for (size_t i = 0; i < text.n && i < most; i++) {
		unsigned char c = (unsigned char)text.p[i];
		ret[n++] = c < 0x20 || c >= 0x7f ? '?' : (char)c;
	}
	snprintf(ret + n, GB_CONFIG_QUOTED_MAX - n, "%s'", text.n > most ? "…" : "");
	return ret;
}

static bool problem(struct gb_setting_read *read, const char *what, const char *found) {
	snprintf(read->problem, sizeof read->problem, "expected %s, found %s", what, found);
	return false;
}

static bool out_of_memory(struct gb_setting_read *read) {
	snprintf(read->problem, sizeof read->problem, "there is no memory for its value");
	return false;
}

/* --- scalars --- */

static bool read_bool(struct gb_setting_read *read, struct gb_str text, void *to) {
	static const char *const words[][2] = {{"false", "true"}, {"no", "yes"}, {"off", "on"}, {"0", "1"}};
	for (size_t i = 0; i < GB_COUNT(words); i++)
		for (int value = 0; value < 2; value++)
			if (strcasecmp(text.p, words[i][value]) == 0) {
				*(bool *)to = value;
				return true;
			}
	return false;
}

static bool in_range(struct gb_setting_read *read, double number) {
	const struct gb_setting *setting = read->setting;
	return (setting->min == 0 && setting->max == 0) || (number >= setting->min && number <= setting->max);
}

/* Set the problem to the range that was expected; returns false. */
static bool out_of_range(struct gb_setting_read *read, struct gb_str text) {
	char quoted[GB_CONFIG_QUOTED_MAX];
	gb_auto_buf struct gb_buf range;
	gb_buf_init(&range, 1024);
	gb_setting_write_range(read->setting, &range);
	if (read->setting->type == GB_SETTING_DURATION)
		gb_buf_printf(&range, " (a plain number is %sseconds)",
		    read->unit == GB_UNIT_MILLISECONDS ? "milli" : "");
	if (read->setting->type == GB_SETTING_SIZE)
		gb_buf_printf(
		    &range, " (a plain number is %sbytes)", read->unit == GB_UNIT_MEGABYTES ? "mega" : "");
	const char *said = gb_buf_c_str(&range);
	return problem(read, said ? said : "another number", gb_config_quote(text, quoted));
}

static bool read_number(struct gb_str text, double *ret) {
	char *end = NULL;
	if (!isdigit((unsigned char)text.p[0]) || tolower((unsigned char)text.p[1]) == 'x')
		return false;
	*ret = strtod(text.p, &end);
	return *end == '\0' && isfinite(*ret);
}

static bool read_count(struct gb_setting_read *read, struct gb_str text, void *to) {
	double number;
	if (!read_number(text, &number) || number != floor(number))
		return false;
	if (!in_range(read, number))
		return out_of_range(read, text);
	*(unsigned *)to = (unsigned)number;
	return true;
}

static bool read_real(struct gb_setting_read *read, struct gb_str text, void *to) {
	double number;
	if (!read_number(text, &number))
		return false;
	if (!in_range(read, number))
		return out_of_range(read, text);
	*(double *)to = number;
	return true;
}

/* A number with a unit, or a plain number in the unit of its name. */
static bool read_measure(struct gb_setting_read *read, struct gb_str text,
    bool (*parse)(const char *, uint64_t *), double factor, uint64_t *to) {
	double plain;
	uint64_t value;
	if (factor != 0 && read_number(text, &plain)) {
		if (plain * factor > 0x1p62)
			return out_of_range(read, text);
		value = (uint64_t)llround(plain * factor);
	} else if (!parse(text.p, &value)) {
		return false;
	}
	if (!in_range(read, (double)value))
		return out_of_range(read, text);
	*to = value;
	return true;
}

static bool read_duration(struct gb_setting_read *read, struct gb_str text, void *to) {
	return read_measure(
	    read, text, gb_str_parse_duration_ms, read->unit == GB_UNIT_MILLISECONDS ? 1 : 0, to);
}

static bool read_size(struct gb_setting_read *read, struct gb_str text, void *to) {
	return read_measure(read, text, gb_str_parse_size, read->unit == GB_UNIT_MEGABYTES ? 0x1p20 : 0, to);
}

static const char *const modes[] = {[GB_CONFIG_RESTRICTED] = "restricted",
    [GB_CONFIG_PERMISSIVE] = "permissive",
    [GB_CONFIG_E2B] = "e2b",
    NULL};
static const char *const maskings[] = {[GB_CONFIG_MASK_ALL] = "all",
    [GB_CONFIG_MASK_REGISTERED] = "registered",
    [GB_CONFIG_MASK_NONE] = "none",
    NULL};

static bool find_word(const char *const *words, struct gb_str text, unsigned *ret) {
	for (unsigned i = 0; words[i]; i++)
		if (strcmp(text.p, words[i]) == 0) {
			*ret = i;
			return true;
		}
	return false;
}

static bool read_mode(struct gb_setting_read *read, struct gb_str text, void *to) {
	unsigned which;
	if (!find_word(modes, text, &which))
		return false;
	*(enum gb_config_mode *)to = (enum gb_config_mode)which;
	return true;
}

static bool read_masking(struct gb_setting_read *read, struct gb_str text, void *to) {
	unsigned which;
	if (!find_word(maskings, text, &which))
		return false;
	*(enum gb_config_masking *)to = (enum gb_config_masking)which;
	return true;
}

static bool read_path(struct gb_setting_read *read, struct gb_str text, void *to) {
	bool of_home = text.n > 1 && text.p[0] == '~' && text.p[1] == '/';
	if (!gb_config_is_text(text) || (text.n && text.p[0] != '/' && !of_home))
		return false;
	if (of_home && !read->home)
		return problem(read, "an absolute path, since there is no $HOME", text.p);
	gb_auto_buf struct gb_buf path;
	gb_buf_init(&path, PATH_MAX);
	gb_buf_append_str(&path, of_home ? gb_str_from(read->home) : text);
	if (of_home)
		gb_buf_append(&path, text.p + 1, text.n - 1);
	const char *copy = gb_buf_failed(&path) ? NULL : gb_arena_copy(read->arena, gb_buf_str(&path));
	*(const char **)to = copy;
	return copy || out_of_memory(read);
}

static bool read_host(struct gb_setting_read *read, struct gb_str text, void *to) {
	struct gb_host_rule rule = {0};
	const char *why = "'*' is not allowed here";
	char host[GB_HOST_RULE_MAX + 1] = "";
	if (text.n && (!gb_host_rule_parse(text, &rule, &why) || !gb_host_rule_is_one(&rule)))
		return problem(read, "a host such as proxy.example.com:3128", text.p);
	if (text.n)
		gb_host_rule_write(&rule, host, sizeof host);
	const char *copy = gb_arena_copy(read->arena, gb_str_from(host));
	*(const char **)to = copy;
	return copy || out_of_memory(read);
}

/* "${NAME}". The error does not quote the value, which may be a secret. */
static bool read_variable(struct gb_setting_read *read, struct gb_str text, void *to) {
	if (text.n < 4 || strncmp(text.p, "${", 2) != 0 || text.p[text.n - 1] != '}')
		return problem(read, "a variable's name such as ${E2B_API_KEY}, never the secret itself",
		    "something else");
	const char *name = gb_arena_copy(read->arena, (struct gb_str){text.p + 2, text.n - 3});
	if (!name)
		return out_of_memory(read);
	*(const char **)to = name;
	return gb_config_is_variable(gb_str_from(name));
}

/* --- writing --- */

struct measure {
	const char *unit;
	double factor;
};

static void write_measure(struct gb_buf *out, uint64_t value, const struct measure *units) {
	for (; units->factor > 1; units++)
		if (value && value % (uint64_t)units->factor == 0)
			break;
	gb_buf_printf(
	    out, "%llu%s", (unsigned long long)(value / (uint64_t)units->factor), value ? units->unit : "");
}

void gb_config_write_duration(struct gb_buf *out, uint64_t ms) {
	static const struct measure units[] = {{"d", 864e5}, {"h", 36e5}, {"m", 6e4}, {"s", 1e3}, {"ms", 1}};
	write_measure(out, ms, units);
}

void gb_config_write_size(struct gb_buf *out, uint64_t bytes) {
	static const struct measure units[] = {{"G", 0x1p30}, {"M", 0x1p20}, {"K", 0x1p10}, {"", 1}};
	write_measure(out, bytes, units);
}

static void write_bool(struct gb_buf *out, const void *from) {
	gb_buf_printf(out, "%s", *(const bool *)from ? "true" : "false");
}

static void write_count(struct gb_buf *out, const void *from) {
	gb_buf_printf(out, "%u", *(const unsigned *)from);
}

static void write_real(struct gb_buf *out, const void *from) {
	gb_buf_printf(out, "%.10g", *(const double *)from);
}

static void write_duration(struct gb_buf *out, const void *from) {
	gb_config_write_duration(out, *(const uint64_t *)from);
}

static void write_size(struct gb_buf *out, const void *from) {
	gb_config_write_size(out, *(const uint64_t *)from);
}

static void write_mode(struct gb_buf *out, const void *from) {
	gb_buf_printf(out, "%s", modes[*(const enum gb_config_mode *)from]);
}

static void write_masking(struct gb_buf *out, const void *from) {
	gb_buf_printf(out, "%s", maskings[*(const enum gb_config_masking *)from]);
}

static void write_path(struct gb_buf *out, const void *from) {
	gb_config_write_item(out, *(const char *const *)from);
}

static void write_variable(struct gb_buf *out, const void *from) {
	gb_buf_printf(out, "${%s}", *(const char *const *)from);
}

/* --- the table of types --- */

static const struct type {
	const char *name;
	const char *expected;
	size_t size;
	bool (*read)(struct gb_setting_read *read, struct gb_str text, void *to); /* of scalars; on false
										   * sets problem, or leaves
										   * that to the caller */
	void (*write)(struct gb_buf *out, const void *from);
	bool unquoted; /* must not be quoted in YAML */
} types[GB_SETTING_TYPES] = {
    [GB_SETTING_BOOL] = {"boolean", "true or false", sizeof(bool), read_bool, write_bool, true},
    [GB_SETTING_COUNT] = {"whole number", "a whole number", sizeof(unsigned), read_count, write_count, true},
    [GB_SETTING_REAL] = {"number", "a number", sizeof(double), read_real, write_real, true},
    [GB_SETTING_DURATION] = {"duration", "a duration such as 500ms, 180s or 5m", sizeof(uint64_t),
	read_duration, write_duration, false},
    [GB_SETTING_SIZE] = {"size", "a size such as 64K or 256M", sizeof(uint64_t), read_size, write_size,
	false},
    [GB_SETTING_MODE] = {"one of restricted, permissive, e2b", "restricted, permissive or e2b",
	sizeof(enum gb_config_mode), read_mode, write_mode, false},
    [GB_SETTING_MASKING] = {"one of all, registered, none", "all, registered or none",
	sizeof(enum gb_config_masking), read_masking, write_masking, false},
    [GB_SETTING_PATH] = {"path", "an absolute path", sizeof(char *), read_path, write_path, false},
    [GB_SETTING_VARIABLE] = {"variable", "a variable's name such as ${NAME}", sizeof(char *), read_variable,
	write_variable, false},
    [GB_SETTING_HOST] = {"host", "a host such as proxy.example.com:3128", sizeof(char *), read_host,
	write_path, false},
    [GB_SETTING_RUNTIMES] = {"list of runtimes", "a list", sizeof(unsigned),
	.write = gb_config_write_runtimes},
    [GB_SETTING_FACES] = {"list of faces", "a list", sizeof(unsigned), .write = gb_config_write_faces},
    [GB_SETTING_MODULES] = {"list of modules", "a list", sizeof(struct gb_config_list),
	.write = gb_config_write_list},
    [GB_SETTING_HOSTS] = {"list of hosts", "a list", sizeof(struct gb_config_list),
	.write = gb_config_write_list},
    [GB_SETTING_VARIABLES] = {"list of variables", "a list", sizeof(struct gb_config_list),
	.write = gb_config_write_list},
    [GB_SETTING_TEXTS] = {"list of texts", "a list", sizeof(struct gb_config_list),
	.write = gb_config_write_list},
    [GB_SETTING_PROFILES] = {"lists of modules by name", "names with a list of modules each",
	sizeof(struct gb_config_profiles), .write = gb_config_write_profiles},
};

static void *value_of(const struct gb_setting *setting, struct gb_config *config) {
	return (char *)config + setting->offset;
}

static const void *value_in(const struct gb_setting *setting, const struct gb_config *config) {
	return (const char *)config + setting->offset;
}

/* The node as text for "found …". */
static const char *found(const struct gb_yaml *node, char quoted[GB_CONFIG_QUOTED_MAX]) {
	if (node->kind != GB_YAML_SCALAR)
		return node->kind == GB_YAML_SEQUENCE ? "a list" : "a mapping";
	return gb_yaml_is_null(node) ? "nothing" : gb_config_quote(node->text, quoted);
}

static bool read_scalar(
    struct gb_setting_read *read, const struct type *type, const struct gb_yaml *node, void *to) {
	char quoted[GB_CONFIG_QUOTED_MAX];
	bool is_text =
	    node->kind == GB_YAML_SCALAR && !gb_yaml_is_null(node) && gb_config_is_text(node->text);
	if (is_text && node->quoted && type->unquoted)
		return problem(read, type->expected, "a text in quotes");
	if (is_text && type->read(read, node->text, to))
		return true;
	if (read->problem[0])
		return false;
	return problem(read, type->expected, found(node, quoted));
}

bool gb_setting_read(struct gb_setting_read *read, const struct gb_yaml *node, struct gb_config *into) {
	const struct type *type = &types[read->setting->type];
	void *to = value_of(read->setting, into);
	read->at = node;
	read->problem[0] = '\0';
	if (type->read)
		return read_scalar(read, type, node, to);
	char quoted[GB_CONFIG_QUOTED_MAX];
	bool profiles = read->setting->type == GB_SETTING_PROFILES;
	if (node->kind != (profiles ? GB_YAML_MAPPING : GB_YAML_SEQUENCE))
		return problem(read, type->expected, found(node, quoted));
	return profiles ? gb_config_read_profiles(read, node, to) : gb_config_read_list(read, node, to);
}

/* Convert "a, b" to a sequence. */
static struct gb_yaml *split(struct gb_arena *arena, struct gb_str text) {
	struct gb_yaml *list = gb_arena_alloc(arena, sizeof *list);
	if (!list)
		return NULL;
	*list = (struct gb_yaml){.kind = GB_YAML_SEQUENCE, .last = &list->first};
	for (bool more = text.n > 0; more; list->n++) {
		struct gb_str part;
		more = gb_str_cut(&text, ',', &part);
		while (part.n && isspace((unsigned char)part.p[0]))
			part = (struct gb_str){part.p + 1, part.n - 1};
		while (part.n && isspace((unsigned char)part.p[part.n - 1]))
			part.n--;
		struct gb_yaml_item *item = gb_arena_alloc(arena, sizeof *item);
		struct gb_yaml *node = gb_arena_alloc(arena, sizeof *node);
		char *copy = gb_arena_copy(arena, part);
		if (!item || !node || !copy)
			return NULL;
		*node = (struct gb_yaml){.quoted = true, .text = {copy, part.n}};
		item->value = node;
		*list->last = item;
		list->last = &item->next;
	}
	return list;
}

bool gb_setting_read_text(struct gb_setting_read *read, const char *text, struct gb_config *into) {
	const struct type *type = &types[read->setting->type];
	read->problem[0] = '\0';
	if (type->read) {
		struct gb_yaml node = {.text = gb_str_from(text), .quoted = !type->unquoted};
		return gb_setting_read(read, &node, into);
	}
	if (strcmp(text, "[]") == 0 || strcmp(text, "{}") == 0) { /* most defaults: no parser needed */
		const struct gb_yaml none = {.kind = text[0] == '[' ? GB_YAML_SEQUENCE : GB_YAML_MAPPING};
		return gb_setting_read(read, &none, into);
	}
	if (text[0] == '[' || text[0] == '{') {
		struct gb_yaml *node = NULL;
		struct gb_err err = {0};
		if (gb_yaml_read(read->arena, "in the value", gb_str_from(text), &node, &err) && node)
			return gb_setting_read(read, node, into);
		snprintf(read->problem, sizeof read->problem, "%.200s", err.message);
		return false;
	}
	struct gb_yaml *list = split(read->arena, gb_str_from(text));
	return list ? gb_setting_read(read, list, into) : out_of_memory(read);
}

void gb_setting_copy(const struct gb_setting *setting, const struct gb_config *from, struct gb_config *to) {
	memcpy(value_of(setting, to), value_in(setting, from), types[setting->type].size);
}

bool gb_setting_is_number(const struct gb_setting *setting) {
	return setting->type == GB_SETTING_COUNT || setting->type == GB_SETTING_REAL ||
	       setting->type == GB_SETTING_DURATION || setting->type == GB_SETTING_SIZE;
}

double gb_setting_number(const struct gb_setting *setting, const struct gb_config *config) {
	const void *from = value_in(setting, config);
	switch (setting->type) {
	case GB_SETTING_COUNT:
		return *(const unsigned *)from;
	case GB_SETTING_REAL:
		return *(const double *)from;
	case GB_SETTING_DURATION:
	case GB_SETTING_SIZE:
		return (double)*(const uint64_t *)from;
	default:
		return 0;
	}
}

void gb_setting_write(const struct gb_setting *setting, const struct gb_config *config, struct gb_buf *out) {
	types[setting->type].write(out, value_in(setting, config));
}

const char *gb_setting_type_name(const struct gb_setting *setting) {
	return types[setting->type].name;
}

void gb_setting_write_range(const struct gb_setting *setting, struct gb_buf *out) {
	const double limits[] = {setting->min, setting->max};
	if (setting->min == 0 && setting->max == 0)
		return;
	for (int i = 0; i < 2; i++) {
		if (setting->type == GB_SETTING_DURATION)
			gb_config_write_duration(out, (uint64_t)limits[i]);
		else if (setting->type == GB_SETTING_SIZE)
			gb_config_write_size(out, (uint64_t)limits[i]);
		else
			gb_buf_printf(out, "%.10g", limits[i]);
		if (i == 0)
			gb_buf_printf(out, " to ");
	}
}
