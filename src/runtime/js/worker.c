/*
 * The JavaScript worker: reads one job, evaluates it as an ES module, sends the result.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "glovebox/errors.h"
#include "runtime/failure.h"
#include "runtime/job.h"
#include "runtime/js/bridge.h"
#include "runtime/js/codec.h"
#include "runtime/js/heap.h"
#include "runtime/js/json_text.h"
#include "runtime/js/modules.h"
#include "runtime/js/realm.h"
#include "runtime/js/report.h"
#include "runtime/js/session.h"
#include "runtime/js/web.h"
#include "runtime/version.h"
#include "runtime/wire.h"
#include "sandbox/worker.h"
#include "value/cbor.h"
#include "value/frame.h"

enum { ANSWER_SLACK = 256 << 10, GARBAGE = 1 << 20 };

/* The state of the process, which serves one run or one session. */
static struct {
	struct gb_job job;
	struct gb_js_session session;
	bool is_session;
	bool space_limited; /* RLIMIT_AS is set */
	jmp_buf next;       /* continues a session after the result of a job was sent */
	JSValue outcome;    /* of a session's job, or undefined */
	JSValue arguments;  /* an array, or undefined */
	struct gb_js js;
	struct gb_js_bridge bridge;
	struct gb_js_modules modules;
	int fd;
	uint64_t output_left;
	bool truncated;
	bool primed;
	struct gb_buf out;
	volatile sig_atomic_t n_jobs;          /* jobs read so far */
	volatile sig_atomic_t interrupted_job; /* number of the last interrupted job */
} worker;

/* --- results --- */

/* Send the buffer. A session continues with its next job; never called from inside the engine. A run waits
 * for the host to kill it: exiting by itself would tear down this memory on the CPU on which the host waits
 * for the result. */
__attribute__((noreturn)) static void finish(void) {
	/* Never send a partial result. Exit: a run that waits for its end without a result would never be
	 * killed. */
	if (gb_buf_failed(&worker.out))
		_exit(1);
	if (!gb_write_all(worker.fd, worker.out.data, worker.out.len))
		_exit(0);
	if (worker.is_session)
		longjmp(worker.next, 1);
	gb_read_all(worker.fd, &(char){0}, 1);
	_exit(0);
}

/* Discard the unsent result; its replacement is short. */
static struct gb_buf *discard_result(void) {
	gb_buf_clear(&worker.out);
	worker.out.max = ANSWER_SLACK;
	return &worker.out;
}

__attribute__((noreturn)) static void fail(
    enum gb_wire_status status, const char *name, const char *code, const char *message) {
	struct gb_buf *out = discard_result();
	const struct gb_failure failure = {.name = name, .message = message, .code = code};
	gb_failure_write(out, status, gb_heap_peak(), worker.truncated, &failure);
	finish();
}

/* Pending jobs of the interrupted code are aborted, so that none of them reaches a later job. */
__attribute__((noreturn)) static void fail_interrupted(void) {
	gb_js_run_jobs(&worker.js);
	fail(GB_WIRE_ERROR, "InterruptedError", GB_CODE_INTERRUPTED, "the run was interrupted");
}

/* Fail with the exception pending in @ctx. */
__attribute__((noreturn)) static void fail_thrown(enum gb_wire_status status, JSContext *ctx) {
	if (worker.is_session) {
		/* Run the code's pending jobs now, so that they do not run as part of the next job. */
		JSValue thrown = JS_GetException(ctx);
		gb_js_run_jobs(&worker.js);
		JS_Throw(ctx, thrown);
	}
	if (worker.js.interrupted) {
		JS_FreeValue(ctx, JS_GetException(ctx));
		fail_interrupted();
	}
	gb_js_write_exception(discard_result(), &worker.js, ctx, status, gb_heap_peak(), worker.truncated);
	finish();
}

static void on_heap_exceeded(void) {
	/* Called from inside the allocator: this must not use the JavaScript heap, and the session ends. */
	worker.is_session = false;
	fail(GB_WIRE_MEMORY, "MemoryError", GB_CODE_MEMORY, "the run needed more memory than its limit");
}

