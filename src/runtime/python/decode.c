#include "runtime/python/codec.h"

#include <datetime.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "glovebox/value.h"
#include "runtime/python/bridge.h"
#include "runtime/wire.h"

struct decoder {
	struct gb_cbor_reader *in;
	struct gb_py_met met;
	unsigned depth;
};

/* Helpers implemented in Python. */
static struct {
	PyObject *make_error;
	PyObject *make_pattern;
	PyObject *make_array;
	PyObject *hashable; /* converts an unhashable key: a list to a tuple */
	PyObject *epoch;    /* 1970-01-01 as a datetime */
} own;

static PyObject *decode(struct decoder *d);

bool gb_py_decode_init(PyObject *values) {
	PyDateTime_IMPORT;
	own.make_error = PyObject_GetAttrString(values, "make_error");
	own.make_pattern = PyObject_GetAttrString(values, "make_pattern");
	own.make_array = PyObject_GetAttrString(values, "make_array");
	own.hashable = PyObject_GetAttrString(values, "hashable");
	own.epoch = PyObject_GetAttrString(values, "EPOCH");
	return PyDateTimeAPI && own.make_error && own.make_pattern && own.make_array && own.hashable &&
	       own.epoch;
}

/* The host wrote these bytes: a mismatch between host and worker, not a user error. */
static PyObject *malformed(void) {
	if (!PyErr_Occurred())
		PyErr_SetString(PyExc_SystemError, "malformed value");
	return NULL;
}

/* Assign the next number to @value, which may still be NULL. Must be called before the contents of the value
 * are read. */
static bool number_value(struct decoder *d, PyObject *value) {
	struct gb_py_met *met = &d->met;
	if (met->n == met->cap) {
		uint32_t cap = met->cap ? met->cap * 2 : 16;
		PyObject **list = realloc(met->list, cap * sizeof *list);
		if (!list) {
			PyErr_NoMemory();
			return false;
		}
		met->list = list;
		met->cap = cap;
	}
	met->list[met->n++] = Py_XNewRef(value);
	return true;
}

/* Number a value without contents. */
static PyObject *numbered(struct decoder *d, PyObject *value) {
	if (value && number_value(d, value))
		return value;
	Py_XDECREF(value);
	return NULL;
}

static PyObject *fill_number(struct decoder *d, uint32_t number, PyObject *value) {
	d->met.list[number] = Py_XNewRef(value);
	return value;
}

static PyObject *decode_text(struct decoder *d) {
	struct gb_cbor_item item;
	if (!gb_cbor_next(d->in, &item))
		return malformed();
	if (item.kind == GB_CBOR_TEXT)
		return PyUnicode_DecodeUTF8((const char *)item.bytes, (Py_ssize_t)item.argument, NULL);
	if (item.kind == GB_CBOR_TAG && item.argument == GB_CBOR_WTF8 && gb_cbor_next(d->in, &item) &&
	    item.kind == GB_CBOR_BYTES)
		return PyUnicode_DecodeUTF8(
		    (const char *)item.bytes, (Py_ssize_t)item.argument, "surrogatepass");
	return malformed();
}

static bool decode_count(struct decoder *d, enum gb_cbor_kind kind, uint64_t *ret_n) {
	struct gb_cbor_item item;
	if (!gb_cbor_next(d->in, &item) || item.kind != kind)
		return false;
	*ret_n = item.argument;
	return true;
}

/* --- containers --- */

static PyObject *decode_array(struct decoder *d, uint64_t n, bool is_root) {
	gb_auto_py PyObject *list = PyList_New((Py_ssize_t)n);
	if (!list || (!is_root && !number_value(d, list)))
		return NULL;
	/* Fill with None first: references can expose the list before it is complete. */
	for (uint64_t i = 0; i < n; i++)
		PyList_SET_ITEM(list, (Py_ssize_t)i, Py_NewRef(Py_None));
	for (uint64_t i = 0; i < n; i++) {
		PyObject *item = decode(d);
		if (!item || PyList_SetItem(list, (Py_ssize_t)i, item) < 0)
			return NULL;
	}
	return gb_py_take(&list);
}

