#include "runtime/python/output.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/io.h"
#include "value/frame.h"

enum {
	PENDING_MAX = 8192,     /* maximum of one stream before it becomes a frame */
	OUTBOX_MAX = 32 << 10,  /* maximum before it is sent */
	CHUNK = 64 << 10,       /* frame size for long texts */
	DELAY_NS = 5 * 1000000, /* maximum delay before the timer sends pending output */
	FRAME_HEAD_MAX = 16,    /* frame head, stream, head of a byte string */
};

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

/* A signal that neither the interpreter nor its libraries use. */
#define TIMER_SIGNAL (SIGRTMAX - 2)

static struct {
	int fd;
	uint64_t left;
	bool truncated;
	struct gb_buf frames; /* complete frames */
	int stream;           /* the stream of .pending */
	size_t n;
	char pending[PENDING_MAX];

	/* The timer's signal handler can run at any moment; it sends only if .busy is clear, else it sets
	 * .send_requested. */
	atomic_int busy;
	atomic_bool send_requested;
	atomic_bool armed;
	bool has_timer, no_timer;
	timer_t timer;
} out = {.fd = -1, .frames = {.max = SIZE_MAX}};

/* --- frames --- */

static size_t write_head(uint8_t head[FRAME_HEAD_MAX], int stream, size_t n) {
	/* The CBOR head of a byte string, written by hand to be async-signal-safe. */
	uint8_t *at = head + GB_FRAME_HEAD;
	*at++ = (uint8_t)stream;
	if (n < 24) {
		*at++ = (uint8_t)(0x40 | n);
	} else if (n < 0x100) {
		*at++ = 0x58;
		*at++ = (uint8_t)n;
	} else if (n < 0x10000) {
		*at++ = 0x59;
		*at++ = (uint8_t)(n >> 8);
		*at++ = (uint8_t)n;
	} else {
		*at++ = 0x5a;
		for (int shift = 24; shift >= 0; shift -= 8)
			*at++ = (uint8_t)(n >> shift);
	}
	size_t length = (size_t)(at - head) - GB_FRAME_HEAD + 1 + n;
	for (int i = 0; i < 4; i++)
		head[i] = (uint8_t)(length >> 8 * i);
	head[4] = GB_FRAME_OUTPUT;
	return (size_t)(at - head);
}

static void append_frame(int stream, const char *bytes, size_t n) {
	uint8_t head[FRAME_HEAD_MAX];
	gb_buf_append(&out.frames, head, write_head(head, stream, n));
	gb_buf_append(&out.frames, bytes, n);
}

static void flush_pending(void) {
	if (out.n)
		append_frame(out.stream, out.pending, out.n);
	out.n = 0;
}

static void write_out(const void *bytes, size_t n) {
	if (n && out.fd >= 0 && !gb_write_all(out.fd, bytes, n))
		_exit(0);
}

/* Async-signal-safe: does not allocate. */
static void send_all(void) {
	write_out(out.frames.data, out.frames.len);
	out.frames.len = 0;
	size_t n = out.n <= PENDING_MAX ? out.n : 0;
	if (!n)
		return;
	/* One write for head and bytes. */
	char whole[FRAME_HEAD_MAX + PENDING_MAX];
	size_t head = write_head((uint8_t *)whole, out.stream, n);
	memcpy(whole + head, out.pending, n);
	write_out(whole, head + n);
	out.n = 0;
}

/* --- exclusion between threads and the timer's signal handler --- */

static void enter(void) {
	/* Only the signal handler can hold it: all other code holds the GIL. */
	while (atomic_exchange(&out.busy, 1))
		sched_yield();
}

/* The handler may have set .send_requested after the check, while .busy was still set: check again. */
static void leave(void) {
	do {
		if (atomic_exchange(&out.send_requested, false))
			send_all();
		atomic_store(&out.busy, 0);
	} while (atomic_load(&out.send_requested) && !atomic_exchange(&out.busy, 1));
}

static void on_timer(int signal_number) {
	int saved = errno;
	atomic_store(&out.armed, false);
	if (atomic_exchange(&out.busy, 1)) {
		atomic_store(&out.send_requested, true);
	} else {
		send_all();
		atomic_store(&out.busy, 0);
	}
	errno = saved;
}

