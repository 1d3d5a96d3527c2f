#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/fields.h"
#include "base/io.h"
#include "engine/engine.h"
#include "engine/limits.h"
#include "glovebox/errors.h"

/* Interrupted code has five seconds. Interrupts are counted instead, so that time during which the machine
 * was suspended does not count. */
enum { INTERRUPTS_MAX = 50 };
enum { READS_MAX = 16, RECEIVE_STEP = 4 << 10, RECEIVE_MAX = 1 << 20, MESSAGE_MAX = 64 << 10 };

const char *gb_status_name(enum gb_status status) {
	static const char *const names[] = {
	    "success", "error", "memory", "terminated", "link_error", "denied"};
	return status < GB_COUNT(names) ? names[status] : "error";
}

const char *gb_log_level_name(enum gb_log_level level) {
	static const char *const names[] = {"log", "info", "warn", "error", "debug"};
	return level < GB_COUNT(names) ? names[level] : "log";
}

/* --- references during callbacks --- */

void gb_run_free(struct gb_run *run) {
	gb_frame_reader_finish(&run->own_reader);
	gb_buf_finish(&run->outbox);
	gb_bridge_finish(&run->bridge);
	free(run->reports.list);
	free(run->displays.list);
	for (size_t i = 0; i < GB_COUNT(run->streams); i++)
		gb_buf_finish(&run->streams[i]);
	gb_reach_destroy(run->reach);
	gb_values_destroy(run->values);
	gb_arena_finish(&run->texts);
	free(run->logs);
	gb_workplace_leave(run->engine, &run->place);
	free(run);
}

void gb_run_hold(struct gb_run *run) {
	run->held++;
}

void gb_run_unhold(struct gb_run *run) {
	if (--run->held == 0 && run->destroyed)
		gb_run_free(run);
}

/* --- settling --- */

void gb_run_release_cell(struct gb_run *run) {
	gb_list_remove(&run->link);
	if (!run->cell)
		return;
	if (run->session)
		gb_session_leave(run);
	else
		gb_cell_release(run->cell);
	run->cell = NULL;
	gb_workplace_leave(run->engine, &run->place);
}

/* Output and displays are part of the result, whatever the status. */
static void finish_streams(struct gb_run *run) {
	struct gb_result *result = &run->result;
	const char *texts[GB_COUNT(run->streams)];
	for (size_t i = 0; i < GB_COUNT(run->streams); i++)
		texts[i] = run->streams[i].len ? gb_buf_c_str(&run->streams[i]) : "";
	result->stdout_text = texts[0] ? texts[0] : "";
	result->stderr_text = texts[1] ? texts[1] : "";
	result->stdout_bytes = texts[0] ? run->streams[0].len : 0;
	result->stderr_bytes = texts[1] ? run->streams[1].len : 0;
	result->displays = run->displays.list;
	result->n_displays = run->displays.n;
	result->files = run->files;
}

void gb_run_settle(struct gb_run *run) {
	gb_run_hold(run);
	run->settled = true;
	gb_run_stop_decoding(run);
	finish_streams(run);
	gb_run_add_denial(run);
	run->result.duration_ms = (double)(gb_now_ns() - run->started) / 1e6;
	/* Call the caller first: tearing down a process takes longer than everything before. The cell is
	 * released when the run is destroyed or at the engine's next turn. */
	gb_list_remove(&run->link);
	gb_list_append(&run->engine->settled, &run->link);
	gb_bridge_close(run, true);
	if (run->session && run->session->on_change)
		run->session->on_change(run->session);
	/* A callback of gb_bridge_close() may have destroyed it. */
	if (run->on_settled && !run->destroyed)
		GB_CALL_BACK(run->engine, run->on_settled(run, &run->result, run->data));
	gb_run_unhold(run);
}

static void settle(struct gb_run *run) {
	run->deadline = 0;
	if (!gb_reach_end(run))
		gb_run_settle(run);
}

size_t gb_run_memory(const struct gb_run *run) {
	return run->streams[0].cap + run->streams[1].cap + gb_values_used(run->values);
}

/* Bounded: a caller's reason may have any length. */
static const char *keep_text(struct gb_run *run, const char *text) {
	struct gb_str kept = gb_str_from(text);
	kept.n = gb_text_fit(kept, MESSAGE_MAX);
	const char *copy = gb_arena_copy(&run->texts, kept);
	return copy ? copy : "";
}

