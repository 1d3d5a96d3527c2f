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
#include "runtime/job.h"
#include "value/cbor.h"
#include "value/frame.h"

struct gb_inbox {
	struct gb_buf frames; /* complete frames */
	size_t taken;         /* bytes that gb_inbox_take() has consumed */
};

static inline bool gb_inbox_has(const struct gb_inbox *inbox) {
	return inbox->taken < inbox->frames.len;
}

void gb_inbox_init(struct gb_inbox *inbox);
void gb_inbox_finish(struct gb_inbox *inbox);
void gb_inbox_keep(struct gb_inbox *inbox, const struct gb_frame *frame);
/* False if the inbox is empty. The payload is valid until the next gb_inbox_keep() or failing
 * gb_inbox_take(). */
bool gb_inbox_take(struct gb_inbox *inbox, struct gb_frame *ret_frame);

/* How often and how much a run may call the host. The host ends a run that exceeds these limits; the worker
 * checks them too, so that code gets an error that it can catch. */
struct gb_call_budget {
	uint64_t call_bytes, max_report, max_calls, max_in_flight; /* limits */
	uint64_t reported, calls;                                  /* used by this job */
	uint64_t in_flight_bytes;                                  /* of calls without an answer */
};

/* A limit that was reached: text for an error of the worker's language. */
struct gb_exceeded {
	const char *what;
	uint64_t limit;
};

/* The limits of @job, nothing used yet. Calls in flight are kept: they may be of a session's job before. */
void gb_call_budget_begin(struct gb_call_budget *budget, const struct gb_job *job);
/* Begin the frame of a call: what is appended from here are its arguments. */
struct gb_call_frame {
	struct gb_buf *out;
	size_t mark, begin;
	bool is_report;
};
struct gb_call_frame gb_call_begin(
    const struct gb_call_budget *budget, struct gb_buf *out, uint32_t call, uint32_t function);
/* End it; @encoded is false if the arguments did not fit. A report is counted. */
bool gb_call_end(struct gb_call_budget *budget, const struct gb_call_frame *frame, bool encoded,
    struct gb_exceeded *ret_exceeded);
/* Count a call of @cost bytes that is about to be sent while @n_pending have no answer. */
bool gb_call_count(
    struct gb_call_budget *budget, size_t cost, uint32_t n_pending, struct gb_exceeded *ret_exceeded);

uint32_t gb_take_u32(struct gb_cbor_reader *in);

/* Write a reference to a value of this graph that was written before, by its number. */
void gb_put_reference(struct gb_buf *out, uint32_t number);
/* Write a function or a promise that the other side can use by its id. */
void gb_put_lent(struct gb_buf *out, bool is_promise, enum gb_side side, uint32_t id);

#endif
