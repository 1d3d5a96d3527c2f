/*
 * Values to and from CBOR, on the host's side; values are allocated in a pool.
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
	/* Whether a function or promise is allowed; NULL: none is. */
	bool (*admits)(void *data, enum gb_side side, uint32_t id);
	void *data;
};

/* Called for every host function and promise that is encoded; false rejects the value. */
struct gb_grants {
	bool (*grant)(void *data, enum gb_type type, uint32_t id);
	void *data;
};

#define GB_DECODE_LIMITS_DEFAULT ((struct gb_decode_limits){.max_depth = 2000, .max_items = 4u << 20})

/* Append @value to @out. Fails if @out fails, or if the graph is deeper than the default limit. Without
 * @grants, functions and promises are rejected. */
bool gb_value_encode(
    struct gb_buf *out, const struct gb_value *value, const struct gb_grants *grants, struct gb_err *err);

/* A top-level container without identity. */
struct gb_root {
	const char *name;             /* for errors */
	enum gb_type type;            /* GB_OBJECT or GB_ARRAY */
	const struct gb_value *value; /* of that type; NULL for an empty one */
};

/* Append @roots in order, as one graph: a value in several of them is written once. The roots themselves are
 * not numbered and never written as a reference. Fails as gb_value_encode does. */
bool gb_value_encode_roots(struct gb_buf *out, const struct gb_root *roots, size_t n,
    const struct gb_grants *grants, struct gb_err *err);

/* Decode exactly one value, from all @n bytes. NULL and @err if they are malformed or exceed a limit. @limits
 * may be NULL for the default. */
struct gb_value *gb_value_decode(struct gb_values *pool, const void *bytes, size_t n,
    const struct gb_decode_limits *limits, struct gb_err *err);

/* The memory in use by @pool, in bytes. */
size_t gb_values_used(const struct gb_values *pool);
/* Raise the maximum of @pool by @more bytes. */
void gb_values_extend(struct gb_values *pool, size_t more);
/* A pool of its own, for another thread, with the room that @pool has left. NULL if memory is exhausted. */
struct gb_values *gb_values_branch(const struct gb_values *pool);
/* Add @branch, which nothing was joined to, with its values, to @pool: it is freed with @pool. */
void gb_values_join(struct gb_values *pool, struct gb_values *branch);

static inline void gb_values_release(struct gb_values **pool) {
	gb_values_destroy(*pool);
}
#define gb_auto_values __attribute__((cleanup(gb_values_release)))

#endif