static PyObject *decode_object(struct decoder *d, uint64_t n, bool is_root) {
	gb_auto_py PyObject *dict = PyDict_New();
	if (!dict || (!is_root && !number_value(d, dict)))
		return NULL;
	for (uint64_t i = 0; i < n; i++) {
		gb_auto_py PyObject *key = decode_text(d);
		gb_auto_py PyObject *value = key ? decode(d) : NULL;
		if (!value || PyDict_SetItem(dict, key, value) < 0)
			return NULL;
	}
	return gb_py_take(&dict);
}

static PyObject *decode_key(struct decoder *d) {
	PyObject *key = decode(d);
	if (!key || PyObject_Hash(key) != -1)
		return key;
	PyErr_Clear();
	PyObject *other = PyObject_CallOneArg(own.hashable, key);
	Py_DECREF(key);
	return other;
}

static PyObject *decode_map(struct decoder *d) {
	uint64_t n;
	gb_auto_py PyObject *dict = PyDict_New();
	if (!decode_count(d, GB_CBOR_OBJECT, &n) || !dict || !number_value(d, dict))
		return malformed();
	for (uint64_t i = 0; i < n; i++) {
		gb_auto_py PyObject *key = decode_key(d);
		gb_auto_py PyObject *value = key ? decode(d) : NULL;
		if (!value || PyDict_SetItem(dict, key, value) < 0)
			return NULL;
	}
	return gb_py_take(&dict);
}

static PyObject *decode_set(struct decoder *d) {
	uint64_t n;
	gb_auto_py PyObject *set = PySet_New(NULL);
	if (!decode_count(d, GB_CBOR_ARRAY, &n) || !set || !number_value(d, set))
		return malformed();
	for (uint64_t i = 0; i < n; i++) {
		gb_auto_py PyObject *item = decode_key(d);
		if (!item || PySet_Add(set, item) < 0)
			return NULL;
	}
	return gb_py_take(&set);
}

/* --- the other tags --- */

static PyObject *decode_bigint(struct decoder *d, bool negative) {
	struct gb_cbor_item item;
	if (!gb_cbor_next(d->in, &item) || item.kind != GB_CBOR_BYTES)
		return malformed();
	PyObject *magnitude = _PyLong_FromByteArray(item.bytes, item.argument, 0, 0);
	if (!negative || !magnitude)
		return magnitude;
	PyObject *inverse = PyNumber_Invert(magnitude);
	Py_DECREF(magnitude);
	return inverse;
}

/* A date out of datetime's range is an error; an invalid date is None. */
static PyObject *decode_date(struct decoder *d) {
	struct gb_cbor_item item;
	if (!gb_cbor_next(d->in, &item) || item.kind != GB_CBOR_FLOAT)
		return malformed();
	if (isnan(item.number))
		return numbered(d, Py_NewRef(Py_None));
	double days = floor(item.number / 86400000), rest = item.number - days * 86400000;
	gb_auto_py PyObject *since =
	    PyDelta_FromDSU((int)days, (int)(rest / 1000), (int)fmod(rest, 1000) * 1000);
	return numbered(d, since ? PyNumber_Add(own.epoch, since) : NULL);
}