static void on_log(struct gb_js *js, unsigned level, int argc, JSValueConst *argv) {
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	gb_auto_buf struct gb_buf line;
	gb_buf_init(&line, worker.output_left);
	size_t mark = gb_frame_begin(&line, GB_FRAME_LOG);
	gb_cbor_unsigned(&line, level);
	gb_cbor_float(&line, (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6);
	JSValue list = JS_NewArrayFrom(js->guest, 0, NULL);
	for (int i = 0; i < argc; i++)
		JS_DefinePropertyValueUint32(
		    js->guest, list, (uint32_t)i, JS_DupValue(js->guest, argv[i]), JS_PROP_C_W_E);
	size_t begin = line.len;
	bool shown = gb_js_encode(js, list, GB_JS_LENIENT, "args", &line);
	if (!shown)
		JS_FreeValue(js->guest, JS_GetException(js->guest));
	if (!shown && !gb_buf_failed(&line)) {
		/* Replace the partial graph by a note. */
		line.len = begin;
		gb_cbor_array(&line, 1);
		gb_cbor_string(&line, "[cannot be shown]", strlen("[cannot be shown]"));
	}
	JS_FreeValue(js->guest, list);
	gb_frame_end(&line, mark);
	/* A getter may have logged something meanwhile. */
	if (gb_buf_failed(&line) || line.len > worker.output_left) {
		/* Over the output limit: the run continues, further output is dropped. */
		worker.truncated = true;
		worker.output_left = 0;
		return;
	}
	worker.output_left -= line.len;
	if (!gb_write_all(worker.fd, line.data, line.len))
		_exit(0);
}

/* --- interrupts --- */

static void on_interrupt(int signal_number, siginfo_t *info, void *context) {
	(void)signal_number, (void)context;
	if (info->si_code != SI_QUEUE)
		return;
	worker.interrupted_job = info->si_value.sival_int;
	if (worker.interrupted_job == worker.n_jobs)
		worker.js.interrupted = true;
}

/* In this order, since an interrupt may arrive between any two lines. */
static void count_job(void) {
	worker.n_jobs++;
	worker.js.interrupted = false;
	if (worker.interrupted_job == worker.n_jobs)
		worker.js.interrupted = true;
}

/* --- the run --- */

/* The process limits are the second line of defence: the heap limit is reached first, and gives a better
 * error. */
static void limit(const struct gb_job *job) {
	gb_heap_limit(job->memory, on_heap_exceeded);
	/* A garbage collection walks all inherited objects, and so copies their pages. Most runs end before
	 * their cyclic garbage (the rest is freed by reference counting) is worth that. */
	size_t garbage = job->memory / 8 < GARBAGE ? job->memory / 8 : GARBAGE;
	JS_SetGCThreshold(worker.js.runtime, gb_heap_used() + garbage);
#ifndef __SANITIZE_ADDRESS__
	rlim_t space =
	    (rlim_t)(job->memory * 2 + 2 * job->result + 8 * job->call + job->n * 4 + (128u << 20));
	struct rlimit now = {0};
	/* The hard limit cannot be raised: later jobs of a session cannot have much more memory than its
	 * first. */
	if (worker.space_limited && getrlimit(RLIMIT_AS, &now) == 0 && now.rlim_max < space)
		space = now.rlim_max;
	if (setrlimit(RLIMIT_AS, &(struct rlimit){space, worker.space_limited ? now.rlim_max : space}) != 0)
		_exit(1);
	worker.space_limited = true;
#endif
	if (job->cpu_seconds && !worker.is_session) {
		const struct rlimit cpu = {job->cpu_seconds, job->cpu_seconds + 1};
		if (setrlimit(RLIMIT_CPU, &cpu) != 0)
			_exit(1);
	}
}

/* An exception thrown in a microtask fails the run. */
static void check_uncaught(void) {
	if (!worker.js.has_uncaught)
		return;
	worker.js.has_uncaught = false;
	JS_Throw(worker.js.guest, worker.js.uncaught);
	fail_thrown(GB_WIRE_ERROR, worker.js.guest);
}

/* Wait for @promise, which is consumed, and return its fulfilled value. Fails the run otherwise. */
static JSValue await(JSValue promise) {
	JSContext *ctx = worker.js.guest;
	gb_js_run_jobs(&worker.js);
	while (JS_PromiseState(ctx, promise) == JS_PROMISE_PENDING) {
		if (worker.js.interrupted)
			fail_interrupted();
		check_uncaught();
		if (!gb_js_web_turn(&worker.js))
			fail(GB_WIRE_ERROR, "DeadlockError", GB_CODE_NEVER_SETTLES,
			    "a promise that the run waits for can never settle: nothing is left that could "
			    "resolve it");
		gb_js_run_jobs(&worker.js);
	}
	bool rejected = JS_PromiseState(ctx, promise) == JS_PROMISE_REJECTED;
	JSValue result = JS_PromiseResult(ctx, promise);
	JS_FreeValue(ctx, promise);
	if (rejected) {
		JS_Throw(ctx, result);
		fail_thrown(GB_WIRE_ERROR, ctx);
	}
	return result;
}

/* Resolve promises and other thenables to a value. */
static JSValue settle(JSValue value) {
	JSContext *ctx = worker.js.guest;
	if (!JS_IsObject(value)) {
		/* Jobs that the function has queued must run too. */
		gb_js_run_jobs(&worker.js);
		return value;
	}
	JSValue functions[2];
	JSValue promise = JS_NewPromiseCapability(ctx, functions);
	if (JS_IsException(promise))
		fail_thrown(GB_WIRE_ERROR, ctx);
	JS_FreeValue(ctx, JS_Call(ctx, functions[0], JS_UNDEFINED, 1, (JSValueConst *)&value));
	JS_FreeValue(ctx, functions[0]);
	JS_FreeValue(ctx, functions[1]);
	JS_FreeValue(ctx, value);
	return await(promise);
}

static JSModuleDef *evaluate(void) {
	JSContext *ctx = worker.js.guest, *failed_in;
	JSModuleDef *module = gb_js_modules_enter(&worker.js, &failed_in);
	if (!module)
		fail_thrown(GB_WIRE_LINK_ERROR, failed_in);
	JSValue code = JS_MKPTR(JS_TAG_MODULE, module);
	if (JS_ResolveModule(ctx, code) < 0)
		fail_thrown(GB_WIRE_LINK_ERROR, ctx);
	JSValue done = JS_EvalFunction(ctx, code);
	if (JS_IsException(done)) {
		gb_js_modules_record_mismatch(&worker.js);
		fail_thrown(GB_WIRE_LINK_ERROR, ctx);
	}
	JS_FreeValue(ctx, await(done));
	return module;
}

/* Decode the job's imports, globals (returned) and arguments. All are decoded before any code runs, since a
 * value that occurs in several of them is the same value. Empty ones are undefined. */
static JSValue decode_inputs(const struct gb_job *job) {
	JSValue globals = JS_UNDEFINED;
	JSValue *const inputs[] = {&worker.modules.imports, &globals, &worker.arguments};
	struct gb_cbor_reader in = job->values;
	struct gb_js_met met = {0};
	bool ok = true;
	for (size_t i = 0; i < GB_COUNT(inputs) && ok; i++) {
		JSValue input = gb_js_decode_root(&worker.js, &in, &met);
		ok = !JS_IsException(input);
		if (ok)
			*inputs[i] = input;
	}
	gb_js_met_finish(&worker.js, &met);
	if (!ok)
		fail_thrown(GB_WIRE_ERROR, worker.js.guest);
	return globals;
}

/* Freeze @value with everything in it. What is frozen already is met again: values may be shared. */
static void freeze(JSContext *ctx, JSValueConst value) {
	JSPropertyEnum *names;
	uint32_t n;
	if (!JS_IsObject(value) || JS_IsExtensible(ctx, value) <= 0 || JS_PreventExtensions(ctx, value) < 0 ||
	    JS_GetOwnPropertyNames(ctx, &names, &n, value, JS_GPN_STRING_MASK) < 0)
		return;
	for (uint32_t i = 0; i < n; i++) {
		JSValue item = JS_GetProperty(ctx, value, names[i].atom);
		freeze(ctx, item);
		JS_FreeValue(ctx, item);
		JS_DefineProperty(ctx, value, names[i].atom, JS_UNDEFINED, JS_UNDEFINED, JS_UNDEFINED,
		    JS_PROP_HAS_WRITABLE | JS_PROP_HAS_CONFIGURABLE);
	}
	JS_FreePropertyEnum(ctx, names, n);
}

/* Of an action: the state of its workflow, which code cannot change. */
static void freeze_state(JSValueConst globals) {
	JSContext *ctx = worker.js.guest;
	JSValue state = JS_GetPropertyStr(ctx, globals, "state");
	freeze(ctx, state);
	JS_FreeValue(ctx, state);
	JS_FreeValue(ctx, JS_GetException(ctx));
}

/* The object "secrets", if the run has placeholders of any. */
static void add_secrets(const struct gb_job *job, JSValueConst globals) {
	JSContext *ctx = worker.js.guest;
	struct gb_cbor_reader in;
	struct gb_cbor_item name, value;
	uint64_t n = gb_job_object_setting(job, GB_SETTING_SECRETS, &in);
	JSValue secrets = JS_NewObject(ctx);
	for (uint64_t i = 0; i < n && gb_cbor_next(&in, &name) && gb_cbor_next(&in, &value); i++) {
		JSAtom atom = JS_NewAtomLen(ctx, (const char *)name.bytes, name.argument);
		JSValue text = JS_NewStringLen(ctx, (const char *)value.bytes, value.argument);
		if (JS_DefinePropertyValue(ctx, secrets, atom, text, JS_PROP_C_W_E) < 0)
			fail_thrown(GB_WIRE_ERROR, ctx);
		JS_FreeAtom(ctx, atom);
	}
	freeze(ctx, secrets);
	if (JS_DefinePropertyValueStr(ctx, globals, "secrets", secrets, JS_PROP_C_W_E) < 0)
		fail_thrown(GB_WIRE_ERROR, ctx);
}

static bool has_secrets(const struct gb_job *job, JSValueConst globals) {
	JSContext *ctx = worker.js.guest;
	struct gb_cbor_reader in;
	if (!gb_worker_has_network() || !gb_job_object_setting(job, GB_SETTING_SECRETS, &in))
		return false;
	/* A variable of the caller comes first. */
	JSAtom atom = JS_NewAtom(ctx, "secrets");
	const bool taken = !JS_IsUndefined(globals) && JS_HasProperty(ctx, globals, atom) > 0;
	JS_FreeAtom(ctx, atom);
	return !taken;
}

static void define_globals(const struct gb_job *job, JSValue globals) {
	JSContext *ctx = worker.js.guest, *failed_in = ctx;
	if (has_secrets(job, globals)) {
		if (JS_IsUndefined(globals))
			globals = JS_NewObject(ctx);
		add_secrets(job, globals);
	}
	if (job->flags & GB_JOB_REPORT) {
		if (JS_IsUndefined(globals))
			globals = JS_NewObject(ctx);
		JSValue name = JS_NewString(ctx, "report");
		JSValue report = gb_js_bridge_function(&worker.js, GB_WIRE_REPORT, name);
		JS_FreeValue(ctx, name);
		if (JS_DefinePropertyValueStr(ctx, globals, "report", report, JS_PROP_C_W_E) < 0)
			fail_thrown(GB_WIRE_ERROR, ctx);
	}
	if (!JS_IsUndefined(globals) && gb_job_setting(job, GB_SETTING_ACTION))
		freeze_state(globals);
	bool ok =
	    JS_IsUndefined(globals) || (worker.is_session ? gb_js_session_globals : gb_js_define_globals)(
					   &worker.js, globals, &failed_in);
	if (!ok)
		fail_thrown(GB_WIRE_LINK_ERROR, failed_in);
	JS_FreeValue(ctx, globals);
}

static JSValue call_export(const struct gb_job *job, JSValue function) {
	JSContext *ctx = worker.js.guest;
	if (!JS_IsFunction(ctx, function)) {
		if (JS_IsUndefined(worker.arguments))
			return function;
		char message[256];
		snprintf(message, sizeof message,
		    "export '%.100s' is not a function, so it takes no arguments",
		    job->export_name.p ? job->export_name.p : "default");
		fail(GB_WIRE_ERROR, "TypeError", GB_CODE_NOT_A_FUNCTION, message);
	}
	JSValue returned = JS_IsUndefined(worker.arguments)
			       ? JS_Call(ctx, function, JS_UNDEFINED, 0, NULL)
			       : gb_js_apply_list(&worker.js, function, worker.arguments);
	if (JS_IsException(returned))
		fail_thrown(GB_WIRE_ERROR, ctx);
	JS_FreeValue(ctx, function);
	return returned;
}

/* The requested export, or undefined if it is missing and not required. */
static JSValue select_export(const struct gb_job *job, JSModuleDef *module) {
	JSContext *ctx = worker.js.guest;
	const char *name = job->export_name.p ? job->export_name.p : "default";
	JSValue exports = JS_GetModuleNamespace(ctx, module);
	JSAtom atom = JS_NewAtom(ctx, name);
	JSValue selected = JS_UNDEFINED;
	if (JS_HasProperty(ctx, exports, atom) > 0) {
		selected = JS_GetProperty(ctx, exports, atom);
	} else if (job->flags & GB_JOB_EXPORT_REQUIRED) {
		/* clear the specifier of a failed import that the code has handled */
		worker.modules.specifier[0] = '\0';
		JS_ThrowReferenceError(ctx, "the module has no export named '%s'", name);
		fail_thrown(GB_WIRE_LINK_ERROR, ctx);
	}
	JS_FreeAtom(ctx, atom);
	JS_FreeValue(ctx, exports);
	if (JS_IsException(selected))
		fail_thrown(GB_WIRE_ERROR, ctx);
	return selected;
}

static bool write_answer(const struct gb_job *job, JSValueConst value, enum gb_js_encode_mode mode) {
	struct gb_buf *out = &worker.out;
	gb_buf_finish(out);
	gb_buf_init(out, job->result + 64);
	size_t mark = gb_frame_begin(out, GB_FRAME_RESULT);
	gb_cbor_unsigned(out, GB_WIRE_SUCCESS);
	gb_cbor_unsigned(out, gb_heap_peak());
	gb_cbor_simple(out, worker.truncated ? GB_SIMPLE_TRUE : GB_SIMPLE_FALSE);
	gb_cbor_simple(out, GB_SIMPLE_NULL);
	bool ok = gb_js_encode(&worker.js, value, mode, "result", out);
	gb_frame_end(out, mark);
	return ok && !gb_buf_failed(out);
}

static void answer(const struct gb_job *job, JSValueConst value) {
	if (write_answer(job, value, GB_JS_STRICT))
		return;
	/* A last expression may have any value without being meant as a result. */
	bool is_last = worker.is_session ? !job->export_name.p : worker.modules.has_value;
	if (is_last && JS_HasException(worker.js.guest)) {
		JS_FreeValue(worker.js.guest, JS_GetException(worker.js.guest));
		if (write_answer(job, value, GB_JS_LENIENT))
			return;
	}
	if (JS_HasException(worker.js.guest))
		fail_thrown(GB_WIRE_ERROR, worker.js.guest);
	fail(GB_WIRE_ERROR, "RangeError", GB_CODE_RESULT_SIZE,
	    "the result is larger than this run may return");
}

/* An unhandled rejection fails the run. */
static void check_rejections(void) {
	check_uncaught();
	const struct gb_js_rejections *unhandled = &worker.js.unhandled;
	if (unhandled->n == 0)
		return;
	JS_Throw(worker.js.guest, JS_PromiseResult(worker.js.guest, unhandled->promises[0]));
	fail_thrown(GB_WIRE_ERROR, worker.js.guest);
}

/* Replace @value by its JSON text. */
static JSValue to_json_text(const struct gb_job *job, JSValueConst writer, JSValue value) {
	bool cut;
	JSValue text = gb_js_json_text(&worker.js, writer, value, job->result, &cut);
	if (JS_IsException(text))
		fail_thrown(GB_WIRE_ERROR, worker.js.guest);
	worker.truncated |= cut;
	JS_FreeValue(worker.js.guest, value);
	return text;
}

static void run(const struct gb_job *job) {
	bool is_body = job->flags & GB_JOB_BODY;
	worker.arguments = JS_UNDEFINED;
	gb_js_modules_open(&worker.js, &worker.modules, job);
	define_globals(job, decode_inputs(job));
	JSValue writer = is_body ? gb_js_json_writer(&worker.js) : JS_UNDEFINED;
	if (JS_IsException(writer))
		fail_thrown(GB_WIRE_ERROR, worker.js.guest);
	JSModuleDef *module = evaluate();
	JSValue selected = select_export(job, module);
	/* A function is not called only because it is the last expression. */
	if (!worker.modules.has_value || !JS_IsUndefined(worker.arguments))
		selected = call_export(job, selected);
	selected = settle(selected);
	if (is_body)
		selected = to_json_text(job, writer, selected);
	check_rejections();
	answer(job, selected);
	JS_FreeValue(worker.js.guest, selected);
}

/* --- a session --- */

/* The result of the job: the value of its last statement, or the return value of a session function. */
static JSValue select_outcome(const struct gb_job *job, JSValue holder) {
	JSContext *ctx = worker.js.guest;
	JSValue selected = JS_GetPropertyStr(ctx, holder, "value");
	JS_FreeValue(ctx, holder);
	if (!job->export_name.p)
		return JS_IsUndefined(worker.arguments) ? selected : call_export(job, selected);
	JS_FreeValue(ctx, selected);
	JSValue global = JS_GetGlobalObject(ctx);
	selected = JS_GetPropertyStr(ctx, global, job->export_name.p);
	JS_FreeValue(ctx, global);
	if (JS_IsUndefined(selected)) {
		JS_ThrowReferenceError(ctx, "the session has nothing named '%s'", job->export_name.p);
		fail_thrown(GB_WIRE_LINK_ERROR, ctx);
	}
	return call_export(job, selected);
}

static void run_in_session(const struct gb_job *job) {
	JSContext *failed_in;
	gb_js_modules_reopen(&worker.js, &worker.modules, job);
	if (gb_job_setting(job, "reset") && !gb_js_renew_guest(&worker.js))
		_exit(1);
	define_globals(job, decode_inputs(job));
	JSValue promise = gb_js_session_begin(&worker.js, &worker.session, &failed_in);
	if (JS_IsException(promise))
		fail_thrown(worker.session.source ? GB_WIRE_ERROR : GB_WIRE_LINK_ERROR, failed_in);
	JSValue holder = await(promise);
	gb_js_session_commit(&worker.js, &worker.session);
	worker.outcome = settle(select_outcome(job, holder));
	check_rejections();
	answer(job, worker.outcome);
}

/* Reset the state and read the next job. */
static void clean_up(void) {
	JS_FreeValue(worker.js.guest, worker.outcome);
	JS_FreeValue(worker.js.guest, worker.arguments);
	worker.outcome = worker.arguments = JS_UNDEFINED;
	gb_js_web_end_job(&worker.js);
	gb_js_clear_rejections(&worker.js);
	gb_js_sources_keep_mappings(&worker.modules.sources);
	gb_job_finish(&worker.job);
	free(worker.job.bytes);
	gb_js_bridge_next_job(&worker.js, &worker.job);
	count_job();
	worker.output_left = worker.job.output;
	worker.truncated = false;
	gb_buf_finish(discard_result());
	gb_buf_reserve(&worker.out, 1024);
	gb_heap_reset_peak();
}

__attribute__((noreturn)) static void serve_session(void) {
	worker.outcome = worker.arguments = JS_UNDEFINED;
	if (setjmp(worker.next))
		clean_up();
	limit(&worker.job);
	run_in_session(&worker.job);
	finish();
}

/* --- the functions of a worker --- */

static bool init(const char *profile) {
	(void)profile;
	worker.fd = -1;
	gb_buf_init(&worker.out, ANSWER_SLACK);
	if (!gb_js_init(&worker.js))
		return false;
	gb_heap_settle(worker.js.runtime);
	return true;
}

/* Run a small job to its end and discard the result: the pages that every run writes are then already copied,
 * and caches warm, before the job arrives. */
static void prime(void) {
	static const char source[] = "export default 1+1";
	worker.primed = true;
	gb_js_reseed(&worker.js);
	/* The module stays loaded; a random name prevents imports of it. */
	uint64_t secret[2];
	while (getrandom(secret, sizeof secret, 0) != sizeof secret)
		;
	char name[48];
	snprintf(name, sizeof name, "<prime %016llx%016llx>", (unsigned long long)secret[0],
	    (unsigned long long)secret[1]);
	struct gb_buf frame;
	gb_buf_init(&frame, 4096);
	gb_job_write_bare(&frame, source, name);
	struct gb_job job;
	gb_job_parse(&job, (uint8_t *)frame.data, frame.len);
	run(&job);
	gb_js_sources_finish(&worker.modules.sources);
	gb_job_finish(&job);
	gb_buf_finish(&frame);
	gb_buf_clear(&worker.out);
	gb_heap_touch();
}

static void serve(int fd) {
	worker.fd = fd;
	struct gb_job *job = &worker.job;
	gb_job_read(fd, job);
	count_job();
	worker.is_session = job->flags & GB_JOB_SESSION;
	if (!worker.primed)
		gb_js_reseed(&worker.js);
	worker.output_left = job->output;
	worker.js.on_log = on_log;
	/* Reserve memory for an out-of-memory report. */
	gb_buf_reserve(&worker.out, 1024);
	gb_js_bridge_open(&worker.js, &worker.bridge, fd, job);
	if (worker.is_session)
		serve_session();
	limit(job);
	run(job);
	finish();
}

static void version(char *ret, size_t n) {
	gb_version_write("quickjs-ng", JS_GetVersion(), ret, n);
}

int main(int argc, char **argv) {
	(void)argv;
	if (argc > 1)
		return gb_version_print(version);
	static const struct gb_worker functions = {
	    .init = init, .prime = prime, .serve = serve, .on_interrupt = on_interrupt, .version = version};
	return gb_zygote_main(&functions);
}
