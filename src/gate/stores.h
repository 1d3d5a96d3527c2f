/*
 * The stores of a gate, on a thread of their own: turns, energy, approvals, the audit log.
 *
 * The gate never calls a store itself. It submits an operation (struct gb_store_op), and its function .then
 * is called later from gb_gate_work, on the thread of the gate. Until then the operation belongs to the
 * thread; it owns copies of all texts. Operations run in the order of submission, except that one whose
 * database is locked by another process delays only those on the same database: for a limited time, then it
 * fails. Audit records that are submitted while others are being written are committed together.
 */
#ifndef GB_GATE_STORES_H
#define GB_GATE_STORES_H

#include "store/approvals.h"
#include "store/audit.h"
#include "store/energy.h"
#include "store/state.h"
#include "store/turns.h"
#include "store/worker.h"

struct gb_gate;
struct gb_agent_run;
struct gb_stores;
struct gb_store_op;

enum { GB_POLICY_TEXT = 2 * GB_HASH_BYTES + 1 };

/* The part of a configuration that the stores use. */
struct gb_stores_options {
	bool enabled;              /* agents may run code */
	char dir[GB_STATE_PATH];   /* state folder */
	char audit[GB_STATE_PATH]; /* folder of the audit log */
	bool has_energy;
	struct gb_energy_options energy;
	uint64_t approval_timeout_ms;
	uint64_t keep_ms, keep_bytes; /* retention of the audit log */
	char policy[GB_POLICY_TEXT];
};

/* Which stores are open. */
struct gb_stores_open {
	bool approvals, energy, turns, audit;
	int approvals_fd; /* becomes readable when a person may have decided; owned by the stores */
};

enum gb_store_kind {
	GB_STORE_ADOPT, /* open the stores as .options say; on failure nothing changes */
	GB_STORE_TAKE_CALL,
	GB_STORE_GIVE_BACK_CALL,
	GB_STORE_SPEND,
	GB_STORE_REFUND,
	GB_STORE_ASK,    /* find trust in the session; if there is none, submit a request for approval */
	GB_STORE_LOOK,   /* read notifications, expire approvals */
	GB_STORE_USE,    /* use a decision */
	GB_STORE_DECIDE, /* record a decision that the transport was told */
	GB_STORE_WITHDRAW,
	GB_STORE_REVOKE, /* trust in a session */
	GB_STORE_RESERVE,
	GB_STORE_CANCEL,  /* a reservation */
	GB_STORE_BEGIN,   /* write an "execution_begin" record */
	GB_STORE_END,     /* write the record of a run, which uses up its reservation */
	GB_STORE_APPEND,  /* write a record without a reservation */
	GB_STORE_TROUBLE, /* from the thread: records cannot be written; they are tried again */
	GB_STORE_KINDS,
};

/* A reservation in the audit log. It belongs to the thread; the gate only passes it on. */
struct gb_reservation;

struct gb_store_op {
	struct gb_work work;
	enum gb_store_kind kind;
	/* For the gate. */
	struct gb_stores *stores;             /* set by submitting */
	struct gb_gate *gate;                 /* the owner of the stores; set by submitting */
	struct gb_agent_run *run;             /* or NULL */
	void (*then)(struct gb_store_op *op); /* may be NULL. The operation is freed after it */
	void *data;
	/* Outcome. */
	bool ok;
	struct gb_err err; /* if not ok */
	/* In: texts of the request, each in .texts. */
	char *texts;
	struct gb_turn turn;
	unsigned max_calls;
	enum gb_tier tier;
	struct gb_approval_request request;
	char id[GB_APPROVAL_ID];          /* of the approval: in, and out of GB_STORE_ASK */
	struct gb_hash hash;              /* of the request */
	enum gb_approval_verdict verdict; /* of GB_STORE_DECIDE, with .decider and .reason */
	char session[33];
	size_t bytes;
	struct gb_audit_record *record;    /* owned */
	struct gb_stores_options *options; /* owned */
	/* In and out. */
	struct gb_energy_outcome energy;
	struct gb_reservation *reservation; /* freed with the operation, except of GB_STORE_BEGIN */
	/* Out. */
	bool granted;       /* the call, or trust */
	bool has_looked_up; /* of GB_STORE_ASK: the lookup of trust has succeeded */
	int64_t expires_ms;
	enum gb_use use;
	bool trusts; /* the decision also trusts the session */
	char decider[GB_APPROVAL_DECIDER_MAX + 1], reason[GB_APPROVAL_REASON_MAX + 1];
	uint64_t seq; /* of the record; 0: it was not written */
	struct gb_stores_open open;
};

/* NULL: no memory. */
struct gb_store_op *gb_store_op_create(enum gb_store_kind kind);
/* Only if it was not submitted. NULL is fine. */
void gb_store_op_destroy(struct gb_store_op *op);
/* Copy texts into the operation; false: no memory. */
bool gb_store_op_set_turn(struct gb_store_op *op, const struct gb_turn *turn);
bool gb_store_op_set_request(struct gb_store_op *op, const struct gb_approval_request *request);
bool gb_store_op_set_record(struct gb_store_op *op, const struct gb_audit_record *record);

/* Start the thread. No store is open yet. @busy_ms is the longest wait for a lock of another process,
 * @on_trouble the .then of GB_STORE_TROUBLE. */
bool gb_stores_create(struct gb_gate *gate, unsigned busy_ms, void (*on_trouble)(struct gb_store_op *op),
    struct gb_stores **ret, struct gb_err *err);
/* Run all operations, write the records that are left, close the stores, end the thread. Records that cannot
 * be written end with .seq 0. NULL is fine. */
void gb_stores_destroy(struct gb_stores *stores);
struct gb_worker *gb_stores_worker(struct gb_stores *stores);

/* Submit the operation, which belongs to the stores from now on. False if too many are not done yet; then it is
 * freed. */
bool gb_stores_try(struct gb_stores *stores, struct gb_store_op *op);
/* The same without a limit, for operations that complete or undo others. */
void gb_stores_submit(struct gb_stores *stores, struct gb_store_op *op);

#endif
