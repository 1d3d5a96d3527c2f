#include <string.h>

#include "value/json.h"
#include "value/wtf8.h"

/* How many bytes at @at need an escape together, and for which code unit. 0: the byte can stand as it is. */
static size_t needs_escape(const char *at, uint32_t *ret_code) {
	uint8_t byte = (uint8_t)*at;
	*ret_code = byte;
	if (byte < 0x20 || byte == '"' || byte == '\\')
		return 1;
	if (byte != 0xe2 && byte != 0xed)
		return 0;
	gb_wtf8_decode(at, ret_code);
	bool surrogate = *ret_code >= 0xd800 && *ret_code <= 0xdfff;
	/* JavaScript before 2019 took these two for ends of lines. */
	return surrogate || *ret_code == 0x2028 || *ret_code == 0x2029 ? 3 : 0;
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

void gb_json_append_string(struct gb_buf *out, struct gb_str s) {
	const char *at = s.p, *end = s.p + s.n, *plain = at;
	gb_buf_append_char(out, '"');
	while (at < end) {
		uint32_t code;
		size_t n = needs_escape(at, &code);
		if (n == 0) {
			at++;
			continue;
		}
		gb_buf_append(out, plain, (size_t)(at - plain));
		append_escape(out, code);
		plain = at += n;
	}
	gb_buf_append(out, plain, (size_t)(at - plain));
	gb_buf_append_char(out, '"');
}
