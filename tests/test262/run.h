/*
 * One test, through the sandbox and through the plain engine. The first is started and finished by two calls,
 * so that the second can go on meanwhile.
 */
#ifndef GB_TEST262_RUN_H
#define GB_TEST262_RUN_H

#include <glovebox/glovebox.h>

#include "test262/assemble.h"
#include "test262/judge.h"

bool t262_sandbox_start(
    struct gb_engine *engine, const struct t262_case *one, struct gb_run **ret, struct gb_err *err);
/* Waits for @run and destroys it. */
void t262_sandbox_finish(struct gb_run *run, struct t262_outcome *ret);

/* @program is test262-plain. With @script the test is a script, as the suite has it, in strict mode. Fails
 * only if the program cannot be started. */
bool t262_plain(const char *program, const struct t262_case *one, bool script, struct t262_outcome *ret,
    struct gb_err *err);

#endif
