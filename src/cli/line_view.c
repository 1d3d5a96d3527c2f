#include "cli/line_view.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "cli/glyph.h"
#include "value/wtf8.h"

enum { TAB_WIDTH = 8, LEAST_COLUMNS = 16, LEAST_ROWS = 2 };

/* Characters that take two columns: East Asian wide ones, and pictures. */
static unsigned width_of(const struct glyph *glyph, const char *text) {
	static const struct {
		uint32_t first, last;
	} wide[] = {
	    {0x1100, 0x115f},
	    {0x2e80, 0xa4cf},
	    {0xa960, 0xa97f},
	    {0xac00, 0xd7a3},
	    {0xf900, 0xfaff},
	    {0xfe30, 0xfe6f},
	    {0xff01, 0xff60},
	    {0xffe0, 0xffe6},
	    {0x1f300, 0x1f64f},
	    {0x1f680, 0x1f6ff},
	    {0x1f900, 0x1faff},
	    {0x20000, 0x3fffd},
	};
	uint32_t code = 0;
	if (glyph->is_number || gb_wtf8_next(text, glyph->bytes, &code) == 0)
		return glyph->width;
	for (size_t i = 0; i < GB_COUNT(wide); i++)
		if (code >= wide[i].first && code <= wide[i].last)
			return 2;
	return 1;
}

/* Walks over the text and divides it into rows of the screen. */
struct pen {
	unsigned limit; /* columns that are used; the last one stays free, where terminals differ */
	unsigned row, column;
	unsigned first, n; /* rows that are painted */
	const struct line_look *look;
	struct gb_buf *out; /* NULL: only measure */
};

static bool paints(const struct pen *pen) {
	return pen->out && pen->row >= pen->first && pen->row - pen->first < pen->n;
}

static void put_text(struct pen *pen, const char *text, unsigned width) {
	if (paints(pen))
		gb_buf_append(pen->out, text, strlen(text));
	pen->column += width;
}

static void begin_row(struct pen *pen, bool is_first, bool has_prompt) {
	if (!is_first) {
		pen->row++;
		pen->column = 0;
	}
	if (paints(pen) && pen->row > pen->first)
		gb_buf_append(pen->out, "\r\n", 2);
	const char *prompt = is_first ? pen->look->prompt : has_prompt ? pen->look->more : "";
	if (strlen(prompt) < pen->limit)
		put_text(pen, prompt, (unsigned)strlen(prompt));
}

static void put_glyph(struct pen *pen, const char *text, size_t n, size_t *ret_bytes) {
	struct glyph glyph = glyph_first(text, n);
	unsigned width = width_of(&glyph, text);
	*ret_bytes = 1;
	if (*text == '\n') {
		begin_row(pen, false, true);
		return;
	}
	if (*text == '\t') {
		width = TAB_WIDTH - pen->column % TAB_WIDTH;
		snprintf(glyph.text, sizeof glyph.text, "%*s", (int)width, "");
	} else {
		*ret_bytes = glyph.bytes;
	}
	if (pen->column + width > pen->limit)
		begin_row(pen, false, false);
	put_text(pen, glyph.text, width);
}

/* Returns the position of the cursor in a pen at its place. */
static struct pen draw(const struct line *line, struct pen *pen) {
	struct pen cursor = {0};
	begin_row(pen, true, true);
	for (size_t at = 0, bytes; at < line->n; at += bytes) {
		if (at == line->cursor)
			cursor = *pen;
		put_glyph(pen, line->text + at, line->n - at, &bytes);
	}
	return line->cursor == line->n ? *pen : cursor;
}

static void move_to_begin(const struct line_view *view, struct gb_buf *out) {
	gb_buf_append_char(out, '\r');
	if (view->row)
		gb_buf_printf(out, "\033[%uA", view->row);
}

void line_view_paint(
    struct line_view *view, const struct line *line, const struct line_look *look, struct gb_buf *out) {
	unsigned columns = look->columns < LEAST_COLUMNS ? LEAST_COLUMNS : look->columns;
	unsigned rows = look->rows < LEAST_ROWS ? LEAST_ROWS : look->rows;
	struct pen pen = {.limit = columns - 1, .look = look}, measured = pen;
	struct pen cursor = draw(line, &measured);
	pen.n = measured.row + 1 < rows ? measured.row + 1 : rows - 1;
	pen.first = cursor.row < pen.n ? 0 : cursor.row - pen.n + 1;
	pen.out = out;
	move_to_begin(view, out);
	gb_buf_append(out, "\033[J", 3);
	draw(line, &pen);
	unsigned last = measured.row - pen.first < pen.n ? measured.row - pen.first : pen.n - 1;
	view->row = cursor.row - pen.first;
	view->rows = last + 1;
	gb_buf_append_char(out, '\r');
	if (last > view->row)
		gb_buf_printf(out, "\033[%uA", last - view->row);
	if (cursor.column)
		gb_buf_printf(out, "\033[%uC", cursor.column);
}

void line_view_leave(struct line_view *view, struct gb_buf *out) {
	if (view->rows > view->row + 1)
		gb_buf_printf(out, "\033[%uB", view->rows - view->row - 1);
	gb_buf_append(out, "\r\n", 2);
	*view = (struct line_view){0};
}
