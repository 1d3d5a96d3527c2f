/*
 * Test values for every setting, by its type: the value of an owner, a lower and a higher one.
 */
#ifndef GB_TESTS_SETTINGS_H
#define GB_TESTS_SETTINGS_H

#include <math.h>

#include "config/settings.h"
#include "config/values.h"
#include "tap.h"

enum which { OWNERS, LESS, MORE };

/* A number in the unit of the setting, as text. */
static inline void write_number(const struct gb_setting *setting, double number, char *ret, size_t n) {
	const char *unit = setting->type == GB_SETTING_DURATION ? "ms" : "";
	if (setting->type == GB_SETTING_REAL)
		snprintf(ret, n, "%.10g", number);
	else
		snprintf(ret, n, "%.0f%s", number, unit);
}

static inline void value_for(const struct gb_setting *setting, enum which which, char *ret, size_t n) {
	static const char *const words[GB_SETTING_TYPES][3] = {
	    [GB_SETTING_MODE] = {"permissive", "restricted", "e2b"},
	    [GB_SETTING_MASKING] = {"registered", "all", "none"},
	    [GB_SETTING_PATH] = {"/owner", "/less", "/more"},
	    [GB_SETTING_VARIABLE] = {"${OWNER}", "${LESS}", "${MORE}"},
	    [GB_SETTING_HOST] = {"owner.example:1", "less.example:1", "more.example:1"},
	    [GB_SETTING_RUNTIMES] = {"[python, shell]", "[shell]", "[python, deno]"},
	    [GB_SETTING_FACES] = {"[executor, actions]", "[actions]", "[executor, execute_code]"},
	    [GB_SETTING_MODULES] = {"[a, b]", "[b]", "[a, c]"},
	    [GB_SETTING_HOSTS] = {"[a.example, b.example]", "[b.example]", "[a.example, c.example]"},
	    [GB_SETTING_VARIABLES] = {"[A, B]", "[B]", "[A, C]"},
	    [GB_SETTING_TEXTS] = {"[aa, bb]", "[bb]", "[aa, cc]"},
	    [GB_SETTING_PROFILES] = {"{p: [json]}", "{}", "{p: [json, re]}"},
	};
	if (!gb_setting_is_number(setting)) {
		snprintf(ret, n, "%s", words[setting->type][which]);
		return;
	}
	const double numbers[] = {floor((setting->min + setting->max) / 2), setting->min, setting->max};
	write_number(setting, numbers[which], ret, n);
}

/* "name: value" of the setting, with its maximum as high as possible. */
static inline void line_for(
    const struct gb_setting *setting, const char *value, bool bound, char *ret, size_t n) {
	enum gb_setting_unit unit;
	const struct gb_setting *max =
	    bound && setting->at_most ? gb_setting_find(setting->at_most, &unit) : NULL;
	char most[64] = "";
	if (max)
		value_for(max, MORE, most, sizeof most);
	snprintf(
	    ret, n, "%s: %s\n%s%s%s\n", setting->name, value, max ? max->name : "", max ? ": " : "", most);
}

/* Read @value of a setting into @into, whether or not it is available. */
static inline bool read_for(
    const struct gb_setting *setting, const char *value, struct gb_arena *arena, struct gb_config *into) {
	struct gb_setting_read read = {.setting = setting, .arena = arena};
	return gb_setting_read_text(&read, value, into);
}

#endif
