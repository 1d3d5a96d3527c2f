#include "runtime/python/bridge.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "runtime/crossing.h"
#include "runtime/python/codec.h"
#include "runtime/python/hostfunction.h"
#include "runtime/python/output.h"
#include "runtime/wire.h"
#include "value/frame.h"
#include "value/identity.h"

enum { READ_STEP = 4096 };

static struct {
	int fd;
	struct gb_frame_reader reader;
	bool has_received;
	struct gb_inbox inbox;   /* frames that arrived while a thread waited for another one */
	PyThread_type_lock lock; /* held by the thread that exchanges frames with the host */
	unsigned long holder;    /* thread id of the lock's holder, or 0 */

	struct gb_call_budget budget;
	uint32_t next_call;

	PyObject *make_promise, *serve; /* implemented in Python */

	PyObject *host; /* dict: id to host function, one object per id */

	/* Callables and awaitables lent by the code; the id is the index. */
	PyObject *lent;
	uint32_t n_lent_functions;
	struct gb_identity lent_by_value;

	/* Promises that wait for an answer. */
	struct pending {
		uint32_t call;
		PyObject *promise;
		size_t cost;
	} * pending;
	uint32_t n_pending, cap_pending;
} bridge = {.fd = -1};

bool gb_py_bridge_init(PyObject *promises) {
	bridge.make_promise = PyObject_GetAttrString(promises, "Promise");
	bridge.serve = PyObject_GetAttrString(promises, "serve");
	bridge.host = PyDict_New();
	bridge.lent = PyList_New(0);
	bridge.lock = PyThread_allocate_lock();
	gb_inbox_init(&bridge.inbox);
	/* The host is trusted to limit its frames. */
	gb_frame_reader_init(&bridge.reader, (size_t)1 << 31);
	return bridge.make_promise && bridge.serve && bridge.host && bridge.lent && bridge.lock &&
	       gb_py_host_function_init();
}

void gb_py_bridge_open(int fd) {
	bridge.fd = fd;
}

void gb_py_bridge_limit(const struct gb_job *job) {
	gb_call_budget_begin(&bridge.budget, job);
}

/* --- one thread at a time --- */

static bool acquire(void) {
	/* A finalizer that runs while a value is being received: its answer would overwrite the bytes being
	 * decoded. */
	if (bridge.holder == PyThread_get_thread_ident()) {
		PyErr_SetString(
		    PyExc_RuntimeError, "the host cannot be called while a value is being received");
		return false;
	}
	if (!PyThread_acquire_lock(bridge.lock, 0)) {
		PyThreadState *state = PyEval_SaveThread();
		PyThread_acquire_lock(bridge.lock, 1);
		PyEval_RestoreThread(state);
	}
	bridge.holder = PyThread_get_thread_ident();
	return true;
}

static void release(void) {
	bridge.holder = 0;
	PyThread_release_lock(bridge.lock);
}

void gb_py_bridge_hold(void) {
	bool ok = acquire();
	(void)ok;
}

void gb_py_bridge_release(void) {
	release();
}

/* --- received frames --- */

/* Read more bytes. False with an exception pending, KeyboardInterrupt or any other that a signal handler
 * raised. Exits if the host has closed the connection. */
static bool receive(void) {
	for (;;) {
		size_t room = 0, missing = gb_frame_reader_missing(&bridge.reader);
		char *into =
		    gb_frame_reader_room(&bridge.reader, missing > READ_STEP ? missing : READ_STEP, &room);
		if (!into)
			_exit(1);
		/* Read the head of the first job separately: see gb_job_read(). */
		if (!bridge.has_received && room > GB_FRAME_HEAD)
			room = GB_FRAME_HEAD;
		PyThreadState *state = PyEval_SaveThread();
		ssize_t n = read(bridge.fd, into, room);
		int error = n < 0 ? errno : 0;
		PyEval_RestoreThread(state);
		if (n == 0 || (n < 0 && error != EINTR))
			_exit(0);
		if (n > 0) {
			bridge.has_received = true;
			gb_frame_reader_fed(&bridge.reader, (size_t)n);
			return true;
		}
		if (PyErr_CheckSignals() < 0)
			return false;
	}
}

/* The next frame, blocking if none is buffered. */
static bool wait_for_frame(struct gb_frame *ret_frame) {
	for (;;) {
		enum gb_frame_status status = gb_frame_reader_next(&bridge.reader, ret_frame);
		if (status == GB_FRAME_READY)
			return true;
		if (status == GB_FRAME_BAD)
			_exit(1);
		if (!receive())
			return false;
	}
}

