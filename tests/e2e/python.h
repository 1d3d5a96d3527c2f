/*
 * Python cells without a sandbox: this process prepares the interpreter like a zygote, and forks a child
 * for each cell, which serves jobs over a socket pair.
 *
 *	python_init("stdlib");
 *	struct cell cell = cell_start(false);
 *	struct outcome outcome;
 *	cell_send(&cell, &(struct job){.source = "1 + 1"});
 *	cell_receive(&cell, &outcome);
 *	...
 *	outcome_finish(&outcome);
 *	cell_end(&cell);
 */
#ifndef GB_TESTS_PYTHON_H
#define GB_TESTS_PYTHON_H

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "e2e/python-outcome.h"
#include "glovebox/value.h"
#include "runtime/python/worker.h"
#include "value/cbor.h"
#include "value/codec.h"
#include "value/frame.h"

#ifdef __SANITIZE_ADDRESS__
/* The interpreter is not finalized at the end. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void) {
	return "detect_leaks=0";
}
#endif

struct cell {
	pid_t pid;
	int fd;
	struct gb_frame_reader reader;
	/* Calls that are answered when no other message is pending. */
	struct later {
		uint32_t call, function;
		struct gb_value *value;
	} later[1024];
	unsigned n_later;
	struct gb_values *pool; /* values that are kept for pending calls */
	uint32_t next_call;
	struct {
		uint32_t call, answers;
	} applied[1024]; /* calls of functions of the code, and the calls that their answers answer */
	unsigned n_applied;
};

struct job {
	const char *source;
	const char *filename; /* <runCode> */
	const char *fn;
	const struct gb_value *imports, *globals, *args, *settings, *modules;
	bool report;
	uint64_t memory, output, result;
};

static inline void python_init(const char *profile) {
	setenv("TZ", "UTC0", 1);
	if (!gb_py_worker.init(profile)) {
		printf("Bail out! no interpreter\n");
		exit(1);
	}
}

/* --- a cell --- */

static inline struct cell cell_start(bool primed) {
	struct cell cell = {.pool = gb_values_create(0)};
	int fds[2];
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) != 0)
		abort();
	fflush(stdout);
	cell.pid = fork();
	if (cell.pid == 0) {
		dup2(fds[1], 3);
		syscall(SYS_close_range, 4, ~0u, 0);
		if (primed)
			gb_py_worker.prime();
		gb_py_worker.serve(3);
		_exit(0);
	}
	close(fds[1]);
	cell.fd = fds[0];
	gb_frame_reader_init(&cell.reader, (size_t)1 << 30);
	return cell;
}

/* Kill the cell if it has not ended, and return its wait status. */
static inline int cell_end(struct cell *cell) {
	int status = 0;
	close(cell->fd);
	kill(cell->pid, SIGKILL);
	waitpid(cell->pid, &status, 0);
	gb_frame_reader_finish(&cell->reader);
	gb_values_destroy(cell->pool);
	return status;
}

static inline bool job_grant(void *data, enum gb_type type, uint32_t id) {
	(void)data, (void)type, (void)id;
	return true;
}

static inline bool job_admit(void *data, enum gb_side side, uint32_t id) {
	(void)data, (void)side, (void)id;
	return true;
}

static inline void job_write_roots(struct gb_buf *out, const struct gb_root *roots, size_t n) {
	const struct gb_grants grants = {.grant = job_grant};
	struct gb_err err = {0};
	if (!gb_value_encode_roots(out, roots, n, &grants, &err))
		printf("# %s\n", err.message);
}

static inline void job_write_text(struct gb_buf *out, const char *text) {
	if (text)
		gb_cbor_string(out, text, strlen(text));
	else
		gb_cbor_simple(out, GB_SIMPLE_NULL);
}

