#include <stdlib.h>
#include <string.h>

#include "guard/secrets_match.h"

/* Which two bytes a chain can begin with, and what follows from it: where it is to be looked for. */
enum { WILD = 1 << 16, ONE = 1 << 17, MANY_PAIRS = 300 };

struct place {
	uint32_t key; /* two bytes; ONE + a byte; or WILD */
	bool word;
	uint32_t chain;
};

struct building {
	struct place *places;
	size_t n, cap;
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

static unsigned list_bytes(const struct gb_byteset *set, uint8_t bytes[256]) {
	unsigned n = 0;
	for (unsigned i = 0; i < 4; i++)
		for (uint64_t bits = set->bits[i]; bits; bits &= bits - 1)
			bytes[n++] = (uint8_t)(i * 64 + (unsigned)__builtin_ctzll(bits));
	return n;
}

static bool add_chain(struct building *b, const struct gb_rx_chain *chain, uint32_t number,
    const struct gb_beginning *beginning) {
	uint8_t first[256], second[256];
	unsigned n_first = list_bytes(&beginning->at[0], first),
		 n_second = list_bytes(&beginning->at[1], second);
	if (n_first * n_second > MANY_PAIRS)
		return add_place(b, WILD, chain->word, number);
	for (unsigned i = 0; i < n_first; i++) {
		if (!add_place(b, ONE | first[i], chain->word, number))
			return false;
		for (unsigned j = 0; j < n_second; j++)
			if (!add_place(b, (uint32_t)first[i] << 8 | second[j], chain->word, number))
				return false;
	}
	return true;
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
	else if (key & ONE)
		matcher->by_one[key & 0xff] = list;
	else
		matcher->by_two[key] = list;
}

static bool make_lists(struct gb_matcher *matcher, struct building *b) {
	matcher->chains = malloc((b->n + 1) * sizeof *matcher->chains);
	matcher->lists = calloc(b->n + 1, sizeof *matcher->lists);
	matcher->by_two = calloc(1 << 16, sizeof *matcher->by_two);
	if (!matcher->chains || !matcher->lists || !matcher->by_two)
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
	free(matcher->by_two);
	*matcher = (struct gb_matcher){0};
}
