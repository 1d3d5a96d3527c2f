/* The terminal of a session on the host side: input, output, and whether a program waits for input. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "engine/engine.h"
#include "engine/limits.h"

/* TYPED: unread input. UNSEEN: output in transit after the client has detached. */
enum { TYPED_MAX = 1 << 20, UNSEEN_MAX = 8 << 20, HEAD_MAX = 16 };

void gb_terminal_init(struct gb_terminal *terminal) {
	gb_buf_init(&terminal->outbox, TYPED_MAX);
}

void gb_terminal_finish(struct gb_terminal *terminal) {
	gb_buf_finish(&terminal->outbox);
}

/* --- frames from the worker --- */

static bool malformed(const char *what, struct gb_err *err) {
	return gb_fail(err, GB_EFORMAT, 0, "the sandbox sent a malformed %s", what);
}

/* For display: one line, with control characters replaced. */
static void keep_prompt(struct gb_terminal *terminal, const struct gb_cbor_item *text) {
	size_t n = text->argument;
	memcpy(terminal->prompt, text->bytes, n);
	terminal->prompt[n] = '\0';
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)terminal->prompt[i] < ' ' || terminal->prompt[i] == 0x7f)
			terminal->prompt[i] = ' ';
}

static void note_change(struct gb_session *session) {
	if (session->on_change)
		session->on_change(session);
}

static void end_wait(struct gb_run *run) {
	const char *prompt = run->session->terminal.prompt;
	char text[GB_WIRE_PROMPT_MAX + 80];
	snprintf(
	    text, sizeof text, *prompt ? "the run waits for input: %s" : "the run waits for input%s", prompt);
	gb_run_end_wait(run, text);
}

bool gb_terminal_on_awaiting(struct gb_run *run, const struct gb_frame *frame, struct gb_err *err) {
	struct gb_cbor_reader in = gb_cbor_reader(frame->payload, frame->n);
	struct gb_cbor_item text;
	if (!run->session || !gb_language_traits(run->session->language)->has_terminal ||
	    !gb_cbor_next(&in, &text) || in.at != in.end || run->awaiting_left == 0)
		return malformed("word about input", err);
	run->awaiting_left--;
	struct gb_terminal *terminal = &run->session->terminal;
	bool goes_on = text.kind == GB_CBOR_SIMPLE && text.argument == GB_SIMPLE_NULL;
	if (!goes_on && (text.kind != GB_CBOR_TEXT || text.argument > GB_WIRE_PROMPT_MAX))
		return malformed("prompt", err);
	/* The wait has already ended on this side, with the input. */
	if (goes_on && !terminal->awaiting)
		return true;
	terminal->awaiting = !goes_on;
	if (!goes_on) {
		terminal->n_waits++;
		keep_prompt(terminal, &text);
	}
	note_change(run->session);
	if (run->on_awaiting)
		GB_CALL_BACK(
		    run->engine, run->on_awaiting(run, goes_on ? NULL : terminal->prompt, run->data));
	/* The callback may have answered it, or ended the session. */
	if (run->ends_on_input && !run->settled && run->session && run->session->terminal.awaiting)
		end_wait(run);
	return true;
}

bool gb_terminal_on_bytes(struct gb_session *session, const struct gb_frame *frame, struct gb_err *err) {
	struct gb_cbor_reader in = gb_cbor_reader(frame->payload, frame->n);
	struct gb_cbor_item bytes;
	if (!session || !gb_language_traits(session->language)->has_terminal || !gb_cbor_next(&in, &bytes) ||
	    bytes.kind != GB_CBOR_BYTES || bytes.argument == 0 || bytes.argument > GB_WIRE_TERMINAL_MAX ||
	    in.at != in.end)
		return malformed("piece of a terminal", err);
	struct gb_terminal *terminal = &session->terminal;
	if (terminal->on_bytes) {
		GB_CALL_BACK(session->engine,
		    terminal->on_bytes(session, (const char *)bytes.bytes, bytes.argument, terminal->data));
		return true;
	}
	terminal->unseen += bytes.argument;
	return terminal->unseen <= UNSEEN_MAX ||
	       malformed("piece of a terminal that no client is attached to", err);
}

