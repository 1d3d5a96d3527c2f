/*
 * The gate: a request of an agent is refused, or approved, run and recorded.
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
 * All output is masked before it is passed to a callback. A result is reported after its audit record is on
 * the disk; a run that cannot be recorded does not start. Output, logs, displays and prompts are reported
 * after a record that the run has begun is on the disk; a run that ends within some milliseconds has one
 * record, and reports them together with its result. A refused request has a result too: its status is
 * "denied" and its code names the rule.
 *
 * No function waits for a database, except gb_gate_open and gb_gate_close. The stores have a thread
 * (gate/stores.h); a request moves on when its operation there is done. While another process keeps a
 * database locked, requests that need it wait, for at most ten seconds; other requests and runs go on.
 *
 * A caller with its own event loop dispatches the engine, watches gb_gate_fd, waits no longer than
 * gb_gate_timeout, and calls gb_gate_work after each iteration.
 */
#ifndef GB_GATE_GATE_H
#define GB_GATE_GATE_H

#include "base/str.h"
#include "config/config.h"
#include "glovebox/glovebox.h"
#include "glovebox/sessions.h"
#include "store/approvals.h"
#include "store/energy.h"

struct gb_filter;
struct gb_work;
struct gb_gate;
struct gb_agent_run;

struct gb_gate_options {
	const struct gb_config *config; /* a reference is taken */
	struct gb_engine *engine;       /* outlives the gate */
	char **environment;             /* for secrets.environment; or NULL. Outlives the gate */
	/* Add further secrets to the filter of new rules, before they are applied. May be NULL. */
	bool (*on_filter)(struct gb_filter *filter, void *data, struct gb_err *err);
	void *data;
	/* How long to wait for a database that another process keeps locked; 0: ten seconds. */
	unsigned busy_ms;
	/* Run @work, on about @bytes of data, on a thread, then its .done on the caller's; false if there is none. It must
	 * all be done before gb_gate_close. NULL: long results are masked at once, which can take a second. */
	bool (*work)(struct gb_work *work, size_t bytes, void *data);
	void *work_data;
};

/* Open the stores in the state folder: approvals, energy, audit log, registered secrets. With agents disabled
 * nothing is opened, and every request is refused. */
bool gb_gate_open(const struct gb_gate_options *options, struct gb_gate **ret, struct gb_err *err);
/* All runs must have been destroyed before. Ends the sessions, and waits until everything is recorded. NULL is
 * fine. */
void gb_gate_close(struct gb_gate *gate);

/* @err is set if not @ok. */
typedef void (*gb_gate_configured)(bool ok, const struct gb_err *err, void *data);
/* Change the configuration; on failure nothing changes. Active runs continue under the rules that admitted
 * them. Requests that wait for a person will run under the new rules; if these differ in anything that
 * affects the run, they are admitted and asked about again. The rules are in force when @done is called, from
 * here or from gb_gate_work; it is not called if this function fails. */
bool gb_gate_configure(struct gb_gate *gate, const struct gb_config *config, gb_gate_configured done,
    void *data, struct gb_err *err);

/* An embedding program has enabled a face of its own: open the stores, if agents are disabled and nothing is open yet.
 * Like gb_gate_configure, with @config, which is in force or about to be. */
bool gb_gate_serve_embedder(struct gb_gate *gate, const struct gb_config *config, gb_gate_configured done,
    void *data, struct gb_err *err);
/* Whether the present rules let agents run code (agent.enabled). */
bool gb_gate_enabled(const struct gb_gate *gate);
/* The secrets filter of the present rules. */
struct gb_filter *gb_gate_filter(struct gb_gate *gate);
/* Mask this value from now on, also in runs that earlier rules have admitted. */
bool gb_gate_add_secret(
    struct gb_gate *gate, const char *name, const char *value, size_t n, struct gb_err *err);
