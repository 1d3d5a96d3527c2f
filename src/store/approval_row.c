/* Rows of the table: reading and finding them. */
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "store/approval_parts.h"
#include "value/wtf8.h"

enum { TEXTS_MAX = 64 << 20, PREFIX_MIN = 4 };
enum { SEQ, ID, HASH, STATE, TRUSTS, CREATED, EXPIRES, DECIDED, USED, CHANGED, DECIDER, REASON, FIRST_FIELD };

void gb_approval_destroy(struct gb_approval *approval) {
	if (!approval)
		return;
	gb_arena_finish(&approval->texts);
	free(approval);
}

void gb_approval_free(struct gb_approval **approval) {
	gb_approval_destroy(*approval);
	*approval = NULL;
}

void gb_bind_text(sqlite3_stmt *stmt, int at, struct gb_str text) {
	sqlite3_bind_blob64(stmt, at, text.p ? text.p : "", text.n, SQLITE_STATIC);
}

/* --- one row --- */

static bool copy_text(struct gb_approval *approval, sqlite3_stmt *stmt, int column, struct gb_str *ret) {
	struct gb_str text = {sqlite3_column_blob(stmt, column), (size_t)sqlite3_column_bytes(stmt, column)};
	const char *copy = gb_arena_copy(&approval->texts, text.p ? text : GB_STR(""));
	if (!copy)
		return false;
	*ret = (struct gb_str){copy, text.n};
	return true;
}

static bool copy_texts(struct gb_approval *approval, sqlite3_stmt *stmt) {
	if (!copy_text(approval, stmt, DECIDER, &approval->decider) ||
	    !copy_text(approval, stmt, REASON, &approval->reason))
		return false;
	for (size_t i = 0; i < gb_approval_n_fields; i++)
		if (!copy_text(approval, stmt, FIRST_FIELD + (int)i,
			gb_approval_text(&approval->request, &gb_approval_fields[i])))
			return false;
	return true;
}

/* The row says "pending" until an expiry is written, so check the time here. */
static enum gb_approval_state read_state(
    struct gb_approvals *approvals, const struct gb_approval *approval, sqlite3_stmt *stmt) {
	sqlite3_int64 state = sqlite3_column_int64(stmt, STATE);
	if (state < GB_APPROVAL_PENDING || state > GB_APPROVAL_WITHDRAWN)
		return GB_APPROVAL_DENIED;
	int64_t now = gb_approvals_now(approvals);
	if (state == GB_APPROVAL_PENDING &&
	    (approval->expires_ms <= now || approval->created_ms > now + 60000))
		return GB_APPROVAL_EXPIRED;
	return (enum gb_approval_state)state;
}

static bool is_text(struct gb_str text) {
	return gb_wtf8_scan(text.p, text.n) != GB_WTF8_INVALID;
}

/* The bound fields must match the hash; the others must at least be valid text. */
static bool is_intact(struct gb_approval *approval, sqlite3_stmt *stmt) {
	struct gb_hash hash;
	for (size_t i = 0; i < gb_approval_n_fields; i++)
		if (!is_text(*gb_approval_text(&approval->request, &gb_approval_fields[i])))
			return false;
	if (!is_text(approval->decider) || !is_text(approval->reason))
		return false;
	gb_approval_hash(&approval->request, &hash);
	return sqlite3_column_bytes(stmt, HASH) == sizeof hash.bytes &&
	       memcmp(sqlite3_column_blob(stmt, HASH), hash.bytes, sizeof hash.bytes) == 0;
}

bool gb_approval_read(struct gb_approvals *approvals, sqlite3_stmt *stmt, struct gb_approval **ret_approval,
    struct gb_err *err) {
	gb_auto_approval struct gb_approval *approval = calloc(1, sizeof *approval);
	if (!approval)
		return gb_fail(err, GB_ENOMEM, 0, "read an approval");
	gb_arena_init(&approval->texts, TEXTS_MAX);
	const unsigned char *id = sqlite3_column_text(stmt, ID);
	snprintf(approval->id, sizeof approval->id, "%s", id ? (const char *)id : "");
	if (!copy_texts(approval, stmt))
		return gb_fail(err, GB_ENOMEM, 0, "read approval %s", approval->id);
	approval->seq = (uint64_t)sqlite3_column_int64(stmt, SEQ);
	approval->trusts = sqlite3_column_int(stmt, TRUSTS) != 0;
	approval->created_ms = sqlite3_column_int64(stmt, CREATED);
	approval->expires_ms = sqlite3_column_int64(stmt, EXPIRES);
	approval->decided_ms = sqlite3_column_int64(stmt, DECIDED);
	approval->used_ms = sqlite3_column_int64(stmt, USED);
	approval->state = read_state(approvals, approval, stmt);
	if (!is_intact(approval, stmt))
		return gb_fail(err, GB_EFORMAT, 0,
		    "approval %s does not match its hash: '%s' was modified; move it away", approval->id,
		    gb_db_path(approvals->db));
	gb_approval_hash(&approval->request, &approval->hash);
	*ret_approval = gb_take_pointer(&approval);
	return true;
}

bool gb_approval_read_one(struct gb_approvals *approvals, sqlite3_stmt *stmt,
    struct gb_approval **ret_approval, struct gb_err *err) {
	bool row;
	struct gb_approval *approval = NULL;
	if (!gb_db_step(approvals->db, stmt, &row, err) ||
	    (row && !gb_approval_read(approvals, stmt, &approval, err)))
		return false;
	*ret_approval = approval;
	return true;
}

/* --- finding --- */

