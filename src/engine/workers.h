/* Finds the worker programs, and the programs of the machine that run code. */
#ifndef GB_ENGINE_WORKERS_H
#define GB_ENGINE_WORKERS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "glovebox/glovebox.h"

/*
 * The path of worker @name: in @dir if given; else beside the file that contains this code, as in a build tree, or in
 * libexec/glovebox of the tree in which that file is installed; for a shared library, then the same beside the program.
 * Environment, working directory and argv have no influence, and no path is compiled in: a tree may be moved, and a
 * build never uses a copy that is installed elsewhere.
 *
 * A worker sets up its own sandbox, so one that other users can change is refused (GB_EWALL): it must belong to this
 * user, to root or to the owner of the file that contains this code, and neither it nor its folder may be writable by
 * all users.
 */
bool gb_worker_find(const char *dir, const char *name, char *ret, size_t n, struct gb_err *err);

/* The path of an external program: @chosen, or if that is NULL the value of GLOVEBOX_NODE (and so on), or the
 * first @name on PATH. (programs.c) */
bool gb_program_find(const char *chosen, const char *name, char *ret, size_t n, struct gb_err *err);

/* The version of the program @path that runs @language (GB_SHELL, GB_NODE or GB_DENO), as reported in a
 * sandbox: settings and the environment name the program, so it is never started outside. Empty on failure.
 * (version.c) */
void gb_program_version(enum gb_language language, const char *path, char *ret, size_t n);

#endif
