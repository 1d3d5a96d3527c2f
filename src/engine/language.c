/* The run options that each language supports. */
#include "engine/engine.h"
#include "engine/limits.h"

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
