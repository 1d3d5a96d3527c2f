#include "runtime/python/codec.h"

#include <datetime.h>
#include <math.h>
#include <string.h>

#include "base/cleanup.h"
#include "glovebox/value.h"
#include "runtime/crossing.h"
#include "runtime/python/bridge.h"
#include "runtime/wire.h"
#include "value/identity.h"

/* The current position in the graph; only used for error messages. */
struct step {
	const struct step *parent;
	PyObject *key; /* NULL: an index */
	Py_ssize_t index;
};

struct encoder {
	enum gb_py_encode_mode mode;
	const char *root;
	struct gb_buf *out;
	struct gb_identity met;
	uint32_t n_met;
	/* objects created for this encoding: if one were freed, another object could reuse its address */
	PyObject *kept;
	unsigned depth;
	unsigned causes; /* nesting depth of causes and errors of errors */
};

/* Deeper chains of causes are cut. */
enum { CAUSES_MAX = 32 };

/* Helpers implemented in Python. */
static struct {
	PyObject *convert; /* converts an object that is not data, or returns NotImplemented */
	PyObject *refuse;  /* raises SerializationError */
	PyObject *error;   /* name, message, stack, cause and errors of an exception */
	PyObject *pattern; /* source and flags of a compiled pattern */
	PyObject *Pattern;
	PyObject *array;
} own;

static bool encode(struct encoder *e, PyObject *value, const struct step *at);

bool gb_py_encode_init(PyObject *values) {
	PyDateTime_IMPORT;
	own.convert = PyObject_GetAttrString(values, "convert");
	own.refuse = PyObject_GetAttrString(values, "refuse");
	own.error = PyObject_GetAttrString(values, "describe_error");
	own.pattern = PyObject_GetAttrString(values, "describe_pattern");
	own.Pattern = PyObject_GetAttrString(values, "Pattern");
	own.array = PyObject_GetAttrString(values, "array");
	return PyDateTimeAPI && own.convert && own.refuse && own.error && own.pattern && own.Pattern &&
	       own.array;
}

/* --- values that cannot cross --- */

/* Paths are truncated. Longer keys are omitted, not truncated: the redaction of secrets would miss a partial
 * one. */
enum { PATH_MAX_BYTES = 200, KEY_MAX_BYTES = 100 };

static void write_path(const struct step *at, struct gb_buf *path) {
	if (!at)
		return;
	write_path(at->parent, path);
	if (path->len > PATH_MAX_BYTES)
		return;
	const char *key = at->key && PyUnicode_Check(at->key) ? PyUnicode_AsUTF8(at->key) : NULL;
	if (!key)
		PyErr_Clear();
	if (key && strlen(key) > KEY_MAX_BYTES)
		gb_buf_printf(path, "[…]");
	else if (key && PyUnicode_IsIdentifier(at->key))
		gb_buf_printf(path, ".%s", key);
	else if (key)
		gb_buf_printf(path, "['%s']", key);
	else
		gb_buf_printf(path, "[%zd]", at->index);
	if (path->len > PATH_MAX_BYTES)
		gb_buf_printf(path, "…");
}

/* @why: NULL if the type of the value is the reason. */
static bool refuse(struct encoder *e, PyObject *value, const struct step *at, const char *why) {
	gb_auto_buf struct gb_buf path;
	gb_buf_init(&path, 4096);
	gb_buf_printf(&path, "%s", e->root);
	write_path(at, &path);
	gb_auto_py PyObject *text = PyUnicode_DecodeUTF8(path.data, (Py_ssize_t)path.len, "replace");
	if (!text)
		return false;
	gb_auto_py PyObject *nothing = PyObject_CallFunction(own.refuse, "OOz", text, value, why);
	if (nothing)
		PyErr_SetString(PyExc_SystemError, "refuse() did not raise");
	return false;
}

static bool changed_meanwhile(void) {
	PyErr_SetString(PyExc_RuntimeError, "a container changed while it was being sent");
	return false;
}

/* --- scalars --- */

/* Big-endian and unsigned. */
static bool write_magnitude(PyObject *magnitude, uint8_t *bytes, size_t n) {
#if PY_VERSION_HEX >= 0x030D0000
	return _PyLong_AsByteArray((PyLongObject *)magnitude, bytes, n, 0, 0, 1) == 0;
#else
	return _PyLong_AsByteArray((PyLongObject *)magnitude, bytes, n, 0, 0) == 0;
#endif
}

