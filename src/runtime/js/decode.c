#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "glovebox/value.h"
#include "runtime/js/bridge.h"
#include "runtime/js/codec.h"
#include "runtime/wire.h"

struct decoder {
	struct gb_js *js;
	JSContext *ctx;
	struct gb_cbor_reader *in;
	struct gb_js_met met;
	unsigned depth;
};

static JSValue decode(struct decoder *d);

/* The host wrote these bytes: a mismatch between host and worker, not a user error. */
static JSValue malformed(struct decoder *d) {
	return JS_ThrowInternalError(d->ctx, "malformed value");
}

/* Assign the next number to @value. Must be called before the contents of the value are read. */
static bool number_value(struct decoder *d, JSValueConst value) {
	if (JS_IsException(value))
		return false;
	struct gb_js_met *met = &d->met;
	if (met->n == met->cap) {
		uint32_t cap = met->cap ? met->cap * 2 : 16;
		JSValue *list = realloc(met->list, cap * sizeof *list);
		if (!list)
			return false;
		met->list = list;
		met->cap = cap;
	}
	met->list[met->n++] = JS_DupValue(d->ctx, value);
	return true;
}

static JSValue drop(struct decoder *d, JSValue value) {
	JS_FreeValue(d->ctx, value);
	return JS_HasException(d->ctx) ? JS_EXCEPTION : malformed(d);
}

/* WTF-8, which may contain lone surrogates, to UTF-16. The sender has validated the bytes; this only prevents
 * reads beyond their end. */
static JSValue decode_wtf8(struct decoder *d, const uint8_t *bytes, size_t n) {
	gb_auto_free uint16_t *units = calloc(n + 1, sizeof *units);
	if (!units)
		return malformed(d);
	size_t n_units = 0;
	for (size_t i = 0; i < n;) {
		unsigned more = bytes[i] < 0x80 ? 0 : bytes[i] < 0xe0 ? 1 : bytes[i] < 0xf0 ? 2 : 3;
		if (n - i <= more)
			return malformed(d);
		uint32_t c = more ? bytes[i] & (0x3fu >> more) : bytes[i];
		for (unsigned k = 1; k <= more; k++)
			c = c << 6 | (bytes[i + k] & 0x3fu);
		if (c >= 0x10000) {
			units[n_units++] = (uint16_t)(0xd7c0 + (c >> 10));
			c = 0xdc00 | (c & 0x3ff);
		}
		units[n_units++] = (uint16_t)c;
		i += more + 1;
	}
	return JS_NewStringUTF16(d->ctx, units, n_units);
}

static JSValue decode_string(struct decoder *d) {
	struct gb_cbor_item item;
	if (!gb_cbor_next(d->in, &item))
		return malformed(d);
	if (item.kind == GB_CBOR_TEXT)
		return JS_NewStringLen(d->ctx, (const char *)item.bytes, item.argument);
	if (item.kind == GB_CBOR_TAG && item.argument == GB_CBOR_WTF8 && gb_cbor_next(d->in, &item) &&
	    item.kind == GB_CBOR_BYTES)
		return decode_wtf8(d, item.bytes, item.argument);
	return malformed(d);
}

static bool decode_count(struct decoder *d, enum gb_cbor_kind kind, uint64_t *ret_n) {
	struct gb_cbor_item item;
	if (!gb_cbor_next(d->in, &item) || item.kind != kind)
		return false;
	*ret_n = item.argument;
	return true;
}

/* --- containers --- */

static bool next_is_hole(struct decoder *d) {
	struct gb_cbor_reader ahead = *d->in;
	struct gb_cbor_item item;
	if (!gb_cbor_next(&ahead, &item) || item.kind != GB_CBOR_SIMPLE || item.argument != GB_SIMPLE_HOLE)
		return false;
	*d->in = ahead;
	return true;
}