void gb_run_fail(
    struct gb_run *run, enum gb_status status, const char *name, const char *code, const char *message) {
	if (run->settled || gb_reach_is_ending(run))
		return;
	run->result.status = status;
	run->result.exit_code = 1;
	run->result.value = NULL;
	run->result.error.name = name;
	run->result.error.code = code;
	run->result.error.message = keep_text(run, message);
	settle(run);
}

/* --- receiving --- */

/* The worker enforces the limit itself, by truncation; a worker that exceeds it has been compromised. */
bool gb_run_spend_output(struct gb_run *run, size_t cost) {
	if (cost <= run->output_left) {
		run->output_left -= cost;
		return true;
	}
	run->result.truncated = true;
	gb_run_fail(run, GB_TERMINATED, "LimitError", GB_CODE_OUTPUT_LIMIT, "the run said more than it may");
	return false;
}

static void rename_interrupted(struct gb_run *run);

void gb_run_conclude(struct gb_run *run) {
	run->result_received = true;
	rename_interrupted(run);
	if (run->session)
		gb_session_judge(run);
	settle(run);
}

void gb_run_fail_frame(struct gb_run *run, const struct gb_err *err) {
	bool too_large = err->code == GB_ELIMIT || err->code == GB_ENOMEM;
	gb_run_fail(run, GB_FAILURE, too_large ? "RangeError" : "ProtocolError",
	    too_large ? GB_CODE_RESULT_SIZE : GB_CODE_PROTOCOL, err->message);
}

static void on_frame(struct gb_run *run, const struct gb_frame *frame) {
	struct gb_err err = {0};
	switch (frame->type) {
	case GB_FRAME_LOG:
		if (!gb_run_spend_output(run, frame->n + GB_FRAME_HEAD) || gb_answer_log(run, frame, &err))
			return;
		break;
	case GB_FRAME_OUTPUT:
		if (gb_answer_output(run, frame, &err))
			return;
		break;
	case GB_FRAME_DISPLAY:
		if (gb_answer_display(run, frame, &err))
			return;
		break;
	case GB_FRAME_FILE:
		if (gb_answer_file(run, frame, &err))
			return;
		break;
	case GB_FRAME_EXIT:
		if (gb_answer_exit(run, frame, &err))
			return;
		break;
	case GB_FRAME_AWAITING:
		if (gb_terminal_on_awaiting(run, frame, &err))
			return;
		break;
	case GB_FRAME_TERMINAL:
		if (gb_terminal_on_bytes(run->session, frame, &err))
			return;
		break;
	case GB_FRAME_RESULT:
		if (gb_answer_result(run, frame, &err))
			return;
		break;
	case GB_FRAME_CALL:
		/* Ignore calls of a run that is being stopped. */
		if (run->stopping || gb_bridge_on_call(run, frame, &err))
			return;
		break;
	case GB_FRAME_ANSWER:
		if (gb_bridge_on_answer(run, frame, &err))
			return;
		break;
	default:
		gb_fail(&err, GB_EFORMAT, 0, "the sandbox sent a message of unknown type %u", frame->type);
	}
	gb_run_fail_frame(run, &err);
}

enum received { RECV_DRAINED, RECV_MORE, RECV_EMPTY, RECV_EOF };

