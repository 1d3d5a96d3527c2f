#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "glovebox/value.h"
#include "runtime/crossing.h"
#include "runtime/js/bridge.h"
#include "runtime/js/codec.h"
#include "runtime/wire.h"
#include "value/identity.h"
#include "value/json.h"

/* The current position in the graph; only used for error messages. */
struct step {
	const struct step *parent;
	JSAtom key; /* JS_ATOM_NULL: an index */
	uint32_t index;
	const char *list; /* before an index: ".keys()" and ".values()" of a Map or Set; or NULL */
};

struct encoder {
	struct gb_js *js;
	JSContext *ctx;
	enum gb_js_encode_mode mode;
	const char *root;
	struct gb_buf *out;
	struct gb_identity met;
	/* An object that a getter created for this encoding. Kept until the end: if it were freed, another
	 * object could reuse its address and be taken for it. */
	struct kept {
		JSValue value;
		size_t bytes; /* size of a buffer when it was written */
	} * kept;
	uint32_t n_kept, cap_kept;
	unsigned depth;
	unsigned causes; /* nesting depth of error causes */
};

/* Deeper chains of causes are cut. */
enum { CAUSES_MAX = 32 };

static bool encode(struct encoder *e, JSValueConst value, const struct step *at);

/* --- values that cannot cross --- */

/* Paths are truncated. Longer keys are omitted, not truncated: the redaction of secrets would miss a partial
 * one. */
enum { PATH_MAX_BYTES = 200, KEY_MAX_BYTES = 100 };

static bool is_identifier(struct gb_str key) {
	for (size_t i = 0; i < key.n; i++) {
		char c = key.p[i];
		if (!isalpha((unsigned char)c) && c != '_' && c != '$' && !(i && c >= '0' && c <= '9'))
			return false;
	}
	return key.n > 0;
}

/* ".a", or "["a b"]" if the key is no identifier. */
static void write_key(struct encoder *e, JSAtom atom, struct gb_buf *path) {
	struct gb_str key;
	key.p = JS_AtomToCStringLen(e->ctx, &key.n, atom);
	if (!key.p)
		return;
	if (key.n > KEY_MAX_BYTES) {
		gb_buf_printf(path, ".…");
	} else if (is_identifier(key)) {
		gb_buf_printf(path, ".%.*s", GB_STR_ARG(key));
	} else {
		gb_buf_append_char(path, '[');
		gb_json_append_string(path, key);
		gb_buf_append_char(path, ']');
	}
	JS_FreeCString(e->ctx, key.p);
}

static void write_path(struct encoder *e, const struct step *at, struct gb_buf *path) {
	if (!at)
		return;
	write_path(e, at->parent, path);
	if (path->len > PATH_MAX_BYTES)
		return;
	if (at->key != JS_ATOM_NULL)
		write_key(e, at->key, path);
	else
		gb_buf_printf(path, "%s[%u]", at->list ? at->list : "", at->index);
	if (path->len > PATH_MAX_BYTES)
		gb_buf_printf(path, "…");
}

static bool throw_at(struct encoder *e, const struct step *at, const char *what) {
	const int hidden = JS_PROP_WRITABLE | JS_PROP_CONFIGURABLE;
	gb_auto_buf struct gb_buf message;
	gb_buf_init(&message, 4096);
	gb_buf_printf(&message, "%s", e->root);
	write_path(e, at, &message);
	gb_buf_printf(&message, "%s: %s", e->mode == GB_JS_CLONE ? " cannot be cloned" : "", what);
	JSValue error = JS_NewError(e->ctx);
	const char *name = e->mode == GB_JS_CLONE ? "DataCloneError" : "SerializationError";
	JS_DefinePropertyValueStr(e->ctx, error, "name", JS_NewString(e->ctx, name), hidden);
	JS_DefinePropertyValueStr(
	    e->ctx, error, "message", JS_NewStringLen(e->ctx, message.data, message.len), hidden);
	JS_Throw(e->ctx, error);
	return false;
}