/* --- calls to the host --- */

static bool raise_exceeded(struct gb_exceeded exceeded) {
	PyErr_Format(
	    PyExc_RuntimeError, "%s (the limit is %llu)", exceeded.what, (unsigned long long)exceeded.limit);
	return false;
}

/* Write the call as a frame. Python code may run here, and call the host itself. */
static bool write_call(struct gb_buf *out, uint32_t call, uint32_t function, PyObject *arguments) {
	struct gb_exceeded exceeded;
	struct gb_call_frame frame = gb_call_begin(&bridge.budget, out, call, function);
	if (bridge.fd < 0) {
		PyErr_SetString(PyExc_RuntimeError, "there is no host to call yet");
		return false;
	}
	bool ok = gb_py_encode(arguments, frame.is_report ? GB_PY_STRICT : GB_PY_BRIDGED, "args", out);
	if (!ok && PyErr_Occurred())
		return false;
	return gb_call_end(&bridge.budget, &frame, ok, &exceeded) || raise_exceeded(exceeded);
}

/* Send it if it is within the limits. */
static bool send_call(const struct gb_buf *frame) {
	struct gb_exceeded exceeded;
	if (!gb_call_count(&bridge.budget, frame->len - GB_FRAME_HEAD, bridge.n_pending, &exceeded))
		return raise_exceeded(exceeded);
	gb_py_post(frame->data, frame->len);
	gb_py_send();
	return true;
}

/* A promise for the answer to @call. */
static PyObject *make_pending(uint32_t call, size_t cost) {
	if (bridge.n_pending == bridge.cap_pending) {
		uint32_t cap = bridge.cap_pending ? bridge.cap_pending * 2 : 8;
		struct pending *pending = realloc(bridge.pending, cap * sizeof *pending);
		if (!pending)
			return PyErr_NoMemory();
		bridge.pending = pending;
		bridge.cap_pending = cap;
	}
	PyObject *promise = PyObject_CallNoArgs(bridge.make_promise);
	if (!promise)
		return NULL;
	bridge.pending[bridge.n_pending++] = (struct pending){call, Py_NewRef(promise), cost};
	bridge.budget.in_flight_bytes += cost;
	return promise;
}

/* Raise the value that the host has thrown, which may be of any type. */
static PyObject *raise_thrown(PyObject *value) {
	if (PyExceptionInstance_Check(value))
		PyErr_SetObject((PyObject *)Py_TYPE(value), value);
	else
		PyErr_SetObject(PyExc_Exception, value);
	Py_DECREF(value);
	return NULL;
}

/* Block until @call is answered. */
static PyObject *wait_for_answer(uint32_t call, size_t cost) {
	for (;;) {
		struct gb_frame frame;
		if (!wait_for_frame(&frame))
			return NULL;
		struct gb_cbor_reader in = gb_cbor_reader(frame.payload, frame.n);
		if (frame.type != GB_FRAME_ANSWER || gb_take_u32(&in) != call) {
			gb_inbox_keep(&bridge.inbox, &frame);
			continue;
		}
		uint32_t how = gb_take_u32(&in);
		if (how == GB_WIRE_PROMISED)
			return make_pending(call, cost);
		PyObject *value = gb_py_decode(&in);
		return how == GB_WIRE_THROWN && value ? raise_thrown(value) : value;
	}
}

PyObject *gb_py_call_host(uint32_t function, PyObject *arguments) {
	gb_auto_buf struct gb_buf frame;
	uint32_t call = bridge.next_call++;
	if (!write_call(&frame, call, function, arguments) || !acquire())
		return NULL;
	PyObject *answer = send_call(&frame) ? wait_for_answer(call, frame.len - GB_FRAME_HEAD) : NULL;
	release();
	return answer;
}

/* --- functions and promises lent to the other side --- */

PyObject *gb_py_bridge_function(uint32_t id, const char *name, size_t n) {
	gb_auto_py PyObject *key = PyLong_FromUnsignedLong(id);
	PyObject *known = key ? PyDict_GetItemWithError(bridge.host, key) : NULL;
	if (known || PyErr_Occurred())
		return Py_XNewRef(known);
	gb_auto_py PyObject *function = gb_py_host_function_new(id, name, n);
	if (!function || PyDict_SetItem(bridge.host, key, function) < 0)
		return NULL;
	return gb_py_take(&function);
}

