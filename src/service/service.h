/*
 * The service: everything that transports share. It owns the engine, the gate, the sessions and the secrets filter of
 * a process; transports submit requests and subscribe to events.
 *
 *	gb_service_create(&(struct gb_service_options){.loop = &loop, .config = config}, &service, &err);
 *	gb_service_client_init(service, &client);
 *	struct gb_submission submission = {.request = {.face = GB_FACE_RUN_CODE, .run = options},
 *	    .on_event = on_event, .data = transport};
 *	gb_service_submit(&client, &submission, &execution, &err);	// gb_execution_id(execution) is known
 *	while (!gb_execution_result(execution))
 *		gb_service_turn(service, -1, &err);
 *	gb_execution_release(execution);
 *	gb_service_client_finish(&client);
 *	gb_service_destroy(service);
 *
 * An *execution* is a request from its submission to its result: of the caller's own code (run_code), or of an agent,
 * which goes through the gate. Both have the same life cycle:
 *
 *	waiting -> running -> done
 *
 * A caller's execution waits for a free sandbox; waiting executions of several clients start in turn. An agent's
 * execution waits for decisions and records at the gate. Done means that there is a result, of success or failure. Done
 * executions are kept for a time, so that other clients can get their results, and then freed.
 *
 * All events are masked. Callbacks are called from gb_service_turn, and from gb_execution_cancel and
 * gb_execution_terminate. They may call every function here, except gb_service_destroy.
 */
#ifndef GB_SERVICE_SERVICE_H
#define GB_SERVICE_SERVICE_H

#include "base/list.h"
#include "base/loop.h"
#include "config/config.h"
#include "gate/gate.h"
#include "glovebox/sessions.h"
#include "service/events.h"
#include "store/worker.h"

/* Data of at least GB_SERVICE_LONG bytes is parsed and encoded on a thread, because that can take more than 2 ms. Data
 * of more than GB_SERVICE_LARGE bytes, which can take more than 0.1 s, is processed on a second thread. */
#define GB_SERVICE_LONG  ((size_t)64 << 10)
#define GB_SERVICE_LARGE ((size_t)4 << 20)

struct gb_service;
struct gb_execution;

struct gb_service_options {
	struct gb_loop *loop;           /* outlives the service */
	const struct gb_config *config; /* a reference is taken */
	struct gb_engine_options engine;
	struct gb_filter *filter; /* masks events of callers' runs; a reference is taken; NULL: no masking */
	/* Refuse a run that requests more than the settings allow, instead of reducing its limits. */
	bool strict;
	/* Default and maximum timeout of a run, instead of that of the settings; 0: use the settings. */
	uint64_t timeout_ms;
	uint64_t default_timeout_ms; /* if neither the run nor the settings have one; 0: the engine's */
	unsigned max_runs;           /* at once; 0: the default of the engine */
	/* How many events and results are kept for clients other than the submitter. 0: none. */
	struct gb_events_limits replay;
	unsigned keep_results;
	uint64_t keep_ms;
	bool keeps_by_settings; /* use the current settings service.* instead of these three */
	/* Called for each failed attempt to record runs of agents. Their results are withheld until they are
	 * recorded. */
	void (*on_trouble)(const struct gb_err *err, void *data);
	void *data;
};

/* Create the engine, and wait until the languages in options.engine.ready can run. Fails like gb_engine_create. */
bool gb_service_create(const struct gb_service_options *options, struct gb_service **ret, struct gb_err *err);
/* Open the gate: from now on requests of agents are admitted or refused by the settings. Before, all are refused.
 * @environment is for secrets.environment, and may be NULL. */
bool gb_service_accept_agents(struct gb_service *service, char **environment, struct gb_err *err);
/* End everything, without callbacks. The clients must have been finished. NULL is fine. */
void gb_service_destroy(struct gb_service *service);

/* Called when the settings are in force, or if they were refused; @err is set if not @ok. */
typedef void (*gb_service_configured)(bool ok, const struct gb_err *err, void *data);
/* Change settings and filter for later executions and sessions. On failure nothing changes. */
void gb_service_configure(struct gb_service *service, const struct gb_config *config,
    struct gb_filter *filter, gb_service_configured done, void *data);

/* An embedding program has enabled a face of its own, such as actions: from @done on its requests are admitted, also
 * if agents are disabled. @done is called from here or from gb_service_turn. */
void gb_service_serve_embedder(struct gb_service *service, gb_service_configured done, void *data);