static inline void job_write(struct gb_buf *out, const struct job *job) {
	size_t mark = gb_frame_begin(out, GB_FRAME_JOB);
	job_write_text(out, job->source);
	job_write_text(out, job->filename ? job->filename : "<runCode>");
	job_write_text(out, job->fn);
	const uint64_t numbers[] = {
	    (job->fn ? GB_JOB_EXPORT_REQUIRED : 0) | (job->report ? GB_JOB_REPORT : 0),
	    job->memory ? job->memory : 64 << 20, job->output ? job->output : 1 << 20,
	    job->result ? job->result : 16 << 20, 1 << 20, /* reports */
	    1 << 20,                                       /* a call */
	    10000,                                         /* calls */
	    1000,                                          /* in flight */
	    0,                                             /* CPU seconds */
	};
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		gb_cbor_unsigned(out, numbers[i]);
	gb_cbor_unsigned(out, gb_value_count(job->modules));
	for (size_t i = 0; i < gb_value_count(job->modules); i++) {
		job_write_text(out, gb_value_bytes(gb_value_key_at(job->modules, i), NULL));
		job_write_text(out, gb_value_bytes(gb_value_at(job->modules, i), NULL));
	}
	const struct gb_root given[] = {
	    {"imports", GB_OBJECT, job->imports},
	    {"globals", GB_OBJECT, job->globals},
	    {"args", GB_ARRAY, job->args},
	};
	job_write_roots(out, given, sizeof given / sizeof *given);
	job_write_roots(out, &(struct gb_root){"settings", GB_OBJECT, job->settings}, 1);
	gb_frame_end(out, mark);
}

static inline void cell_send(struct cell *cell, const struct job *job) {
	struct gb_buf out;
	gb_buf_init(&out, SIZE_MAX);
	job_write(&out, job);
	gb_write_all(cell->fd, out.data, out.len);
	gb_buf_finish(&out);
}

/* --- host functions by number, as in tests/e2e/host.h --- */

enum {
	HOST_ECHO = 1,
	HOST_LATER,
	HOST_THROW,
	HOST_THROW_LATER,
	HOST_APPLY,
	HOST_NEVER,
	HOST_ALL,
	HOST_THROW_PLAIN,
	HOST_SLOWLY,
	HOST_CALL_LATER,
	HOST_LEND,
	HOST_PROMISE,
};

static inline void cell_answer(
    struct cell *cell, uint32_t call, enum gb_wire_answer how, const struct gb_value *value) {
	const struct gb_grants grants = {.grant = job_grant};
	struct gb_buf out;
	gb_buf_init(&out, SIZE_MAX);
	size_t mark = gb_frame_begin(&out, GB_FRAME_ANSWER);
	gb_cbor_unsigned(&out, call);
	gb_cbor_unsigned(&out, how);
	if (how != GB_WIRE_PROMISED)
		gb_value_encode(&out, value, &grants, NULL);
	gb_frame_end(&out, mark);
	gb_write_all(cell->fd, out.data, out.len);
	gb_buf_finish(&out);
}

/* Call a function of the code; @answers is the call of the code that the return value answers, or
 * UINT32_MAX. */
static inline void cell_apply(
    struct cell *cell, uint32_t function, const struct gb_value *args, uint32_t answers) {
	const struct gb_grants grants = {.grant = job_grant};
	struct gb_buf out;
	gb_buf_init(&out, SIZE_MAX);
	size_t mark = gb_frame_begin(&out, GB_FRAME_CALL);
	gb_cbor_unsigned(&out, cell->next_call);
	gb_cbor_unsigned(&out, function);
	gb_value_encode(&out, args, &grants, NULL);
	gb_frame_end(&out, mark);
	gb_write_all(cell->fd, out.data, out.len);
	gb_buf_finish(&out);
	cell->applied[cell->n_applied].call = cell->next_call++;
	cell->applied[cell->n_applied++].answers = answers;
}

static inline struct gb_value *cell_error(struct cell *cell) {
	return gb_value_error(cell->pool, "TypeError", "the host says no", NULL);
}

