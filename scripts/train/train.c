/*
 * The training of quickjs-ng: scripts/quickjs runs this with an engine that counts executed code, and the
 * compiler optimizes the release build by the counts. It runs many small modules, as the worker does, and a
 * few times one that uses much of the language, which is given as a file.
 *
 *	train MODULE
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "quickjs.h"

enum { SMALL_RUNS = 3000, LARGE_RUNS = 3 };

static void die(const char *what) {
	fprintf(stderr, "train: %s\n", what);
	exit(1);
}

/* Compile in one context and run in another, like the worker (src/runtime/js). */
static void run_module(JSContext *compiler, JSContext *guest, const char *source, const char *name) {
	JSValue compiled =
	    JS_Eval(compiler, source, strlen(source), name, JS_EVAL_TYPE_MODULE | JS_EVAL_FLAG_COMPILE_ONLY);
	size_t n;
	uint8_t *bytes =
	    JS_IsException(compiled) ? NULL : JS_WriteObject(compiler, &n, compiled, JS_WRITE_OBJ_BYTECODE);
	if (!bytes)
		die("a module does not compile");
	JS_FreeValue(compiler, compiled);
	JSValue code = JS_ReadObject(guest, bytes, n, JS_READ_OBJ_BYTECODE);
	js_free(compiler, bytes);
	if (JS_IsException(code) || JS_ResolveModule(guest, code) < 0)
		die("a module cannot be read");
	JSModuleDef *module = JS_VALUE_GET_PTR(code);
	JSValue done = JS_EvalFunction(guest, code);
	for (JSContext *ctx; JS_ExecutePendingJob(JS_GetRuntime(guest), &ctx) > 0;)
		;
	if (JS_IsException(done) || JS_PromiseState(guest, done) != JS_PROMISE_FULFILLED)
		die("a module fails");
	JS_FreeValue(guest, done);
	JSValue exports = JS_GetModuleNamespace(guest, module);
	JS_FreeValue(guest, JS_GetPropertyStr(guest, exports, "default"));
	JS_FreeValue(guest, exports);
}

int main(int argc, char **argv) {
	static const char *const small[] = {
	    "export default 1+1",
	    "export default function (a, b) { return a + b }",
	    "const o = {a: 1, b: [1, 2, 3], c: 'text'}; export default o.b.map((x) => x * o.a)",
	    "export default async () => { const x = await Promise.resolve(2); return `${x} things` }",
	};
	static char large[1 << 16];
	FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;
	if (!file || fread(large, 1, sizeof large - 1, file) == 0)
		die("usage: train MODULE");
	fclose(file);
	JSRuntime *runtime = JS_NewRuntime();
	JSContext *compiler = JS_NewContext(runtime), *guest = JS_NewContext(runtime);
	char name[32];
	for (int i = 0; i < SMALL_RUNS; i++) {
		snprintf(name, sizeof name, "<small %d>", i);
		/* Mostly the first, in which the fixed cost of a run dominates. */
		run_module(compiler, guest, small[i % 7 < 4 ? 0 : i % 7 - 3], name);
	}
	for (int i = 0; i < LARGE_RUNS; i++) {
		snprintf(name, sizeof name, "<large %d>", i);
		run_module(compiler, guest, large, name);
	}
	JS_FreeContext(guest);
	JS_FreeContext(compiler);
	JS_FreeRuntime(runtime);
	return 0;
}
