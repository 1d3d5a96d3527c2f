/*
 * Internal to the reader of shell scripts (commands.h): words.c reads words, documents.c here-documents,
 * commands.c the rest. A function that returns bool returns false when a command is refused, which ends the
 * search.
 */
#ifndef GB_RUNTIME_SHELL_READER_H
#define GB_RUNTIME_SHELL_READER_H

#include "base/buf.h"
#include "runtime/shell/commands.h"

enum {
	READER_DEPTH_MAX = 16,
	READER_DOCUMENTS_MAX = 8, /* in one line */
	READER_FUNCTIONS_MAX = 16,
	READER_NAME_MAX = 64,
	READER_UNKNOWN = '\1', /* in words: an expansion, whose value is not known before the script runs */
};

struct reader_search {
	enum gb_refused_mode mode;
	const char *const *more;
	size_t n_more;
	struct gb_refusal *refusal;
	size_t at; /* offset of the refused word */
};

/* A here-document whose text begins in the next line. */
struct reader_document {
	char end[READER_NAME_MAX];
	bool quoted, indented, is_code;
};

/* Functions that the script defines, to detect fork bombs. */
struct reader_functions {
	char names[READER_FUNCTIONS_MAX][READER_NAME_MAX];
	unsigned n;                    /* defined so far; the oldest are overwritten */
	char current[READER_NAME_MAX]; /* whose body is being read; empty outside of functions */
	unsigned braces;               /* open in that body */
};

struct reader {
	struct reader_search *search;
	const char *p;
	size_t n, at;
	unsigned depth;
	struct gb_buf word; /* the last one, without quotes */
	bool word_quoted;
	struct reader_document documents[READER_DOCUMENTS_MAX];
	unsigned n_documents;
	struct reader_functions functions;
	char twice[READER_NAME_MAX]; /* the function f, after f | f: '&' makes that a fork bomb */
	size_t twice_at;
};

static inline int reader_peek(const struct reader *r, size_t ahead) {
	return r->at + ahead < r->n ? (unsigned char)r->p[r->at + ahead] : -1;
}

/* Stops at the end: the bytes may be missing. */
static inline void reader_skip(struct reader *r, size_t bytes) {
	r->at = r->n - r->at > bytes ? r->at + bytes : r->n;
}

/* --- commands.c --- */

/* True if the mode does not refuse it. @name is for GB_REFUSED_COMMAND; messages show @word. */
bool reader_allows(
    struct reader *r, enum gb_refused_kind kind, const char *name, const char *word, size_t at);
/* A bound is exceeded: refuse the script, in every mode. Returns false. */
bool reader_unreadable(struct reader *r, size_t at);
/* Enter a level of nesting; the caller decrements depth. False, with nothing entered, if it is too deep. */
bool reader_enter(struct reader *r);
/* Read commands up to @closer, which is skipped, or to the end. */
bool reader_commands(struct reader *r, char closer);
/* Read @source, code within this script. Offsets are relative to @at, or all @at if @source is not a verbatim
 * part of the script. */
bool reader_nested(struct reader *r, struct gb_str source, size_t at, bool verbatim);

/* --- words.c --- */

/* Read the word that begins here; @is_name: where the name of a command is expected. */
bool reader_word(struct reader *r, bool is_name);
/* Read the delimiter of a here-document, in which nothing is expanded. */
bool reader_delimiter(struct reader *r);
/* After "$(", "<(" or ">(": read the commands as part of a word. */
bool reader_substitution(struct reader *r);
/* At "$" or "`": read an expansion, as part of a word. */
bool reader_expansion(struct reader *r, bool in_quotes);
/* At "((": read an arithmetic expression, if it is one. *ret_found tells. */
bool reader_arithmetic(struct reader *r, bool *ret_found);

/* --- documents.c --- */

/* After a line: read the here-documents that begin there. */
bool reader_documents(struct reader *r);

#endif
