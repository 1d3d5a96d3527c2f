/*
 * Borrowed strings: a pointer and a length; not owned, not zero-terminated.
 *
 *	struct gb_str rest = GB_STR("a=1"), key;
 *	gb_str_cut(&rest, '=', &key);	// key is "a", rest is "1"
 */
#ifndef GB_BASE_STR_H
#define GB_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct gb_str {
	const char *p;
	size_t n;
};

#define GB_STR(literal) ((struct gb_str){"" literal, sizeof(literal) - 1})
/* For printf's "%.*s". */
#define GB_STR_ARG(s) (int)(s).n, (s).p

static inline struct gb_str gb_str_from(const char *zero_terminated) {
	return (struct gb_str){zero_terminated, zero_terminated ? strlen(zero_terminated) : 0};
}

static inline bool gb_str_eq(struct gb_str a, struct gb_str b) {
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

bool gb_str_ends_with(struct gb_str s, struct gb_str tail);

/* Split @rest at the first @separator: *ret_head gets the part before it, @rest the part after it. Without a
 * separator the head gets everything and @rest becomes empty. Returns whether a separator was found. */
bool gb_str_cut(struct gb_str *rest, char separator, struct gb_str *ret_head);

/* The length of the longest prefix of @s that fits into @max bytes and does not split a UTF-8 character. */
size_t gb_text_fit(struct gb_str s, size_t max);
/* Copy @s, zero-terminated, into @size bytes; a text that is too long is truncated between two characters. */
void gb_copy_text(char *to, size_t size, struct gb_str s);

/* "250ms", "5s", "2m", "1h", "1d", or a bare number of seconds ("0.5"). False if it is none of these. */
bool gb_str_parse_duration_ms(const char *text, uint64_t *ret_ms);

/* "64M", "512K", "1G", or a bare number of bytes; powers of 1024. False if it is none of these. */
bool gb_str_parse_size(const char *text, uint64_t *ret_bytes);

#endif
