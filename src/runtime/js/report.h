/*
 * Reports the outcome of a run as one RESULT frame.
 */
#ifndef GB_JS_REPORT_H
#define GB_JS_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "quickjs.h"
#include "runtime/js/realm.h"
#include "runtime/wire.h"

/* Append a RESULT frame for the exception pending in @ctx, and clear it. */
void gb_js_write_exception(struct gb_buf *out, struct gb_js *js, JSContext *ctx, enum gb_wire_status status,
    size_t peak_memory, bool truncated);

#endif
