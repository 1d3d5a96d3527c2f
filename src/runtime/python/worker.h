/*
 * The Python worker: the zygote initialises an interpreter; each cell runs one job, or the jobs of a session.
 *
 *	return gb_zygote_main(&gb_py_worker);
 */
#ifndef GB_PYTHON_WORKER_H
#define GB_PYTHON_WORKER_H

#include "sandbox/worker.h"

extern const struct gb_worker gb_py_worker;

#endif
