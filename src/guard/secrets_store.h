/*
 * Registered secrets at rest: one encrypted file (XChaCha20-Poly1305) and its key beside it, in a folder that
 * is the user's alone.
 *
 *	char dir[GB_STATE_PATH];
 *	gb_state_choose(config->state_dir, dir, &err);
 *	gb_secret_store_put(dir, "DATABASE", value, n, NULL, &err);
 *	gb_secret_store_load(dir, filter, &err);
 *
 * The key protects copies of the file without the key: a backup, an image. A user
 * that can read the folder can read the secrets. A folder or file that other users may access is refused, and so
 * is a file that cannot be decrypted with its key; nothing is changed then.
 */
#ifndef GB_GUARD_SECRETS_STORE_H
#define GB_GUARD_SECRETS_STORE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "guard/secrets_binding.h"

struct gb_filter;

/* Add or replace. Makes the folder, the key and the file if need be. Without @binding, one that the secret has stays;
 * then the value must be one that can be bound. A variable belongs to one secret. */
bool gb_secret_store_put(const char *dir, const char *name, const void *value, size_t n,
    const struct gb_secret_binding *binding, struct gb_err *err);
/* Fails if there is none of this name. */
bool gb_secret_store_remove(const char *dir, const char *name, struct gb_err *err);

/* False stops. The value and the binding, which is NULL if it has none, are gone after the call. */
typedef bool (*gb_secret_handler)(void *data, const char *name, const void *value, size_t n,
    const struct gb_secret_binding *binding, struct gb_err *err);
/* Each secret, in the order of their names. None if nothing was ever stored. */
bool gb_secret_store_each(const char *dir, gb_secret_handler handler, void *data, struct gb_err *err);
/* Have @filter look for each. */
bool gb_secret_store_load(const char *dir, struct gb_filter *filter, struct gb_err *err);

#endif
