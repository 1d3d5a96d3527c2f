/* Pictures and tables that a program has shown: written to a folder, drawn by a terminal that can, or named.
 */
#ifndef GB_CLI_DISPLAY_H
#define GB_CLI_DISPLAY_H

#include <stdbool.h>

#include "glovebox/glovebox.h"

/* Write each display of @result to @folder, which must exist, in its best form, and the files that the run
 * has made. Prints the names. */
bool displays_write(const struct gb_result *result, const char *folder, struct gb_err *err);

/* Show them to a person. */
void displays_show(const struct gb_result *result);
/* Is the result's value what one of them says in plain text? Then it need not be said again. */
bool displays_show_result(const struct gb_result *result);

#endif
