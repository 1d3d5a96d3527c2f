/*
 * Python objects as CBOR and back, without a step in between. The form is that of value/cbor.h; what becomes
 * what stands in README.md.
 *
 *	if (!gb_py_encode(value, GB_PY_STRICT, "result", &out)) ...	// an exception is pending, or out
 * failed PyObject *value = gb_py_decode(&reader);
 */
#ifndef GB_PYTHON_CODEC_H
#define GB_PYTHON_CODEC_H

#include "runtime/python/python.h"

#include <stdbool.h>

#include "base/buf.h"
#include "value/cbor.h"

enum gb_py_encode_mode {
	GB_PY_STRICT,  /* what is no data raises a SerializationError that names its path */
	GB_PY_BRIDGED, /* the same, but callables and awaitables are lent to the other side */
};

/* Once. @values is the module of what is written in Python: values.py. */
bool gb_py_encode_init(PyObject *values);
bool gb_py_decode_init(PyObject *values);

/* Append @value, which messages call @root, as one item. False with an exception pending, or when @out has
 * failed. */
bool gb_py_encode(PyObject *value, enum gb_py_encode_mode mode, const char *root, struct gb_buf *out);

/* What was met in a graph that is read piece by piece. Starts zeroed. */
struct gb_py_met {
	PyObject **list; /* by number; owned, NULL while it is not there yet */
	uint32_t n, cap;
};

/* Read an object or array that has no number, as a job brings them, with references to what @met holds. None
 * if it is empty: most runs are given nothing, and are spared the making of empty objects. */
PyObject *gb_py_decode_root(struct gb_cbor_reader *in, struct gb_py_met *met);
void gb_py_met_finish(struct gb_py_met *met);

/* Read one value. NULL, with an exception pending, if the bytes are not one. */
PyObject *gb_py_decode(struct gb_cbor_reader *in);

#endif