static inline void cell_on_call(
    struct cell *cell, uint32_t call, uint32_t function, struct gb_value *args, struct outcome *outcome) {
	struct gb_value *first = (struct gb_value *)gb_value_at(args, 0);
	if (!first)
		first = gb_value_undefined(cell->pool);
	uint32_t id = 0;
	if (function == GB_WIRE_REPORT) {
		char *json = gb_value_to_json(first, 0, NULL, NULL);
		gb_buf_printf(&outcome->reports, "%s\n", json);
		free(json);
		cell_answer(cell, call, GB_WIRE_RETURNED, gb_value_undefined(cell->pool));
		return;
	}
	switch (function) {
	case HOST_ECHO:
		cell_answer(cell, call, GB_WIRE_RETURNED, first);
		return;
	case HOST_ALL:
		cell_answer(cell, call, GB_WIRE_RETURNED, args);
		return;
	case HOST_THROW:
		cell_answer(cell, call, GB_WIRE_THROWN, cell_error(cell));
		return;
	case HOST_THROW_PLAIN:
		cell_answer(cell, call, GB_WIRE_THROWN, gb_value_string(cell->pool, "plain", 5));
		return;
	case HOST_LEND:
		cell_answer(cell, call, GB_WIRE_RETURNED, gb_value_function(cell->pool, HOST_ECHO, "echo"));
		return;
	case HOST_PROMISE:
		cell_answer(cell, call, GB_WIRE_RETURNED, gb_value_promise(cell->pool, HOST_LATER));
		return;
	case HOST_APPLY: {
		struct gb_value *rest = gb_value_array(cell->pool);
		for (size_t i = 1; i < gb_value_count(args); i++)
			gb_value_push(rest, (struct gb_value *)gb_value_at(args, i));
		gb_value_as_callable(first, NULL, &id);
		cell_answer(cell, call, GB_WIRE_PROMISED, NULL);
		cell_apply(cell, id, rest, call);
		return;
	}
	case HOST_CALL_LATER:
		gb_value_as_callable(first, NULL, &id);
		cell_answer(cell, call, GB_WIRE_RETURNED, gb_value_undefined(cell->pool));
		cell_apply(cell, id, gb_value_array(cell->pool), UINT32_MAX);
		return;
	case HOST_SLOWLY:
		break;
	default:
		cell_answer(cell, call, GB_WIRE_PROMISED, NULL);
	}
	if (cell->n_later == sizeof cell->later / sizeof *cell->later)
		abort();
	cell->later[cell->n_later++] = (struct later){call, function, first};
}

static inline void cell_answer_later(struct cell *cell) {
	unsigned n = cell->n_later, kept = 0;
	for (unsigned i = 0; i < n; i++) {
		struct later *later = &cell->later[i];
		if (later->function == HOST_NEVER)
			cell->later[kept++] = *later;
		else if (later->function == HOST_THROW_LATER)
			cell_answer(cell, later->call, GB_WIRE_THROWN, cell_error(cell));
		else
			cell_answer(cell, later->call, GB_WIRE_RETURNED, later->value);
	}
	cell->n_later = kept;
}

/* --- frames from the cell --- */

static inline uint64_t outcome_number(struct gb_cbor_reader *in) {
	struct gb_cbor_item item = {0};
	gb_cbor_next(in, &item);
	return item.argument;
}

static inline char *outcome_text(struct gb_cbor_reader *in) {
	struct gb_cbor_item item = {0};
	gb_cbor_next(in, &item);
	if (item.kind == GB_CBOR_TAG)
		gb_cbor_next(in, &item);
	return item.kind == GB_CBOR_SIMPLE ? NULL : strndup((const char *)item.bytes, item.argument);
}

static inline struct gb_value *outcome_value(struct gb_values *pool, struct gb_cbor_reader *in) {
	const struct gb_decode_limits limits = {
	    .max_depth = 2000, .max_items = 4u << 20, .admits = job_admit};
	struct gb_err err = {0};
	struct gb_value *value = gb_value_decode(pool, in->at, (size_t)(in->end - in->at), &limits, &err);
	if (!value)
		printf("# malformed value: %s\n", err.message);
	return value;
}

static inline void outcome_on_result(struct outcome *outcome, struct gb_cbor_reader in) {
	struct gb_cbor_item item;
	outcome->status = (enum gb_wire_status)outcome_number(&in);
	outcome->peak = outcome_number(&in);
	gb_cbor_next(&in, &item);
	outcome->truncated = item.argument == GB_SIMPLE_TRUE;
	gb_cbor_next(&in, &item);
	if (item.kind == GB_CBOR_ARRAY) {
		for (unsigned i = 0; i < GB_WIRE_ERROR_TEXTS; i++)
			outcome->error[i] = outcome_text(&in);
		outcome->line = (unsigned)outcome_number(&in);
		outcome->column = (unsigned)outcome_number(&in);
	} else {
		outcome->value = outcome_value(outcome->pool, &in);
	}
}

