#include "guard/secrets_regex.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "guard/secrets_draft.h"
#include "guard/secrets_named.h"

enum {
	MAX_SETS = 4096,
	TABLE = 2 * MAX_SETS,
	MAX_RUNS = 1 << 20,
	MAX_CHAINS = 16384,
	SHORTEST = 4,
	SHORTEST_NAME = 3,
	HEAD_BYTES = GB_RX_HEAD * GB_RX_HEADS
};

void gb_rx_finish(struct gb_rx *rx) {
	free(rx->sets);
	free(rx->runs);
	free(rx->chains);
	free(rx->table);
	*rx = (struct gb_rx){0};
}

/* Room for @more in an array that doubles. */
static bool make_room(void *array, uint32_t used, uint32_t *cap, size_t more, size_t size, size_t max) {
	void **at = array;
	if (used + more <= *cap)
		return true;
	size_t wanted = *cap ? *cap * 2 : 64;
	while (wanted < used + more)
		wanted *= 2;
	void *bigger = wanted <= max ? realloc(*at, wanted * size) : NULL;
	if (!bigger)
		return false;
	*at = bigger;
	*cap = (uint32_t)wanted;
	return true;
}

bool gb_rx_intern(struct gb_rx *rx, const struct gb_byteset *set, uint16_t *ret_index) {
	if (!rx->table && !(rx->table = calloc(TABLE, sizeof *rx->table)))
		return false;
	uint64_t hash = 0;
	for (unsigned i = 0; i < 4; i++)
		hash = (hash ^ set->bits[i] ^ hash >> 29) * UINT64_C(0x9e3779b97f4a7c15);
	size_t at = hash >> 32 & (TABLE - 1);
	for (; rx->table[at]; at = (at + 1) & (TABLE - 1))
		if (memcmp(&rx->sets[rx->table[at] - 1], set, sizeof *set) == 0) {
			*ret_index = (uint16_t)(rx->table[at] - 1);
			return true;
		}
	if (!make_room(&rx->sets, rx->n_sets, &rx->cap_sets, 1, sizeof *rx->sets, MAX_SETS))
		return false;
	rx->sets[rx->n_sets] = *set;
	*ret_index = (uint16_t)rx->n_sets++;
	rx->table[at] = (uint16_t)rx->n_sets;
	return true;
}

static bool overlap(const struct gb_byteset *a, const struct gb_byteset *b) {
	for (unsigned i = 0; i < 4; i++)
		if (a->bits[i] & b->bits[i])
			return true;
	return false;
}

/* A run of varying length must end where its set ends, or there would be more than one way to match. */
static const char *ambiguity(const struct gb_rx *rx, const struct gb_draft *draft) {
	for (unsigned i = 0; i + 1 < draft->n; i++) {
		const struct gb_rx_run *run = &draft->runs[i];
		if (run->max == GB_RX_ENDLESS)
			return "only what ends the pattern may be repeated without end; write {n,m}";
		if (run->min == run->max)
			continue;
		for (unsigned next = i + 1; next < draft->n; next++) {
			if (overlap(&rx->sets[run->set], &rx->sets[draft->runs[next].set]))
				return "a repetition can swallow what follows it; repeat it a fixed number "
				       "of "
				       "times, or take the bytes of what follows out of its class";
			if (draft->runs[next].min > 0)
				break;
		}
	}
	return NULL;
}

static const char *problem(const struct gb_rx *rx, const struct gb_draft *draft,
    const struct gb_draft_flags *flags, size_t *ret_longest) {
	size_t shortest = 0, longest = 0;
	if (!draft->n || (draft->keep != GB_DRAFT_WHOLE && draft->keep + flags->ahead >= draft->n))
		return "there is nothing to match, or nothing after \\K";
	const char *what = ambiguity(rx, draft);
	if (what)
		return what;
	for (unsigned i = 0; i < draft->n; i++) {
		shortest += draft->runs[i].min;
		longest += i + 1 < draft->n ? draft->runs[i].max : draft->runs[i].min;
	}
	if (flags->tail)
		longest = GB_NAMED_LONGEST;
	if (shortest < (flags->tail ? SHORTEST_NAME : SHORTEST))
		return "it can match fewer than 4 bytes, and would mask what is no secret";
	if (longest > GB_RX_LONGEST)
		return "up to more than 1024 bytes would have to be held back until a match is certain";
	*ret_longest = longest;
	return NULL;
}

/* Which bits all bytes of a set have in common, and how they are; none, unless every combination of the
 * others is in the set. Letters in both cases differ in one bit. */
