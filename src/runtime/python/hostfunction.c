#include "runtime/python/hostfunction.h"

#include "runtime/python/bridge.h"
#include "runtime/wire.h"

#include <structmember.h>

struct host_function {
	PyObject_HEAD uint32_t id;
	PyObject *name;
};

static PyTypeObject *type;

static PyObject *call(PyObject *self, PyObject *args, PyObject *named) {
	struct host_function *function = (struct host_function *)self;
	if (function->id == GB_WIRE_REPORT) {
		if (PyTuple_GET_SIZE(args) != 1 || (named && PyDict_GET_SIZE(named)))
			return PyErr_Format(PyExc_TypeError, "report() takes one argument");
		return gb_py_call_host(function->id, args);
	}
	if (!named || PyDict_GET_SIZE(named) == 0)
		return gb_py_call_host(function->id, args);
	gb_auto_py PyObject *all = PySequence_List(args);
	if (!all || PyList_Append(all, named) < 0)
		return NULL;
	return gb_py_call_host(function->id, all);
}

static PyObject *repr(PyObject *self) {
	return PyUnicode_FromFormat("<host function %U>", ((struct host_function *)self)->name);
}

static void dealloc(PyObject *self) {
	PyTypeObject *own_type = Py_TYPE(self);
	Py_XDECREF(((struct host_function *)self)->name);
	own_type->tp_free(self);
	Py_DECREF(own_type);
}

bool gb_py_host_function_init(void) {
	static PyMemberDef members[] = {
	    {"__name__", T_OBJECT, offsetof(struct host_function, name), READONLY, NULL},
	    {"__qualname__", T_OBJECT, offsetof(struct host_function, name), READONLY, NULL},
	    {NULL, 0, 0, 0, NULL},
	};
	static PyType_Slot slots[] = {
	    {Py_tp_call, call},
	    {Py_tp_repr, repr},
	    {Py_tp_dealloc, dealloc},
	    {Py_tp_members, members},
	    {0, NULL},
	};
	static PyType_Spec spec = {
	    .name = "_glovebox.HostFunction",
	    .basicsize = sizeof(struct host_function),
	    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
	    .slots = slots,
	};
	type = (PyTypeObject *)PyType_FromSpec(&spec);
	return type != NULL;
}

PyObject *gb_py_host_function_new(uint32_t id, const char *name, size_t n) {
	struct host_function *function = PyObject_New(struct host_function, type);
	if (!function)
		return NULL;
	function->id = id;
	function->name = PyUnicode_DecodeUTF8(name, (Py_ssize_t)n, "replace");
	if (function->name)
		return (PyObject *)function;
	Py_DECREF(function);
	return NULL;
}

uint32_t gb_py_host_function_id(PyObject *function) {
	return ((struct host_function *)function)->id;
}

bool gb_py_is_host_function(PyObject *value) {
	return Py_IS_TYPE(value, type);
}
