/* Retention: the oldest records go, and a signed start says which and what the rest begins from. */
#include <stdio.h>

#include "store/log.h"

enum { STEP = 10000 }; /* records a transaction, so that neither it nor the WAL grows with the log */

struct plan {
	struct gb_mark start; /* the newest record that goes */
	uint64_t count;
};

static bool read_pragma(struct gb_db *db, const char *sql, uint64_t *ret, struct gb_err *err) {
	gb_auto_stmt sqlite3_stmt *stmt = NULL;
	bool row;
	if (!gb_db_prepare(db, sql, &stmt, err) || !gb_db_step(db, stmt, &row, err))
		return false;
	*ret = row ? (uint64_t)sqlite3_column_int64(stmt, 0) : 0;
	return true;
}

/* How many bytes of the file hold something. */
static bool read_size(struct gb_db *db, uint64_t *ret, struct gb_err *err) {
	uint64_t pages, unused, size;
	if (!read_pragma(db, "PRAGMA page_count", &pages, err) ||
	    !read_pragma(db, "PRAGMA freelist_count", &unused, err) ||
	    !read_pragma(db, "PRAGMA page_size", &size, err))
		return false;
	*ret = (pages - unused) * size;
	return true;
}

static bool is_old(sqlite3_stmt *row, int64_t before) {
	struct gb_audit_record record;
	const void *body = sqlite3_column_blob(row, 1);
	return body && gb_audit_decode(body, (size_t)sqlite3_column_bytes(row, 1), &record) &&
	       record.time_ms < before;
}

/* From the oldest on, while it is too old or the file too large. The newest stays: the head speaks of it. */
static bool make_plan(struct gb_audit *audit, uint64_t head_seq, struct plan *plan, struct gb_err *err) {
	gb_auto_stmt sqlite3_stmt *stmt = NULL;
	uint64_t size = 0, keep = audit->options.keep_bytes;
	int64_t before =
	    audit->options.keep_ms ? gb_audit_now(audit) - (int64_t)audit->options.keep_ms : INT64_MIN;
	if ((keep && !read_size(audit->db, &size, err)) ||
	    !gb_db_prepare(audit->db, "SELECT seq, body, hash FROM audit_record ORDER BY seq", &stmt, err))
		return false;
	for (bool row; plan->count < STEP; plan->count++) {
		if (!gb_db_step(audit->db, stmt, &row, err))
			return false;
		uint64_t seq = (uint64_t)sqlite3_column_int64(stmt, 0),
			 n = (uint64_t)sqlite3_column_bytes(stmt, 1) + 64;
		bool too_large = keep && size > keep;
		if (!row || seq >= head_seq || !(too_large || is_old(stmt, before)))
			break;
		if (!gb_log_blob(stmt, 2, plan->start.hash.bytes, sizeof plan->start.hash.bytes))
			return gb_fail(
			    err, GB_EFORMAT, 0, "record %llu has no hash", (unsigned long long)seq);
		plan->start.seq = seq;
		size -= n < size ? n : size;
	}
	return true;
}

static bool delete_up_to(struct gb_audit *audit, const char *sql, uint64_t seq, struct gb_err *err) {
	gb_auto_stmt sqlite3_stmt *stmt = NULL;
	if (!gb_db_prepare(audit->db, sql, &stmt, err))
		return false;
	sqlite3_bind_int64(stmt, 1, (sqlite3_int64)seq);
	return gb_db_run(audit->db, stmt, err);
}

static bool write_start(struct gb_audit *audit, struct gb_mark *start, struct gb_err *err) {
	gb_auto_stmt sqlite3_stmt *stmt = NULL;
	start->time_ms = gb_audit_now(audit);
	gb_mark_sign(start, GB_MARK_START, &audit->chain, &audit->key);
	if (!gb_db_prepare(audit->db,
		"INSERT OR REPLACE INTO audit_start(one, seq, hash, time, signature) VALUES (1, ?, ?, ?, ?)",
		&stmt, err))
		return false;
	gb_mark_to_row(stmt, start);
	return gb_db_run(audit->db, stmt, err);
}

/* The chain itself says that it was done. */
static bool record_it(
    struct gb_audit *audit, struct gb_mark *head, const struct plan *plan, struct gb_err *err) {
	char note[120];
	int n = snprintf(note, sizeof note, "%llu records pruned, up to record %llu",
	    (unsigned long long)plan->count, (unsigned long long)plan->start.seq);
	struct gb_audit_record record = {
	    .kind = GB_STR("prune"), .time_ms = gb_audit_now(audit), .note = {note, (size_t)n}};
	gb_auto_buf struct gb_buf body;
	gb_buf_init(&body, GB_AUDIT_BODY_MAX);
	gb_audit_encode(&body, &record);
	if (gb_buf_failed(&body))
		return gb_fail(err, GB_ENOMEM, 0, "prune the audit log");
	head->time_ms = record.time_ms;
	return gb_log_insert(audit, head, body.data, body.len, err) && gb_log_write_head(audit, head, err);
}

static bool prune_in_turn(
    struct gb_audit *audit, struct gb_mark *head, struct plan *plan, struct gb_err *err) {
	if (!gb_log_trusted_head(audit, head, err) || !make_plan(audit, head->seq, plan, err))
		return false;
	if (plan->count == 0)
		return true;
	return write_start(audit, &plan->start, err) &&
	       delete_up_to(audit, "DELETE FROM audit_record WHERE seq <= ?", plan->start.seq, err) &&
	       delete_up_to(audit, "DELETE FROM audit_checkpoint WHERE seq <= ?", plan->start.seq, err) &&
	       record_it(audit, head, plan, err);
}

static bool prune_step(struct gb_audit *audit, uint64_t *ret_count, struct gb_err *err) {
	struct plan plan = {0};
	struct gb_mark head;
	if (!gb_db_begin(audit->db, err))
		return false;
	bool ok = prune_in_turn(audit, &head, &plan, err);
	*ret_count = plan.count;
	if (!ok || plan.count == 0) {
		gb_db_rollback(audit->db);
		return ok;
	}
	if (!gb_db_commit(audit->db, err))
		return false;
	gb_log_moved(audit, &head);
	return true;
}

bool gb_audit_prune(struct gb_audit *audit, uint64_t *ret_pruned, struct gb_err *err) {
	uint64_t total = 0, count;
	audit->since_prune = 0;
	if (audit->options.keep_ms || audit->options.keep_bytes)
		do {
			if (!prune_step(audit, &count, err))
				return gb_wrap(err, "prune the audit log");
			total += count;
		} while (count == STEP);
	/* Give the pages back to the file system. That they are free already is what counts. */
	if (total)
		gb_db_exec(audit->db, "PRAGMA incremental_vacuum", NULL);
	*ret_pruned = total;
	return true;
}
