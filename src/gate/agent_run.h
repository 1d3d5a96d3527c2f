/* Internal to the gate. */
#ifndef GB_GATE_AGENT_RUN_H
#define GB_GATE_AGENT_RUN_H

#include "base/arena.h"
#include "base/list.h"
#include "gate/faces.h"
#include "gate/gate.h"
#include "gate/stores.h"
#include "guard/masked.h"

/* One configuration and what is derived from it. Immutable; shared by the requests that it admitted. */
struct gb_rules {
	unsigned refs;
	const struct gb_config *config;
	struct gb_filter *filter;
	char policy[GB_POLICY_TEXT]; /* hash of the settings that a decision depends on */
};

struct gb_gate {
	struct gb_rules *rules;
	struct gb_engine *engine;
	char **environment;
	bool (*on_filter)(struct gb_filter *filter, void *data, struct gb_err *err); /* or NULL */
	void *data;
	unsigned busy_ms;
	bool (*work)(struct gb_work *work, size_t bytes, void *data);
	void *work_data;
	bool has_embedder; /* that has enabled a face: the stores are open although agents are disabled */
	struct gb_stores *stores;   /* NULL until agents are enabled */
	struct gb_stores_open open; /* those that the present rules have opened */
	struct gb_manager *sessions;
	bool is_failing;       /* the last attempt to write records has failed; it is repeated */
	struct gb_err trouble; /* why; .code is 0 after gb_gate_work has reported it */
	bool is_closing;
	bool must_look;      /* a person may have decided */
	bool is_looking;     /* decisions are being read */
	uint64_t next_look;  /* ns: next attempt to read decisions, after a failure; 0: no failure */
	uint64_t next_begin; /* ns: when the next "execution_begin" record is due; 0: none is */
	int wait_fd;         /* epoll: the stores, and the descriptor of the approvals once they are open */
	bool watches_stores, watches_approvals; /* wait_fd contains them */
	struct gb_list runs;
};

enum gb_agent_run_state {
	GB_AGENT_RUN_REFUSED,   /* has its result, which is not yet reported */
	GB_AGENT_RUN_ADMITTING, /* a step of its admission is under way in the stores */
	GB_AGENT_RUN_WAITING,   /* for a decision */
	GB_AGENT_RUN_RUNNING,
	GB_AGENT_RUN_RECORDING, /* has its result, which is reported when its record is on the disk */
	GB_AGENT_RUN_DONE,
};

/* Output of a run, or a call, for one of the request's callbacks. */
struct gb_agent_event {
	enum gb_agent_event_kind {
		GB_AGENT_EVENT_LOG,
		GB_AGENT_EVENT_OUTPUT,
		GB_AGENT_EVENT_DISPLAY,
		GB_AGENT_EVENT_PROMPT,
		GB_AGENT_EVENT_CALL
	} kind;
	int stream;           /* of output */
	size_t at, n;         /* output: range of masked.outputs; log: index in masked.logs */
	const void *what;     /* the display, or the text of the prompt; lives as long as masked */
	struct gb_call *call; /* owned, until it is delivered */
};

/* State of the "execution_begin" record of a run. */
enum gb_ahead {
	GB_AHEAD_NONE,
	GB_AHEAD_QUEUED,
	GB_AHEAD_FAILED, /* could not be written: the run is being ended */
	GB_AHEAD_WRITTEN,
};

/* Of the output, and of the result. */
enum { GB_SUMMARY_CHARS = GB_AUDIT_SUMMARY_CHARS / 2, GB_SUMMARY_BYTES = 4 * GB_SUMMARY_CHARS };

/* The beginning of the output of a run. */
struct gb_summary {
	size_t n;
	char text[3 * GB_SUMMARY_BYTES];
};

/* The result as JSON, of which the record has the hash and the beginning. For a long result a thread writes it. */
struct gb_written {
	struct gb_work work;
	char *json; /* NULL: it could not be written */
	size_t n;
	struct gb_audit_hash hash;
	struct gb_err err;
};

