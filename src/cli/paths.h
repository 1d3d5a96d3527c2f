/*
 * Files and folders named on the command line. The folder that they are in may be untrusted: a cloned
 * repository, or the output of an agent.
 */
#ifndef GB_CLI_PATHS_H
#define GB_CLI_PATHS_H

#include "base/buf.h"
#include "cli/cli.h"

enum { WORKDIR_TEXT = 4096 + 4 };

/* Append the content of @path; "-" is standard input. Accepts regular files, /dev/null, and pipes that the
 * shell has opened; not FIFOs, which would block, nor links that lead out of the working directory. Error messages
 * begin with @what, such as "--file: " or "". */
bool read_path(const struct command *command, const char *what, const char *path, struct gb_buf *buf);

/* Open a folder. Links below the working directory are not followed: the creator of the link would choose the
 * folder. */
bool open_folder(const char *path, int *ret_fd, struct gb_err *err);
/* The same; a folder that is missing is created, with those above it. */
bool make_folder(const char *path, int *ret_fd, struct gb_err *err);

/* The directory of --workdir, "DIR" or "DIR:rw", as an absolute path without links, so that another process finds the
 * same one. It is opened as by open_folder. */
bool find_workdir(const struct command *command, const char *text, char ret[WORKDIR_TEXT]);

#endif
