/*
 * Everything that leaves a cell: frames wait in an outbox and are sent together. What the program writes is
 * sent after some milliseconds at the latest, by a timer, so that it can be watched; a short run says all in
 * one go with its result.
 *
 *	gb_py_output_open(fd, job.output);
 *	gb_py_post(frame.data, frame.len);	// after what was written before
 *	gb_py_send();
 */
#ifndef GB_PYTHON_OUTPUT_H
#define GB_PYTHON_OUTPUT_H

#include "runtime/python/python.h"

#include <stdbool.h>
#include <stdint.h>

/* Once, in the zygote: sys.stdout and sys.stderr become ours. */
bool gb_py_output_init(void);

/* From now on to @fd, @limit bytes at most. What was written before is forgotten. */
void gb_py_output_open(int fd, uint64_t limit);

/* Send what there is. What is written from now on is lost, until there is another job. */
void gb_py_output_close(void);

/* Put whole frames into the outbox. */
void gb_py_post(const void *frames, size_t n);
/* Send all. The host's end is ours too. */
void gb_py_send(void);

/* Something was left out. */
void gb_py_output_cut(void);
/* Has anything been? */
bool gb_py_output_truncated(void);

/* The same as what Python's write methods do. @stream is 1 or 2. */
void gb_py_output_write(int stream, const char *bytes, size_t n);

#endif
