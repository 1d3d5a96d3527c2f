/*
 * Nothing of a run is told before a record of it is on the disk.
 *
 * What a run says is held back until its "execution_begin" is committed. That record is queued a little
 * after the first event: most runs have ended by then, and their one record of all of it covers the events
 * as well. Held events refer to what is kept for the result anyway, so that holding them costs little memory.
 */
#include <stdlib.h>

#include "base/io.h"
#include "gate/agent_run.h"

/* How long a run that has said something may take to end without a record of its beginning. Too short for a
 * person to notice, and longer than most runs take from their first output to their end. */
#define GRACE_NS 10000000ull

/* Events that are held back, at most: then the beginning is recorded at once. */
enum { HELD_MAX = 1024 };

static bool is_heard(const struct gb_pass *pass, enum gb_event_kind kind) {
	const struct gb_gate_request *request = &pass->request;
	switch (kind) {
	case GB_EVENT_LOG:
		return request->on_log;
	case GB_EVENT_OUTPUT:
		return request->on_output;
	case GB_EVENT_DISPLAY:
		return request->on_display;
	case GB_EVENT_PROMPT:
		return request->on_prompt;
	}
	return false;
}

static void deliver(struct gb_pass *pass, const struct gb_event *event) {
	const struct gb_gate_request *request = &pass->request;
	const struct gb_masked *masked = &pass->masked;
	if (!is_heard(pass, event->kind))
		return;
	switch (event->kind) {
	case GB_EVENT_LOG: {
		/* The callback may end the run, whose last logs may move the list. */
		const struct gb_log log = masked->logs[event->at];
		request->on_log(pass, &log, request->data);
		return;
	}
	case GB_EVENT_OUTPUT:
		/* Valid until the callback ends the run. */
		request->on_output(pass, event->stream, masked->outputs[event->stream - 1].data + event->at,
		    event->n, request->data);
		return;
	case GB_EVENT_DISPLAY:
		request->on_display(pass, event->what, request->data);
		return;
	case GB_EVENT_PROMPT:
		request->on_prompt(pass, event->what, request->data);
		return;
	}
}

void gb_pass_drop_held(struct gb_pass *pass) {
	free(pass->held);
	pass->held = NULL;
	pass->n_held = pass->cap_held = 0;
	pass->begin_at = 0;
}

void gb_pass_release(struct gb_pass *pass) {
	pass->ahead = GB_AHEAD_WRITTEN;
	if (pass->releasing || !pass->n_held)
		return;
	bool telling = pass->telling;
	pass->telling = pass->releasing = true;
	/* A callback may end the run, which adds to the list. */
	for (size_t i = 0; i < pass->n_held; i++) {
		struct gb_event event = pass->held[i];
		deliver(pass, &event);
	}
	gb_pass_drop_held(pass);
	pass->telling = telling;
	pass->releasing = false;
	if (pass->was_destroyed && !telling)
		gb_pass_destroy(pass);
}

/* --- the record --- */

static const char not_recorded[] = "ended, because the record of its beginning cannot be written";

static bool queue_begin(struct gb_pass *pass) {
	struct gb_err err = {0};
	pass->begin_at = 0;
	if (!gb_pass_record_begin(pass, &err))
		return false;
	pass->ahead = GB_AHEAD_QUEUED;
	return true;
}

/* In the middle of what the engine does, where callbacks of others cannot be called. */
static void begin_at_once(struct gb_pass *pass) {
	struct gb_err err = {0};
	if (pass->ahead == GB_AHEAD_FAILED)
		return;
	if ((pass->ahead == GB_AHEAD_QUEUED || queue_begin(pass)) && !pass->gate->next_try &&
	    gb_audit_write(pass->gate->audit, &err)) {
		gb_pass_release(pass);
		return;
	}
	pass->ahead = GB_AHEAD_FAILED;
	gb_gate_put_off(pass->gate);
	gb_run_terminate(pass->run, not_recorded);
}

/* --- holding back --- */