/* The view's number precedes its buffer's, but the view can only be created after its buffer. */
static PyObject *decode_view(struct decoder *d) {
	static const char codes[] = {
	    [GB_INT8] = 'b',
	    [GB_INT16] = 'h',
	    [GB_UINT16] = 'H',
	    [GB_INT32] = 'i',
	    [GB_UINT32] = 'I',
	    [GB_FLOAT16] = 'e',
	    [GB_FLOAT32] = 'f',
	    [GB_FLOAT64] = 'd',
	    [GB_BIGINT64] = 'q',
	    [GB_BIGUINT64] = 'Q',
	};
	static const uint8_t sizes[] = {1, 1, 1, 2, 2, 4, 4, 2, 4, 8, 8, 8, 1};
	struct gb_cbor_item kind, offset, length;
	uint64_t n;
	uint32_t number = d->met.n;
	if (!decode_count(d, GB_CBOR_ARRAY, &n) || n != 4 || !number_value(d, NULL) ||
	    !gb_cbor_next(d->in, &kind) || !gb_cbor_next(d->in, &offset) || !gb_cbor_next(d->in, &length) ||
	    kind.argument >= GB_COUNT(sizes))
		return malformed();
	gb_auto_py PyObject *buffer = decode(d);
	if (!buffer || !PyBytes_Check(buffer))
		return malformed();
	uint64_t bytes = (uint64_t)PyBytes_GET_SIZE(buffer);
	if (offset.argument > bytes || length.argument > (bytes - offset.argument) / sizes[kind.argument])
		return malformed();
	Py_ssize_t size = (Py_ssize_t)(length.argument * sizes[kind.argument]);
	PyObject *window = size == PyBytes_GET_SIZE(buffer)
			       ? Py_NewRef(buffer)
			       : PyBytes_FromStringAndSize(PyBytes_AS_STRING(buffer) + offset.argument, size);
	char code = kind.argument < GB_COUNT(codes) ? codes[kind.argument] : '\0';
	if (!window || !code)
		return fill_number(d, number, window);
	gb_auto_py PyObject *elements = window;
	return fill_number(d, number, PyObject_CallFunction(own.make_array, "CO", code, elements));
}

/* Cause and errors, after the texts; they may refer to the error itself. */
static bool decode_parts(struct decoder *d, PyObject *error) {
	gb_auto_py PyObject *cause = decode(d), *errors = cause ? decode(d) : NULL;
	if (!errors)
		return false;
	if (PyExceptionInstance_Check(cause))
		PyException_SetCause(error, Py_NewRef(cause));
	return errors == Py_None || PyObject_SetAttrString(error, "errors", errors) == 0;
}

static PyObject *decode_error(struct decoder *d) {
	uint64_t n;
	uint32_t number = d->met.n;
	if (!decode_count(d, GB_CBOR_ARRAY, &n) || (n != 3 && n != GB_CBOR_ERROR_FIELDS) ||
	    !number_value(d, NULL))
		return malformed();
	gb_auto_py PyObject *name = decode_text(d);
	gb_auto_py PyObject *message = name ? decode_text(d) : NULL;
	gb_auto_py PyObject *stack = message ? decode(d) : NULL;
	if (!stack)
		return NULL;
	PyObject *error =
	    fill_number(d, number, PyObject_CallFunctionObjArgs(own.make_error, name, message, stack, NULL));
	if (!error || n == 3 || decode_parts(d, error))
		return error;
	Py_DECREF(error);
	return NULL;
}

static PyObject *decode_regexp(struct decoder *d) {
	uint64_t n;
	uint32_t number = d->met.n;
	if (!decode_count(d, GB_CBOR_ARRAY, &n) || n != 2 || !number_value(d, NULL))
		return malformed();
	gb_auto_py PyObject *source = decode_text(d);
	gb_auto_py PyObject *flags = source ? decode_text(d) : NULL;
	if (!flags)
		return NULL;
	return fill_number(d, number, PyObject_CallFunctionObjArgs(own.make_pattern, source, flags, NULL));
}

/* A lent function or promise: the host's, or one of our own sent back. */
static PyObject *decode_lent(struct decoder *d, bool is_function) {
	struct gb_cbor_item side, id, name;
	uint64_t n;
	if (!decode_count(d, GB_CBOR_ARRAY, &n) || n != (is_function ? 3 : 2) ||
	    !gb_cbor_next(d->in, &side) || !gb_cbor_next(d->in, &id) ||
	    (is_function && !gb_cbor_next(d->in, &name)))
		return malformed();
	uint32_t number = (uint32_t)id.argument;
	if (side.argument == GB_SANDBOX)
		return gb_py_bridge_own(number);
	if (!is_function)
		return gb_py_bridge_promise(number);
	bool is_named = name.kind == GB_CBOR_TEXT;
	return gb_py_bridge_function(
	    number, is_named ? (const char *)name.bytes : "", is_named ? name.argument : 0);
}

