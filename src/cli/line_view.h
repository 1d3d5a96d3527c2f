/*
 * Shows a line (line.h) on a terminal: writes what erases the former view and paints the new one.
 *
 *	struct line_view view = {0};				// nothing is shown
 *	const struct line_look look = {"js> ", "... ", 80, 24};
 *	line_view_paint(&view, &line, &look, &out);		// after each change
 *	line_view_leave(&view, &out);				// the cursor goes below the text
 *
 * Characters that are invisible or misleading are shown by their number (glyph.h). If the text has more rows
 * than the screen, the rows around the cursor are shown.
 */
#ifndef GB_CLI_LINE_VIEW_H
#define GB_CLI_LINE_VIEW_H

#include "base/buf.h"
#include "cli/line.h"

struct line_look {
	const char *prompt, *more; /* printable ASCII; the second is for each row but the first */
	unsigned columns, rows;    /* of the screen */
};

struct line_view {
	unsigned row;  /* of the cursor, from the first painted row */
	unsigned rows; /* painted */
};

void line_view_paint(
    struct line_view *view, const struct line *line, const struct line_look *look, struct gb_buf *out);
void line_view_leave(struct line_view *view, struct gb_buf *out);

#endif
