#include "base/nearest.h"

#include <ctype.h>
#include <limits.h>

static bool same_letter(char a, char b) {
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static unsigned least(unsigned a, unsigned b, unsigned c) {
	unsigned ab = a < b ? a : b;
	return ab < c ? ab : c;
}

static unsigned edit_distance(struct gb_str a, struct gb_str b) {
	unsigned row[GB_NEAREST_MAX + 1];
	for (size_t j = 0; j <= b.n; j++)
		row[j] = (unsigned)j;
	for (size_t i = 0; i < a.n; i++) {
		unsigned diagonal = row[0];
		row[0] = (unsigned)i + 1;
		for (size_t j = 0; j < b.n; j++) {
			unsigned change = diagonal + !same_letter(a.p[i], b.p[j]);
			diagonal = row[j + 1];
			row[j + 1] = least(change, row[j] + 1, row[j + 1] + 1);
		}
	}
	return row[b.n];
}

unsigned gb_word_distance(struct gb_str given, struct gb_str known) {
	size_t limit = given.n < 9 ? 2 : given.n / 4;
	if (given.n + limit < known.n || known.n + limit < given.n || known.n > GB_NEAREST_MAX)
		return UINT_MAX;
	unsigned d = edit_distance(given, known);
	return d <= limit && d < given.n && d < known.n ? d : UINT_MAX;
}

void gb_nearest_offer(struct gb_nearest *nearest, const char *known) {
	unsigned d = gb_word_distance(gb_str_from(nearest->given), gb_str_from(known));
	if (d == UINT_MAX || (nearest->best && d >= nearest->distance))
		return;
	nearest->best = known;
	nearest->distance = d;
}
