#include "base/language.h"

#include <string.h>

#define SECTION(section, name, memory, ...)                                                                  \
	static const char section_##section[] = name;                                                        \
	enum { MEMORY_##section = memory };
GB_LANGUAGE_SECTION_TABLE(SECTION)

#define INFO(constant, name, aliases, endings, section, syntax, doc)                                         \
	[constant] = {name, aliases, endings, section_##section, MEMORY_##section, doc, GB_SYNTAX_##syntax},
const struct gb_language_info gb_language_infos[GB_LANGUAGES] = {GB_LANGUAGE_TABLE(INFO)};

#define NAME(constant, name, ...) [constant] = name,
const char *const gb_language_names[GB_LANGUAGES + 1] = {GB_LANGUAGE_TABLE(NAME)};

/* Is @word one of the words of @list, which have spaces between? */
static bool is_listed(const char *list, struct gb_str word) {
	struct gb_str rest = gb_str_from(list), item;
	for (bool more = true; more;) {
		more = gb_str_cut(&rest, ' ', &item);
		if (word.n && gb_str_eq(item, word))
			return true;
	}
	return false;
}

const char *gb_language_name(enum gb_language language) {
	return gb_language_names[(unsigned)language < GB_LANGUAGES ? language : GB_TYPESCRIPT];
}

bool gb_language_find_str(struct gb_str name, enum gb_language *ret) {
	for (unsigned i = 0; i < GB_LANGUAGES; i++)
		if (gb_str_eq(name, gb_str_from(gb_language_infos[i].name)) ||
		    is_listed(gb_language_infos[i].aliases, name)) {
			*ret = (enum gb_language)i;
			return true;
		}
	return false;
}

bool gb_language_find(const char *name, enum gb_language *ret) {
	return gb_language_find_str(gb_str_from(name), ret);
}

bool gb_language_of_file(const char *path, enum gb_language *ret) {
	const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
	for (unsigned i = 0; dot && i < GB_LANGUAGES; i++)
		if (is_listed(gb_language_infos[i].endings, gb_str_from(dot))) {
			*ret = (enum gb_language)i;
			return true;
		}
	return false;
}

/* The words of @list with commas between. */
static void write_list(struct gb_buf *out, const char *list) {
	struct gb_str rest = gb_str_from(list), item;
	for (bool more = true; more;) {
		more = gb_str_cut(&rest, ' ', &item);
		gb_buf_printf(out, "%.*s%s", GB_STR_ARG(item), more ? ", " : "");
	}
}

void gb_language_write_names(struct gb_buf *out) {
	for (unsigned i = 0; i < GB_LANGUAGES; i++) {
		const struct gb_language_info *info = &gb_language_infos[i];
		gb_buf_printf(out, "%s%s%s", i ? ", " : "", info->name, *info->aliases ? " (" : "");
		write_list(out, info->aliases);
		gb_buf_printf(out, "%s", *info->aliases ? ")" : "");
	}
}

void gb_language_write_endings(struct gb_buf *out) {
	for (unsigned i = 0, n = 0; i < GB_LANGUAGES; i++) {
		const struct gb_language_info *info = &gb_language_infos[i];
		if (!*info->endings)
			continue;
		gb_buf_printf(out, "%s", n++ ? ", " : "");
		write_list(out, info->endings);
		gb_buf_printf(out, " (%s)", info->name);
	}
}
