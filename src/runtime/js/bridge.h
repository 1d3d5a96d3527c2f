/*
 * Calls between guest and host: host functions that guest code calls, and guest functions that the host
 * calls.
 *
 *	gb_js_bridge_open(js, &bridge, fd, &job);
 *	...
 *	while (the awaited promise is pending && gb_js_bridge_turn(js))
 *		gb_js_run_jobs(js);
 *
 * A call of the host blocks the guest until the answer, which may be that a promise will settle later. Other
 * frames that arrive meanwhile are kept for the next turn: guest code is never interrupted by other guest
 * code.
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
	struct gb_inbox inbox; /* frames that arrived while the guest waited for another one */

	struct gb_call_budget budget;
	uint32_t next_call;
	uint32_t generation; /* number of the session's current job */

	/* Host functions, one object per id. */
	struct gb_js_lent {
		JSValue value;
		uint32_t id;
	} * host;
	uint32_t n_host, cap_host;
	struct gb_identity host_by_id;    /* key: id + 1 */
	struct gb_identity host_by_value; /* key: the object */

	/* Functions and promises lent by the guest; the id is the index. */
	JSValue *guest;
	uint32_t n_guest, cap_guest;
	uint32_t n_guest_functions;
	struct gb_identity guest_by_value;

	/* Promises that wait for an answer. */
	struct gb_js_pending {
		uint32_t call;
		JSValue settle[2]; /* indexed by gb_wire_answer: resolve, reject */
		size_t cost;
	} * pending;
	uint32_t n_pending, cap_pending;
};

void gb_js_bridge_open(struct gb_js *js, struct gb_js_bridge *bridge, int fd, const struct gb_job *job);
/* Wait for the next job of a session; the caller frees job->bytes. Host functions of the previous job become
 * invalid. */
void gb_js_bridge_next_job(struct gb_js *js, struct gb_job *ret_job);

/* The function for a host's id (@name: a string, or not one for an anonymous function), or a promise that
 * settles as the host's does. */
JSValue gb_js_bridge_function(struct gb_js *js, uint32_t id, JSValueConst name);
JSValue gb_js_bridge_promise(struct gb_js *js, uint32_t id);
/* A function or promise of the guest that the host sends back by its id. */
JSValue gb_js_bridge_own(struct gb_js *js, uint32_t id);
/* The side and id under which the host can call a function or promise; assigns an id if needed. False with an
 * exception pending. */
bool gb_js_bridge_lend(struct gb_js *js, JSValueConst value, enum gb_side *ret_side, uint32_t *ret_id);

/* Whether a frame from the host can arrive that would change anything; and whether one was received already. */
bool gb_js_bridge_is_live(const struct gb_js *js);
bool gb_js_bridge_has_frame(const struct gb_js *js);
/* Wait for a frame from the host and handle it. False if no frame can arrive that would change anything. */
bool gb_js_bridge_turn(struct gb_js *js);

#endif
