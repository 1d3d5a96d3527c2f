/* Functions of the fresh realm, looked up by name before guest code can replace them. */
#include "base/cleanup.h"
#include "runtime/js/codec.h"

/* "Map.prototype.set", or with a leading '@' the getter of the last name: "@RegExp.prototype.flags". */
static JSValue look_up(JSContext *ctx, const char *path) {
	bool getter = path[0] == '@';
	struct gb_str rest = gb_str_from(path + getter), name;
	JSValue at = JS_GetGlobalObject(ctx);
	while (gb_str_cut(&rest, '.', &name) || name.n) {
		JSAtom atom = JS_NewAtomLen(ctx, name.p, name.n);
		JSValue next;
		if (getter && rest.n == 0) {
			JSPropertyDescriptor slot = {.getter = JS_UNDEFINED};
			JS_GetOwnProperty(ctx, &slot, at, atom);
			JS_FreeValue(ctx, slot.value);
			JS_FreeValue(ctx, slot.setter);
			next = slot.getter;
		} else {
			next = JS_GetProperty(ctx, at, atom);
		}
		JS_FreeAtom(ctx, atom);
		JS_FreeValue(ctx, at);
		at = next;
		if (rest.n == 0)
			break;
	}
	return at;
}

const char *const gb_js_error_names[GB_JS_ERRORS] = {
    "EvalError", "RangeError", "ReferenceError", "SyntaxError", "TypeError", "URIError"};

void gb_js_take_intrinsics(struct gb_js *js) {
	struct gb_js_intrinsics *own = &js->intrinsics;
	const struct {
		JSValue *slot;
		const char *path;
	} table[] = {
	    {&own->object_prototype, "Object.prototype"},
	    {&own->map, "Map"},
	    {&own->map_set, "Map.prototype.set"},
	    {&own->map_for_each, "Map.prototype.forEach"},
	    {&own->set, "Set"},
	    {&own->set_add, "Set.prototype.add"},
	    {&own->set_for_each, "Set.prototype.forEach"},
	    {&own->date_get_time, "Date.prototype.getTime"},
	    {&own->bigint, "BigInt"},
	    {&own->bigint_to_string, "BigInt.prototype.toString"},
	    {&own->data_view, "DataView"},
	    {&own->view_buffer, "@DataView.prototype.buffer"},
	    {&own->view_offset, "@DataView.prototype.byteOffset"},
	    {&own->view_length, "@DataView.prototype.byteLength"},
	    {&own->typed_array_length, "@Int8Array.__proto__.prototype.length"},
	    {&own->aggregate_error, "AggregateError"},
	    {&own->error, "Error"},
	    {&own->regexp, "RegExp"},
	    {&own->regexp_source, "@RegExp.prototype.source"},
	    {&own->regexp_flags, "@RegExp.prototype.flags"},
	};
	for (size_t i = 0; i < GB_COUNT(table); i++)
		*table[i].slot = look_up(js->guest, table[i].path);
	for (size_t i = 0; i < GB_JS_ERRORS; i++)
		own->errors[i] = look_up(js->guest, gb_js_error_names[i]);
	/* -1n - n, the CBOR encoding of a negative bigint; the engine's C interface has no bigint
	 * arithmetic. */
	static const char invert[] = "n => ~n";
	JSContext *failed_in;
	JSValue code = gb_js_compile(js, invert, sizeof invert - 1, "<glovebox>", GB_JS_SCRIPT, &failed_in);
	own->bigint_invert = JS_EvalFunction(js->guest, code);
}

void gb_js_drop_intrinsics(struct gb_js *js) {
	/* The struct consists of JSValues only. */
	JSValue *values = (JSValue *)&js->intrinsics;
	for (size_t i = 0; i < sizeof js->intrinsics / sizeof *values; i++)
		JS_FreeValue(js->guest, values[i]);
}