static enum received receive(struct gb_run *run) {
	size_t room, missing = gb_frame_reader_missing(run->reader);
	/* Most messages are short, and a thousand runs have a thousand buffers; the length of a long message
	 * is known by now. */
	missing = missing < RECEIVE_MAX ? missing : RECEIVE_MAX;
	char *into =
	    gb_frame_reader_room(run->reader, missing > RECEIVE_STEP ? missing : RECEIVE_STEP, &room);
	if (!into)
		return RECV_EOF;
	ssize_t n = recv(gb_cell_fd(run->cell), into, room, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return RECV_EMPTY;
	/* ECONNRESET: the peer closed its socket with unread bytes in it. */
	run->job_unread |= n < 0 && errno == ECONNRESET && run->job_kept;
	if (n <= 0)
		return RECV_EOF;
	gb_run_forget_job(run);
	gb_frame_reader_fed(run->reader, (size_t)n);
	return (size_t)n < room ? RECV_DRAINED : RECV_MORE;
}

/* Frames are not handled now. */
static bool is_waiting(const struct gb_run *run) {
	return run->settled || run->decoding || gb_reach_is_ending(run);
}

/* Handle all complete frames in the buffer. */
static void handle_frames(struct gb_run *run) {
	struct gb_frame frame;
	enum gb_frame_status status = GB_FRAME_READY;
	while (!is_waiting(run) && (status = gb_frame_reader_next(run->reader, &frame)) == GB_FRAME_READY)
		on_frame(run, &frame);
	if (status == GB_FRAME_BAD)
		gb_run_fail(run, GB_FAILURE, "ProtocolError", GB_CODE_PROTOCOL,
		    "the sandbox sent bytes that are not a message");
}

/* Read @max times, and handle the frames. True if more may come. */
static bool read_times(struct gb_run *run, unsigned max) {
	for (unsigned i = 0; !is_waiting(run) && i < max; i++) {
		enum received got = receive(run);
		if (got == RECV_EMPTY)
			return true;
		if (got == RECV_EOF)
			return false;
		handle_frames(run);
		if (got == RECV_DRAINED)
			return !run->settled;
	}
	return !run->settled;
}

/* Of a cell that runs, which may write faster than this reads: other events come after a few. */
static bool read_frames(struct gb_run *run) {
	return read_times(run, READS_MAX);
}

/* Of a cell that has ended, or is killed: it writes no more. */
static void read_last_frames(struct gb_run *run) {
	read_times(run, UINT_MAX);
}

/* --- events of a cell --- */

void gb_run_on_cell_ready(struct gb_cell *cell, uint32_t events) {
	struct gb_run *run = gb_cell_owner(cell);
	if (*(enum gb_owner *)gb_cell_owner(cell) == GB_OWNER_SESSION) {
		gb_session_on_cell_ready(cell, events);
		return;
	}
	gb_run_hold(run);
	if (events & GB_LOOP_OUT)
		gb_run_send_more(run);
	/* At the end of the stream, wait for the port to report why the cell ended. Kill a process that has
	 * only closed its socket; a process that is already exiting keeps its own exit status. */
	if ((events & ~(uint32_t)GB_LOOP_OUT) && !read_frames(run) && !run->settled && !gb_run_move_on(run)) {
		gb_cell_ignore(cell);
		gb_cell_kill(cell);
	}
	gb_run_unhold(run);
}

/* --- ends --- */

static void settle_by_end(struct gb_run *run) {
	static const struct {
		enum gb_status status;
		const char *name, *code;
	} ends[] = {
	    [GB_CELL_UNUSED] = {GB_FAILURE, "SandboxError", GB_CODE_NO_ANSWER},
	    [GB_CELL_MEMORY] = {GB_MEMORY, "MemoryError", GB_CODE_MEMORY},
	    [GB_CELL_CPU_TIME] = {GB_TERMINATED, "LimitError", GB_CODE_CPU_LIMIT},
	    [GB_CELL_CRASHED] = {GB_FAILURE, "SandboxError", GB_CODE_CRASHED},
	    /* Not "denied": code that has compromised a worker can cause this end as well. */
	    [GB_CELL_LAYER_MISSING] = {GB_FAILURE, "WallError", GB_CODE_WALL},
	    [GB_CELL_NO_ANSWER] = {GB_FAILURE, "SandboxError", GB_CODE_NO_ANSWER},
	    [GB_CELL_LOST] = {GB_FAILURE, "SandboxError", GB_CODE_SANDBOX_LOST},
	    [GB_CELL_REFUSED] = {GB_DENIED, "WallError", GB_CODE_WALL},
	};
	run->result.memory_used_bytes = 0;
	enum gb_cell_cause cause = run->end_cause;
	gb_run_fail(run, ends[cause].status, ends[cause].name, ends[cause].code, run->end_text);
}

/* The last part of gb_run_on_cell_end. */
static void end_with_cell(struct gb_run *run) {
	/* The last frames may still be in the socket. */
	read_last_frames(run);
	if (run->decoding)
		return;
	run->job_unread |= run->job_kept && run->end_cause == GB_CELL_UNUSED;
	if (!run->settled) {
		if (gb_run_move_on(run)) {
			run->has_end = false;
			if (run->session)
				run->session->doomed = false;
			return;
		}
		settle_by_end(run);
	}
	/* Without a cell: a callback has ended the session, and may have closed it. */
	if (run->session && run->cell)
		gb_session_terminate(run->session, run->end_text);
}

void gb_run_on_cell_end(struct gb_cell *cell, const struct gb_cell_end *end) {
	struct gb_run *run = gb_cell_owner(cell);
	if (*(enum gb_owner *)gb_cell_owner(cell) == GB_OWNER_SESSION) {
		gb_session_on_cell_end(cell, end);
		return;
	}
	gb_run_hold(run);
	run->has_end = true;
	run->end_cause = end->cause;
	run->end_text = keep_text(run, end->text);
	if (run->session)
		gb_session_doom(run->session, end->text);
	end_with_cell(run);
	gb_run_unhold(run);
}

/* The last part of stop(). */
static void end_stopping(struct gb_run *run) {
	const struct gb_stop *why = &run->stop;
	if (!run->settled) {
		run->result.timed_out = why->timed_out;
		gb_run_fail(run, GB_TERMINATED, "TerminatedError", why->code, why->message);
	}
	if (run->session && run->cell)
		gb_session_terminate(run->session, why->message);
}

/* The remaining frames may settle the run. */
static void read_and_end_stopping(struct gb_run *run) {
	read_last_frames(run);
	if (!run->decoding)
		end_stopping(run);
}

/* Stop @run, unless its remaining frames settle it. If some of them have to be decoded first, this ends later. */
static void stop(struct gb_run *run, const char *code, const char *message, bool timed_out) {
	if (run->settled || gb_reach_is_ending(run))
		return;
	/* Queued, or its sandbox is still starting: its session continues. The code must not begin now. */
	if (!run->begun) {
		gb_run_release_cell(run);
		gb_run_fail(run, GB_TERMINATED, "TerminatedError", code, message);
		return;
	}
	gb_run_hold(run);
	/* Kill first, so that the stream ends. */
	gb_cell_kill(run->cell);
	run->stopping = true;
	run->deadline = 0;
	run->stop = (struct gb_stop){code, keep_text(run, message), timed_out};
	if (run->session)
		gb_session_doom(run->session, message);
	read_and_end_stopping(run);
	gb_run_unhold(run);
}

void gb_run_resume(struct gb_run *run) {
	gb_run_hold(run);
	handle_frames(run);
	if (!run->decoding && run->stopping)
		read_and_end_stopping(run);
	else if (!run->decoding && run->has_end)
		end_with_cell(run);
	gb_run_unhold(run);
}

/* Its result has arrived and is being decoded. */
static bool has_ended(const struct gb_run *run) {
	return (run->decoding && run->is_last) || gb_reach_is_ending(run);
}

/* A signal that arrives just before the code blocks does not wake it. Repeat it until it takes effect, up to
 * INTERRUPTS_MAX times. */
static bool send_interrupt(struct gb_run *run) {
	if (run->n_interrupts == INTERRUPTS_MAX)
		return false;
	run->n_interrupts++;
	/* A failure means that the cell is dead, which is reported separately. */
	gb_cell_interrupt(run->cell, run->session->n_jobs);
	if (run->begun) {
		run->deadline = gb_now_ns() + GB_RUN_AGAIN_NS;
		gb_engine_wake_at(run->engine, run->deadline);
	}
	return true;
}

/* The interrupt may already have taken effect: check for unread frames first. */
static bool interrupt_again(struct gb_run *run) {
	gb_run_hold(run);
	read_frames(run);
	bool goes_on = run->settled || has_ended(run) || send_interrupt(run);
	gb_run_unhold(run);
	return goes_on;
}

static bool interrupt(struct gb_run *run, enum gb_interrupted why) {
	if (run->settled || !run->session || !run->cell || run->interrupted || has_ended(run))
		return false;
	run->interrupted = why;
	return send_interrupt(run);
}

bool gb_run_interrupt(struct gb_run *run) {
	return interrupt(run, BY_CALLER);
}

/* Repeated at increasing intervals, for threads and processes created meanwhile. */
void gb_run_yield(struct gb_run *run, uint64_t now) {
	gb_cell_yield_cpu(run->cell, true);
	run->yield_at = now + (now - run->started) + GB_RUN_SHORT_NS;
}

static void describe_timeout(const struct gb_run *run, char *text, size_t n) {
	snprintf(text, n, "the run took longer than its %llu ms", (unsigned long long)run->timeout_ms);
}

void gb_run_end_wait(struct gb_run *run, const char *message) {
	if (run->interrupted)
		return;
	run->awaited = keep_text(run, message);
	interrupt(run, BY_WAIT);
}

/* Interrupted code fails with an error of its language; replace it by the engine's own. */
static void rename_interrupted(struct gb_run *run) {
	char text[80] = "interrupted by the caller";
	if (!run->interrupted || run->result.status != GB_FAILURE)
		return;
	bool by_time = run->interrupted == BY_TIME, by_wait = run->interrupted == BY_WAIT;
	if (by_time)
		describe_timeout(run, text, sizeof text);
	run->result.status = GB_TERMINATED;
	run->result.timed_out = by_time;
	run->result.error.name = "TerminatedError";
	run->result.error.code = by_time   ? GB_CODE_TIMEOUT
				 : by_wait ? GB_CODE_AWAITING_INPUT
					   : GB_CODE_INTERRUPTED;
	run->result.error.message = by_wait ? run->awaited : keep_text(run, text);
	run->result.error.name_bytes = run->result.error.message_bytes = 0;
}

void gb_run_time_out(struct gb_run *run) {
	char text[80];
	if (run->interrupted ? interrupt_again(run) : interrupt(run, BY_TIME))
		return;
	if (run->interrupted == BY_CALLER) {
		stop(run, GB_CODE_INTERRUPTED, "the code did not react to an interrupt", false);
		return;
	}
	if (run->interrupted == BY_WAIT) {
		stop(run, GB_CODE_AWAITING_INPUT, run->awaited, false);
		return;
	}
	describe_timeout(run, text, sizeof text);
	stop(run, GB_CODE_TIMEOUT, text, true);
}

/* --- public interface --- */

void gb_run_terminate(struct gb_run *run, const char *reason) {
	gb_run_hold(run);
	stop(run, GB_CODE_TERMINATED, reason ? reason : "terminated by the caller", false);
	/* At once: without the frame that is being decoded, and those behind it. */
	if (!run->settled)
		end_stopping(run);
	gb_run_unhold(run);
}

void gb_run_hold_clock(struct gb_run *run, bool held) {
	uint64_t now = gb_now_ns();
	if (run->settled || run->stopping || !run->begun || run->session || run->clock_held == held)
		return;
	run->clock_held = held;
	if (held) {
		run->clock_left = run->deadline > now ? run->deadline - now : run->deadline ? 1 : 0;
		run->deadline = 0;
	} else if (run->clock_left) {
		run->deadline = now + run->clock_left;
		gb_engine_wake_at(run->engine, run->deadline);
	}
}

const char *gb_run_id(const struct gb_run *run) {
	return run->result.run_id;
}

void *gb_run_data(const struct gb_run *run) {
	return run->data;
}

bool gb_run_begun(const struct gb_run *run) {
	return run->begun;
}

bool gb_run_settled(const struct gb_run *run) {
	return run->settled;
}

const struct gb_result *gb_run_result(const struct gb_run *run) {
	return run->settled ? &run->result : NULL;
}

const struct gb_result *gb_run_wait(struct gb_run *run) {
	gb_run_hold(run);
	/* A warm cell on this CPU has usually run as soon as it had its job, and has already answered. */
	if (run->cell && !run->engine->in_callback && gb_cell_is_older(run->cell, run->started))
		read_frames(run);
	bool ok = true;
	while (!run->settled && ok)
		ok = gb_engine_turn(run->engine, -1, NULL);
	const struct gb_result *result = run->settled && !run->destroyed ? &run->result : NULL;
	gb_run_unhold(run);
	return result;
}

void gb_run_destroy(struct gb_run *run) {
	if (!run || run->destroyed)
		return;
	run->destroyed = true;
	run->settled = true;
	gb_run_stop_decoding(run);
	gb_bridge_close(run, false);
	gb_run_release_cell(run);
	/* The session may be closed now, while a caller up the stack still holds the run. */
	run->session = NULL;
	/* NULL: it could not be started. */
	if (run->engine->pools[run->runtime])
		gb_pool_refill(run->engine->pools[run->runtime]);
	if (!run->held)
		gb_run_free(run);
}