PyObject *gb_py_bridge_promise(uint32_t id) {
	gb_auto_py PyObject *nothing = PyTuple_New(0);
	gb_auto_buf struct gb_buf frame;
	uint32_t call = bridge.next_call++;
	if (!write_call(&frame, call, id, nothing) || !send_call(&frame))
		return NULL;
	return make_pending(call, frame.len - GB_FRAME_HEAD);
}

PyObject *gb_py_bridge_own(uint32_t id) {
	if ((Py_ssize_t)id >= PyList_GET_SIZE(bridge.lent))
		return PyErr_Format(
		    PyExc_ReferenceError, "the sandbox has lent no function or promise with id %u", id);
	return Py_NewRef(PyList_GET_ITEM(bridge.lent, id));
}

bool gb_py_bridge_lend(PyObject *value, bool is_function, enum gb_side *ret_side, uint32_t *ret_id) {
	if (gb_py_is_host_function(value)) {
		*ret_side = GB_HOST;
		*ret_id = gb_py_host_function_id(value);
		return true;
	}
	*ret_side = GB_SANDBOX;
	const uint32_t *known = gb_identity_find(&bridge.lent_by_value, value);
	if (known) {
		*ret_id = *known;
		return true;
	}
	Py_ssize_t n = PyList_GET_SIZE(bridge.lent);
	if (n >= GB_WIRE_LENT_MAX)
		return raise_exceeded((struct gb_exceeded){
		    "this run has lent too many functions and promises to the host", GB_WIRE_LENT_MAX});
	bool is_new;
	if (PyList_Append(bridge.lent, value) < 0)
		return false;
	uint32_t *id = gb_identity_at(&bridge.lent_by_value, value, &is_new);
	if (!id) {
		PyErr_NoMemory();
		return false;
	}
	*ret_id = *id = (uint32_t)n;
	bridge.n_lent_functions += is_function;
	return true;
}

/* --- answers to the host --- */

static bool write_answer(struct gb_buf *out, uint32_t call, enum gb_wire_answer how, PyObject *value) {
	gb_buf_clear(out);
	size_t mark = gb_frame_begin(out, GB_FRAME_ANSWER);
	gb_cbor_unsigned(out, call);
	gb_cbor_unsigned(out, how);
	const char *root = how == GB_WIRE_THROWN ? "raised value" : "return value";
	bool ok = gb_py_encode(value, GB_PY_BRIDGED, root, out);
	gb_frame_end(out, mark);
	if (ok && !gb_buf_failed(out))
		return true;
	if (!PyErr_Occurred())
		raise_exceeded(
		    (struct gb_exceeded){"the answer to the host is too large", bridge.budget.call_bytes});
	return false;
}

static PyObject *take_exception(void) {
	PyObject *type, *value, *traceback;
	PyErr_Fetch(&type, &value, &traceback);
	PyErr_NormalizeException(&type, &value, &traceback);
	Py_XDECREF(type);
	Py_XDECREF(traceback);
	return value ? value : Py_NewRef(Py_None);
}

static void answer_host(uint32_t call, enum gb_wire_answer how, PyObject *value) {
	gb_auto_buf struct gb_buf out;
	gb_buf_init(&out, bridge.budget.call_bytes + GB_FRAME_HEAD + GB_WIRE_CALL_SLACK / 2);
	if (!write_answer(&out, call, how, value)) {
		/* Send the reason for the failed encoding instead; if that cannot be encoded either, None. */
		gb_auto_py PyObject *why = take_exception();
		if (!write_answer(&out, call, GB_WIRE_THROWN, why)) {
			PyErr_Clear();
			write_answer(&out, call, GB_WIRE_THROWN, Py_None);
		}
	}
	gb_py_post(out.data, out.len);
	gb_py_send();
}

PyObject *gb_py_bridge_answer(PyObject *module, PyObject *args) {
	unsigned int call;
	int thrown;
	PyObject *value;
	if (!PyArg_ParseTuple(args, "IpO", &call, &thrown, &value))
		return NULL;
	answer_host(call, thrown ? GB_WIRE_THROWN : GB_WIRE_RETURNED, value);
	Py_RETURN_NONE;
}

/* --- turns --- */

