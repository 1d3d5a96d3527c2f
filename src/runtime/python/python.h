/* Python.h, which must be included before all other headers. */
#ifndef GB_PYTHON_PYTHON_H
#define GB_PYTHON_PYTHON_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* Release by scope: gb_auto_py PyObject *list = PyList_New(0); */
static inline void gb_py_release(PyObject **object) {
	Py_XDECREF(*object);
}
#define gb_auto_py __attribute__((cleanup(gb_py_release)))

/* Release ownership from the scope. */
static inline PyObject *gb_py_take(PyObject **object) {
	PyObject *taken = *object;
	*object = NULL;
	return taken;
}

#endif
