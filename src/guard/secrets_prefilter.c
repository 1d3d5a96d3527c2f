#include "guard/secrets_prefilter.h"

#include <stdlib.h>
#include <string.h>

#ifdef __x86_64__
#include <immintrin.h>
#endif

enum { WORTH_PLACING = 1024, WORTH_HASHING = 16384 };

/* --- buckets --- */

/* How often a byte is seen in what programs print, roughly. */
static const uint8_t often[128] = {
    1, 1, 1, 1, 1, 1, 1, 1, 1, 23, 49, 1, 1, 1, 1, 1,             /* tab, newline */
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,               /* */
    255, 2, 11, 1, 1, 1, 4, 3, 15, 15, 8, 4, 25, 33, 23, 11,      /* space to '/' */
    23, 19, 25, 8, 14, 7, 11, 3, 3, 5, 17, 12, 4, 12, 9, 1,       /* '0' to '?' */
    1, 15, 5, 10, 7, 18, 7, 7, 5, 17, 1, 1, 12, 5, 15, 14,        /* '@' to 'O' */
    6, 1, 14, 14, 17, 6, 2, 4, 1, 4, 1, 2, 2, 2, 1, 24,           /* 'P' to '_' */
    1, 75, 27, 42, 42, 118, 26, 26, 30, 82, 2, 9, 49, 28, 76, 73, /* '`' to 'o' */
    31, 1, 77, 80, 106, 43, 11, 11, 6, 15, 3, 4, 3, 4, 1, 1,      /* 'p' on */
};

/* Bytes at one place, as the wide search sees them: by halves, each by itself. */
struct halves {
	uint16_t low, high;
};

struct bucket {
	struct halves at[GB_PREFILTER_BYTES];
	unsigned often[GB_PREFILTER_BYTES]; /* each of them is seen */
	double cost;                        /* how often a text makes it look, in no unit */
};

static struct halves halves_of(const struct gb_byteset *set) {
	struct halves halves = {0};
	for (unsigned i = 0; i < 4; i++)
		for (uint64_t bits = set->bits[i]; bits; bits &= bits - 1) {
			unsigned byte = i * 64 + (unsigned)__builtin_ctzll(bits);
			halves.low |= (uint16_t)(1U << (byte & 15));
			halves.high |= (uint16_t)(1U << (byte >> 4));
		}
	return halves;
}

static unsigned how_often(struct halves halves) {
	unsigned sum = 0;
	for (unsigned high = halves.high; high; high &= high - 1) {
		unsigned row = (unsigned)__builtin_ctz(high) * 16;
		if (row >= sizeof often)
			sum += (unsigned)__builtin_popcount(halves.low);
		else
			for (unsigned low = halves.low; low; low &= low - 1)
				sum += often[row + (unsigned)__builtin_ctz(low)];
	}
	return sum;
}

static void set_cost(struct bucket *bucket) {
	bucket->cost = 1;
	for (unsigned i = 0; i < GB_PREFILTER_BYTES; i++)
		bucket->cost *= bucket->often[i];
}

static void set_bucket(struct bucket *bucket) {
	for (unsigned i = 0; i < GB_PREFILTER_BYTES; i++)
		bucket->often[i] = how_often(bucket->at[i]);
	set_cost(bucket);
}

static struct bucket bucket_of(const struct gb_beginning *beginning) {
	struct bucket bucket;
	for (unsigned i = 0; i < GB_PREFILTER_BYTES; i++)
		bucket.at[i] = halves_of(&beginning->at[i]);
	set_bucket(&bucket);
	return bucket;
}

/* Where one has all that the other has, which is so most of the time, the count is known. */
static struct bucket join(const struct bucket *a, const struct bucket *b) {
	struct bucket joined;
	for (unsigned i = 0; i < GB_PREFILTER_BYTES; i++) {
		struct halves both = {a->at[i].low | b->at[i].low, a->at[i].high | b->at[i].high};
		joined.at[i] = both;
		if (both.low == a->at[i].low && both.high == a->at[i].high)
			joined.often[i] = a->often[i];
		else if (both.low == b->at[i].low && both.high == b->at[i].high)
			joined.often[i] = b->often[i];
		else
			joined.often[i] = how_often(both);
	}
	set_cost(&joined);
	return joined;
}

/* Into the bucket that becomes worse by the least. */
static uint8_t place(struct bucket buckets[GB_PREFILTER_BUCKETS], unsigned n, const struct bucket *one) {
	struct bucket best = {0};
	double least = -1;
	unsigned where = 0;
	for (unsigned i = 0; i < n; i++) {
		struct bucket joined = join(&buckets[i], one);
		double more = joined.cost - buckets[i].cost;
		if (least < 0 || more < least) {
			least = more;
			best = joined;
			where = i;
		}
	}
	buckets[where] = best;
	return (uint8_t)where;
}

