#include "value/keys.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "value/repr.h"

enum { LINEAR_MAX = 8, NONE = -1 };

void gb_keys_finish(struct gb_keys *keys) {
	free(keys->table);
	*keys = (struct gb_keys){0};
}

static uint64_t rotate(uint64_t x, unsigned by) {
	return x << by | x >> (64 - by);
}

static void sip_round(uint64_t v[4]) {
	v[0] += v[1];
	v[1] = rotate(v[1], 13) ^ v[0];
	v[0] = rotate(v[0], 32);
	v[2] += v[3];
	v[3] = rotate(v[3], 16) ^ v[2];
	v[0] += v[3];
	v[3] = rotate(v[3], 21) ^ v[0];
	v[2] += v[1];
	v[1] = rotate(v[1], 17) ^ v[2];
	v[2] = rotate(v[2], 32);
}

/* SipHash-1-3. */
static uint64_t hash(const uint64_t seed[2], struct gb_str key) {
	uint64_t v[4] = {
	    seed[0] ^ UINT64_C(0x736f6d6570736575),
	    seed[1] ^ UINT64_C(0x646f72616e646f6d),
	    seed[0] ^ UINT64_C(0x6c7967656e657261),
	    seed[1] ^ UINT64_C(0x7465646279746573),
	};
	for (size_t i = 0; i <= key.n; i += 8) {
		uint64_t word = 0;
		size_t left = key.n - i;
		memcpy(&word, key.p + i, left < 8 ? left : 8);
		if (left < 8)
			word |= (uint64_t)key.n << 56;
		v[3] ^= word;
		sip_round(v);
		v[0] ^= word;
	}
	v[2] ^= 0xff;
	for (unsigned i = 0; i < 3; i++)
		sip_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* Clear the table for @count keys; *ret_mask is 0 if they are few enough for a linear search. */
static bool prepare(struct gb_keys *keys, size_t count, size_t *ret_mask) {
	*ret_mask = 0;
	if (count <= LINEAR_MAX)
		return true;
	size_t cap = 32;
	while (cap < count * 2)
		cap *= 2;
	if (keys->cap == 0 && getrandom(keys->seed, sizeof keys->seed, 0) != sizeof keys->seed)
		keys->seed[0] = (uintptr_t)keys; /* no random bytes: use the address */
	if (cap > keys->cap) {
		uint32_t *table = realloc(keys->table, cap * sizeof *table);
		if (!table)
			return false;
		keys->table = table;
		keys->cap = cap;
	}
	memset(keys->table, 0, cap * sizeof *keys->table);
	*ret_mask = cap - 1;
	return true;
}

/* Find the entry with this key among the first @count. If there is none, return NONE and add it to the table
 * as entry @count. */
static int64_t find_or_add(
    struct gb_keys *keys, size_t mask, struct gb_value *const *slots, size_t count, struct gb_str key) {
	if (mask == 0) {
		for (size_t i = 0; i < count; i++)
			if (gb_str_eq(slots[2 * i]->bytes, key))
				return (int64_t)i;
		return NONE;
	}
	size_t at = (size_t)hash(keys->seed, key) & mask;
	for (; keys->table[at]; at = (at + 1) & mask)
		if (gb_str_eq(slots[2 * (size_t)(keys->table[at] - 1)]->bytes, key))
			return keys->table[at] - 1;
	keys->table[at] = (uint32_t)count + 1;
	return NONE;
}

bool gb_keys_check(
    struct gb_keys *keys, const struct gb_value *object, const struct gb_value **ret_duplicate) {
	struct gb_value *const *slots = object->list.slots;
	size_t count = gb_value_count(object), mask;
	if (!prepare(keys, count, &mask))
		return false;
	const struct gb_value *duplicate = NULL;
	for (size_t i = 0; i < count && !duplicate; i++)
		if (find_or_add(keys, mask, slots, i, slots[2 * i]->bytes) != NONE)
			duplicate = slots[2 * i];
	*ret_duplicate = duplicate;
	return true;
}

bool gb_keys_merge(struct gb_keys *keys, struct gb_value *object) {
	struct gb_value **slots = object->list.slots;
	size_t count = gb_value_count(object), kept = 0, mask;
	if (!prepare(keys, count, &mask))
		return false;
	for (size_t i = 0; i < count; i++) {
		int64_t existing = find_or_add(keys, mask, slots, kept, slots[2 * i]->bytes);
		size_t to = existing == NONE ? kept++ : (size_t)existing;
		if (existing == NONE)
			slots[2 * to] = slots[2 * i];
		slots[2 * to + 1] = slots[2 * i + 1];
	}
	object->list.used = (uint32_t)(2 * kept);
	return true;
}
