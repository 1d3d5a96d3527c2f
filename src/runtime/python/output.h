/*
 * All output of a cell: frames are queued in an outbox and sent together. A timer sends program output after
 * a few milliseconds at the latest, so that it can be followed live; a short run sends everything together
 * with its result.
 *
 *	gb_py_output_open(fd, job.output);
 *	gb_py_post(frame.data, frame.len);	// after earlier output
 *	gb_py_send();
 */
#ifndef GB_PYTHON_OUTPUT_H
#define GB_PYTHON_OUTPUT_H

#include "runtime/python/python.h"

#include <stdbool.h>
#include <stdint.h>

/* Call once, in the zygote: replaces sys.stdout and sys.stderr. */
bool gb_py_output_init(void);

/* Send to @fd from now on, at most @limit bytes. Earlier output is discarded. */
void gb_py_output_open(int fd, uint64_t limit);

/* Send everything. Later output is discarded until the next job. */
void gb_py_output_close(void);

/* Queue complete frames. */
void gb_py_post(const void *frames, size_t n);
/* Send everything. Exits if the host has closed the connection. */
void gb_py_send(void);

/* Send a LOG frame, which counts as output: beyond the limit it is dropped. */
void gb_py_output_log(const void *frame, size_t n);

/* Set the truncated flag. */
void gb_py_output_cut(void);
bool gb_py_output_truncated(void);

/* Like Python's write methods. @stream is 1 or 2. */
void gb_py_output_write(int stream, const char *bytes, size_t n);

#endif