struct candidate {
	struct bucket bucket;
	size_t index;
	uint8_t where;
};

/* What is seen most often first: it finds an empty bucket, and the rare ones gather around it. */
static int compare(const void *a, const void *b) {
	const struct candidate *x = a, *y = b;
	if (x->bucket.cost != y->bucket.cost)
		return x->bucket.cost > y->bucket.cost ? -1 : 1;
	int order = memcmp(x->bucket.at, y->bucket.at, sizeof x->bucket.at);
	return order ? order : x->index < y->index ? -1 : x->index > y->index;
}

static void set_masks(struct gb_prefilter *filter, const struct gb_beginning *beginning, unsigned bucket) {
	uint8_t bit = (uint8_t)(1U << bucket % 8);
	for (unsigned i = 0; i < GB_PREFILTER_BYTES; i++)
		for (unsigned j = 0; j < 4; j++)
			for (uint64_t bits = beginning->at[i].bits[j]; bits; bits &= bits - 1) {
				unsigned byte = j * 64 + (unsigned)__builtin_ctzll(bits);
				filter->masks[i][byte] |= 1U << bucket;
				filter->low[bucket / 8][i][byte & 15] |= bit;
				filter->high[bucket / 8][i][byte >> 4] |= bit;
			}
}

static bool same(const struct candidate *a, const struct candidate *b) {
	return memcmp(a->bucket.at, b->bucket.at, sizeof a->bucket.at) == 0;
}

/* Take one out of its bucket and see whether there is a better one, now that all are placed. */
static void place_again(struct bucket buckets[GB_PREFILTER_BUCKETS], unsigned n_buckets,
    struct candidate *all, size_t n, size_t i) {
	struct bucket *old = &buckets[all[i].where];
	*old = (struct bucket){0};
	for (size_t j = 0; j < n; j++) {
		if (all[j].where != all[i].where || same(&all[i], &all[j]))
			continue;
		for (unsigned k = 0; k < GB_PREFILTER_BYTES; k++) {
			old->at[k].low |= all[j].bucket.at[k].low;
			old->at[k].high |= all[j].bucket.at[k].high;
		}
	}
	set_bucket(old);
	all[i].where = place(buckets, n_buckets, &all[i].bucket);
}

static void place_all(struct candidate *all, size_t n, unsigned n_buckets) {
	struct bucket buckets[GB_PREFILTER_BUCKETS] = {0};
	/* So many fill every bucket anyway. */
	if (n > WORTH_PLACING) {
		for (size_t i = 0; i < n; i++)
			all[i].where = (uint8_t)(i * n_buckets / n);
		return;
	}
	for (size_t i = 0; i < n; i++)
		all[i].where = i && same(&all[i - 1], &all[i]) ? all[i - 1].where
							       : place(buckets, n_buckets, &all[i].bucket);
	for (size_t i = 0; i < n; i++)
		if (i && same(&all[i - 1], &all[i]))
			all[i].where = all[i - 1].where;
		else
			place_again(buckets, n_buckets, all, n, i);
}

/* --- hashes --- */

static inline uint32_t hash4(const uint8_t *p) {
	return gb_prefilter_hash(p, GB_PREFILTER_BYTES) >> (32 - GB_PREFILTER_HASH);
}

static void add_hashes(
    struct gb_prefilter *filter, const struct gb_beginning *beginning, unsigned place, uint8_t *bytes) {
	if (place == GB_PREFILTER_BYTES) {
		uint32_t hash = hash4(bytes);
		filter->hashes[hash / 64] |= UINT64_C(1) << hash % 64;
		return;
	}
	for (unsigned i = 0; i < 4; i++)
		for (uint64_t bits = beginning->at[place].bits[i]; bits; bits &= bits - 1) {
			bytes[place] = (uint8_t)(i * 64 + (unsigned)__builtin_ctzll(bits));
			add_hashes(filter, beginning, place + 1, bytes);
		}
}

static size_t combinations(const struct gb_beginning *beginning) {
	size_t all = 1;
	for (unsigned i = 0; i < GB_PREFILTER_BYTES; i++) {
		size_t n = 0;
		for (unsigned j = 0; j < 4; j++)
			n += (size_t)__builtin_popcountll(beginning->at[i].bits[j]);
		all *= n;
	}
	return all;
}

bool gb_prefilter_build(
    struct gb_prefilter *filter, const struct gb_beginning *beginnings, size_t n, unsigned buckets) {
	uint8_t bytes[GB_PREFILTER_BYTES];
	struct candidate *all = malloc((n + 1) * sizeof *all);
	if (!all)
		return false;
	for (size_t i = 0; i < n; i++)
		all[i] = (struct candidate){bucket_of(&beginnings[i]), i, 0};
	qsort(all, n, sizeof *all, compare);
	place_all(all, n, buckets);
	memset(filter, 0, sizeof *filter);
	filter->groups = (uint8_t)(buckets / 8);
	for (size_t i = 0; i < n; i++) {
		set_masks(filter, &beginnings[all[i].index], all[i].where);
		if (combinations(&beginnings[i]) > WORTH_HASHING)
			memset(filter->hashes, 0xff, sizeof filter->hashes);
		else
			add_hashes(filter, &beginnings[i], 0, bytes);
	}
	free(all);
	return true;
}

