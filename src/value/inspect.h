/* Internal header of the inspector: a page that is written from left to right. */
#ifndef GB_VALUE_INSPECT_H
#define GB_VALUE_INSPECT_H

#include "base/buf.h"
#include "glovebox/value.h"

enum { GB_INSPECT_DEPTH = 6, GB_INSPECT_WIDTH = 72 };

struct gb_page {
	struct gb_buf out;
	size_t max;        /* of the output, in bytes */
	size_t line_start; /* where in out the current line begins */
	size_t indent;
	bool one_line; /* trying to write on one line: stop if it gets too long */
	bool overflow; /* it got too long */
	bool cut;      /* max is reached */
	/* The open containers; a container that contains itself gets a number. */
	struct {
		const struct gb_value *value;
		unsigned number;
	} path[GB_INSPECT_DEPTH + 1];
	unsigned depth;
	unsigned numbers;
	size_t steps_left; /* budget for visiting items that are not written */
};

enum gb_inspect_quotes {
	GB_INSPECT_QUOTED,
	GB_INSPECT_BARE,  /* without quotes; line breaks are escaped as well */
	GB_INSPECT_LINES, /* without quotes; line breaks and tabs are kept */
};

static inline bool gb_page_stopped(const struct gb_page *page) {
	return page->overflow || page->cut || gb_buf_failed(&page->out);
}

void gb_page_put(struct gb_page *page, const char *bytes, size_t n);
void gb_page_text(struct gb_page *page, const char *zero_terminated);
void gb_page_printf(struct gb_page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* End the line; the next begins with the indentation. */
void gb_page_break(struct gb_page *page);

/* Write @s with everything escaped that could control a terminal. */
void gb_inspect_string(struct gb_page *page, struct gb_str s, enum gb_inspect_quotes quotes);
/* A value that contains no other values. */
void gb_inspect_leaf(struct gb_page *page, const struct gb_value *value);
/* One element of a typed array. */
void gb_inspect_element(struct gb_page *page, const struct gb_value *view, size_t index);

#endif
