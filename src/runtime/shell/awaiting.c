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
	FIRST_LOOK_MS = 10,
	LOOK_MS = 50,
	LOOK_AGAIN_MS = 200,   /* while somebody waits */
	QUIET_ENOUGH_MS = 300, /* for a guess, where nobody can tell */
};

static void look_soon(struct gb_awaiting *awaiting) {
	awaiting->quiet_since = gb_now_ns();
	awaiting->pause_ms = FIRST_LOOK_MS;
	awaiting->look_at = awaiting->quiet_since + awaiting->pause_ms * MS;
}

void gb_awaiting_begin(struct gb_awaiting *awaiting) {
	gb_prompt_clear(&awaiting->prompt);
	gb_awaiting_answered(awaiting);
}

void gb_awaiting_shown(struct gb_awaiting *awaiting, const char *bytes, size_t n) {
	gb_prompt_feed(&awaiting->prompt, bytes, n);
	look_soon(awaiting);
}

void gb_awaiting_answered(struct gb_awaiting *awaiting) {
	awaiting->told = false;
	look_soon(awaiting);
}

/* NULL: it goes on. */
static void post(const char *text, size_t n) {
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

static void tell(struct gb_awaiting *awaiting, bool waits) {
	char text[GB_WIRE_PROMPT_MAX];
	if (awaiting->told == waits)
		return;
	awaiting->told = waits;
	if (waits)
		post(text, gb_prompt_text(&awaiting->prompt, text, sizeof text));
	else
		post(NULL, 0);
}

/* Where nobody can tell: it has been quiet for a while after what looks like a question. */
static bool guess(const struct gb_awaiting *awaiting) {
	char text[GB_WIRE_PROMPT_MAX];
	size_t n = gb_prompt_text(&awaiting->prompt, text, sizeof text);
	return gb_now_ns() - awaiting->quiet_since >= QUIET_ENOUGH_MS * MS && gb_prompt_asks(text, n);
}

int gb_awaiting_pause(const struct gb_awaiting *awaiting) {
	uint64_t now = gb_now_ns();
	return awaiting->look_at > now ? (int)((awaiting->look_at - now) / MS) + 1 : 0;
}

/* Bytes that one side has written and the other not read: a question that we have not seen, or an answer to
 * it. The kernel passes them on when it comes to it, or when it is asked. */
static bool something_is_said(const struct gb_tty *tty) {
	struct pollfd ends[] = {{tty->master, POLLIN, 0}, {tty->slave, POLLIN, 0}};
	return poll(ends, GB_COUNT(ends), 0) > 0 && ((ends[0].revents | ends[1].revents) & POLLIN);
}

void gb_awaiting_look(struct gb_awaiting *awaiting, const struct gb_tty *tty) {
	uint64_t now = gb_now_ns();
	if (now < awaiting->look_at)
		return;
	enum gb_waiting waiting = gb_waiting_for(tty->master, tty->device);
	bool waits = waiting == GB_WAITING_UNKNOWN ? guess(awaiting) : waiting == GB_WAITING_YES;
	if (waits && !awaiting->told && something_is_said(tty)) {
		awaiting->look_at = now + FIRST_LOOK_MS * MS;
		return;
	}
	tell(awaiting, waits);
	awaiting->pause_ms = awaiting->pause_ms * 2 < LOOK_MS ? awaiting->pause_ms * 2 : LOOK_MS;
	awaiting->look_at = now + (awaiting->told ? LOOK_AGAIN_MS : awaiting->pause_ms) * MS;
}
