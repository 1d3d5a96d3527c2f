/* Sends the outcome of a run to the host. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "glovebox/errors.h"
#include "runtime/program/keeper.h"
#include "runtime/program/post.h"
#include "sandbox/worker.h"
#include "value/cbor.h"

enum { RESULT_MAX = 1 << 20, SHELL_SIGNAL = 128 };

static void send_files(struct gb_keeper *keeper, const struct gb_job *job) {
	if (!gb_files_send(&keeper->files, job->result, gb_post_frame))
		gb_post_mark_truncated();
}

/* Forward the program's RESULT, with the peak memory and the truncated flag as seen by the keeper. The value
 * may be large and is not copied. */
static bool pass_result(struct gb_keeper *keeper) {
	enum { HEAD_MAX = 64, LENGTH_BYTES = 4 };
	struct gb_cbor_reader in = gb_cbor_reader(keeper->result.data, keeper->result.len);
	struct gb_cbor_item status, peak, truncated;
	if (!gb_cbor_next(&in, &status) || status.kind != GB_CBOR_UNSIGNED || !gb_cbor_next(&in, &peak) ||
	    peak.kind != GB_CBOR_UNSIGNED || !gb_cbor_next(&in, &truncated))
		return false;
	gb_auto_buf struct gb_buf out;
	gb_buf_init(&out, HEAD_MAX);
	size_t rest = (size_t)(in.end - in.at);
	gb_frame_begin(&out, GB_FRAME_RESULT);
	gb_cbor_unsigned(&out, status.argument);
	gb_cbor_unsigned(&out, peak.argument > keeper->memory_peak ? peak.argument : keeper->memory_peak);
	bool cut = gb_post_truncated() || truncated.argument == GB_SIMPLE_TRUE;
	gb_cbor_simple(&out, cut ? GB_SIMPLE_TRUE : GB_SIMPLE_FALSE);
	if (gb_buf_failed(&out))
		return false;
	size_t length = out.len - LENGTH_BYTES + rest;
	for (unsigned i = 0; i < LENGTH_BYTES; i++)
		out.data[i] = (char)(length >> 8 * i);
	gb_post_frame(out.data, out.len);
	gb_post_frame(in.at, rest);
	return true;
}

static void write_failure(
    struct gb_keeper *keeper, enum gb_wire_status status, const struct gb_failure *failure) {
	gb_auto_buf struct gb_buf out;
	gb_buf_init(&out, RESULT_MAX);
	gb_failure_write(&out, status, keeper->memory_peak, gb_post_truncated(), failure);
	gb_post_frame(out.data, out.len);
}

static void write_success(struct gb_keeper *keeper) {
	gb_auto_buf struct gb_buf out;
	gb_buf_init(&out, RESULT_MAX);
	size_t mark = gb_frame_begin(&out, GB_FRAME_RESULT);
	gb_cbor_unsigned(&out, GB_WIRE_SUCCESS);
	gb_cbor_unsigned(&out, keeper->memory_peak);
	gb_cbor_simple(&out, gb_post_truncated() ? GB_SIMPLE_TRUE : GB_SIMPLE_FALSE);
	gb_cbor_simple(&out, GB_SIMPLE_NULL);
	gb_cbor_simple(&out, GB_SIMPLE_UNDEFINED);
	gb_frame_end(&out, mark);
	gb_post_frame(out.data, out.len);
}

/* Derived from the wait status; like a shell, 128 plus the signal number. */
static void send_exit(struct gb_keeper *keeper) {
	char message[80];
	int status = keeper->wait_status, sig = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	int code = sig ? SHELL_SIGNAL + sig : WEXITSTATUS(status);
	gb_post_exit(code, !keeper->pid);
	if (sig)
		snprintf(message, sizeof message, "ended by signal %d (SIG%s)", sig, sigabbrev_np(sig));
	else
		snprintf(message, sizeof message, "exit status %d", code);
	const struct gb_failure failure = {
	    .name = "ExitError", .message = message, .code = sig ? GB_CODE_SIGNAL : GB_CODE_EXIT_CODE};
	if (code == 0)
		write_success(keeper);
	else
		write_failure(keeper, GB_WIRE_ERROR, &failure);
}

static void send_memory_error(struct gb_keeper *keeper) {
	char message[120];
	snprintf(message, sizeof message, "the run exceeded its memory limit of %llu bytes",
	    (unsigned long long)keeper->memory_limit);
	gb_post_exit(1, !keeper->pid);
	const struct gb_failure failure = {.name = "MemoryError", .message = message, .code = GB_CODE_MEMORY};
	write_failure(keeper, GB_WIRE_MEMORY, &failure);
}

static void send_protocol_error(struct gb_keeper *keeper) {
	const struct gb_failure failure = {.name = "ProtocolError",
	    .message = "the program sent an invalid message, or one larger than the limits of the run",
	    .code = GB_CODE_PROTOCOL};
	gb_post_exit(1, !keeper->pid);
	write_failure(keeper, GB_WIRE_ERROR, &failure);
}

void gb_keeper_end_unused(const struct gb_keeper *keeper, bool unread) {
	bool maybe_unused = !keeper->pid && keeper->n_jobs == 1 && !keeper->wrote_output && !keeper->done &&
			    !keeper->interrupted && !keeper->out_of_memory;
	if (maybe_unused && (keeper->reset || unread))
		_exit(GB_CELL_EXIT_UNUSED);
}

void gb_keeper_settle(struct gb_keeper *keeper, const struct gb_job *job) {
	gb_keeper_check_oom_kills(keeper);
	/* Kill descendants that outlived the program and hold its pipes open. */
	if (!keeper->pid)
		gb_keeper_stop(keeper);
	gb_keeper_drain(keeper);
	send_files(keeper, job);
	if (keeper->out_of_memory)
		send_memory_error(keeper);
	else if (keeper->broken)
		send_protocol_error(keeper);
	else if (!keeper->result.len || !pass_result(keeper))
		send_exit(keeper);
	gb_post_flush();
}

void gb_keeper_fail(struct gb_keeper *keeper, const struct gb_job *job, enum gb_wire_status status,
    const struct gb_failure *failure) {
	gb_keeper_drain(keeper);
	send_files(keeper, job);
	write_failure(keeper, status, failure);
	gb_post_flush();
}
