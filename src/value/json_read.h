/* What the two files of the JSON reader share: the grammar (json_read.c) and the tagged objects
 * (json_tagged.c). */
#ifndef GB_VALUE_JSON_READ_H
#define GB_VALUE_JSON_READ_H

#include "base/buf.h"
#include "base/err.h"
#include "glovebox/value.h"
#include "value/keys.h"

/* Stands for what a "ref" names while its "shared" is still being read. Never leaves the reader. */
enum { GB_JSON_PENDING = GB_PROMISE + 1 };

struct gb_json_reader {
	const char *start, *at, *end;
	struct gb_values *pool;
	unsigned depth;
	struct gb_buf scratch;
	struct gb_keys keys;
	struct gb_value **shared; /* by id; NULL where none is known yet */
	size_t n_shared, cap_shared;
	struct gb_value **unresolved; /* containers that hold something pending */
	size_t n_unresolved, cap_unresolved;
	struct gb_err *err;
};

/* Fail with "line L, column C: ..." for @at; NULL. */
void *gb_json_fail(struct gb_json_reader *r, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4), cold));
void *gb_json_fail_memory(struct gb_json_reader *r);

/* Remember that @container holds something pending. */
bool gb_json_note_unresolved(struct gb_json_reader *r, struct gb_value *container);
/* The value that @object, which has a "$type" and began at @at, stands for. */
struct gb_value *gb_json_untag(struct gb_json_reader *r, const struct gb_value *object, const char *at);
/* At the end: put what was meant in the place of what is pending. */
bool gb_json_resolve(struct gb_json_reader *r);

#endif
