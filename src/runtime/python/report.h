/*
 * How a run ended: a RESULT frame, the last one of its run.
 *
 *	gb_py_report_success(job, outcome);	// written, aside
 *	...					// all is let go of, and may have last words
 *	gb_py_report_send();
 */
#ifndef GB_PYTHON_REPORT_H
#define GB_PYTHON_REPORT_H

#include "runtime/python/python.h"

#include "runtime/job.h"

/* @outcome is what the runner returned: (value, whether it was asked for by name). */
void gb_py_report_success(const struct gb_job *job, PyObject *outcome);

/* The exception that is pending, which is taken. */
void gb_py_report_exception(void);

/* Send it, after everything else. Nothing can be said after it. */
void gb_py_report_send(void);

#endif