/* Wait at most @timeout_ms for events (-1: no limit) and handle them. Fails if the engine or the loop fails. */
bool gb_service_turn(struct gb_service *service, int timeout_ms, struct gb_err *err);

/* The settings in force; they live until the next gb_service_configure. */
const struct gb_config *gb_service_config(const struct gb_service *service);
struct gb_loop *gb_service_loop(struct gb_service *service);
struct gb_engine *gb_service_engine(struct gb_service *service);
/* The sessions of callers, and of agents (NULL: agents can have none). */
struct gb_manager *gb_service_sessions(struct gb_service *service);
struct gb_manager *gb_service_agent_sessions(struct gb_service *service);
/* The filters of texts about these sessions, such as prompts; or NULL. */
struct gb_filter *gb_service_filter(struct gb_service *service);
struct gb_filter *gb_service_agent_filter(struct gb_service *service);
/* The gate, or NULL. */
struct gb_gate *gb_service_gate(struct gb_service *service);
/* Whether the programs that run code of @language are installed. */
bool gb_service_has_language(struct gb_service *service, enum gb_language language);
/* Whether agents may run code. */
bool gb_service_has_agents(const struct gb_service *service);

/* Mask this value from now on, in the output of all executions, until the process ends. */
bool gb_service_add_secret(
    struct gb_service *service, const char *name, const char *value, size_t n, struct gb_err *err);

/* --- threads --- */

/* Run @work on a thread of the service: work on @bytes of data that would delay everything else in the loop, or, if
 * @bytes is 0, the start of a process. There are three threads: for data, for data of more than GB_SERVICE_LARGE bytes,
 * and for starts; each is started when it is first needed. Work of each thread runs in the order of submission. See
 * store/worker.h: .done is called from gb_service_turn, or from gb_service_destroy, which waits for all work. False if
 * the thread cannot be started, or its queue is full; then the caller has to do the work itself. */
bool gb_service_work(struct gb_service *service, struct gb_work *work, size_t bytes);

/* Called with the record as JSON, whose output is masked; empty if there is none; or with the error. Also when the
 * service ends. */
typedef void (*gb_service_record)(struct gb_str json, const struct gb_err *err, void *data);
/* Read the audit record of this execution of an agent (the newest, if it has several), on a thread. */
bool gb_service_read_record(struct gb_service *service, const char *execution, gb_service_record done,
    void *data, struct gb_err *err);

/* --- clients --- */

/* Waiting executions of several clients start in turn. Embedded in an object of the transport. */
struct gb_service_client {
	struct gb_service *service;
	struct gb_list link;
	struct gb_list waiting; /* executions */
	struct gb_list pending; /* submissions that are being encoded */
};

void gb_service_client_init(struct gb_service *service, struct gb_service_client *client);
/* All its executions must have been released. */
void gb_service_client_finish(struct gb_service_client *client);

/* --- executions --- */

struct gb_submission {
	/* What to run. Of GB_FACE_RUN_CODE: .run and .session (a session of callers, by id or name). Callbacks of the
	 * request and of .run are ignored. */
	struct gb_gate_request request;
	/* All events of the execution from the return of gb_service_submit on: STARTED is not among them if it has
	 * started by then. FINISHED is the last. */
	void (*on_event)(struct gb_execution *execution, const struct gb_event *event, void *data);
	/* The code calls a host function, or report(): see struct gb_run_options. Code of agents calls only functions that a
	 * face has put around it. If on_call is NULL, calls throw. @value of a report is masked. */
	void (*on_call)(struct gb_execution *execution, struct gb_call *call, void *data);
	void (*on_report)(
	    struct gb_execution *execution, const struct gb_value *value, struct gb_call *call, void *data);
	bool quiet; /* for agents: no events of output, logs and displays; then only the end is recorded */
	void *data;
};

/* Submit a request. The caller owns *ret: gb_execution_release. Fails with GB_EINVAL and the field if the request is
 * not valid, with GB_ENOENT or GB_ELIMIT and the field "session" if its session does not exist or is busy, and with
 * GB_EBUSY if too many wait already. Everything else is in the result. No callback is called from here. */
bool gb_service_submit(struct gb_service_client *client, const struct gb_submission *submission,
    struct gb_execution **ret, struct gb_err *err);

