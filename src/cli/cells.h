/* Cells of tables, and times, in text that nobody vouches for. */
#ifndef GB_CLI_CELLS_H
#define GB_CLI_CELLS_H

#include "cli/cli.h"
#include "value/text.h"

enum { CELL_WIDTH_MAX = 60 };

/* @text, which is WTF-8, in one line of @width characters, and nothing in it that could speak to a terminal.
 * One of CELL_WIDTH_MAX ends its line and is not filled up. */
void print_cell(enum style style, struct gb_str text, unsigned width);

/* As a date if it can be one. */
struct gb_str format_time(char text[GB_DATE_TEXT], int64_t ms);

#endif
