/* Helpers for the tests of the secrets filter. */
#ifndef GB_TESTS_SECRETS_H
#define GB_TESTS_SECRETS_H

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "guard/secrets.h"

/* Replaces "<w36>" by 36 letters and digits, and "\n" by a line break. Deterministic. */
static inline void sample_expand(const char *text, struct gb_buf *out) {
	static const char *const alphabets[] = {
	    "w0aZ1bY2cX3dW4eV5fU6gT7hS8iR9jQkPlOmNnMoLpKqJrIsHtGuFvEwDxCyBzA", "d0123456789",
	    "h0123456789abcdef", "H0123456789ABCDEF", "AABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
	    "labcdefghijklmnopqrstuvwxyz0123456789"};
	uint32_t state = 12345;
	for (; *text; text++) {
		if (text[0] == '\\' && text[1] == 'n') {
			gb_buf_append_char(out, '\n');
			text++;
			continue;
		}
		if (text[0] == '\\' && text[1] == '\\') {
			gb_buf_append_char(out, '\\');
			text++;
			continue;
		}
		const char *alphabet = NULL;
		for (size_t i = 0; text[0] == '<' && i < sizeof alphabets / sizeof *alphabets; i++)
			if (alphabets[i][0] == text[1] && isdigit((unsigned char)text[2]))
				alphabet = alphabets[i] + 1;
		if (!alphabet) {
			gb_buf_append_char(out, *text);
			continue;
		}
		char *end;
		for (long n = strtol(text + 2, &end, 10); n > 0; n--) {
			state = state * 1664525 + 1013904223;
			gb_buf_append_char(out, alphabet[(state >> 16) % strlen(alphabet)]);
		}
		text = end;
	}
}

/* Masks @text in one piece. */
static inline void mask_whole(struct gb_filter *filter, const void *bytes, size_t n, struct gb_buf *out) {
	struct gb_mask *stream = gb_mask_create(filter);
	gb_mask_feed(stream, bytes, n, out);
	gb_mask_end(stream, out);
	gb_mask_destroy(stream);
}

static inline uint64_t count_of(const struct gb_filter *filter, const char *kind) {
	const char *name;
	uint64_t count;
	for (size_t i = 0; gb_filter_count(filter, i, &name, &count); i++)
		if (strcmp(name, kind) == 0)
			return count;
	return 0;
}

#endif
