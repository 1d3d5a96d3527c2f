/* The table of languages: their names, and the run options that they support. */
#include "engine/language.h"

#include <string.h>

#include "engine/engine.h"
#include "engine/limits.h"

const char *const gb_language_names[] = {
    [GB_TYPESCRIPT] = "typescript",
    [GB_JAVASCRIPT] = "javascript",
    [GB_PYTHON] = "python",
    [GB_SHELL] = "shell",
    [GB_NODE] = "node",
    [GB_DENO] = "deno",
    NULL,
};

static const struct gb_language_traits languages[GB_LANGUAGES] = {
    [GB_TYPESCRIPT] = {.has_sessions = true, .has_modules = true, .memory = DEFAULT_MEMORY},
    [GB_JAVASCRIPT] = {.has_sessions = true, .has_modules = true, .memory = DEFAULT_MEMORY},
    [GB_PYTHON] = {.has_box = true,
	.has_sessions = true,
	.has_restricted = true,
	.has_allowlist = true,
	.has_modules = true,
	.memory = DEFAULT_MEMORY},
    [GB_SHELL] = {.has_box = true,
	.has_sessions = true,
	.has_terminal = true,
	.has_restricted = true,
	.memory = PROGRAM_MEMORY},
    [GB_NODE] = {.has_box = true,
	.has_sessions = true,
	.has_allowlist = true,
	.has_modules = true,
	.memory = PROGRAM_MEMORY},
    [GB_DENO] = {.has_box = true, .has_net = true, .has_modules = true, .memory = PROGRAM_MEMORY},
};

const struct gb_language_traits *gb_language_traits(enum gb_language language) {
	return &languages[language < GB_LANGUAGES ? language : GB_TYPESCRIPT];
}

const char *gb_language_name(enum gb_language language) {
	return gb_language_names[language < GB_LANGUAGES ? language : GB_TYPESCRIPT];
}

bool gb_language_find(const char *name, enum gb_language *ret) {
	for (unsigned i = 0; gb_language_names[i]; i++)
		if (strcmp(gb_language_names[i], name) == 0) {
			*ret = (enum gb_language)i;
			return true;
		}
	return false;
}
