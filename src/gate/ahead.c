/*
 * Events of a run are delivered after a record of the run is on the disk.
 *
 * Until its "execution_begin" record is committed, the events of a run are held back. That record is queued
 * shortly after the first event: most runs have ended by then, and their one final record covers the events
 * as well. Held events refer to memory that is kept for the result anyway, so that holding them costs little.
 */
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "gate/agent_run.h"

/* Time from the first event to the "execution_begin" record. Too short for a person to notice, and longer
 * than most runs take from their first output to their end. */
#define GRACE_NS 10000000ull

/* When this many events are held, the record is queued at once. More are held until it is on the disk: their
 * number is limited by the output of the run. */
enum { HELD_MAX = 1024 };

static bool has_callback(const struct gb_agent_run *run, enum gb_agent_event_kind kind) {
	const struct gb_gate_request *request = &run->request;
	switch (kind) {
	case GB_AGENT_EVENT_LOG:
		return request->on_log;
	case GB_AGENT_EVENT_OUTPUT:
		return request->on_output;
	case GB_AGENT_EVENT_DISPLAY:
		return request->on_display;
	case GB_AGENT_EVENT_PROMPT:
		return request->on_prompt;
	case GB_AGENT_EVENT_CALL:
		return request->on_call;
	}
	return false;
}

/* Every call must be answered, also one that is not delivered. */
static void drop(const struct gb_agent_event *event) {
	if (event->kind == GB_AGENT_EVENT_CALL && event->call)
		gb_call_throw(event->call,
		    gb_value_error(gb_call_values(event->call), "Error", "the call was not delivered", NULL));
}

static void deliver(struct gb_agent_run *run, const struct gb_agent_event *event) {
	const struct gb_gate_request *request = &run->request;
	const struct gb_masked *masked = &run->masked;
	if (!has_callback(run, event->kind)) {
		drop(event);
		return;
	}
	switch (event->kind) {
	case GB_AGENT_EVENT_LOG: {
		/* The callback may end the run, which may append logs and reallocate the list: copy the entry
		 * first. */
		const struct gb_log log = masked->logs[event->at];
		request->on_log(run, &log, request->data);
		return;
	}
	case GB_AGENT_EVENT_OUTPUT:
		/* Valid until the callback ends the run. */
		request->on_output(run, event->stream, masked->outputs[event->stream - 1].data + event->at,
		    event->n, request->data);
		return;
	case GB_AGENT_EVENT_DISPLAY:
		request->on_display(run, event->what, request->data);
		return;
	case GB_AGENT_EVENT_PROMPT:
		request->on_prompt(run, event->what, request->data);
		return;
	case GB_AGENT_EVENT_CALL:
		/* Code that has ended calls nothing. */
		if (gb_call_run(event->call))
			request->on_call(run, event->call, request->data);
		else
			drop(event);
		return;
	}
}

void gb_agent_run_drop_held(struct gb_agent_run *run) {
	struct gb_agent_event *held = run->held;
	size_t n = run->n_held;
	run->held = NULL;
	run->n_held = run->cap_held = 0;
	run->begin_at = 0;
	for (size_t i = 0; i < n; i++)
		drop(&held[i]);
	free(held);
}

void gb_agent_run_release(struct gb_agent_run *run) {
	run->ahead = GB_AHEAD_WRITTEN;
	if (run->releasing || !run->n_held)
		return;
	bool in_callback = run->in_callback;
	run->in_callback = run->releasing = true;
	/* A callback may end the run, which may append events and reallocate the list: copy the entry
	 * first. */
	for (size_t i = 0; i < run->n_held; i++) {
		struct gb_agent_event event = run->held[i];
		run->held[i].call = NULL;
		deliver(run, &event);
	}
	gb_agent_run_drop_held(run);
	run->in_callback = in_callback;
	run->releasing = false;
	if (run->was_destroyed && !in_callback)
		gb_agent_run_destroy(run);
}

/* --- the record --- */

static const char not_recorded[] = "ended, because its \"execution_begin\" record cannot be written";

static void begin_failed(struct gb_agent_run *run) {
	run->ahead = GB_AHEAD_FAILED;
	if (run->state == GB_AGENT_RUN_RUNNING)
		gb_agent_run_stop(run, not_recorded);
}

static void queue_begin(struct gb_agent_run *run) {
	struct gb_err err = {0};
	run->begin_at = 0;
	if (gb_agent_run_record_begin(run, &err))
		run->ahead = GB_AHEAD_QUEUED;
	else
		begin_failed(run);
}

