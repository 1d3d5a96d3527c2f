/* Conversion of bytes from and to hex: "82 01 02". */
#ifndef GB_TESTS_HEX_H
#define GB_TESTS_HEX_H

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

static inline int hex_value(char c) {
	const char *digits = "0123456789abcdef", *found = c ? strchr(digits, c) : NULL;
	return found ? (int)(found - digits) : -1;
}

/* Append the bytes of @hex; spaces are skipped. */
static inline void hex_read(struct gb_buf *out, const char *hex) {
	for (; *hex; hex++) {
		if (*hex == ' ')
			continue;
		int high = hex_value(*hex++), low = hex_value(*hex);
		if (high < 0 || low < 0)
			abort();
		gb_buf_append_char(out, (char)(high << 4 | low));
	}
}

/* Append @bytes as hex, without spaces. */
static inline void hex_write(struct gb_buf *out, const void *bytes, size_t n) {
	for (size_t i = 0; i < n; i++)
		gb_buf_printf(out, "%02x", ((const uint8_t *)bytes)[i]);
}

/* A copy of exactly @n bytes, to free(), so that a sanitizer detects a read beyond its end. */
static inline void *exact_copy(const void *bytes, size_t n) {
	void *copy = malloc(n ? n : 1);
	if (!copy)
		abort();
	if (n)
		memcpy(copy, bytes, n);
	return copy;
}

#endif
