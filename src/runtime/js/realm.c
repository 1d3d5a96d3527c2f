#include "runtime/js/realm.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "runtime/js/box.h"
#include "runtime/js/codec.h"
#include "runtime/js/heap.h"
#include "runtime/js/modules.h"
#include "runtime/js/web.h"
#include "sandbox/worker.h"

#ifdef __SANITIZE_ADDRESS__ /* frames of the interpreter are several times larger */
enum { STACK_BYTES = 4 << 20 };
#else
enum { STACK_BYTES = 2 << 20 };
#endif
enum { SCRIPT_MAX = 1 << 20 };

/* --- randomness --- */

static uint64_t random_state[2];

static uint64_t next_random(void) {
	/* xorshift128+, like Math.random in other engines. Not cryptographically secure. */
	uint64_t a = random_state[0], b = random_state[1];
	random_state[0] = b;
	a ^= a << 23;
	random_state[1] = a ^ b ^ (a >> 17) ^ (b >> 26);
	return random_state[1] + b;
}

static JSValue math_random(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv) {
	(void)this_value, (void)argc, (void)argv;
	return JS_NewFloat64(ctx, (double)(next_random() >> 11) * 0x1p-53);
}

void gb_js_reseed(struct gb_js *js) {
	(void)js;
	while (getrandom(random_state, sizeof random_state, 0) != sizeof random_state)
		;
	random_state[0] |= 1; /* never all zero */
}

/* --- console --- */

static JSValue console_call(
    JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv, int level) {
	(void)this_value;
	struct gb_js *js = JS_GetRuntimeOpaque(JS_GetRuntime(ctx));
	if (js->on_log)
		js->on_log(js, (unsigned)level, argc, argv);
	return JS_UNDEFINED;
}

static JSValue make_console(JSContext *ctx) {
	static const char *const levels[] = {"log", "info", "warn", "error", "debug"};
	JSValue console = JS_NewObject(ctx);
	for (size_t i = 0; i < GB_COUNT(levels); i++) {
		JSCFunctionType call = {.generic_magic = console_call};
		JS_DefinePropertyValueStr(ctx, console, levels[i],
		    JS_NewCFunction2(ctx, call.generic, levels[i], 0, JS_CFUNC_generic_magic, (int)i),
		    JS_PROP_C_W_E);
	}
	return console;
}

/* --- structuredClone --- */

static JSValue structured_clone(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv) {
	(void)this_value;
	struct gb_js *js = JS_GetRuntimeOpaque(JS_GetRuntime(ctx));
	if (argc < 1)
		return JS_ThrowTypeError(ctx, "structuredClone takes a value");
	if (argc > 1 && !JS_IsUndefined(argv[1]))
		return JS_ThrowTypeError(
		    ctx, "structuredClone here takes no options: nothing can be transferred");
	return gb_js_clone(js, argv[0]);
}

/* --- rejections --- */

static void forget_rejection(struct gb_js_rejections *list, JSContext *ctx, JSValueConst promise) {
	for (uint32_t i = 0; i < list->n; i++) {
		if (JS_VALUE_GET_PTR(list->promises[i]) == JS_VALUE_GET_PTR(promise)) {
			JS_FreeValue(ctx, list->promises[i]);
			memmove(&list->promises[i], &list->promises[i + 1],
			    (list->n - i - 1) * sizeof *list->promises);
			list->n--;
			return;
		}
	}
}

static void on_rejection(
    JSContext *ctx, JSValueConst promise, JSValueConst reason, bool is_handled, void *opaque) {
	(void)reason;
	/* Further ones add no information. */
	enum { MOST = 1000 };
	struct gb_js_rejections *list = &((struct gb_js *)opaque)->unhandled;
	if (is_handled) {
		forget_rejection(list, ctx, promise);
		return;
	}
	if (list->n == list->cap && list->cap < MOST) {
		uint32_t cap = list->cap ? list->cap * 2 : 8;
		JSValue *promises = realloc(list->promises, cap * sizeof *promises);
		if (!promises)
			return;
		list->promises = promises;
		list->cap = cap;
	}
	if (list->n < list->cap)
		list->promises[list->n++] = JS_DupValue(ctx, promise);
}

void gb_js_clear_rejections(struct gb_js *js) {
	for (uint32_t i = 0; i < js->unhandled.n; i++)
		JS_FreeValue(js->guest, js->unhandled.promises[i]);
	js->unhandled.n = 0;
	if (js->has_uncaught)
		JS_FreeValue(js->guest, js->uncaught);
	js->has_uncaught = false;
}

