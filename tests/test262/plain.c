/*
 * test262-plain: what the engine does when nothing is around it. It reads one test from its standard input,
 * evaluates it in a context that has everything, and prints what was logged and how it ended:
 *
 *	in	"module 2\n", then for each file "7 30\n", seven bytes of name, thirty bytes of text; the first is
 *		the entry. Of a "script" the first is the harness, the second the test.
 *	out	"log TEXT" lines, then one of "done", "pending", "link Name: message", "run Name: message"
 *
 * A process does one test; its parent takes a silent end for a broken one.
 */
#include <quickjs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/io.h"

enum { INPUT_MAX = 128 << 20, FILES_MAX = 128, TEXT_MAX = 2000, REJECTIONS_MAX = 1000 };
enum { SECONDS = 20, HEAP_BYTES = 256 << 20, STACK_BYTES = 1 << 20 };

struct file {
	char *name, *text;
	size_t n;
};

static struct {
	bool script;
	struct file files[FILES_MAX];
	unsigned n;
} input;

/* --- input --- */

static char *take(struct gb_str *rest, size_t n) {
	char *copy = n <= rest->n ? malloc(n + 1) : NULL;
	if (!copy)
		exit(2);
	memcpy(copy, rest->p, n);
	copy[n] = '\0';
	*rest = (struct gb_str){rest->p + n, rest->n - n};
	return copy;
}

static void read_input(void) {
	struct gb_buf bytes;
	gb_buf_init(&bytes, INPUT_MAX);
	if (!gb_read_to_end(STDIN_FILENO, "the test", &bytes, NULL) || !gb_buf_c_str(&bytes))
		exit(2);
	struct gb_str rest = gb_buf_str(&bytes), head;
	char mode[16];
	gb_str_cut(&rest, '\n', &head);
	if (sscanf(head.p, "%15s %u\n", mode, &input.n) != 2 || input.n == 0 || input.n > FILES_MAX)
		exit(2);
	input.script = strcmp(mode, "script") == 0;
	for (unsigned i = 0; i < input.n; i++) {
		size_t n_name, n_text;
		gb_str_cut(&rest, '\n', &head);
		if (sscanf(head.p, "%zu %zu\n", &n_name, &n_text) != 2)
			exit(2);
		input.files[i].name = take(&rest, n_name);
		input.files[i].text = take(&rest, n_text);
		input.files[i].n = n_text;
	}
}

/* --- output --- */

static void print_line(const char *word, const char *text) {
	printf("%s%s", word, *text ? " " : "");
	for (; *text; text++)
		putchar(*text == '\n' || *text == '\r' ? ' ' : *text);
	putchar('\n');
}

static JSValue console_log(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv) {
	const char *text = argc ? JS_ToCString(ctx, argv[0]) : NULL;
	if (!text)
		return argc ? JS_EXCEPTION : JS_UNDEFINED;
	print_line("log", text);
	JS_FreeCString(ctx, text);
	return JS_UNDEFINED;
}

static const char *property(JSContext *ctx, JSValueConst object, const char *name) {
	JSValue value = JS_GetPropertyStr(ctx, object, name);
	const char *text = JS_IsString(value) ? JS_ToCString(ctx, value) : NULL;
	JS_FreeValue(ctx, value);
	return text ? text : "";
}

__attribute__((noreturn)) static void end(const char *word, const char *text) {
	print_line(word, text);
	fflush(stdout);
	_exit(0);
}

static void describe(JSContext *ctx, JSValueConst thrown, char ret[TEXT_MAX]) {
	if (JS_IsError(thrown)) {
		snprintf(
		    ret, TEXT_MAX, "%s: %s", property(ctx, thrown, "name"), property(ctx, thrown, "message"));
		return;
	}
	const char *shown = JS_ToCString(ctx, thrown);
	snprintf(ret, TEXT_MAX, "%s", shown ? shown : "what cannot be shown");
}

__attribute__((noreturn)) static void end_thrown(JSContext *ctx, const char *word, JSValueConst thrown) {
	char text[TEXT_MAX];
	describe(ctx, thrown, text);
	end(word, text);
}

/* --- rejections --- */

static struct {
	JSValue promises[REJECTIONS_MAX];
	unsigned n;
} unhandled;

static void on_rejection(
    JSContext *ctx, JSValueConst promise, JSValueConst reason, bool is_handled, void *opaque) {
	if (!is_handled && unhandled.n < REJECTIONS_MAX) {
		unhandled.promises[unhandled.n++] = JS_DupValue(ctx, promise);
		return;
	}
	for (unsigned i = 0; i < unhandled.n; i++)
		if (JS_VALUE_GET_PTR(unhandled.promises[i]) == JS_VALUE_GET_PTR(promise)) {
			unhandled.n--;
			memmove(&unhandled.promises[i], &unhandled.promises[i + 1],
			    (unhandled.n - i) * sizeof *unhandled.promises);
			return;
		}
}

