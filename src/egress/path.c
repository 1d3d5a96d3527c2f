#include "egress/path.h"

#include <string.h>

static bool fail(const char **ret_problem, const char *problem) {
	*ret_problem = problem;
	return false;
}

/* --- the normal form --- */

static bool is_alphanumeric(char c) {
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* Characters that mean the same whether they are escaped or not: RFC 3986, 2.3. */
static bool is_unreserved(char c) {
	return is_alphanumeric(c) || (c && strchr("-._~", c));
}

static bool is_path_character(char c) {
	return is_unreserved(c) || (c && strchr("/!$&'()*+,;=:@", c));
}

static int hex(char c) {
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
				      : -1;
}

/* The byte that the escape at @i stands for; -1 if there is none. */
static int escaped(struct gb_str text, size_t i) {
	if (i + 2 >= text.n || text.p[i] != '%' || hex(text.p[i + 1]) < 0 || hex(text.p[i + 2]) < 0)
		return -1;
	return hex(text.p[i + 1]) << 4 | hex(text.p[i + 2]);
}

struct out {
	char *to;
	size_t n, size;
};

static bool put(struct out *out, char c) {
	if (out->n == out->size)
		return false;
	out->to[out->n++] = c;
	return true;
}

static bool put_escape(struct out *out, struct gb_str text, size_t i, const char **ret_problem) {
	static const char digits[] = "0123456789ABCDEF";
	const int byte = escaped(text, i);
	bool fits;
	if (byte < 0)
		return fail(ret_problem, "the path has a '%' without two hexadecimal digits");
	if (byte == '/' || byte == '\\' || byte < 0x20 || byte == 0x7f)
		return fail(ret_problem, "the path has an encoded slash, backslash or control character");
	if (is_unreserved((char)byte))
		fits = put(out, (char)byte);
	else
		fits = put(out, '%') && put(out, digits[byte >> 4]) && put(out, digits[byte & 15]);
	return fits || fail(ret_problem, "the path is too long");
}

static bool decode(struct gb_str text, struct out *out, const char **ret_problem) {
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] == '%') {
			if (!put_escape(out, text, i, ret_problem))
				return false;
			i += 2;
		} else if (!is_path_character(text.p[i])) {
			return fail(ret_problem, "the path has a character that must be percent-encoded");
		} else if (!put(out, text.p[i])) {
			return fail(ret_problem, "the path is too long");
		}
	}
	return true;
}

/* "%252e", in a decoded path: a server that decodes twice sees a dot. */
static bool is_encoded_twice(struct gb_str path) {
	for (size_t i = 0; i + 2 < path.n; i++) {
		if (escaped(path, i) != '%' || i + 4 >= path.n)
			continue;
		const int high = hex(path.p[i + 3]), low = hex(path.p[i + 4]);
		const int byte = high < 0 || low < 0 ? 'x' : high << 4 | low;
		if (byte == '.' || byte == '/' || byte == '\\' || byte == '%' || byte == ';' || byte == 0)
			return true;
	}
	return false;
}

/* "..;x": some servers cut what follows ';' before they look at the segment. */
static size_t dots_of(struct gb_str segment) {
	size_t dots = 0;
	while (dots < segment.n && segment.p[dots] == '.')
		dots++;
	const struct gb_str rest = {segment.p + dots, segment.n - dots};
	const bool cut = rest.n && (rest.p[0] == ';' || (rest.n >= 3 && memcmp(rest.p, "%3B", 3) == 0));
	return dots && dots <= 2 && (rest.n == 0 || cut) ? dots : 0;
}

/* Remove the dot segments of a decoded path, in place. */
static bool remove_dots(struct out *out, const char **ret_problem) {
	struct gb_str rest = {out->to + 1, out->n - 1}, segment;
	size_t n = 1; /* written; the path so far ends with '/' */
	for (bool more = true; more;) {
		more = gb_str_cut(&rest, '/', &segment);
		const size_t dots = dots_of(segment);
		if (dots && dots != segment.n)
			return fail(ret_problem, "the path has a dot segment with a parameter");
		if (segment.n == 0 && more)
			return fail(ret_problem, "the path has two slashes in a row");
		if (dots == 2 && n == 1)
			return fail(ret_problem, "the path leads above '/'");
		if (dots == 2) {
			n--;
			while (out->to[n - 1] != '/')
				n--;
		} else if (dots == 0) {
			memmove(out->to + n, segment.p, segment.n);
			n += segment.n;
			if (more)
				out->to[n++] = '/';
		}
	}
	out->n = n;
	return true;
}

bool gb_path_normalise(
    struct gb_str target, char *to, size_t size, struct gb_str *ret_path, const char **ret_problem) {
	const char *query = target.n ? memchr(target.p, '?', target.n) : NULL;
	struct out out = {to, 0, size};
	if (query)
		target.n = (size_t)(query - target.p);
	if (target.n == 0 || target.p[0] != '/')
		return fail(ret_problem, "the path does not begin with '/'");
	if (!decode(target, &out, ret_problem))
		return false;
	if (is_encoded_twice((struct gb_str){to, out.n}))
		return fail(ret_problem, "the path is encoded twice");
	if (!remove_dots(&out, ret_problem))
		return false;
	*ret_path = (struct gb_str){to, out.n};
	return true;
}

/* --- patterns --- */

static bool is_star(struct gb_str segment) {
	return segment.n == 1 && segment.p[0] == '*';
}

bool gb_path_pattern_parse(struct gb_str text, char *to, const char **ret_problem) {
	struct gb_str path, segment;
	if (text.n && memchr(text.p, '?', text.n))
		return fail(ret_problem, "a path in a rule has no query: it admits every query");
	if (!gb_path_normalise(text, to, GB_PATH_PATTERN_MAX, &path, ret_problem))
		return false;
	to[path.n] = '\0';
	for (bool more = true; more;) {
		more = gb_str_cut(&path, '/', &segment);
		if (!is_star(segment) && segment.n && memchr(segment.p, '*', segment.n))
			return fail(ret_problem, "'*' stands for a whole segment of a path, as in /v1/*");
	}
	return true;
}

/* Whether the segment of a pattern stands for that of a path or of another pattern. */
static bool fits(struct gb_str pattern, struct gb_str segment) {
	return is_star(pattern) ? segment.n > 0 : gb_str_eq(pattern, segment);
}

/* A "*" at the end of @outer matches the rest of @inner. One at the end of @inner is only matched by another: as a
 * path, @inner has none, since the caller says so by @is_pattern. */
static bool compare(const char *outer_text, struct gb_str inner, bool is_pattern) {
	struct gb_str outer = gb_str_from(outer_text), left, right;
	for (bool more_outer = true, more_inner = true;;) {
		if (!more_outer || !more_inner)
			return more_outer == more_inner;
		more_outer = gb_str_cut(&outer, '/', &left);
		more_inner = gb_str_cut(&inner, '/', &right);
		if (is_star(left) && !more_outer)
			return true;
		if (is_pattern && is_star(right) && (!more_inner || !is_star(left)))
			return false;
		if (!fits(left, right))
			return false;
	}
}

bool gb_path_matches(const char *pattern, struct gb_str path) {
	return compare(pattern, path, false);
}

bool gb_path_covers(const char *outer, const char *inner) {
	return compare(outer, gb_str_from(inner), true);
}
