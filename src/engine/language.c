/* The run options that each language supports. */
#include "engine/engine.h"

static const struct gb_language_traits languages[GB_LANGUAGES] = {
    [GB_TYPESCRIPT] = {.has_sessions = true, .has_net = true, .has_modules = true},
    [GB_JAVASCRIPT] = {.has_sessions = true, .has_net = true, .has_modules = true},
    [GB_PYTHON] = {.has_box = true,
	.has_sessions = true,
	.has_profiles = true,
	.has_restricted = true,
	.has_allowlist = true,
	.has_net = true,
	.has_modules = true},
    [GB_SHELL] = {.has_box = true,
	.has_sessions = true,
	.has_terminal = true,
	.has_net = true,
	.has_restricted = true},
    [GB_NODE] =
	{.has_box = true, .has_sessions = true, .has_allowlist = true, .has_net = true, .has_modules = true},
    [GB_DENO] = {.has_box = true, .has_net = true, .has_modules = true},
};

bool gb_language_has(enum gb_language language, enum gb_need need) {
	const struct gb_language_traits *traits = gb_language_traits(language);
	switch (need) {
	case GB_NEED_EVERY:
		return true;
	case GB_NEED_MODULES:
		return traits->has_modules;
	case GB_NEED_BOX:
		return traits->has_box;
	case GB_NEED_PROFILES:
		return traits->has_profiles;
	case GB_NEED_RESTRICTED:
		return traits->has_restricted;
	case GB_NEED_ALLOWLIST:
		return traits->has_allowlist;
	case GB_NEED_NET:
		return traits->has_net;
	case GB_NEED_SESSIONS:
		return traits->has_sessions;
	}
	return false;
}

const struct gb_language_traits *gb_language_traits(enum gb_language language) {
	return &languages[language < GB_LANGUAGES ? language : GB_TYPESCRIPT];
}

uint64_t gb_language_memory(enum gb_language language) {
	return (uint64_t)gb_language_infos[language < GB_LANGUAGES ? language : GB_TYPESCRIPT].memory_mib
	       << 20;
}
