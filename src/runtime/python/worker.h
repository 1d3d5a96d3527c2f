/*
 * The Python worker: in a zygote an interpreter is made ready; in each cell it runs one job, or those of a
 * session one after the other.
 *
 *	return gb_zygote_main(&gb_py_worker);
 */
#ifndef GB_PYTHON_WORKER_H
#define GB_PYTHON_WORKER_H

#include "sandbox/inside/zygote.h"

extern const struct gb_worker gb_py_worker;

#endif
