/*
 * Calls across the wall, as seen from inside: functions of the host's that guest code calls, and functions of
 * the guest's that the host calls.
 *
 *	gb_js_bridge_open(js, &bridge, fd, &job);
 *	...
 *	while (the promise we wait for is pending && gb_js_bridge_turn(js))
 *		gb_js_run_jobs(js);
 *
 * A call of the host stops the guest until there is an answer, which may be that a promise will settle later.
 * What else arrives meanwhile waits for the next turn: guest code is never interrupted by other guest code.
 */
#ifndef GB_JS_BRIDGE_H
#define GB_JS_BRIDGE_H

#include <stdbool.h>
#include <stdint.h>

#include "glovebox/value.h"
#include "quickjs.h"
#include "runtime/crossing.h"
#include "runtime/job.h"
#include "runtime/js/realm.h"
#include "value/frame.h"
#include "value/identity.h"

struct gb_js_bridge {
	int fd;
	struct gb_frame_reader reader;
	struct gb_inbox inbox; /* whole frames that came while the guest was waiting for another */

	uint64_t call_bytes, max_report, max_calls, max_in_flight; /* limits */
	uint64_t reported;                                         /* bytes */
	uint64_t calls;
	uint64_t in_flight_bytes;
	uint32_t next_call;
	uint32_t generation; /* which job of a session this is */

	/* The host's functions, each made once. */
	struct gb_js_lent {
		JSValue value;
		uint32_t id;
	} * host;
	uint32_t n_host, cap_host;
	struct gb_identity host_by_id;    /* id + 1 */
	struct gb_identity host_by_value; /* the object */

	/* The guest's functions and promises; the id is the index. */
	JSValue *guest;
	uint32_t n_guest, cap_guest;
	uint32_t n_guest_functions;
	struct gb_identity guest_by_value;

	/* Promises whose answer is still to come. */
	struct gb_js_pending {
		uint32_t call;
		JSValue settle[2]; /* by gb_wire_answer: resolve, reject */
		size_t cost;
	} * pending;
	uint32_t n_pending, cap_pending;
};

void gb_js_bridge_open(struct gb_js *js, struct gb_js_bridge *bridge, int fd, const struct gb_job *job);
/* The next job of a session; job->bytes is the caller's to free(). What was lent for the one before is void.
 */
void gb_js_bridge_next_job(struct gb_js *js, struct gb_job *ret_job);

/* The function that a host's id stands for (@name is a string, or it has none), or a promise that will settle
 * as the host's does. */
JSValue gb_js_bridge_function(struct gb_js *js, uint32_t id, JSValueConst name);
JSValue gb_js_bridge_promise(struct gb_js *js, uint32_t id);
/* What the guest has lent under this id, come back. */
JSValue gb_js_bridge_own(struct gb_js *js, uint32_t id);
/* The number under which the host knows, or from now on may call, a function or promise. False with an
 * exception pending. */
bool gb_js_bridge_lend(struct gb_js *js, JSValueConst value, enum gb_side *ret_side, uint32_t *ret_id);

/* Wait for the host to say something and act on it. False if nothing can come that would change anything. */
bool gb_js_bridge_turn(struct gb_js *js);

#endif