void gb_agent_run_on_begun(struct gb_store_op *op) {
	struct gb_gate *gate = op->gate;
	struct gb_agent_run *run = gb_agent_run_op_done(op);
	if (op->seq)
		gate->is_failing = false;
	if (!run)
		return;
	if (op->seq)
		gb_agent_run_release(run);
	else if (op->err.code)
		begin_failed(run);
}

/* --- holding back --- */

/* Output that follows directly on the last held output is added to that event. */
static bool extend_last(struct gb_agent_run *run, const struct gb_agent_event *event) {
	struct gb_agent_event *last = run->n_held && !run->releasing ? &run->held[run->n_held - 1] : NULL;
	if (!last || event->kind != GB_AGENT_EVENT_OUTPUT || last->kind != GB_AGENT_EVENT_OUTPUT ||
	    last->stream != event->stream)
		return false;
	last->n += event->n;
	return true;
}

static bool hold(struct gb_agent_run *run, const struct gb_agent_event *event) {
	if (extend_last(run, event))
		return true;
	if (run->n_held == run->cap_held) {
		size_t cap = run->cap_held ? run->cap_held * 2 : 8;
		struct gb_agent_event *held = reallocarray(run->held, cap, sizeof *held);
		if (!held)
			return false;
		run->held = held;
		run->cap_held = cap;
	}
	run->held[run->n_held++] = *event;
	return true;
}

/* The code waits for the answer to a call, so its record is not delayed. */
static void plan_begin(struct gb_agent_run *run, enum gb_agent_event_kind kind) {
	struct gb_gate *gate = run->gate;
	if (kind == GB_AGENT_EVENT_CALL && run->ahead == GB_AHEAD_NONE) {
		queue_begin(run);
		return;
	}
	if (run->n_held > 1 || run->begin_at || run->ahead != GB_AHEAD_NONE)
		return;
	run->begin_at = gb_now_ns() + GRACE_NS;
	if (!gate->next_begin || run->begin_at < gate->next_begin)
		gate->next_begin = run->begin_at;
}

void gb_agent_run_deliver(struct gb_agent_run *run, struct gb_agent_event event) {
	if (!has_callback(run, event.kind)) {
		drop(&event);
		return;
	}
	if (run->ahead == GB_AHEAD_WRITTEN && !run->releasing) {
		deliver(run, &event);
		return;
	}
	if (!hold(run, &event)) {
		/* Handled like a failure to mask: no further output is delivered. */
		run->masked.failed = true;
		drop(&event);
		return;
	}
	plan_begin(run, event.kind);
	if (run->n_held >= HELD_MAX && run->ahead == GB_AHEAD_NONE)
		queue_begin(run);
}

/* --- all runs --- */

static bool is_due(const struct gb_agent_run *run, uint64_t now) {
	return run->state == GB_AGENT_RUN_RUNNING && !run->abandoned && run->begin_at && run->begin_at <= now;
}

static struct gb_agent_run *find_due(const struct gb_gate *gate, uint64_t now) {
	for (const struct gb_list *link = gate->runs.next; link != &gate->runs; link = link->next) {
		struct gb_agent_run *run = gb_container(struct gb_agent_run, link, link);
		if (is_due(run, now))
			return run;
	}
	return NULL;
}

void gb_gate_queue_begins(struct gb_gate *gate) {
	uint64_t now = gb_now_ns();
	if (!gate->next_begin || gate->next_begin > now)
		return;
	for (struct gb_agent_run *run; (run = find_due(gate, now));)
		queue_begin(run);
	gate->next_begin = 0;
	gb_list_each(struct gb_agent_run, run, &gate->runs, link) {
		if (is_due(run, UINT64_MAX) && (!gate->next_begin || run->begin_at < gate->next_begin))
			gate->next_begin = run->begin_at;
	}
}

static struct gb_agent_run *find_queued(const struct gb_gate *gate) {
	for (const struct gb_list *link = gate->runs.next; link != &gate->runs; link = link->next) {
		struct gb_agent_run *run = gb_container(struct gb_agent_run, link, link);
		if (run->ahead == GB_AHEAD_QUEUED)
			return run;
	}
	return NULL;
}

void gb_gate_begins_failed(struct gb_gate *gate) {
	for (struct gb_agent_run *run; (run = find_queued(gate));)
		begin_failed(run);
}

bool gb_gate_holds_prompt(const struct gb_gate *gate, const char *session) {
	for (const struct gb_list *link = gate->runs.next; link != &gate->runs; link = link->next) {
		const struct gb_agent_run *run = gb_container(struct gb_agent_run, link, link);
		if (run->state == GB_AGENT_RUN_RUNNING && run->ahead != GB_AHEAD_WRITTEN &&
		    strcmp(run->session, session) == 0)
			return true;
	}
	return false;
}
