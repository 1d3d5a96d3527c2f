#include "runtime/failure.h"

#include <string.h>

#include "value/cbor.h"
#include "value/frame.h"

static void write_text(struct gb_buf *out, const char *text) {
	if (!text) {
		gb_cbor_simple(out, GB_SIMPLE_NULL);
		return;
	}
	size_t n = strnlen(text, GB_FAILURE_TEXT_MAX);
	/* Not in the middle of a character. */
	if (n == GB_FAILURE_TEXT_MAX)
		while (n > 0 && (text[n] & 0xc0) == 0x80)
			n--;
	gb_cbor_string(out, text, n);
}

void gb_failure_write(struct gb_buf *out, enum gb_wire_status status, size_t peak_memory, bool truncated,
    const struct gb_failure *failure) {
	size_t mark = gb_frame_begin(out, GB_FRAME_RESULT);
	gb_cbor_unsigned(out, status);
	gb_cbor_unsigned(out, peak_memory);
	gb_cbor_simple(out, truncated ? GB_SIMPLE_TRUE : GB_SIMPLE_FALSE);
	gb_cbor_array(out, GB_WIRE_ERROR_FIELDS);
	write_text(out, failure->name);
	write_text(out, failure->message);
	write_text(out, failure->stack);
	write_text(out, failure->code);
	write_text(out, failure->specifier);
	write_text(out, failure->filename);
	gb_cbor_unsigned(out, failure->line);
	gb_cbor_unsigned(out, failure->column);
	gb_frame_end(out, mark);
}
