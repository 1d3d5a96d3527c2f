/* Helpers for the tests of the TypeScript eraser: the escapes in their tables. */
#ifndef GB_TESTS_TS_H
#define GB_TESTS_TS_H

#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "ts/erase.h"

/* Decodes \n, \r, \t, \\ and \u2028, and · as a space. The caller must free() the text. */
static inline char *unescape(const char *text) {
	static const struct {
		const char *written, *meant;
	} escapes[] = {{"\\n", "\n"}, {"\\r", "\r"}, {"\\t", "\t"}, {"\\\\", "\\"},
	    {"\\u2028", "\xe2\x80\xa8"}, {"·", " "}};
	char *result = malloc(strlen(text) + 1), *to = result;
	while (*text) {
		size_t i = 0, n_escapes = sizeof escapes / sizeof *escapes;
		while (i < n_escapes && strncmp(text, escapes[i].written, strlen(escapes[i].written)) != 0)
			i++;
		if (i == n_escapes) {
			*to++ = *text++;
			continue;
		}
		for (const char *c = escapes[i].meant; *c; c++)
			*to++ = *c;
		text += strlen(escapes[i].written);
	}
	*to = '\0';
	return result;
}

#endif