bool gb_approval_get(
    struct gb_approvals *approvals, const char *id, struct gb_approval **ret_approval, struct gb_err *err) {
	gb_auto_stmt sqlite3_stmt *stmt = NULL;
	struct gb_approval *approval;
	if (!gb_db_prepare(
		approvals->db, "SELECT " GB_APPROVAL_COLUMNS " FROM approval WHERE id = ?", &stmt, err))
		return false;
	sqlite3_bind_text(stmt, 1, id, -1, SQLITE_STATIC);
	if (!gb_approval_read_one(approvals, stmt, &approval, err))
		return false;
	if (!approval)
		return gb_fail(err, GB_ENOENT, 0,
		    "there is no approval '%.40s'; see 'glovebox approvals list --all'", id);
	*ret_approval = approval;
	return true;
}

bool gb_approval_find(struct gb_approvals *approvals, const struct gb_approval_request *request,
    struct gb_approval **ret_approval, struct gb_err *err) {
	gb_auto_stmt sqlite3_stmt *stmt = NULL;
	struct gb_approval *approval = NULL;
	struct gb_hash hash;
	gb_approval_hash(request, &hash);
	if (!gb_db_prepare(approvals->db,
		"SELECT " GB_APPROVAL_COLUMNS
		" FROM approval WHERE hash = ? AND token = ? ORDER BY seq DESC LIMIT 1",
		&stmt, err))
		return false;
	sqlite3_bind_blob(stmt, 1, hash.bytes, sizeof hash.bytes, SQLITE_STATIC);
	gb_bind_text(stmt, 2, request->token);
	if (request->token.n && !gb_approval_read_one(approvals, stmt, &approval, err))
		return false;
	if (!approval)
		return gb_fail(err, GB_ENOENT, 0, "no such request was submitted with this token");
	*ret_approval = approval;
	return true;
}

static bool is_hex(const char *text) {
	return text[strspn(text, "0123456789abcdef")] == '\0';
}

bool gb_approval_resolve(
    struct gb_approvals *approvals, const char *prefix, char ret_id[GB_APPROVAL_ID], struct gb_err *err) {
	gb_auto_stmt sqlite3_stmt *stmt = NULL;
	size_t n = strlen(prefix);
	if (n < PREFIX_MIN || n >= GB_APPROVAL_ID || !is_hex(prefix))
		return gb_fail(err, GB_EINVAL, 0,
		    "'%.40s' is not an approval id: give %d to %d of its digits (0-9, a-f), as shown by "
		    "'glovebox "
		    "approvals list'",
		    prefix, PREFIX_MIN, GB_APPROVAL_ID - 1);
	if (!gb_db_prepare(approvals->db,
		"SELECT id FROM approval WHERE id >= ?1 AND id < ?1 || 'g' ORDER BY id LIMIT 2", &stmt, err))
		return false;
	sqlite3_bind_text(stmt, 1, prefix, -1, SQLITE_STATIC);
	char id[GB_APPROVAL_ID] = "";
	bool row;
	if (!gb_db_step(approvals->db, stmt, &row, err))
		return false;
	if (!row)
		return gb_fail(err, GB_ENOENT, 0,
		    "there is no approval '%s'; see 'glovebox approvals list --all'", prefix);
	snprintf(id, sizeof id, "%s", (const char *)sqlite3_column_text(stmt, 0));
	if (!gb_db_step(approvals->db, stmt, &row, err))
		return false;
	if (row)
		return gb_fail(err, GB_EINVAL, 0, "several ids begin with '%s'; give more digits", prefix);
	memcpy(ret_id, id, sizeof id);
	return true;
}

/* --- lists --- */

static bool matches(struct gb_str text, const char *expected) {
	return !expected || gb_str_eq(text, gb_str_from(expected));
}

static bool passes(const struct gb_approval_filter *filter, const struct gb_approval *approval) {
	return (!filter->pending_only || approval->state == GB_APPROVAL_PENDING) &&
	       matches(approval->request.session, filter->session) &&
	       matches(approval->request.conversation, filter->conversation) &&
	       matches(approval->request.runtime, filter->runtime);
}

/* Read the next row after @seq. The statement is finished before the visitor is called, so that the visitor
 * may write. */
static bool read_next(struct gb_approvals *approvals, const struct gb_approval_filter *filter, uint64_t seq,
    struct gb_approval **ret_approval, struct gb_err *err) {
	gb_auto_stmt sqlite3_stmt *stmt = NULL;
	char sql[400];
	snprintf(sql, sizeof sql,
	    "SELECT " GB_APPROVAL_COLUMNS " FROM approval WHERE seq %s ? %sORDER BY seq %s LIMIT 1",
	    filter->newest_first ? "<" : ">", filter->pending_only ? "AND state = 0 " : "",
	    filter->newest_first ? "DESC" : "");
	if (!gb_db_prepare(approvals->db, sql, &stmt, err))
		return false;
	sqlite3_bind_int64(stmt, 1, (sqlite3_int64)seq);
	return gb_approval_read_one(approvals, stmt, ret_approval, err);
}

bool gb_approvals_each(struct gb_approvals *approvals, const struct gb_approval_filter *filter,
    gb_approval_visit visit, void *data, struct gb_err *err) {
	uint64_t seq = filter->newest_first ? INT64_MAX : 0, visited = 0;
	while (!filter->limit || visited < filter->limit) {
		gb_auto_approval struct gb_approval *approval = NULL;
		if (!read_next(approvals, filter, seq, &approval, err))
			return false;
		if (!approval)
			return true;
		seq = approval->seq;
		if (!passes(filter, approval))
			continue;
		visited++;
		if (!visit(data, approval))
			return true;
	}
	return true;
}