/* Called with the execution, which the caller owns, or with NULL and the error of gb_service_submit. */
typedef void (*gb_service_submitted)(struct gb_execution *execution, const struct gb_err *err, void *data);
/* Like gb_service_submit, for a request of about @bytes; a long one is encoded on a thread. The caller must not change
 * or free anything that the request points to until @done is called. It is called once: before this function returns,
 * if no thread was used; with NULL if the client was finished meanwhile. */
void gb_service_submit_later(struct gb_service_client *client, const struct gb_submission *submission,
    size_t bytes, gb_service_submitted done, void *data);

/* The id: 32 hexadecimal digits. If the code was run, its result and its audit record contain the same id. */
const char *gb_execution_id(const struct gb_execution *execution);
/* "waiting", "running" or "done". A static string. */
const char *gb_execution_state(const struct gb_execution *execution);
bool gb_execution_is_agent(const struct gb_execution *execution);
/* Whether its code executes in a session, which outlives it. */
bool gb_execution_is_in_session(const struct gb_execution *execution);
/* The id of the session of an agent's execution; empty: none. */
const char *gb_execution_session(const struct gb_execution *execution);
/* The time limit of an agent's execution; 0: a caller's. */
uint64_t gb_execution_timeout_ms(const struct gb_execution *execution);
/* The result, masked; NULL before it is done. Lives as long as the execution. */
const struct gb_result *gb_execution_result(const struct gb_execution *execution);
/* The memory of its values and output; 0 before it is done. */
size_t gb_execution_memory(const struct gb_execution *execution);
/* The run of the engine, for calls of the code's functions; NULL while it waits, and of agents. */
struct gb_run *gb_execution_run(const struct gb_execution *execution);

/* Mask a value from the code that is not part of an event, such as the return value of a call. *ret_pool holds the
 * masked value and is owned by the caller; it is NULL if nothing is masked. If memory is exhausted, *value becomes an
 * error and *thrown is set; false if there is no memory for the error either. */
bool gb_execution_mask(const struct gb_execution *execution, const struct gb_value **value,
    struct gb_values **ret_pool, bool *thrown);

/* Called once, unless the execution ends before; see gb_agent_asked. */
typedef void (*gb_execution_asked)(bool approved, const char *reason, void *data);
/* As gb_agent_run_ask, for a call of an agent's execution. */
bool gb_execution_ask(struct gb_execution *execution, struct gb_str tool, struct gb_str params,
    gb_execution_asked then, void *data, struct gb_err *err);

/* End it. The result says "terminated"; one that waits is withdrawn. @reason may be NULL. */
void gb_execution_terminate(struct gb_execution *execution, const char *reason);
/* Interrupt the code, and keep its session; an execution that has not begun is withdrawn. Fails with GB_EINVAL for a
 * caller's execution without a session, which can only be terminated. */
bool gb_execution_interrupt(struct gb_execution *execution, struct gb_err *err);

/* Decide on an agent's execution that waits for approval, after GB_EVENT_PENDING: see gb_agent_run_decide. */
bool gb_execution_decide(struct gb_execution *execution, enum gb_approval_verdict verdict,
    const char *decider, const char *reason);

/* Stop reading the output of the code until this is called with false; the code blocks when its socket is full. No
 * effect on executions of agents. */
void gb_execution_hold(struct gb_execution *execution, bool held);

/* Give up the submitter's reference: its callbacks are not called any more. An execution that is not done is
 * terminated, or interrupted if it is in a session, which stays open. An agent's is still recorded. NULL is fine. */
void gb_execution_release(struct gb_execution *execution);

/* --- finding and watching executions --- */

/* The execution with this id, if it is not done, or done and still kept. NULL if there is none. */
struct gb_execution *gb_service_find(struct gb_service *service, const char *id);
/* The execution after @execution (NULL: the first); those that are done come first, each group by age. NULL if there is
 * none. */
struct gb_execution *gb_service_next(struct gb_service *service, const struct gb_execution *execution);
/* Reports executions as they are submitted: all of them, or those in one session. */
struct gb_execution_watch {
	/* Set by the watcher. The callback may subscribe to the execution, whose events begin now. An execution in a
	 * session is announced when the session is known, which for agents is when the code starts. */
	void (*on_execution)(struct gb_execution_watch *watch, struct gb_execution *execution);
	char session[33]; /* the id; empty: all executions */
	struct gb_list link;
};

void gb_service_watch(struct gb_service *service, struct gb_execution_watch *watch);
void gb_execution_watch_end(struct gb_execution_watch *watch);

/* For any number of subscriptions; see service/events.h. */
struct gb_events *gb_execution_events(struct gb_execution *execution);

#endif
