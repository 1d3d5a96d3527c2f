/*
 * Run one cell behind one plan, send it one request, collect its answer. Doctor and the attack tests use this
 * to observe a wall from inside.
 *
 *	plan.layers = GB_LAYER_LANDLOCK;	// this layer alone; 0: no wall at all
 *	gb_oneshot(&plan, program, "open-root", 1000, &answer, &err);
 *
 * This is the only place where layers may be left out. No code of a user runs here.
 */
#ifndef GB_SANDBOX_LINUX_ONESHOT_H
#define GB_SANDBOX_LINUX_ONESHOT_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "sandbox/linux/plan.h"

struct gb_oneshot_answer {
	struct gb_buf bytes; /* all that the cell sent, up to the maximum; init before, finish after */
	int wait_status;     /* of the cell; -1 if its zygote died before it reported the status */
	bool timed_out;      /* it was killed because it ran too long */
};

/* Start @program as a zygote behind @plan, fork one cell, send it @question and the end of the stream,
 * collect its output for at most @timeout_ms. All processes have ended when this returns. */
bool gb_oneshot(const struct gb_plan *plan, const char *program, const char *question, int timeout_ms,
    struct gb_oneshot_answer *ret, struct gb_err *err);

#endif