static JSValue fill_array(struct decoder *d, JSValue array, uint64_t n) {
	/* Define, do not assign: setters on Array.prototype must not run. */
	for (uint64_t i = 0; i < n; i++) {
		if (next_is_hole(d))
			continue;
		JSValue item = decode(d);
		if (JS_IsException(item) ||
		    JS_DefinePropertyValueUint32(d->ctx, array, (uint32_t)i, item, JS_PROP_C_W_E) < 0)
			return drop(d, array);
	}
	if (JS_SetLength(d->ctx, array, (int64_t)n) < 0)
		return drop(d, array);
	return array;
}

static JSValue decode_array(struct decoder *d, uint64_t n) {
	JSValue array = JS_NewArray(d->ctx);
	return number_value(d, array) ? fill_array(d, array, n) : drop(d, array);
}

static JSValue fill_object(struct decoder *d, JSValue object, uint64_t n) {
	for (uint64_t i = 0; i < n; i++) {
		JSValue key = decode_string(d);
		JSAtom atom = JS_IsException(key) ? JS_ATOM_NULL : JS_ValueToAtom(d->ctx, key);
		JS_FreeValue(d->ctx, key);
		if (atom == JS_ATOM_NULL)
			return drop(d, object);
		JSValue item = decode(d);
		bool ok = !JS_IsException(item) &&
			  JS_DefinePropertyValue(d->ctx, object, atom, item, JS_PROP_C_W_E) >= 0;
		JS_FreeAtom(d->ctx, atom);
		if (!ok)
			return drop(d, object);
	}
	return object;
}

static JSValue decode_object(struct decoder *d, uint64_t n) {
	JSValue object = JS_NewObject(d->ctx);
	return number_value(d, object) ? fill_object(d, object, n) : drop(d, object);
}

/* Map and Set: created empty, then filled by their intrinsic functions. */
static JSValue decode_collection(struct decoder *d, bool is_map) {
	const struct gb_js_intrinsics *own = &d->js->intrinsics;
	uint64_t n;
	if (!decode_count(d, is_map ? GB_CBOR_OBJECT : GB_CBOR_ARRAY, &n))
		return malformed(d);
	JSValue collection = JS_CallConstructor(d->ctx, is_map ? own->map : own->set, 0, NULL);
	if (!number_value(d, collection))
		return drop(d, collection);
	for (uint64_t i = 0; i < n; i++) {
		JSValue entry[2] = {decode(d), JS_UNDEFINED};
		if (is_map && !JS_IsException(entry[0]))
			entry[1] = decode(d);
		bool ok = !JS_IsException(entry[0]) && !JS_IsException(entry[1]);
		if (ok) {
			JSValue added = JS_Call(d->ctx, is_map ? own->map_set : own->set_add, collection,
			    is_map ? 2 : 1, (JSValueConst *)entry);
			ok = !JS_IsException(added);
			JS_FreeValue(d->ctx, added);
		}
		JS_FreeValue(d->ctx, entry[0]);
		JS_FreeValue(d->ctx, entry[1]);
		if (!ok)
			return drop(d, collection);
	}
	return collection;
}

/* --- the other tags --- */

static JSValue decode_bigint(struct decoder *d, bool negative) {
	struct gb_cbor_item item;
	if (!gb_cbor_next(d->in, &item) || item.kind != GB_CBOR_BYTES)
		return malformed(d);
	gb_auto_buf struct gb_buf text;
	gb_buf_init(&text, 2 * item.argument + 8);
	gb_buf_append(&text, "0x0", 3);
	for (uint64_t i = 0; i < item.argument; i++)
		gb_buf_printf(&text, "%02x", item.bytes[i]);
	if (gb_buf_failed(&text))
		return malformed(d);
	JSValue literal = JS_NewStringLen(d->ctx, text.data, text.len);
	JSValue magnitude =
	    JS_Call(d->ctx, d->js->intrinsics.bigint, JS_UNDEFINED, 1, (JSValueConst *)&literal);
	JS_FreeValue(d->ctx, literal);
	if (!negative || JS_IsException(magnitude))
		return magnitude;
	JSValue inverse =
	    JS_Call(d->ctx, d->js->intrinsics.bigint_invert, JS_UNDEFINED, 1, (JSValueConst *)&magnitude);
	JS_FreeValue(d->ctx, magnitude);
	return inverse;
}

