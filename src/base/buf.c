#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 256 };

void gb_buf_init(struct gb_buf *buf, size_t max) {
	*buf = (struct gb_buf){.max = max};
}

void gb_buf_finish(struct gb_buf *buf) {
	free(buf->data);
	gb_buf_init(buf, buf->max);
}

char *gb_buf_reserve(struct gb_buf *buf, size_t n) {
	if (buf->failed)
		return NULL;
	if (n > buf->max || buf->len > buf->max - n) {
		buf->failed = true;
		return NULL;
	}
	size_t needed = buf->len + n;
	/* A new buffer has no memory yet; reserving 0 bytes must still return a valid pointer. */
	if (needed <= buf->cap && buf->data)
		return buf->data + buf->len;

	size_t cap = buf->cap ? buf->cap : FIRST_CAPACITY;
	while (cap < needed)
		cap = cap > SIZE_MAX / 2 ? needed : cap * 2;
	char *data = realloc(buf->data, cap);
	if (!data) {
		buf->failed = true;
		return NULL;
	}
	buf->data = data;
	buf->cap = cap;
	return data + buf->len;
}

void gb_buf_append(struct gb_buf *buf, const void *bytes, size_t n) {
	char *at = gb_buf_reserve(buf, n);
	if (!at || n == 0)
		return;
	memcpy(at, bytes, n);
	buf->len += n;
}

void gb_buf_append_str(struct gb_buf *buf, struct gb_str s) {
	gb_buf_append(buf, s.p, s.n);
}

void gb_buf_append_char(struct gb_buf *buf, char c) {
	gb_buf_append(buf, &c, 1);
}

void gb_buf_printf(struct gb_buf *buf, const char *format, ...) {
	va_list ap, again;
	va_start(ap, format);
	va_copy(again, ap);
	int n = vsnprintf(NULL, 0, format, ap);
	va_end(ap);
	char *at = n < 0 ? NULL : gb_buf_reserve(buf, (size_t)n + 1);
	if (at) {
		vsnprintf(at, (size_t)n + 1, format, again);
		buf->len += (size_t)n;
	}
	va_end(again);
}

void gb_buf_consume(struct gb_buf *buf, size_t n) {
	if (n >= buf->len) {
		buf->len = 0;
		return;
	}
	memmove(buf->data, buf->data + n, buf->len - n);
	buf->len -= n;
}

const char *gb_buf_c_str(struct gb_buf *buf) {
	char *end = gb_buf_reserve(buf, 1);
	if (!end)
		return NULL;
	*end = '\0';
	return buf->data;
}
