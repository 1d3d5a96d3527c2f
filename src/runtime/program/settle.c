/* How a run went, as the host is told. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "runtime/program/keeper.h"
#include "runtime/program/post.h"
#include "sandbox/protocol.h"
#include "value/cbor.h"

enum { RESULT_MAX = 1 << 20, SHELL_SIGNAL = 128 };

static void send_files(struct gb_keeper *keeper, const struct gb_job *job) {
	if (!gb_files_send(&keeper->files, job->result, gb_post_frame))
		gb_post_cut();
}

/* The program's own RESULT, with what only the keeper knows: how much memory there was, and whether output
 * was cut. Its value, which may be large, is not copied. */
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

/* By its wait status. A shell's numbers: a signal is 128 and more. */
static void tell_exit(struct gb_keeper *keeper) {
	char message[80];
	int status = keeper->wait_status, sig = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	int code = sig ? SHELL_SIGNAL + sig : WEXITSTATUS(status);
	gb_post_exit(code, !keeper->pid);
	if (sig)
		snprintf(message, sizeof message, "ended by signal %d (SIG%s)", sig, sigabbrev_np(sig));
	else
		snprintf(message, sizeof message, "exit status %d", code);
	const struct gb_failure failure = {
	    .name = "ExitError", .message = message, .code = sig ? "signal" : "exit_code"};
	if (code == 0)
		write_success(keeper);
	else
		write_failure(keeper, GB_WIRE_ERROR, &failure);
}

static void tell_memory(struct gb_keeper *keeper) {
	char message[120];
	snprintf(message, sizeof message,
	    "the run needed more than the %llu bytes of memory that it may have",
	    (unsigned long long)keeper->memory_limit);
	gb_post_exit(1, !keeper->pid);
	const struct gb_failure failure = {.name = "MemoryError", .message = message, .code = "memory"};
	write_failure(keeper, GB_WIRE_MEMORY, &failure);
}

static void tell_broken(struct gb_keeper *keeper) {
	const struct gb_failure failure = {.name = "ProtocolError",
	    .message = "the program sent bytes that are not a message, or more than the run may say at once",
	    .code = "protocol"};
	gb_post_exit(1, !keeper->pid);
	write_failure(keeper, GB_WIRE_ERROR, &failure);
}

void gb_keeper_end_unused(const struct gb_keeper *keeper, bool unread) {
	bool may_be = !keeper->pid && keeper->n_jobs == 1 && !keeper->heard && !keeper->done &&
		      !keeper->interrupted && !keeper->out_of_memory;
	if (may_be && (keeper->reset || unread))
		_exit(GB_CELL_EXIT_UNUSED);
}

void gb_keeper_settle(struct gb_keeper *keeper, const struct gb_job *job) {
	gb_keeper_look_for_kills(keeper);
	/* What is left of a program that has ended, with its pipes in hand. */
	if (!keeper->pid)
		gb_keeper_stop(keeper);
	gb_keeper_drain(keeper);
	send_files(keeper, job);
	if (keeper->out_of_memory)
		tell_memory(keeper);
	else if (keeper->broken)
		tell_broken(keeper);
	else if (!keeper->result.len || !pass_result(keeper))
		tell_exit(keeper);
	gb_post_flush();
}

void gb_keeper_fail(struct gb_keeper *keeper, const struct gb_job *job, enum gb_wire_status status,
    const struct gb_failure *failure) {
	gb_keeper_drain(keeper);
	send_files(keeper, job);
	write_failure(keeper, status, failure);
	gb_post_flush();
}
