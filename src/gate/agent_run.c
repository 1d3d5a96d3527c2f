/* One request, from submission to its result. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/fields.h"
#include "engine/limits.h"
#include "gate/agent_run.h"
#include "glovebox/errors.h"
#include "value/codec.h"
#include "value/wtf8.h"

enum {
	MESSAGE_MAX = 600,
	LONG_RESULT = 64 << 10, /* it is written on a thread: up to 16 MiB take more than 50 ms */
};

char *gb_agent_run_text(struct gb_agent_run *run, const char *text) {
	return text ? gb_arena_copy(&run->texts, gb_str_from(text)) : NULL;
}

/* --- refusals --- */

/* The text may quote the request or a person, so it is masked, and only then cut. */
__attribute__((format(printf, 2, 0))) static const char *refusal_text(
    struct gb_agent_run *run, const char *format, va_list ap) {
	gb_auto_free char *whole = NULL;
	gb_auto_buf struct gb_buf clean;
	gb_buf_init(&clean, GB_AGENT_RUN_TEXTS_MAX);
	int n = vasprintf(&whole, format, ap);
	if (n < 0) {
		whole = NULL;
		return NULL;
	}
	if (!run->rules)
		gb_buf_append(&clean, whole, (size_t)n);
	else
		gb_mask_text(run->rules->filter, (struct gb_str){whole, (size_t)n}, &clean);
	struct gb_str text = gb_buf_str(&clean);
	if (gb_buf_failed(&clean))
		return NULL;
	if (text.n > MESSAGE_MAX)
		for (text.n = MESSAGE_MAX; text.n && ((unsigned char)text.p[text.n] & 0xc0) == 0x80;)
			text.n--;
	return gb_arena_copy(&run->texts, text);
}

void gb_agent_run_refuse(struct gb_agent_run *run, const char *code, const char *format, ...) {
	va_list ap;
	va_start(ap, format);
	const char *kept = refusal_text(run, format, ap);
	va_end(ap);
	run->result = gb_result_instead(GB_DENIED, "Denied", code, kept ? kept : "out of memory", NULL);
	run->state = GB_AGENT_RUN_REFUSED;
	run->stop_code = NULL;
	gb_agent_run_drop_held(run);
	/* A run that did not start takes neither energy nor a call of its turn. */
	gb_agent_run_withdraw(run);
	gb_agent_run_refund(run);
	gb_agent_run_uncount(run);
	gb_agent_run_release_record(run);
	gb_agent_run_leave_session(run);
}

void gb_agent_run_finish(struct gb_agent_run *run) {
	run->state = GB_AGENT_RUN_DONE;
	/* Do not report the id of a session that was never opened. */
	if (!run->session_exists)
		*run->session = '\0';
	if (run->abandoned)
		gb_agent_run_free(run);
	else if (run->request.on_done)
		run->request.on_done(run, &run->result, run->request.data);
}

/* --- the run --- */

/* Deliver the events that may be shown by now, and add them to the summary. */
static void deliver_masked(struct gb_agent_run *run) {
	struct gb_masked *masked = &run->masked;
	struct gb_masked_event event;
	while (gb_masked_next(masked, &event)) {
		struct gb_agent_event masked_event = {.stream = event.stream, .at = event.at, .n = event.n};
		switch (event.kind) {
		case GB_MASKED_OUTPUT:
			masked_event.kind = GB_AGENT_EVENT_OUTPUT;
			gb_summary_output(&run->summary, gb_masked_output(masked, &event));
			break;
		case GB_MASKED_LOG:
			masked_event.kind = GB_AGENT_EVENT_LOG;
			gb_summary_log(&run->summary, &masked->logs[event.at]);
			break;
		case GB_MASKED_DISPLAY:
			masked_event.kind = GB_AGENT_EVENT_DISPLAY;
			masked_event.what = event.display;
			gb_summary_display(&run->summary, event.display);
			break;
		}
		gb_agent_run_deliver(run, masked_event);
	}
}

static void record_if_ready(struct gb_agent_run *run, bool all);

/* After something was put in, or masked on a thread. A callback may end the run, which is recorded when everything that
 * it has said is masked, and may destroy it. */
static void on_progress(struct gb_masked *masked, void *data) {
	struct gb_agent_run *run = data;
	bool in_callback = run->in_callback;
	(void)masked;
	run->in_callback = true;
	deliver_masked(run);
	run->in_callback = in_callback;
	record_if_ready(run, false);
	if (run->was_destroyed && !in_callback)
		gb_agent_run_destroy(run);
}

static void on_log(struct gb_run *engine_run, const struct gb_log *log, void *data) {
	struct gb_agent_run *run = data;
	gb_masked_put_log(&run->masked, log);
	on_progress(&run->masked, run);
}

