/* Trusted sessions. */
#include <stdio.h>

#include "store/approval_parts.h"

static bool delete_excess(struct gb_approvals *approvals, struct gb_err *err) {
	gb_auto_stmt sqlite3_stmt *stmt = NULL;
	if (!gb_db_prepare(approvals->db,
		"DELETE FROM trust WHERE given <= ? OR seq NOT IN (SELECT seq FROM trust ORDER BY seq DESC "
		"LIMIT ?)",
		&stmt, err))
		return false;
	sqlite3_bind_int64(stmt, 1, gb_approvals_now(approvals) - (int64_t)approvals->options.trust_ms);
	sqlite3_bind_int64(stmt, 2, GB_TRUSTS_MAX);
	return gb_db_run(approvals->db, stmt, err);
}

/* Bind ?1 to ?5: the fields that must be equal. */
static void bind_scope(sqlite3_stmt *stmt, const struct gb_approval_request *request) {
	gb_bind_text(stmt, 1, request->conversation);
	gb_bind_text(stmt, 2, request->runtime);
	gb_bind_text(stmt, 3, request->session);
	gb_bind_text(stmt, 4, request->permissions);
	gb_bind_text(stmt, 5, request->policy);
}

bool gb_trust_add(struct gb_approvals *approvals, const struct gb_approval *approval, struct gb_str decider,
    struct gb_err *err) {
	gb_auto_stmt sqlite3_stmt *stmt = NULL;
	if (!gb_db_prepare(approvals->db,
		"INSERT OR REPLACE INTO trust(conversation, runtime, session, permissions, policy, given, "
		"decider, "
		"approval) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
		&stmt, err))
		return false;
	bind_scope(stmt, &approval->request);
	sqlite3_bind_int64(stmt, 6, gb_approvals_now(approvals));
	gb_bind_text(stmt, 7, decider);
	sqlite3_bind_text(stmt, 8, approval->id, -1, SQLITE_STATIC);
	return gb_db_run(approvals->db, stmt, err) && delete_excess(approvals, err);
}

/* Trust from the future counts as expired: the clock was set back, so its age is unknown. */
static bool is_expired(const struct gb_approvals *approvals, int64_t given_ms) {
	int64_t age = gb_approvals_now(approvals) - given_ms;
	return age < -60000 || age >= (int64_t)approvals->options.trust_ms;
}

bool gb_trust_find(struct gb_approvals *approvals, const struct gb_approval_request *request,
    bool *ret_is_trusted, struct gb_trust *ret_trust, struct gb_err *err) {
	gb_auto_stmt sqlite3_stmt *stmt = NULL;
	struct gb_trust trust = {0};
	bool row;
	if (!gb_db_prepare(approvals->db,
		"SELECT given, CAST(decider AS TEXT), approval FROM trust WHERE conversation = ? AND runtime "
		"= ? "
		"AND session = ? AND permissions = ? AND policy = ?",
		&stmt, err))
		return false;
	bind_scope(stmt, request);
	if (!gb_db_step(approvals->db, stmt, &row, err))
		return gb_wrap(err, "look up trust");
	trust.given_ms = row ? sqlite3_column_int64(stmt, 0) : 0;
	*ret_is_trusted = row && request->conversation.n > 0 && !is_expired(approvals, trust.given_ms);
	if (!*ret_is_trusted)
		return true;
	snprintf(trust.decider, sizeof trust.decider, "%s", (const char *)sqlite3_column_text(stmt, 1));
	snprintf(
	    trust.approval_id, sizeof trust.approval_id, "%s", (const char *)sqlite3_column_text(stmt, 2));
	*ret_trust = trust;
	return true;
}

/* --- revoking --- */

struct revocation {
	const char *sql;
	struct gb_str value;
	uint64_t revoked;
};

static bool revoke_in_transaction(struct gb_approvals *approvals, void *data, struct gb_err *err) {
	struct revocation *revocation = data;
	gb_auto_stmt sqlite3_stmt *stmt = NULL;
	if (!gb_db_prepare(approvals->db, revocation->sql, &stmt, err))
		return false;
	gb_bind_text(stmt, 1, revocation->value);
	if (!gb_db_run(approvals->db, stmt, err))
		return false;
	revocation->revoked = (uint64_t)sqlite3_changes(gb_db_handle(approvals->db));
	return true;
}

static bool revoke(struct gb_approvals *approvals, const char *sql, struct gb_str value,
    uint64_t *ret_revoked, struct gb_err *err) {
	struct revocation revocation = {.sql = sql, .value = value};
	if (!gb_approvals_transaction(approvals, revoke_in_transaction, &revocation, err))
		return gb_wrap(err, "revoke trust");
	*ret_revoked = revocation.revoked;
	return true;
}

bool gb_trust_revoke(struct gb_approvals *approvals, const char *session, const char *conversation,
    uint64_t *ret_revoked, struct gb_err *err) {
	if (!session == !conversation)
		return gb_fail(err, GB_EINVAL, 0, "revoke trust: give either a session or a conversation");
	return revoke(approvals,
	    session ? "DELETE FROM trust WHERE session = ?" : "DELETE FROM trust WHERE conversation = ?",
	    gb_str_from(session ? session : conversation), ret_revoked, err);
}

bool gb_trust_revoke_policy(
    struct gb_approvals *approvals, struct gb_str policy, uint64_t *ret_revoked, struct gb_err *err) {
	return revoke(approvals, "DELETE FROM trust WHERE policy != ?", policy, ret_revoked, err);
}
