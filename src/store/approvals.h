/*
 * Approvals: code that waits until a person has seen it.
 *
 *	gb_approvals_open(dir, NULL, &approvals, &err);
 *	if (gb_trust_find(approvals, &request, &is_trusted, &trust, &err) && is_trusted)
 *		run(&request);
 *	gb_approval_submit(approvals, &request, &ticket, &err);
 *	...poll gb_approvals_fd, with gb_approvals_next_deadline as a timeout; when either comes:
 *	gb_approvals_poll(approvals, on_changed, data, &err);	// tells which were decided
 *	gb_approval_use(approvals, ticket.id, &request, &use, &err);
 *	if (use == GB_USE_GRANTED)
 *		run(&request);					// this once
 *
 * An approval is bound to bytes: its hash is over all that decides what would be done (runtime, session,
 * conversation, policy, code, inputs, permissions, limits). Who decides names the hash that was shown; who
 * uses the decision brings the request again. What differs in one byte was not approved. JSON texts are
 * compared as bytes too: another spelling is another request.
 *
 * Nobody deciding is a denial: a pending one expires. A decision can be used once, and only for a while. All
 * of it is in SQLite, so it outlives the process that asked: who submits the same bytes with the same token
 * again gets the same approval back. Several processes may have the same folder open, each with one handle.
 *
 * Whoever can write the state folder can approve. Code in a sandbox cannot.
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
	GB_APPROVAL_BYTES_MAX = 16 << 20, /* of code, of inputs, whatever the options say */
	GB_APPROVAL_DECIDER_MAX = 100,
	GB_APPROVAL_REASON_MAX = 1000,
	GB_TRUSTS_MAX = 1000, /* the oldest go */
};

struct gb_approvals;

/* Zero means the default, in every field. */
struct gb_approvals_options {
	uint64_t timeout_ms;               /* a pending one is denied after: 5 minutes */
	uint64_t use_ms;                   /* a decision can be used for: 5 minutes */
	uint64_t trust_ms;                 /* a session is trusted for at most: 12 hours */
	unsigned max_pending;              /* 100 */
	unsigned max_pending_conversation; /* 10 in one conversation */
	uint64_t max_code, max_inputs;     /* bytes: 1 MiB each */
	uint64_t keep_ms, keep_bytes;      /* decided ones are kept: 30 days, 64 MiB */
	unsigned keep_count;               /* 1,000 */
	bool read_only;                    /* GB_ENOENT if there are none yet */
	unsigned busy_ms;                  /* how long to wait for other processes; 0: ten seconds */
	int64_t (*now_ms)(void);           /* the wall clock; NULL: the system's */
};

bool gb_approvals_open(const char *dir, const struct gb_approvals_options *options,
    struct gb_approvals **ret_approvals, struct gb_err *err);
void gb_approvals_close(struct gb_approvals *approvals);
/* Was anybody ever asked there? */
bool gb_approvals_exist(const char *dir);
/* How long those wait that are submitted from now on. */
void gb_approvals_set_timeout(struct gb_approvals *approvals, uint64_t timeout_ms);

/* What is asked for. Texts are borrowed, and are text (UTF-8); only runtime and code must be there. */
struct gb_approval_request {
	struct gb_str token;   /* by which the requester knows it again; empty: never */
	struct gb_str face;    /* through which it came: "cli", "mcp", ... */
	struct gb_str purpose; /* what the agent says that it is for */
	/* All that follows is bound. */
	struct gb_str runtime, session, conversation;
	struct gb_str policy; /* version or hash of the rules that it was asked under */
	struct gb_str code;
	struct gb_str inputs, permissions, limits; /* JSON */
};

/* A field of a request. One table serves checking, the database, the hash and JSON. (approval_request.c) */
struct gb_approval_field {
	const char *name; /* as messages and columns have it */
	const char *json; /* as JSON has it; NULL: not there */
	size_t offset, max;
	bool is_bound, is_json;
};
extern const struct gb_approval_field gb_approval_fields[];
extern const size_t gb_approval_n_fields;

static inline struct gb_str *gb_approval_text(
    struct gb_approval_request *request, const struct gb_approval_field *field) {
	return (struct gb_str *)((char *)request + field->offset);
}

/* BLAKE2b-256 over a name and then length and bytes of each bound field. */
void gb_approval_hash(const struct gb_approval_request *request, struct gb_hash *ret_hash);

enum gb_approval_state {
	GB_APPROVAL_PENDING,
	GB_APPROVAL_APPROVED,
	GB_APPROVAL_DENIED,
	GB_APPROVAL_EXPIRED, /* nobody decided in time */
	GB_APPROVAL_WITHDRAWN,
};

/* "pending", "approved", ... */
const char *gb_approval_state_name(enum gb_approval_state state);

