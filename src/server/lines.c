#include "server/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/list.h"

enum {
	READ_STEP = 64 << 10,
	READ_STEPS = 8,     /* reads per event, so that other clients are not delayed */
	KEEP_MAX = 1 << 20, /* larger buffers are freed when they are empty */
	GROW_MAX = 1 << 20, /* a longer input gets its maximum at once */
	MOVE_MIN = 1 << 20, /* move the rest only after so many bytes were sent */
};

static void release_if_large(struct gb_buf *buf) {
	if (buf->len == 0 && buf->cap > KEEP_MAX)
		gb_buf_finish(buf);
}

/* --- input --- */

static void end(struct gb_lines *lines) {
	if (lines->ended)
		return;
	lines->ended = true;
	gb_loop_remove(lines->loop, &lines->in_source);
	/* The input is not freed here: the caller may be in the handler of a line. */
	lines->on_end(lines);
}

/* Discard what was read of a line that is too long, up to its end if that was read. */
static void skip(struct gb_lines *lines) {
	const char *newline = memchr(lines->input.data, '\n', lines->input.len);
	lines->skipping = !newline;
	gb_buf_consume(&lines->input, newline ? (size_t)(newline - lines->input.data) + 1 : lines->input.len);
}

/* Pass on a long line with its memory. The bytes behind it, at most one read, are copied to a new buffer. False if
 * memory is exhausted. */
static bool pass_long_line(struct gb_lines *lines, size_t at, size_t n) {
	struct gb_buf *input = &lines->input, rest;
	struct gb_long_line line = {.buf = *input, .at = at, .n = n};
	size_t used = at + n + 1;
	gb_buf_init(&rest, input->max);
	gb_buf_append(&rest, input->data + used, input->len - used);
	if (gb_buf_failed(&rest))
		return false;
	*input = rest;
	lines->scanned = 0;
	lines->on_long_line(lines, &line);
	return true;
}

static bool is_long(const struct gb_lines *lines, size_t n) {
	return lines->on_long_line && n >= lines->long_min && n <= lines->line_max;
}

/* Pass on every complete line. */
static void take_lines(struct gb_lines *lines) {
	struct gb_buf *input = &lines->input;
	if (lines->skipping && input->len)
		skip(lines);
	size_t start = 0;
	while (!lines->paused && !lines->ended && lines->scanned < input->len) {
		const char *from = input->data + lines->scanned;
		const char *newline = memchr(from, '\n', input->len - lines->scanned);
		if (!newline) {
			lines->scanned = input->len;
			break;
		}
		size_t end_of_line = (size_t)(newline - input->data), begin = start, n = end_of_line - begin;
		if (is_long(lines, n) && pass_long_line(lines, begin, n)) {
			start = 0;
			continue;
		}
		start = lines->scanned = end_of_line + 1;
		lines->on_line(lines, input->data + begin, n);
	}
	if (lines->ended)
		return;
	gb_buf_consume(input, start);
	lines->scanned -= start;
	if (lines->scanned == input->len && input->len > lines->line_max) {
		lines->on_line(lines, input->data, input->len);
		lines->skipping = true;
		lines->scanned = 0;
		gb_buf_finish(input);
	}
	release_if_large(input);
}

/* Growing in steps would copy a long line several times. Memory that is not used costs address space only. If there
 * is none, the buffer grows in steps. */
static void grow_at_once(struct gb_buf *input) {
	char *data =
	    input->len > GROW_MAX && input->cap < input->max ? realloc(input->data, input->max) : NULL;
	if (!data)
		return;
	input->data = data;
	input->cap = input->max;
}

/* Returns whether there may be more. */
static bool read_some(struct gb_lines *lines) {
	grow_at_once(&lines->input);
	char *into = gb_buf_reserve(&lines->input, READ_STEP);
	ssize_t n = into ? read(lines->in, into, READ_STEP) : -1;
	if (n < 0 && into && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n <= 0) {
		end(lines);
		return false;
	}
	lines->input.len += (size_t)n;
	take_lines(lines);
	return n == READ_STEP && !lines->paused && !lines->ended;
}

static void on_in_ready(struct gb_source *source, uint32_t events) {
	(void)events;
	struct gb_lines *lines = gb_container(struct gb_lines, in_source, source);
	for (int i = 0; i < READ_STEPS && read_some(lines); i++)
		;
}

static bool watch_input(struct gb_lines *lines, struct gb_err *err) {
	struct gb_err why = {0};
	int fd = lines->ready_fd >= 0 ? lines->ready_fd : lines->in;
	if (gb_loop_add(lines->loop, &lines->in_source, fd, GB_LOOP_IN, on_in_ready, &why))
		return true;
	/* epoll rejects regular files, which are always ready. */
	if (why.sys_errno == EPERM && lines->ready_fd < 0 &&
	    (lines->ready_fd = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK)) >= 0)
		return watch_input(lines, err);
	return gb_fail(err, GB_ESYSTEM, why.sys_errno, "watch the input");
}