static JSValue decode_date(struct decoder *d) {
	struct gb_cbor_item item;
	if (!gb_cbor_next(d->in, &item) || item.kind != GB_CBOR_FLOAT)
		return malformed(d);
	JSValue date = JS_NewDate(d->ctx, item.number);
	return number_value(d, date) ? date : drop(d, date);
}

static JSValue decode_buffer(struct decoder *d, const struct gb_cbor_item *item) {
	JSValue buffer = JS_NewArrayBufferCopy(d->ctx, item->bytes, item->argument);
	return number_value(d, buffer) ? buffer : drop(d, buffer);
}

static JSValue make_view(struct decoder *d, uint64_t kind, JSValueConst *arguments) {
	static const JSTypedArrayEnum types[] = {
	    [GB_INT8] = JS_TYPED_ARRAY_INT8,
	    [GB_UINT8] = JS_TYPED_ARRAY_UINT8,
	    [GB_UINT8_CLAMPED] = JS_TYPED_ARRAY_UINT8C,
	    [GB_INT16] = JS_TYPED_ARRAY_INT16,
	    [GB_UINT16] = JS_TYPED_ARRAY_UINT16,
	    [GB_INT32] = JS_TYPED_ARRAY_INT32,
	    [GB_UINT32] = JS_TYPED_ARRAY_UINT32,
	    [GB_FLOAT16] = JS_TYPED_ARRAY_FLOAT16,
	    [GB_FLOAT32] = JS_TYPED_ARRAY_FLOAT32,
	    [GB_FLOAT64] = JS_TYPED_ARRAY_FLOAT64,
	    [GB_BIGINT64] = JS_TYPED_ARRAY_BIG_INT64,
	    [GB_BIGUINT64] = JS_TYPED_ARRAY_BIG_UINT64,
	};
	if (kind == GB_DATAVIEW)
		return JS_CallConstructor(d->ctx, d->js->intrinsics.data_view, 3, arguments);
	return kind < GB_COUNT(types) ? JS_NewTypedArray(d->ctx, 3, arguments, types[kind]) : malformed(d);
}

/* The view's number precedes its buffer's, but the view can only be created after its buffer. */
static JSValue decode_view(struct decoder *d) {
	struct gb_cbor_item kind, offset, length;
	uint64_t n;
	uint32_t number = d->met.n;
	if (!decode_count(d, GB_CBOR_ARRAY, &n) || n != 4 || !number_value(d, JS_UNDEFINED) ||
	    !gb_cbor_next(d->in, &kind) || !gb_cbor_next(d->in, &offset) || !gb_cbor_next(d->in, &length))
		return malformed(d);
	JSValue buffer = decode(d);
	if (!JS_IsArrayBuffer(buffer))
		return drop(d, buffer);
	JSValueConst arguments[] = {
	    buffer, JS_NewNumber(d->ctx, offset.number), JS_NewNumber(d->ctx, length.number)};
	JSValue view = make_view(d, kind.argument, arguments);
	JS_FreeValue(d->ctx, buffer);
	if (!JS_IsException(view))
		d->met.list[number] = JS_DupValue(d->ctx, view);
	return view;
}

/* The AggregateError constructor takes the list of errors first. */
static JSValue make_aggregate(struct decoder *d, JSValueConst message) {
	JSValue none = JS_NewArray(d->ctx);
	JSValueConst arguments[] = {none, message};
	JSValue error = JS_CallConstructor(d->ctx, d->js->intrinsics.aggregate_error, 2, arguments);
	JS_FreeValue(d->ctx, none);
	return error;
}

