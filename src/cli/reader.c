#include "cli/reader.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "cli/line_view.h"
#include "cli/session.h"
#include "cli/untrusted.h"
#include "cli/wake.h"

enum { COLUMNS = 80, ROWS = 24, LIST_MAX = 100, VIEW_MAX = 16 << 20, TEXT_MAX = 16 << 20 };

static volatile sig_atomic_t ending, interrupted;

static void on_end_signal(int number) {
	ending = 1;
	session_note_interrupt(number);
}

static void on_interrupt(int number) {
	interrupted = 1;
	wake_note(number);
}

bool reader_must_end(void) {
	return ending;
}

static void handle(int number, void (*handler)(int)) {
	const struct sigaction action = {.sa_handler = handler};
	struct sigaction before;
	if (sigaction(number, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
		sigaction(number, &action, NULL);
}

/* --- the modes of the terminal --- */

static struct {
	bool saved;
	struct termios before;
} terminal;

static void restore(void) {
	if (terminal.saved)
		tcsetattr(STDIN_FILENO, TCSADRAIN, &terminal.before);
	terminal.saved = false;
}

/* Neither mode discards what was typed. While no read is active, keys are kept and Ctrl-C interrupts the code. */
static void set_mode(bool editing) {
	struct termios mode = terminal.before;
	mode.c_lflag &= ~(tcflag_t)(ICANON | ECHO | (editing ? ISIG | IEXTEN : 0));
	mode.c_iflag &= ~(tcflag_t)(editing ? ICRNL | INLCR | IGNCR | IXON : 0);
	mode.c_cc[VMIN] = 1;
	mode.c_cc[VTIME] = 0;
	mode.c_cc[VSUSP] = mode.c_cc[VQUIT] = _POSIX_VDISABLE;
	tcsetattr(STDIN_FILENO, TCSADRAIN, &mode);
}

static enum reader_kind kind_of_input(void) {
	const char *term = getenv("TERM");
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return READER_PIPE;
	bool is_dumb = !term || !*term || strcmp(term, "dumb") == 0;
	return is_dumb || tcgetattr(STDIN_FILENO, &terminal.before) != 0 ? READER_DUMB : READER_EDITOR;
}

void reader_open(struct reader *reader) {
	reader->kind = kind_of_input();
	ending = 0;
	(void)wake_fd();
	handle(SIGTERM, on_end_signal);
	handle(SIGHUP, on_end_signal);
	if (reader->kind != READER_EDITOR)
		return;
	terminal.saved = true;
	atexit(restore);
	handle(SIGWINCH, wake_note);
	set_mode(false);
}

void reader_close(struct reader *reader) {
	(void)reader;
	restore();
}

/* --- with the editor --- */

struct editing {
	struct reader *reader;
	struct line line;
	struct line_view view;
};

static void flush_out(struct gb_buf *out) {
	fflush(stdout);
	(void)gb_write_all(STDOUT_FILENO, out->data, out->len);
}

static void paint(struct editing *editing) {
	gb_auto_buf struct gb_buf out;
	gb_buf_init(&out, VIEW_MAX);
	struct winsize size = {.ws_col = COLUMNS, .ws_row = ROWS};
	struct winsize real;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &real) == 0 && real.ws_col && real.ws_row)
		size = real;
	const struct line_look look = {
	    editing->reader->prompt, editing->reader->more, size.ws_col, size.ws_row};
	line_view_paint(&editing->view, &editing->line, &look, &out);
	flush_out(&out);
}

static void leave_view(struct editing *editing) {
	gb_auto_buf struct gb_buf out;
	gb_buf_init(&out, 256);
	line_view_leave(&editing->view, &out);
	flush_out(&out);
}

static void put(const char *sequence) {
	fflush(stdout);
	(void)gb_write_all(STDOUT_FILENO, sequence, strlen(sequence));
}

/* A further line begins below the text. It is not indented: input that was typed ahead brings its own spaces. */
static void continue_text(struct line *line) {
	line->cursor = line->n;
	line_insert(line, "\n", 1);
}

/* Print the candidates in columns, below the text. */
static void print_list(struct editing *editing, const struct gb_buf *list) {
	struct gb_str rest = gb_buf_str(list), name;
	leave_view(editing);
	for (unsigned i = 0; rest.n; i++) {
		gb_str_cut(&rest, '\n', &name);
		if (i == LIST_MAX) {
			fputs("…", stdout);
			break;
		}
		print_name(stdout, name.p, name.n);
		fputs(rest.n ? "  " : "", stdout);
	}
	fputs("\r\n", stdout);
	fflush(stdout);
}

