/*
 * Secrets in what a server sends back: each is overwritten with asterisks, so that lengths stay as they are. A stream
 * is searched, so a secret can be cut anywhere; what may be the beginning of one is held back until more is known.
 *
 *	struct gb_echo echo = {.forms = forms, .n_forms = n};
 *	gb_echo_feed(&echo, bytes, n, out);	// any number
 *	gb_echo_end(&echo, out);
 */
#ifndef GB_EGRESS_ECHO_H
#define GB_EGRESS_ECHO_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/str.h"

enum { GB_ECHO_FORM_MAX = 4096 };

struct gb_echo {
	const struct gb_str *forms; /* the spellings of the secrets; each has 1 to GB_ECHO_FORM_MAX bytes */
	size_t n_forms;
	/* Bytes at the end of what was given, and which of them are part of a secret already. */
	size_t n_held;
	char held[GB_ECHO_FORM_MAX];
	bool masked[GB_ECHO_FORM_MAX];
};

/* Append what is decided to @out. */
void gb_echo_feed(struct gb_echo *echo, const char *bytes, size_t n, struct gb_buf *out);
/* Append the rest: no more follows. */
void gb_echo_end(struct gb_echo *echo, struct gb_buf *out);
/* Overwrite secrets in a text that is complete. */
void gb_echo_mask(const struct gb_str *forms, size_t n_forms, char *text, size_t n);

#endif
