/* A normal path is normal, has no dot segments, and is matched by its own pattern. A pattern that covers another
 * matches every path that the other matches. The input: a pattern, a line end, a second one, a line end, a path. */
#include "fuzz.h"

#include <string.h>

#include "egress/path.h"

static bool has_dots(struct gb_str path) {
	struct gb_str segment;
	bool found = false;
	for (bool more = true; more;) {
		more = gb_str_cut(&path, '/', &segment);
		found |= gb_str_eq(segment, GB_STR(".")) || gb_str_eq(segment, GB_STR(".."));
	}
	return found;
}

static void check_path(struct gb_str path) {
	char again[512];
	struct gb_str same;
	const char *problem = NULL;
	ALWAYS(path.n && path.p[0] == '/');
	ALWAYS(!memchr(path.p, '\\', path.n) && !memmem(path.p, path.n, "//", 2) && !has_dots(path));
	ALWAYS(gb_path_normalise(path, again, sizeof again, &same, &problem));
	ALWAYS(gb_str_eq(path, same));
	ALWAYS(gb_path_matches("/*", path));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct gb_str rest = {(const char *)data, size}, first, second, path;
	char a[GB_PATH_PATTERN_MAX + 1], b[GB_PATH_PATTERN_MAX + 1], to[512];
	const char *problem = NULL;
	gb_str_cut(&rest, '\n', &first);
	gb_str_cut(&rest, '\n', &second);
	const bool has_a = gb_path_pattern_parse(first, a, &problem);
	ALWAYS(has_a || problem);
	const bool has_b = gb_path_pattern_parse(second, b, &problem);
	const bool has_path = gb_path_normalise(rest, to, sizeof to, &path, &problem);
	if (has_path)
		check_path(path);
	if (has_a)
		ALWAYS(gb_path_covers(a, a));
	if (has_a && has_path && !strchr(a, '*'))
		ALWAYS(gb_path_matches(a, path) == gb_str_eq(gb_str_from(a), path));
	if (has_a && has_b && has_path && gb_path_covers(a, b) && gb_path_matches(b, path))
		ALWAYS(gb_path_matches(a, path));
	return 0;
}
