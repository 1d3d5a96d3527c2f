/* Finds the worker programs. */
#ifndef GB_ENGINE_WORKERS_H
#define GB_ENGINE_WORKERS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "glovebox/glovebox.h"

/* The path of worker @name: in @dir if given; else next to the running program, as in a build tree; else in
 * the installation folder. */
bool gb_worker_find(const char *dir, const char *name, char *ret, size_t n, struct gb_err *err);

/* The path of an external program: @chosen, or if that is NULL the value of GLOVEBOX_NODE (and so on), or the
 * first @name on PATH. */
bool gb_program_find(const char *chosen, const char *name, char *ret, size_t n, struct gb_err *err);

/* The version of the program @path that runs @language (GB_SHELL, GB_NODE or GB_DENO), as reported in a
 * sandbox: settings and the environment name the program, so it is never started outside. Empty on failure.
 * (version.c) */
void gb_program_version(enum gb_language language, const char *path, char *ret, size_t n);

#endif
