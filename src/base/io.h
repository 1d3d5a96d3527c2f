/* File descriptors and clocks: the few helpers that every layer wants. */
#ifndef GB_BASE_IO_H
#define GB_BASE_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

/* Write all of @bytes to a blocking @fd, over short writes and interruptions. Never raises SIGPIPE on
 * sockets. */
bool gb_write_all(int fd, const void *bytes, size_t n);

/* Read exactly @n bytes from a blocking @fd. False on error or if the other side ended before. */
bool gb_read_all(int fd, void *bytes, size_t n);

/* Open a file that the user has named: a regular one, /dev/null, or a pipe that the shell has opened
 * (/dev/fd/63, /dev/stdin). A FIFO or another device is refused, since opening or reading it could block. */
bool gb_open_named(const char *path, int *ret_fd, struct gb_err *err);

/* Append everything from @fd up to its end. Fails when @buf does. @name is used in messages. */
bool gb_read_to_end(int fd, const char *name, struct gb_buf *buf, struct gb_err *err);

/* CLOCK_MONOTONIC in nanoseconds. */
uint64_t gb_now_ns(void);

#endif