/* --- frames to the worker --- */

uint32_t gb_terminal_events(const struct gb_session *session) {
	return session && session->terminal.held ? 0 : GB_LOOP_IN;
}

void gb_terminal_send(struct gb_session *session) {
	struct gb_buf *out = &session->terminal.outbox;
	ssize_t n = 0;
	while (out->len && n >= 0) {
		n = send(gb_cell_fd(session->cell), out->data, out->len, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n > 0)
			gb_buf_consume(out, (size_t)n);
		else if (n < 0 && errno == EINTR)
			n = 0;
	}
	gb_cell_listen(session->cell, gb_terminal_events(session) | (out->len ? GB_LOOP_OUT : 0));
}

/* In order, and complete frames only: the next run sends what the previous one has left. */
void gb_terminal_enter(struct gb_run *run) {
	struct gb_terminal *terminal = &run->session->terminal;
	terminal->awaiting = false;
	if (!terminal->outbox.len)
		return;
	struct gb_buf both;
	gb_buf_init(&both, run->outbox.max + terminal->outbox.max);
	gb_buf_append(&both, terminal->outbox.data, terminal->outbox.len);
	gb_buf_append(&both, run->outbox.data, run->outbox.len);
	gb_buf_finish(&run->outbox);
	run->outbox = both;
	gb_buf_clear(&terminal->outbox);
}

void gb_terminal_leave(struct gb_run *run) {
	struct gb_session *session = run->session;
	struct gb_terminal *terminal = &session->terminal;
	terminal->awaiting = false;
	if (gb_language_traits(session->language)->has_terminal && run->outbox.len > run->sent)
		gb_buf_append(&terminal->outbox, run->outbox.data + run->sent, run->outbox.len - run->sent);
	/* A partial frame would corrupt the stream. */
	if (gb_buf_failed(&terminal->outbox))
		gb_session_terminate(session, "more was typed than it takes");
	else
		gb_terminal_send(session);
}

static bool check_terminal(const struct gb_session *session, const char *refusal, struct gb_err *err) {
	if (!gb_language_traits(session->language)->has_terminal)
		return gb_fail(err, GB_EINVAL, 0, "%s", refusal);
	return session->cell || gb_fail_field(err, GB_EINVAL, "session", "has ended: %s", session->reason);
}

static struct gb_run *executing(const struct gb_session *session) {
	return session->run && !session->run->settled ? session->run : NULL;
}

static bool send_frame(struct gb_session *session, const struct gb_buf *frame, struct gb_err *err) {
	/* A settled run may still own the cell, and unsent frames. */
	if (session->run && session->run->settled)
		gb_run_release_cell(session->run);
	if (!session->cell)
		return gb_fail_field(err, GB_EINVAL, "session", "has ended: %s", session->reason);
	struct gb_run *run = executing(session);
	struct gb_buf *out = run ? &run->outbox : &session->terminal.outbox;
	/* The frame may be read without an answer; it would be lost if the job moved to another cell. */
	if (run)
		gb_run_forget_job(run);
	session->used = true;
	size_t max = out->max < TYPED_MAX ? out->max : TYPED_MAX;
	if (out->len + frame->len > max)
		return gb_fail_field(
		    err, GB_EBUSY, "session", "it has not taken yet what it was sent before");
	gb_buf_append(out, frame->data, frame->len);
	if (run)
		gb_run_send(run);
	else
		gb_terminal_send(session);
	return true;
}

static bool send_empty_frame(struct gb_session *session, uint8_t type, struct gb_err *err) {
	gb_auto_buf struct gb_buf frame;
	gb_buf_init(&frame, HEAD_MAX);
	gb_frame_append(&frame, type, NULL, 0);
	return send_frame(session, &frame, err);
}

