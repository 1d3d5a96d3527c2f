/*
 * The interpreter, created once in the zygote: isolated from its environment, with common modules imported
 * and warmed up, and all objects exempt from garbage collection.
 */
#ifndef GB_PYTHON_INTERPRETER_H
#define GB_PYTHON_INTERPRETER_H

#include "runtime/python/python.h"

#include <stdbool.h>

/* Entry points of the runner, which is written in Python. */
struct gb_py_runner {
	PyObject *run; /* runs a job: (value, whether it was requested by name) */
	/* describes an exception: (status, name, message, stack, code, specifier, filename, line, column) */
	PyObject *describe;
	PyObject *wake;      /* call first in a cell: reseeds random generators */
	PyObject *nothing;   /* the value of a run without one */
	PyObject *fall_back; /* returns a text for a value that cannot cross */
};
extern struct gb_py_runner gb_py_runner;

/* @profile names a set of modules: "stdlib", or "data", which adds numpy, pandas and matplotlib as far as
 * installed. On failure a message is on stderr. */
bool gb_py_interpreter_init(const char *profile);

#endif