/* Becomes readable when the stores have done something, or a person may have decided. */
int gb_gate_fd(const struct gb_gate *gate);
/* Milliseconds until gb_gate_work must be called even if no descriptor is readable; -1: never. */
int gb_gate_timeout(struct gb_gate *gate);
/* Process decisions, refusals and audit records, without blocking. Callbacks run from here and from the
 * engine. Fails if records could not be written: their results wait, and writing is tried again after a
 * second. */
bool gb_gate_work(struct gb_gate *gate, struct gb_err *err);
/* Whether the prompt of @session must not be reported yet: it is output of a run, and no record of that run
 * is on the disk. */
bool gb_gate_holds_prompt(const struct gb_gate *gate, const char *session);
/* One iteration of an event loop, the engine included; waits at most @timeout_ms (-1: no limit). */
bool gb_gate_turn(struct gb_gate *gate, int timeout_ms, struct gb_err *err);

/* The sessions of agents. The caller may list and end them, but not execute in them. */
struct gb_manager *gb_gate_sessions(struct gb_gate *gate);

/* What a face puts around the code of an agent. A transport never takes any of this from the agent. */
struct gb_surroundings {
	const char *head, *tail; /* text around the code: see struct gb_run_options. Copied */
	/* Functions of the host, as variables of the code: their names, which live for ever, ended by NULL. The number of a
	 * name is the id of its function. */
	const char *const *functions;
	unsigned max_calls; /* of these functions; 0: the default of the engine */
};

/* Texts may be NULL. Everything is copied. */
struct gb_gate_request {
	enum gb_face face; /* one that goes through the gate: gate/faces.h */
	/* How it arrived: "cli", "sdk". Shown to the person who decides; agent.maxConcurrentRunsPerTransport
	 * counts by it. */
	const char *transport;
	/* The embedding program has stated that it decides on requests of this face, so no person is asked.
	 * Only for faces where it may. */
	bool embedder_decides;
	/* The embedding program has enabled this face, which then needs no agent.enabled: gb_gate_serve_embedder. Only for
	 * faces where it may. */
	bool embedder_enables;
	/* What the agent states: the texts of GB_AGENT_FIELDS (glovebox/fields.h), which documents them, and
	 * values as JSON. Shown or recorded, never relied on. */
#define GB_STATEMENT_ID(member)         const char *member;
#define GB_STATEMENT_TEXT(member)       const char *member;
#define GB_STATEMENT_JSON(member)       const char *member;
#define GB_STATEMENT_SESSION(member)    /* below */
#define GB_STATEMENT_CHOICE(member)     /* below */
#define GB_STATEMENT(kind, member, ...) GB_STATEMENT_##kind(member)
	GB_AGENT_FIELDS(GB_STATEMENT)
#undef GB_STATEMENT
	enum gb_tier tier;
	/* In the network tier, of faces with_tools (gate/faces.h): the hosts that the code reaches, separated by commas, which
	 * the settings must admit. NULL: all of the settings. */
	const char *hosts;
	/* Of faces with_tools: the directory of the machine that the code has as /box, as in struct gb_run_options. The caller
	 * names it, never the agent. NULL: none. */
	const char *workdir;
	/* Run in the conversation's session of this language. If there is none, one is opened when the code
	 * is about to run: a request that is refused, expires or is withdrawn opens none. */
	bool persistent;
	/* With .persistent: open another session of this language, although the conversation may have one. */
	bool fresh;
	/* A run in a session that waits for input ends at once, with the code "awaiting_input" and the prompt
	 * in the message; with this flag it continues to wait, and requests with is_input answer it. */
	bool waits_for_input;
	/* The source is not code. It is text that is typed into @session, in which a run of this conversation
	 * waits for input; a newline is part of it. Decided on, masked and recorded like code, together with
	 * the prompt that it answers. It costs no energy and the guard does not check it, since it is data
	 * of a program that runs already. Its result is a success when it was typed. Takes no arguments,
	 * limits, expected or trace. One at a time for each session. */
	bool is_input;
	const char
	    *session; /* run in this session, which must belong to the conversation and have this language */
	/* Source, language, arguments, files and limits; of an action also globals (values, no functions), allowed modules
	 * and read_only. A request without a source that only takes files runs nothing,
	 * needs no approval and costs no energy. All other options are rejected, since they are not checked,
	 * shown to the person who decides, and recorded. */
	struct gb_run_options run;
	/* Only for faces with_tools (gate/faces.h). The text is bound by the approval, as a hash in the permissions. */
	struct gb_surroundings around;

