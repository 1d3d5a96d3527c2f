/*
 * Reads pieces of code, of one or several lines, from standard input: with the line editor (line.h) at a
 * terminal, without it at a terminal that has no cursor (TERM=dumb), and without prompts from anything else.
 *
 *	struct reader reader = {.prompt = "js> ", .more = "... ", .history = &history, .is_complete = ...};
 *	reader_open(&reader);
 *	while (reader_read(&reader, &text) != READ_END) ...	// between reads the terminal does not echo
 *	reader_close(&reader);
 *
 * Input that is typed while no read is active stays in the terminal, for the next one. There is one reader per process.
 */
#ifndef GB_CLI_READER_H
#define GB_CLI_READER_H

#include "base/buf.h"
#include "cli/line.h"

enum reader_kind { READER_EDITOR, READER_DUMB, READER_PIPE };

struct reader {
	const char *prompt, *more; /* printable ASCII */
	const struct history *history;
	/* Whether the text is complete, so that it can be run. */
	bool (*is_complete)(void *data, const char *text, size_t n);
	/* Complete the text before the cursor: change @line, or append what it could become, one to a line. May be NULL. */
	void (*complete)(void *data, struct line *line, struct gb_buf *list);
	void *data;

	/* private */
	enum reader_kind kind;
	char held[4096]; /* of a pipe */
	size_t n_held, at;
	bool at_end;
};

enum read_end {
	READ_TEXT,
	READ_CANCELLED, /* Ctrl-C */
	READ_END,       /* Ctrl-D, the end of the input, or a signal that ends the process */
};

void reader_open(struct reader *reader);
enum read_end reader_read(struct reader *reader, struct gb_buf *ret_text);
/* Restores the terminal. */
void reader_close(struct reader *reader);
/* Whether SIGTERM or SIGHUP has arrived. */
bool reader_must_end(void);

#endif
