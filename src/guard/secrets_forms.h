/*
 * The shapes in which a secret value turns up in text: as it is; in base64 and base64url, wherever in a
 * longer text it began; in hex; as addresses and JSON spell it, also JSON inside of JSON; as a literal of
 * Python.
 */
#ifndef GB_GUARD_SECRETS_FORMS_H
#define GB_GUARD_SECRETS_FORMS_H

#include <stdbool.h>
#include <stddef.h>

/* False stops, and is handed on. */
typedef bool (*gb_form_handler)(void *data, const void *bytes, size_t n);

/* Calls @handler for each form of @value; the same bytes may come more than once. False if memory is out. */
bool gb_secret_forms(const void *value, size_t n, gb_form_handler handler, void *data);

#endif
