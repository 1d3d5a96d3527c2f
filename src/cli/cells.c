#include "cli/cells.h"

#include "cli/glyph.h"
#include "value/wtf8.h"

enum { CELL_BYTES = 4 * (CELL_WIDTH_MAX + 1) };

void print_cell(enum style style, struct gb_str text, unsigned width) {
	char cell[CELL_BYTES];
	size_t n = 0;
	unsigned used = 0;
	for (size_t i = 0, length; i < text.n && used < width; i += length, used++) {
		uint32_t code;
		length = gb_wtf8_decode(text.p + i, &code);
		if (used + 1 == width && i + length < text.n)
			n += gb_wtf8_encode(cell + n, 0x2026); /* … */
		else if (glyph_deceives(code))
			cell[n++] = code == '\n' || code == '\t' || code == '\r' ? ' ' : '?';
		else
			n += gb_wtf8_encode(cell + n, code);
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
