/*
 * Lines over two descriptors that are not waited for: what comes in is handed over line by line, what goes
 * out waits in memory until the other side takes it.
 *
 *	gb_lines_init(&lines, &loop, in, out, GB_LINE_MAX);
 *	lines.on_line = on_line;
 *	lines.on_end = on_end;
 *	gb_lines_start(&lines, &err);
 *	...
 *	gb_buf_printf(gb_lines_begin(&lines), "{\"n\":%d}", 1);
 *	if (!gb_lines_end(&lines)) ...		// longer than a line may be: nothing was said
 *	gb_lines_flush(&lines);
 */
#ifndef GB_SERVER_LINES_H
#define GB_SERVER_LINES_H

#include "base/buf.h"
#include "base/loop.h"

#define GB_LINE_MAX (128u << 20)

struct gb_lines {
	/* A line without its newline, valid during the call. If @n is more than line_max, it is the beginning
	 * of a line that is skipped. Must not finish the lines. */
	void (*on_line)(struct gb_lines *lines, const char *line, size_t n);
	/* Nothing more will come in: the other side has closed, or reading or writing failed. Once. */
	void (*on_end)(struct gb_lines *lines);

	struct gb_loop *loop;
	size_t line_max;
	int in, out;                 /* owned */
	int in_flags, out_flags;     /* as they were found */
	int ready_fd;                /* stands in for an input that cannot be polled, as a file; or -1 */
	struct gb_source in_source;  /* in the loop unless paused or ended */
	struct gb_source out_source; /* in the loop while output waits for room */
	struct gb_buf input;
	size_t scanned; /* of the input: has no newline */
	bool skipping;  /* the rest of a line that is too long */
	bool paused;
	bool ended;
	bool broken; /* nothing can be written any more */
	struct gb_buf output;
	size_t sent;       /* of the output */
	size_t mark;       /* where the line that is being written begins */
	uint64_t moved_at; /* when something was last taken from us, in ns */
};

/* Takes the descriptors, which must be two (see dup) and open. */
void gb_lines_init(struct gb_lines *lines, struct gb_loop *loop, int in, int out, size_t line_max);
/* Begin to read. Afterwards the lines must stay where they are in memory. */
bool gb_lines_start(struct gb_lines *lines, struct gb_err *err);
/* Output that waits is dropped. */
void gb_lines_finish(struct gb_lines *lines);

/* Where a line is to be appended. Until it is ended no other may begin. */
struct gb_buf *gb_lines_begin(struct gb_lines *lines);
/* False if it does not fit, or memory is out; then it was dropped. */
bool gb_lines_end(struct gb_lines *lines);
/* Take back what was written since the beginning of the line. */
void gb_lines_drop(struct gb_lines *lines);
/* Write what can be written now; the rest goes when there is room. */
void gb_lines_flush(struct gb_lines *lines);
/* Bytes that wait to be taken. */
static inline size_t gb_lines_waiting(const struct gb_lines *lines) {
	return lines->output.len - lines->sent;
}

/* Read nothing more until it is resumed. */
void gb_lines_pause(struct gb_lines *lines);
void gb_lines_resume(struct gb_lines *lines);

#endif