/* Output that goes on where the last piece ended needs no place of its own. */
static bool extend_last(struct gb_pass *pass, const struct gb_event *event) {
	struct gb_event *last = pass->n_held && !pass->releasing ? &pass->held[pass->n_held - 1] : NULL;
	if (!last || event->kind != GB_EVENT_OUTPUT || last->kind != GB_EVENT_OUTPUT ||
	    last->stream != event->stream)
		return false;
	last->n += event->n;
	return true;
}

static bool hold(struct gb_pass *pass, const struct gb_event *event) {
	if (extend_last(pass, event))
		return true;
	if (pass->n_held == pass->cap_held) {
		size_t cap = pass->cap_held ? pass->cap_held * 2 : 8;
		struct gb_event *held = reallocarray(pass->held, cap, sizeof *held);
		if (!held)
			return false;
		pass->held = held;
		pass->cap_held = cap;
	}
	pass->held[pass->n_held++] = *event;
	return true;
}

static void plan_begin(struct gb_pass *pass) {
	struct gb_gate *gate = pass->gate;
	if (pass->n_held > 1 || pass->begin_at || pass->ahead != GB_AHEAD_NONE)
		return;
	pass->begin_at = gb_now_ns() + GRACE_NS;
	if (!gate->next_begin || pass->begin_at < gate->next_begin)
		gate->next_begin = pass->begin_at;
}

void gb_pass_tell(struct gb_pass *pass, struct gb_event event) {
	if (!is_heard(pass, event.kind))
		return;
	if (pass->ahead == GB_AHEAD_WRITTEN && !pass->releasing) {
		deliver(pass, &event);
		return;
	}
	if (!hold(pass, &event)) {
		/* As when there is no memory to mask it: nothing more is told. */
		pass->masked.failed = true;
		return;
	}
	plan_begin(pass);
	if (pass->n_held >= HELD_MAX && pass->ahead != GB_AHEAD_WRITTEN)
		begin_at_once(pass);
}

/* --- the gate's turns --- */

static bool is_due(const struct gb_pass *pass, uint64_t now) {
	return pass->state == GB_PASS_RUNNING && !pass->abandoned && pass->begin_at && pass->begin_at <= now;
}

static struct gb_pass *find_due(const struct gb_gate *gate, uint64_t now) {
	for (const struct gb_list *link = gate->passes.next; link != &gate->passes; link = link->next) {
		struct gb_pass *pass = gb_container(struct gb_pass, link, link);
		if (is_due(pass, now))
			return pass;
	}
	return NULL;
}

void gb_gate_queue_begins(struct gb_gate *gate, bool all) {
	uint64_t now = all ? UINT64_MAX : gb_now_ns();
	if (!gate->next_begin || gate->next_begin > now)
		return;
	for (struct gb_pass *pass; (pass = find_due(gate, now));)
		if (!queue_begin(pass)) {
			pass->ahead = GB_AHEAD_FAILED;
			gb_pass_stop(pass, not_recorded);
		}
	gate->next_begin = 0;
	gb_list_each(struct gb_pass, pass, &gate->passes, link) {
		if (is_due(pass, UINT64_MAX) && (!gate->next_begin || pass->begin_at < gate->next_begin))
			gate->next_begin = pass->begin_at;
	}
}

static struct gb_pass *find_begun(const struct gb_gate *gate, bool written) {
	for (const struct gb_list *link = gate->passes.next; link != &gate->passes; link = link->next) {
		struct gb_pass *pass = gb_container(struct gb_pass, link, link);
		if (pass->ahead == GB_AHEAD_QUEUED)
			return pass;
		if (written && pass->ahead == GB_AHEAD_FAILED && pass->ticket.was_begun)
			return pass;
	}
	return NULL;
}

void gb_gate_begins_done(struct gb_gate *gate, bool written) {
	for (struct gb_pass *pass; (pass = find_begun(gate, written));) {
		if (written) {
			gb_pass_release(pass);
			continue;
		}
		pass->ahead = GB_AHEAD_FAILED;
		if (pass->state == GB_PASS_RUNNING)
			gb_pass_stop(pass, not_recorded);
	}
}
