/*
 * How a run failed, as any worker tells it: a RESULT frame.
 *
 *	const struct gb_failure failure = {.name = "TypeError", .message = "no"};
 *	gb_failure_write(&out, GB_WIRE_ERROR, peak, false, &failure);
 */
#ifndef GB_RUNTIME_FAILURE_H
#define GB_RUNTIME_FAILURE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "runtime/wire.h"

/* Texts of an error are for people: beyond this they are cut. */
enum { GB_FAILURE_TEXT_MAX = 64 << 10 };

/* What went wrong; texts may be NULL. */
struct gb_failure {
	const char *name;
	const char *message;
	const char *stack;
	const char *code;
	const char *specifier;
	const char *filename;
	unsigned line, column;
	size_t name_bytes, message_bytes, stack_bytes; /* 0: the text ends with a zero */
};

/* Append a RESULT frame for a failure. */
void gb_failure_write(struct gb_buf *out, enum gb_wire_status status, size_t peak_memory, bool truncated,
    const struct gb_failure *failure);

#endif
