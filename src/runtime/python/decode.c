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
	struct gb_py_decoded decoded;
	unsigned depth;
};

/* Helpers implemented in Python. */
static struct {
	PyObject *make_error;
	PyObject *make_pattern;
	PyObject *make_array;
	PyObject *hashable; /* converts an unhashable key: a list to a tuple */
	PyObject *epoch;    /* 1970-01-01 as a datetime */
} helpers;

static PyObject *decode(struct decoder *d);

bool gb_py_decode_init(PyObject *values) {
	PyDateTime_IMPORT;
	helpers.make_error = PyObject_GetAttrString(values, "make_error");
	helpers.make_pattern = PyObject_GetAttrString(values, "make_pattern");
	helpers.make_array = PyObject_GetAttrString(values, "make_array");
	helpers.hashable = PyObject_GetAttrString(values, "hashable");
	helpers.epoch = PyObject_GetAttrString(values, "EPOCH");
	return PyDateTimeAPI && helpers.make_error && helpers.make_pattern && helpers.make_array &&
	       helpers.hashable && helpers.epoch;
}

/* The host encoded these bytes. If they are malformed, host and worker do not match; it is not a user error. */
static PyObject *malformed(void) {
	if (!PyErr_Occurred())
		PyErr_SetString(PyExc_SystemError, "malformed value");
	return NULL;
}

/* Give @value the next number. Numbers are in the order in which values begin, so this must be called before the
 * contents of the value are read. If the value cannot be created yet, @value is NULL: see complete_number. */
static bool assign_number(struct decoder *d, PyObject *value) {
	struct gb_py_decoded *decoded = &d->decoded;
	if (decoded->n == decoded->cap) {
		uint32_t cap = decoded->cap ? decoded->cap * 2 : 16;
		PyObject **list = realloc(decoded->list, cap * sizeof *list);
		if (!list) {
			PyErr_NoMemory();
			return false;
		}
		decoded->list = list;
		decoded->cap = cap;
	}
	decoded->list[decoded->n++] = Py_XNewRef(value);
	return true;
}

/* Give a number to a value without contents, and return the value. */
static PyObject *with_number(struct decoder *d, PyObject *value) {
	if (value && assign_number(d, value))
		return value;
	Py_XDECREF(value);
	return NULL;
}

/* Store the value of a number that was assigned to NULL, and return the value. */
static PyObject *complete_number(struct decoder *d, uint32_t number, PyObject *value) {
	d->decoded.list[number] = Py_XNewRef(value);
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
	if (!list || (!is_root && !assign_number(d, list)))
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
	if (!dict || (!is_root && !assign_number(d, dict)))
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
	PyObject *other = PyObject_CallOneArg(helpers.hashable, key);
	Py_DECREF(key);
	return other;
}

static PyObject *decode_map(struct decoder *d) {
	uint64_t n;
	gb_auto_py PyObject *dict = PyDict_New();
	if (!decode_count(d, GB_CBOR_OBJECT, &n) || !dict || !assign_number(d, dict))
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
	if (!decode_count(d, GB_CBOR_ARRAY, &n) || !set || !assign_number(d, set))
		return malformed();
	for (uint64_t i = 0; i < n; i++) {
		gb_auto_py PyObject *item = decode_key(d);
		if (!item || PySet_Add(set, item) < 0)
			return NULL;
	}
	return gb_py_take(&set);
}

/* --- other tagged values --- */

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

/* A date outside the range of datetime raises an exception; JavaScript's invalid date becomes None. */
static PyObject *decode_date(struct decoder *d) {
	struct gb_cbor_item item;
	if (!gb_cbor_next(d->in, &item) || item.kind != GB_CBOR_FLOAT)
		return malformed();
	if (isnan(item.number))
		return with_number(d, Py_NewRef(Py_None));
	double days = floor(item.number / 86400000), rest = item.number - days * 86400000;
	gb_auto_py PyObject *since =
	    PyDelta_FromDSU((int)days, (int)(rest / 1000), (int)fmod(rest, 1000) * 1000);
	return with_number(d, since ? PyNumber_Add(helpers.epoch, since) : NULL);
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
	uint32_t number = d->decoded.n;
	if (!decode_count(d, GB_CBOR_ARRAY, &n) || n != 4 || !assign_number(d, NULL) ||
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
		return complete_number(d, number, window);
	gb_auto_py PyObject *elements = window;
	return complete_number(d, number, PyObject_CallFunction(helpers.make_array, "CO", code, elements));
}

/* Decode the cause and the errors of @error, which follow its texts. They can refer to @error itself. */
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
	uint32_t number = d->decoded.n;
	if (!decode_count(d, GB_CBOR_ARRAY, &n) || (n != 3 && n != GB_CBOR_ERROR_FIELDS) ||
	    !assign_number(d, NULL))
		return malformed();
	gb_auto_py PyObject *name = decode_text(d);
	gb_auto_py PyObject *message = name ? decode_text(d) : NULL;
	gb_auto_py PyObject *stack = message ? decode(d) : NULL;
	if (!stack)
		return NULL;
	PyObject *error = complete_number(
	    d, number, PyObject_CallFunctionObjArgs(helpers.make_error, name, message, stack, NULL));
	if (!error || n == 3 || decode_parts(d, error))
		return error;
	Py_DECREF(error);
	return NULL;
}

static PyObject *decode_regexp(struct decoder *d) {
	uint64_t n;
	uint32_t number = d->decoded.n;
	if (!decode_count(d, GB_CBOR_ARRAY, &n) || n != 2 || !assign_number(d, NULL))
		return malformed();
	gb_auto_py PyObject *source = decode_text(d);
	gb_auto_py PyObject *flags = source ? decode_text(d) : NULL;
	if (!flags)
		return NULL;
	return complete_number(
	    d, number, PyObject_CallFunctionObjArgs(helpers.make_pattern, source, flags, NULL));
}

/* A function or promise on the other side of the bridge. If the host sends back one of this side, its original. */
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
	if (!gb_cbor_next(d->in, &item) || item.kind != GB_CBOR_UNSIGNED || item.argument >= d->decoded.n ||
	    !d->decoded.list[item.argument])
		return malformed();
	return Py_NewRef(d->decoded.list[item.argument]);
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

/* JavaScript has one number type. Its whole numbers are encoded as CBOR integers, and become ints. */
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
		return with_number(
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

void gb_py_decoded_finish(struct gb_py_decoded *decoded) {
	for (uint32_t i = 0; i < decoded->n; i++)
		Py_XDECREF(decoded->list[i]);
	free(decoded->list);
	*decoded = (struct gb_py_decoded){0};
}

PyObject *gb_py_decode(struct gb_cbor_reader *in) {
	struct decoder d = {.in = in};
	PyObject *value = decode(&d);
	gb_py_decoded_finish(&d.decoded);
	return value;
}

PyObject *gb_py_decode_root(struct gb_cbor_reader *in, struct gb_py_decoded *decoded) {
	struct decoder d = {.in = in, .decoded = *decoded, .depth = 1};
	struct gb_cbor_item item;
	if (!gb_cbor_next(in, &item) || (item.kind != GB_CBOR_OBJECT && item.kind != GB_CBOR_ARRAY))
		return malformed();
	if (item.argument == 0)
		Py_RETURN_NONE;
	PyObject *value = item.kind == GB_CBOR_OBJECT ? decode_object(&d, item.argument, true)
						      : decode_array(&d, item.argument, true);
	*decoded = d.decoded;
	return value;
}
