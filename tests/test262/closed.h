/* Reasons why a test does not apply to this sandbox, found in its text. */
#ifndef GB_TEST262_CLOSED_H
#define GB_TEST262_CLOSED_H

#include "test262/assemble.h"
#include "test262/expect.h"

/* NULL: it is to be run. Else why not; @ret_closed tells what is closed by design from what is skipped.
 * @buf (of T262_TEXT_MAX) may hold the text. */
const char *t262_reason_not_to_run(
    const struct t262_case *one, const struct t262_expect *expect, bool *ret_closed, char *buf);

/* It fails here, as @why says, and passes in the plain engine: what it needs that the sandbox does not have,
 * or NULL. */
const char *t262_reason_to_fail(const struct t262_case *one, const char *why);

#endif
