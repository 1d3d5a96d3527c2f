#include "runtime/python/report.h"

#include <unistd.h>

#include "base/cleanup.h"
#include "glovebox/errors.h"
#include "runtime/failure.h"
#include "runtime/python/codec.h"
#include "runtime/python/heap.h"
#include "runtime/python/interpreter.h"
#include "runtime/python/output.h"
#include "runtime/wire.h"
#include "value/cbor.h"
#include "value/frame.h"

enum { RESULT_SLACK = 64, FAILURE_MAX = 1 << 20, KEPT_MAX = 64 << 10 };

/* Separate from the outbox: Python code may run, and print, while a value is written. */
static struct gb_buf report;

static void start(size_t max) {
	gb_buf_clear(&report);
	report.max = max;
}

static void report_failure(enum gb_wire_status status, const struct gb_failure *failure) {
	start(FAILURE_MAX);
	gb_failure_write(&report, status, gb_py_heap_peak(), gb_py_output_truncated(), failure);
}

void gb_py_report_send(void) {
	/* Never send a partial result. */
	if (gb_buf_failed(&report))
		_exit(1);
	gb_py_post(report.data, report.len);
	gb_py_output_close();
	if (report.cap > KEPT_MAX)
		gb_buf_finish(&report);
}

static PyObject *take_exception(void) {
	PyObject *type, *value, *traceback;
	PyErr_Fetch(&type, &value, &traceback);
	PyErr_NormalizeException(&type, &value, &traceback);
	if (value && traceback)
		PyException_SetTraceback(value, traceback);
	Py_XDECREF(type);
	Py_XDECREF(traceback);
	return value;
}

static const char *sized_text_at(PyObject *description, Py_ssize_t index, size_t *ret_n) {
	PyObject *text = PyTuple_GET_ITEM(description, index);
	Py_ssize_t n = 0;
	const char *bytes = PyUnicode_Check(text) ? PyUnicode_AsUTF8AndSize(text, &n) : NULL;
	if (!bytes)
		PyErr_Clear();
	*ret_n = bytes ? (size_t)n : 0;
	return bytes;
}

static const char *text_at(PyObject *description, Py_ssize_t index) {
	size_t n;
	return sized_text_at(description, index, &n);
}

static unsigned number_at(PyObject *description, Py_ssize_t index) {
	long number = PyLong_AsLong(PyTuple_GET_ITEM(description, index));
	if (PyErr_Occurred())
		PyErr_Clear();
	return number > 0 ? (unsigned)number : 0;
}

void gb_py_report_exception(void) {
	enum { STATUS, NAME, MESSAGE, STACK, CODE, SPECIFIER, FILENAME, LINE, COLUMN, FIELDS };
	gb_py_heap_relax();
	gb_auto_py PyObject *thrown = take_exception();
	gb_auto_py PyObject *told = thrown ? PyObject_CallOneArg(gb_py_runner.describe, thrown) : NULL;
	if (!told || !PyTuple_Check(told) || PyTuple_GET_SIZE(told) != FIELDS) {
		/* The description itself failed, for lack of memory or another resource. */
		PyErr_Clear();
		bool memory = thrown && PyErr_GivenExceptionMatches(thrown, PyExc_MemoryError);
		const struct gb_failure failure = {
		    .name = thrown ? Py_TYPE(thrown)->tp_name : "SystemError",
		    .message = "the error cannot be described",
		    .code = memory ? GB_CODE_MEMORY : NULL,
		};
		report_failure(memory ? GB_WIRE_MEMORY : GB_WIRE_ERROR, &failure);
		return;
	}
	struct gb_failure failure = {
	    .code = text_at(told, CODE),
	    .specifier = text_at(told, SPECIFIER),
	    .filename = text_at(told, FILENAME),
	    .line = number_at(told, LINE),
	    .column = number_at(told, COLUMN),
	};
	failure.name = sized_text_at(told, NAME, &failure.name_bytes);
	failure.message = sized_text_at(told, MESSAGE, &failure.message_bytes);
	failure.stack = sized_text_at(told, STACK, &failure.stack_bytes);
	report_failure((enum gb_wire_status)number_at(told, STATUS), &failure);
}

/* Write the value as a RESULT frame; false with an exception pending, or if it is too large. */
static bool write_value(size_t max, PyObject *value) {
	struct gb_buf *out = &report;
	start(max);
	size_t mark = gb_frame_begin(out, GB_FRAME_RESULT);
	gb_cbor_unsigned(out, GB_WIRE_SUCCESS);
	gb_cbor_unsigned(out, gb_py_heap_peak());
	gb_cbor_simple(out, gb_py_output_truncated() ? GB_SIMPLE_TRUE : GB_SIMPLE_FALSE);
	gb_cbor_simple(out, GB_SIMPLE_NULL);
	bool ok = true;
	if (value == gb_py_runner.nothing)
		gb_cbor_simple(out, GB_SIMPLE_UNDEFINED);
	else
		ok = gb_py_encode(value, GB_PY_STRICT, "result", out);
	gb_frame_end(out, mark);
	return ok && !gb_buf_failed(out);
}

/* A value that was not requested by name does not fail the run if it cannot cross: return its text
 * instead. */
static bool write_as_text(size_t max, PyObject *value) {
	gb_auto_py PyObject *thrown = take_exception();
	gb_auto_py PyObject *text = PyObject_CallFunctionObjArgs(gb_py_runner.fall_back, value, thrown, NULL);
	return text && write_value(max, text);
}

void gb_py_report_success(const struct gb_job *job, PyObject *outcome) {
	PyObject *value = PyTuple_GET_ITEM(outcome, 0);
	bool is_asked_for = PyTuple_GET_ITEM(outcome, 1) == Py_True;
	size_t max = job->result + RESULT_SLACK;
	bool ok = write_value(max, value) || (!is_asked_for && PyErr_Occurred() && write_as_text(max, value));
	if (ok)
		return;
	if (PyErr_Occurred()) {
		gb_py_report_exception();
	} else {
		const struct gb_failure failure = {.name = "RangeError",
		    .message = "the result is larger than this run may return",
		    .code = GB_CODE_RESULT_SIZE};
		report_failure(GB_WIRE_ERROR, &failure);
	}
}
