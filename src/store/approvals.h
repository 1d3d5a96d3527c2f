/*
 * Approvals: code that waits for a person's decision.
 *
 *	gb_approvals_open(dir, NULL, &approvals, &err);
 *	if (gb_trust_find(approvals, &request, &is_trusted, &trust, &err) && is_trusted)
 *		run(&request);
 *	gb_approval_submit(approvals, &request, &ticket, &err);
 *	...poll gb_approvals_fd, with gb_approvals_next_deadline as a timeout; when either comes:
 *	gb_approvals_poll(approvals, on_changed, data, &err);	// visits those that were decided
 *	gb_approval_use(approvals, ticket.id, &request, &use, &err);
 *	if (use == GB_USE_GRANTED)
 *		run(&request);					// this once
 *
 * An approval is bound to bytes: its hash covers everything that determines what would run (runtime, session,
 * conversation, policy, code, inputs, permissions, limits). The decider passes the hash that was shown, and
 * the caller that uses the decision passes the request again. A request that differs in one byte is not
 * approved. JSON texts are compared as bytes too: a different formatting is a different request.
 *
 * Without a decision a pending approval expires, which counts as a denial. A decision can be used once, and
 * only for a limited time. All state is in SQLite, so it survives the submitting process: a process that
 * submits the same bytes with the same token gets the same approval. Several processes may open the same
 * folder, each with one handle.
 *
 * Any process that can write the state folder can approve. Code in a sandbox cannot.
 */
#ifndef GB_STORE_APPROVALS_H
#define GB_STORE_APPROVALS_H

#include "base/arena.h"
#include "store/chain.h"

enum {
	GB_APPROVAL_ID = 33,              /* 128 random bits in hex, and a zero */
	GB_APPROVAL_NAME_MAX = 200,       /* bytes of a face, runtime, session, conversation, policy, token */
	GB_APPROVAL_PURPOSE_MAX = 4096,   /* bytes */
	GB_APPROVAL_JSON_MAX = 64 << 10,  /* bytes of permissions, of limits */
	GB_APPROVAL_BYTES_MAX = 16 << 20, /* of code, of inputs; the options cannot raise it */
	GB_APPROVAL_DECIDER_MAX = 100,
	GB_APPROVAL_REASON_MAX = 1000,
	GB_TRUSTS_MAX = 1000, /* beyond this the oldest are deleted */
};

struct gb_approvals;

/* Zero means the default, in every field. */
struct gb_approvals_options {
	uint64_t timeout_ms;               /* a pending approval expires after: 5 minutes */
	uint64_t use_ms;                   /* a decision can be used for: 5 minutes */
	uint64_t trust_ms;                 /* a session is trusted for at most: 12 hours */
	unsigned max_pending;              /* 100 */
	unsigned max_pending_conversation; /* 10 in one conversation */
	uint64_t max_code, max_inputs;     /* bytes: 1 MiB each */
	uint64_t keep_ms, keep_bytes;      /* retention of decided approvals: 30 days, 64 MiB */
	unsigned keep_count;               /* 1,000 */
	bool read_only;                    /* fails with GB_ENOENT if no database exists */
	unsigned busy_ms;                  /* how long to wait for other processes; 0: ten seconds */
	int64_t (*now_ms)(void);           /* the wall clock; NULL: the system's */
};

bool gb_approvals_open(const char *dir, const struct gb_approvals_options *options,
    struct gb_approvals **ret_approvals, struct gb_err *err);
void gb_approvals_close(struct gb_approvals *approvals);
/* Whether @dir has a database of approvals. */
bool gb_approvals_exist(const char *dir);
/* Set the timeout of approvals that are submitted from now on. */
void gb_approvals_set_timeout(struct gb_approvals *approvals, uint64_t timeout_ms);

/* A request. Texts are borrowed and must be UTF-8; only runtime and code are required. */
struct gb_approval_request {
	struct gb_str token;   /* lets the requester find its approval again; empty: never */
	struct gb_str face;    /* face and transport: "execute_code (cli)" */
	struct gb_str purpose; /* as stated by the agent */
	/* All fields below are bound by the hash. */
	struct gb_str runtime, session, conversation;
	struct gb_str policy; /* version or hash of the rules in force */
	struct gb_str code;
	struct gb_str inputs, permissions, limits; /* JSON */
};