/* A readable description of @value: "[Function: f]", "[Promise]". */
static void describe(struct encoder *e, JSValueConst value, char *text, size_t n) {
	JSContext *ctx = e->ctx;
	JSValue name;
	const char *format = "[%s]";
	if (JS_IsSymbol(value)) {
		name = JS_GetPropertyStr(ctx, value, "description");
		format = "Symbol(%s)";
	} else if (JS_IsProxy(value)) {
		name = JS_NewString(ctx, "Proxy");
	} else if (JS_IsFunction(ctx, value)) {
		name = JS_GetPropertyStr(ctx, value, "name");
		format = "[Function: %s]";
	} else {
		JSAtom atom = JS_GetClassName(e->js->runtime, JS_GetClassID(value));
		name = JS_AtomToString(ctx, atom);
		JS_FreeAtom(ctx, atom);
	}
	const char *said = JS_IsString(name) ? JS_ToCString(ctx, name) : NULL;
	if (JS_IsException(name))
		JS_FreeValue(ctx, JS_GetException(ctx));
	if (JS_IsFunction(ctx, value) && !JS_IsProxy(value) && !(said && *said))
		snprintf(text, n, "[Function]");
	/* Half a name may be half a secret, which masking would miss. */
	else if ((size_t)snprintf(text, n, format, said ? said : "") >= n)
		snprintf(text, n, format, "…");
	JS_FreeCString(ctx, said);
	JS_FreeValue(ctx, name);
}

/* The class name of @value; empty if it has none. Guest code may run here. */
static void class_name(struct encoder *e, JSValueConst value, char *text, size_t n) {
	JSContext *ctx = e->ctx;
	JSValue constructor = JS_GetPropertyStr(ctx, value, "constructor");
	JSValue name =
	    JS_IsFunction(ctx, constructor) ? JS_GetPropertyStr(ctx, constructor, "name") : JS_UNDEFINED;
	struct gb_str said = {NULL, 0};
	if (JS_IsString(name))
		said.p = JS_ToCStringLen(ctx, &said.n, name);
	if (JS_HasException(ctx))
		JS_FreeValue(ctx, JS_GetException(ctx));
	/* Half a name may be half a secret, which masking would miss. */
	gb_copy_text(text, n, said.n < n ? said : GB_STR("…"));
	JS_FreeCString(ctx, said.p);
	JS_FreeValue(ctx, name);
	JS_FreeValue(ctx, constructor);
}

/* The same wording as the SDKs use for inputs: docs/VALUES.md. */
static bool throw_cannot_cross(struct encoder *e, JSValueConst value, const struct step *at) {
	char name[100], text[160];
	if (JS_IsSymbol(value))
		return throw_at(e, at, "a symbol cannot cross");
	if (JS_IsProxy(value))
		return throw_at(e, at, "a proxy cannot cross");
	if (JS_IsFunction(e->ctx, value))
		return throw_at(e, at, "a function cannot cross here");
	if (JS_IsPromise(value))
		return throw_at(e, at, "a promise cannot cross here");
	class_name(e, value, name, sizeof name);
	if (!*name || strcmp(name, "Object") == 0)
		return throw_at(e, at, "an object with a prototype of its own cannot cross");
	snprintf(text, sizeof text, "an instance of %s cannot cross", name);
	return throw_at(e, at, text);
}

static bool refuse(struct encoder *e, JSValueConst value, const struct step *at) {
	char text[200];
	if (e->mode == GB_JS_STRICT || e->mode == GB_JS_BRIDGED)
		return throw_cannot_cross(e, value, at);
	describe(e, value, text, sizeof text);
	if (e->mode != GB_JS_LENIENT)
		return throw_at(e, at, text);
	gb_cbor_string(e->out, text, strlen(text));
	return true;
}

/* --- scalars --- */

static bool encode_string(struct encoder *e, JSValueConst value) {
	size_t n;
	const char *bytes = JS_ToCStringLen(e->ctx, &n, value);
	if (!bytes)
		return false;
	gb_cbor_string(e->out, bytes, n);
	JS_FreeCString(e->ctx, bytes);
	return true;
}

static uint8_t hex_digit(char c) {
	return (uint8_t)(c <= '9' ? c - '0' : c - 'a' + 10);
}

/* CBOR encodes a negative number n as -1 - n. */
static void subtract_one(uint8_t *bytes, size_t n) {
	while (n > 0 && bytes[--n]-- == 0)
		;
}

