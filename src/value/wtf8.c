#include "value/wtf8.h"

#include <string.h>

/* Most text is ASCII: skip eight bytes at a time. */
static const uint8_t *skip_ascii(const uint8_t *at, const uint8_t *end) {
	while (end - at >= 8) {
		uint64_t word;
		memcpy(&word, at, sizeof word);
		if (word & 0x8080808080808080u)
			break;
		at += 8;
	}
	while (at < end && *at < 0x80)
		at++;
	return at;
}

static bool is_continuation(uint8_t byte) {
	return (byte & 0xc0) == 0x80;
}

/* The length of the non-ASCII sequence at @at; 0 if it is malformed. Surrogates are accepted. */
static size_t sequence_length(const uint8_t *at, const uint8_t *end) {
	size_t left = (size_t)(end - at);
	uint8_t lead = at[0];
	if (lead < 0xc2 || lead > 0xf4)
		return 0;
	if (lead < 0xe0)
		return left >= 2 && is_continuation(at[1]) ? 2 : 0;
	if (lead < 0xf0) {
		if (left < 3 || !is_continuation(at[1]) || !is_continuation(at[2]))
			return 0;
		return lead == 0xe0 && at[1] < 0xa0 ? 0 : 3;
	}
	if (left < 4 || !is_continuation(at[1]) || !is_continuation(at[2]) || !is_continuation(at[3]))
		return 0;
	if ((lead == 0xf0 && at[1] < 0x90) || (lead == 0xf4 && at[1] > 0x8f))
		return 0;
	return 4;
}

enum gb_wtf8 gb_wtf8_scan(const void *bytes, size_t n) {
	if (n == 0)
		return GB_WTF8_UTF8;
	const uint8_t *at = bytes, *end = at + n;
	const uint8_t *after_high = NULL; /* where the last high surrogate ended */
	enum gb_wtf8 found = GB_WTF8_UTF8;
	while ((at = skip_ascii(at, end)) < end) {
		size_t length = sequence_length(at, end);
		if (length == 0)
			return GB_WTF8_INVALID;
		if (at[0] == 0xed && at[1] >= 0xa0) {
			bool low = at[1] >= 0xb0;
			if (low && at == after_high)
				return GB_WTF8_INVALID;
			if (!low)
				after_high = at + 3;
			found = GB_WTF8_SURROGATES;
		}
		at += length;
	}
	return found;
}

size_t gb_wtf8_decode(const char *at, uint32_t *ret_code) {
	const uint8_t *b = (const uint8_t *)at;
	if (b[0] < 0x80) {
		*ret_code = b[0];
		return 1;
	}
	if (b[0] < 0xe0) {
		*ret_code = (b[0] & 0x1fu) << 6 | (b[1] & 0x3fu);
		return 2;
	}
	if (b[0] < 0xf0) {
		*ret_code = (b[0] & 0x0fu) << 12 | (b[1] & 0x3fu) << 6 | (b[2] & 0x3fu);
		return 3;
	}
	*ret_code = (b[0] & 0x07u) << 18 | (b[1] & 0x3fu) << 12 | (b[2] & 0x3fu) << 6 | (b[3] & 0x3fu);
	return 4;
}

size_t gb_wtf8_next(const char *bytes, size_t n, uint32_t *ret_code) {
	const uint8_t *at = (const uint8_t *)bytes;
	if (at[0] >= 0x80 && sequence_length(at, at + n) == 0)
		return 0;
	return gb_wtf8_decode(bytes, ret_code);
}

bool gb_wtf8_is_cut(const char *bytes, size_t n) {
	/* Complete the sequence with the lowest valid continuation bytes, and check the result. */
	uint8_t whole[4] = {0, 0x80, 0x80, 0x80};
	if (n == 0 || n >= sizeof whole || (uint8_t)bytes[0] < 0x80)
		return false;
	whole[1] = (uint8_t)bytes[0] == 0xe0 ? 0xa0 : (uint8_t)bytes[0] == 0xf0 ? 0x90 : 0x80;
	memcpy(whole, bytes, n);
	return sequence_length(whole, whole + sizeof whole) > n;
}

size_t gb_wtf8_encode(char at[4], uint32_t code) {
	if (code < 0x80) {
		at[0] = (char)code;
		return 1;
	}
	if (code < 0x800) {
		at[0] = (char)(0xc0 | code >> 6);
		at[1] = (char)(0x80 | (code & 0x3f));
		return 2;
	}
	if (code < 0x10000) {
		at[0] = (char)(0xe0 | code >> 12);
		at[1] = (char)(0x80 | (code >> 6 & 0x3f));
		at[2] = (char)(0x80 | (code & 0x3f));
		return 3;
	}
	at[0] = (char)(0xf0 | code >> 18);
	at[1] = (char)(0x80 | (code >> 12 & 0x3f));
	at[2] = (char)(0x80 | (code >> 6 & 0x3f));
	at[3] = (char)(0x80 | (code & 0x3f));
	return 4;
}

bool gb_wtf8_is_unsafe(uint32_t code) {
	return code < 0x20 || (code >= 0x7f && code <= 0x9f) || (code >= 0xd800 && code <= 0xdfff) ||
	       code == 0x61c || (code >= 0x200e && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
	       (code >= 0x2066 && code <= 0x2069) || code == 0xfeff;
}

static bool is_one_character(const char *bytes, size_t n) {
	uint32_t code;
	return gb_wtf8_scan(bytes, n) == GB_WTF8_UTF8 && gb_wtf8_decode(bytes, &code) == n;
}

void gb_wtf8_mend(struct gb_buf *out, const char *bytes, size_t n) {
	static const char replacement[] = "\xef\xbf\xbd";
	for (size_t i = 0, length; i < n; i += length) {
		length = 4;
		if (length > n - i)
			length = n - i;
		/* Find the longest valid character; the maximum is four bytes. */
		while (length > 1 && !is_one_character(bytes + i, length))
			length--;
		if (length > 1 || gb_wtf8_scan(bytes + i, 1) != GB_WTF8_INVALID)
			gb_buf_append(out, bytes + i, length);
		else
			gb_buf_append(out, replacement, sizeof replacement - 1);
	}
}