static bool settle_pending(struct gb_cbor_reader *in) {
	uint32_t call = gb_take_u32(in), how = gb_take_u32(in), i = 0;
	while (i < bridge.n_pending && bridge.pending[i].call != call)
		i++;
	/* PROMISED for one of the host's own promises: the actual answer follows. Or the call was
	 * abandoned. */
	if (i == bridge.n_pending || how == GB_WIRE_PROMISED) {
		release();
		return true;
	}
	struct pending pending = bridge.pending[i];
	bridge.pending[i] = bridge.pending[--bridge.n_pending];
	bridge.budget.in_flight_bytes -= pending.cost;
	gb_auto_py PyObject *promise = pending.promise;
	gb_auto_py PyObject *value = gb_py_decode(in);
	release();
	bool thrown = how == GB_WIRE_THROWN || !value;
	if (!value)
		value = take_exception();
	gb_auto_py PyObject *done =
	    PyObject_CallMethod(promise, "settle", "OO", thrown ? Py_True : Py_False, value);
	return done != NULL;
}

static bool serve_call(struct gb_cbor_reader *in) {
	uint32_t call = gb_take_u32(in), id = gb_take_u32(in);
	gb_auto_py PyObject *callee = gb_py_bridge_own(id);
	gb_auto_py PyObject *arguments = callee ? gb_py_decode(in) : NULL;
	release();
	if (!arguments) {
		gb_auto_py PyObject *why = take_exception();
		answer_host(call, GB_WIRE_THROWN, why);
		return true;
	}
	gb_auto_py PyObject *done = PyObject_CallFunction(bridge.serve, "IOO", call, callee, arguments);
	return done != NULL;
}

/* Handle a frame other than JOB. The caller holds the lock; it is released once the frame has been
 * decoded. */
static bool handle_frame(const struct gb_frame *frame) {
	struct gb_cbor_reader in = gb_cbor_reader(frame->payload, frame->n);
	if (frame->type == GB_FRAME_ANSWER)
		return settle_pending(&in);
	if (frame->type == GB_FRAME_CALL)
		return serve_call(&in);
	_exit(1);
}

/* Wait until the host has sent something or the time is up. -1 with an exception pending. */
static int wait_readable(double seconds) {
	struct pollfd fd = {.fd = bridge.fd, .events = POLLIN};
	int timeout = seconds < 0 ? -1 : seconds > 1e6 ? 1000000000 : (int)(seconds * 1000 + 0.999);
	PyThreadState *state = PyEval_SaveThread();
	int n = poll(&fd, 1, timeout);
	bool interrupted = n < 0 && errno == EINTR;
	PyEval_RestoreThread(state);
	if (interrupted)
		return PyErr_CheckSignals() < 0 ? -1 : 0;
	return n > 0;
}

PyObject *gb_py_bridge_turn(PyObject *module, PyObject *timeout) {
	double seconds = timeout == Py_None ? -1 : PyFloat_AsDouble(timeout);
	struct gb_frame frame;
	if ((seconds == -1 && PyErr_Occurred()) || !acquire())
		return NULL;
	bool there = gb_inbox_take(&bridge.inbox, &frame) ||
		     gb_frame_reader_next(&bridge.reader, &frame) == GB_FRAME_READY;
	if (!there) {
		release();
		bool can_come = bridge.n_pending || bridge.n_lent_functions;
		if (!can_come && seconds < 0)
			Py_RETURN_FALSE;
		int readable = wait_readable(seconds);
		if (readable <= 0)
			return readable < 0 ? NULL : Py_NewRef(Py_True);
		if (!acquire())
			return NULL;
		/* Another thread may have read first, and put our frame into the inbox. */
		if (wait_readable(0) > 0 ? !wait_for_frame(&frame) : !gb_inbox_take(&bridge.inbox, &frame)) {
			release();
			return PyErr_Occurred() ? NULL : Py_NewRef(Py_True);
		}
	}
	return handle_frame(&frame) ? Py_NewRef(Py_True) : NULL;
}

void gb_py_bridge_next_job(struct gb_job *ret_job) {
	for (;;) {
		struct gb_frame frame;
		if (!acquire())
			_exit(1);
		if (!gb_inbox_take(&bridge.inbox, &frame) && !wait_for_frame(&frame)) {
			/* An interrupt that arrived after its job. */
			PyErr_Clear();
			release();
			continue;
		}
		if (frame.type == GB_FRAME_JOB) {
			release();
			gb_job_parse(ret_job, (uint8_t *)frame.payload, frame.n);
			return;
		}
		/* An exception in a lent function between two jobs is reported to its caller only. */
		if (!handle_frame(&frame))
			PyErr_Clear();
	}
}
