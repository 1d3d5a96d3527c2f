/*
 * The screen of a terminal while a remote terminal is shown on it: its own screen is set aside (the alternate
 * screen), and shown again afterwards.
 *
 *	struct attach_screen screen = {.is_used = true};	// false: a terminal without a second screen
 *	attach_screen_enter(&screen, fd);
 *	attach_screen_filter(&screen, bytes, n, &out);		// output of the remote terminal -> what to show
 *	attach_screen_leave(&screen, fd);
 *	if (screen.asked) ...					// the terminal may have sent answers: discard them
 *
 * Programs of the remote side that use the alternate screen get the same one, cleared: there is no third screen.
 */
#ifndef GB_CLI_ATTACH_SCREEN_H
#define GB_CLI_ATTACH_SCREEN_H

#include <stdbool.h>

#include "base/buf.h"

enum { ATTACH_SEQUENCE_MAX = 64 };

struct attach_screen {
	bool is_used, is_entered;
	bool asked; /* the remote side sent something to which terminals answer with input, or may */
	char held[ATTACH_SEQUENCE_MAX]; /* an incomplete escape sequence */
	size_t n_held;
	char last; /* the byte before */
};

void attach_screen_enter(struct attach_screen *screen, int fd);
void attach_screen_filter(struct attach_screen *screen, const char *bytes, size_t n, struct gb_buf *out);
void attach_screen_leave(struct attach_screen *screen, int fd);

#endif