static bool encode_bigint(struct encoder *e, PyObject *value) {
	gb_auto_py PyObject *zero = PyLong_FromLong(0);
	int negative = zero ? PyObject_RichCompareBool(value, zero, Py_LT) : -1;
	if (negative < 0)
		return false;
	/* CBOR encodes a negative number n as -1 - n. */
	gb_auto_py PyObject *magnitude = negative ? PyNumber_Invert(value) : PyNumber_Index(value);
	size_t bits = magnitude ? _PyLong_NumBits(magnitude) : (size_t)-1;
	if (bits == (size_t)-1)
		return false;
	size_t n = (bits + 7) / 8;
	gb_cbor_tag(e->out, negative ? GB_CBOR_NEGATIVE_BIGINT : GB_CBOR_BIGINT);
	gb_auto_free uint8_t *bytes = malloc(n ? n : 1);
	if (!bytes) {
		PyErr_NoMemory();
		return false;
	}
	if (n && !write_magnitude(magnitude, bytes, n))
		return false;
	gb_cbor_bytes(e->out, bytes, n);
	return true;
}

static bool encode_int(struct encoder *e, PyObject *value) {
	const long long safe = (1ll << 53) - 1;
	int overflow;
	long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
	if (number == -1 && PyErr_Occurred())
		return false;
	if (overflow || number > safe || number < -safe)
		return encode_bigint(e, value);
	gb_cbor_number(e->out, (double)number);
	return true;
}

static bool encode_text(struct encoder *e, PyObject *text) {
	Py_ssize_t n;
	const char *bytes = PyUnicode_AsUTF8AndSize(text, &n);
	if (bytes) {
		gb_cbor_string(e->out, bytes, (size_t)n);
		return true;
	}
	if (!PyErr_ExceptionMatches(PyExc_UnicodeEncodeError))
		return false;
	PyErr_Clear();
	/* Via UTF-16, which combines surrogate pairs into one character. */
	gb_auto_py PyObject *units = PyUnicode_AsEncodedString(text, "utf-16-le", "surrogatepass");
	gb_auto_py PyObject *joined = units ? PyUnicode_Decode(PyBytes_AS_STRING(units),
						  PyBytes_GET_SIZE(units), "utf-16-le", "surrogatepass")
					    : NULL;
	gb_auto_py PyObject *wtf8 =
	    joined ? PyUnicode_AsEncodedString(joined, "utf-8", "surrogatepass") : NULL;
	if (!wtf8)
		return false;
	gb_cbor_string(e->out, PyBytes_AS_STRING(wtf8), (size_t)PyBytes_GET_SIZE(wtf8));
	return true;
}

/* --- objects --- */

static bool encode_list(struct encoder *e, PyObject *list, const struct step *at) {
	Py_ssize_t n = PySequence_Fast_GET_SIZE(list);
	gb_cbor_array(e->out, (uint64_t)n);
	for (Py_ssize_t i = 0; i < n; i++) {
		if (PySequence_Fast_GET_SIZE(list) != n)
			return changed_meanwhile();
		PyObject *item = Py_NewRef(PySequence_Fast_GET_ITEM(list, i));
		bool ok = encode(e, item, &(struct step){.parent = at, .index = i});
		Py_DECREF(item);
		if (!ok)
			return false;
	}
	return true;
}

static bool has_text_keys(PyObject *dict) {
	PyObject *key;
	for (Py_ssize_t at = 0; PyDict_Next(dict, &at, &key, NULL);)
		if (!PyUnicode_Check(key))
			return false;
	return true;
}

static bool encode_dict(struct encoder *e, PyObject *dict, const struct step *at) {
	Py_ssize_t n = PyDict_GET_SIZE(dict), i = 0;
	bool is_object = has_text_keys(dict);
	if (!is_object)
		gb_cbor_tag(e->out, GB_CBOR_MAP);
	gb_cbor_object(e->out, (uint64_t)n);
	PyObject *key, *value;
	for (Py_ssize_t next = 0; PyDict_Next(dict, &next, &key, &value); i++) {
		const struct step step = {.parent = at, .key = key, .index = i};
		Py_INCREF(key);
		Py_INCREF(value);
		bool ok =
		    (is_object ? encode_text(e, key) : encode(e, key, &step)) && encode(e, value, &step);
		Py_DECREF(key);
		Py_DECREF(value);
		if (!ok)
			return false;
		if (PyDict_GET_SIZE(dict) != n)
			return changed_meanwhile();
	}
	return i == n || changed_meanwhile();
}

