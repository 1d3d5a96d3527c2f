/*
 * Reports the outcome of a run as a RESULT frame, the last one of its run.
 *
 *	gb_py_report_success(job, outcome);	// written to a separate buffer
 *	...					// objects are released; their finalizers may still print
 *	gb_py_report_send();
 */
#ifndef GB_PYTHON_REPORT_H
#define GB_PYTHON_REPORT_H

#include "runtime/python/python.h"

#include "runtime/job.h"

/* @outcome is the return value of the runner: (value, whether it was requested by name). */
void gb_py_report_success(const struct gb_job *job, PyObject *outcome);

/* Consumes the pending exception. */
void gb_py_report_exception(void);

/* Send the report after all other output. Later output is discarded. */
void gb_py_report_send(void);

#endif
