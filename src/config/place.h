/*
 * Reading a file of settings from a place that has to be checked first: a file decides what agents may do, so
 * only the user and root may be able to change it.
 *
 *	switch (gb_place_read(path, &text, &place, &err)) ...
 */
#ifndef GB_CONFIG_PLACE_H
#define GB_CONFIG_PLACE_H

#include <limits.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"

enum gb_place_verdict {
	GB_PLACE_READ,
	GB_PLACE_ABSENT,
	GB_PLACE_FOREIGN, /* another user owns it, or can replace it */
	GB_PLACE_WRONG,   /* the user owns it, but its mode or kind is wrong; or it cannot be read */
};

struct gb_place {
	char real[PATH_MAX]; /* absolute, without links */
	dev_t device;
	ino_t inode;
};

/* Append what stands in the file at @path, and say where it is. Never blocks: what is not a regular file is
 * not opened. On FOREIGN and WRONG @err says what is wrong and what to do. */
enum gb_place_verdict gb_place_read(
    const char *path, struct gb_buf *text, struct gb_place *ret, struct gb_err *err);

/* A file that the user has named, by --config or $GLOVEBOX_CONFIG: owner and mode are the user's business. A
 * regular file, /dev/null, or a pipe that the shell has opened (/dev/fd/63, which may block until its writer
 * is done). */
bool gb_place_read_named(const char *path, struct gb_buf *text, struct gb_err *err);

#endif
