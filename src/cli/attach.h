/*
 * Connects the user's terminal to a remote terminal: sends keys unchanged, shows the remote output, and
 * reports changes of size.
 *
 *	struct attach attach = {.in = 0, .out = 1, .fd = socket, .on_ready = receive, .send = send_keys,
 *	    .resize = tell_size, .data = connection};
 *	enum attach_end end = attach_run(&attach, &err);	// receive() calls attach_show()
 *
 * Ctrl-] detaches. The terminal and what it showed are restored afterwards in all cases, also after a signal.
 * Keys that were typed after Ctrl-] stay in the terminal, unless the remote side has sent something that the
 * terminal may have answered: answers would look like typed commands.
 */
#ifndef GB_CLI_ATTACH_H
#define GB_CLI_ATTACH_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/attach_screen.h"
#include "glovebox/err.h"

struct attach {
	int in, out; /* of the terminal */
	int fd;      /* readable when the remote side has sent something */
	/* Each returns false when the connection is over. */
	bool (*on_ready)(void *data);
	bool (*send)(void *data, const char *bytes, size_t n);
	bool (*resize)(void *data, unsigned columns, unsigned rows);
	void *data;
	struct attach_screen screen; /* private */
};

enum attach_end {
	ATTACH_LEFT,   /* the user pressed Ctrl-], or the terminal was closed */
	ATTACH_OVER,   /* a callback returned false */
	ATTACH_SIGNAL, /* a signal requested the end of this process */
	ATTACH_FAILED, /* not a terminal: see the error */
};

/* Set the screen aside, if the terminal has a second one; attach_run shows it again. */
void attach_begin(struct attach *attach);
enum attach_end attach_run(struct attach *attach, struct gb_err *err);
/* Show output of the remote terminal. */
void attach_show(struct attach *attach, const char *bytes, size_t n);

#endif
