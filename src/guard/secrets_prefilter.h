/*
 * Where in a text could any of many things begin? One look at four bytes tells for most places that none
 * does.
 *
 *	gb_prefilter_build(&filter, beginnings, n);
 *	struct gb_places places = gb_places_from(start, end);
 *	while ((p = gb_prefilter_next(&filter, &places)) < end)
 *		... something could begin at p; more often than not it does not ...
 *
 * What begins alike shares one of 32 buckets. For each of the four places, a byte has a mask of the
 * buckets in which it may stand there; the four masks are ANDed, for 32 places at once where the CPU has AVX2.
 * Near the end, where fewer than four bytes are left, those that are there decide.
 */
#ifndef GB_GUARD_SECRETS_PREFILTER_H
#define GB_GUARD_SECRETS_PREFILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "guard/secrets_regex.h"

enum {
	GB_PREFILTER_BYTES = 4,
	GB_PREFILTER_BUCKETS = 32,
	GB_PREFILTER_FEW = 16,
	GB_PREFILTER_HASH = 17,
	GB_PREFILTER_WIDE = 64
};

/* Of the first @n bytes at @p, four at most; capitals and small letters are the same. The high bits are the best. */
static inline uint32_t gb_prefilter_hash(const uint8_t *p, size_t n) {
	uint32_t four = 0;
	memcpy(&four, p, n < sizeof four ? n : sizeof four);
	return (four | UINT32_C(0x20202020)) * UINT32_C(2654435761);
}

struct gb_beginning {
	struct gb_byteset at[GB_PREFILTER_BYTES];
};

struct gb_prefilter {
	uint32_t masks[GB_PREFILTER_BYTES][256];
	/* The same by halves of a byte, for eight buckets each. */
	uint8_t low[GB_PREFILTER_BUCKETS / 8][GB_PREFILTER_BYTES][16],
	    high[GB_PREFILTER_BUCKETS / 8][GB_PREFILTER_BYTES][16];
	uint8_t groups; /* of eight buckets that are used */
	bool narrow;    /* AVX2 is not used, even where the CPU has it */
	/* What looks right is then looked up: a bit for each hash of four bytes with which something begins.
	 */
	uint64_t hashes[(1 << GB_PREFILTER_HASH) / 64];
};

/* @buckets is GB_PREFILTER_BUCKETS or GB_PREFILTER_FEW: more of them find fewer places, and cost more where
 * there is none. False if memory is out. */
bool gb_prefilter_build(
    struct gb_prefilter *filter, const struct gb_beginning *beginnings, size_t n, unsigned buckets);

struct gb_places {
	const uint8_t *p, *end;
	uint64_t found; /* of the 64 places before p, those that were not handed out yet */
};

static inline struct gb_places gb_places_from(const uint8_t *p, const uint8_t *end) {
	return (struct gb_places){p, end, 0};
}

/* The next place where something could begin, or the end. */
const uint8_t *gb_prefilter_next(const struct gb_prefilter *filter, struct gb_places *places);

#endif
