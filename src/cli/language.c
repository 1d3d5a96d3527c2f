#include "cli/language.h"

#include <string.h>

#include "base/language.h"

enum { LIST_MAX = 1024 };

static bool report_unknown_language(const struct command *command, const char *name) {
	gb_auto_buf struct gb_buf all;
	gb_buf_init(&all, LIST_MAX);
	gb_language_write_names(&all);
	return report_error(command, "-l: there is no language '%s'; there are %s", name, gb_buf_c_str(&all));
}

static bool report_unknown_ending(const struct command *command, const char *file) {
	const char *slash = strrchr(file, '/'), *dot = strrchr(slash ? slash : file, '.');
	gb_auto_buf struct gb_buf all;
	gb_buf_init(&all, LIST_MAX);
	gb_language_write_endings(&all);
	return report_error(command,
	    "'%s' has %s%s, so its language is not known; name it with -l, or use one of these endings: %s",
	    file, dot ? "the ending " : "no ending", dot ? dot : "", gb_buf_c_str(&all));
}

bool language_choose(
    const struct command *command, const char *name, const char *file, enum gb_language *ret) {
	if (name)
		return gb_language_find(name, ret) || report_unknown_language(command, name);
	if (file && strcmp(file, "-") != 0)
		return gb_language_of_file(file, ret) || report_unknown_ending(command, file);
	*ret = GB_TYPESCRIPT;
	return true;
}

void language_print_all(FILE *to) {
	fprintf(to, "\nLanguages: name, aliases, file endings\n");
	for (unsigned i = 0; i < GB_LANGUAGES; i++) {
		const struct gb_language_info *info = &gb_language_infos[i];
		fprintf(to, "  %-12s %-12s %-12s %s\n", info->name, info->aliases, info->endings, info->doc);
	}
}