static void on_output(struct gb_run *engine_run, int stream, const char *bytes, size_t n, void *data) {
	struct gb_agent_run *run = data;
	gb_masked_put_output(&run->masked, stream, bytes, n);
	on_progress(&run->masked, run);
}

static void on_display(struct gb_run *engine_run, const struct gb_value *display, void *data) {
	struct gb_agent_run *run = data;
	gb_masked_put_display(&run->masked, display);
	on_progress(&run->masked, run);
}

static void on_prompt_masked(
    struct gb_masked *masked, const struct gb_value *none, void *prompt, void *data) {
	struct gb_agent_run *run = data;
	(void)masked, (void)none;
	deliver_masked(run);
	if (run->state == GB_AGENT_RUN_RUNNING)
		gb_agent_run_deliver(
		    run, (struct gb_agent_event){.kind = GB_AGENT_EVENT_PROMPT, .what = prompt});
}

static void on_awaiting(struct gb_run *engine_run, const char *prompt, void *data) {
	struct gb_agent_run *run = data;
	gb_gate_drop_inputs(run->gate, run->session);
	if (!run->request.on_prompt)
		return;
	if (prompt)
		prompt = gb_masked_text(&run->masked, prompt, strlen(prompt)).p;
	/* The prompt follows the output before it. */
	gb_masked_put_mark(&run->masked, on_prompt_masked, (void *)prompt);
}

/* Behind the output before it. */
static void on_call_masked(struct gb_masked *masked, const struct gb_value *none, void *call, void *data) {
	struct gb_agent_run *run = data;
	(void)masked, (void)none;
	deliver_masked(run);
	/* Of code that has ended, whose record may be written already, only the memory is left. */
	if (gb_call_run(call))
		gb_agent_run_deliver(run, (struct gb_agent_event){.kind = GB_AGENT_EVENT_CALL, .call = call});
	else
		gb_call_return(call, NULL);
}

static void on_call(struct gb_run *engine_run, struct gb_call *call, void *data) {
	struct gb_agent_run *run = data;
	gb_masked_put_mark(&run->masked, on_call_masked, call);
	on_progress(&run->masked, run);
}

/* Replace a result that is too large as JSON by an error. */
static void withhold(struct gb_agent_run *run, const struct gb_result *result, const char *why) {
	const char *kept = gb_agent_run_text(run, why);
	run->result =
	    gb_result_instead(GB_FAILURE, "RangeError", GB_CODE_RESULT_SIZE, kept ? kept : "", result);
}

static bool record(struct gb_agent_run *run, struct gb_err *err) {
	if (gb_agent_run_record(run, err))
		return true;
	withhold(run, gb_run_result(run->engine_run), err->message);
	gb_written_write(&run->written, &run->result);
	return gb_agent_run_record(run, err);
}

static enum gb_work_end write_result(struct gb_work *work, void *data) {
	struct gb_agent_run *run = gb_container(struct gb_agent_run, written.work, work);
	(void)data;
	gb_written_write(&run->written, &run->result);
	return GB_WORK_DONE;
}

static void on_written(struct gb_work *work) {
	struct gb_agent_run *run = gb_container(struct gb_agent_run, written.work, work);
	struct gb_err err = {0};
	if (record(run, &err))
		return;
	gb_agent_run_refuse(
	    run, GB_CODE_AUDIT, "the run cannot be recorded, so its result is withheld: %s", err.message);
}

static size_t result_size(const struct gb_result *result) {
	size_t size = gb_masker_result_size(result) + result->stdout_bytes + result->stderr_bytes;
	for (size_t i = 0; i < result->n_logs && size < LONG_RESULT; i++)
		size += gb_masker_size(result->logs[i].args);
	return size;
}

static void record_end(struct gb_agent_run *run) {
	const struct gb_gate *gate = run->gate;
	struct gb_work *work = &run->written.work;
	run->awaits_record = false;
	gb_masked_tell(&run->masked, gb_run_result(run->engine_run), &run->result);
	*work = (struct gb_work){.run = write_result, .done = on_written};
	size_t size = gate->work ? result_size(&run->result) : 0;
	if (size >= LONG_RESULT && gate->work(work, size, gate->work_data))
		return;
	write_result(work, NULL);
	on_written(work);
}

static bool has_version(const struct gb_agent_run *run) {
	return !gb_engine_ask_version(run->gate->engine, run->request.run.language);
}

static void record_if_ready(struct gb_agent_run *run, bool all) {
	if (run->awaits_record && gb_masked_is_ready(&run->masked) && (all || has_version(run)))
		record_end(run);
}

void gb_gate_record_ended(struct gb_gate *gate, bool all) {
	gb_list_each(struct gb_agent_run, run, &gate->runs, link) record_if_ready(run, all);
}