void gb_lines_pause(struct gb_lines *lines) {
	lines->paused = true;
	/* Remove it from the loop: a hang-up would be reported again and again. */
	gb_loop_remove(lines->loop, &lines->in_source);
}

void gb_lines_resume(struct gb_lines *lines) {
	if (!lines->paused || lines->ended)
		return;
	lines->paused = false;
	take_lines(lines);
	if (!lines->paused && !lines->ended && !watch_input(lines, NULL))
		end(lines);
}

/* --- output --- */

static void on_out_ready(struct gb_source *source, uint32_t events) {
	(void)events;
	gb_lines_flush(gb_container(struct gb_lines, out_source, source));
}

static void break_off(struct gb_lines *lines) {
	lines->broken = true;
	lines->sent = 0;
	gb_loop_remove(lines->loop, &lines->out_source);
	gb_buf_finish(&lines->output);
	end(lines);
}

static void await_room(struct gb_lines *lines) {
	if (lines->out_source.fd < 0 &&
	    !gb_loop_add(lines->loop, &lines->out_source, lines->out, GB_LOOP_OUT, on_out_ready, NULL))
		break_off(lines);
}

void gb_lines_flush(struct gb_lines *lines) {
	struct gb_buf *output = &lines->output;
	while (lines->sent < output->len) {
		ssize_t n = write(lines->out, output->data + lines->sent, output->len - lines->sent);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			break;
		if (n < 0) {
			break_off(lines);
			return;
		}
		lines->sent += (size_t)n;
		lines->progress_at = gb_now_ns();
	}
	if (lines->sent == output->len) {
		lines->sent = 0;
		gb_buf_clear(output);
		release_if_large(output);
		gb_loop_remove(lines->loop, &lines->out_source);
		return;
	}
	if (lines->sent >= MOVE_MIN && lines->sent >= output->len / 2) {
		gb_buf_consume(output, lines->sent);
		lines->sent = 0;
	}
	await_room(lines);
}

struct gb_buf *gb_lines_begin(struct gb_lines *lines) {
	if (lines->output.len == 0)
		lines->progress_at = gb_now_ns();
	lines->mark = lines->output.len;
	lines->output.max = lines->mark + lines->line_max + 1;
	return &lines->output;
}

void gb_lines_drop(struct gb_lines *lines) {
	lines->output.len = lines->mark;
	lines->output.failed = false;
}

bool gb_lines_end(struct gb_lines *lines) {
	gb_buf_append_char(&lines->output, '\n');
	return gb_lines_commit(lines);
}

bool gb_lines_commit(struct gb_lines *lines) {
	bool ok = !gb_buf_failed(&lines->output);
	if (!ok || lines->broken)
		gb_lines_drop(lines);
	return ok;
}

bool gb_lines_add(struct gb_lines *lines, struct gb_buf *line) {
	struct gb_buf *output = gb_lines_begin(lines);
	if (output->len == 0 && !lines->broken) {
		gb_buf_finish(output);
		*output = *line;
		gb_buf_init(line, line->max);
		return true;
	}
	gb_buf_append(output, line->data, line->len);
	gb_buf_finish(line);
	return gb_lines_commit(lines);
}

/* --- both --- */

void gb_lines_init(struct gb_lines *lines, struct gb_loop *loop, int in, int out, size_t line_max) {
	*lines = (struct gb_lines){.loop = loop, .line_max = line_max, .in = in, .out = out, .ready_fd = -1};
	lines->in_source.fd = lines->out_source.fd = -1;
	lines->in_flags = fcntl(in, F_GETFL);
	lines->out_flags = fcntl(out, F_GETFL);
	gb_buf_init(&lines->input, line_max + READ_STEP + 1);
	gb_buf_init(&lines->output, line_max + 1);
}

bool gb_lines_start(struct gb_lines *lines, struct gb_err *err) {
	if (fcntl(lines->in, F_SETFL, lines->in_flags | O_NONBLOCK) != 0 ||
	    fcntl(lines->out, F_SETFL, lines->out_flags | O_NONBLOCK) != 0)
		return gb_fail(err, GB_ESYSTEM, errno, "fcntl");
	return watch_input(lines, err);
}

void gb_lines_finish(struct gb_lines *lines) {
	gb_loop_remove(lines->loop, &lines->in_source);
	gb_loop_remove(lines->loop, &lines->out_source);
	/* Restore the flags: other processes may share the same pipe or terminal. */
	fcntl(lines->in, F_SETFL, lines->in_flags);
	fcntl(lines->out, F_SETFL, lines->out_flags);
	gb_close_fd(&lines->in);
	gb_close_fd(&lines->out);
	gb_close_fd(&lines->ready_fd);
	gb_buf_finish(&lines->input);
	gb_buf_finish(&lines->output);
}
