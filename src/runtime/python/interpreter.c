#include "runtime/python/interpreter.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "egress/authorities.h"
#include "runtime/python/bridge.h"
#include "runtime/python/codec.h"
#include "runtime/python/heap.h"
#include "runtime/python/module.h"
#include "runtime/python/output.h"
#include "sandbox/worker.h"

/* Set by the build: the library directory of Debian's Python. */
#ifndef GB_PYTHON_HOME
#define GB_PYTHON_HOME "/usr"
#endif

/* Generated from the *.py files in this folder. */
#include "python_sources.h"

struct gb_py_runner gb_py_runner;

/* --- the interpreter --- */

static PyStatus set_text(PyConfig *config, wchar_t **field, const wchar_t *text) {
	return PyConfig_SetString(config, field, text);
}

static PyStatus set_paths(PyConfig *config) {
	static const wchar_t *const paths[] = {
	    L"" GB_PYTHON_STDLIB,
	    L"" GB_PYTHON_STDLIB "/lib-dynload",
	    L"" GB_PYTHON_PACKAGES,
	};
	const wchar_t *const prefix = L"" GB_PYTHON_HOME;
	const struct {
		wchar_t **field;
		const wchar_t *text;
	} texts[] = {
	    /* Set explicitly, so that Python does not search for it. */
	    {&config->program_name, L"" GB_PYTHON_HOME "/bin/python3"},
	    {&config->executable, L"" GB_PYTHON_HOME "/bin/python3"},
	    {&config->base_executable, L"" GB_PYTHON_HOME "/bin/python3"},
	    {&config->prefix, prefix},
	    {&config->exec_prefix, prefix},
	    {&config->base_prefix, prefix},
	    {&config->base_exec_prefix, prefix},
	    {&config->stdlib_dir, paths[0]},
	};
	PyStatus status = PyStatus_Ok();
	for (size_t i = 0; i < GB_COUNT(texts) && !PyStatus_Exception(status); i++)
		status = set_text(config, texts[i].field, texts[i].text);
	config->module_search_paths_set = 1;
	for (size_t i = 0; i < GB_COUNT(paths) && !PyStatus_Exception(status); i++)
		status = PyWideStringList_Append(&config->module_search_paths, paths[i]);
	return status;
}

static bool start(void) {
	PyPreConfig before;
	PyPreConfig_InitIsolatedConfig(&before);
	before.utf8_mode = 1;
	before.configure_locale = 0;
	PyConfig config;
	PyStatus status = Py_PreInitialize(&before);
	if (PyStatus_Exception(status))
		return false;
	PyConfig_InitIsolatedConfig(&config);
	config.site_import = 0;
	config.write_bytecode = 0;
	config.install_signal_handlers = 1; /* SIGINT raises KeyboardInterrupt; SIGPIPE is ignored */
	config.parse_argv = 0;
	config.buffered_stdio = 0;
	status = set_paths(&config);
	if (!PyStatus_Exception(status))
		status = Py_InitializeFromConfig(&config);
	PyConfig_Clear(&config);
	return !PyStatus_Exception(status);
}

/* --- our own modules --- */

/* Run an embedded source as a module of that name. */
static PyObject *load(const char *name, const char *source) {
	char filename[100];
	snprintf(filename, sizeof filename, "<glovebox>/%s.py", name);
	gb_auto_py PyObject *code = Py_CompileString(source, filename, Py_file_input);
	return code ? PyImport_ExecCodeModuleEx(name, code, filename) : NULL;
}

static bool load_all(void) {
	for (size_t i = 0; i < GB_COUNT(gb_py_sources); i++) {
		gb_auto_py PyObject *module = load(gb_py_sources[i].name, gb_py_sources[i].source);
		if (!module)
			return false;
	}
	return true;
}

static bool find_runner(PyObject *runner) {
	const struct {
		const char *name;
		PyObject **ret;
	} members[] = {
	    {"run", &gb_py_runner.run},
	    {"describe", &gb_py_runner.describe},
	    {"wake", &gb_py_runner.wake},
	    {"NOTHING", &gb_py_runner.nothing},
	    {"fall_back", &gb_py_runner.fall_back},
	};
	for (size_t i = 0; runner && i < GB_COUNT(members); i++)
		if (!(*members[i].ret = PyObject_GetAttrString(runner, members[i].name)))
			return false;
	return runner != NULL;
}

static bool prepare(const char *profile) {
	if (!gb_py_output_init() || !load_all())
		return false;
	gb_auto_py PyObject *values = PyImport_ImportModule("glovebox_values");
	gb_auto_py PyObject *promises = PyImport_ImportModule("glovebox_promises");
	gb_auto_py PyObject *runner = PyImport_ImportModule("glovebox_runner");
	gb_auto_py PyObject *warm = PyImport_ImportModule("glovebox_warm");
	if (!values || !promises || !runner || !warm || !gb_py_encode_init(values) ||
	    !gb_py_decode_init(values) || !gb_py_bridge_init(promises) || !find_runner(runner))
		return false;
	gb_auto_py PyObject *done = PyObject_CallMethod(warm, "warm", "s", profile);
	return done != NULL;
}

/* Threads of numerical libraries would not survive the fork, and would take CPU time from other runs. */
static void set_environment(void) {
	static const char *const single[] = {
	    "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"};
	for (size_t i = 0; i < GB_COUNT(single); i++)
		setenv(single[i], "1", 1);
	setenv("MPLBACKEND", "Agg", 1);
	setenv("MPLCONFIGDIR", "/", 1); /* see process.py */
	setenv("LC_CTYPE", "C.UTF-8", 1);
	setenv("TZ", "UTC0", 1); /* for libraries that read it again */
#define VARIABLE(name) setenv(name, GB_AUTHORITIES, 1);
	if (gb_worker_has_network()) {
		GB_AUTHORITY_VARIABLES(VARIABLE)
	}
#undef VARIABLE
}

/* Bit n is set if descriptor n is open. */
static uint64_t open_descriptors(void) {
	uint64_t open = 0;
	for (int fd = 0; fd < 64; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			open |= 1ull << fd;
	return open;
}

bool gb_py_interpreter_init(const char *profile) {
	uint64_t before = open_descriptors();
	set_environment();
	gb_py_heap_init();
	if (!gb_py_module_register() || !start())
		return false;
	if (!prepare(profile)) {
		PyErr_Print();
		return false;
	}
	/* A descriptor left open by a library would be another file in a cell, perhaps the host's socket. */
	return open_descriptors() == before;
}
