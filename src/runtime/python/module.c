#include "runtime/python/python.h"

#include "runtime/python/module.h"

#include <time.h>

#include "base/cleanup.h"
#include "runtime/python/bridge.h"
#include "runtime/python/codec.h"
#include "runtime/python/output.h"
#include "sandbox/worker.h"
#include "value/frame.h"

/* Maximum of one display, all forms together. */
enum { DISPLAY_MAX = 64 << 20 };

/* display(forms): send a dict of media type to text or bytes. */
static PyObject *display(PyObject *module, PyObject *forms) {
	gb_auto_buf struct gb_buf frame;
	gb_buf_init(&frame, DISPLAY_MAX);
	size_t mark = gb_frame_begin(&frame, GB_FRAME_DISPLAY);
	bool ok = gb_py_encode(forms, GB_PY_STRICT, "display", &frame);
	gb_frame_end(&frame, mark);
	if (!ok || gb_buf_failed(&frame))
		return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_ValueError, "too large to be shown");
	gb_py_post(frame.data, frame.len);
	gb_py_send();
	Py_RETURN_NONE;
}

/* exit(code): report the exit code of the program. */
static PyObject *report_exit(PyObject *module, PyObject *code) {
	long number = PyLong_AsLong(code);
	if (number == -1 && PyErr_Occurred())
		return NULL;
	gb_auto_buf struct gb_buf frame;
	gb_buf_init(&frame, 64);
	size_t mark = gb_frame_begin(&frame, GB_FRAME_EXIT);
	gb_cbor_number(&frame, (double)number);
	gb_frame_end(&frame, mark);
	gb_py_post(frame.data, frame.len);
	gb_py_send();
	Py_RETURN_NONE;
}

/* write(stream, bytes): output that bypasses sys.stdout. */
static PyObject *write_bytes(PyObject *module, PyObject *args) {
	int stream;
	Py_buffer bytes;
	if (!PyArg_ParseTuple(args, "iy*", &stream, &bytes))
		return NULL;
	gb_py_output_write(stream == 2 ? 2 : 1, bytes.buf, (size_t)bytes.len);
	Py_ssize_t n = bytes.len;
	PyBuffer_Release(&bytes);
	return PyLong_FromSsize_t(n);
}

/* log(level, text): as a call of console in JavaScript. */
static PyObject *log_text(PyObject *module, PyObject *args) {
	int level;
	PyObject *given;
	Py_ssize_t n;
	struct timespec now;
	if (!PyArg_ParseTuple(args, "iU", &level, &given))
		return NULL;
	/* Surrogates, which are no UTF-8, are replaced. */
	gb_auto_py PyObject *bytes = PyUnicode_AsEncodedString(given, "utf-8", "replace");
	char *text;
	if (!bytes || PyBytes_AsStringAndSize(bytes, &text, &n) < 0)
		return NULL;
	clock_gettime(CLOCK_REALTIME, &now);
	gb_auto_buf struct gb_buf frame;
	gb_buf_init(&frame, (size_t)n + 256);
	size_t mark = gb_frame_begin(&frame, GB_FRAME_LOG);
	gb_cbor_unsigned(&frame, (uint64_t)level);
	gb_cbor_float(&frame, (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6);
	gb_cbor_array(&frame, 1);
	gb_cbor_string(&frame, text, (size_t)n);
	gb_frame_end(&frame, mark);
	if (gb_buf_failed(&frame))
		return PyErr_NoMemory();
	gb_py_output_log(frame.data, frame.len);
	Py_RETURN_NONE;
}

/* has_network(): whether sockets lead anywhere. */
static PyObject *has_network(PyObject *module, PyObject *none) {
	return PyBool_FromLong(gb_worker_has_network());
}

static PyObject *make_module(void) {
	static PyMethodDef methods[] = {
	    {"turn", gb_py_bridge_turn, METH_O, NULL},
	    {"answer", gb_py_bridge_answer, METH_VARARGS, NULL},
	    {"display", display, METH_O, NULL},
	    {"exit", report_exit, METH_O, NULL},
	    {"log", log_text, METH_VARARGS, NULL},
	    {"has_network", has_network, METH_NOARGS, NULL},
	    {"write", write_bytes, METH_VARARGS, NULL},
	    {NULL, NULL, 0, NULL},
	};
	static struct PyModuleDef definition = {
	    PyModuleDef_HEAD_INIT, .m_name = "_glovebox", .m_size = -1, .m_methods = methods};
	return PyModule_Create(&definition);
}

bool gb_py_module_register(void) {
	return PyImport_AppendInittab("_glovebox", make_module) == 0;
}
