/*
 * Frames in, and calls across the wall as seen from inside: functions of the host's that Python code calls,
 * and callables of the code's that the host calls.
 *
 *	gb_py_bridge_open(fd);				// once in a cell
 *	while (gb_py_bridge_next_job(&job)) ...		// also serves what is called between two jobs
 *
 * A call of the host stops its thread until there is an answer, which may be that a promise will settle
 * later. What else arrives meanwhile waits for the next turn of the event loop: code is never interrupted by
 * other code. One thread at a time talks to the host; the others wait for their turn.
 */
#ifndef GB_PYTHON_BRIDGE_H
#define GB_PYTHON_BRIDGE_H

#include "runtime/python/python.h"

#include <stdbool.h>
#include <stdint.h>

#include "glovebox/value.h"
#include "runtime/job.h"

/* Once, in the zygote. @promises is the module promises.py. */
bool gb_py_bridge_init(PyObject *promises);

void gb_py_bridge_open(int fd);

/* Wait for the next job. Its values must be read before any Python code runs. The end of the stream instead
 * ends the process. */
void gb_py_bridge_next_job(struct gb_job *ret_job);

/* The limits of the job that begins. */
void gb_py_bridge_limit(const struct gb_job *job);

/* While bytes that were received are read, nobody may receive more. */
void gb_py_bridge_hold(void);
void gb_py_bridge_release(void);

/* The function that a host's id stands for, or a promise that will settle as the host's does. */
PyObject *gb_py_bridge_function(uint32_t id, const char *name, size_t n);
PyObject *gb_py_bridge_promise(uint32_t id);
/* What the code has lent under this id, come back. */
PyObject *gb_py_bridge_own(uint32_t id);
/* The number under which the host knows, or from now on may call, a callable or awaitable. False with an
 * exception pending. */
bool gb_py_bridge_lend(PyObject *value, bool is_function, enum gb_side *ret_side, uint32_t *ret_id);

bool gb_py_is_host_function(PyObject *value);

/* For _glovebox: wait up to so many seconds (None: for ever) for the host to say something, and act on it.
 * False if nothing can come that would change anything. */
PyObject *gb_py_bridge_turn(PyObject *module, PyObject *seconds);
/* For _glovebox: (call, thrown, value) answers a call of the host's. */
PyObject *gb_py_bridge_answer(PyObject *module, PyObject *args);

#endif