/* Deliver the signal to the main thread: others may exit. Without timers, every line is sent at once. */
static void make_timer(void) {
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = TIMER_SIGNAL};
	event.sigev_notify_thread_id = getpid();
	out.has_timer = timer_create(CLOCK_MONOTONIC, &event, &out.timer) == 0;
	out.no_timer = !out.has_timer;
}

static void arm(void) {
	if (atomic_load(&out.armed) || out.fd < 0)
		return;
	if (!out.has_timer && !out.no_timer)
		make_timer();
	if (out.no_timer)
		return;
	const struct itimerspec soon = {.it_value = {.tv_nsec = DELAY_NS}};
	atomic_store(&out.armed, timer_settime(out.timer, 0, &soon, NULL) == 0);
}

/* --- writing --- */

/* Charge @bytes to the output limit. Returns how many may be written, without splitting a character. */
static size_t charge(const char *bytes, size_t n) {
	if (n <= out.left) {
		out.left -= n;
		return n;
	}
	n = out.left;
	while (n > 0 && ((unsigned char)bytes[n] & 0xc0) == 0x80)
		n--;
	out.left = 0;
	out.truncated = true;
	return n;
}

static void write_long(int stream, const char *bytes, size_t n) {
	flush_pending();
	while (n > 0) {
		size_t step = n < CHUNK ? n : CHUNK;
		append_frame(stream, bytes, step);
		send_all();
		bytes += step;
		n -= step;
	}
}

void gb_py_output_write(int stream, const char *bytes, size_t n) {
	enter();
	n = charge(bytes, n);
	if (out.stream != stream)
		flush_pending();
	out.stream = stream;
	if (n > PENDING_MAX) {
		write_long(stream, bytes, n);
	} else if (n > 0) {
		if (n > PENDING_MAX - out.n)
			flush_pending();
		memcpy(out.pending + out.n, bytes, n);
		out.n += n;
		arm();
		if (out.frames.len > OUTBOX_MAX || (out.no_timer && memchr(bytes, '\n', n)))
			send_all();
	}
	/* Out of memory for a frame: its output is lost. */
	if (out.frames.failed) {
		gb_buf_clear(&out.frames);
		out.truncated = true;
	}
	leave();
}

void gb_py_post(const void *frames, size_t n) {
	enter();
	flush_pending();
	gb_buf_append(&out.frames, frames, n);
	/* This frame must not be lost. */
	if (out.frames.failed)
		_exit(1);
	leave();
}

void gb_py_output_log(const void *frame, size_t n) {
	enter();
	if (n > out.left) {
		out.left = 0;
		out.truncated = true;
	} else {
		out.left -= n;
		flush_pending();
		gb_buf_append(&out.frames, frame, n);
		out.truncated |= out.frames.failed;
		if (out.frames.failed)
			gb_buf_clear(&out.frames);
		send_all();
	}
	leave();
}

void gb_py_send(void) {
	enter();
	send_all();
	leave();
}

void gb_py_output_close(void) {
	enter();
	send_all();
	out.left = 0;
	leave();
}

void gb_py_output_cut(void) {
	out.truncated = true;
}

bool gb_py_output_truncated(void) {
	return out.truncated;
}

void gb_py_output_open(int fd, uint64_t limit) {
	out.fd = fd;
	out.left = limit;
	out.truncated = false;
	out.n = 0;
	gb_buf_clear(&out.frames);
	gb_buf_reserve(&out.frames, OUTBOX_MAX + PENDING_MAX);
}

/* --- sys.stdout and sys.stderr --- */

static PyObject *streams[3];

static int stream_of(PyObject *self) {
	return self == streams[2] ? 2 : 1;
}

