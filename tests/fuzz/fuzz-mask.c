/*
 * The output and the counts do not depend on how a stream is split; no registered value is in the output; no more is
 * held back than the longest match; and a value with the same text is masked in the same way.
 */
#include "fuzz.h"

#include <string.h>

#include "base/cleanup.h"
#include "guard/secrets.h"
#include "value/wtf8.h"

enum { HEAD = 4, TEXT_MAX = 2500, OUT_MAX = 1 << 16 };

/* Some overlap, repeat themselves, or need escapes. */
static const char *const values[] = {"hunter22", "abcabcabd", "aaaaaa", "abcabc", "bcabcabdab",
    "a\"b\\c\nd/e", "123456", "caf\xc3\xa9+au lait"};

static struct gb_filter *filter;
static struct gb_mask *stream;

static void setup(void) {
	if (filter)
		return;
	filter = gb_filter_create();
	for (size_t i = 0; i < GB_COUNT(values); i++)
		ALWAYS(gb_secrets_add(filter, "V", values[i], strlen(values[i]), NULL));
	ALWAYS(gb_secret_patterns_add(filter, "digits", "\\bn=[0-9]{3,5}", NULL));
	ALWAYS(gb_secret_patterns_add(filter, "wild", "[xyz]{2}[xyz0]{1,3}\\K![^!]{0,9}(?=!)", NULL));
	stream = gb_mask_create(filter);
}

static uint64_t total(void) {
	const char *name;
	uint64_t count, sum = 0;
	for (size_t i = 0; gb_filter_count(filter, i, &name, &count); i++)
		sum += count;
	return sum;
}

static void feed_whole(const uint8_t *data, size_t n, struct gb_buf *out) {
	gb_mask_feed(stream, data, n, out);
	gb_mask_end(stream, out);
}

static void feed_cut(const uint8_t *data, size_t n, uint32_t state, struct gb_buf *out) {
	size_t longest = gb_filter_longest(filter), given = 0;
	while (given < n) {
		state = state * 1664525 + 1013904223;
		/* Small pieces mostly, down to single bytes. */
		size_t piece = 1 + (state >> 16) % (1U << (1 + (state >> 8) % 8));
		piece = piece < n - given ? piece : n - given;
		gb_mask_feed(stream, data + given, piece, out);
		given += piece;
		ALWAYS(gb_mask_held(stream) <= longest);
		ALWAYS(gb_mask_held(stream) <= given);
	}
	gb_mask_end(stream, out);
	ALWAYS(gb_mask_held(stream) == 0);
}

static void check_value(const uint8_t *data, size_t n, const struct gb_buf *expected) {
	if (gb_wtf8_scan(data, n) == GB_WTF8_INVALID ||
	    gb_wtf8_scan(expected->data, expected->len) == GB_WTF8_INVALID)
		return;
	struct gb_values *pool = gb_values_create(0);
	const struct gb_value *masked = NULL;
	size_t masked_n;
	ALWAYS(gb_mask_value(filter, gb_value_string(pool, (const char *)data, n), pool, &masked, NULL));
	const char *text = gb_value_bytes(masked, &masked_n);
	ALWAYS(masked_n == expected->len && (!masked_n || memcmp(text, expected->data, masked_n) == 0));
	gb_values_destroy(pool);
}

static void expand(const uint8_t *data, size_t n, struct gb_buf *text) {
	static const char *const alphabets[] = {"0aZ1bY2cX3dW4eV5fU6gT7hS8iR9jQ", "0123456789",
	    "0123456789abcdef", "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"};
	for (size_t i = 0; i < n; i++) {
		if (data[i] != 0x1e || i + 1 == n) {
			gb_buf_append_char(text, (char)data[i]);
			continue;
		}
		const char *alphabet = alphabets[data[++i] >> 6];
		for (unsigned j = 0; j < (data[i] & 63U); j++)
			gb_buf_append_char(text, alphabet[(j * 7 + i) % strlen(alphabet)]);
	}
}

static void check(const uint8_t *data, size_t size, uint32_t seed) {
	gb_auto_buf struct gb_buf whole, cut;
	gb_buf_init(&whole, OUT_MAX);
	gb_buf_init(&cut, OUT_MAX);
	uint64_t before = total();
	feed_whole(data, size, &whole);
	uint64_t between = total();
	feed_cut(data, size, seed, &cut);
	ALWAYS(total() - between == between - before);
	ALWAYS(!gb_buf_failed(&whole) && !gb_buf_failed(&cut));
	ALWAYS(whole.len == cut.len && (!cut.len || memcmp(whole.data, cut.data, cut.len) == 0));
	for (size_t i = 0; i < GB_COUNT(values); i++)
		ALWAYS(!whole.len || !memmem(whole.data, whole.len, values[i], strlen(values[i])));
	check_value(data, size, &whole);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	uint32_t seed = 0;
	if (size < HEAD)
		return 0;
	memcpy(&seed, data, HEAD);
	setup();
	gb_auto_buf struct gb_buf text;
	gb_buf_init(&text, TEXT_MAX);
	expand(data + HEAD, size - HEAD, &text);
	if (!gb_buf_failed(&text))
		check((const uint8_t *)text.data, text.len, seed);
	return 0;
}