struct gb_agent_run {
	struct gb_list link;
	struct gb_gate *gate;
	struct gb_rules *rules; /* that admitted it */
	struct gb_gate_request request;
	const char *through;                  /* "execute_code (cli)": face and transport */
	uint64_t asked_for[4];                /* limits of the request: timeout, memory, output, result */
	bool asked_restricted;                /* restricted mode of the request */
	const struct gb_value *asked_modules; /* modules that an action may import in it; or NULL */
	struct gb_arena texts;                /* texts of the request and the result */
	struct gb_values *values;
	enum gb_agent_run_state state;
	bool abandoned;     /* destroyed by the caller, and not yet recorded */
	bool in_callback;   /* a callback is running */
	bool was_destroyed; /* by that callback */
	unsigned n_ops;     /* operations in the stores that refer to it */
	bool is_freed;      /* only they keep it in memory */
	bool is_stepping;   /* one of them is a step of its admission, or reads its decision */
	bool must_check;    /* after that step: read its decision again */
	const char *stop_code, *stop_reason; /* after that step: refuse it; NULL: do not */
	bool counted;                        /* counted as a call of its turn; undone if it does not run */
	char session[33];                    /* the id of its session, or empty */
	bool session_exists;                 /* the session was opened; it may have ended since */
	bool trusts;                         /* the approval also trusts the session */
	unsigned n_prompts;                  /* of an input: number of the prompt that it answers */
	char approval[GB_APPROVAL_ID];       /* id of the approval that it waits for */
	int64_t expires_ms;                  /* when that expires */
	struct gb_str inputs, permissions, limits; /* JSON; approved and recorded as they are */
	char around_hash[2 * GB_HASH_BYTES + 1];   /* of the text around the code */
	struct gb_energy_outcome spent;
	struct gb_reservation *reservation; /* in the audit log; belongs to the stores */
	const char *decision, *decider;
	struct gb_run *engine_run;
	struct gb_ask *ask; /* about a call of the code; or NULL */
	uint64_t n_asks;
	bool
	    awaits_record; /* it has ended, and is recorded when it is masked and the version of its runtime is known */
	int64_t started_ms;
	struct gb_agent_event *held; /* events held back until a record of the run is on the disk */
	size_t n_held, cap_held;
	enum gb_ahead ahead;
	uint64_t begin_at; /* ns: when its "execution_begin" record is due; 0: not due, or written */
	bool releasing;
	struct gb_summary summary;
	struct gb_masked masked;
	struct gb_result result;
	struct gb_written written;
};

/* --- rules.c --- */

/* Hash the values of all settings that affect what runs. False if there is no memory. */
bool gb_policy_name(const struct gb_config *config, char ret[GB_POLICY_TEXT]);
bool gb_rules_create(
    const struct gb_gate *gate, const struct gb_config *config, struct gb_rules **ret, struct gb_err *err);
struct gb_rules *gb_rules_ref(struct gb_rules *rules);
void gb_rules_unref(struct gb_rules *rules); /* NULL is fine */

/* --- admit.c --- */

/* Check everything that needs no decision. On false the run has a result with the reason. */
bool gb_agent_run_admit(struct gb_agent_run *run);
/* Count one call in its turn, then go on with gb_agent_run_proceed. This is the last check: a request that is
 * refused for another reason does not count. It is counted before a person is asked, so that two pending
 * requests cannot both pass a limit of one. */
void gb_agent_run_count(struct gb_agent_run *run);
/* The request does not run: undo gb_agent_run_count. */
void gb_agent_run_uncount(struct gb_agent_run *run);
/* Set its limits and allowed modules by the configuration. */
bool gb_agent_run_limit(struct gb_agent_run *run);

/* --- session.c: sessions of agents --- */

bool gb_gate_open_sessions(struct gb_gate *gate, const struct gb_rules *rules, struct gb_err *err);
void gb_gate_limit_sessions(struct gb_gate *gate);
/* The rules have changed, which revokes trust: update the "trusted" flag of the sessions. */
void gb_gate_distrust_sessions(struct gb_gate *gate);
/* Find the session, or choose the id of a session that gb_agent_run_open_session will open: nothing is opened
 * or counted for a request that may still be refused. On false the run has a result with the reason. */
bool gb_agent_run_resolve_session(struct gb_agent_run *run);
/* Open the session of gb_agent_run_resolve_session, unless it exists. *ret_opened: it did not exist. */
bool gb_agent_run_open_session(struct gb_agent_run *run, bool *ret_opened, struct gb_err *err);
/* The request is refused: revoke trust in a session that will not be opened. */
void gb_agent_run_leave_session(struct gb_agent_run *run);

/* --- input.c: text for a run that waits for input --- */

/* Bind it to the prompt that its session waits at. On false the run has a result with the reason. */
bool gb_agent_run_bind_input(struct gb_agent_run *run);
/* It was approved and its record is reserved: type it and record it. */
void gb_agent_run_type(struct gb_agent_run *run);
/* The run in @session no longer waits for input: refuse inputs that are not decided yet. */
void gb_gate_drop_inputs(struct gb_gate *gate, const char *session);

/* --- decide.c --- */

/* Spend energy and start the run, or ask a person first. */
void gb_agent_run_proceed(struct gb_agent_run *run);
/* A decision may have been made, or the approval has expired. */
void gb_agent_run_check_decision(struct gb_agent_run *run);
/* Withdraw its approval. */
void gb_agent_run_withdraw(struct gb_agent_run *run);
/* It does not run: give back its energy. */
void gb_agent_run_refund(struct gb_agent_run *run);

/* --- ask.c --- */

/* A decision may have been made about its call, or the approval has expired. */
void gb_agent_run_check_ask(struct gb_agent_run *run);
/* When that approval expires; INT64_MAX: nothing is to be decided. */
int64_t gb_agent_run_ask_expires(const struct gb_agent_run *run);
/* The run has ended: withdraw it. */
void gb_agent_run_end_ask(struct gb_agent_run *run);

/* --- request.c --- */

enum { GB_AGENT_RUN_TEXTS_MAX = 64 << 20 };

