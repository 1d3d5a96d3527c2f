/*
 * Received frames, and calls between the code and the host: host functions that Python code calls, and
 * callables of the code that the host calls.
 *
 *	gb_py_bridge_open(fd);				// once in a cell
 *	while (gb_py_bridge_next_job(&job)) ...		// also serves calls between two jobs
 *
 * A call of the host blocks its thread until the answer, which may be that a promise will settle later. Other
 * frames that arrive meanwhile are kept for the next turn of the event loop: code is never interrupted by
 * other code. One thread at a time exchanges frames with the host; the others wait for the lock.
 */
#ifndef GB_PYTHON_BRIDGE_H
#define GB_PYTHON_BRIDGE_H

#include "runtime/python/python.h"

#include <stdbool.h>
#include <stdint.h>

#include "glovebox/value.h"
#include "runtime/job.h"

/* Call once, in the zygote. @promises is the module promises.py. */
bool gb_py_bridge_init(PyObject *promises);

void gb_py_bridge_open(int fd);

/* Wait for the next job. Decode its values before any Python code runs. The process exits at the end of the
 * stream. */
void gb_py_bridge_next_job(struct gb_job *ret_job);

/* Set the limits of a new job. */
void gb_py_bridge_limit(const struct gb_job *job);

/* Block further receives while received bytes are being decoded. */
void gb_py_bridge_hold(void);
void gb_py_bridge_release(void);

/* The function for a host's id, or a promise that settles as the host's does. */
PyObject *gb_py_bridge_function(uint32_t id, const char *name, size_t n);
PyObject *gb_py_bridge_promise(uint32_t id);
/* A callable or awaitable of the code that the host sends back by its id. */
PyObject *gb_py_bridge_own(uint32_t id);
/* The side and id under which the host can call a callable or awaitable; assigns an id if needed. False with
 * an exception pending. */
bool gb_py_bridge_lend(PyObject *value, bool is_function, enum gb_side *ret_side, uint32_t *ret_id);

bool gb_py_is_host_function(PyObject *value);

/* For _glovebox: wait up to @seconds (None: no timeout) for a frame from the host, and handle it. False if no
 * frame can arrive that would change anything. */
PyObject *gb_py_bridge_turn(PyObject *module, PyObject *seconds);
/* For _glovebox: answer(call, thrown, value) answers a call of the host. */
PyObject *gb_py_bridge_answer(PyObject *module, PyObject *args);

#endif