static bool encode_set(struct encoder *e, PyObject *set, const struct step *at) {
	gb_auto_py PyObject *list = PySequence_List(set);
	if (!list)
		return false;
	gb_cbor_tag(e->out, GB_CBOR_SET);
	return encode_list(e, list, at);
}

static void encode_window(struct encoder *e, enum gb_view_kind kind, const Py_buffer *view, size_t size) {
	e->n_met++; /* the buffer's number follows its view's */
	gb_cbor_tag(e->out, GB_CBOR_VIEW);
	gb_cbor_array(e->out, 4);
	gb_cbor_unsigned(e->out, kind);
	gb_cbor_unsigned(e->out, 0);
	gb_cbor_unsigned(e->out, (uint64_t)view->len / size);
	gb_cbor_bytes(e->out, view->buf, (size_t)view->len);
}

/* The element type of a buffer on the other side; unknown types are bytes. */
static enum gb_view_kind kind_of(const Py_buffer *view, size_t *ret_size) {
	static const struct {
		const char *formats;
		Py_ssize_t size;
		enum gb_view_kind kind;
	} kinds[] = {
	    {"b", 1, GB_INT8},
	    {"h", 2, GB_INT16},
	    {"H", 2, GB_UINT16},
	    {"il", 4, GB_INT32},
	    {"IL", 4, GB_UINT32},
	    {"e", 2, GB_FLOAT16},
	    {"f", 4, GB_FLOAT32},
	    {"d", 8, GB_FLOAT64},
	    {"lq", 8, GB_BIGINT64},
	    {"LQ", 8, GB_BIGUINT64},
	};
	const char *format = view->format ? view->format : "B";
	if (*format == '<' || *format == '@' || *format == '=')
		format++;
	*ret_size = 1;
	for (size_t i = 0; i < GB_COUNT(kinds) && *format && !format[1]; i++) {
		if (kinds[i].size == view->itemsize && strchr(kinds[i].formats, *format)) {
			*ret_size = (size_t)view->itemsize;
			return kinds[i].kind;
		}
	}
	return GB_UINT8;
}

static bool encode_buffer(struct encoder *e, PyObject *value) {
	Py_buffer view;
	gb_auto_py PyObject *copy = NULL;
	if (PyObject_GetBuffer(value, &view, PyBUF_FORMAT | PyBUF_C_CONTIGUOUS) < 0) {
		/* A non-contiguous view. */
		PyErr_Clear();
		copy = PyBytes_FromObject(value);
		if (!copy || PyObject_GetBuffer(copy, &view, PyBUF_FORMAT | PyBUF_C_CONTIGUOUS) < 0)
			return false;
	}
	size_t size;
	enum gb_view_kind kind = kind_of(&view, &size);
	encode_window(e, kind, &view, size);
	PyBuffer_Release(&view);
	return true;
}

/* Days since 1970 in the Gregorian calendar. */
static int64_t days_of(int64_t year, int64_t month, int64_t day) {
	year -= month <= 2;
	int64_t era = year / 400, of_era = year % 400;
	int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
	return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

/* A naive datetime is UTC, like the clock of the sandbox. */
static bool utc_offset_us(PyObject *value, int64_t *ret_us) {
	*ret_us = 0;
	if (PyDateTime_DATE_GET_TZINFO(value) == Py_None ||
	    PyDateTime_DATE_GET_TZINFO(value) == PyDateTime_TimeZone_UTC)
		return true;
	gb_auto_py PyObject *offset = PyObject_CallMethod(value, "utcoffset", NULL);
	if (!offset)
		return false;
	if (PyDelta_Check(offset))
		*ret_us = (PyDateTime_DELTA_GET_DAYS(offset) * (int64_t)86400 +
			      PyDateTime_DELTA_GET_SECONDS(offset)) *
			      1000000 +
			  PyDateTime_DELTA_GET_MICROSECONDS(offset);
	return true;
}

static bool encode_datetime(struct encoder *e, PyObject *value) {
	double milliseconds;
	if (PyDateTime_CheckExact(value)) {
		int64_t offset;
		if (!utc_offset_us(value, &offset))
			return false;
		int64_t seconds = days_of(PyDateTime_GET_YEAR(value), PyDateTime_GET_MONTH(value),
				      PyDateTime_GET_DAY(value)) *
				      86400 +
				  PyDateTime_DATE_GET_HOUR(value) * 3600 +
				  PyDateTime_DATE_GET_MINUTE(value) * 60 + PyDateTime_DATE_GET_SECOND(value);
		int64_t us = seconds * 1000000 + PyDateTime_DATE_GET_MICROSECOND(value) - offset;
		int64_t whole = us / 1000 - (us % 1000 < 0);
		milliseconds = (double)whole;
	} else {
		/* Library subclasses, some of which have no timestamp: pandas' NaT. */
		gb_auto_py PyObject *stamp = PyObject_CallMethod(value, "timestamp", NULL);
		if (!stamp && !PyErr_ExceptionMatches(PyExc_ValueError))
			return false;
		PyErr_Clear();
		milliseconds = stamp ? floor(PyFloat_AsDouble(stamp) * 1000 + 0.0005) : NAN;
		if (PyErr_Occurred())
			return false;
	}
	gb_cbor_tag(e->out, GB_CBOR_DATE);
	gb_cbor_float(e->out, milliseconds);
	return true;
}

/* A tag with an array of texts (or None) that the Python helper @get_texts returns. */
static bool encode_texts(struct encoder *e, uint64_t tag, PyObject *get_texts, PyObject *value) {
	gb_auto_py PyObject *texts = PyObject_CallOneArg(get_texts, value);
	if (!texts || !PyTuple_Check(texts))
		return false;
	gb_cbor_tag(e->out, tag);
	gb_cbor_array(e->out, (uint64_t)PyTuple_GET_SIZE(texts));
	for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(texts); i++)
		if (!encode(e, PyTuple_GET_ITEM(texts, i), NULL))
			return false;
	return true;
}

