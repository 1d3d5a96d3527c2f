/*
 * The binding of a registered secret: code gets a placeholder of it, and glovebox-egress puts the value into one header
 * of requests to its hosts. Kept beside the value, see secrets_store.h.
 *
 *	struct gb_secret_binding binding = {.hosts = "api.example.com", .header = "authorization: Bearer {}"};
 *	if (!gb_secret_binding_check("key", value, n, &binding, &err)) ...	// err.field is "host", "header", ...
 */
#ifndef GB_GUARD_SECRETS_BINDING_H
#define GB_GUARD_SECRETS_BINDING_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

enum { GB_SECRET_VARIABLE_MAX = 64, GB_SECRET_BINDING_MAX = 8 << 10 };

struct gb_secret_binding {
	const char *hosts;    /* rules with commas between them */
	const char *header;   /* "authorization: Bearer {}" */
	const char *variable; /* where code finds the placeholder */
};

/* Whether the secret @name with this value can be bound so. The fields of errors are "host", "header" and "env"; those
 * about the name or the value have none. @value may be NULL: it is not known yet. */
bool gb_secret_binding_check(const char *name, const char *value, size_t n,
    const struct gb_secret_binding *binding, struct gb_err *err);

/* The usual variable of a secret: "OPENAI_KEY" for "openai-key". */
void gb_secret_binding_variable(const char *name, char ret[GB_SECRET_VARIABLE_MAX + 1]);

/* As it is stored. */
void gb_secret_binding_write(const struct gb_secret_binding *binding, struct gb_buf *out);
/* @ret points into @copy, which gets the texts. False if they are damaged. */
bool gb_secret_binding_read(
    struct gb_str text, char copy[GB_SECRET_BINDING_MAX], struct gb_secret_binding *ret);

#endif
