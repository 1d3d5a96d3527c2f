/*
 * Python objects to CBOR and back, without an intermediate form. The format is that of value/cbor.h;
 * README.md has the table of types.
 *
 *	if (!gb_py_encode(value, GB_PY_STRICT, "result", &out)) ...	// an exception is pending, or out failed
 *	PyObject *value = gb_py_decode(&reader);
 */
#ifndef GB_PYTHON_CODEC_H
#define GB_PYTHON_CODEC_H

#include "runtime/python/python.h"

#include <stdbool.h>

#include "base/buf.h"
#include "value/cbor.h"

enum gb_py_encode_mode {
	GB_PY_STRICT,  /* a value that is not data raises a SerializationError with its path */
	GB_PY_BRIDGED, /* the same, but callables and awaitables are lent to the other side */
};

/* Call once. @values is the module values.py, the part of the codec that is written in Python. */
bool gb_py_encode_init(PyObject *values);
bool gb_py_decode_init(PyObject *values);

/* Append @value as one item; error messages call it @root. False with an exception pending, or if @out has
 * failed. */
bool gb_py_encode(PyObject *value, enum gb_py_encode_mode mode, const char *root, struct gb_buf *out);

/* The numbered values that were decoded so far, which later values can refer to. Kept between the calls that
 * decode one graph. Zero-initialised. */
struct gb_py_decoded {
	PyObject **list; /* by number; owned; NULL until the value is complete */
	uint32_t n, cap;
};

/* Read an object or array that has no number itself, as in a JOB frame. It can refer to values in @decoded.
 * Returns None if it is empty: most runs have no inputs, so no empty objects are created for them. */
PyObject *gb_py_decode_root(struct gb_cbor_reader *in, struct gb_py_decoded *decoded);
void gb_py_decoded_finish(struct gb_py_decoded *decoded);

/* Read one value. NULL, with an exception pending, if the bytes are malformed. */
PyObject *gb_py_decode(struct gb_cbor_reader *in);

#endif