/* --- the search --- */

static inline bool could_begin(const struct gb_prefilter *filter, const uint8_t *p, const uint8_t *end) {
	uint32_t which = filter->masks[0][p[0]];
	for (unsigned i = 1; which && i < GB_PREFILTER_BYTES && p + i < end; i++)
		which &= filter->masks[i][p[i]];
	return which;
}

#ifdef __x86_64__
struct bytes32 {
	__m256i low, high;
};

__attribute__((target("avx2"), always_inline)) static inline struct bytes32 split(const uint8_t *p) {
	__m256i bytes = _mm256_loadu_si256((const __m256i *)p), half = _mm256_set1_epi8(0x0f);
	return (struct bytes32){
	    _mm256_and_si256(bytes, half), _mm256_and_si256(_mm256_srli_epi16(bytes, 4), half)};
}

__attribute__((target("avx2"), always_inline)) static inline __m256i table(const uint8_t halves[16]) {
	return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)halves));
}

/* Which of eight buckets could begin at each of 32 places. */
__attribute__((target("avx2"), always_inline)) static inline __m256i look(const struct bytes32 *at,
    const uint8_t low[GB_PREFILTER_BYTES][16], const uint8_t high[GB_PREFILTER_BYTES][16]) {
	__m256i which = _mm256_set1_epi8(-1);
	for (unsigned i = 0; i < GB_PREFILTER_BYTES; i++) {
		which = _mm256_and_si256(which, _mm256_shuffle_epi8(table(low[i]), at[i].low));
		which = _mm256_and_si256(which, _mm256_shuffle_epi8(table(high[i]), at[i].high));
	}
	return which;
}

__attribute__((target("avx2"), always_inline)) static inline uint32_t look_at_32(
    const struct gb_prefilter *filter, const uint8_t *p, unsigned groups) {
	struct bytes32 at[GB_PREFILTER_BYTES] = {split(p), split(p + 1), split(p + 2), split(p + 3)};
	__m256i which = look(at, filter->low[0], filter->high[0]);
	for (unsigned i = 1; i < groups; i++)
		which = _mm256_or_si256(which, look(at, filter->low[i], filter->high[i]));
	return ~(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(which, _mm256_setzero_si256()));
}

/* Stops behind 64 places of which some look right, or so near to the end that a load would reach beyond it.
 */
__attribute__((target("avx2"), always_inline)) static inline void skip_groups(
    const struct gb_prefilter *filter, struct gb_places *places, unsigned groups) {
	const uint8_t *p = places->p, *end = places->end;
	uint64_t found = 0;
	for (; !found && end - p >= GB_PREFILTER_WIDE + GB_PREFILTER_BYTES; p += GB_PREFILTER_WIDE)
		found = look_at_32(filter, p, groups) | (uint64_t)look_at_32(filter, p + 32, groups) << 32;
	for (; !found && end - p >= 32 + GB_PREFILTER_BYTES; p += 32)
		found = (uint64_t)look_at_32(filter, p, groups) << 32;
	places->p = p;
	places->found = found;
}

/* With a constant number of groups the tables stay in registers. */
__attribute__((target("avx2"))) static void skip_wide(
    const struct gb_prefilter *filter, struct gb_places *places) {
	if (filter->groups == GB_PREFILTER_FEW / 8)
		skip_groups(filter, places, GB_PREFILTER_FEW / 8);
	else
		skip_groups(filter, places, GB_PREFILTER_BUCKETS / 8);
}
#endif

static inline bool is_hashed(const struct gb_prefilter *filter, const uint8_t *p) {
	uint32_t hash = hash4(p);
	return filter->hashes[hash / 64] >> hash % 64 & 1;
}

const uint8_t *gb_prefilter_next(const struct gb_prefilter *filter, struct gb_places *places) {
#ifdef __x86_64__
	bool wide = !filter->narrow && __builtin_cpu_supports("avx2");
	while (wide) {
		if (!places->found)
			skip_wide(filter, places);
		if (!places->found)
			break;
		const uint8_t *place = places->p - GB_PREFILTER_WIDE + __builtin_ctzll(places->found);
		places->found &= places->found - 1;
		if (is_hashed(filter, place))
			return place;
	}
#endif
	while (places->p < places->end) {
		const uint8_t *place = places->p++;
		if (could_begin(filter, place, places->end) &&
		    (places->end - place < GB_PREFILTER_BYTES || is_hashed(filter, place)))
			return place;
	}
	return places->end;
}
