/* File descriptor and clock helpers that every layer uses. */
#ifndef GB_BASE_IO_H
#define GB_BASE_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

/* Write all of @bytes to a blocking @fd; retries short writes and EINTR. Never raises SIGPIPE on sockets. */
bool gb_write_all(int fd, const void *bytes, size_t n);

/* Read exactly @n bytes from a blocking @fd. False on error or if the stream ends earlier. */
bool gb_read_all(int fd, void *bytes, size_t n);

/* Open a file that the user named: a regular file, /dev/null, or a pipe that the shell opened (/dev/fd/63,
 * /dev/stdin). Any other FIFO or device is rejected, since opening or reading it could block. */
bool gb_open_named(const char *path, int *ret_fd, struct gb_err *err);

/* Append everything up to end of file. Fails if @buf reaches its maximum. @name is used in messages. */
bool gb_read_to_end(int fd, const char *name, struct gb_buf *buf, struct gb_err *err);

/* CLOCK_MONOTONIC in nanoseconds. */
uint64_t gb_now_ns(void);

#endif