static void on_settled(struct gb_run *engine_run, const struct gb_result *result, void *data) {
	struct gb_agent_run *run = data;
	bool in_callback = run->in_callback; /* a callback of this run has ended it */
	gb_agent_run_end_ask(run);
	if (*run->session)
		gb_gate_drop_inputs(run->gate, run->session);
	run->in_callback = true;
	gb_masked_put_end(&run->masked, result);
	deliver_masked(run);
	run->in_callback = in_callback;
	if (!gb_run_begun(engine_run)) {
		gb_agent_run_refund(run);
		gb_agent_run_uncount(run);
	}
	/* A run that has started is not refunded later, and stays counted. */
	run->spent.granted = run->counted = false;
	run->state = GB_AGENT_RUN_RECORDING;
	run->awaits_record = true;
	record_if_ready(run, false);
	if (run->was_destroyed && !in_callback)
		gb_agent_run_destroy(run);
}

static bool start(struct gb_agent_run *run, const struct gb_run_options *options, struct gb_err *err) {
	struct gb_manager *sessions = run->gate->sessions;
	bool opened;
	if (!*run->session)
		return gb_run_start(run->gate->engine, options, &run->engine_run, err);
	if (!gb_agent_run_open_session(run, &opened, err))
		return false;
	if (gb_manager_execute(sessions, run->session, options, &run->engine_run, err))
		return true;
	if (opened)
		gb_manager_kill(sessions, run->session, "its first execution was refused", NULL);
	return false;
}

static void surround(struct gb_agent_run *run, struct gb_run_options *options) {
	const struct gb_surroundings *around = &run->request.around;
	struct gb_value *functions = around->functions ? gb_value_object(run->values) : NULL;
	for (uint32_t i = 0; around->functions && around->functions[i]; i++)
		gb_value_put_key(
		    functions, around->functions[i], gb_value_function(run->values, i, around->functions[i]));
	options->head = around->head;
	options->tail = around->tail;
	if (functions)
		options->globals = functions;
	options->max_calls = around->max_calls;
	options->on_call = on_call;
}

static void start_run(struct gb_agent_run *run) {
	struct gb_engine *engine = run->gate->engine;
	struct gb_run_options options = run->request.run;
	struct gb_err err = {0};
	options.ends_on_input = !run->request.waits_for_input;
	options.is_body = gb_face_rules(run->request.face)->is_body;
	options.is_action = options.last_value = gb_face_rules(run->request.face)->is_action;
	surround(run, &options);
	options.on_log = on_log;
	options.on_output = on_output;
	options.on_display = on_display;
	options.on_awaiting = on_awaiting;
	options.on_settled = on_settled;
	options.data = run;
	run->state = GB_AGENT_RUN_RUNNING;
	if (start(run, &options, &err)) {
		/* The record contains the version; it is determined while the code runs. */
		(void)gb_engine_ask_version(engine, options.language);
		return;
	}
	gb_agent_run_refuse(run,
	    err.code == GB_ELIMIT || err.code == GB_EBUSY ? GB_CODE_TOO_MANY
	    : run->session_exists                         ? GB_CODE_UNKNOWN_SESSION
	    : err.code == GB_ENOENT                       ? GB_CODE_RUNTIME_DISABLED
							  : GB_CODE_REFUSED,
	    "%s", err.message);
}

static void refuse_unrecorded(struct gb_agent_run *run, const char *reason) {
	gb_agent_run_refuse(run, GB_CODE_AUDIT,
	    run->request.is_input ? "the input cannot be recorded, so it was not typed: %s"
				  : "the run cannot be recorded, so it was not started: %s",
	    reason);
}

static void on_reserved(struct gb_store_op *op) {
	struct gb_agent_run *run = gb_agent_run_op_done(op);
	if (!run)
		return;
	run->reservation = gb_take_pointer(&op->reservation);
	if (gb_agent_run_interrupted(run))
		return;
	if (!op->ok)
		refuse_unrecorded(run, op->err.message);
	else if (run->request.is_input)
		gb_agent_run_type(run);
	else
		start_run(run);
}

void gb_agent_run_begin(struct gb_agent_run *run) {
	struct gb_err err = {0};
	size_t bytes;
	if (run->gate->is_failing) {
		refuse_unrecorded(run, "earlier audit records could not be written yet");
	} else if (!gb_agent_run_needed(run, &bytes, &err)) {
		refuse_unrecorded(run, err.message);
	} else {
		struct gb_store_op *op = gb_store_op_create(GB_STORE_RESERVE);
		if (op)
			op->bytes = bytes;
		gb_agent_run_step(run, op, op, on_reserved);
	}
}

/* --- the request --- */

