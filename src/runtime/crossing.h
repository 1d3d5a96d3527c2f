/*
 * Helpers shared by the codecs and bridges of the JavaScript and Python workers. A malformed message from the
 * host ends the worker: host and worker come from one build.
 *
 *	gb_inbox_keep(&inbox, &frame);			// arrived while the worker waited for another frame
 *	while (gb_inbox_take(&inbox, &frame)) ...	// in order of arrival
 */
#ifndef GB_RUNTIME_CROSSING_H
#define GB_RUNTIME_CROSSING_H

#include "base/buf.h"
#include "glovebox/value.h"
#include "value/cbor.h"
#include "value/frame.h"

struct gb_inbox {
	struct gb_buf frames; /* complete frames */
	size_t taken;         /* bytes that gb_inbox_take() has consumed */
};

void gb_inbox_init(struct gb_inbox *inbox);
void gb_inbox_finish(struct gb_inbox *inbox);
void gb_inbox_keep(struct gb_inbox *inbox, const struct gb_frame *frame);
/* False if the inbox is empty. The payload is valid until the next gb_inbox_keep() or failing
 * gb_inbox_take(). */
bool gb_inbox_take(struct gb_inbox *inbox, struct gb_frame *ret_frame);

uint32_t gb_take_u32(struct gb_cbor_reader *in);

/* Write a reference to a value of this graph that was written before, by its number. */
void gb_put_reference(struct gb_buf *out, uint32_t number);
/* Write a function or a promise that the other side can use by its id. */
void gb_put_lent(struct gb_buf *out, bool is_promise, enum gb_side side, uint32_t id);

#endif