static bool is_aggregate(struct decoder *d, JSValueConst name) {
	const char *text = JS_ToCString(d->ctx, name);
	bool is = text && strcmp(text, "AggregateError") == 0;
	JS_FreeCString(d->ctx, text);
	return is;
}

static JSValueConst error_constructor(struct decoder *d, JSValueConst name) {
	JSValueConst constructor = d->js->intrinsics.error;
	const char *text = JS_ToCString(d->ctx, name);
	for (size_t i = 0; text && i < GB_JS_ERRORS; i++)
		if (strcmp(text, gb_js_error_names[i]) == 0)
			constructor = d->js->intrinsics.errors[i];
	JS_FreeCString(d->ctx, text);
	return constructor;
}

/* Without a transmitted stack, the error has the stack of the call that it answers. */
static JSValue make_error(struct decoder *d, JSValueConst name, JSValueConst message, JSValueConst stack) {
	const int hidden = JS_PROP_WRITABLE | JS_PROP_CONFIGURABLE;
	JSValueConst constructor = error_constructor(d, name);
	bool aggregate = is_aggregate(d, name);
	JSValue error =
	    aggregate ? make_aggregate(d, message) : JS_CallConstructor(d->ctx, constructor, 1, &message);
	if (JS_IsException(error))
		return error;
	bool is_plain =
	    !aggregate && JS_VALUE_GET_PTR(constructor) == JS_VALUE_GET_PTR(d->js->intrinsics.error);
	if (is_plain)
		JS_DefinePropertyValueStr(d->ctx, error, "name", JS_DupValue(d->ctx, name), hidden);
	if (!JS_IsNull(stack))
		JS_DefinePropertyValueStr(d->ctx, error, "stack", JS_DupValue(d->ctx, stack), hidden);
	return error;
}

/* Cause and errors, after the texts; they may refer to the error itself. */
static bool decode_parts(struct decoder *d, JSValueConst error) {
	static const char *const names[] = {"cause", "errors"};
	for (size_t i = 0; i < GB_COUNT(names); i++) {
		if (next_is_hole(d))
			continue;
		JSValue part = decode(d);
		if (JS_IsException(part))
			return false;
		JS_DefinePropertyValueStr(
		    d->ctx, error, names[i], part, JS_PROP_WRITABLE | JS_PROP_CONFIGURABLE);
	}
	return true;
}

static JSValue decode_error(struct decoder *d) {
	uint64_t n;
	uint32_t number = d->met.n;
	if (!decode_count(d, GB_CBOR_ARRAY, &n) || (n != 3 && n != GB_CBOR_ERROR_FIELDS) ||
	    !number_value(d, JS_UNDEFINED))
		return malformed(d);
	JSValue name = decode_string(d), message = decode_string(d), stack = decode(d);
	JSValue error = JS_EXCEPTION;
	if (!JS_IsException(name) && !JS_IsException(message) && !JS_IsException(stack))
		error = make_error(d, name, message, stack);
	JS_FreeValue(d->ctx, name);
	JS_FreeValue(d->ctx, message);
	JS_FreeValue(d->ctx, stack);
	if (JS_IsException(error))
		return drop(d, error);
	d->met.list[number] = JS_DupValue(d->ctx, error);
	return n == 3 || decode_parts(d, error) ? error : drop(d, error);
}

static JSValue decode_regexp(struct decoder *d) {
	uint64_t n;
	uint32_t number = d->met.n;
	if (!decode_count(d, GB_CBOR_ARRAY, &n) || n != 2 || !number_value(d, JS_UNDEFINED))
		return malformed(d);
	JSValue parts[2] = {decode_string(d), decode_string(d)};
	JSValue regexp = JS_EXCEPTION;
	if (!JS_IsException(parts[0]) && !JS_IsException(parts[1]))
		regexp = JS_CallConstructor(d->ctx, d->js->intrinsics.regexp, 2, (JSValueConst *)parts);
	JS_FreeValue(d->ctx, parts[0]);
	JS_FreeValue(d->ctx, parts[1]);
	if (!JS_IsException(regexp))
		d->met.list[number] = JS_DupValue(d->ctx, regexp);
	return regexp;
}

