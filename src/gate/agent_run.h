/* What the files of the gate share. */
#ifndef GB_GATE_AGENT_RUN_H
#define GB_GATE_AGENT_RUN_H

#include "base/arena.h"
#include "base/list.h"
#include "gate/faces.h"
#include "gate/gate.h"
#include "guard/masked.h"
#include "store/approvals.h"
#include "store/audit.h"
#include "store/state.h"
#include "store/turns.h"

enum { GB_POLICY_TEXT = 2 * GB_HASH_BYTES + 1 };

/* One configuration, and what was made of it. Never changes; shared by all who were let in by it. */
struct gb_rules {
	unsigned refs;
	const struct gb_config *config;
	struct gb_filter *filter;
	char policy[GB_POLICY_TEXT]; /* names what a decision depends on */
};

struct gb_gate {
	struct gb_rules *rules;
	struct gb_engine *engine;
	char **environment;
	char dir[GB_STATE_PATH];        /* of the state; empty while nothing is open */
	char audit_dir[GB_STATE_PATH];  /* of the audit log */
	struct gb_approvals *approvals; /* NULL while nobody ever had to be asked */
	struct gb_energy *energy;       /* NULL where it is switched off */
	struct gb_turns *turns;
	struct gb_audit *audit;
	struct gb_manager *sessions;
	uint64_t next_try;   /* ns: when records are to be written again that could not be; 0: at once */
	uint64_t next_look;  /* ns: when decisions are to be looked at again that could not be; 0: at once */
	uint64_t next_begin; /* ns: no beginning is to be recorded before this; 0: none is */
	int wait_fd;         /* an epoll with the descriptor of the approvals in it, once there is one */
	bool watching;       /* there is */
	struct gb_list runs;
};

enum gb_agent_run_state {
	GB_AGENT_RUN_REFUSED, /* its result is there, and is to be told */
	GB_AGENT_RUN_WAITING, /* for a person */
	GB_AGENT_RUN_RUNNING,
	GB_AGENT_RUN_RECORDING, /* its result is there, and is told when its record is */
	GB_AGENT_RUN_DONE,
};

/* What a run said, as one of the request's callbacks is to hear it. */
struct gb_event {
	enum gb_event_kind { GB_EVENT_LOG, GB_EVENT_OUTPUT, GB_EVENT_DISPLAY, GB_EVENT_PROMPT } kind;
	int stream;       /* of output */
	size_t at, n;     /* output: bytes of masked.outputs; a log: its number in masked.logs */
	const void *what; /* the display, or the text of the prompt; both live as long as masked */
};

/* How far the record is of a run that has begun. */
enum gb_ahead {
	GB_AHEAD_NONE,
	GB_AHEAD_QUEUED,
	GB_AHEAD_FAILED, /* queued, and could not be written: the run is being ended */
	GB_AHEAD_WRITTEN,
};

enum { GB_SUMMARY_BYTES = 4 * GB_AUDIT_SUMMARY_CHARS };

/* The beginning of what a run said. */
struct gb_summary {
	size_t n;
	char text[3 * GB_SUMMARY_BYTES];
};

struct gb_agent_run {
	struct gb_list link;
	struct gb_gate *gate;
	struct gb_rules *rules; /* that it was let in by */
	struct gb_gate_request request;
	const char *through;   /* "execute_code (cli)": face and transport */
	uint64_t asked_for[4]; /* limits, as the request has them */
	bool asked_restricted; /* the same of restricted mode */
	struct gb_arena texts; /* of the request and the result */
	struct gb_values *values;
	enum gb_agent_run_state state;
	bool abandoned;                /* destroyed, and not over yet */
	bool telling, was_destroyed;   /* by whoever was being told */
	bool counted;                  /* as a call of its turn */
	char session[33];              /* its id, or empty */
	bool session_exists;           /* the session exists, or did */
	bool trusts;                   /* whoever approved it trusts the session */
	unsigned n_prompts;            /* of an input: which of the session's prompts it answers */
	char approval[GB_APPROVAL_ID]; /* that it waits for */
	struct gb_str inputs, permissions, limits; /* JSON, as they are approved and recorded */
	struct gb_energy_outcome spent;
	struct gb_audit_ticket ticket;
	const char *decision, *decider;
	struct gb_run *engine_run;
	int64_t started_ms;
	struct gb_event *held; /* until a record of the run is on the disk */
	size_t n_held, cap_held;
	enum gb_ahead ahead;
	uint64_t begin_at; /* ns: when its beginning is to be recorded; 0: it is not, or was */
	bool releasing;
	struct gb_summary summary;
	struct gb_masked masked;
	struct gb_result result;
};

/* --- rules.c --- */

/* Names the values of all settings that matter to what runs. False if there is no memory. */
bool gb_policy_name(const struct gb_config *config, char ret[GB_POLICY_TEXT]);
bool gb_rules_create(
    const struct gb_gate *gate, const struct gb_config *config, struct gb_rules **ret, struct gb_err *err);
