#include "cli/attach_screen.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/io.h"

enum { ESCAPE = 27, ENQUIRY = 5 };

static const char clear[] = "\033[2J\033[H";

void attach_screen_enter(struct attach_screen *screen, int fd) {
	static const char enter[] = "\033[?1049h\033[2J\033[H";
	screen->is_entered = screen->is_used && gb_write_all(fd, enter, sizeof enter - 1);
}

/* Reset what a remote program may have set: paste, mouse and focus reports, keys, margins, character set, colours. */
void attach_screen_leave(struct attach_screen *screen, int fd) {
	static const char calm[] =
	    "\033[?2004l\033[?1000l\033[?1002l\033[?1003l\033[?1006l\033[?1004l\033[?1l\033>"
	    "\033[4l\033[?6l\033[?7h\033[r\033(B\017\033[0m\033[?25h\033[?1049l\r";
	if (screen->is_entered)
		(void)gb_write_all(fd, calm, sizeof calm - 1);
	screen->is_entered = false;
}

/* Whether the number is one of the modes of the alternate screen. */
static bool is_screen_mode(struct gb_str number) {
	static const char *const modes[] = {"47", "1047", "1049"};
	for (size_t i = 0; i < GB_COUNT(modes); i++)
		if (gb_str_eq(number, gb_str_from(modes[i])))
			return true;
	return false;
}

/* "ESC [ ? numbers h" or "... l": without the modes of the alternate screen, which is cleared instead. */
static void write_modes(struct gb_str sequence, struct gb_buf *out) {
	struct gb_str numbers = {sequence.p + 3, sequence.n - 4}, number;
	bool clears = false, any = false;
	size_t before = out->len;
	gb_buf_append(out, "\033[?", 3);
	while (numbers.n) {
		gb_str_cut(&numbers, ';', &number);
		if (is_screen_mode(number)) {
			clears = true;
			continue;
		}
		gb_buf_printf(out, "%s%.*s", any ? ";" : "", GB_STR_ARG(number));
		any = true;
	}
	gb_buf_append_char(out, sequence.p[sequence.n - 1]);
	if (!any && !gb_buf_failed(out))
		out->len = before;
	if (clears)
		gb_buf_append(out, clear, sizeof clear - 1);
}

/* Reports of the cursor, the device, the mouse and so on. Which of these a terminal has is not known. */
static bool is_question(struct gb_str sequence) {
	char final = sequence.p[sequence.n - 1];
	bool is_private = sequence.n > 3 && sequence.p[2] == '?';
	return strchr("cnqtux", final) || (final == 'p' && memchr(sequence.p, '$', sequence.n)) ||
	       (final == 'h' && is_private && (memmem(sequence.p, sequence.n, "100", 3) != NULL));
}

static void end_sequence(struct attach_screen *screen, struct gb_buf *out) {
	struct gb_str sequence = {screen->held, screen->n_held};
	char final = sequence.p[sequence.n - 1];
	screen->asked |= is_question(sequence);
	if (screen->is_entered && sequence.n > 4 && sequence.p[2] == '?' && (final == 'h' || final == 'l'))
		write_modes(sequence, out);
	else
		gb_buf_append_str(out, sequence);
	screen->n_held = 0;
}

static void release(struct attach_screen *screen, struct gb_buf *out) {
	gb_buf_append(out, screen->held, screen->n_held);
	screen->n_held = 0;
}

static void take_byte(struct attach_screen *screen, char byte, struct gb_buf *out) {
	size_t n = screen->n_held;
	/* Inside of a sequence: after ESC, after "ESC [". */
	if (n == 0 && byte != ESCAPE) {
		screen->asked |= byte == ENQUIRY;
		gb_buf_append_char(out, byte);
		return;
	}
	screen->held[screen->n_held++] = byte;
	if (n == 0)
		return;
	if (n == 1 && byte != '[') {
		/* Questions also begin with these: DCS, OSC, "identify", and the C1 forms of programs. */
		screen->asked |= strchr("P]Z_^X", byte) != NULL && byte;
		if (byte == ESCAPE)
			screen->n_held--, gb_buf_append_char(out, ESCAPE);
		else
			release(screen, out);
	} else if (n > 1 && byte >= '@' && byte <= '~') {
		end_sequence(screen, out);
	} else if (screen->n_held == sizeof screen->held || (n > 1 && (byte < ' ' || byte > '~'))) {
		screen->asked = true; /* it is not known what a terminal makes of it */
		release(screen, out);
	}
}

void attach_screen_filter(struct attach_screen *screen, const char *bytes, size_t n, struct gb_buf *out) {
	for (size_t i = 0; i < n; i++) {
		/* U+0080 to U+009F: some terminals take them for the beginnings of sequences. */
		screen->asked |= screen->last == '\xc2' && ((unsigned char)bytes[i] & 0xe0) == 0x80;
		screen->last = bytes[i];
		take_byte(screen, bytes[i], out);
	}
}
