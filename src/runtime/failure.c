#include "runtime/failure.h"

#include <string.h>

#include "base/str.h"
#include "value/cbor.h"
#include "value/frame.h"

/* @n is 0 for a NUL-terminated text. */
static void write_text(struct gb_buf *out, const char *text, size_t n) {
	if (!text) {
		gb_cbor_simple(out, GB_SIMPLE_NULL);
		return;
	}
	struct gb_str whole = {text, n ? n : strnlen(text, GB_FAILURE_TEXT_MAX + 1)};
	gb_cbor_string(out, text, gb_text_fit(whole, GB_FAILURE_TEXT_MAX));
}

void gb_failure_write(struct gb_buf *out, enum gb_wire_status status, size_t peak_memory, bool truncated,
    const struct gb_failure *failure) {
	size_t mark = gb_frame_begin(out, GB_FRAME_RESULT);
	gb_cbor_unsigned(out, status);
	gb_cbor_unsigned(out, peak_memory);
	gb_cbor_simple(out, truncated ? GB_SIMPLE_TRUE : GB_SIMPLE_FALSE);
	gb_cbor_array(out, GB_WIRE_ERROR_FIELDS);
	write_text(out, failure->name, failure->name_bytes);
	write_text(out, failure->message, failure->message_bytes);
	write_text(out, failure->stack, failure->stack_bytes);
	write_text(out, failure->code, 0);
	write_text(out, failure->specifier, 0);
	write_text(out, failure->filename, 0);
	gb_cbor_unsigned(out, failure->line);
	gb_cbor_unsigned(out, failure->column);
	gb_frame_end(out, mark);
}
