/* What the files of the approvals share: the struct, turns in the database, rows. */
#ifndef GB_STORE_APPROVAL_PARTS_H
#define GB_STORE_APPROVAL_PARTS_H

#include "store/approvals.h"
#include "store/db.h"

#define GB_APPROVALS_DB   "approvals.db"
#define GB_APPROVALS_BELL "approvals.bell"

struct gb_approvals {
	struct gb_approvals_options options;
	struct gb_db *db;
	int dir;
	int inotify, watch;                   /* -1 until somebody wants to wait */
	sqlite3_int64 seen_changed, seen_seq; /* what has been visited by polls */
};

/* The columns of a row, in the order in which gb_approval_read expects them. */
#define GB_APPROVAL_COLUMNS                                                                                  \
	"seq, id, hash, state, trusts, created, expires, decided, used, changed, decider, reason, "          \
	"token, face, purpose, runtime, session, conversation, policy, code, inputs, permissions, limits"

int64_t gb_approvals_now(const struct gb_approvals *approvals);

/* @work within a transaction of its own, after those whose time is up have expired. Commits and rings if
 * it returns true; else nothing has happened. */
typedef bool (*gb_approvals_work)(struct gb_approvals *approvals, void *data, struct gb_err *err);
bool gb_approvals_turn(
    struct gb_approvals *approvals, gb_approvals_work work, void *data, struct gb_err *err);

/* (approval_request.c) */
bool gb_approval_check(
    const struct gb_approvals *approvals, const struct gb_approval_request *request, struct gb_err *err);
bool gb_approval_check_text(const char *name, struct gb_str text, size_t max, struct gb_err *err);

/* (approval_row.c) The row that @stmt stands on. */
bool gb_approval_read(struct gb_approvals *approvals, sqlite3_stmt *stmt, struct gb_approval **ret_approval,
    struct gb_err *err);
/* Step @stmt, which selects at most one row; *ret_approval is NULL if there is none. */
bool gb_approval_read_one(struct gb_approvals *approvals, sqlite3_stmt *stmt,
    struct gb_approval **ret_approval, struct gb_err *err);
void gb_bind_text(sqlite3_stmt *stmt, int at, struct gb_str text);

/* (approval_wait.c) Wake those who wait. */
void gb_approvals_ring(const struct gb_approvals *approvals);

/* (trust.c) Within a turn. */
bool gb_trust_add(struct gb_approvals *approvals, const struct gb_approval *approval, struct gb_str decider,
    struct gb_err *err);

#endif
