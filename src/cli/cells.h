/* Cells of tables with untrusted text, and times. */
#ifndef GB_CLI_CELLS_H
#define GB_CLI_CELLS_H

#include "cli/cli.h"
#include "value/text.h"

enum { CELL_WIDTH_MAX = 60 };

/* Print @text, which is WTF-8, in one line of @width characters, without control characters. A cell of
 * CELL_WIDTH_MAX is the last of its line and is not padded. */
void print_cell(enum style style, struct gb_str text, unsigned width);

/* As a date if it is in the range of dates, else as a number. */
struct gb_str format_time(char text[GB_DATE_TEXT], int64_t ms);

#endif
