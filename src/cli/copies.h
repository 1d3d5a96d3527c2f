/*
 * Copies of files and folders for the code (--file): from a path of the command line to a value that maps the names
 * of the copies to their bytes.
 */
#ifndef GB_CLI_COPIES_H
#define GB_CLI_COPIES_H

#include "cli/cli.h"
#include "glovebox/glovebox.h"

struct copies {
	const struct command *command; /* named in errors */
	const char *prefix;            /* of errors: "--file: " */
	struct gb_values *values;
	struct gb_value *files; /* receives the copies */
};

/* Add the file @path by its last name, or all files below the folder @path, as "folder/name". Symbolic links and
 * special files below it are left out, with a warning that has their number; empty folders are not created.
 * Errors are reported. */
bool copies_add(const struct copies *copies, const char *path);

#endif
