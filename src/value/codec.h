/*
 * Values as CBOR, for whoever holds a pool: the host's side of the wall.
 *
 *	gb_value_encode(&out, value, NULL, &err);
 *	struct gb_value *value = gb_value_decode(pool, bytes, n, &limits, &err);
 */
#ifndef GB_VALUE_CODEC_H
#define GB_VALUE_CODEC_H

#include "base/buf.h"
#include "glovebox/value.h"

struct gb_decode_limits {
	unsigned max_depth;
	size_t max_items; /* values in the whole graph */
	/* Which functions and promises may be in it; NULL: none. */
	bool (*admits)(void *data, enum gb_side side, uint32_t id);
	void *data;
};

/* Told of every function and promise of the host's that is written; false if that may not be. */
struct gb_grants {
	bool (*grant)(void *data, enum gb_type type, uint32_t id);
	void *data;
};

#define GB_DECODE_LIMITS_DEFAULT ((struct gb_decode_limits){.max_depth = 2000, .max_items = 4u << 20})

/* Append @value to @out. Fails when @out does, or when a graph is deeper than the default limit. Without
 * @grants there may be no functions or promises in it. */
bool gb_value_encode(
    struct gb_buf *out, const struct gb_value *value, const struct gb_grants *grants, struct gb_err *err);

/* A container that has no identity of its own. */
struct gb_root {
	const char *name;             /* for errors */
	enum gb_type type;            /* GB_OBJECT or GB_ARRAY */
	const struct gb_value *value; /* of that type; NULL: an empty one */
};

/* Append @roots, one after the other, as one graph: a value that is in several of them is written once. The
 * roots themselves are not numbered and never written as a reference. Fails as gb_value_encode does. */
bool gb_value_encode_roots(struct gb_buf *out, const struct gb_root *roots, size_t n,
    const struct gb_grants *grants, struct gb_err *err);

/* Exactly one value, using all @n bytes. NULL and @err if they are malformed or beyond a limit. @limits may
 * be NULL: the default. */
struct gb_value *gb_value_decode(struct gb_values *pool, const void *bytes, size_t n,
    const struct gb_decode_limits *limits, struct gb_err *err);

/* How much memory @pool has taken. */
size_t gb_values_used(const struct gb_values *pool);
/* Let @pool hold @more bytes than it was made for. */
void gb_values_extend(struct gb_values *pool, size_t more);

/* Release by scope. */
static inline void gb_values_release(struct gb_values **pool) {
	gb_values_destroy(*pool);
}
#define gb_auto_values __attribute__((cleanup(gb_values_release)))

#endif