static bool keep(struct encoder *e, PyObject *value) {
	if (!e->kept)
		e->kept = PyList_New(0);
	return e->kept && PyList_Append(e->kept, value) == 0;
}

static bool encode_part(struct encoder *e, PyObject *value) {
	if (value == Py_None) {
		gb_cbor_simple(e->out, GB_SIMPLE_HOLE);
		return true;
	}
	e->causes++;
	bool ok = encode(e, value, NULL);
	e->causes--;
	return ok;
}

static bool encode_error(struct encoder *e, PyObject *error) {
	enum { TEXTS = 3 };
	gb_auto_py PyObject *parts = PyObject_CallOneArg(own.error, error);
	if (!parts || !PyTuple_Check(parts) || PyTuple_GET_SIZE(parts) != GB_CBOR_ERROR_FIELDS ||
	    !keep(e, parts))
		return false;
	PyObject *cause = PyTuple_GET_ITEM(parts, TEXTS), *errors = PyTuple_GET_ITEM(parts, TEXTS + 1);
	/* Causes and errors that do not fit are left out; the error itself still crosses. A list of errors takes two
	 * levels. */
	bool has_room = e->causes < CAUSES_MAX && e->depth + 2 <= GB_WIRE_DEPTH_MAX;
	bool more = has_room && (cause != Py_None || errors != Py_None);
	gb_cbor_tag(e->out, GB_CBOR_ERROR);
	gb_cbor_array(e->out, more ? GB_CBOR_ERROR_FIELDS : TEXTS);
	for (Py_ssize_t i = 0; i < TEXTS; i++)
		if (!encode(e, PyTuple_GET_ITEM(parts, i), NULL))
			return false;
	return !more || (encode_part(e, cause) && encode_part(e, errors));
}

static bool encode_new(struct encoder *e, PyObject *value, const struct step *at) {
	if (PyList_Check(value) || PyTuple_Check(value))
		return encode_list(e, value, at);
	if (PyDict_Check(value))
		return encode_dict(e, value, at);
	if (PyAnySet_Check(value))
		return encode_set(e, value, at);
	if (PyDateTime_Check(value))
		return encode_datetime(e, value);
	if (PyExceptionInstance_Check(value))
		return encode_error(e, value);
	if (Py_IS_TYPE(value, (PyTypeObject *)own.Pattern))
		return encode_texts(e, GB_CBOR_REGEXP, own.pattern, value);
	return encode_buffer(e, value);
}

static bool is_data(PyObject *value) {
	if (Py_IS_TYPE(value, (PyTypeObject *)own.Pattern)) {
		gb_auto_py PyObject *source = PyObject_GetAttrString(value, "pattern");
		PyErr_Clear();
		return source && PyUnicode_Check(source);
	}
	return PyList_Check(value) || PyTuple_Check(value) || PyDict_Check(value) || PyAnySet_Check(value) ||
	       PyDateTime_Check(value) || PyExceptionInstance_Check(value) || PyBytes_Check(value) ||
	       PyByteArray_Check(value) || PyMemoryView_Check(value) ||
	       Py_IS_TYPE(value, (PyTypeObject *)own.array);
}