/* Reject options that the gate does not check, show and record. */
bool gb_gate_check_request(const struct gb_gate_request *request, struct gb_err *err);
bool gb_agent_run_copy_request(struct gb_agent_run *run, const struct gb_gate_request *given);
/* Convert the arguments to JSON and back, so that the code is called with exactly the values that are shown
 * for approval. */
bool gb_agent_run_describe_inputs(struct gb_agent_run *run, struct gb_err *err);
/* Whether it runs nothing and brings nothing along: it only reads files, which approved code has written. */
bool gb_agent_run_only_reads(const struct gb_agent_run *run);
/* The limits and permissions that are approved and recorded besides the code. */
bool gb_agent_run_describe(struct gb_agent_run *run);

/* --- step.c: operations of one request in the stores --- */

/* Submit @op as the next step of the admission. If it is not @complete (no memory; NULL is fine) or the
 * stores have too much to do, the request is refused. */
void gb_agent_run_step(
    struct gb_agent_run *run, struct gb_store_op *op, bool complete, void (*then)(struct gb_store_op *op));
/* The step is done: whether it was stopped, or the rules have changed meanwhile. Then it is refused, or
 * admitted again from the beginning. Call it after noting what the step has taken, which is undone. */
bool gb_agent_run_interrupted(struct gb_agent_run *run);
/* End the admission of a request that waits, or is being admitted: refuse it now, or after its step. */
void gb_agent_run_stop_admission(struct gb_agent_run *run, const char *code, const char *reason);
/* Submit @op, which refers to @run until gb_agent_run_op_done. */
void gb_agent_run_submit(
    struct gb_agent_run *run, struct gb_store_op *op, void (*then)(struct gb_store_op *op));
/* Its run; NULL if that was freed. */
struct gb_agent_run *gb_agent_run_op_done(struct gb_store_op *op);
/* Submit @op, which undoes something; its outcome is ignored. @complete as above. */
void gb_gate_submit_op(struct gb_gate *gate, struct gb_store_op *op, bool complete);

/* --- agent_run.c --- */

/* Refuse the request. @code names the rule. */
void gb_agent_run_refuse(struct gb_agent_run *run, const char *code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Apply the present rules to it. */
bool gb_agent_run_adopt(struct gb_agent_run *run);
/* Admit it under the present rules, from the beginning. */
void gb_agent_run_enter(struct gb_agent_run *run);
/* It may run: reserve its record, then start it or type it. */
void gb_agent_run_begin(struct gb_agent_run *run);
void gb_agent_run_finish(struct gb_agent_run *run);
void gb_agent_run_free(struct gb_agent_run *run);
char *gb_agent_run_text(struct gb_agent_run *run, const char *text);

/* Record the runs that have ended and whose result is masked, if the version of their runtime is known; @all: also
 * if it is not. */
void gb_gate_record_ended(struct gb_gate *gate, bool all);

/* End it, or interrupt it if it is in a session. */
void gb_agent_run_stop(struct gb_agent_run *run, const char *reason);

/* --- ahead.c --- */

/* Deliver @event, or hold it until a record of the run is on the disk. */
void gb_agent_run_deliver(struct gb_agent_run *run, struct gb_agent_event event);
/* A record of the run is on the disk: deliver the held events. The run is not freed here. */
void gb_agent_run_release(struct gb_agent_run *run);
/* Drop the held events. */
void gb_agent_run_drop_held(struct gb_agent_run *run);
/* Queue the "execution_begin" records that are due. */
void gb_gate_queue_begins(struct gb_gate *gate);
/* Its "execution_begin" record is on the disk, or could not be queued. */
void gb_agent_run_on_begun(struct gb_store_op *op);
/* Records could not be written: end the runs whose "execution_begin" record is among them. */
void gb_gate_begins_failed(struct gb_gate *gate);

/* --- summary.c --- */

/* @text, @log and @display are masked already. */
void gb_summary_output(struct gb_summary *summary, struct gb_str text);
void gb_summary_log(struct gb_summary *summary, const struct gb_log *log);
/* A line with its media types. */
void gb_summary_display(struct gb_summary *summary, const struct gb_value *display);
/* The beginning of the output and that of the result, which is part of @json. Lives as long as @summary. */
struct gb_str gb_summary_end(
    struct gb_summary *summary, const struct gb_result *result, struct gb_str json, bool *ret_cut);

/* --- audit_record.c --- */

/* Queue its "execution_begin" record. */
bool gb_agent_run_record_begin(struct gb_agent_run *run, struct gb_err *err);

/* How many bytes its audit record may need. */
bool gb_agent_run_needed(struct gb_agent_run *run, size_t *ret_bytes, struct gb_err *err);
/* Write the result as JSON, on any thread. */
void gb_written_write(struct gb_written *written, const struct gb_result *result);
/* Queue its record, after the result was written; gb_agent_run_finish is called when it is on the disk. */
bool gb_agent_run_record(struct gb_agent_run *run, struct gb_err *err);
/* The same for a refused request. */
bool gb_agent_run_record_refusal(struct gb_agent_run *run, struct gb_err *err);
/* It does not run: release its reservation in the audit log. */
void gb_agent_run_release_record(struct gb_agent_run *run);

#endif