/* A lent function or promise: the host's, or one of our own sent back. */
static JSValue decode_lent(struct decoder *d, bool is_function) {
	struct gb_cbor_item side, id;
	uint64_t n;
	if (!decode_count(d, GB_CBOR_ARRAY, &n) || n != (is_function ? 3 : 2) ||
	    !gb_cbor_next(d->in, &side) || !gb_cbor_next(d->in, &id) || !d->js->bridge)
		return malformed(d);
	uint32_t number = (uint32_t)id.argument;
	JSValue name = is_function ? decode(d) : JS_UNDEFINED, lent;
	if (JS_IsException(name))
		return name;
	if (side.argument == GB_SANDBOX)
		lent = gb_js_bridge_own(d->js, number);
	else if (is_function)
		lent = gb_js_bridge_function(d->js, number, name);
	else
		lent = gb_js_bridge_promise(d->js, number);
	JS_FreeValue(d->ctx, name);
	return lent;
}

static JSValue decode_reference(struct decoder *d) {
	struct gb_cbor_item item;
	if (!gb_cbor_next(d->in, &item) || item.kind != GB_CBOR_UNSIGNED || item.argument >= d->met.n)
		return malformed(d);
	return JS_DupValue(d->ctx, d->met.list[item.argument]);
}

static JSValue decode_tagged(struct decoder *d, uint64_t tag, const struct gb_cbor_reader *before) {
	switch (tag) {
	case GB_CBOR_BIGINT:
	case GB_CBOR_NEGATIVE_BIGINT:
		return decode_bigint(d, tag == GB_CBOR_NEGATIVE_BIGINT);
	case GB_CBOR_REFERENCE:
		return decode_reference(d);
	case GB_CBOR_MAP:
	case GB_CBOR_SET:
		return decode_collection(d, tag == GB_CBOR_MAP);
	case GB_CBOR_WTF8:
		*d->in = *before;
		return decode_string(d);
	case GB_CBOR_DATE:
		return decode_date(d);
	case GB_CBOR_VIEW:
		return decode_view(d);
	case GB_CBOR_ERROR:
		return decode_error(d);
	case GB_CBOR_REGEXP:
		return decode_regexp(d);
	case GB_CBOR_FUNCTION:
	case GB_CBOR_PROMISE:
		return decode_lent(d, tag == GB_CBOR_FUNCTION);
	}
	return malformed(d);
}

static JSValue decode_simple(struct decoder *d, uint64_t simple) {
	switch (simple) {
	case GB_SIMPLE_FALSE:
		return JS_FALSE;
	case GB_SIMPLE_TRUE:
		return JS_TRUE;
	case GB_SIMPLE_NULL:
		return JS_NULL;
	case GB_SIMPLE_UNDEFINED:
		return JS_UNDEFINED;
	}
	return malformed(d);
}

static JSValue decode_item(struct decoder *d) {
	struct gb_cbor_reader before = *d->in;
	struct gb_cbor_item item;
	if (!gb_cbor_next(d->in, &item))
		return malformed(d);
	switch (item.kind) {
	case GB_CBOR_UNSIGNED:
	case GB_CBOR_NEGATIVE:
	case GB_CBOR_FLOAT:
		return JS_NewNumber(d->ctx, item.number);
	case GB_CBOR_TEXT:
		return JS_NewStringLen(d->ctx, (const char *)item.bytes, item.argument);
	case GB_CBOR_BYTES:
		return decode_buffer(d, &item);
	case GB_CBOR_ARRAY:
		return decode_array(d, item.argument);
	case GB_CBOR_OBJECT:
		return decode_object(d, item.argument);
	case GB_CBOR_TAG:
		return decode_tagged(d, item.argument, &before);
	case GB_CBOR_SIMPLE:
		return decode_simple(d, item.argument);
	}
	return malformed(d);
}

