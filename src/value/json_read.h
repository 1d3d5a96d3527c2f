/* Internal header of the JSON reader: the parser (json_read.c) and the tagged objects (json_tagged.c). */
#ifndef GB_VALUE_JSON_READ_H
#define GB_VALUE_JSON_READ_H

#include "base/buf.h"
#include "base/err.h"
#include "glovebox/value.h"
#include "value/keys.h"

/* Placeholder for a "ref" whose "shared" is not complete yet. Replaced before the reader returns. */
enum { GB_JSON_PENDING = GB_PROMISE + 1 };

struct gb_json_reader {
	const char *start, *at, *end;
	struct gb_values *pool;
	unsigned depth;
	bool plain;  /* "$type" is a key like any other */
	bool unique; /* an object that has a key twice is an error */
	struct gb_buf scratch;
	struct gb_keys keys;
	struct gb_value **shared; /* by id; NULL while unknown */
	size_t n_shared, cap_shared;
	struct gb_value **unresolved; /* containers that hold placeholders */
	size_t n_unresolved, cap_unresolved;
	struct gb_err *err;
};

/* Fail with "line L, column C: ..." for @at. Returns NULL. */
void *gb_json_fail(struct gb_json_reader *r, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4), cold));
void *gb_json_fail_memory(struct gb_json_reader *r);

/* Record that @container holds placeholders. */
bool gb_json_add_unresolved(struct gb_json_reader *r, struct gb_value *container);
/* Convert @object, which has a "$type" and began at @at, to the value that it describes. */
struct gb_value *gb_json_untag(struct gb_json_reader *r, const struct gb_value *object, const char *at);
/* After parsing: replace all placeholders by their values. */
bool gb_json_resolve(struct gb_json_reader *r);

#endif