/* --- public interface --- */

const char *gb_session_prompt(const struct gb_session *session) {
	return gb_session_state(session) == GB_SESSION_AWAITING_INPUT ? session->terminal.prompt : "";
}

bool gb_session_send(struct gb_session *session, const char *bytes, size_t n, struct gb_err *err) {
	if (!check_terminal(session, "this session's language takes no input while it runs", err))
		return false;
	if (!executing(session) && !session->terminal.on_bytes)
		return gb_fail(err, GB_EINVAL, 0, "nothing runs in this session that could read it");
	if (n > GB_WIRE_TERMINAL_MAX)
		return gb_fail(err, GB_ELIMIT, 0, "%zu bytes are more than can be typed at once (%d)", n,
		    GB_WIRE_TERMINAL_MAX);
	gb_auto_buf struct gb_buf frame;
	gb_buf_init(&frame, n + HEAD_MAX);
	size_t mark = gb_frame_begin(&frame, GB_FRAME_INPUT);
	gb_cbor_bytes(&frame, bytes, n);
	gb_frame_end(&frame, mark);
	if (gb_buf_failed(&frame))
		return gb_fail(err, GB_ENOMEM, 0, "input");
	if (!send_frame(session, &frame, err))
		return false;
	session->terminal.awaiting = false;
	note_change(session);
	return true;
}

bool gb_session_attach(struct gb_session *session, gb_shown on_bytes, void *data, struct gb_err *err) {
	if (!check_terminal(session, "this session's language has no terminal", err))
		return false;
	if (session->terminal.on_bytes)
		return gb_fail_field(err, GB_EBUSY, "session", "another client is attached already");
	if (!send_empty_frame(session, GB_FRAME_ATTACH, err))
		return false;
	session->terminal.on_bytes = on_bytes;
	session->terminal.data = data;
	return true;
}

void gb_session_detach(struct gb_session *session) {
	if (!session->terminal.on_bytes)
		return;
	session->terminal.on_bytes = NULL;
	session->terminal.unseen = 0;
	gb_session_hold(session, false);
	if (!session->cell || send_empty_frame(session, GB_FRAME_DETACH, NULL))
		return;
	/* DETACH cannot be sent because the session does not read: stop its run, or else the session. */
	struct gb_run *run = executing(session);
	if (run)
		gb_run_terminate(run, "more was typed than it takes");
	else
		gb_session_terminate(session, "more was typed than it takes");
}

void gb_session_hold(struct gb_session *session, bool held) {
	struct gb_terminal *terminal = &session->terminal;
	held = held && terminal->on_bytes;
	if (terminal->held == held)
		return;
	terminal->held = held;
	if (!session->cell)
		return;
	const struct gb_buf *out = session->run ? &session->run->outbox : &terminal->outbox;
	gb_cell_listen(session->cell, gb_terminal_events(session) | (out->len ? GB_LOOP_OUT : 0));
}

bool gb_session_resize(struct gb_session *session, unsigned columns, unsigned rows, struct gb_err *err) {
	if (!check_terminal(session, "this session's language has no terminal", err))
		return false;
	if (columns == 0 || rows == 0 || columns > GB_WIRE_COLUMNS_MAX || rows > GB_WIRE_COLUMNS_MAX)
		return gb_fail(err, GB_EINVAL, 0, "columns, rows: %u by %u is no size between 1 and %d",
		    columns, rows, GB_WIRE_COLUMNS_MAX);
	gb_auto_buf struct gb_buf frame;
	gb_buf_init(&frame, 2ul * HEAD_MAX);
	size_t mark = gb_frame_begin(&frame, GB_FRAME_RESIZE);
	gb_cbor_unsigned(&frame, columns);
	gb_cbor_unsigned(&frame, rows);
	gb_frame_end(&frame, mark);
	return send_frame(session, &frame, err);
}
