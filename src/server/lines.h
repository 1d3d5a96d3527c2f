/*
 * Lines over two non-blocking descriptors: input is passed on line by line, output is buffered in memory
 * until the peer reads it.
 *
 *	gb_lines_init(&lines, &loop, in, out, GB_LINE_MAX);
 *	lines.on_line = on_line;
 *	lines.on_end = on_end;
 *	gb_lines_start(&lines, &err);
 *	...
 *	gb_buf_printf(gb_lines_begin(&lines), "{\"n\":%d}", 1);
 *	if (!gb_lines_end(&lines)) ...		// longer than a line may be: nothing was sent
 *	gb_lines_flush(&lines);
 */
#ifndef GB_SERVER_LINES_H
#define GB_SERVER_LINES_H

#include "base/buf.h"
#include "base/loop.h"

#define GB_LINE_MAX (128u << 20)

/* A line with the memory that it is in, so that it can be parsed later, on any thread. */
struct gb_long_line {
	struct gb_buf buf;
	size_t at, n; /* of the line in the buffer, without its newline */
};

struct gb_lines {
	/* A line without its newline, valid during the call. If @n is more than line_max, it is the beginning
	 * of a line that is skipped. Must not finish the lines. */
	void (*on_line)(struct gb_lines *lines, const char *line, size_t n);
	/* Called instead of on_line for a line of long_min to line_max bytes, if set. The callback takes the buffer. Must
	 * not finish the lines. */
	void (*on_long_line)(struct gb_lines *lines, struct gb_long_line *line);
	size_t long_min;
	/* Called once: no more input will come, because the peer has closed, or reading or writing failed. */
	void (*on_end)(struct gb_lines *lines);

	struct gb_loop *loop;
	size_t line_max;
	int in, out;             /* owned */
	int in_flags, out_flags; /* original flags, to be restored */
	/* polled instead of an input that cannot be polled, such as a file; or -1 */
	int ready_fd;
	struct gb_source in_source;  /* in the loop unless paused or ended */
	struct gb_source out_source; /* in the loop while output waits to be written */
	struct gb_buf input;
	size_t scanned; /* first bytes of the input that contain no newline */
	bool skipping;  /* skipping the rest of a line that is too long */
	bool paused;
	bool ended;
	bool broken; /* writing has failed */
	struct gb_buf output;
	size_t sent;          /* of the output */
	size_t mark;          /* where the line that is being written begins */
	uint64_t progress_at; /* when the peer last read something, in ns */
};

/* Takes ownership of the descriptors, which must be open and different (see dup). */
void gb_lines_init(struct gb_lines *lines, struct gb_loop *loop, int in, int out, size_t line_max);
/* Begin to read. Afterwards @lines must not move in memory. */
bool gb_lines_start(struct gb_lines *lines, struct gb_err *err);
/* Buffered output is discarded. */
void gb_lines_finish(struct gb_lines *lines);

/* Returns the buffer to append a line to. Lines must not be nested. */
struct gb_buf *gb_lines_begin(struct gb_lines *lines);
/* False if the line is too long or memory is exhausted; then it was dropped. */
bool gb_lines_end(struct gb_lines *lines);
/* The same if its newline was appended already. */
bool gb_lines_commit(struct gb_lines *lines);
/* Send a line that was written elsewhere, with its newline. Takes its memory, and leaves @line empty. False if memory
 * is exhausted. */
bool gb_lines_add(struct gb_lines *lines, struct gb_buf *line);
/* Discard the line that was begun. */
void gb_lines_drop(struct gb_lines *lines);
/* Write what can be written without blocking; the rest is written later. */
void gb_lines_flush(struct gb_lines *lines);
/* Bytes that are not written yet. */
static inline size_t gb_lines_waiting(const struct gb_lines *lines) {
	return lines->output.len - lines->sent;
}

/* Stop reading until gb_lines_resume. */
void gb_lines_pause(struct gb_lines *lines);
void gb_lines_resume(struct gb_lines *lines);

#endif
