#include "cli/cells.h"

#include "cli/glyph.h"
#include "value/wtf8.h"

enum { CELL_BYTES = 4 * (CELL_WIDTH_MAX + 1) };

void print_cell(enum style style, struct gb_str text, unsigned width) {
	char cell[CELL_BYTES];
	size_t n = 0;
	unsigned used = 0;
	for (size_t i = 0, length; i < text.n && used < width; i += length, used++) {
		struct glyph glyph = glyph_first(text.p + i, text.n - i);
		char first = text.p[i];
		length = glyph.bytes;
		if (used + 1 == width && i + length < text.n)
			n += gb_wtf8_encode(cell + n, 0x2026); /* … */
		else if (glyph.is_number)
			cell[n++] = first == '\n' || first == '\t' || first == '\r' ? ' ' : '?';
		else
			n += (size_t)snprintf(cell + n, sizeof cell - n, "%s", glyph.text);
	}
	cell[n] = '\0';
	print_styled(stdout, style, "%s", cell);
	if (width < CELL_WIDTH_MAX)
		printf("%*s", (int)(width - used) + 2, "");
}

struct gb_str format_time(char text[GB_DATE_TEXT], int64_t ms) {
	bool is_date = ms >= -8640000000000000 && ms <= 8640000000000000;
	size_t n = is_date ? gb_date_format(text, (double)ms)
			   : (size_t)snprintf(text, GB_DATE_TEXT, "%lld", (long long)ms);
	return (struct gb_str){text, n};
}
