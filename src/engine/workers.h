/* Where the worker programs are. */
#ifndef GB_ENGINE_WORKERS_H
#define GB_ENGINE_WORKERS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "glovebox/glovebox.h"

/* The path of worker @name: in @dir if one is given; else beside the running program, as in a build tree;
 * else where it was installed. */
bool gb_worker_find(const char *dir, const char *name, char *ret, size_t n, struct gb_err *err);

/* A program of the machine's own: @chosen, or if that is NULL what GLOVEBOX_NODE (and so on) says, or the
 * first of that @name on PATH. */
bool gb_program_find(const char *chosen, const char *name, char *ret, size_t n, struct gb_err *err);

/* The version of the program @path that runs @language (GB_SHELL, GB_NODE or GB_DENO), as it tells it in a
 * sandbox: settings and the environment name it, so it is never started outside. Empty if there is no answer.
 * (version.c) */
void gb_program_version(enum gb_language language, const char *path, char *ret, size_t n);

#endif