static inline void outcome_on_output(struct outcome *outcome, struct gb_cbor_reader in) {
	struct gb_cbor_item bytes = {0};
	int stream = (int)outcome_number(&in);
	gb_cbor_next(&in, &bytes);
	outcome_hear(outcome, stream, (const char *)bytes.bytes, bytes.argument);
	outcome->n_output_frames++;
}

static inline void outcome_on_display(struct outcome *outcome, struct gb_cbor_reader in) {
	outcome_show(outcome, outcome_value(outcome->pool, &in));
}

static inline void outcome_on_answer(struct cell *cell, struct gb_cbor_reader in) {
	uint32_t call = (uint32_t)outcome_number(&in);
	enum gb_wire_answer how = (enum gb_wire_answer)outcome_number(&in);
	for (unsigned i = 0; i < cell->n_applied; i++) {
		if (cell->applied[i].call != call || cell->applied[i].answers == UINT32_MAX)
			continue;
		cell_answer(cell, cell->applied[i].answers, how, outcome_value(cell->pool, &in));
	}
}

static inline void outcome_on_frame(
    struct cell *cell, const struct gb_frame *frame, struct outcome *outcome) {
	struct gb_cbor_reader in = gb_cbor_reader(frame->payload, frame->n);
	if (frame->type == GB_FRAME_OUTPUT)
		outcome_on_output(outcome, in);
	else if (frame->type == GB_FRAME_DISPLAY)
		outcome_on_display(outcome, in);
	else if (frame->type == GB_FRAME_EXIT)
		outcome->exit_code = (int)outcome_number(&in);
	else if (frame->type == GB_FRAME_RESULT)
		outcome_on_result(outcome, in);
	else if (frame->type == GB_FRAME_ANSWER)
		outcome_on_answer(cell, in);
	else if (frame->type == GB_FRAME_CALL) {
		uint32_t call = (uint32_t)outcome_number(&in), function = (uint32_t)outcome_number(&in);
		cell_on_call(cell, call, function, outcome_value(cell->pool, &in), outcome);
	}
}

/* Receive frames for at most @timeout_ms and handle them. False at the end of the stream. */
static inline bool cell_step(struct cell *cell, struct outcome *outcome, int timeout_ms, bool *ret_any) {
	struct gb_frame frame;
	*ret_any = false;
	struct pollfd fd = {.fd = cell->fd, .events = POLLIN};
	if (poll(&fd, 1, timeout_ms) <= 0)
		return true;
	size_t room;
	char *into = gb_frame_reader_room(&cell->reader, 64 << 10, &room);
	ssize_t n = into ? read(cell->fd, into, room) : 0;
	if (n <= 0)
		return false;
	gb_frame_reader_fed(&cell->reader, (size_t)n);
	*ret_any = true;
	while (gb_frame_reader_next(&cell->reader, &frame) == GB_FRAME_READY) {
		outcome_on_frame(cell, &frame, outcome);
		outcome->ended |= frame.type == GB_FRAME_RESULT;
	}
	return true;
}

/* Wait until the code has written output. */
static inline bool cell_hear(struct cell *cell, struct outcome *outcome) {
	outcome_init(outcome);
	for (bool any = true; any && !outcome->out.len && cell_step(cell, outcome, 60000, &any);)
		;
	return outcome->out.len > 0;
}

/* Wait for the result. False if the cell ended without one, or the wait timed out. */
static inline bool cell_finish(struct cell *cell, struct outcome *outcome) {
	for (int waited = 0; waited < 60000;) {
		bool any;
		int step = cell->n_later ? 2 : 1000;
		if (!cell_step(cell, outcome, step, &any))
			return false;
		if (outcome->ended)
			return true;
		if (!any) {
			waited += step;
			cell_answer_later(cell);
		}
	}
	return false;
}

static inline bool cell_receive(struct cell *cell, struct outcome *outcome) {
	outcome_init(outcome);
	return cell_finish(cell, outcome);
}

#endif
