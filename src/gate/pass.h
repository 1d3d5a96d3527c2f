/* What the files of the gate share. */
#ifndef GB_GATE_PASS_H
#define GB_GATE_PASS_H

#include "base/arena.h"
#include "base/list.h"
#include "gate/gate.h"
#include "guard/masked.h"
#include "store/approvals.h"
#include "store/audit.h"

struct gb_gate {
	const struct gb_config *config;
	struct gb_engine *engine;
	struct gb_filter *filter;
	struct gb_approvals *approvals; /* NULL where nobody has to be asked */
	int approvals_fd;
	struct gb_energy *energy; /* NULL where it is switched off */
	struct gb_audit *audit;
	char policy[2 * GB_HASH_BYTES + 1]; /* which rules are these */
	struct gb_list passes;
};

enum gb_pass_state {
	GB_PASS_REFUSED, /* its result is there, and is to be told */
	GB_PASS_WAITING, /* for a person */
	GB_PASS_RUNNING,
	GB_PASS_RECORDING, /* its result is there, and is told when its record is */
	GB_PASS_DONE,
};

struct gb_pass {
	struct gb_list link;
	struct gb_gate *gate;
	struct gb_gate_request request;
	struct gb_arena texts; /* of the request and the result */
	enum gb_pass_state state;
	bool abandoned;                            /* destroyed while its record was to be written */
	bool telling, was_destroyed;               /* by whoever was being told */
	char approval[GB_APPROVAL_ID];             /* that it waits for */
	struct gb_str inputs, permissions, limits; /* JSON, as they are approved and recorded */
	struct gb_energy_outcome spent;
	struct gb_audit_ticket ticket;
	const char *decision, *decider;
	struct gb_run *run;
	int64_t started_ms;
	struct gb_masked masked;
	struct gb_result result;
};

/* --- admit.c --- */

/* May it be asked about at all? False, and its result says why not. */
bool gb_pass_admit(struct gb_pass *pass);
/* Its limits are within those of the configuration. */
void gb_pass_limit(struct gb_pass *pass);
const struct gb_config_limits *gb_gate_limits(const struct gb_gate *gate, enum gb_language language);

/* --- pass.c --- */

/* It is not run. @code is the rule's. */
void gb_pass_refuse(struct gb_pass *pass, const char *code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Ask, or begin. */
void gb_pass_proceed(struct gb_pass *pass);
/* Somebody has decided, or the time is up. */
void gb_pass_look(struct gb_pass *pass);
void gb_pass_finish(struct gb_pass *pass);
void gb_pass_free(struct gb_pass *pass);
char *gb_pass_text(struct gb_pass *pass, const char *text);

/* --- remember.c --- */

/* What is known before it runs, checked to be recordable. */
bool gb_pass_reserve(struct gb_pass *pass, struct gb_err *err);
/* Queue its record; gb_pass_finish is called when it is on the disk. */
bool gb_pass_record(struct gb_pass *pass, struct gb_err *err);
/* The same for one that was not run. */
bool gb_pass_record_refusal(struct gb_pass *pass, struct gb_err *err);

#endif
