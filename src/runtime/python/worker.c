#include "runtime/files.h"
#include "runtime/python/python.h"

#include "runtime/python/worker.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "runtime/job.h"
#include "runtime/python/bridge.h"
#include "runtime/python/codec.h"
#include "runtime/python/heap.h"
#include "runtime/python/interpreter.h"
#include "runtime/python/output.h"
#include "runtime/python/report.h"
#include "runtime/version.h"
#include "runtime/wire.h"
#include "sandbox/worker.h"

/* The state of the process, which serves one run or one session. */
static struct {
	int fd;
	bool primed;
	bool is_session;
	uint64_t space_limit;       /* memory limit for which RLIMIT_AS is set; 0: not set */
	uint64_t space;             /* address space of the zygote, in bytes */
	atomic_int n_jobs;          /* jobs read so far */
	atomic_int interrupted_job; /* number of the last interrupted job */
	atomic_bool interruptible;  /* code of the job is running */
	struct gb_files files;      /* state of the box at the last check */
} worker = {.fd = -1};

/* --- interrupts --- */

static void on_interrupt(int signal_number, siginfo_t *info, void *context);

/* True unless the code has replaced our handler, as asyncio.run() does; then the replacement has received the
 * SIGINT. */
static bool has_our_handler(void) {
	struct sigaction now;
	return sigaction(SIGINT, NULL, &now) == 0 && now.sa_sigaction == on_interrupt;
}

/* Ignored between two jobs, where no code runs and a KeyboardInterrupt would be unexpected. */
static void on_interrupt(int signal_number, siginfo_t *info, void *context) {
	(void)context;
	bool running = atomic_load(&worker.interruptible);
	if (info->si_code != SI_QUEUE) { /* raised by the code itself: it has no job number */
		if (running && signal_number == SIGINT)
			PyErr_SetInterrupt();
		return;
	}
	int meant = info->si_value.sival_int, before = atomic_exchange(&worker.interrupted_job, meant);
	/* The SIGINT may have been lost because one was already pending; then GB_SIGNAL_AGAIN replaces it.
	 * Otherwise GB_SIGNAL_AGAIN only interrupts a blocking system call. */
	bool first = signal_number == SIGINT || (meant != before && has_our_handler());
	if (first && running && meant == atomic_load(&worker.n_jobs))
		PyErr_SetInterrupt();
}

static bool catch_interrupts(void) {
	const struct sigaction action = {.sa_sigaction = on_interrupt, .sa_flags = SA_SIGINFO};
	return sigaction(SIGINT, &action, NULL) == 0 && sigaction(GB_SIGNAL_AGAIN, &action, NULL) == 0;
}

/* An interrupt that arrived before its job began applies to it. */
static void begin_interrupts(void) {
	atomic_store(&worker.interruptible, true);
	int job = atomic_load(&worker.n_jobs);
	if (job && atomic_load(&worker.interrupted_job) == job)
		PyErr_SetInterrupt();
}

static void end_interrupts(void) {
	atomic_store(&worker.interruptible, false);
	if (worker.is_session)
		catch_interrupts();
}

/* --- limits --- */

#ifndef __SANITIZE_ADDRESS__ /* ASan maps terabytes */

