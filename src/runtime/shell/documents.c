/* Here-documents: text, except for substitutions, or a script for a shell. */
#include <string.h>

#include "runtime/shell/reader.h"

/* Read the substitutions in the text from @start to @stop, and nothing beyond it. */
static bool read_text(struct reader *r, size_t start, size_t stop) {
	size_t n = r->n;
	bool ok = true;
	r->n = stop;
	for (r->at = start; ok && r->at < stop;) {
		char c = r->p[r->at];
		if (c == '`' || (c == '$' && (reader_peek(r, 1) == '(' || reader_peek(r, 1) == '{')))
			ok = reader_expansion(r, true);
		else
			reader_skip(r, c == '\\' ? 2 : 1);
	}
	r->n = n;
	r->n_documents = 0;
	return ok;
}

/* The end of the line at @at. Unless the delimiter is quoted, a backslash continues it in the next line. */
static size_t end_of_line(const struct reader *r, const struct reader_document *document, size_t at) {
	for (; at < r->n && r->p[at] != '\n'; at++)
		at += r->p[at] == '\\' && !document->quoted && at + 1 < r->n;
	return at;
}

/* True if the line from @at to @end is the delimiter. */
static bool is_delimiter(
    const struct reader *r, const struct reader_document *document, size_t at, size_t end) {
	char line[READER_NAME_MAX];
	size_t n = 0;
	while (document->indented && at < end && r->p[at] == '\t')
		at++;
	for (; at < end && n < sizeof line; at++) {
		if (!document->quoted && r->p[at] == '\\' && at + 1 < end && r->p[at + 1] == '\n')
			at++;
		else
			line[n++] = r->p[at];
	}
	return gb_str_eq((struct gb_str){line, n}, gb_str_from(document->end));
}

static bool read_document(struct reader *r, const struct reader_document *document) {
	size_t start = r->at, stop = r->n, next = r->at;
	for (bool ended = false; !ended && next < r->n;) {
		size_t line = next, end = end_of_line(r, document, line);
		ended = is_delimiter(r, document, line, end);
		if (ended)
			stop = line;
		next = end < r->n ? end + 1 : r->n;
	}
	if (!document->quoted && !read_text(r, start, stop))
		return false;
	r->at = next;
	if (!document->is_code)
		return true;
	return reader_nested(r, (struct gb_str){r->p + start, stop - start}, start, true);
}

bool reader_documents(struct reader *r) {
	struct reader_document documents[READER_DOCUMENTS_MAX];
	unsigned n = r->n_documents;
	memcpy(documents, r->documents, n * sizeof *documents);
	r->n_documents = 0;
	for (unsigned i = 0; i < n; i++)
		if (!read_document(r, &documents[i]))
			return false;
	return true;
}
