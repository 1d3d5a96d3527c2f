/*
 * Files and folders named on the command line. The folder that they are in may have been filled by somebody
 * else: a cloned repository, or the output of an agent.
 */
#ifndef GB_CLI_PATHS_H
#define GB_CLI_PATHS_H

#include <limits.h>

#include "base/buf.h"
#include "cli/cli.h"

/* Append the content of @path, "-" for standard input. A regular file, /dev/null, or a pipe that the shell
 * has opened: a FIFO would block. @what goes before the message, as "--file: ", or is "". */
bool read_path(const struct command *command, const char *what, const char *path, struct gb_buf *buf);

/* Open a folder. A link below the working folder is not followed: whoever made the link would choose the
 * folder. */
bool open_folder(const char *path, int *ret_fd, struct gb_err *err);

/* The absolute path of such a folder, without links. */
bool find_folder(const char *path, char ret[PATH_MAX], struct gb_err *err);

#endif