bool gb_agent_run_adopt(struct gb_agent_run *run) {
	struct gb_rules *before = run->rules;
	run->rules = gb_rules_ref(run->gate->rules);
	gb_masked_finish(&run->masked);
	gb_rules_unref(before);
	bool ok = gb_agent_run_limit(run) && gb_agent_run_describe(run);
	const struct gb_run_options *options = &run->request.run;
	ok &= gb_masked_init(
	    &run->masked, run->rules->filter, gb_masked_output_max(options), gb_masked_value_max(options));
	gb_masked_use_threads(&run->masked, &(struct gb_masked_threads){.work = run->gate->work,
						.work_data = run->gate->work_data,
						.on_progress = on_progress,
						.data = run});
	return ok;
}

void gb_agent_run_enter(struct gb_agent_run *run) {
	run->state = GB_AGENT_RUN_ADMITTING;
	run->trusts = false;
	gb_agent_run_withdraw(run);
	gb_agent_run_refund(run);
	gb_agent_run_release_record(run);
	if (!gb_agent_run_adopt(run))
		gb_agent_run_refuse(run, GB_CODE_REFUSED, "out of memory");
	else if (gb_agent_run_admit(run) && gb_agent_run_resolve_session(run) &&
		 (!run->request.is_input || gb_agent_run_bind_input(run)))
		gb_agent_run_count(run);
}

bool gb_gate_submit(struct gb_gate *gate, const struct gb_gate_request *request, struct gb_agent_run **ret,
    struct gb_err *err) {
	if (!gb_gate_check_request(request, err))
		return false;
	struct gb_agent_run *run = calloc(1, sizeof *run);
	if (!run)
		return gb_fail(err, GB_ENOMEM, 0, "a request");
	run->gate = gate;
	gb_arena_init(&run->texts, GB_AGENT_RUN_TEXTS_MAX);
	gb_list_append(&gate->runs, &run->link);
	run->values = gb_values_create(GB_AGENT_RUN_TEXTS_MAX);
	if (!run->values || !gb_agent_run_copy_request(run, request))
		gb_fail(err, GB_ENOMEM, 0, "a request");
	else if (gb_agent_run_describe_inputs(run, err)) {
		*ret = run;
		gb_agent_run_enter(run);
		return true;
	}
	gb_agent_run_free(run);
	return false;
}

bool gb_agent_run_done(const struct gb_agent_run *run) {
	return run->state == GB_AGENT_RUN_DONE;
}

const struct gb_result *gb_agent_run_result(const struct gb_agent_run *run) {
	return gb_agent_run_done(run) ? &run->result : NULL;
}

size_t gb_agent_run_memory(const struct gb_agent_run *run) {
	return (run->engine_run ? gb_run_memory(run->engine_run) : 0) +
	       (run->masked.values ? gb_masked_memory(&run->masked) : 0);
}

uint64_t gb_agent_run_timeout_ms(const struct gb_agent_run *run) {
	return run->request.run.timeout_ms;
}

const char *gb_agent_run_session(const struct gb_agent_run *run) {
	return run->session;
}

void gb_agent_run_free(struct gb_agent_run *run) {
	gb_list_remove(&run->link);
	gb_agent_run_end_ask(run);
	gb_agent_run_drop_held(run);
	gb_run_destroy(run->engine_run);
	gb_masked_finish(&run->masked);
	gb_rules_unref(run->rules);
	gb_values_destroy(run->values);
	gb_arena_finish(&run->texts);
	run->is_freed = true;
	if (!run->n_ops)
		free(run);
}

/* A run in a session is interrupted, so that the session continues. */
void gb_agent_run_stop(struct gb_agent_run *run, const char *reason) {
	if (!*run->session || !gb_run_begun(run->engine_run))
		gb_run_terminate(run->engine_run, reason);
	else
		gb_run_interrupt(run->engine_run);
}

void gb_agent_run_terminate(struct gb_agent_run *run, const char *reason) {
	if (run->state == GB_AGENT_RUN_RUNNING)
		gb_agent_run_stop(run, reason);
	else if (run->state == GB_AGENT_RUN_ADMITTING || run->state == GB_AGENT_RUN_WAITING)
		gb_agent_run_stop_admission(
		    run, GB_CODE_WITHDRAWN, reason ? reason : "the request was withdrawn");
}

void gb_agent_run_destroy(struct gb_agent_run *run) {
	if (!run)
		return;
	run->request.on_pending = NULL;
	run->request.on_done = NULL;
	run->request.on_log = NULL;
	run->request.on_output = NULL;
	run->request.on_display = NULL;
	run->request.on_prompt = NULL;
	run->request.on_call = NULL;
	/* The code that runs the callback still uses it, and it must be recorded. */
	run->was_destroyed = run->in_callback;
	if (run->in_callback)
		return;
	gb_agent_run_terminate(run, "its request was withdrawn");
	/* Otherwise it is freed when its record is written or abandoned. */
	if (run->state == GB_AGENT_RUN_DONE)
		gb_agent_run_free(run);
	else
		run->abandoned = true;
}
