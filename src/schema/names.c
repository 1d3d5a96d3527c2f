#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "schema/internal.h"

enum { NAME_MAX_KEPT = 100, LIST_MAX = 4 << 20 };

void gb_names_init(struct gb_names *names, const char *const *reserved) {
	names->reserved = reserved;
	gb_buf_init(&names->list, LIST_MAX);
}

void gb_names_finish(struct gb_names *names) {
	gb_buf_finish(&names->list);
}

static bool is_letter(char c) {
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c) {
	return c >= '0' && c <= '9';
}

bool gb_is_identifier(struct gb_str name) {
	bool ok = name.n && !is_digit(name.p[0]);
	for (size_t i = 0; i < name.n && ok; i++)
		ok = is_letter(name.p[i]) || is_digit(name.p[i]);
	return ok;
}

static bool is_taken(const struct gb_names *names, const char *name) {
	for (const char *const *word = names->reserved; *word; word++)
		if (strcmp(*word, name) == 0)
			return true;
	for (size_t at = 0; at < names->list.len; at += strlen(names->list.data + at) + 1)
		if (strcmp(names->list.data + at, name) == 0)
			return true;
	return false;
}

static void sanitize(struct gb_str wanted, char ret[NAME_MAX_KEPT + 1]) {
	size_t n = 0;
	if (wanted.n && is_digit(wanted.p[0]))
		ret[n++] = '_';
	for (size_t i = 0; i < wanted.n && n < NAME_MAX_KEPT; i++) {
		/* One _ for each character, not for each byte of it. */
		if (((unsigned char)wanted.p[i] & 0xc0) == 0x80)
			continue;
		ret[n++] = is_letter(wanted.p[i]) || is_digit(wanted.p[i]) ? wanted.p[i] : '_';
	}
	if (!n)
		ret[n++] = '_';
	ret[n] = '\0';
}

const char *gb_names_take(struct gb_names *names, struct gb_str wanted) {
	char base[NAME_MAX_KEPT + 1], name[NAME_MAX_KEPT + 32];
	sanitize(wanted, base);
	snprintf(name, sizeof name, "%s", base);
	for (unsigned i = 2; is_taken(names, name); i++)
		snprintf(name, sizeof name, "%s_%u", base, i);
	size_t at = names->list.len;
	gb_buf_append(&names->list, name, strlen(name) + 1);
	return gb_buf_failed(&names->list) ? NULL : names->list.data + at;
}
