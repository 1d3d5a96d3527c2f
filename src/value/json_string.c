#include <stdint.h>
#include <string.h>

#include "value/json.h"
#include "value/wtf8.h"

/* First bytes of characters that may need an escape. */
static const bool may_need_escape[256] = {
    [0 ... 0x1f] = true,
    ['"'] = true,
    ['\\'] = true,
    [0x7f] = true,
    [0xc2] = true, /* U+0080 to U+009F */
    [0xd8] = true, /* U+061C */
    [0xe2] = true, /* U+200E to U+2069 */
    [0xed] = true, /* surrogates */
    [0xef] = true, /* U+FEFF */
};

/* The length of the character at @at and its code unit, if it needs an escape; 0 otherwise. JSON requires it
 * for controls and quotes, and UTF-8 for surrogates; the others are escaped because JSON is also shown in
 * terminals, which they could control. */
static size_t needs_escape(const char *at, size_t n, uint32_t *ret_code) {
	if (!may_need_escape[(uint8_t)*at])
		return 0;
	size_t length = gb_wtf8_next(at, n, ret_code);
	bool escape = length && (*ret_code == '"' || *ret_code == '\\' || gb_wtf8_is_unsafe(*ret_code));
	return escape ? length : 0;
}

static void append_hex(struct gb_buf *out, uint32_t code) {
	static const char digits[] = "0123456789abcdef";
	const char text[] = {'\\', 'u', digits[code >> 12 & 15], digits[code >> 8 & 15],
	    digits[code >> 4 & 15], digits[code & 15]};
	gb_buf_append(out, text, sizeof text);
}

static void append_escape(struct gb_buf *out, uint32_t code) {
	static const char codes[] = "\"\\\b\t\n\f\r", letters[] = "\"\\btnfr";
	const char *found = code && code < 0x80 ? strchr(codes, (int)code) : NULL;
	if (found)
		gb_buf_append(out, (char[]){'\\', letters[found - codes]}, 2);
	else
		append_hex(out, code);
}

/* The first character from @at on that may need an escape, or a few before it. Most text is plain ASCII: eight bytes at
 * once take a fifth of the time. */
static const char *skip_plain(const char *at, const char *end) {
	const uint64_t ones = UINT64_MAX / 255, high = ones << 7;
	for (uint64_t x; end - at >= (ptrdiff_t)sizeof x; at += sizeof x) {
		memcpy(&x, at, sizeof x);
		/* (y - ones) & ~y & high finds zero bytes, (x - 0x20 * ones) bytes below 0x20. */
		uint64_t quote = x ^ '"' * ones, backslash = x ^ '\\' * ones, del = x ^ 0x7f * ones;
		uint64_t found = (x - 0x20 * ones) | (quote - ones) | (backslash - ones) | (del - ones) | x;
		if (found & high)
			break;
	}
	return at;
}

void gb_json_append_string(struct gb_buf *out, struct gb_str s) {
	const char *at = s.n ? s.p : "", *end = at + s.n, *plain = at;
	gb_buf_append_char(out, '"');
	while (at < end) {
		uint32_t code;
		size_t n = needs_escape(at, (size_t)(end - at), &code);
		if (n == 0) {
			at = skip_plain(at + 1, end);
			continue;
		}
		gb_buf_append(out, plain, (size_t)(at - plain));
		append_escape(out, code);
		plain = at += n;
	}
	gb_buf_append(out, plain, (size_t)(at - plain));
	gb_buf_append_char(out, '"');
}

void gb_json_append_bytes(struct gb_buf *out, struct gb_str bytes) {
	if (gb_wtf8_scan(bytes.n ? bytes.p : "", bytes.n) != GB_WTF8_INVALID) {
		gb_json_append_string(out, bytes);
		return;
	}
	gb_auto_buf struct gb_buf mended;
	gb_buf_init(&mended, 3 * bytes.n + 1);
	gb_wtf8_mend(&mended, bytes.p, bytes.n);
	gb_json_append_string(out, gb_buf_str(&mended));
}

void gb_json_append_line(struct gb_buf *out, struct gb_str json) {
	/* Within strings, line ends are escaped. */
	for (size_t n; json.n; json.p += n, json.n -= n) {
		for (n = 0; n < json.n && json.p[n] != '\n' && json.p[n] != '\r';)
			n++;
		gb_buf_append(out, json.p, n);
		if (n < json.n) {
			gb_buf_append_char(out, ' ');
			n++;
		}
	}
}