static JSValue decode(struct decoder *d) {
	if (d->depth == 2 * GB_WIRE_DEPTH_MAX)
		return JS_ThrowRangeError(d->ctx, "value is nested too deep");
	d->depth++;
	JSValue value = decode_item(d);
	d->depth--;
	return value;
}

void gb_js_met_finish(struct gb_js *js, struct gb_js_met *met) {
	for (uint32_t i = 0; i < met->n; i++)
		JS_FreeValue(js->guest, met->list[i]);
	free(met->list);
	*met = (struct gb_js_met){0};
}

JSValue gb_js_decode(struct gb_js *js, struct gb_cbor_reader *in) {
	struct decoder d = {.js = js, .ctx = js->guest, .in = in};
	js->decoding++;
	JSValue value = decode(&d);
	js->decoding--;
	gb_js_met_finish(js, &d.met);
	return value;
}

JSValue gb_js_decode_root(struct gb_js *js, struct gb_cbor_reader *in, struct gb_js_met *met) {
	struct decoder d = {.js = js, .ctx = js->guest, .in = in, .met = *met, .depth = 1};
	struct gb_cbor_item item;
	if (!gb_cbor_next(in, &item) || (item.kind != GB_CBOR_OBJECT && item.kind != GB_CBOR_ARRAY))
		return malformed(&d);
	if (item.argument == 0)
		return JS_UNDEFINED;
	js->decoding++;
	JSValue value = item.kind == GB_CBOR_OBJECT ? fill_object(&d, JS_NewObject(js->guest), item.argument)
						    : fill_array(&d, JS_NewArray(js->guest), item.argument);
	js->decoding--;
	*met = d.met;
	return value;
}

JSValue gb_js_apply_list(struct gb_js *js, JSValueConst function, JSValueConst arguments) {
	JSContext *ctx = js->guest;
	int64_t n = 0;
	if (!JS_IsUndefined(arguments) && JS_GetLength(ctx, arguments, &n) < 0)
		return JS_EXCEPTION;
	JSValue *values = calloc((size_t)n + 1, sizeof *values);
	if (!values)
		return JS_ThrowOutOfMemory(ctx);
	for (int64_t i = 0; i < n; i++)
		values[i] = JS_GetPropertyInt64(ctx, arguments, i);
	JSValue returned = JS_Call(ctx, function, JS_UNDEFINED, (int)n, (JSValueConst *)values);
	for (int64_t i = 0; i < n; i++)
		JS_FreeValue(ctx, values[i]);
	free(values);
	return returned;
}

JSValue gb_js_apply(struct gb_js *js, JSValueConst function, struct gb_cbor_reader *in) {
	JSValue arguments = gb_js_decode(js, in);
	if (JS_IsException(arguments))
		return JS_EXCEPTION;
	JSValue returned = gb_js_apply_list(js, function, arguments);
	JS_FreeValue(js->guest, arguments);
	return returned;
}

JSValue gb_js_clone(struct gb_js *js, JSValueConst value) {
	/* The copy counts as guest memory; this bounds the bytes in between. */
	enum { CLONE_MAX = 256 << 20 };
	gb_auto_buf struct gb_buf bytes;
	gb_buf_init(&bytes, CLONE_MAX);
	if (!gb_js_encode(js, value, GB_JS_CLONE, "value", &bytes))
		return JS_HasException(js->guest)
			   ? JS_EXCEPTION
			   : JS_ThrowRangeError(js->guest, "the value is too large to clone");
	struct gb_cbor_reader in = gb_cbor_reader(bytes.data, bytes.len);
	return gb_js_decode(js, &in);
}
