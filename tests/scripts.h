/* Scripts in tables: a newline, a tab and U+2028 are written as escapes; other backslashes stand for themselves. */
#ifndef GB_TESTS_SCRIPTS_H
#define GB_TESTS_SCRIPTS_H

#include <string.h>

#include "base/buf.h"

/* Initialises @out. In @shell scripts, "\\n" is a backslash and a newline: a line continuation. */
static inline void script_unescape(const char *text, bool shell, struct gb_buf *out) {
	gb_buf_init(out, 1 << 16);
	for (; *text; text++) {
		const char *as = strncmp(text, "\\n", 2) == 0   ? "\n"
				 : strncmp(text, "\\t", 2) == 0 ? "\t"
								: NULL;
		if (shell && strncmp(text, "\\\\n", 3) == 0) {
			gb_buf_printf(out, "\\\n");
			text += 2;
		} else if (strncmp(text, "\\u2028", 6) == 0) {
			gb_buf_printf(out, "\u2028");
			text += 5;
		} else if (as) {
			gb_buf_printf(out, "%s", as);
			text++;
		} else {
			gb_buf_append_char(out, *text);
			if (text[0] == '\\' && text[1] == '\\')
				gb_buf_append_char(out, *++text);
		}
	}
}

#endif