	/* The code calls one of those functions: see gb_run_options.on_call. Reported after a record that the run has begun
	 * is on the disk. The callback owns @call and must answer it. */
	void (*on_call)(struct gb_agent_run *run, struct gb_call *call, void *data);
	/* The request waits for a decision on @approval, until @expires_ms. */
	void (*on_pending)(struct gb_agent_run *run, const char *approval, int64_t expires_ms, void *data);
	void (*on_log)(struct gb_agent_run *run, const struct gb_log *log, void *data);
	void (*on_output)(struct gb_agent_run *run, int stream, const char *bytes, size_t n, void *data);
	void (*on_display)(struct gb_agent_run *run, const struct gb_value *display, void *data);
	/* The run waits for input after @prompt; NULL: it continues. Without waits_for_input it ends
	 * instead. */
	void (*on_prompt)(struct gb_agent_run *run, const char *prompt, void *data);
	/* Called once. @result lives as long as the run. */
	void (*on_done)(struct gb_agent_run *run, const struct gb_result *result, void *data);
	void *data;
};

/* Fails if there is no memory, or with GB_EINVAL and the field if an option is not allowed for agents. Any
 * other refusal is reported by on_done, and that it waits for a decision by on_pending, from gb_gate_work. */
bool gb_gate_submit(struct gb_gate *gate, const struct gb_gate_request *request, struct gb_agent_run **ret,
    struct gb_err *err);
bool gb_agent_run_done(const struct gb_agent_run *run);
const struct gb_result *gb_agent_run_result(const struct gb_agent_run *run); /* NULL before it is done */
/* The memory of its output and values, in bytes. */
size_t gb_agent_run_memory(const struct gb_agent_run *run);
/* Its time limit, under the rules that it was last admitted by. */
uint64_t gb_agent_run_timeout_ms(const struct gb_agent_run *run);
/* The id of its session; empty: none. Before the code runs, the session may not exist yet. */
const char *gb_agent_run_session(const struct gb_agent_run *run);
/* Decide on a request that waits for approval: the transport has asked a person. The decision is bound to the bytes of
 * the request, and recorded under the name @decider. Its outcome, also a failure, is seen by the request as any other
 * decision is. False if the request does not wait. */
bool gb_agent_run_decide(
    struct gb_agent_run *run, enum gb_approval_verdict verdict, const char *decider, const char *reason);
/* Called once, unless the run ends before. @reason says why not, if it was not approved. */
typedef void (*gb_agent_asked)(struct gb_agent_run *run, bool approved, const char *reason, void *data);
/* In on_call, before the call is answered: ask a person whether the code may call @tool with @params, which is JSON.
 * The approval is bound to both. It is asked whatever settings and client waive for code. No time is charged to the
 * code meanwhile, which must wait in its call. on_pending reports the approval. Fails with GB_EBUSY if another call is
 * asked about. */
bool gb_agent_run_ask(struct gb_agent_run *run, struct gb_str tool, struct gb_str params, gb_agent_asked then,
    void *data, struct gb_err *err);
/* Withdraw a request that waits; end a run, or interrupt it if it is in a session. The result is reported and
 * recorded as usual. */
void gb_agent_run_terminate(struct gb_agent_run *run, const char *reason);
/* The same, without further callbacks. A run is still recorded. NULL is fine. */
void gb_agent_run_destroy(struct gb_agent_run *run);

#endif
