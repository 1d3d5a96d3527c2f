/*
 * Working directories of the caller's: "DIR", which code can read, or "DIR:rw". It is /box for the code.
 *
 *	struct gb_workdir workdir;
 *	if (!gb_workdir_open("/home/me/project:rw", &workdir, &err)) ...
 *	gb_workdir_finish(&workdir);
 */
#ifndef GB_ENGINE_WORKDIR_H
#define GB_ENGINE_WORKDIR_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"

enum { GB_WORKDIR_PATH = 4096 };

struct gb_workdir {
	int fd; /* O_PATH; -1: not open */
	bool writable;
	dev_t device;
	ino_t inode;
	char path[GB_WORKDIR_PATH]; /* without links */
};

/* Open it, and check that it can be given to code: that it is a directory, of a file system for files, not the root,
 * and that the user of the sandbox may read or write it. The errors have the field "workdir". */
bool gb_workdir_open(const char *text, struct gb_workdir *ret, struct gb_err *err);
void gb_workdir_finish(struct gb_workdir *workdir);

/* Append "DIR" or "DIR:rw". */
void gb_workdir_describe(const struct gb_workdir *workdir, struct gb_buf *out);

/* Whether @path, which may be a file, is in the directory, or is the directory; or would be, if it does not exist. */
bool gb_workdir_has(const struct gb_workdir *workdir, const char *path);
/* Whether the directory is in the folder @path, or is that folder. */
bool gb_workdir_is_in(const struct gb_workdir *workdir, const char *path);

#endif
