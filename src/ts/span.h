/*
 * Runs of bytes, sixteen at a time where the machine can. Where a run ends is a branch that nobody foresees;
 * counting to it takes none.
 */
#ifndef GB_TS_SPAN_H
#define GB_TS_SPAN_H

#include <stdbool.h>
#include <stdint.h>
#ifdef __SSE2__
#include <emmintrin.h>

enum { SPAN = 16 };

static inline __m128i span_load(const void *at) {
	return _mm_loadu_si128((const __m128i *)at);
}
static inline __m128i span_is(__m128i bytes, char c) {
	return _mm_cmpeq_epi8(bytes, _mm_set1_epi8(c));
}
static inline unsigned span_bits(__m128i found) {
	return (unsigned)_mm_movemask_epi8(found);
}
/* How many of the first are set; at most sixteen, since the others never are. */
static inline unsigned span_first(unsigned bits) {
	return (unsigned)__builtin_ctz(~bits);
}
/* Letters, digits, '_' and '$'. */
static inline __m128i span_in_name(__m128i bytes) {
	__m128i letter = _mm_sub_epi8(_mm_or_si128(bytes, _mm_set1_epi8(0x20)), _mm_set1_epi8('a'));
	__m128i digit = _mm_sub_epi8(bytes, _mm_set1_epi8('0'));
	return _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(_mm_min_epu8(letter, _mm_set1_epi8(25)), letter),
				_mm_cmpeq_epi8(_mm_min_epu8(digit, _mm_set1_epi8(9)), digit)),
	    _mm_or_si128(span_is(bytes, '_'), span_is(bytes, '$')));
}
#endif

/* The first of s[at..end) that is one of these, or @end. */
static inline uint32_t span_find(const char *s, uint32_t at, uint32_t end, char a, char b, char c, char d) {
#ifdef __SSE2__
	for (; at + SPAN <= end; at += SPAN) {
		__m128i bytes = span_load(s + at);
		unsigned found = span_bits(_mm_or_si128(_mm_or_si128(span_is(bytes, a), span_is(bytes, b)),
		    _mm_or_si128(span_is(bytes, c), span_is(bytes, d))));
		if (found)
			return at + (uint32_t)__builtin_ctz(found);
	}
#endif
	while (at < end && s[at] != a && s[at] != b && s[at] != c && s[at] != d)
		at++;
	return at;
}

/* The first of s[at..end) that is @first with @second after it, or @end. What stands at @end is not @second.
 */
static inline uint32_t span_find_pair(const char *s, uint32_t at, uint32_t end, char first, char second) {
#ifdef __SSE2__
	for (; at + SPAN < end; at += SPAN) {
		unsigned found = span_bits(
		    _mm_and_si128(span_is(span_load(s + at), first), span_is(span_load(s + at + 1), second)));
		if (found)
			return at + (uint32_t)__builtin_ctz(found);
	}
#endif
	while (at < end && (s[at] != first || s[at + 1] != second))
		at++;
	return at;
}

/* Spaces to @to instead of from[0..n), but for tabs and the line ends of one byte. Both have @room; of that,
 * what is beyond @n may be read, and overwritten. Whether there may be a byte with which longer line ends
 * begin. */
static inline bool span_blank(char *to, const char *from, size_t n, size_t room) {
	size_t i = 0;
	bool wide = false;
#ifdef __SSE2__
	unsigned wides = 0;
	for (; i < n && i + SPAN <= room; i += SPAN) {
		__m128i bytes = span_load(from + i), space = _mm_set1_epi8(' ');
		__m128i kept = _mm_or_si128(
		    _mm_or_si128(span_is(bytes, '\n'), span_is(bytes, '\r')), span_is(bytes, '\t'));
		__m128i blank = _mm_or_si128(_mm_and_si128(kept, bytes), _mm_andnot_si128(kept, space));
		_mm_storeu_si128((__m128i *)(void *)(to + i), blank);
		wides |= span_bits(span_is(bytes, '\xe2'));
	}
	wide = wides != 0;
#endif
	for (; i < n; i++) {
		to[i] = from[i] == '\n' || from[i] == '\r' || from[i] == '\t' ? from[i] : ' ';
		wide |= from[i] == '\xe2';
	}
	return wide;
}

#endif