static PyObject *stream_write(PyObject *self, PyObject *text) {
	if (!PyUnicode_Check(text))
		return PyErr_Format(
		    PyExc_TypeError, "write() argument must be str, not %.100s", Py_TYPE(text)->tp_name);
	Py_ssize_t n;
	const char *bytes = PyUnicode_AsUTF8AndSize(text, &n);
	if (bytes) {
		gb_py_output_write(stream_of(self), bytes, (size_t)n);
		return PyLong_FromSsize_t(PyUnicode_GET_LENGTH(text));
	}
	if (!PyErr_ExceptionMatches(PyExc_UnicodeEncodeError))
		return NULL;
	/* Escape lone surrogates instead of failing. */
	PyErr_Clear();
	gb_auto_py PyObject *escaped = PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace");
	if (!escaped)
		return NULL;
	gb_py_output_write(stream_of(self), PyBytes_AS_STRING(escaped), (size_t)PyBytes_GET_SIZE(escaped));
	return PyLong_FromSsize_t(PyUnicode_GET_LENGTH(text));
}

static PyObject *stream_write_bytes(PyObject *self, PyObject *bytes) {
	Py_buffer view;
	if (PyObject_GetBuffer(bytes, &view, PyBUF_SIMPLE) < 0)
		return NULL;
	gb_py_output_write(stream_of(self), view.buf, (size_t)view.len);
	Py_ssize_t n = view.len;
	PyBuffer_Release(&view);
	return PyLong_FromSsize_t(n);
}

static PyObject *stream_flush(PyObject *self, PyObject *nothing) {
	gb_py_send();
	Py_RETURN_NONE;
}

static PyObject *stream_true(PyObject *self, PyObject *nothing) {
	Py_RETURN_TRUE;
}

static PyObject *stream_reconfigure(PyObject *self, PyObject *args, PyObject *options) {
	Py_RETURN_NONE;
}

static PyObject *stream_encoding(PyObject *self, void *nothing) {
	return PyUnicode_FromString("utf-8");
}

static PyObject *stream_errors(PyObject *self, void *nothing) {
	return PyUnicode_FromString("backslashreplace");
}

static PyObject *stream_name(PyObject *self, void *nothing) {
	return PyUnicode_FromString(stream_of(self) == 2 ? "<stderr>" : "<stdout>");
}

static PyObject *stream_is_line_buffered(PyObject *self, void *nothing) {
	Py_RETURN_TRUE;
}

static PyMethodDef stream_methods[] = {
    {"write", stream_write, METH_O, NULL},
    {"write_bytes", stream_write_bytes, METH_O, NULL},
    {"flush", stream_flush, METH_NOARGS, NULL},
    {"close", stream_flush, METH_NOARGS, NULL}, /* the streams cannot be closed */
    {"writable", stream_true, METH_NOARGS, NULL},
    {"reconfigure", (PyCFunction)(void (*)(void))stream_reconfigure, METH_VARARGS | METH_KEYWORDS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef stream_fields[] = {
    {"encoding", stream_encoding, NULL, NULL, NULL},
    {"errors", stream_errors, NULL, NULL, NULL},
    {"name", stream_name, NULL, NULL, NULL},
    {"line_buffering", stream_is_line_buffered, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyObject *make_stream_type(void) {
	static PyType_Slot slots[] = {
	    {Py_tp_methods, stream_methods},
	    {Py_tp_getset, stream_fields},
	    {0, NULL},
	};
	static PyType_Spec spec = {
	    .name = "_glovebox.Stream",
	    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
	    .slots = slots,
	};
	gb_auto_py PyObject *io = PyImport_ImportModule("io");
	gb_auto_py PyObject *base = io ? PyObject_GetAttrString(io, "TextIOBase") : NULL;
	return base ? PyType_FromSpecWithBases(&spec, base) : NULL;
}

bool gb_py_output_init(void) {
	gb_auto_py PyObject *type = make_stream_type();
	for (int i = 1; type && i <= 2; i++)
		streams[i] = PyObject_CallNoArgs(type);
	const struct sigaction action = {.sa_handler = on_timer, .sa_flags = SA_RESTART};
	return type && streams[1] && streams[2] && PySys_SetObject("stdout", streams[1]) == 0 &&
	       PySys_SetObject("stderr", streams[2]) == 0 && PySys_SetObject("__stdout__", streams[1]) == 0 &&
	       PySys_SetObject("__stderr__", streams[2]) == 0 && sigaction(TIMER_SIGNAL, &action, NULL) == 0;
}
