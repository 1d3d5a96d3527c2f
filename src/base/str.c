#include "base/str.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>

bool gb_str_ends_with(struct gb_str s, struct gb_str tail) {
	return s.n >= tail.n && (tail.n == 0 || memcmp(s.p + s.n - tail.n, tail.p, tail.n) == 0);
}

bool gb_str_cut(struct gb_str *rest, char separator, struct gb_str *ret_head) {
	const char *at = rest->n ? memchr(rest->p, separator, rest->n) : NULL;
	if (!at) {
		*ret_head = *rest;
		*rest = (struct gb_str){rest->n ? rest->p + rest->n : rest->p, 0};
		return false;
	}
	*ret_head = (struct gb_str){rest->p, (size_t)(at - rest->p)};
	*rest = (struct gb_str){at + 1, rest->n - ret_head->n - 1};
	return true;
}

size_t gb_text_fit(struct gb_str s, size_t max) {
	size_t n = s.n < max ? s.n : max;
	while (n > 0 && n < s.n && ((unsigned char)s.p[n] & 0xc0) == 0x80)
		n--;
	return n;
}

void gb_copy_text(char *to, size_t size, struct gb_str s) {
	size_t n = gb_text_fit(s, size - 1);
	if (n)
		memcpy(to, s.p, n);
	to[n] = '\0';
}

struct unit {
	const char *name;
	double factor;
};

/* Parse "<number><unit>"; without a unit, the first one of the table applies. */
static bool parse_with_unit(const char *text, const struct unit *units, size_t n_units, uint64_t *ret) {
	/* strtod also accepts " 1", "inf" and "0x10", which are rejected here. */
	if (!isdigit((unsigned char)text[0]) || text[1] == 'x' || text[1] == 'X')
		return false;
	char *end = NULL;
	double number = strtod(text, &end);
	double factor = *end == '\0' ? units[0].factor : 0;
	for (size_t i = 0; i < n_units && factor == 0; i++)
		if (strcmp(end, units[i].name) == 0)
			factor = units[i].factor;
	double product = number * factor;
	if (factor == 0 || !isfinite(product) || product >= 0x1p63)
		return false;
	*ret = (uint64_t)llround(product);
	return true;
}

bool gb_str_parse_duration_ms(const char *text, uint64_t *ret_ms) {
	static const struct unit units[] = {{"s", 1e3}, {"ms", 1}, {"m", 6e4}, {"h", 3.6e6}, {"d", 8.64e7}};
	return parse_with_unit(text, units, sizeof units / sizeof *units, ret_ms);
}

bool gb_str_parse_size(const char *text, uint64_t *ret_bytes) {
	static const struct unit units[] = {
	    {"B", 1},
	    {"K", 0x1p10},
	    {"KB", 0x1p10},
	    {"KiB", 0x1p10},
	    {"M", 0x1p20},
	    {"MB", 0x1p20},
	    {"MiB", 0x1p20},
	    {"G", 0x1p30},
	    {"GB", 0x1p30},
	    {"GiB", 0x1p30},
	};
	return parse_with_unit(text, units, sizeof units / sizeof *units, ret_bytes);
}