static void complete(struct editing *editing) {
	struct reader *reader = editing->reader;
	struct line *line = &editing->line;
	gb_auto_buf struct gb_buf list;
	gb_buf_init(&list, 1 << 20);
	size_t row = line->cursor;
	while (row > 0 && strchr(" \t", line->text[row - 1]))
		row--;
	if (row == 0 || line->text[row - 1] == '\n') {
		line_insert(line, "    ", 4); /* nothing to complete: the key indents */
	} else if (reader->complete) {
		reader->complete(reader->data, line, &list);
		if (list.len && !gb_buf_failed(&list))
			print_list(editing, &list);
	}
}

/* Returns true if the read is over. */
static bool take_event(struct editing *editing, enum line_event event, enum read_end *ret) {
	struct reader *reader = editing->reader;
	struct line *line = &editing->line;
	*ret = READ_TEXT;
	switch (event) {
	case LINE_ENTER:
		if (reader->is_complete(reader->data, line_text(line), line->n))
			return true;
		continue_text(line);
		return false;
	case LINE_TAB:
		complete(editing);
		return false;
	case LINE_CLEAR:
		put("\033[H\033[2J");
		editing->view = (struct line_view){0};
		return false;
	case LINE_CANCEL:
		*ret = READ_CANCELLED;
		return true;
	case LINE_END:
		*ret = READ_END;
		return true;
	case LINE_CHANGED:
	case LINE_SAME:
		break;
	}
	return false;
}

static bool has_more(void) {
	struct pollfd fd = {STDIN_FILENO, POLLIN, 0};
	return poll(&fd, 1, 0) > 0;
}

/* Bytes are read one by one: those after the end of this text stay in the terminal. */
static enum read_end edit(struct editing *editing) {
	enum read_end end;
	bool is_shown = false;
	for (;;) {
		unsigned char byte;
		if (!is_shown && !has_more()) {
			paint(editing);
			is_shown = true;
		}
		if (!wake_wait(STDIN_FILENO)) {
			is_shown = false; /* the size may have changed */
			if (!interrupted && !ending)
				continue;
			return ending ? READ_END : READ_CANCELLED;
		}
		if (read(STDIN_FILENO, &byte, 1) <= 0)
			return READ_END;
		enum line_event event = line_feed(&editing->line, byte);
		is_shown &= event == LINE_SAME;
		if (take_event(editing, event, &end))
			return end;
	}
}

static enum read_end read_with_editor(struct reader *reader, struct gb_buf *ret_text) {
	struct editing editing = {.reader = reader};
	line_init(&editing.line, reader->history);
	set_mode(true);
	put("\033[?2004h");
	enum read_end end = edit(&editing);
	editing.line.cursor = editing.line.n;
	if (end == READ_CANCELLED)
		line_insert(&editing.line, "^C", 2);
	paint(&editing);
	leave_view(&editing);
	put("\033[?2004l");
	set_mode(false);
	if (end == READ_TEXT)
		gb_buf_append(ret_text, line_text(&editing.line), editing.line.n);
	line_finish(&editing.line);
	return end;
}

/* --- without it --- */

/* False if there is none, or a signal has arrived. */
static bool read_byte(struct reader *reader, char *ret) {
	if (reader->at == reader->n_held) {
		/* A terminal gives one line at a time. */
		const bool ready = !ending && wake_wait(STDIN_FILENO);
		ssize_t n = ready ? read(STDIN_FILENO, reader->held, sizeof reader->held) : 0;
		reader->at_end = ready && (n == 0 || (n < 0 && errno != EINTR));
		reader->at = 0;
		reader->n_held = n > 0 ? (size_t)n : 0;
		if (n <= 0)
			return false;
	}
	*ret = reader->held[reader->at++];
	return true;
}

static void print_prompt(const struct reader *reader, bool is_first) {
	if (reader->kind == READER_PIPE)
		return;
	fputs(is_first ? reader->prompt : reader->more, stdout);
	fflush(stdout);
}

static enum read_end read_lines(struct reader *reader, struct gb_buf *ret_text) {
	char byte;
	print_prompt(reader, true);
	for (;;) {
		if (!read_byte(reader, &byte)) {
			if (reader->kind == READER_DUMB)
				putchar('\n');
			if (interrupted && !reader->at_end)
				return READ_CANCELLED;
			if (reader->at_end || ending)
				return ret_text->len && !ending ? READ_TEXT : READ_END;
			continue;
		}
		if (byte != '\n') {
			gb_buf_append_char(ret_text, byte);
			continue;
		}
		if (gb_buf_failed(ret_text) ||
		    reader->is_complete(reader->data, ret_text->data, ret_text->len))
			return READ_TEXT;
		gb_buf_append_char(ret_text, '\n');
		print_prompt(reader, false);
	}
}

enum read_end reader_read(struct reader *reader, struct gb_buf *ret_text) {
	interrupted = 0;
	gb_buf_init(ret_text, TEXT_MAX);
	if (reader->kind == READER_PIPE)
		signal(SIGINT, SIG_DFL);
	else
		handle(SIGINT, on_interrupt);
	return reader->kind == READER_EDITOR ? read_with_editor(reader, ret_text)
					     : read_lines(reader, ret_text);
}
