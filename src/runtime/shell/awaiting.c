#include "runtime/shell/awaiting.h"

#include <poll.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "runtime/program/post.h"
#include "runtime/shell/waiting.h"
#include "runtime/wire.h"
#include "value/cbor.h"
#include "value/frame.h"

#define MS 1000000ull

enum {
	FIRST_CHECK_MS = 10,
	CHECK_MS = 50,
	RECHECK_MS = 200,      /* after AWAITING was sent */
	QUIET_ENOUGH_MS = 300, /* before a looks_like_waiting, where /proc gives no answer */
};

static void check_soon(struct gb_awaiting *awaiting) {
	awaiting->quiet_since = gb_now_ns();
	awaiting->pause_ms = FIRST_CHECK_MS;
	awaiting->next_check_ns = awaiting->quiet_since + awaiting->pause_ms * MS;
}

void gb_awaiting_begin(struct gb_awaiting *awaiting) {
	gb_prompt_clear(&awaiting->prompt);
	gb_awaiting_answered(awaiting);
}

void gb_awaiting_shown(struct gb_awaiting *awaiting, const char *bytes, size_t n) {
	gb_prompt_feed(&awaiting->prompt, bytes, n);
	check_soon(awaiting);
}

void gb_awaiting_answered(struct gb_awaiting *awaiting) {
	awaiting->told = false;
	check_soon(awaiting);
}

/* NULL: the code no longer waits for input. */
static void post_awaiting(const char *text, size_t n) {
	gb_auto_buf struct gb_buf frame;
	gb_buf_init(&frame, GB_WIRE_PROMPT_MAX + GB_WIRE_CALL_SLACK);
	size_t mark = gb_frame_begin(&frame, GB_FRAME_AWAITING);
	if (text)
		gb_cbor_string(&frame, text, n);
	else
		gb_cbor_simple(&frame, GB_SIMPLE_NULL);
	gb_frame_end(&frame, mark);
	gb_post_frame(frame.data, frame.len);
}

static void report(struct gb_awaiting *awaiting, bool waits) {
	char text[GB_WIRE_PROMPT_MAX];
	if (awaiting->told == waits)
		return;
	awaiting->told = waits;
	if (waits)
		post_awaiting(text, gb_prompt_text(&awaiting->prompt, text, sizeof text));
	else
		post_awaiting(NULL, 0);
}

/* Without /proc: looks_like_waiting from a pause in the output after a line that looks like a question. */
static bool looks_like_waiting(const struct gb_awaiting *awaiting) {
	char text[GB_WIRE_PROMPT_MAX];
	size_t n = gb_prompt_text(&awaiting->prompt, text, sizeof text);
	return gb_now_ns() - awaiting->quiet_since >= QUIET_ENOUGH_MS * MS && gb_prompt_asks(text, n);
}

int gb_awaiting_pause(const struct gb_awaiting *awaiting) {
	uint64_t now = gb_now_ns();
	return awaiting->next_check_ns > now ? (int)((awaiting->next_check_ns - now) / MS) + 1 : 0;
}

/* True if bytes written by one side are still unread by the other: a prompt that we have not seen, or an
 * answer to it. poll() makes the kernel deliver bytes that are in transit. */
static bool has_unread_bytes(const struct gb_tty *tty) {
	struct pollfd ends[] = {{tty->master, POLLIN, 0}, {tty->slave, POLLIN, 0}};
	return poll(ends, GB_COUNT(ends), 0) > 0 && ((ends[0].revents | ends[1].revents) & POLLIN);
}

void gb_awaiting_check(struct gb_awaiting *awaiting, const struct gb_tty *tty) {
	uint64_t now = gb_now_ns();
	if (now < awaiting->next_check_ns)
		return;
	/* Before: an answer that is unread now may be read while the processes are inspected, and the process
	 * that has read it was still seen waiting for it. After: a process that waits may have written a prompt
	 * first. */
	bool unread = !awaiting->told && has_unread_bytes(tty);
	enum gb_waiting waiting = gb_waiting_for(tty->master, tty->device);
	bool waits = waiting == GB_WAITING_UNKNOWN ? looks_like_waiting(awaiting) : waiting == GB_WAITING_YES;
	if (waits && !awaiting->told && (unread || has_unread_bytes(tty))) {
		awaiting->next_check_ns = now + FIRST_CHECK_MS * MS;
		return;
	}
	report(awaiting, waits);
	awaiting->pause_ms = awaiting->pause_ms * 2 < CHECK_MS ? awaiting->pause_ms * 2 : CHECK_MS;
	awaiting->next_check_ns = now + (awaiting->told ? RECHECK_MS : awaiting->pause_ms) * MS;
}
