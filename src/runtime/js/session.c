#include "runtime/js/session.h"

#include <stdio.h>
#include <string.h>

enum { ORDINARY = JS_PROP_C_W_E };

/* Globals become ordinary properties, except console, which is a global binding and is assigned. */
static bool define(
    struct gb_js *js, JSValueConst global, JSValueConst globals, JSAtom name, JSContext **ret_failed_in) {
	JSContext *ctx = js->guest;
	JSValue value = JS_GetProperty(ctx, globals, name);
	const char *text = JS_AtomToCString(ctx, name);
	bool is_console = text && strcmp(text, "console") == 0;
	JS_FreeCString(ctx, text);
	*ret_failed_in = ctx;
	if (!is_console)
		return JS_DefinePropertyValue(ctx, global, name, value, ORDINARY | JS_PROP_THROW) >= 0;
	JSValue alone = JS_NewObject(ctx);
	JS_DefinePropertyValue(ctx, alone, name, value, JS_PROP_C_W_E);
	bool ok = gb_js_define_globals(js, alone, ret_failed_in);
	JS_FreeValue(ctx, alone);
	return ok;
}

bool gb_js_session_globals(struct gb_js *js, JSValueConst globals, JSContext **ret_failed_in) {
	JSContext *ctx = js->guest;
	JSPropertyEnum *names;
	uint32_t n;
	*ret_failed_in = ctx;
	if (JS_GetOwnPropertyNames(ctx, &names, &n, globals, JS_GPN_STRING_MASK | JS_GPN_ENUM_ONLY) < 0)
		return false;
	JSValue global = JS_GetGlobalObject(ctx);
	bool ok = true;
	for (uint32_t i = 0; i < n && ok; i++)
		ok = define(js, global, globals, names[i].atom, ret_failed_in);
	JS_FreePropertyEnum(ctx, names, n);
	JS_FreeValue(ctx, global);
	return ok;
}

/* --- declared names --- */

/* True if the property exists; *ret_writable: whether it is writable. */
static bool find_own(JSContext *ctx, JSValueConst global, JSAtom name, bool *ret_writable) {
	JSPropertyDescriptor found;
	if (JS_GetOwnProperty(ctx, &found, global, name) <= 0)
		return false;
	*ret_writable = (found.flags & JS_PROP_GETSET) || (found.flags & JS_PROP_WRITABLE);
	JS_FreeValue(ctx, found.value);
	JS_FreeValue(ctx, found.getter);
	JS_FreeValue(ctx, found.setter);
	return true;
}

/* Create the property before the script's own var does: a property created by var could be neither made
 * constant nor redeclared. A name declared by let or const is reset. */
static void prepare_name(JSContext *ctx, JSValueConst global, JSAtom name, enum gb_ts_declared_kind kind) {
	bool writable = true;
	bool exists = find_own(ctx, global, name, &writable);
	/* Non-writable, non-configurable properties of the language stay unchanged: then the declaration
	 * fails, as it must. */
	if (!exists || kind != GB_TS_DECLARED_VAR)
		JS_DefinePropertyValue(ctx, global, name, JS_UNDEFINED, ORDINARY);
	else if (!writable)
		JS_DefineProperty(ctx, global, name, JS_UNDEFINED, JS_UNDEFINED, JS_UNDEFINED,
		    JS_PROP_HAS_WRITABLE | JS_PROP_WRITABLE);
	JS_FreeValue(ctx, JS_GetException(ctx));
}

static void seal_name(JSContext *ctx, JSValueConst global, JSAtom name, enum gb_ts_declared_kind kind) {
	if (kind == GB_TS_DECLARED_CONST)
		JS_DefineProperty(
		    ctx, global, name, JS_UNDEFINED, JS_UNDEFINED, JS_UNDEFINED, JS_PROP_HAS_WRITABLE);
	JS_FreeValue(ctx, JS_GetException(ctx));
}

static void for_each_name(struct gb_js *js, const struct gb_js_source *source,
    void (*act)(JSContext *, JSValueConst, JSAtom, enum gb_ts_declared_kind)) {
	JSContext *ctx = js->guest;
	JSValue global = JS_GetGlobalObject(ctx);
	for (size_t i = 0; i < source->output.n_declared; i++) {
		const struct gb_ts_declared *declared = &source->output.declared[i];
		const char *text = source->written.p + declared->start;
		/* Contains escapes: the text is not the name. */
		if (memchr(text, '\\', declared->length))
			continue;
		JSAtom name = JS_NewAtomLen(ctx, text, declared->length);
		act(ctx, global, name, declared->kind);
		JS_FreeAtom(ctx, name);
	}
	JS_FreeValue(ctx, global);
}

/* --- a job --- */

JSValue gb_js_session_begin(struct gb_js *js, struct gb_js_session *session, JSContext **ret_failed_in) {
	const char *name = js->modules->job->filename.p;
	session->jobs++;
	session->source = NULL;
	/* Functions outlive their job: give each job a distinct name for stack traces. */
	if (name[0] == '<') {
		snprintf(session->name, sizeof session->name, "%.100s[%u]", name, session->jobs);
		name = session->name;
	}
	JSValue code = gb_js_modules_enter_session(js, name, &session->source, ret_failed_in);
	if (JS_IsException(code))
		return code;
	*ret_failed_in = js->guest;
	for_each_name(js, session->source, prepare_name);
	return JS_EvalFunction(js->guest, code);
}

void gb_js_session_commit(struct gb_js *js, const struct gb_js_session *session) {
	for_each_name(js, session->source, seal_name);
}
