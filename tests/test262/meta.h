/*
 * The metadata of a test: its front matter, as far as a runner needs it.
 *
 *	struct t262_meta meta;
 *	t262_meta_parse(text, &meta);
 *	if (t262_list_has(&meta.flags, "async")) ...
 *
 * Everything borrows from the text.
 */
#ifndef GB_TEST262_META_H
#define GB_TEST262_META_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

enum { T262_LIST_MAX = 64 };

struct t262_list {
	struct gb_str items[T262_LIST_MAX];
	size_t n;
};

struct t262_meta {
	struct t262_list flags, includes, features;
	struct t262_list defines; /* of a harness file: the names that it makes */
	struct gb_str phase;      /* of a negative test: "parse", "resolution" or "runtime"; else empty */
	struct gb_str type;       /* and the error that it must end with */
};

/* False if there is no such comment, or a list in it is longer than we hold. */
bool t262_meta_parse(struct gb_str text, struct t262_meta *ret);

bool t262_list_has(const struct t262_list *list, const char *name);

#endif