static void tell_unhandled(JSContext *ctx) {
	char text[TEXT_MAX];
	if (unhandled.n == 0)
		return;
	describe(ctx, JS_PromiseResult(ctx, unhandled.promises[0]), text);
	print_line("unhandled", text);
}

/* --- modules --- */

/* Only JavaScript: tests of other types of modules are left out. */
static int check_attributes(JSContext *ctx, JSValueConst attributes) {
	if (!JS_IsObject(attributes))
		return 0;
	JSValue type = JS_GetPropertyStr(ctx, attributes, "type");
	bool given = !JS_IsUndefined(type);
	JS_FreeValue(ctx, type);
	if (given)
		JS_ThrowTypeError(ctx, "unsupported type of module");
	return given ? -1 : 0;
}

static JSModuleDef *load_module(JSContext *ctx, const char *name, void *opaque, JSValueConst attributes) {
	if (check_attributes(ctx, attributes) < 0)
		return NULL;
	/* What a script imports is never the script, even under its name. */
	for (unsigned i = 1; i < input.n; i++) {
		if (strcmp(input.files[i].name, name) != 0)
			continue;
		JSValue code = JS_Eval(ctx, input.files[i].text, input.files[i].n, name,
		    JS_EVAL_TYPE_MODULE | JS_EVAL_FLAG_COMPILE_ONLY);
		if (JS_IsException(code))
			return NULL;
		JSModuleDef *module = JS_VALUE_GET_PTR(code);
		JS_FreeValue(ctx, code);
		return module;
	}
	JS_ThrowReferenceError(ctx, "no module '%s'", name);
	return NULL;
}

/* --- the run --- */

static JSContext *make_context(void) {
	JSRuntime *runtime = JS_NewRuntime();
	if (!runtime)
		exit(2);
	JS_SetMemoryLimit(runtime, HEAP_BYTES);
	JS_SetMaxStackSize(runtime, STACK_BYTES);
	JS_SetHostPromiseRejectionTracker(runtime, on_rejection, NULL);
	JS_SetModuleLoaderFunc2(runtime, NULL, load_module, NULL, NULL);
	JSContext *ctx = JS_NewContext(runtime);
	if (!ctx)
		exit(2);
	JSValue global = JS_GetGlobalObject(ctx), console = JS_NewObject(ctx);
	JS_SetPropertyStr(ctx, console, "log", JS_NewCFunction(ctx, console_log, "log", 1));
	JS_SetPropertyStr(ctx, global, "console", console);
	JS_FreeValue(ctx, global);
	return ctx;
}

static JSValue evaluate(JSContext *ctx, const struct file *file, int flags) {
	JSValue code = JS_Eval(ctx, file->text, file->n, file->name, flags | JS_EVAL_FLAG_COMPILE_ONLY);
	if (JS_IsException(code))
		end_thrown(ctx, "link", JS_GetException(ctx));
	JSValue result = JS_EvalFunction(ctx, code);
	if (JS_IsException(result))
		end_thrown(ctx, flags & JS_EVAL_TYPE_MODULE ? "link" : "run", JS_GetException(ctx));
	return result;
}

static void run_jobs(JSContext *ctx) {
	JSContext *of;
	for (int status; (status = JS_ExecutePendingJob(JS_GetRuntime(ctx), &of)) != 0;)
		if (status < 0)
			JS_FreeValue(of, JS_GetException(of));
}

static void run_scripts(JSContext *ctx) {
	evaluate(ctx, &input.files[0], JS_EVAL_TYPE_GLOBAL);
	if (input.n > 1)
		evaluate(ctx, &input.files[1], JS_EVAL_TYPE_GLOBAL | JS_EVAL_FLAG_STRICT);
	run_jobs(ctx);
	end("done", "");
}

static void run_module(JSContext *ctx) {
	JSValue promise = evaluate(ctx, &input.files[0], JS_EVAL_TYPE_MODULE);
	run_jobs(ctx);
	tell_unhandled(ctx);
	switch (JS_PromiseState(ctx, promise)) {
	case JS_PROMISE_REJECTED:
		end_thrown(ctx, "run", JS_PromiseResult(ctx, promise));
	case JS_PROMISE_PENDING:
		end("pending", "");
	default:
		end("done", "");
	}
}

int main(void) {
	alarm(SECONDS);
	read_input();
	JSContext *ctx = make_context();
	if (input.script)
		run_scripts(ctx);
	else
		run_module(ctx);
	return 0;
}
