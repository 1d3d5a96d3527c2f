/* Pictures and tables that a program has displayed: written to a folder, drawn by a terminal that supports
 * it, or named. */
#ifndef GB_CLI_DISPLAY_H
#define GB_CLI_DISPLAY_H

#include <stdbool.h>

#include "glovebox/glovebox.h"

/* Write each display of @result to @folder, which must exist, in its best form, and the files that the run
 * has made. Prints the names. */
bool displays_write(const struct gb_result *result, const char *folder, struct gb_err *err);

/* Show them on standard output. */
void displays_show(const struct gb_result *result);
/* Whether one of them shows the result's value as plain text, so that it need not be printed again. */
bool displays_show_result(const struct gb_result *result);

#endif
