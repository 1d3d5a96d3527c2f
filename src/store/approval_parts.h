/* Internal header of the approvals: the struct, transactions, rows. */
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
	int inotify, watch;                   /* -1 until gb_approvals_fd is called */
	sqlite3_int64 seen_changed, seen_seq; /* the last change that gb_approvals_poll visited */
};

/* The columns of a row, in the order in which gb_approval_read expects them. */
#define GB_APPROVAL_COLUMNS                                                                                  \
	"seq, id, hash, state, trusts, created, expires, decided, used, changed, decider, reason, "          \
	"token, face, purpose, runtime, session, conversation, policy, code, inputs, permissions, limits"

int64_t gb_approvals_now(const struct gb_approvals *approvals);

/* Expire overdue approvals and run @work, in one transaction. Commits and notifies if @work returns true;
 * otherwise rolls back. */
typedef bool (*gb_approvals_work)(struct gb_approvals *approvals, void *data, struct gb_err *err);
bool gb_approvals_transaction(
    struct gb_approvals *approvals, gb_approvals_work work, void *data, struct gb_err *err);

/* (approval_request.c) */
bool gb_approval_check(
    const struct gb_approvals *approvals, const struct gb_approval_request *request, struct gb_err *err);
bool gb_approval_check_text(const char *name, struct gb_str text, size_t max, struct gb_err *err);

/* (approval_row.c) Read the current row of @stmt. */
bool gb_approval_read(struct gb_approvals *approvals, sqlite3_stmt *stmt, struct gb_approval **ret_approval,
    struct gb_err *err);
/* Step @stmt, which selects at most one row; *ret_approval is NULL if there is none. */
bool gb_approval_read_one(struct gb_approvals *approvals, sqlite3_stmt *stmt,
    struct gb_approval **ret_approval, struct gb_err *err);
void gb_bind_text(sqlite3_stmt *stmt, int at, struct gb_str text);

/* (approval_wait.c) Wake processes that wait on gb_approvals_fd. */
void gb_approvals_notify(const struct gb_approvals *approvals);

/* (trust.c) Call within a transaction. */
bool gb_trust_add(struct gb_approvals *approvals, const struct gb_approval *approval, struct gb_str decider,
    struct gb_err *err);

#endif