static bool encode_identity(struct encoder *e, PyObject *value, const struct step *at) {
	if (e->depth == GB_WIRE_DEPTH_MAX)
		return refuse(e, value, at, "it is nested too deep");
	bool is_new;
	uint32_t *number = gb_identity_at(&e->met, value, &is_new);
	if (!number) {
		PyErr_NoMemory();
		return false;
	}
	if (!is_new) {
		gb_put_reference(e->out, *number);
		return true;
	}
	*number = e->n_met++;
	e->depth++;
	bool ok = encode_new(e, value, at);
	e->depth--;
	return ok;
}

/* --- values that are not data --- */

static bool is_awaitable(PyObject *value) {
	return Py_TYPE(value)->tp_as_async && Py_TYPE(value)->tp_as_async->am_await;
}

static bool encode_lent(struct encoder *e, PyObject *value) {
	bool is_promise = is_awaitable(value);
	enum gb_side side;
	uint32_t id;
	if (!gb_py_bridge_lend(value, !is_promise, &side, &id))
		return false;
	gb_put_lent(e->out, is_promise, side, id);
	return true;
}

/* Objects with a natural data form: a dataclass as an object of its fields, a path as text. */
static bool encode_converted(struct encoder *e, PyObject *value, const struct step *at) {
	const uint32_t *met = gb_identity_find(&e->met, value);
	if (met) {
		gb_put_reference(e->out, *met);
		return true;
	}
	gb_auto_py PyObject *data = PyObject_CallOneArg(own.convert, value);
	if (!data)
		return false;
	if (data == Py_NotImplemented || data == value)
		return e->mode == GB_PY_BRIDGED && PyCallable_Check(value) ? encode_lent(e, value)
									   : refuse(e, value, at, NULL);
	if (!keep(e, data) || !keep(e, value))
		return false;
	/* The value may contain itself: give its converted form its number before it is encoded. */
	if (is_data(data) && !gb_identity_find(&e->met, data)) {
		bool is_new;
		uint32_t *number = gb_identity_at(&e->met, value, &is_new);
		if (!number) {
			PyErr_NoMemory();
			return false;
		}
		*number = e->n_met;
	}
	/* The depth limit also ends an endless chain of conversions. */
	if (e->depth == GB_WIRE_DEPTH_MAX)
		return refuse(e, value, at, "it is nested too deep");
	e->depth++;
	bool ok = encode(e, data, at);
	e->depth--;
	return ok;
}

static bool encode_other(struct encoder *e, PyObject *value, const struct step *at) {
	if (PyLong_Check(value))
		return encode_int(e, value);
	if (PyUnicode_Check(value))
		return encode_text(e, value);
	if (PyFloat_Check(value)) {
		gb_cbor_float(e->out, PyFloat_AS_DOUBLE(value));
		return true;
	}
	if (is_data(value))
		return encode_identity(e, value, at);
	if (e->mode == GB_PY_BRIDGED &&
	    (is_awaitable(value) || PyFunction_Check(value) || PyCFunction_Check(value) ||
		PyMethod_Check(value) || PyType_Check(value) || gb_py_is_host_function(value)))
		return encode_lent(e, value);
	return encode_converted(e, value, at);
}

static bool encode(struct encoder *e, PyObject *value, const struct step *at) {
	if (e->out->failed)
		return true; /* @out is full; the caller checks for that at the end */
	if (value == Py_None)
		gb_cbor_simple(e->out, GB_SIMPLE_NULL);
	else if (value == Py_True || value == Py_False)
		gb_cbor_simple(e->out, value == Py_True ? GB_SIMPLE_TRUE : GB_SIMPLE_FALSE);
	else if (PyLong_CheckExact(value))
		return encode_int(e, value);
	else if (PyUnicode_CheckExact(value))
		return encode_text(e, value);
	else if (PyFloat_CheckExact(value))
		gb_cbor_float(e->out, PyFloat_AS_DOUBLE(value));
	else if (PyList_CheckExact(value) || PyDict_CheckExact(value) || PyTuple_CheckExact(value))
		return encode_identity(e, value, at);
	else
		return encode_other(e, value, at);
	return true;
}

bool gb_py_encode(PyObject *value, enum gb_py_encode_mode mode, const char *root, struct gb_buf *out) {
	struct encoder e = {.mode = mode, .root = root, .out = out};
	bool ok = encode(&e, value, NULL);
	gb_identity_finish(&e.met);
	Py_XDECREF(e.kept);
	return ok && !out->failed;
}
