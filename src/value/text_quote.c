#include <string.h>

#include "value/text.h"
#include "value/wtf8.h"

void gb_text_quote(char quoted[GB_QUOTED_TEXT], struct gb_str s) {
	enum { TAIL = sizeof "…\"" };
	size_t length = 0;
	quoted[length++] = '"';
	for (size_t i = 0; i < s.n;) {
		uint32_t code;
		size_t n = gb_wtf8_decode(s.p + i, &code);
		if (length + n + TAIL > GB_QUOTED_TEXT) {
			memcpy(quoted + length, "…", strlen("…"));
			length += strlen("…");
			break;
		}
		if (gb_wtf8_is_unsafe(code))
			quoted[length++] = '?';
		else
			memcpy(quoted + length, s.p + i, n);
		length += gb_wtf8_is_unsafe(code) ? 0 : n;
		i += n;
	}
	quoted[length] = '"';
	quoted[length + 1] = '\0';
}
