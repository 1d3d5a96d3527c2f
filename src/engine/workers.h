/* Where the worker programs are. */
#ifndef GB_ENGINE_WORKERS_H
#define GB_ENGINE_WORKERS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* The path of worker @name: in @dir if one is given; else beside the running program, as in a build tree;
 * else where it was installed. */
bool gb_worker_find(const char *dir, const char *name, char *ret, size_t n, struct gb_err *err);

/* A program of the machine's own: @chosen, or if that is NULL what GLOVEBOX_NODE (and so on) says, or the
 * first of that @name on PATH. */
bool gb_program_find(const char *chosen, const char *name, char *ret, size_t n, struct gb_err *err);

/* The first line of what "@path --version" says; empty if it says nothing. (about.c) */
void gb_program_version(const char *path, char *ret, size_t n);

#endif
