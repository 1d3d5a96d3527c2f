/*
 * The attacks of tests/data/js/escapes.txt in a naive sandbox, where they succeed: a common design with two
 * realms of one engine, which passes the host's own objects to the code. Attacks that fail in Glovebox
 * succeed in this sandbox; otherwise the table would prove nothing.
 */
#include "cases.h"
#include "quickjs.h"
#include "tap.h"

/* The host's realm. The functions are those of host.h, by their numbers. */
static const char host_source[] =
    "globalThis.secret = 'the secret of the host';\n"
    "let globals = {};\n"
    "const no = () => { throw new TypeError('the host says no') };\n"
    "const functions = {\n"
    "  1: x => x,\n"
    "  2: x => Promise.resolve(x),\n"
    "  3: no,\n"
    "  4: () => new Promise(no),\n"
    "  5: (f, ...args) => { const table = {secret, f}; return Promise.resolve(table.f(...args)) },\n"
    "  7: (...args) => args,\n"
    "  11: () => functions[1],\n"
    "  12: () => Promise.resolve(),\n"
    "  13: (object, key) => key in object || key in {},\n"
    "  14: options => {\n"
    "    if (options.path != '/allowed') throw new TypeError('denied');\n"
    "    return 'opened ' + options.path;\n"
    "  },\n"
    "  15: () => globals.api.role,\n"
    "};\n"
    "const revive = (key, value) => value?.$type === 'function' ? functions[value.id] : value;\n"
    "options => {\n"
    "  const given = JSON.parse(options || '{}', revive);\n"
    "  return globals = {console: {log() {}}, ...given.globals, ...given.imports};\n"
    "}\n";

static const char *text_of(JSContext *ctx, JSValue value, char *text, size_t n) {
	const char *said = JS_ToCString(ctx, value);
	snprintf(text, n, "%s", said ? said : "?");
	JS_FreeCString(ctx, said);
	JS_FreeValue(ctx, value);
	return text;
}

static void run_jobs(JSRuntime *runtime) {
	JSContext *ctx;
	while (JS_ExecutePendingJob(runtime, &ctx) != 0)
		;
}

/* The host's objects themselves become the globals of the code. */
static void hand_over(JSContext *host, JSContext *guest, const char *options) {
	JSValue make = JS_Eval(host, host_source, sizeof host_source - 1, "<host>", JS_EVAL_TYPE_GLOBAL);
	JSValue argument = JS_NewString(host, options);
	JSValue given = JS_Call(host, make, JS_UNDEFINED, 1, (JSValueConst *)&argument);
	CHECK(!JS_IsException(given));
	JSValue global = JS_GetGlobalObject(guest);
	JSPropertyEnum *names = NULL;
	uint32_t n = 0;
	JS_GetOwnPropertyNames(host, &names, &n, given, JS_GPN_STRING_MASK | JS_GPN_ENUM_ONLY);
	for (uint32_t i = 0; i < n; i++)
		JS_SetProperty(guest, global, names[i].atom, JS_GetProperty(host, given, names[i].atom));
	JS_FreePropertyEnum(host, names, n);
	JS_FreeValue(guest, global);
	JS_FreeValue(host, given);
	JS_FreeValue(host, argument);
	JS_FreeValue(host, make);
}

static void run_naively(const struct one_case *c, JSRuntime *runtime, JSContext *guest) {
	char said[1024];
	JSValue module = JS_Eval(
	    guest, c->source, strlen(c->source), "<code>", JS_EVAL_TYPE_MODULE | JS_EVAL_FLAG_COMPILE_ONLY);
	if (!CHECK(!JS_IsException(module))) {
		printf("#   %s\n", text_of(guest, JS_GetException(guest), said, sizeof said));
		return;
	}
	JSModuleDef *definition = JS_VALUE_GET_PTR(module);
	JSValue done = JS_EvalFunction(guest, module);
	run_jobs(runtime);
	if (!CHECK_INT(JS_PromiseState(guest, done), JS_PROMISE_FULFILLED))
		printf("#   %s\n", text_of(guest, JS_PromiseResult(guest, done), said, sizeof said));
	JSValue exports = JS_GetModuleNamespace(guest, definition);
	JSValue result = JS_GetPropertyStr(guest, exports, "default");
	JSValue json = JS_JSONStringify(guest, result, JS_UNDEFINED, JS_UNDEFINED);
	CHECK_STR(text_of(guest, json, said, sizeof said), c->naive);
	JS_FreeValue(guest, result);
	JS_FreeValue(guest, exports);
	JS_FreeValue(guest, done);
}

static void run_case(void) {
	const struct one_case *c = tap.data;
	JSRuntime *runtime = JS_NewRuntime();
	JSContext *host = JS_NewContext(runtime), *guest = JS_NewContext(runtime);
	hand_over(host, guest, c->options);
	run_naively(c, runtime, guest);
	JS_FreeContext(guest);
	JS_FreeContext(host);
	JS_FreeRuntime(runtime);
}

static bool add_case(const struct one_case *c) {
	if (!*c->naive)
		return false;
	tap_add(c->name, run_case, c);
	return true;
}

__attribute__((constructor)) static void set_up(void) {
	read_cases("escapes", add_case);
}