struct gb_rules *gb_rules_ref(struct gb_rules *rules);
void gb_rules_unref(struct gb_rules *rules); /* NULL is fine */

/* --- gate.c --- */

/* Records could not be written: that is tried again after a while. */
void gb_gate_put_off(struct gb_gate *gate);

/* --- admit.c --- */

/* May it be asked about at all? False, and its result says why not. */
bool gb_agent_run_admit(struct gb_agent_run *run);
/* One call more in its turn: the last that is asked, since what was refused for another reason is no call. */
bool gb_agent_run_count(struct gb_agent_run *run);
/* Its limits are within those of the configuration, and it may import what that says. */
bool gb_agent_run_limit(struct gb_agent_run *run);

/* --- session.c: the session that it runs in --- */

bool gb_gate_open_sessions(struct gb_gate *gate, struct gb_err *err);
void gb_gate_limit_sessions(struct gb_gate *gate);
/* Trust was taken back with the rules that it was given under: that is to be seen. */
void gb_gate_distrust_sessions(struct gb_gate *gate);
/* Find it, or choose the id of one that gb_agent_run_open_session will open: nothing is opened or counted for
 * a request that may still be refused. False, and its result says why not. */
bool gb_agent_run_resolve_session(struct gb_agent_run *run);
/* The session that gb_agent_run_resolve_session has chosen exists afterwards. @ret_opened: it did not before.
 */
bool gb_agent_run_open_session(struct gb_agent_run *run, bool *ret_opened, struct gb_err *err);
/* The request is refused: end the trust that was given to a session which will not exist. */
void gb_agent_run_leave_session(struct gb_agent_run *run);

/* --- input.c: text for a run that waits for input --- */

/* Bind it to the prompt that its session waits at. False, and its result says why not. */
bool gb_agent_run_bind_input(struct gb_agent_run *run);
/* It was approved: type it, and record it. */
void gb_agent_run_type(struct gb_agent_run *run);
/* What runs in @session does not wait any more: refuse inputs that nobody has decided on yet. */
void gb_gate_drop_inputs(struct gb_gate *gate, const char *session);

/* --- decide.c --- */

/* Spend energy and begin, or ask a person first. */
void gb_agent_run_proceed(struct gb_agent_run *run);
/* Somebody has decided, or the time is up. */
void gb_agent_run_check_decision(struct gb_agent_run *run);
/* Nobody is to decide on it any more. */
void gb_agent_run_withdraw(struct gb_agent_run *run);

/* --- agent_run.c --- */

/* It is not run. @code is the rule's. */
void gb_agent_run_refuse(struct gb_agent_run *run, const char *code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The rules of now hold for it. */
bool gb_agent_run_adopt(struct gb_agent_run *run);
/* And it is let in by them, from the beginning. */
void gb_agent_run_enter(struct gb_agent_run *run);
void gb_agent_run_begin(struct gb_agent_run *run);
void gb_agent_run_finish(struct gb_agent_run *run);
void gb_agent_run_free(struct gb_agent_run *run);
char *gb_agent_run_text(struct gb_agent_run *run, const char *text);

/* End it, or interrupt it if it is in a session. */
void gb_agent_run_stop(struct gb_agent_run *run, const char *reason);

/* --- ahead.c --- */

/* Tell @event, when a record of the run is on the disk. */
void gb_agent_run_tell(struct gb_agent_run *run, struct gb_event event);
/* A record of it is on the disk: tell what was held back. The run outlives this. */
void gb_agent_run_release(struct gb_agent_run *run);
/* Nothing of it is told. */
void gb_agent_run_drop_held(struct gb_agent_run *run);
/* Queue the beginnings that are due; @all: of every run that has something to tell. */
void gb_gate_queue_begins(struct gb_gate *gate, bool all);
/* They were written, or could not be. */
void gb_gate_begins_done(struct gb_gate *gate, bool written);

/* --- summary.c --- */

/* Everything is masked before. */
void gb_summary_output(struct gb_summary *summary, struct gb_str text);
void gb_summary_log(struct gb_summary *summary, const struct gb_log *log);
/* All of it, with the beginning of the result, which is part of @json. Lives as long as @summary. */
struct gb_str gb_summary_end(
    struct gb_summary *summary, const struct gb_result *result, struct gb_str json, bool *ret_cut);

/* --- audit_record.c --- */

/* Queue the record that it has begun. */
bool gb_agent_run_record_begin(struct gb_agent_run *run, struct gb_err *err);

/* What is known before it runs, checked to be recordable. */
bool gb_agent_run_reserve(struct gb_agent_run *run, struct gb_err *err);
/* Queue its record; gb_agent_run_finish is called when it is on the disk. */
bool gb_agent_run_record(struct gb_agent_run *run, struct gb_err *err);
/* The same for one that was not run. */
bool gb_agent_run_record_refusal(struct gb_agent_run *run, struct gb_err *err);

#endif
