#include <stdlib.h>
#include <string.h>

#include "value/text.h"

enum {
	WORDS = GB_DECIMAL_BYTES / 4,
	CHUNK = 1000000000,
	CHUNK_DIGITS = 9,
	CHUNKS = WORDS * 32 / 29 + 1,                    /* 9 digits hold more than 29 bits */
	MAX_DIGITS = GB_DECIMAL_BYTES * 8 * 1000 / 3321, /* a digit holds more than 3.321 bits */
};

/* Convert the magnitude to 32-bit words, most significant first. Returns their number. */
static size_t load_words(uint32_t words[WORDS], const uint8_t *magnitude, size_t n) {
	size_t count = (n + 3) / 4;
	memset(words, 0, count * sizeof *words);
	for (size_t i = 0; i < n; i++) {
		size_t from_end = n - 1 - i;
		words[count - 1 - from_end / 4] |= (uint32_t)magnitude[i] << 8 * (from_end % 4);
	}
	return count;
}

/* Divide in place by 10^9; returns the remainder. */
static uint32_t divide(uint32_t *words, size_t count) {
	uint64_t rest = 0;
	for (size_t i = 0; i < count; i++) {
		uint64_t dividend = rest << 32 | words[i];
		words[i] = (uint32_t)(dividend / CHUNK);
		rest = dividend % CHUNK;
	}
	return (uint32_t)rest;
}

static void format_decimal(struct gb_buf *out, const uint8_t *magnitude, size_t n) {
	uint32_t words[WORDS], chunks[CHUNKS];
	size_t count = load_words(words, magnitude, n), start = 0, n_chunks = 0;
	while (start < count) {
		chunks[n_chunks++] = divide(words + start, count - start);
		while (start < count && words[start] == 0)
			start++;
	}
	if (n_chunks == 0)
		chunks[n_chunks++] = 0;
	gb_buf_printf(out, "%u", chunks[n_chunks - 1]);
	for (size_t i = n_chunks - 1; i > 0; i--)
		gb_buf_printf(out, "%09u", chunks[i - 1]);
}

void gb_bigint_format(struct gb_buf *out, const struct gb_value *bigint) {
	bool negative;
	size_t n;
	const uint8_t *magnitude = gb_value_magnitude(bigint, &negative, &n);
	if (negative)
		gb_buf_append_char(out, '-');
	if (n <= GB_DECIMAL_BYTES) {
		format_decimal(out, magnitude, n);
		return;
	}
	gb_buf_append(out, "0x", 2);
	char *at = gb_buf_reserve(out, 2 * n);
	for (size_t i = 0; at && i < n; i++) {
		*at++ = "0123456789abcdef"[magnitude[i] >> 4];
		*at++ = "0123456789abcdef"[magnitude[i] & 0xf];
	}
	if (at)
		out->len += 2 * n;
}

/* Multiply the words, least significant first, by @factor and add @term. Returns their number. */
static size_t multiply_add(uint32_t *words, size_t count, uint32_t factor, uint32_t term) {
	uint64_t carry = term;
	for (size_t i = 0; i < count; i++) {
		carry += (uint64_t)words[i] * factor;
		words[i] = (uint32_t)carry;
		carry >>= 32;
	}
	if (carry)
		words[count++] = (uint32_t)carry;
	return count;
}

static struct gb_value *parse_decimal(struct gb_values *pool, bool negative, struct gb_str digits) {
	uint32_t words[WORDS + 1];
	size_t count = 0;
	if (digits.n == 0 || digits.n > MAX_DIGITS || (digits.p[0] == '0' && digits.n > 1))
		return NULL;
	for (size_t i = 0; i < digits.n;) {
		uint32_t factor = 1, chunk = 0;
		for (; i < digits.n && factor < CHUNK; i++, factor *= 10) {
			if (digits.p[i] < '0' || digits.p[i] > '9')
				return NULL;
			chunk = chunk * 10 + (uint32_t)(digits.p[i] - '0');
		}
		count = multiply_add(words, count, factor, chunk);
	}
	uint8_t magnitude[sizeof words];
	for (size_t i = 0; i < 4 * count; i++)
		magnitude[4 * count - 1 - i] = (uint8_t)(words[i / 4] >> 8 * (i % 4));
	return gb_value_bigint(pool, negative, magnitude, 4 * count);
}

static int hex_digit(char c) {
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static struct gb_value *parse_hex(struct gb_values *pool, bool negative, struct gb_str digits) {
	size_t n = digits.n / 2 + digits.n % 2;
	uint8_t *magnitude = n ? calloc(n, 1) : NULL;
	if (!magnitude)
		return NULL;
	int digit = 0;
	for (size_t i = 0; i < digits.n && digit >= 0; i++) {
		size_t from_end = digits.n - 1 - i;
		digit = hex_digit(digits.p[i]);
		if (digit >= 0)
			magnitude[n - 1 - from_end / 2] |= (uint8_t)(digit << 4 * (from_end % 2));
	}
	struct gb_value *bigint = digit < 0 ? NULL : gb_value_bigint(pool, negative, magnitude, n);
	free(magnitude);
	return bigint;
}

struct gb_value *gb_bigint_parse(struct gb_values *pool, struct gb_str text) {
	bool negative = text.n && text.p[0] == '-';
	struct gb_str digits = {text.p + negative, text.n - negative};
	if (digits.n > 2 && digits.p[0] == '0' && digits.p[1] == 'x')
		return parse_hex(pool, negative, (struct gb_str){digits.p + 2, digits.n - 2});
	return parse_decimal(pool, negative, digits);
}
