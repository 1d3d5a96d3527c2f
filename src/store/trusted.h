/*
 * The list of files that the owner trusts, by path and hash of the contents, in the state folder.
 *
 *	struct gb_trusted *list;
 *	if (gb_trusted_read(dir, &list, &err) && gb_trusted_has(list, path, &hash)) ...
 *	gb_trusted_destroy(list);
 *
 * The list is a text file: a header line, then "HASH PATH" for each file. A list with anything else in it is
 * rejected as a whole.
 */
#ifndef GB_STORE_TRUSTED_H
#define GB_STORE_TRUSTED_H

#include "base/buf.h"
#include "store/record.h"

enum { GB_TRUSTED_MAX = 256, GB_TRUSTED_PATH_MAX = 4000, GB_TRUSTED_BYTES_MAX = 2 << 20 };

struct gb_trusted_file {
	const char *path; /* absolute, without symbolic links */
	struct gb_hash hash;
};

struct gb_trusted {
	struct gb_trusted_file files[GB_TRUSTED_MAX];
	size_t n;
	struct gb_buf text; /* holds the paths */
};

/* Read the list of the state folder @dir; empty if there is none. Fails if other users can write to it. */
bool gb_trusted_read(const char *dir, struct gb_trusted **ret, struct gb_err *err);
/* Parse the text of a list. */
bool gb_trusted_parse(struct gb_str text, struct gb_trusted **ret, struct gb_err *err);
void gb_trusted_destroy(struct gb_trusted *list); /* NULL is fine */

/* NULL if @path is not in the list. */
const struct gb_trusted_file *gb_trusted_find(const struct gb_trusted *list, const char *path);
bool gb_trusted_has(const struct gb_trusted *list, const char *path, const struct gb_hash *hash);

/* Store @path with @hash, replacing an earlier hash; with NULL, remove @path. Creates the folder if needed.
 * Atomic, also with concurrent processes. *ret_changed: the list was changed. */
bool gb_trusted_set(
    const char *dir, const char *path, const struct gb_hash *hash, bool *ret_changed, struct gb_err *err);

#endif
