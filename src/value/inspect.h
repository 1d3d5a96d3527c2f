/* What the two files of the inspector share: a page that is written from left to right. */
#ifndef GB_VALUE_INSPECT_H
#define GB_VALUE_INSPECT_H

#include "base/buf.h"
#include "glovebox/value.h"

enum { GB_INSPECT_DEPTH = 6, GB_INSPECT_WIDTH = 72 };

struct gb_page {
	struct gb_buf out;
	size_t max;        /* bytes in all */
	size_t line_start; /* where in out the current line begins */
	size_t indent;
	bool one_line; /* an attempt: give up where the line would become too long */
	bool overflow; /* it did */
	bool cut;      /* max is reached */
	/* The containers that are open, and the number of each that contains itself. */
	struct {
		const struct gb_value *value;
		unsigned number;
	} path[GB_INSPECT_DEPTH + 1];
	unsigned depth;
	unsigned numbers;
	size_t steps_left; /* steps left for looking at what is not written */
};

enum gb_inspect_quotes {
	GB_INSPECT_QUOTED,
	GB_INSPECT_BARE,  /* also what would break a line is escaped */
	GB_INSPECT_LINES, /* ends of lines and tabs pass */
};

static inline bool gb_page_stopped(const struct gb_page *page) {
	return page->overflow || page->cut || gb_buf_failed(&page->out);
}

void gb_page_put(struct gb_page *page, const char *bytes, size_t n);
void gb_page_text(struct gb_page *page, const char *zero_terminated);
void gb_page_printf(struct gb_page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* End the line; the next begins with the indentation. */
void gb_page_break(struct gb_page *page);

/* @s so that nothing in it can steer a terminal. */
void gb_inspect_string(struct gb_page *page, struct gb_str s, enum gb_inspect_quotes quotes);
/* Whatever does not contain other values. */
void gb_inspect_leaf(struct gb_page *page, const struct gb_value *value);
/* One element of a typed array. */
void gb_inspect_element(struct gb_page *page, const struct gb_value *view, size_t index);

#endif
