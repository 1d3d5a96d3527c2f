/*
 * JavaScript values to CBOR and back, without an intermediate form. The format is that of value/cbor.h.
 *
 *	if (!gb_js_encode(js, value, GB_JS_STRICT, "result", &out)) ...	// a SerializationError is pending
 *	JSValue value = gb_js_decode(js, &reader);
 */
#ifndef GB_JS_CODEC_H
#define GB_JS_CODEC_H

#include <stdbool.h>

#include "base/buf.h"
#include "quickjs.h"
#include "runtime/js/realm.h"
#include "value/cbor.h"

enum gb_js_encode_mode {
	GB_JS_STRICT,  /* a value that is not data throws a SerializationError with its path */
	GB_JS_BRIDGED, /* the same, but functions and promises are lent to the other side */
	GB_JS_CLONE,   /* as structuredClone: class instances lose their class */
	GB_JS_LENIENT, /* for a log: a value that is not data becomes a text that describes it */
};

/* Call once, in a fresh realm. */
void gb_js_take_intrinsics(struct gb_js *js);
void gb_js_drop_intrinsics(struct gb_js *js);

/* Append @value as one item; error messages call it @root. False with an exception pending, or if @out has
 * failed. */
bool gb_js_encode(
    struct gb_js *js, JSValueConst value, enum gb_js_encode_mode mode, const char *root, struct gb_buf *out);

/* Read one value. JS_EXCEPTION, with an exception pending, if the bytes are malformed. */
JSValue gb_js_decode(struct gb_js *js, struct gb_cbor_reader *in);

/* Values decoded so far, for a graph that is read in several calls. Zero-initialised. */
struct gb_js_met {
	JSValue *list; /* by number; owned */
	uint32_t n, cap;
};

/* Read an object or array without a number, as in a JOB frame, with references to values in @met. Undefined
 * if it is empty: most runs have no inputs, and need no empty objects. */
JSValue gb_js_decode_root(struct gb_js *js, struct gb_cbor_reader *in, struct gb_js_met *met);
void gb_js_met_finish(struct gb_js *js, struct gb_js_met *met);

/* Call @function with the elements of the array @arguments; undefined means no arguments. */
JSValue gb_js_apply_list(struct gb_js *js, JSValueConst function, JSValueConst arguments);
/* Call @function with the array of arguments read from @in. */
JSValue gb_js_apply(struct gb_js *js, JSValueConst function, struct gb_cbor_reader *in);

/* A deep copy, by encoding and decoding. */
JSValue gb_js_clone(struct gb_js *js, JSValueConst value);

#endif
