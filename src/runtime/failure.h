/*
 * The RESULT frame of a failed run, common to all workers.
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

/* Longer error texts are truncated. */
enum { GB_FAILURE_TEXT_MAX = 64 << 10 };

/* Texts may be NULL. */
struct gb_failure {
	const char *name;
	const char *message;
	const char *stack;
	const char *code;
	const char *specifier;
	const char *filename;
	unsigned line, column;
	size_t name_bytes, message_bytes, stack_bytes; /* 0: NUL-terminated */
};

/* Append a RESULT frame for a failure. */
void gb_failure_write(struct gb_buf *out, enum gb_wire_status status, size_t peak_memory, bool truncated,
    const struct gb_failure *failure);

#endif
