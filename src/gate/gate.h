/*
 * The gate: an agent's request goes in, and is refused, or approved, run and recorded.
 *
 *	struct gb_gate *gate;
 *	gb_gate_open(&(struct gb_gate_options){.config = config, .engine = engine}, &gate, &err);
 *	struct gb_gate_request request = {.face = GB_FACE_EXECUTE_CODE,
 *	    .run = {.source = "6*7", .language = GB_PYTHON}, .on_done = on_done};
 *	gb_gate_submit(gate, &request, &run, &err);
 *	while (!gb_agent_run_done(run))
 *		gb_gate_turn(gate, -1, &err);
 *	gb_agent_run_destroy(run);
 *	gb_gate_close(gate);
 *
 * Everything that the code says is masked before anybody hears it. A result is told when its record is on the
 * disk; what cannot be recorded is not run. Output, logs, displays and prompts are told when a record that
 * the run has begun is on the disk; a run that ends within some milliseconds has one record, and tells them
 * with its result. A request that is refused has a result too, whose status is "denied" and whose code says by
 * which rule.
 *
 * Whoever has a loop of its own dispatches the engine, watches gb_gate_fd, waits no longer than
 * gb_gate_timeout, and calls gb_gate_work after each turn.
 */
#ifndef GB_GATE_GATE_H
#define GB_GATE_GATE_H

#include "config/config.h"
#include "glovebox/glovebox.h"
#include "glovebox/sessions.h"
#include "store/energy.h"

struct gb_filter;
struct gb_gate;
struct gb_agent_run;

struct gb_gate_options {
	const struct gb_config *config; /* a reference is taken */
	struct gb_engine *engine;       /* outlives the gate */
	char **environment;             /* for secrets of the environment; or NULL. Outlives the gate */
};

/* Opens the state folder: approvals, energy, the audit log, registered secrets. With agents disabled it opens
 * nothing, and refuses everything. */
bool gb_gate_open(const struct gb_gate_options *options, struct gb_gate **ret, struct gb_err *err);
/* All runs must have been destroyed before. Ends the sessions. NULL is fine. */
void gb_gate_close(struct gb_gate *gate);

/* Other rules from now on; on any failure nothing has changed. What runs goes on under the rules that it was
 * let in by; what waits for a person will run under the new ones, and is asked about again if they let other
 * things happen than those that it was asked about under. */
bool gb_gate_configure(struct gb_gate *gate, const struct gb_config *config, struct gb_err *err);

/* Do the rules of now let agents run code at all? */
bool gb_gate_enabled(const struct gb_gate *gate);
/* What masks, by the rules of now. */
struct gb_filter *gb_gate_filter(struct gb_gate *gate);
/* Readable when a person may have decided. */
int gb_gate_fd(const struct gb_gate *gate);
/* Milliseconds until something is to be done of which no descriptor tells; -1: nothing is. */
int gb_gate_timeout(struct gb_gate *gate);
/* Do what can be done now. Callbacks come from here, and from the engine. Fails if records cannot be written:
 * their results wait, and it is tried again after a second. */
bool gb_gate_work(struct gb_gate *gate, struct gb_err *err);
/* Write the records of all runs that have begun and are about to tell something, for a caller that is going
 * to tell of their sessions. Runs are told what was held back from here. */
bool gb_gate_record_begins(struct gb_gate *gate, struct gb_err *err);
/* All of it, the engine included; waits at most @timeout_ms (-1: for ever). */
bool gb_gate_turn(struct gb_gate *gate, int timeout_ms, struct gb_err *err);

/* The sessions of agents, which are nobody else's. To look at and to end, not to execute in. */
struct gb_manager *gb_gate_sessions(struct gb_gate *gate);

/* Texts may be NULL. Everything is copied. */
struct gb_gate_request {
	enum gb_face face; /* one that goes through the gate: gate/faces.h */
	/* How it arrived: "cli", "sdk". Shown to the person who decides; agent.maxConcurrentRunsPerTransport
	 * counts by it. */
	const char *transport;
	/* The embedding program has stated that it decides on requests of this face, so no person is asked.
	 * Only for faces where it may. */
	bool embedder_decides;
	const char *conversation; /* whose it is */
	const char *turn;         /* of the model, in this conversation */
	/* What the agent says that it is for, and what it expects; where the wish came from, as JSON. Shown
	 * or recorded, never relied on. */
	const char *purpose, *expected, *trace;
	enum gb_tier tier;
	/* In the conversation's session of this language. If there is none, one is opened when the code is
	 * about to run: a request that is refused, expires or is withdrawn opens none. */
	bool persistent;
	/* A run in a session that waits for input ends at once, with the code "awaiting_input" and the prompt
	 * in the message; with this it goes on waiting, and requests with is_input answer it. */
	bool waits_for_input;
	/* The source is not code. It is text that is typed into @session, in which a run of this conversation
	 * waits for input; a newline is part of it. Decided on, masked and recorded like code, together with
	 * the prompt that it answers. It costs no energy and is not looked at by the guard, since it is data
	 * of a program that runs already. Its result is a success when it was typed. Takes no arguments,
	 * limits, expected or trace. One at a time for each session. */
	bool is_input;
	const char *session; /* in this one, which must be the conversation's and of this language */
	/* Source, language, arguments and limits. Nothing else can be set yet: what is not checked, shown to
	 * whoever decides and recorded is refused. */
	struct gb_run_options run;

	/* It waits for a person to decide on @approval, until @expires_ms. */
	void (*on_pending)(struct gb_agent_run *run, const char *approval, int64_t expires_ms, void *data);
	void (*on_log)(struct gb_agent_run *run, const struct gb_log *log, void *data);
	void (*on_output)(struct gb_agent_run *run, int stream, const char *bytes, size_t n, void *data);
	void (*on_display)(struct gb_agent_run *run, const struct gb_value *display, void *data);
	/* The run waits for input after @prompt; NULL: it goes on. Without waits_for_input it ends then. */
	void (*on_prompt)(struct gb_agent_run *run, const char *prompt, void *data);
	/* Once. @result lives as long as the run. */
	void (*on_done)(struct gb_agent_run *run, const struct gb_result *result, void *data);
	void *data;
};

/* Fails only if the machine does, or if the request asks for what no agent can have (GB_EINVAL, and the
 * field); what is refused is told by on_done, from gb_gate_work. */
bool gb_gate_submit(struct gb_gate *gate, const struct gb_gate_request *request, struct gb_agent_run **ret,
    struct gb_err *err);
bool gb_agent_run_done(const struct gb_agent_run *run);
const struct gb_result *gb_agent_run_result(const struct gb_agent_run *run); /* NULL before it is done */
/* Its session's id; empty: none. Before the code runs, the session need not exist yet. */
const char *gb_agent_run_session(const struct gb_agent_run *run);
/* Who asked has changed its mind: what waits is withdrawn, what runs is ended, or interrupted if it is in a
 * session. It is told and recorded as ever. */
void gb_agent_run_terminate(struct gb_agent_run *run, const char *reason);
/* Nobody is told any more. One that waits for a person is withdrawn; one that runs is ended, or interrupted
 * if it is in a session, and recorded. NULL is fine. */
void gb_agent_run_destroy(struct gb_agent_run *run);

#endif
