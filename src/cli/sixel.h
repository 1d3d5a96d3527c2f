/* Pictures on terminals that draw sixels. */
#ifndef GB_CLI_SIXEL_H
#define GB_CLI_SIXEL_H

#include <stdbool.h>
#include <stddef.h>

/* Asks the terminal, which answers at once or, after two seconds, does not. */
bool sixel_terminal(void);

/* Draw a PNG. It is decoded in a sandbox of its own, since it is the guest's; what comes back is looked at
 * before it reaches the terminal. False if it cannot be drawn. */
bool sixel_draw(const char *png, size_t n);

/* Whether the text is sixels and nothing that a terminal could take for something else. */
bool sixel_is_clean(const char *text, size_t n);

#endif
