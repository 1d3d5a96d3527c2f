/*
 * Objects whose keys came from outside: each key only once, without quadratic work.
 *
 *	struct gb_keys keys = {0};
 *	const struct gb_value *twice;
 *	if (!gb_keys_check(&keys, object, &twice)) ...
 *	gb_keys_finish(&keys);
 *
 * One gb_keys serves any number of objects in turn.
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
	uint64_t seed[2]; /* so that nobody can choose keys that collide */
};

void gb_keys_finish(struct gb_keys *keys);
#define gb_auto_keys __attribute__((cleanup(gb_keys_finish)))

/* False if memory is out; else *ret_twice is a key that @object has twice, or NULL. */
bool gb_keys_check(struct gb_keys *keys, const struct gb_value *object, const struct gb_value **ret_twice);
/* Keep one entry of each key: at the first one's place, with the last one's item. False if memory is out. */
bool gb_keys_merge(struct gb_keys *keys, struct gb_value *object);

#endif
