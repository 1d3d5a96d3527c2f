#include "runtime/crossing.h"

#include <unistd.h>

#include "runtime/wire.h"

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

/* --- calls of the host --- */

void gb_call_budget_begin(struct gb_call_budget *budget, const struct gb_job *job) {
	*budget = (struct gb_call_budget){
	    .call_bytes = job->call,
	    .max_report = job->report,
	    .max_calls = job->calls,
	    .max_in_flight = job->in_flight,
	    .in_flight_bytes = budget->in_flight_bytes,
	};
}

static bool exceed(struct gb_exceeded *ret, const char *what, uint64_t limit) {
	*ret = (struct gb_exceeded){what, limit};
	return false;
}

struct gb_call_frame gb_call_begin(
    const struct gb_call_budget *budget, struct gb_buf *out, uint32_t call, uint32_t function) {
	struct gb_call_frame frame = {.out = out, .is_report = function == GB_WIRE_REPORT};
	gb_buf_init(out, GB_FRAME_HEAD + GB_WIRE_CALL_SLACK);
	frame.mark = gb_frame_begin(out, GB_FRAME_CALL);
	gb_cbor_unsigned(out, call);
	gb_cbor_unsigned(out, function);
	frame.begin = out->len;
	out->max = frame.begin + budget->call_bytes;
	return frame;
}

bool gb_call_end(struct gb_call_budget *budget, const struct gb_call_frame *frame, bool encoded,
    struct gb_exceeded *ret_exceeded) {
	gb_frame_end(frame->out, frame->mark);
	if (!encoded || gb_buf_failed(frame->out))
		return exceed(
		    ret_exceeded, "the arguments of a call to the host are too large", budget->call_bytes);
	if (!frame->is_report)
		return true;
	size_t bytes = frame->out->len - frame->begin;
	if (bytes > budget->max_report - budget->reported)
		return exceed(
		    ret_exceeded, "this run has reached its limit of reported bytes", budget->max_report);
	budget->reported += bytes;
	return true;
}

bool gb_call_count(
    struct gb_call_budget *budget, size_t cost, uint32_t n_pending, struct gb_exceeded *ret_exceeded) {
	uint64_t all = GB_WIRE_IN_FLIGHT_FACTOR * budget->call_bytes;
	if (budget->calls == budget->max_calls)
		return exceed(ret_exceeded, "this run has used up its host calls", budget->max_calls);
	if (n_pending >= budget->max_in_flight)
		return exceed(ret_exceeded, "too many host calls are in flight", budget->max_in_flight);
	if (budget->in_flight_bytes + cost > all)
		return exceed(ret_exceeded, "host calls in flight hold too many bytes", all);
	budget->calls++;
	return true;
}
