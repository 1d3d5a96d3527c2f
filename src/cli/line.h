/*
 * A line editor: the text that a user types at a terminal, with a cursor and a history. It does no input or output.
 *
 *	struct line line;
 *	line_init(&line, &history);
 *	switch (line_feed(&line, byte)) {		// each byte that the terminal sends
 *	case LINE_ENTER: ...				// line.text has line.n bytes and a zero after its end
 *	}
 *	line_view(&line, &look, &state, &out);		// line_view.h: what to write to the terminal
 *	line_finish(&line);
 *
 * The text may have several lines. It is valid UTF-8 without control characters other than tabs and line feeds.
 * Keys are those of readline's Emacs mode, as far as they are listed in line.c. Pasted text (bracketed paste) is
 * inserted as it is.
 */
#ifndef GB_CLI_LINE_H
#define GB_CLI_LINE_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/history.h"

enum { LINE_TEXT_MAX = 1 << 20, LINE_SEQUENCE_MAX = 32 };

enum line_event {
	LINE_CHANGED, /* show it again */
	LINE_SAME,    /* nothing to show; more bytes are needed */
	LINE_ENTER,
	LINE_TAB,    /* completion */
	LINE_CLEAR,  /* Ctrl-L: clear the screen */
	LINE_CANCEL, /* Ctrl-C */
	LINE_END,    /* Ctrl-D with no text */
};

struct line {
	char *text; /* NULL until there is some */
	size_t n, room, cursor;
	char *killed; /* by the last Ctrl-K, Ctrl-U, Ctrl-W ...; for Ctrl-Y */
	const struct history *history;
	size_t at;                        /* in the history; its length: the new text */
	char *draft;                      /* the new text, while an earlier one is shown */
	char sequence[LINE_SEQUENCE_MAX]; /* an incomplete character or escape sequence */
	size_t n_sequence;
	bool pastes;
	bool
	    after_return; /* the last pasted byte was a carriage return: a line feed after it is the same line end */
};

/* @history may be NULL. It must not change while a line is edited. */
void line_init(struct line *line, const struct history *history);
void line_finish(struct line *line);

enum line_event line_feed(struct line *line, unsigned char byte);
/* Insert @n bytes of text at the cursor, without those characters that a line does not have. False if the line would be
 * too long. */
bool line_insert(struct line *line, const char *text, size_t n);
/* The text as a string, "" if there is none. */
const char *line_text(const struct line *line);

#endif
