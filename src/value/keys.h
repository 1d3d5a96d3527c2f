/*
 * Finds duplicate keys of objects from untrusted input, without quadratic work.
 *
 *	struct gb_keys keys = {0};
 *	const struct gb_value *duplicate;
 *	if (!gb_keys_check(&keys, object, &duplicate)) ...
 *	gb_keys_finish(&keys);
 *
 * One gb_keys can be reused for any number of objects.
 */
#ifndef GB_VALUE_KEYS_H
#define GB_VALUE_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gb_value;

/* Starts zeroed. */
struct gb_keys {
	uint32_t *table; /* entry + 1, or 0 */
	size_t cap;
	uint64_t seed[2]; /* random, so that a sender cannot choose colliding keys */
};

void gb_keys_finish(struct gb_keys *keys);
#define gb_auto_keys __attribute__((cleanup(gb_keys_finish)))

/* False if memory is out; otherwise *ret_duplicate is a key that @object has twice, or NULL. */
bool gb_keys_check(
    struct gb_keys *keys, const struct gb_value *object, const struct gb_value **ret_duplicate);
/* Keep one entry per key: at the position of the first, with the value of the last. False if memory is
 * out. */
bool gb_keys_merge(struct gb_keys *keys, struct gb_value *object);

#endif
