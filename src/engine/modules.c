/* Validates specifiers in a request: bare ones for imports, relative ones for modules. */
#include <string.h>

#include "base/err.h"
#include "base/str.h"
#include "engine/engine.h"
#include "value/wtf8.h"

static struct gb_str text_of(const struct gb_value *string) {
	struct gb_str s = {0};
	s.p = gb_value_bytes(string, &s.n);
	return s;
}

static bool starts_with(struct gb_str s, const char *prefix) {
	size_t n = strlen(prefix);
	return s.n >= n && memcmp(s.p, prefix, n) == 0;
}

/* What a browser would fetch. Other schemes, as in "node:fs", are bare specifiers. */
static bool is_url(struct gb_str s) {
	static const char *const schemes[] = {"http:", "https:", "file:", "data:", "blob:", "javascript:"};
	for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
		if (starts_with(s, schemes[i]))
			return true;
	return memmem(s.p, s.n, "://", 3);
}

static bool check_import(struct gb_str specifier, const struct gb_value *exports, struct gb_err *err) {
	if (specifier.n == 0 || specifier.p[0] == '.' || specifier.p[0] == '/' || is_url(specifier))
		return gb_fail_field(err, GB_EINVAL, "imports",
		    "'%.*s' is not a bare specifier, such as 'fs' or '@scope/name'", (int)specifier.n,
		    specifier.p);
	if (gb_value_type(exports) != GB_OBJECT)
		return gb_fail_field(err, GB_EINVAL, "imports", "'%.*s' must be an object of named exports",
		    (int)specifier.n, specifier.p);
	/* The JavaScript engine ends names of modules and exports at a NUL. */
	bool zero = memchr(specifier.p, '\0', specifier.n);
	for (size_t i = 0; i < gb_value_count(exports) && !zero; i++) {
		struct gb_str name = text_of(gb_value_key_at(exports, i));
		zero = name.n && memchr(name.p, '\0', name.n);
	}
	return !zero || gb_fail_field(err, GB_EINVAL, "imports",
			    "'%.*s' holds the character U+0000, in its name or that of an export",
			    (int)specifier.n, specifier.p);
}

/* "./a/b.js": every component is a name. */
static bool is_relative(struct gb_str specifier) {
	struct gb_str part, rest = specifier;
	if (!starts_with(specifier, "./") || memchr(specifier.p, '\0', specifier.n))
		return false;
	for (gb_str_cut(&rest, '/', &part); rest.n;) {
		gb_str_cut(&rest, '/', &part);
		if (part.n == 0 || gb_str_eq(part, GB_STR(".")) || gb_str_eq(part, GB_STR("..")))
			return false;
	}
	return specifier.n > 2 && specifier.p[specifier.n - 1] != '/';
}

static bool check_module(struct gb_str specifier, const struct gb_value *source, struct gb_err *err) {
	if (!is_relative(specifier))
		return gb_fail_field(err, GB_EINVAL, "modules",
		    "'%.*s' is not a relative specifier from the root, such as './lib/math.js'",
		    (int)specifier.n, specifier.p);
	if (gb_value_type(source) != GB_STRING)
		return gb_fail_field(err, GB_EINVAL, "modules", "'%.*s' must be a string: its source",
		    (int)specifier.n, specifier.p);
	struct gb_str text = text_of(source);
	if (text.n > GB_SOURCE_MAX)
		return gb_fail_field(err, GB_ELIMIT, "modules", "'%.*s' has more than %u bytes",
		    (int)specifier.n, specifier.p, GB_SOURCE_MAX);
	return true;
}

static bool check_each(const char *field, const struct gb_value *map,
    bool (*check)(struct gb_str specifier, const struct gb_value *item, struct gb_err *err),
    struct gb_err *err) {
	if (map && gb_value_type(map) != GB_OBJECT)
		return gb_fail_field(err, GB_EINVAL, field, "must be an object");
	for (size_t i = 0; i < gb_value_count(map); i++)
		if (!check(text_of(gb_value_key_at(map, i)), gb_value_at(map, i), err))
			return false;
	return true;
}

bool gb_request_check_modules(const struct gb_run_options *options, struct gb_err *err) {
	return check_each("imports", options->imports, check_import, err) &&
	       check_each("modules", options->modules, check_module, err);
}
