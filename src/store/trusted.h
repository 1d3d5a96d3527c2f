/*
 * Files that the owner trusts: each by its path and by a hash of its bytes, in the state folder.
 *
 *	struct gb_trusted *list;
 *	if (gb_trusted_read(dir, &list, &err) && gb_trusted_has(list, path, &hash)) ...
 *	gb_trusted_destroy(list);
 *
 * The file is text: a first line, then "HASH PATH" for each, and nothing else. One that has anything else in
 * it is refused as a whole.
 */
#ifndef GB_STORE_TRUSTED_H
#define GB_STORE_TRUSTED_H

#include "base/buf.h"
#include "store/record.h"

enum { GB_TRUSTED_MAX = 256, GB_TRUSTED_PATH_MAX = 4000, GB_TRUSTED_BYTES_MAX = 2 << 20 };

struct gb_trusted_file {
	const char *path; /* absolute, without links */
	struct gb_hash hash;
};

struct gb_trusted {
	struct gb_trusted_file files[GB_TRUSTED_MAX];
	size_t n;
	struct gb_buf text; /* where the paths are */
};

/* Of the state folder @dir; empty if there is none. Fails if others can write to it. */
bool gb_trusted_read(const char *dir, struct gb_trusted **ret, struct gb_err *err);
/* The same of a text. */
bool gb_trusted_parse(struct gb_str text, struct gb_trusted **ret, struct gb_err *err);
void gb_trusted_destroy(struct gb_trusted *list); /* NULL is fine */

/* NULL if it is not there. */
const struct gb_trusted_file *gb_trusted_find(const struct gb_trusted *list, const char *path);
bool gb_trusted_has(const struct gb_trusted *list, const char *path, const struct gb_hash *hash);

/* Note @path with @hash, in place of an earlier hash; or with NULL take it away. The folder is made if it has
 * to be. All or nothing, also if several processes do so at once. *ret_changed: it was not so before. */
bool gb_trusted_set(
    const char *dir, const char *path, const struct gb_hash *hash, bool *ret_changed, struct gb_err *err);

#endif
