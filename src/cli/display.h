/* Displays of a result (pictures, tables and other rich output): written to a folder or shown in the
 * terminal. */
#ifndef GB_CLI_DISPLAY_H
#define GB_CLI_DISPLAY_H

#include <stdbool.h>

#include "glovebox/glovebox.h"

/* Write the files that the run created and each display of @result to @folder, which must exist. Of the media
 * types of a display, the one that display.c lists first is written. Prints the names to standard error. */
bool displays_write(const struct gb_result *result, const char *folder, struct gb_err *err);

/* Show the displays on standard output: a picture is drawn if the terminal supports it, a text is printed,
 * and any other display is described in one line. */
void displays_show(const struct gb_result *result);
/* Whether the plain text of a display is the result's value, which then need not be printed again. */
bool displays_include_value(const struct gb_result *result);

#endif