static bool encode_bigint(struct encoder *e, JSValueConst value) {
	JSValue radix = JS_NewInt32(e->ctx, 16);
	JSValue text = JS_Call(e->ctx, e->js->intrinsics.bigint_to_string, value, 1, (JSValueConst *)&radix);
	size_t n;
	const char *hex = JS_IsException(text) ? NULL : JS_ToCStringLen(e->ctx, &n, text);
	JS_FreeValue(e->ctx, text);
	if (!hex)
		return false;
	bool negative = hex[0] == '-';
	const char *digits = hex + negative;
	n -= negative;
	size_t n_bytes = (n + 1) / 2;
	gb_auto_free uint8_t *bytes = calloc(n_bytes, 1);
	if (bytes) {
		for (size_t i = 0; i < n; i++) /* from the least significant byte */
			bytes[n_bytes - 1 - i / 2] |= (uint8_t)(hex_digit(digits[n - 1 - i]) << (i % 2 * 4));
		if (negative)
			subtract_one(bytes, n_bytes);
		size_t zeros = 0;
		while (zeros < n_bytes && bytes[zeros] == 0)
			zeros++;
		gb_cbor_tag(e->out, negative ? GB_CBOR_NEGATIVE_BIGINT : GB_CBOR_BIGINT);
		gb_cbor_bytes(e->out, bytes + zeros, n_bytes - zeros);
	} else {
		e->out->failed = true;
	}
	JS_FreeCString(e->ctx, hex);
	return true;
}

/* --- objects --- */

static bool encode_array(struct encoder *e, JSValueConst array, const struct step *at) {
	int64_t n;
	if (JS_GetLength(e->ctx, array, &n) < 0)
		return false;
	/* Each item takes at least one byte: reject a sparse array of four billion items before the walk. */
	if (n < 0 || (uint64_t)n > e->out->max - e->out->len) {
		e->out->failed = true;
		return true;
	}
	gb_cbor_array(e->out, (uint64_t)n);
	for (uint32_t i = 0; i < (uint32_t)n; i++) {
		JSValue item = JS_GetPropertyUint32(e->ctx, array, i);
		bool ok = true;
		JSAtom index = JS_IsUndefined(item) ? JS_NewAtomUInt32(e->ctx, i) : JS_ATOM_NULL;
		if (index != JS_ATOM_NULL && JS_GetOwnProperty(e->ctx, NULL, array, index) == 0)
			gb_cbor_simple(e->out, GB_SIMPLE_HOLE);
		else
			ok = encode(e, item, &(struct step){.parent = at, .key = JS_ATOM_NULL, .index = i});
		JS_FreeAtom(e->ctx, index);
		JS_FreeValue(e->ctx, item);
		if (!ok)
			return false;
	}
	return true;
}

static bool encode_key(struct encoder *e, JSAtom atom) {
	size_t n;
	const char *key = JS_AtomToCStringLen(e->ctx, &n, atom);
	if (!key)
		return false;
	gb_cbor_string(e->out, key, n);
	JS_FreeCString(e->ctx, key);
	return true;
}

static bool encode_object(struct encoder *e, JSValueConst object, const struct step *at) {
	JSPropertyEnum *names;
	uint32_t n;
	if (JS_GetOwnPropertyNames(e->ctx, &names, &n, object, JS_GPN_STRING_MASK | JS_GPN_ENUM_ONLY) < 0)
		return false;
	gb_cbor_object(e->out, n);
	bool ok = true;
	for (uint32_t i = 0; i < n && ok; i++) {
		JSValue item = JS_GetProperty(e->ctx, object, names[i].atom);
		ok = encode_key(e, names[i].atom) &&
		     encode(e, item, &(struct step){.parent = at, .key = names[i].atom});
		JS_FreeValue(e->ctx, item);
	}
	JS_FreePropertyEnum(e->ctx, names, n);
	return ok;
}

static JSValue collect_entry(
    JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv, int magic, JSValue *data) {
	(void)this_value, (void)argc;
	int64_t n = 0;
	JS_GetLength(ctx, data[0], &n);
	/* forEach passes (value, key): write a map's entries as key, value; a set's as value. */
	if (magic == 2)
		JS_DefinePropertyValueUint32(
		    ctx, data[0], (uint32_t)n++, JS_DupValue(ctx, argv[1]), JS_PROP_C_W_E);
	JS_DefinePropertyValueUint32(ctx, data[0], (uint32_t)n, JS_DupValue(ctx, argv[0]), JS_PROP_C_W_E);
	return JS_UNDEFINED;
}

/* Collect all entries of a Map or Set in one array first: encoding them may run guest code that changes
 * it. */