static bool can_map(uint64_t space, uint64_t max, size_t page) {
	if (setrlimit(RLIMIT_AS, &(struct rlimit){space, max}) != 0)
		return false;
	void *probe = mmap(NULL, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return probe != MAP_FAILED && munmap(probe, page) == 0;
}

/* The address space of this process. Without /proc in the sandbox, find it by bisection: a page can be mapped
 * only if the limit is above the current size. */
static uint64_t measure_space(void) {
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct rlimit now;
	if (getrlimit(RLIMIT_AS, &now) != 0)
		return 0;
	uint64_t low = 0, high = (uint64_t)1 << 47;
	high = now.rlim_cur < high ? now.rlim_cur : high;
	while (high - low > page) {
		uint64_t middle = low + (high - low) / 2;
		*(can_map(middle, now.rlim_max, page) ? &high : &low) = middle;
	}
	setrlimit(RLIMIT_AS, &now);
	return high;
}

/* Memory that is mapped without malloc is not counted by the heap: the process limit is the second line of
 * defence. The hard limit stays, since code may call setrlimit() too. So later jobs of a session cannot have
 * much more memory than its first. */
static void limit_space(uint64_t memory) {
	enum { MARGIN = 192 << 20 }; /* thread stacks, the outbox, shared libraries imported later */
	struct rlimit now;
	uint64_t space = worker.space + memory + MARGIN;
	if (memory == worker.space_limit)
		return;
	if (getrlimit(RLIMIT_AS, &now) != 0)
		_exit(1);
	now.rlim_cur = space < now.rlim_max ? space : now.rlim_max;
	if (!worker.space_limit)
		now.rlim_max = now.rlim_cur;
	if (setrlimit(RLIMIT_AS, &now) != 0)
		_exit(1);
	worker.space_limit = memory;
}

#else

static uint64_t measure_space(void) {
	return 0;
}

static void limit_space(uint64_t memory) {
}

#endif

static void limit(const struct gb_job *job) {
	if (job->memory) {
		gb_py_heap_limit(job->memory);
		limit_space(job->memory);
	}
	if (job->cpu_seconds && !worker.is_session) {
		const struct rlimit cpu = {job->cpu_seconds, job->cpu_seconds + 1};
		if (setrlimit(RLIMIT_CPU, &cpu) != 0)
			_exit(1);
	}
}

/* --- a job --- */

static PyObject *text_of(struct gb_job_text text) {
	return text.p ? PyUnicode_DecodeUTF8(text.p, (Py_ssize_t)text.n, "surrogatepass")
		      : Py_NewRef(Py_None);
}

static PyObject *modules_of(const struct gb_job *job) {
	if (job->n_modules == 0)
		Py_RETURN_NONE;
	gb_auto_py PyObject *modules = PyDict_New();
	for (size_t i = 0; modules && i < job->n_modules; i++) {
		gb_auto_py PyObject *name = text_of(job->modules[i].name);
		gb_auto_py PyObject *source = name ? text_of(job->modules[i].source) : NULL;
		if (!source || PyDict_SetItem(modules, name, source) < 0)
			return NULL;
	}
	return gb_py_take(&modules);
}

enum {
	SOURCE,
	FILENAME,
	EXPORT,
	REQUIRED,
	REPORT,
	MODULES,
	IMPORTS,
	GLOBALS,
	ARGUMENTS,
	SETTINGS,
	N_ARGUMENTS
};

/* The arguments of the Python runner. False with an exception pending. */
static bool read_arguments(const struct gb_job *job, PyObject *arguments[N_ARGUMENTS]) {
	struct gb_cbor_reader in = job->values;
	arguments[SOURCE] = text_of(job->source);
	arguments[FILENAME] = text_of(job->filename);
	arguments[EXPORT] = text_of(job->export_name);
	arguments[REQUIRED] = PyBool_FromLong(job->flags & GB_JOB_EXPORT_REQUIRED);
	arguments[REPORT] = job->flags & GB_JOB_REPORT ? gb_py_bridge_function(GB_WIRE_REPORT, "report", 6)
						       : Py_NewRef(Py_None);
	arguments[MODULES] = modules_of(job);
	struct gb_py_decoded decoded = {0};
	for (int i = IMPORTS; i < SETTINGS && !PyErr_Occurred(); i++)
		arguments[i] = gb_py_decode_root(&in, &decoded);
	gb_py_decoded_finish(&decoded);
	if (!PyErr_Occurred())
		arguments[SETTINGS] = gb_py_decode_root(&in, &decoded);
	gb_py_decoded_finish(&decoded);
	for (int i = 0; i < N_ARGUMENTS; i++)
		if (!arguments[i])
			return false;
	return true;
}

static bool is_session(PyObject *settings) {
	if (!PyDict_Check(settings))
		return false;
	PyObject *value = PyDict_GetItemString(settings, "session");
	return value && PyObject_IsTrue(value) == 1;
}

/* Write the input files into the box. False with an exception pending. */
static bool place_files(const struct gb_job *job) {
	char why[300];
	if (worker.fd < 0 || gb_files_place(&worker.files, job, why, sizeof why))
		return true;
	PyErr_SetString(PyExc_OSError, why);
	return false;
}

static void send_files(const struct gb_job *job) {
	if (worker.fd >= 0 && !gb_files_send(&worker.files, job->result, gb_py_post))
		gb_py_output_cut();
}

static void run(const struct gb_job *job) {
	PyObject *arguments[N_ARGUMENTS] = {NULL};
	gb_py_bridge_limit(job);
	gb_py_bridge_hold();
	bool ready = read_arguments(job, arguments) && place_files(job);
	gb_py_bridge_release();
	worker.is_session = ready && is_session(arguments[SETTINGS]);
	limit(job);
	PyObject *outcome = NULL;
	if (ready) {
		begin_interrupts();
		outcome = PyObject_Vectorcall(gb_py_runner.run, arguments, N_ARGUMENTS, NULL);
		end_interrupts();
		/* An interrupt that arrived at the last moment. */
		if (PyErr_CheckSignals() < 0)
			Py_CLEAR(outcome);
	}
	send_files(job);
	if (outcome && PyTuple_CheckExact(outcome) && PyTuple_GET_SIZE(outcome) == 2)
		gb_py_report_success(job, outcome);
	else
		gb_py_report_exception();
	Py_XDECREF(outcome);
	for (int i = 0; i < N_ARGUMENTS; i++)
		Py_XDECREF(arguments[i]);
	gb_py_report_send();
}

/* Reseed random generators: cells of one zygote would share their state. */
static void reseed(void) {
	gb_auto_py PyObject *done = PyObject_CallNoArgs(gb_py_runner.wake);
	if (!done)
		_exit(1);
}

/* Wait for the host to kill this process. Exiting by itself would tear down this memory on the CPU on which
 * the host waits for the result. */
__attribute__((noreturn)) static void finish(void) {
	gb_read_all(worker.fd, &(char){0}, 1);
	_exit(0);
}

/* --- the three functions of a worker --- */

static bool init(const char *profile) {
	if (!gb_py_interpreter_init(*profile ? profile : "stdlib") || !catch_interrupts())
		return false;
	worker.space = measure_space();
	return true;
}

/* Run a small job to its end and discard the result: the pages that every run writes are then already copied,
 * and caches warm, before the job arrives. */
static void prime(void) {
	static const char source[] = "import sys\n"
				     "def f(n):\n"
				     "    return sum(i * i for i in range(n))\n"
				     "total = [f(i) for i in range(3)]\n"
				     "print('prime', total)\n"
				     "print(f'{total!r}', file=sys.stderr)\n"
				     "{'total': total, 'text': str(total), 'half': 0.5}\n";
	worker.primed = true;
	reseed();
	gb_py_output_open(-1, sizeof source * 4);
	struct gb_buf frame;
	gb_buf_init(&frame, 4096);
	gb_job_write_bare(&frame, source, "<prime>");
	struct gb_job job;
	gb_job_parse(&job, (uint8_t *)frame.data, frame.len);
	run(&job);
	gb_job_finish(&job);
	gb_buf_finish(&frame);
}

static void serve(int fd) {
	worker.fd = fd;
	gb_py_bridge_open(fd);
	do {
		struct gb_job job;
		gb_py_bridge_next_job(&job);
		atomic_fetch_add(&worker.n_jobs, 1);
		gb_py_output_open(fd, job.output);
		if (!worker.primed)
			reseed();
		worker.primed = true;
		run(&job);
		gb_job_finish(&job);
	} while (worker.is_session);
	finish();
}

static void version(char *ret, size_t n) {
	gb_version_write("Python", Py_GetVersion(), ret, n);
}

const struct gb_worker gb_py_worker = {.init = init, .prime = prime, .serve = serve, .version = version};
