#include <stdlib.h>
#include <string.h>

#include "guard/secrets_match.h"

/* The key of the first bytes of a chain, and what follows from it: where the chain is to be looked for. */
enum { WILD = GB_MATCHER_KEYS, MANY = 4096 };

struct place {
	uint32_t key; /* of gb_matcher_key, or WILD */
	bool word;
	uint32_t chain;
};

struct building {
	struct place *places;
	size_t n, cap;
	/* Of the chain that is added. */
	uint32_t keys[GB_MATCHER_KEYS], n_keys;
	bool seen[GB_MATCHER_KEYS];
};

static bool add_place(struct building *b, uint32_t key, bool word, uint32_t chain) {
	if (b->n == b->cap) {
		size_t cap = b->cap ? b->cap * 2 : 2048;
		struct place *places = realloc(b->places, cap * sizeof *places);
		if (!places)
			return false;
		b->places = places;
		b->cap = cap;
	}
	b->places[b->n++] = (struct place){key, word, chain};
	return true;
}

/* The bytes of a set, of which capitals and small letters have the same key. */
static unsigned list_bytes(const struct gb_byteset *set, uint8_t bytes[256]) {
	bool seen[256] = {false};
	unsigned n = 0;
	for (unsigned i = 0; i < 4; i++)
		for (uint64_t bits = set->bits[i]; bits; bits &= bits - 1) {
			uint8_t byte = (uint8_t)((i * 64 + (unsigned)__builtin_ctzll(bits)) | 0x20);
			if (!seen[byte])
				bytes[n++] = byte;
			seen[byte] = true;
		}
	return n;
}

/* The keys of the first @n bytes. */
static void see_keys(struct building *b, uint8_t lists[GB_PREFILTER_BYTES][256],
    const unsigned counts[GB_PREFILTER_BYTES], unsigned n) {
	size_t all = 1;
	for (unsigned i = 0; i < n; i++)
		all *= counts[i];
	for (size_t number = 0; number < all; number++) {
		uint8_t bytes[GB_PREFILTER_BYTES];
		size_t left = number;
		for (unsigned i = 0; i < n; i++) {
			bytes[i] = lists[i][left % counts[i]];
			left /= counts[i];
		}
		uint32_t key = gb_matcher_key(bytes, n);
		if (!b->seen[key])
			b->keys[b->n_keys++] = key;
		b->seen[key] = true;
	}
}

static bool add_chain(struct building *b, const struct gb_rx_chain *chain, uint32_t number,
    const struct gb_beginning *beginning) {
	uint8_t lists[GB_PREFILTER_BYTES][256];
	unsigned counts[GB_PREFILTER_BYTES];
	size_t all = 1;
	for (unsigned i = 0; i < GB_PREFILTER_BYTES; i++) {
		counts[i] = list_bytes(&beginning->at[i], lists[i]);
		all *= counts[i];
	}
	if (all > MANY)
		return add_place(b, WILD, chain->word, number);
	b->n_keys = 0;
	for (unsigned n = 1; n <= GB_PREFILTER_BYTES; n++)
		see_keys(b, lists, counts, n);
	bool ok = true;
	for (uint32_t i = 0; i < b->n_keys; i++) {
		b->seen[b->keys[i]] = false;
		ok = ok && add_place(b, b->keys[i], chain->word, number);
	}
	return ok;
}

static int compare(const void *a, const void *b) {
	const struct place *x = a, *y = b;
	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	if (x->word != y->word)
		return x->word ? 1 : -1;
	return x->chain < y->chain ? -1 : x->chain > y->chain;
}

static void name_list(struct gb_matcher *matcher, uint32_t key, uint32_t list) {
	if (key == WILD)
		matcher->wild = matcher->lists[list];
	else
		matcher->by_key[key] = list;
}

static bool make_lists(struct gb_matcher *matcher, struct building *b) {
	matcher->chains = malloc((b->n + 1) * sizeof *matcher->chains);
	matcher->lists = calloc(b->n + 1, sizeof *matcher->lists);
	if (!matcher->chains || !matcher->lists)
		return false;
	if (b->n)
		qsort(b->places, b->n, sizeof *b->places, compare);
	uint32_t list = 0;
	for (uint32_t i = 0; i < b->n; list++) {
		uint32_t key = b->places[i].key;
		struct gb_chain_list *made = &matcher->lists[list + 1];
		made->first = i;
		for (; i < b->n && b->places[i].key == key && !b->places[i].word; i++)
			matcher->chains[i] = b->places[i].chain;
		made->words = i;
		for (; i < b->n && b->places[i].key == key; i++)
			matcher->chains[i] = b->places[i].chain;
		made->end = i;
		name_list(matcher, key, list + 1);
	}
	matcher->n_chains = (uint32_t)b->n;
	matcher->n_lists = list + 1;
	return true;
}

bool gb_matcher_build(struct gb_matcher *matcher, const struct gb_rx *rx) {
	gb_matcher_finish(matcher);
	matcher->rx = rx;
	struct building b = {0};
	struct gb_beginning *beginnings = calloc(rx->n_chains + 1, sizeof *beginnings);
	bool ok = beginnings != NULL;
	for (uint32_t i = 0; ok && i < rx->n_chains; i++) {
		gb_rx_beginning(rx, &rx->chains[i], beginnings[i].at, GB_PREFILTER_BYTES);
		ok = add_chain(&b, &rx->chains[i], i, &beginnings[i]);
	}
	ok = ok && gb_prefilter_build(&matcher->prefilter, beginnings, rx->n_chains, GB_PREFILTER_BUCKETS) &&
	     make_lists(matcher, &b);
	free(beginnings);
	free(b.places);
	return ok;
}

void gb_matcher_finish(struct gb_matcher *matcher) {
	free(matcher->chains);
	free(matcher->lists);
	*matcher = (struct gb_matcher){0};
}
