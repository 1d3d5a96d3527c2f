/*
 * Scans runs of bytes, sixteen at a time with SSE2. The end of a run is a branch that the CPU cannot predict;
 * a bit count of the comparison mask needs no branch.
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
/* The number of trailing one bits; at most 16, since only the low 16 bits can be set. */
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

/* The index of the first of these characters in s[at..end), or @end. */
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

/* The index of the first @first in s[at..end) that is followed by @second, or @end. s[end] must not be
 * @second. */
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

/* Write spaces to @to for from[0..n), but keep tabs and one-byte line terminators. Both buffers have @room
 * bytes; those beyond @n may be read and overwritten. Returns whether there may be a first byte of a longer
 * line terminator (U+2028, U+2029). */
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