static uint8_t common_bits(const struct gb_byteset *set, uint8_t *ret_mask) {
	unsigned n = 0, any = 0, all = 0xff;
	for (unsigned i = 0; i < 4; i++)
		n += (unsigned)__builtin_popcountll(set->bits[i]);
	*ret_mask = 0;
	/* So it is with most classes, which have many bytes to be looked at. */
	if (!n || n & (n - 1))
		return 0;
	for (unsigned i = 0; i < 4; i++)
		for (uint64_t bits = set->bits[i]; bits; bits &= bits - 1) {
			unsigned byte = i * 64 + (unsigned)__builtin_ctzll(bits);
			any |= byte;
			all &= byte;
		}
	unsigned varies = any & ~all;
	if (n != 1U << __builtin_popcount(varies))
		return 0;
	*ret_mask = (uint8_t)~varies;
	return (uint8_t)(all & *ret_mask);
}

/* What can be compared with one load. */
static void set_head(const struct gb_rx *rx, struct gb_rx_chain *chain) {
	struct gb_byteset at[HEAD_BYTES];
	gb_rx_beginning(rx, chain, at, HEAD_BYTES);
	uint8_t head[HEAD_BYTES] = {0}, mask[HEAD_BYTES] = {0};
	for (unsigned i = 0; i < HEAD_BYTES; i++)
		head[i] = common_bits(&at[i], &mask[i]);
	memcpy(chain->head, head, sizeof head);
	memcpy(chain->head_mask, mask, sizeof mask);
}

static bool add_chain(
    struct gb_rx *rx, const struct gb_draft *draft, const struct gb_draft_flags *flags, uint16_t kind) {
	if (!make_room(&rx->runs, rx->n_runs, &rx->cap_runs, draft->n, sizeof *rx->runs, MAX_RUNS) ||
	    !make_room(&rx->chains, rx->n_chains, &rx->cap_chains, 1, sizeof *rx->chains, MAX_CHAINS))
		return false;
	struct gb_rx_chain *chain = &rx->chains[rx->n_chains];
	*chain = (struct gb_rx_chain){.first = rx->n_runs,
	    .n = (uint16_t)draft->n,
	    .keep = (uint16_t)(draft->keep == GB_DRAFT_WHOLE ? 0 : draft->keep),
	    .kind = kind,
	    .word = flags->word,
	    .ahead = flags->ahead,
	    .tail = flags->tail};
	memcpy(&rx->runs[rx->n_runs], draft->runs, draft->n * sizeof *draft->runs);
	rx->n_runs += draft->n;
	rx->n_chains++;
	set_head(rx, chain);
	return true;
}

static bool add_drafts(struct gb_rx *rx, const struct gb_drafts *drafts, const struct gb_draft_flags *flags,
    uint16_t kind, struct gb_err *err) {
	for (unsigned i = 0; i < drafts->n; i++) {
		size_t longest;
		const char *what = problem(rx, &drafts->list[i], flags, &longest);
		if (what)
			return gb_fail(err, GB_EINVAL, 0, "%s", what);
		if (!add_chain(rx, &drafts->list[i], flags, kind))
			return gb_fail(err, GB_ELIMIT, 0, "there are too many patterns, or memory is out");
		rx->longest = longest > rx->longest ? longest : rx->longest;
	}
	return true;
}

bool gb_rx_compile(struct gb_rx *rx, const char *pattern, uint16_t kind, struct gb_err *err) {
	gb_auto_arena struct gb_arena arena;
	gb_arena_init(&arena, 16 << 20);
	struct gb_drafts drafts;
	struct gb_draft_flags flags = {0};
	uint32_t n_runs = rx->n_runs, n_chains = rx->n_chains;
	size_t longest = rx->longest;
	if (!gb_draft_parse(rx, &arena, pattern, &drafts, &flags, err))
		return false;
	if (add_drafts(rx, &drafts, &flags, kind, err))
		return true;
	rx->n_runs = n_runs;
	rx->n_chains = n_chains;
	rx->longest = longest;
	return false;
}

void gb_rx_beginning(
    const struct gb_rx *rx, const struct gb_rx_chain *chain, struct gb_byteset *sets, size_t n) {
	const struct gb_rx_run *run = &rx->runs[chain->first], *end = run + chain->n;
	size_t at = 0;
	for (; at < n && run < end; run++) {
		for (unsigned i = 0; at < n && i < run->min; i++)
			sets[at++] = rx->sets[run->set];
		if (run->min != run->max)
			break;
	}
	for (; at < n; at++)
		memset(&sets[at], 0xff, sizeof *sets);
}
