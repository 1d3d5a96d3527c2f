/* Sends to the cell of a run, and moves the job to another cell if the first died before it read the job. */
#include <errno.h>
#include <sys/socket.h>

#include "engine/engine.h"
#include "glovebox/errors.h"

enum { OUTBOX_KEPT = 64 << 10, RETAKES_MAX = 32 };

static bool has_unsent(const struct gb_run *run) {
	return run->outbox.len > run->sent;
}

static uint32_t poll_events(const struct gb_run *run) {
	uint32_t in = run->paused ? 0 : gb_terminal_events(run->session);
	/* The end of the stream is reported whatever is polled for, and would be in every turn. */
	if (run->decoding)
		in = GB_LOOP_ONCE;
	return in | (has_unsent(run) ? GB_LOOP_OUT : 0);
}

static void drop_sent(struct gb_run *run) {
	struct gb_buf *out = &run->outbox;
	gb_buf_consume(out, run->sent);
	run->sent = 0;
	if (out->len == 0 && out->cap > OUTBOX_KEPT)
		gb_buf_finish(out);
}

void gb_run_forget_job(struct gb_run *run) {
	if (!run->job_kept)
		return;
	run->job_kept = false;
	drop_sent(run);
}

/* Send as much as the socket accepts. A dead worker is detected elsewhere. */
static void send_some(struct gb_run *run) {
	struct gb_buf *out = &run->outbox;
	while (has_unsent(run)) {
		ssize_t n = send(gb_cell_fd(run->cell), out->data + run->sent, out->len - run->sent,
		    MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0 && errno == EINTR)
			continue;
		run->job_unread |= n < 0 && (errno == EPIPE || errno == ECONNRESET) && run->job_kept;
		if (n < 0)
			break;
		run->sent += (size_t)n;
	}
	/* Not after each send: with a slow reader that would move the remaining bytes each time. */
	if (!run->job_kept && run->sent >= out->len / 2)
		drop_sent(run);
}

void gb_run_send(struct gb_run *run) {
	/* Queued bytes are sent on GB_LOOP_OUT. */
	if (run->settled || run->waits_to_send || !run->cell || gb_reach_is_beginning(run))
		return;
	send_some(run);
	run->waits_to_send = has_unsent(run);
	if (run->waits_to_send)
		gb_cell_listen(run->cell, poll_events(run));
}

void gb_run_send_more(struct gb_run *run) {
	/* GB_LOOP_OUT does not prove that the worker reads: the socket queue of a dying process is also
	 * drained. */
	send_some(run);
	run->waits_to_send = has_unsent(run);
	if (!run->waits_to_send)
		gb_cell_listen(run->cell, poll_events(run));
}

void gb_run_pause(struct gb_run *run, bool paused) {
	if (run->paused == paused || run->settled)
		return;
	run->paused = paused;
	if (run->cell && run->begun)
		gb_run_listen(run);
}

void gb_run_listen(struct gb_run *run) {
	gb_cell_listen(run->cell, poll_events(run));
}

/* --- moving to another cell --- */

/* A warm cell may have died while idle, which may not be known yet when it is taken. Before it has read the
 * job no code has run, and another cell can run it. Bounded: if cells keep dying, the caller must get an
 * error. */
static bool can_retake(const struct gb_run *run) {
	return run->job_unread && run->job_kept && !run->settled && !run->stopping && !run->interrupted &&
	       run->cell && run->n_retakes < RETAKES_MAX;
}

/* False if no cell is available; then the run has none. */
static bool retake(struct gb_run *run, struct gb_err *err) {
	run->n_retakes++;
	run->job_unread = run->waits_to_send = false;
	run->sent = 0;
	if (run->session)
		return gb_session_retake(run, err);
	gb_cell_release(run->cell);
	run->cell = gb_pool_take(run->engine->pools[run->runtime], run, err);
	return run->cell;
}

/* The job cannot be sent. A session continues as it was. */
static void give_back(struct gb_run *run) {
	struct gb_session *session = run->session;
	if (session) {
		session->run = NULL;
		session->n_jobs--;
		gb_cell_set_owner(run->cell, session);
	} else {
		gb_cell_release(run->cell);
	}
	run->cell = NULL;
}

bool gb_run_send_job(struct gb_run *run, struct gb_err *err) {
	do {
		/* Only a warm cell can have died unnoticed, and only before the first job of a session. */
		run->job_kept = gb_cell_was_warm(run->cell) && (!run->session || run->session->n_jobs == 1);
		gb_cell_limit_memory(run->cell, run->memory);
		if (run->reach && !gb_reach_begin(run, err)) {
			give_back(run);
			return false;
		}
		gb_run_send(run);
	} while (can_retake(run) && retake(run, err));
	return run->cell;
}

bool gb_run_move_on(struct gb_run *run) {
	struct gb_err err = {0};
	if (!can_retake(run))
		return false;
	if (!retake(run, &err) || !gb_run_send_job(run, &err))
		gb_run_fail(run, GB_FAILURE, "SandboxError", GB_CODE_SANDBOX_LOST, err.message);
	return true;
}
