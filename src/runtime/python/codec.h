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

/* Values decoded so far, for a graph that is read in several calls. Zero-initialised. */
struct gb_py_met {
	PyObject **list; /* by number; owned, NULL while incomplete */
	uint32_t n, cap;
};

/* Read an object or array without a number, as in a JOB frame, with references to values in @met. None if it
 * is empty: most runs have no inputs, and need no empty objects. */
PyObject *gb_py_decode_root(struct gb_cbor_reader *in, struct gb_py_met *met);
void gb_py_met_finish(struct gb_py_met *met);

/* Read one value. NULL, with an exception pending, if the bytes are malformed. */
PyObject *gb_py_decode(struct gb_cbor_reader *in);

#endif
