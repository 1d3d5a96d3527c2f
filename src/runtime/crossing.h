/*
 * What the codecs and bridges of the JavaScript and Python workers share. A malformed message of the host ends
 * the worker: host and worker come from one build.
 *
 *	gb_inbox_keep(&inbox, &frame);			// it came while another was waited for
 *	while (gb_inbox_take(&inbox, &frame)) ...	// in the order of their arrival
 */
#ifndef GB_RUNTIME_CROSSING_H
#define GB_RUNTIME_CROSSING_H

#include "base/buf.h"
#include "glovebox/value.h"
#include "value/cbor.h"
#include "value/frame.h"

struct gb_inbox {
	struct gb_buf frames; /* whole ones */
	size_t taken;         /* bytes */
};

void gb_inbox_init(struct gb_inbox *inbox);
void gb_inbox_finish(struct gb_inbox *inbox);
void gb_inbox_keep(struct gb_inbox *inbox, const struct gb_frame *frame);
/* False if there is none. The payload lives until the next gb_inbox_keep(), or take that finds none. */
bool gb_inbox_take(struct gb_inbox *inbox, struct gb_frame *ret_frame);

uint32_t gb_take_u32(struct gb_cbor_reader *in);

/* A value that was written before, by its number. */
void gb_put_reference(struct gb_buf *out, uint32_t number);
/* A function or a promise that the other side can use by its id. */
void gb_put_lent(struct gb_buf *out, bool is_promise, enum gb_side side, uint32_t id);

#endif
