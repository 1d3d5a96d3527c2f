/* What the two halves of the shell's reader share: words (static_word.c) and commands (static_shell.c). */
#ifndef GB_GUARD_STATIC_SHELL_H
#define GB_GUARD_STATIC_SHELL_H

#include "base/buf.h"
#include "guard/static_rules.h"

enum { SHELL_DOCUMENTS = 8, SHELL_NAME_MAX = 64 };

/* A here-document whose text begins in the next line. */
struct shell_document {
	char end[SHELL_NAME_MAX];
	bool quoted, indented, is_code;
};

struct shell {
	struct guard_search *search;
	const char *p;
	size_t n, at;
	unsigned depth;
	struct gb_buf word; /* the last one, without its quotes */
	bool word_quoted;
	struct shell_document documents[SHELL_DOCUMENTS];
	unsigned n_documents;
	char function[SHELL_NAME_MAX]; /* the last one that was defined */
};

static inline int shell_peek(const struct shell *s, size_t ahead) {
	return s->at + ahead < s->n ? (unsigned char)s->p[s->at + ahead] : -1;
}

/* Never beyond the end: what should be there may be missing. */
static inline void shell_skip(struct shell *s, size_t bytes) {
	s->at = s->n - s->at > bytes ? s->at + bytes : s->n;
}

/* Read the word that begins here. False if a command in it was found wanting. */
bool shell_read_word(struct shell *s, char closer);
/* Commands up to @closer, as part of a word, whose value is not known then. */
bool shell_substitution(struct shell *s, char closer);
/* Commands up to @closer, which is skipped, or to the end. */
bool shell_search(struct shell *s, char closer);

#endif
