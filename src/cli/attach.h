/*
 * Connects the user's terminal to a remote terminal: sends keys unchanged, shows the remote output, and
 * reports changes of size.
 *
 *	struct attach attach = {.in = 0, .out = 1, .fd = socket, .on_ready = receive, .send = send_keys,
 *	    .resize = tell_size, .data = connection};
 *	enum attach_end end = attach_run(&attach, &err);	// receive() calls attach_show()
 *
 * Ctrl-] detaches. The terminal is restored afterwards in all cases, also after a signal.
 */
#ifndef GB_CLI_ATTACH_H
#define GB_CLI_ATTACH_H

#include <stdbool.h>
#include <stddef.h>

#include "glovebox/err.h"

struct attach {
	int in, out; /* of the terminal */
	int fd;      /* readable when the remote side has sent something */
	/* Each returns false when the connection is over. */
	bool (*on_ready)(void *data);
	bool (*send)(void *data, const char *bytes, size_t n);
	bool (*resize)(void *data, unsigned columns, unsigned rows);
	void *data;
};

enum attach_end {
	ATTACH_LEFT,   /* the user pressed Ctrl-], or the terminal was closed */
	ATTACH_OVER,   /* a callback returned false */
	ATTACH_SIGNAL, /* a signal requested the end of this process */
	ATTACH_FAILED, /* not a terminal: see the error */
};

enum attach_end attach_run(const struct attach *attach, struct gb_err *err);
/* Show output of the remote terminal. */
void attach_show(const struct attach *attach, const char *bytes, size_t n);

#endif