static PyObject *decode_reference(struct decoder *d) {
	struct gb_cbor_item item;
	if (!gb_cbor_next(d->in, &item) || item.kind != GB_CBOR_UNSIGNED || item.argument >= d->met.n ||
	    !d->met.list[item.argument])
		return malformed();
	return Py_NewRef(d->met.list[item.argument]);
}

static PyObject *decode_tagged(struct decoder *d, uint64_t tag, const struct gb_cbor_reader *before) {
	switch (tag) {
	case GB_CBOR_BIGINT:
	case GB_CBOR_NEGATIVE_BIGINT:
		return decode_bigint(d, tag == GB_CBOR_NEGATIVE_BIGINT);
	case GB_CBOR_REFERENCE:
		return decode_reference(d);
	case GB_CBOR_MAP:
		return decode_map(d);
	case GB_CBOR_SET:
		return decode_set(d);
	case GB_CBOR_WTF8:
		*d->in = *before;
		return decode_text(d);
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
	return malformed();
}

static PyObject *decode_simple(uint64_t simple) {
	switch (simple) {
	case GB_SIMPLE_FALSE:
		Py_RETURN_FALSE;
	case GB_SIMPLE_TRUE:
		Py_RETURN_TRUE;
	case GB_SIMPLE_NULL:
	case GB_SIMPLE_UNDEFINED:
	case GB_SIMPLE_HOLE:
		Py_RETURN_NONE;
	}
	return malformed();
}

/* JavaScript has one number type: its whole numbers are ints here. */
static PyObject *decode_item(struct decoder *d) {
	struct gb_cbor_reader before = *d->in;
	struct gb_cbor_item item;
	if (!gb_cbor_next(d->in, &item))
		return malformed();
	switch (item.kind) {
	case GB_CBOR_UNSIGNED:
	case GB_CBOR_NEGATIVE:
		return PyLong_FromDouble(item.number);
	case GB_CBOR_FLOAT:
		return PyFloat_FromDouble(item.number);
	case GB_CBOR_TEXT:
		return PyUnicode_DecodeUTF8((const char *)item.bytes, (Py_ssize_t)item.argument, NULL);
	case GB_CBOR_BYTES:
		return numbered(
		    d, PyBytes_FromStringAndSize((const char *)item.bytes, (Py_ssize_t)item.argument));
	case GB_CBOR_ARRAY:
		return decode_array(d, item.argument, false);
	case GB_CBOR_OBJECT:
		return decode_object(d, item.argument, false);
	case GB_CBOR_TAG:
		return decode_tagged(d, item.argument, &before);
	case GB_CBOR_SIMPLE:
		return decode_simple(item.argument);
	}
	return malformed();
}

static PyObject *decode(struct decoder *d) {
	if (d->depth == 2 * GB_WIRE_DEPTH_MAX) {
		PyErr_SetString(PyExc_RecursionError, "value is nested too deep");
		return NULL;
	}
	d->depth++;
	PyObject *value = decode_item(d);
	d->depth--;
	return value;
}

void gb_py_met_finish(struct gb_py_met *met) {
	for (uint32_t i = 0; i < met->n; i++)
		Py_XDECREF(met->list[i]);
	free(met->list);
	*met = (struct gb_py_met){0};
}

PyObject *gb_py_decode(struct gb_cbor_reader *in) {
	struct decoder d = {.in = in};
	PyObject *value = decode(&d);
	gb_py_met_finish(&d.met);
	return value;
}

PyObject *gb_py_decode_root(struct gb_cbor_reader *in, struct gb_py_met *met) {
	struct decoder d = {.in = in, .met = *met, .depth = 1};
	struct gb_cbor_item item;
	if (!gb_cbor_next(in, &item) || (item.kind != GB_CBOR_OBJECT && item.kind != GB_CBOR_ARRAY))
		return malformed();
	if (item.argument == 0)
		Py_RETURN_NONE;
	PyObject *value = item.kind == GB_CBOR_OBJECT ? decode_object(&d, item.argument, true)
						      : decode_array(&d, item.argument, true);
	*met = d.met;
	return value;
}
