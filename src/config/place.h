/*
 * Reading configuration files. A configuration file decides what agents may do, so a file is only accepted if
 * no user other than its user and root can change it.
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
	GB_PLACE_FOREIGN, /* another user owns it or can replace it */
	GB_PLACE_WRONG,   /* the user owns it, but its mode or kind is wrong; or it cannot be read */
};

struct gb_place {
	char real[PATH_MAX]; /* absolute, without links */
	dev_t device;
	ino_t inode;
};

/* Append the content of the file at @path to @text, and return its real place. Never blocks: only regular
 * files are opened. On FOREIGN and WRONG @err says what is wrong and what to do. */
enum gb_place_verdict gb_place_read(
    const char *path, struct gb_buf *text, struct gb_place *ret, struct gb_err *err);

/* Read a file that the user has named by --config or $GLOVEBOX_CONFIG: owner and mode are not checked. It may
 * be a regular file, /dev/null, or a pipe that the shell has opened (/dev/fd/63, which may block until its
 * writer is done). */
bool gb_place_read_named(const char *path, struct gb_buf *text, struct gb_err *err);

#endif