/* A field of a request. One table drives the checks, the database, the hash and JSON. (approval_request.c) */
struct gb_approval_field {
	const char *name; /* in messages and as a column */
	const char *json; /* in JSON; NULL: not included */
	size_t offset, max;
	bool is_bound, is_json;
};
extern const struct gb_approval_field gb_approval_fields[];
extern const size_t gb_approval_n_fields;

static inline struct gb_str *gb_approval_text(
    struct gb_approval_request *request, const struct gb_approval_field *field) {
	return (struct gb_str *)((char *)request + field->offset);
}

/* BLAKE2b-256 over a domain string, then length and bytes of each bound field. */
void gb_approval_hash(const struct gb_approval_request *request, struct gb_hash *ret_hash);

enum gb_approval_state {
	GB_APPROVAL_PENDING,
	GB_APPROVAL_APPROVED,
	GB_APPROVAL_DENIED,
	GB_APPROVAL_EXPIRED, /* not decided in time */
	GB_APPROVAL_WITHDRAWN,
};

/* "pending", "approved", ... */
const char *gb_approval_state_name(enum gb_approval_state state);

struct gb_approval {
	char id[GB_APPROVAL_ID];
	struct gb_hash hash;
	struct gb_approval_request request; /* its texts are owned by this struct */
	enum gb_approval_state state;
	bool trusts; /* the decision also trusted the session */
	int64_t created_ms, expires_ms;
	int64_t decided_ms, used_ms; /* 0: not yet */
	struct gb_str decider, reason;
	uint64_t seq; /* in the order of submission */
	struct gb_arena texts;
};

void gb_approval_destroy(struct gb_approval *approval);
void gb_approval_free(struct gb_approval **approval);
#define gb_auto_approval __attribute__((cleanup(gb_approval_free)))

/* One JSON object on one line. (approval_json.c) */
void gb_approval_json(struct gb_buf *out, struct gb_approval *approval);

/* --- submitting --- */

struct gb_approval_ticket {
	char id[GB_APPROVAL_ID];
	struct gb_hash hash;
	int64_t expires_ms;
	bool existed; /* the same request and token exist already: pending, or approved and unused */
};

/* Fails with GB_EINVAL (the message names the field) or GB_ELIMIT (too long, too many pending). */
bool gb_approval_submit(struct gb_approvals *approvals, const struct gb_approval_request *request,
    struct gb_approval_ticket *ret_ticket, struct gb_err *err);

/* The newest approval of this request and token, in any state. GB_ENOENT if there is none. */
bool gb_approval_find(struct gb_approvals *approvals, const struct gb_approval_request *request,
    struct gb_approval **ret_approval, struct gb_err *err);

/* Withdraw an approval that is pending, or approved and unused. *ret_was_open: it was in such a state. */
bool gb_approval_withdraw(
    struct gb_approvals *approvals, const char *id, bool *ret_was_open, struct gb_err *err);

/* Whether @request is, byte for byte, the request of approval @id, in any state. */
bool gb_approval_matches(struct gb_approvals *approvals, const char *id,
    const struct gb_approval_request *request, bool *ret_matches, struct gb_err *err);

enum gb_use {
	GB_USE_GRANTED,
	GB_USE_PENDING,
	GB_USE_DENIED,
	GB_USE_EXPIRED, /* not decided in time */
	GB_USE_WITHDRAWN,
	GB_USE_CHANGED, /* the request differs from the approved one */
	GB_USE_USED,    /* used before */
	GB_USE_STALE,   /* approved too long ago */
};

/* "granted", "pending", ... */
const char *gb_use_name(enum gb_use use);

/* Use up a decision: of all callers, in any process, exactly one is granted. GB_ENOENT for an unknown id. */
bool gb_approval_use(struct gb_approvals *approvals, const char *id,
    const struct gb_approval_request *request, enum gb_use *ret_use, struct gb_err *err);