/* Only the first one is reported. Exceptions caused by an interrupt are ignored. */
void gb_js_keep_uncaught(struct gb_js *js, JSValue thrown) {
	if (js->has_uncaught || js->interrupted) {
		JS_FreeValue(js->guest, thrown);
		return;
	}
	js->uncaught = thrown;
	js->has_uncaught = true;
}

/* --- contexts --- */

static JSContext *make_compiler(JSRuntime *runtime) {
	JSContext *ctx = JS_NewContextRaw(runtime);
	if (!ctx || JS_AddIntrinsicBaseObjects(ctx) || JS_AddIntrinsicEval(ctx))
		return NULL;
	JS_AddIntrinsicRegExpCompiler(ctx);
	return ctx;
}

static JSContext *make_guest(JSRuntime *runtime) {
	JSContext *ctx = JS_NewContextRaw(runtime);
	bool made = ctx && !JS_AddIntrinsicBaseObjects(ctx) && !JS_AddIntrinsicDate(ctx) &&
		    !JS_AddIntrinsicRegExp(ctx) && !JS_AddIntrinsicJSON(ctx) && !JS_AddIntrinsicProxy(ctx) &&
		    !JS_AddIntrinsicMapSet(ctx) && !JS_AddIntrinsicTypedArrays(ctx) &&
		    !JS_AddIntrinsicPromise(ctx) && !JS_AddIntrinsicBigInt(ctx) &&
		    !JS_AddIntrinsicWeakRef(ctx);
	return made ? ctx : NULL;
}

static void delete_global(JSContext *ctx, JSValueConst global, const char *name) {
	JSAtom atom = JS_NewAtom(ctx, name);
	JS_DeleteProperty(ctx, global, atom, 0);
	JS_FreeAtom(ctx, atom);
}

/* globalThis contains what ECMAScript defines, except what reaches beyond the run, plus structuredClone. */
static void define_guest_globals(JSContext *ctx) {
	JSValue global = JS_GetGlobalObject(ctx);
	delete_global(ctx, global, "eval");
	delete_global(ctx, global, "SharedArrayBuffer");
	delete_global(ctx, global, "Atomics");
	delete_global(ctx, global, "InternalError"); /* specific to this engine */
	JS_DefinePropertyValueStr(ctx, global, "structuredClone",
	    JS_NewCFunction(ctx, structured_clone, "structuredClone", 1),
	    JS_PROP_WRITABLE | JS_PROP_CONFIGURABLE);
	JSValue math = JS_GetPropertyStr(ctx, global, "Math");
	JS_DefinePropertyValueStr(ctx, math, "random", JS_NewCFunction(ctx, math_random, "random", 0),
	    JS_PROP_WRITABLE | JS_PROP_CONFIGURABLE);
	JS_FreeValue(ctx, math);
	JS_FreeValue(ctx, global);
}

static int is_interrupted(JSRuntime *runtime, void *opaque) {
	(void)runtime;
	return ((struct gb_js *)opaque)->interrupted;
}

static bool open_guest(struct gb_js *js) {
	js->guest = make_guest(js->runtime);
	if (!js->guest)
		return false;
	define_guest_globals(js->guest);
	gb_js_take_intrinsics(js);
	JSContext *failed_in;
	JSValue globals = JS_NewObject(js->guest);
	JS_DefinePropertyValueStr(js->guest, globals, "console", make_console(js->guest), JS_PROP_C_W_E);
	bool defined = gb_js_define_globals(js, globals, &failed_in);
	JS_FreeValue(js->guest, globals);
	js->has_console = defined;
	return defined && (!gb_worker_has_network() || gb_js_web_install(js)) &&
	       (!gb_worker_has_workdir() || gb_js_box_install(js));
}

bool gb_js_init(struct gb_js *js) {
	js->runtime = JS_NewRuntime2(&gb_heap_functions, NULL);
	if (!js->runtime)
		return false;
	JS_SetRuntimeOpaque(js->runtime, js);
	JS_SetMaxStackSize(js->runtime, STACK_BYTES);
	JS_SetCanBlock(js->runtime, false);
	JS_SetHostPromiseRejectionTracker(js->runtime, on_rejection, js);
	JS_SetInterruptHandler(js->runtime, is_interrupted, js);
	gb_js_modules_install(js);
	js->compiler = make_compiler(js->runtime);
	return js->compiler && open_guest(js);
}

bool gb_js_renew_guest(struct gb_js *js) {
	gb_js_web_drop(js);
	gb_js_box_drop(js);
	gb_js_drop_intrinsics(js);
	gb_js_clear_rejections(js);
	JS_FreeContext(js->guest);
	JS_RunGC(js->runtime);
	js->has_console = false;
	return open_guest(js);
}

