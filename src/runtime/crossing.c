#include "runtime/crossing.h"

#include <unistd.h>

void gb_inbox_init(struct gb_inbox *inbox) {
	gb_buf_init(&inbox->frames, SIZE_MAX);
	inbox->taken = 0;
}

void gb_inbox_finish(struct gb_inbox *inbox) {
	gb_buf_finish(&inbox->frames);
}

void gb_inbox_keep(struct gb_inbox *inbox, const struct gb_frame *frame) {
	gb_frame_append(&inbox->frames, frame->type, frame->payload, frame->n);
	if (gb_buf_failed(&inbox->frames))
		_exit(1);
}

bool gb_inbox_take(struct gb_inbox *inbox, struct gb_frame *ret_frame) {
	if (inbox->taken == inbox->frames.len) {
		gb_buf_clear(&inbox->frames);
		inbox->taken = 0;
		return false;
	}
	const uint8_t *at = (const uint8_t *)inbox->frames.data + inbox->taken;
	size_t length = (size_t)at[0] | (size_t)at[1] << 8 | (size_t)at[2] << 16 | (size_t)at[3] << 24;
	*ret_frame = (struct gb_frame){.type = at[4], .payload = at + GB_FRAME_HEAD, .n = length - 1};
	inbox->taken += GB_FRAME_HEAD - 1 + length;
	return true;
}

uint32_t gb_take_u32(struct gb_cbor_reader *in) {
	struct gb_cbor_item item;
	if (!gb_cbor_next(in, &item) || item.kind != GB_CBOR_UNSIGNED || item.argument > UINT32_MAX)
		_exit(1);
	return (uint32_t)item.argument;
}

void gb_put_reference(struct gb_buf *out, uint32_t number) {
	gb_cbor_tag(out, GB_CBOR_REFERENCE);
	gb_cbor_unsigned(out, number);
}

void gb_put_lent(struct gb_buf *out, bool is_promise, enum gb_side side, uint32_t id) {
	gb_cbor_tag(out, is_promise ? GB_CBOR_PROMISE : GB_CBOR_FUNCTION);
	gb_cbor_array(out, is_promise ? 2 : 3);
	gb_cbor_unsigned(out, side);
	gb_cbor_unsigned(out, id);
	if (!is_promise)
		gb_cbor_simple(out, GB_SIMPLE_NULL);
}