/* The same with the hash of the request, computed by the caller from the bytes that will run. */
bool gb_approval_use_hash(struct gb_approvals *approvals, const char *id, const struct gb_hash *hash,
    enum gb_use *ret_use, struct gb_err *err);

/* --- deciding --- */

enum gb_approval_verdict { GB_APPROVE, GB_DENY, GB_TRUST };

struct gb_decision {
	enum gb_approval_verdict verdict;
	struct gb_hash hash; /* of the request that was shown to the decider */
	struct gb_str decider;
	struct gb_str reason; /* may be empty */
};

/* The state after gb_approval_decide. */
struct gb_standing {
	bool is_mine; /* it was decided by this call */
	enum gb_approval_state state;
	bool trusts;
	int64_t decided_ms;
	char decider[GB_APPROVAL_DECIDER_MAX + 1], reason[GB_APPROVAL_REASON_MAX + 1];
};

/* The first decision counts; later ones get its result in *ret_standing. Fails with GB_ENOENT or GB_EINVAL
 * (the message names the field; also if the hash does not match). */
bool gb_approval_decide(struct gb_approvals *approvals, const char *id, const struct gb_decision *decision,
    struct gb_standing *ret_standing, struct gb_err *err);

/* --- reading --- */

/* The full id of the only approval whose id begins with @prefix (at least four characters). GB_ENOENT;
 * GB_EINVAL if several match. */
bool gb_approval_resolve(
    struct gb_approvals *approvals, const char *prefix, char ret_id[GB_APPROVAL_ID], struct gb_err *err);

/* GB_EFORMAT if its bytes do not match the stored hash. */
bool gb_approval_get(
    struct gb_approvals *approvals, const char *id, struct gb_approval **ret_approval, struct gb_err *err);

struct gb_approval_filter {
	bool pending_only, newest_first;
	const char *session, *conversation, *runtime; /* NULL: any */
	uint64_t limit;                               /* 0: none */
};

/* @approval is valid during the call, which may call any function of this header. False stops. */
typedef bool (*gb_approval_visit)(void *data, struct gb_approval *approval);

bool gb_approvals_each(struct gb_approvals *approvals, const struct gb_approval_filter *filter,
    gb_approval_visit visit, void *data, struct gb_err *err);

/* --- waiting (approval_wait.c) --- */

/* A descriptor that becomes readable when any process may have changed something. It is owned by the handle.
 * Poll once right after the first call: earlier changes do not make it readable. */
bool gb_approvals_fd(struct gb_approvals *approvals, int *ret_fd, struct gb_err *err);

/* Expire overdue approvals, and visit those that were submitted, decided or withdrawn since the handle was
 * opened or last polled, each once in its newest state. */
bool gb_approvals_poll(
    struct gb_approvals *approvals, gb_approval_visit visit, void *data, struct gb_err *err);

/* Milliseconds until the next pending approval expires, -1 if none is pending. */
bool gb_approvals_next_deadline(struct gb_approvals *approvals, int64_t *ret_ms, struct gb_err *err);

/* --- trusted sessions (trust.c) --- */

/* "Approve & Trust Session": later requests in the same session of the same conversation, with the same
 * runtime, permissions and policy, need no approval. */
struct gb_trust {
	char approval_id[GB_APPROVAL_ID]; /* the approval that gave it */
	char decider[GB_APPROVAL_DECIDER_MAX + 1];
	int64_t given_ms;
};

bool gb_trust_find(struct gb_approvals *approvals, const struct gb_approval_request *request,
    bool *ret_is_trusted, struct gb_trust *ret_trust, struct gb_err *err);

/* Revoke the trust of a session or of a whole conversation that has ended (the other one is NULL). */
bool gb_trust_revoke(struct gb_approvals *approvals, const char *session, const char *conversation,
    uint64_t *ret_revoked, struct gb_err *err);
/* The policy is now @policy: revoke trust given under any other one, permanently. */
bool gb_trust_revoke_policy(
    struct gb_approvals *approvals, struct gb_str policy, uint64_t *ret_revoked, struct gb_err *err);

#endif
