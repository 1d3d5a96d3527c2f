/*
 * Somebody's own terminal, lent to another one that is far away: keys go there as they are, what is shown
 * there comes here, and a change of size is told.
 *
 *	struct attach attach = {.in = 0, .out = 1, .fd = socket, .on_ready = receive, .send = send_keys,
 *	    .resize = tell_size, .data = connection};
 *	enum attach_end end = attach_run(&attach, &err);	// receive() calls attach_show()
 *
 * The key that leads out is Ctrl-]. Whatever ends it, also a signal, the terminal is as it was afterwards.
 */
#ifndef GB_CLI_ATTACH_H
#define GB_CLI_ATTACH_H

#include <stdbool.h>
#include <stddef.h>

#include "glovebox/err.h"

struct attach {
	int in, out; /* of the terminal */
	int fd;      /* readable when the other side has something to say */
	/* Each is false when it is over. */
	bool (*on_ready)(void *data);
	bool (*send)(void *data, const char *bytes, size_t n);
	bool (*resize)(void *data, unsigned columns, unsigned rows);
	void *data;
};

enum attach_end {
	ATTACH_LEFT,   /* by the key */
	ATTACH_OVER,   /* the other side says so */
	ATTACH_SIGNAL, /* somebody wants this process to end */
	ATTACH_FAILED, /* it is no terminal: see the error */
};

enum attach_end attach_run(const struct attach *attach, struct gb_err *err);
/* What the other terminal shows. */
void attach_show(const struct attach *attach, const char *bytes, size_t n);

#endif