struct gb_approval {
	char id[GB_APPROVAL_ID];
	struct gb_hash hash;
	struct gb_approval_request request; /* its texts live as long as this */
	enum gb_approval_state state;
	bool trusts; /* the session was trusted with it */
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

/* --- asking --- */

struct gb_approval_ticket {
	char id[GB_APPROVAL_ID];
	struct gb_hash hash;
	int64_t expires_ms;
	bool was_there; /* the same bytes with the same token: pending, or approved and not yet used */
};

/* Fails with GB_EINVAL (names the field), GB_ELIMIT (too long, too many pending). */
bool gb_approval_submit(struct gb_approvals *approvals, const struct gb_approval_request *request,
    struct gb_approval_ticket *ret_ticket, struct gb_err *err);

/* The newest one of these bytes with this token, whatever its state. GB_ENOENT if there is none. */
bool gb_approval_find(struct gb_approvals *approvals, const struct gb_approval_request *request,
    struct gb_approval **ret_approval, struct gb_err *err);

/* Nobody wants it any more: pending, or approved and not used. *ret_was_open says whether it was so. */
bool gb_approval_withdraw(
    struct gb_approvals *approvals, const char *id, bool *ret_was_open, struct gb_err *err);

/* Is @request, byte for byte, what approval @id is about? Whatever its state. */
bool gb_approval_matches(struct gb_approvals *approvals, const char *id,
    const struct gb_approval_request *request, bool *ret_matches, struct gb_err *err);

enum gb_use {
	GB_USE_GRANTED,
	GB_USE_PENDING,
	GB_USE_DENIED,
	GB_USE_EXPIRED, /* undecided for too long */
	GB_USE_WITHDRAWN,
	GB_USE_CHANGED, /* the request is not what was approved */
	GB_USE_USED,    /* once before */
	GB_USE_STALE,   /* approved too long ago */
};

/* "granted", "pending", ... */
const char *gb_use_name(enum gb_use use);

/* Use a decision up: of all who try, in whatever process, one is granted. GB_ENOENT for an unknown id. */
bool gb_approval_use(struct gb_approvals *approvals, const char *id,
    const struct gb_approval_request *request, enum gb_use *ret_use, struct gb_err *err);

/* --- deciding --- */

enum gb_verdict { GB_APPROVE, GB_DENY, GB_TRUST };

struct gb_decision {
	enum gb_verdict verdict;
	struct gb_hash hash; /* of what the decider was shown */
	struct gb_str decider;
	struct gb_str reason; /* may be empty */
};

/* How it stands now. */
struct gb_standing {
	bool is_mine; /* by this very decision */
	enum gb_approval_state state;
	bool trusts;
	int64_t decided_ms;
	char decider[GB_APPROVAL_DECIDER_MAX + 1], reason[GB_APPROVAL_REASON_MAX + 1];
};

/* The first to decide has decided; who comes later is told what. Fails with GB_ENOENT, GB_EINVAL (names the
 * field; also if the hash is another). */
bool gb_approval_decide(struct gb_approvals *approvals, const char *id, const struct gb_decision *decision,
    struct gb_standing *ret_standing, struct gb_err *err);

/* --- reading --- */

/* The whole id of the only one that begins with @prefix (four characters or more). GB_ENOENT; GB_EINVAL if
 * there are several. */
bool gb_approval_resolve(
    struct gb_approvals *approvals, const char *prefix, char ret_id[GB_APPROVAL_ID], struct gb_err *err);

/* GB_EFORMAT if its bytes are not those that were submitted. */
bool gb_approval_get(
    struct gb_approvals *approvals, const char *id, struct gb_approval **ret_approval, struct gb_err *err);

struct gb_approval_filter {
	bool pending_only, newest_first;
	const char *session, *conversation, *runtime; /* NULL: any */
	uint64_t limit;                               /* 0: none */
};

/* @approval lives as long as the call, in which everything may be called. False stops. */
typedef bool (*gb_approval_visit)(void *data, struct gb_approval *approval);

bool gb_approvals_each(struct gb_approvals *approvals, const struct gb_approval_filter *filter,
    gb_approval_visit visit, void *data, struct gb_err *err);

/* --- waiting (approval_wait.c) --- */

/* Readable when something may have changed, by whichever process. The descriptor stays the handle's. Poll
 * once right after the first call: what changed before it makes nothing readable. */
bool gb_approvals_fd(struct gb_approvals *approvals, int *ret_fd, struct gb_err *err);

/* Let those expire whose time is up, and visit what was submitted, decided or withdrawn since the handle was
 * opened or last polled, each once in its newest state. */
bool gb_approvals_poll(
    struct gb_approvals *approvals, gb_approval_visit visit, void *data, struct gb_err *err);

/* Milliseconds until the next pending one expires, -1 if none is pending. */
bool gb_approvals_next_deadline(struct gb_approvals *approvals, int64_t *ret_ms, struct gb_err *err);

/* --- trusted sessions (trust.c) --- */

/* "Approve & Trust Session": what comes after in the same session of the same conversation, on the same
 * runtime, asking for the same permissions under the same policy, need not be asked about. */
struct gb_trust {
	char approval_id[GB_APPROVAL_ID]; /* with which it was given */
	char decider[GB_APPROVAL_DECIDER_MAX + 1];
	int64_t given_ms;
};

bool gb_trust_find(struct gb_approvals *approvals, const struct gb_approval_request *request,
    bool *ret_is_trusted, struct gb_trust *ret_trust, struct gb_err *err);

/* The session, or the whole conversation, has ended (the other one is NULL). */
bool gb_trust_revoke(struct gb_approvals *approvals, const char *session, const char *conversation,
    uint64_t *ret_revoked, struct gb_err *err);
/* The policy is @policy now: trust that was given under another is gone, also if that one comes back. */
bool gb_trust_revoke_policy(
    struct gb_approvals *approvals, struct gb_str policy, uint64_t *ret_revoked, struct gb_err *err);

#endif
