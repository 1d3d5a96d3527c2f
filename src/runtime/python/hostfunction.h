/*
 * The Python type of host functions: callables with a name.
 *
 * Keyword arguments become an object, which is the last argument.
 */
#ifndef GB_PYTHON_HOSTFUNCTION_H
#define GB_PYTHON_HOSTFUNCTION_H

#include "runtime/python/python.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool gb_py_host_function_init(void);

PyObject *gb_py_host_function_new(uint32_t id, const char *name, size_t n);
uint32_t gb_py_host_function_id(PyObject *function);

/* Call the host and wait for its answer (bridge.c). @arguments is a tuple or list. */
PyObject *gb_py_call_host(uint32_t function, PyObject *arguments);

#endif