static JSValue collect_entries(
    struct encoder *e, JSValueConst collection, JSValueConst for_each, int per_entry) {
	JSValue list = JS_NewArray(e->ctx);
	JSValue callback = JS_NewCFunctionData(e->ctx, collect_entry, 2, per_entry, 1, (JSValueConst *)&list);
	JSValue done = JS_Call(e->ctx, for_each, collection, 1, (JSValueConst *)&callback);
	JS_FreeValue(e->ctx, callback);
	if (JS_IsException(done)) {
		JS_FreeValue(e->ctx, list);
		return done;
	}
	JS_FreeValue(e->ctx, done);
	return list;
}

static bool encode_collection(
    struct encoder *e, JSValueConst collection, bool is_map, const struct step *at) {
	const struct gb_js_intrinsics *own = &e->js->intrinsics;
	JSValue list =
	    collect_entries(e, collection, is_map ? own->map_for_each : own->set_for_each, is_map ? 2 : 1);
	int64_t n = 0;
	if (JS_IsException(list) || JS_GetLength(e->ctx, list, &n) < 0)
		return false;
	gb_cbor_tag(e->out, is_map ? GB_CBOR_MAP : GB_CBOR_SET);
	if (is_map)
		gb_cbor_object(e->out, (uint64_t)n / 2);
	else
		gb_cbor_array(e->out, (uint64_t)n);
	bool ok = true;
	for (uint32_t i = 0; i < (uint32_t)n && ok; i++) {
		JSValue item = JS_GetPropertyUint32(e->ctx, list, i);
		const struct step step = {.parent = at,
		    .key = JS_ATOM_NULL,
		    .index = is_map ? i / 2 : i,
		    .list = is_map && i % 2 == 0 ? ".keys()" : ".values()"};
		ok = encode(e, item, &step);
		JS_FreeValue(e->ctx, item);
	}
	JS_FreeValue(e->ctx, list);
	return ok;
}

static bool encode_buffer(struct encoder *e, JSValueConst buffer) {
	size_t n;
	const uint8_t *bytes = JS_GetArrayBuffer(e->ctx, &n, buffer);
	if (!bytes && JS_HasException(e->ctx))
		return false;
	gb_cbor_bytes(e->out, bytes, n);
	e->kept[e->n_kept - 1].bytes = n;
	return true;
}

static bool encode_window(struct encoder *e, enum gb_view_kind kind, uint64_t offset, uint64_t length,
    uint64_t end, JSValueConst buffer, const struct step *at) {
	const uint32_t *written = gb_identity_find(&e->met, JS_VALUE_GET_PTR(buffer));
	if (written && end > e->kept[*written].bytes)
		return throw_at(e, at, "its buffer has grown since it was written");
	gb_cbor_tag(e->out, GB_CBOR_VIEW);
	gb_cbor_array(e->out, 4);
	gb_cbor_unsigned(e->out, kind);
	gb_cbor_unsigned(e->out, offset);
	gb_cbor_unsigned(e->out, length);
	return encode(e, buffer, at);
}

static bool encode_typed_array(struct encoder *e, JSValueConst array, int type, const struct step *at) {
	static const enum gb_view_kind kinds[] = {
	    [JS_TYPED_ARRAY_UINT8C] = GB_UINT8_CLAMPED,
	    [JS_TYPED_ARRAY_INT8] = GB_INT8,
	    [JS_TYPED_ARRAY_UINT8] = GB_UINT8,
	    [JS_TYPED_ARRAY_INT16] = GB_INT16,
	    [JS_TYPED_ARRAY_UINT16] = GB_UINT16,
	    [JS_TYPED_ARRAY_INT32] = GB_INT32,
	    [JS_TYPED_ARRAY_UINT32] = GB_UINT32,
	    [JS_TYPED_ARRAY_BIG_INT64] = GB_BIGINT64,
	    [JS_TYPED_ARRAY_BIG_UINT64] = GB_BIGUINT64,
	    [JS_TYPED_ARRAY_FLOAT16] = GB_FLOAT16,
	    [JS_TYPED_ARRAY_FLOAT32] = GB_FLOAT32,
	    [JS_TYPED_ARRAY_FLOAT64] = GB_FLOAT64,
	};
	size_t offset, element;
	JSValue buffer = JS_GetTypedArrayBuffer(e->ctx, array, &offset, NULL, &element);
	if (JS_IsException(buffer))
		return false;
	/* The engine's C interface does not handle length-tracking arrays of resizable buffers. */
	JSValue count = JS_Call(e->ctx, e->js->intrinsics.typed_array_length, array, 0, NULL);
	int64_t n = 0;
	bool ok = JS_ToInt64(e->ctx, &n, count) == 0 && encode_window(e, kinds[type], offset, (uint64_t)n,
							    offset + (uint64_t)n * element, buffer, at);
	JS_FreeValue(e->ctx, buffer);
	return ok;
}

