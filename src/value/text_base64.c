#include "value/text.h"

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void gb_base64_append(struct gb_buf *out, const void *bytes, size_t n) {
	const uint8_t *from = bytes;
	if (n > SIZE_MAX / 2) {
		out->failed = true;
		return;
	}
	size_t length = (n + 2) / 3 * 4;
	char *to = gb_buf_reserve(out, length);
	if (!to)
		return;
	for (size_t i = 0; i < n; i += 3, to += 4) {
		size_t left = n - i;
		uint32_t triple = (uint32_t)from[i] << 16 | (left > 1 ? (uint32_t)from[i + 1] << 8 : 0) |
				  (left > 2 ? from[i + 2] : 0);
		to[0] = alphabet[triple >> 18];
		to[1] = alphabet[triple >> 12 & 0x3f];
		to[2] = left > 1 ? alphabet[triple >> 6 & 0x3f] : '=';
		to[3] = left > 2 ? alphabet[triple & 0x3f] : '=';
	}
	out->len += length;
}

static int sextet(char c) {
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

bool gb_base64_decode(struct gb_buf *out, struct gb_str text) {
	size_t padding = 0;
	if (text.n % 4)
		return false;
	while (padding < 2 && padding < text.n && text.p[text.n - 1 - padding] == '=')
		padding++;
	char *to = gb_buf_reserve(out, text.n / 4 * 3);
	if (!to)
		return false;
	uint32_t bits = 0;
	for (size_t i = 0; i < text.n; i++) {
		int six = i < text.n - padding ? sextet(text.p[i]) : 0;
		if (six < 0)
			return false;
		bits = bits << 6 | (uint32_t)six;
		if (i % 4 != 3)
			continue;
		*to++ = (char)(bits >> 16);
		*to++ = (char)(bits >> 8);
		*to++ = (char)bits;
	}
	/* The bits dropped by the padding must be zero, so that the encoding is unique. */
	if (padding && bits & (padding == 1 ? 0xffu : 0xffffu))
		return false;
	out->len += text.n / 4 * 3 - padding;
	return true;
}