JSValue gb_js_compile(struct gb_js *js, const char *source, size_t n, const char *filename,
    enum gb_js_kind kind, JSContext **ret_failed_in) {
	static const int kinds[] = {
	    [GB_JS_MODULE] = JS_EVAL_TYPE_MODULE,
	    [GB_JS_SCRIPT] = JS_EVAL_TYPE_GLOBAL,
	    [GB_JS_SESSION] = JS_EVAL_TYPE_GLOBAL | JS_EVAL_FLAG_ASYNC | JS_EVAL_FLAG_STRICT,
	};
	*ret_failed_in = js->compiler;
	int flags = JS_EVAL_FLAG_COMPILE_ONLY | kinds[kind];
	JSValue compiled = JS_Eval(js->compiler, source, n, filename, flags);
	if (JS_IsException(compiled))
		return compiled;
	size_t size;
	uint8_t *bytecode = JS_WriteObject(js->compiler, &size, compiled, JS_WRITE_OBJ_BYTECODE);
	JS_FreeValue(js->compiler, compiled);
	if (!bytecode)
		return JS_EXCEPTION;
	*ret_failed_in = js->guest;
	JSValue code = JS_ReadObject(js->guest, bytecode, size, JS_READ_OBJ_BYTECODE);
	js_free(js->compiler, bytecode);
	return code;
}

JSValue gb_js_call_script(
    struct gb_js *js, const char *filename, struct gb_str text, int argc, JSValueConst *argv) {
	JSContext *failed_in;
	gb_auto_buf struct gb_buf script;
	gb_buf_init(&script, text.n + 1);
	gb_buf_append_str(&script, text);
	if (!gb_buf_c_str(&script))
		return JS_ThrowOutOfMemory(js->guest);
	JSValue code = gb_js_compile(js, script.data, script.len, filename, GB_JS_SCRIPT, &failed_in);
	JSValue function = JS_IsException(code) ? code : JS_EvalFunction(js->guest, code);
	if (JS_IsException(function))
		return function;
	JSValue value = JS_Call(js->guest, function, JS_UNDEFINED, argc, argv);
	JS_FreeValue(js->guest, function);
	return value;
}

/* How the script receives the values: a property of globalThis that is deleted before guest code runs. */
#define CARRIER "\xe2\x81\xa3glovebox"

/* "let a=globalThis['…'].a;": a global binding that is not a property of globalThis. The existing binding
 * console is assigned instead. */
static bool write_bindings(struct gb_js *js, JSValueConst globals, struct gb_buf *script) {
	JSContext *ctx = js->guest;
	JSPropertyEnum *names;
	uint32_t n;
	if (JS_GetOwnPropertyNames(ctx, &names, &n, globals, JS_GPN_STRING_MASK | JS_GPN_ENUM_ONLY) < 0)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		const char *name = JS_AtomToCString(ctx, names[i].atom);
		const char *let = js->has_console && name && strcmp(name, "console") == 0 ? "" : "let ";
		if (name)
			gb_buf_printf(script, "%s%s=globalThis['" CARRIER "'].%s;", let, name, name);
		JS_FreeCString(ctx, name);
	}
	JS_FreePropertyEnum(ctx, names, n);
	return gb_buf_c_str(script);
}

bool gb_js_define_globals(struct gb_js *js, JSValueConst globals, JSContext **ret_failed_in) {
	JSContext *ctx = js->guest;
	*ret_failed_in = ctx;
	gb_auto_buf struct gb_buf script;
	gb_buf_init(&script, SCRIPT_MAX);
	if (!write_bindings(js, globals, &script))
		return false;
	if (script.len == 0)
		return true;
	JSValue code = gb_js_compile(js, script.data, script.len, "<globals>", GB_JS_SCRIPT, ret_failed_in);
	if (JS_IsException(code))
		return false;
	JSValue global = JS_GetGlobalObject(ctx);
	JS_SetPropertyStr(ctx, global, CARRIER, JS_DupValue(ctx, globals));
	JSValue done = JS_EvalFunction(ctx, code);
	delete_global(ctx, global, CARRIER);
	JS_FreeValue(ctx, global);
	bool ok = !JS_IsException(done);
	JS_FreeValue(ctx, done);
	return ok;
}

void gb_js_run_jobs(struct gb_js *js) {
	JSContext *ctx;
	/* An exception in a promise reaction rejects a promise. In other jobs nothing can catch it. */
	for (int status; (status = JS_ExecutePendingJob(js->runtime, &ctx)) != 0;)
		if (status < 0)
			gb_js_keep_uncaught(js, JS_GetException(ctx));
}