static bool encode_data_view(struct encoder *e, JSValueConst view, const struct step *at) {
	const struct gb_js_intrinsics *own = &e->js->intrinsics;
	JSValue buffer = JS_Call(e->ctx, own->view_buffer, view, 0, NULL);
	JSValue offset = JS_Call(e->ctx, own->view_offset, view, 0, NULL);
	JSValue length = JS_Call(e->ctx, own->view_length, view, 0, NULL);
	int64_t at_byte = 0, n = 0;
	bool ok = !JS_IsException(buffer) && JS_ToInt64(e->ctx, &at_byte, offset) == 0 &&
		  JS_ToInt64(e->ctx, &n, length) == 0 &&
		  encode_window(
		      e, GB_DATAVIEW, (uint64_t)at_byte, (uint64_t)n, (uint64_t)(at_byte + n), buffer, at);
	JS_FreeValue(e->ctx, buffer);
	JS_FreeValue(e->ctx, offset);
	JS_FreeValue(e->ctx, length);
	return ok;
}

static bool encode_date(struct encoder *e, JSValueConst date) {
	JSValue time = JS_Call(e->ctx, e->js->intrinsics.date_get_time, date, 0, NULL);
	double milliseconds;
	if (JS_IsException(time) || JS_ToFloat64(e->ctx, &milliseconds, time) < 0)
		return false;
	gb_cbor_tag(e->out, GB_CBOR_DATE);
	gb_cbor_float(e->out, milliseconds);
	return true;
}

/* A text property of an error; the guest may have set it to anything. */
static void encode_error_text(struct encoder *e, JSValueConst error, const char *name, bool or_null) {
	JSValue text = JS_GetPropertyStr(e->ctx, error, name);
	if (JS_IsException(text))
		JS_FreeValue(e->ctx, JS_GetException(e->ctx));
	if (JS_IsString(text) && encode_string(e, text)) {
		/* written */
	} else if (or_null) {
		gb_cbor_simple(e->out, GB_SIMPLE_NULL);
	} else {
		gb_cbor_string(e->out, "", 0);
	}
	JS_FreeValue(e->ctx, text);
}

/* The value of an own property that is not a getter; JS_UNINITIALIZED if there is none. */
static JSValue own_value(struct encoder *e, JSValueConst object, const char *name) {
	JSPropertyDescriptor slot;
	JSAtom atom = JS_NewAtom(e->ctx, name);
	int found = JS_GetOwnProperty(e->ctx, &slot, object, atom);
	JS_FreeAtom(e->ctx, atom);
	if (found < 0)
		JS_FreeValue(e->ctx, JS_GetException(e->ctx));
	if (found <= 0)
		return JS_UNINITIALIZED;
	JS_FreeValue(e->ctx, slot.getter);
	JS_FreeValue(e->ctx, slot.setter);
	if (!(slot.flags & JS_PROP_GETSET))
		return slot.value;
	JS_FreeValue(e->ctx, slot.value);
	return JS_UNINITIALIZED;
}

/* A value that cannot cross is described by a text, so that the error itself is not lost. */
static bool encode_part(struct encoder *e, JSValueConst value, const struct step *at) {
	enum gb_js_encode_mode mode = e->mode;
	if (JS_VALUE_GET_TAG(value) == JS_TAG_UNINITIALIZED) {
		gb_cbor_simple(e->out, GB_SIMPLE_HOLE);
		return true;
	}
	e->mode = mode == GB_JS_CLONE ? mode : GB_JS_LENIENT;
	e->causes++;
	bool ok = encode(e, value, at);
	e->causes--;
	e->mode = mode;
	return ok;
}

