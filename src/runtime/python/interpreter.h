/*
 * The interpreter, made once in the zygote: isolated from its surroundings, with what runs need imported and
 * warm, and nothing in it that the collector would have to look at again.
 */
#ifndef GB_PYTHON_INTERPRETER_H
#define GB_PYTHON_INTERPRETER_H

#include "runtime/python/python.h"

#include <stdbool.h>

/* What the rest of the worker asks of the runner, which is written in Python. */
struct gb_py_runner {
	PyObject *run;       /* a job, start to end: (value, whether it was asked for by name) */
	PyObject *describe;  /* an exception: (status, name, message, stack, code, specifier, filename, line,
				column) */
	PyObject *wake;      /* first thing in a cell: draw new random numbers */
	PyObject *nothing;   /* the value of a run that has none */
	PyObject *fall_back; /* what is said in place of a value that cannot cross */
};
extern struct gb_py_runner gb_py_runner;

/* @profile is the name of a set of modules: "stdlib", or "data", which adds what of numpy, pandas and
 * matplotlib is installed. On failure a message is on stderr. */
bool gb_py_interpreter_init(const char *profile);

#endif
