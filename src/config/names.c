/* Names of settings: exact and approximate search. */
#include <ctype.h>
#include <limits.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/nearest.h"
#include "config/settings.h"

/* Iterates over all names: of each setting its name, then its aliases. NULL at the end. */
struct name_walk {
	size_t setting;
	unsigned alias;
};

static const char *next_name(
    struct name_walk *walk, const struct gb_setting **ret_setting, enum gb_setting_unit *ret_unit) {
	for (; walk->setting < gb_settings_count; walk->setting++, walk->alias = 0) {
		const struct gb_setting *setting = &gb_settings[walk->setting];
		unsigned i = walk->alias++;
		bool own = i == 0, other = !own && i <= GB_SETTING_ALIASES && setting->aliases[i - 1].name;
		if (!own && !other)
			continue;
		*ret_setting = setting;
		*ret_unit = own ? GB_UNIT_USUAL : setting->aliases[i - 1].unit;
		return own ? setting->name : setting->aliases[i - 1].name;
	}
	return NULL;
}

const struct gb_setting *gb_setting_find(const char *name, enum gb_setting_unit *ret_unit) {
	struct name_walk walk = {0};
	const struct gb_setting *setting = NULL;
	enum gb_setting_unit unit = GB_UNIT_USUAL;
	for (const char *known; (known = next_name(&walk, &setting, &unit));)
		if (strcmp(known, name) == 0) {
			*ret_unit = unit;
			return setting;
		}
	return NULL;
}

const struct gb_setting *gb_setting_at(size_t offset) {
	for (size_t i = 0; i < gb_settings_count; i++)
		if (gb_settings[i].offset == offset)
			return &gb_settings[i];
	return NULL;
}

bool gb_setting_is_section(const char *path) {
	struct name_walk walk = {0};
	const struct gb_setting *setting = NULL;
	enum gb_setting_unit unit = GB_UNIT_USUAL;
	size_t n = strlen(path);
	for (const char *known; (known = next_name(&walk, &setting, &unit));)
		if (strncmp(known, path, n) == 0 && known[n] == '.')
			return true;
	return false;
}

static bool same_letter(char a, char b) {
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Distance between @given and @known; UINT_MAX if they are not similar. A common prefix up to a dot is
 * ignored; the last keys of a name match as well as the whole name. */
static unsigned distance_to_name(struct gb_str given, struct gb_str known) {
	if (known.n > given.n && known.p[known.n - given.n - 1] == '.' &&
	    strncasecmp(known.p + known.n - given.n, given.p, given.n) == 0)
		return 1;
	size_t same = 0;
	for (size_t i = 0; i < given.n && i < known.n && same_letter(given.p[i], known.p[i]); i++)
		if (given.p[i] == '.')
			same = i + 1;
	struct gb_str a = {given.p + same, given.n - same}, b = {known.p + same, known.n - same};
	return gb_word_distance(a, b);
}

const char *gb_setting_nearest(const char *name, char ret[GB_SETTING_NAME_MAX]) {
	struct gb_str given = gb_str_from(name), best = {0};
	struct name_walk walk = {0};
	const struct gb_setting *setting = NULL;
	enum gb_setting_unit unit = GB_UNIT_USUAL;
	unsigned least_so_far = UINT_MAX;
	if (given.n == 0 || given.n > GB_SETTING_NAME_MAX)
		return NULL;
	for (const char *known; (known = next_name(&walk, &setting, &unit));)
		for (const char *end = known; end; end = strchr(end + 1, '.')) {
			/* First the whole name, then its sections. */
			struct gb_str part = {known, end == known ? strlen(known) : (size_t)(end - known)};
			unsigned d = distance_to_name(given, part);
			if (d < least_so_far) {
				least_so_far = d;
				best = part;
			}
		}
	if (!best.n || best.n >= GB_SETTING_NAME_MAX)
		return NULL;
	memcpy(ret, best.p, best.n);
	ret[best.n] = '\0';
	return ret;
}

void gb_setting_variable(const struct gb_setting *setting, char ret[GB_SETTING_NAME_MAX]) {
	size_t n = 0;
	for (const char *p = "GLOVEBOX_"; *p; p++)
		ret[n++] = *p;
	for (const char *p = setting->name; *p && n + 2 < GB_SETTING_NAME_MAX; p++) {
		if (isupper((unsigned char)*p))
			ret[n++] = '_';
		ret[n++] = *p == '.' ? '_' : (char)toupper((unsigned char)*p);
	}
	ret[n] = '\0';
}