static bool encode_error(struct encoder *e, JSValueConst error, const struct step *at) {
	bool end = e->causes == CAUSES_MAX;
	JSValue cause = end ? JS_UNINITIALIZED : own_value(e, error, "cause");
	JSValue errors = end ? JS_UNINITIALIZED : own_value(e, error, "errors");
	if (!JS_IsArray(errors)) {
		JS_FreeValue(e->ctx, errors);
		errors = JS_UNINITIALIZED;
	}
	bool more = JS_VALUE_GET_TAG(cause) != JS_TAG_UNINITIALIZED || JS_IsArray(errors);
	gb_cbor_tag(e->out, GB_CBOR_ERROR);
	gb_cbor_array(e->out, more ? GB_CBOR_ERROR_FIELDS : 3);
	encode_error_text(e, error, "name", false);
	encode_error_text(e, error, "message", false);
	encode_error_text(e, error, "stack", true);
	bool ok = !more || (encode_part(e, cause, at) && encode_part(e, errors, at));
	JS_FreeValue(e->ctx, cause);
	JS_FreeValue(e->ctx, errors);
	return ok;
}

static bool encode_regexp(struct encoder *e, JSValueConst regexp) {
	JSValueConst getters[] = {e->js->intrinsics.regexp_source, e->js->intrinsics.regexp_flags};
	gb_cbor_tag(e->out, GB_CBOR_REGEXP);
	gb_cbor_array(e->out, 2);
	for (size_t i = 0; i < GB_COUNT(getters); i++) {
		JSValue text = JS_Call(e->ctx, getters[i], regexp, 0, NULL);
		bool ok = !JS_IsException(text) && encode_string(e, text);
		JS_FreeValue(e->ctx, text);
		if (!ok)
			return false;
	}
	return true;
}

/* Objects created by {} or Object.create(null); others have behaviour that a copy would lose. */
static bool is_plain(struct encoder *e, JSValueConst object) {
	if (JS_GetClassID(object) != JS_GetClassID(e->js->intrinsics.object_prototype))
		return false;
	if (e->mode != GB_JS_STRICT && e->mode != GB_JS_BRIDGED)
		return true;
	JSValue prototype = JS_GetPrototype(e->ctx, object);
	bool plain = JS_IsNull(prototype) ||
		     (JS_IsObject(prototype) &&
			 JS_VALUE_GET_PTR(prototype) == JS_VALUE_GET_PTR(e->js->intrinsics.object_prototype));
	JS_FreeValue(e->ctx, prototype);
	return plain;
}

static bool encode_new(struct encoder *e, JSValueConst value, const struct step *at) {
	int type = JS_GetTypedArrayType(value);
	if (JS_IsArray(value))
		return encode_array(e, value, at);
	if (type >= 0)
		return encode_typed_array(e, value, type, at);
	if (JS_IsArrayBuffer(value))
		return encode_buffer(e, value);
	if (JS_IsDataView(value))
		return encode_data_view(e, value, at);
	if (JS_IsMap(value) || JS_IsSet(value))
		return encode_collection(e, value, JS_IsMap(value), at);
	if (JS_IsDate(value))
		return encode_date(e, value);
	if (JS_IsError(value))
		return encode_error(e, value, at);
	if (JS_IsRegExp(value))
		return encode_regexp(e, value);
	return encode_object(e, value, at);
}

/* @prototypes: length of the prototype chain of a direct instance. */
static bool is_subclass(struct encoder *e, JSValueConst value, unsigned prototypes) {
	if (e->mode != GB_JS_STRICT && e->mode != GB_JS_BRIDGED)
		return false;
	unsigned count = 0;
	JSValue at = JS_GetPrototype(e->ctx, value);
	for (; JS_IsObject(at) && ++count <= prototypes;) {
		JSValue above = JS_GetPrototype(e->ctx, at);
		JS_FreeValue(e->ctx, at);
		at = above;
	}
	/* A prototype may be a proxy whose handler throws. */
	bool threw = JS_IsException(at);
	if (threw)
		JS_FreeValue(e->ctx, JS_GetException(e->ctx));
	JS_FreeValue(e->ctx, at);
	return threw || count > prototypes;
}

/* An instance of an Error subclass crosses as an error with its name. */
static bool is_data(struct encoder *e, JSValueConst value) {
	enum { DIRECT = 2, TYPED_ARRAY = 3 };
	if (JS_IsProxy(value) || JS_IsFunction(e->ctx, value))
		return false;
	if (JS_GetTypedArrayType(value) >= 0)
		return !is_subclass(e, value, TYPED_ARRAY);
	if (JS_IsArray(value) || JS_IsArrayBuffer(value) || JS_IsDataView(value) || JS_IsMap(value) ||
	    JS_IsSet(value) || JS_IsDate(value) || JS_IsRegExp(value))
		return !is_subclass(e, value, DIRECT);
	return JS_IsError(value) || is_plain(e, value);
}

