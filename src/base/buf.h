/*
 * A byte buffer that grows up to a maximum.
 *
 *	struct gb_buf out;
 *	gb_buf_init(&out, 1 << 20);
 *	gb_buf_append(&out, "hello ", 6);
 *	gb_buf_printf(&out, "%d", 42);
 *	if (gb_buf_failed(&out)) ...	// over the maximum, or out of memory
 *	gb_buf_finish(&out);
 *
 * Failure is sticky: later appends do nothing, so the caller checks once, at the end.
 */
#ifndef GB_BASE_BUF_H
#define GB_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct gb_buf {
	char *data;
	size_t len;
	size_t cap;
	size_t max;
	bool failed;
};

void gb_buf_init(struct gb_buf *buf, size_t max);
/* Release the bytes; the buffer may be used again afterwards, with the same maximum. */
void gb_buf_finish(struct gb_buf *buf);
#define gb_auto_buf __attribute__((cleanup(gb_buf_finish)))

static inline bool gb_buf_failed(const struct gb_buf *buf) {
	return buf->failed;
}

/* Clear the content and the failure; the memory is kept. */
static inline void gb_buf_clear(struct gb_buf *buf) {
	buf->len = 0;
	buf->failed = false;
}

/* Make room for @n more bytes. Returns a pointer to data + len, or NULL (and sets failed). Does not change
 * len. */
char *gb_buf_reserve(struct gb_buf *buf, size_t n);

void gb_buf_append(struct gb_buf *buf, const void *bytes, size_t n);
void gb_buf_append_str(struct gb_buf *buf, struct gb_str s);
void gb_buf_append_char(struct gb_buf *buf, char c);
void gb_buf_printf(struct gb_buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Drop the first @n bytes (at most all of them). */
void gb_buf_consume(struct gb_buf *buf, size_t n);

/* The content with a terminating zero, still owned by the buffer; NULL if it has failed. */
const char *gb_buf_c_str(struct gb_buf *buf);

static inline struct gb_str gb_buf_str(const struct gb_buf *buf) {
	return (struct gb_str){buf->data, buf->len};
}

#endif