static bool keep(struct encoder *e, JSValueConst value) {
	if (e->n_kept == e->cap_kept) {
		uint32_t cap = e->cap_kept ? e->cap_kept * 2 : 16;
		struct kept *kept = realloc(e->kept, cap * sizeof *kept);
		if (!kept)
			return false;
		e->kept = kept;
		e->cap_kept = cap;
	}
	e->kept[e->n_kept++] = (struct kept){.value = JS_DupValue(e->ctx, value)};
	return true;
}

/* A getter of the guest threw. */
static bool encode_thrown(struct encoder *e) {
	if (e->mode != GB_JS_LENIENT)
		return false;
	JS_FreeValue(e->ctx, JS_GetException(e->ctx));
	gb_cbor_string(e->out, "[threw]", strlen("[threw]"));
	return true;
}

static bool encode_lent(struct encoder *e, JSValueConst value) {
	bool is_promise = JS_IsPromise(value);
	enum gb_side side;
	uint32_t id;
	if (!gb_js_bridge_lend(e->js, value, &side, &id))
		return false;
	gb_put_lent(e->out, is_promise, side, id);
	return true;
}

static bool can_be_lent(struct encoder *e, JSValueConst value) {
	return e->mode == GB_JS_BRIDGED && !JS_IsProxy(value) &&
	       (JS_IsFunction(e->ctx, value) || JS_IsPromise(value));
}

static bool encode_identity(struct encoder *e, JSValueConst value, const struct step *at) {
	if (can_be_lent(e, value))
		return encode_lent(e, value);
	if (!is_data(e, value))
		return refuse(e, value, at);
	if (e->depth == GB_WIRE_DEPTH_MAX && e->mode == GB_JS_LENIENT)
		return refuse(e, value, at);
	if (e->depth == GB_WIRE_DEPTH_MAX)
		return throw_at(e, at, "it is nested too deep");
	bool is_new;
	uint32_t *number = gb_identity_at(&e->met, JS_VALUE_GET_PTR(value), &is_new);
	if (!number || (is_new && !keep(e, value))) {
		e->out->failed = true;
		return true;
	}
	if (!is_new) {
		gb_put_reference(e->out, *number);
		return true;
	}
	*number = e->n_kept - 1;
	e->depth++;
	bool ok = encode_new(e, value, at);
	e->depth--;
	return ok;
}

static bool encode(struct encoder *e, JSValueConst value, const struct step *at) {
	if (JS_IsException(value))
		return encode_thrown(e);
	if (e->out->failed)
		return true; /* @out is full; the caller checks for that at the end */
	if (JS_IsString(value))
		return encode_string(e, value);
	if (JS_IsBigInt(value))
		return encode_bigint(e, value);
	if (JS_IsObject(value))
		return encode_identity(e, value, at);
	if (JS_IsSymbol(value))
		return refuse(e, value, at);
	if (JS_IsBool(value))
		gb_cbor_simple(e->out, JS_VALUE_GET_BOOL(value) ? GB_SIMPLE_TRUE : GB_SIMPLE_FALSE);
	else if (JS_IsNull(value))
		gb_cbor_simple(e->out, GB_SIMPLE_NULL);
	else if (JS_IsUndefined(value))
		gb_cbor_simple(e->out, GB_SIMPLE_UNDEFINED);
	else {
		double number = 0;
		JS_ToFloat64(e->ctx, &number, value);
		gb_cbor_number(e->out, number);
	}
	return true;
}

bool gb_js_encode(
    struct gb_js *js, JSValueConst value, enum gb_js_encode_mode mode, const char *root, struct gb_buf *out) {
	struct encoder e = {.js = js, .ctx = js->guest, .mode = mode, .root = root, .out = out};
	bool ok = encode(&e, value, NULL);
	gb_identity_finish(&e.met);
	for (uint32_t i = 0; i < e.n_kept; i++)
		JS_FreeValue(js->guest, e.kept[i].value);
	free(e.kept);
	return ok && !out->failed;
}
