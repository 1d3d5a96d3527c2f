/*
 * Retention: deletes the oldest records, and signs a start mark with the last deleted record and its hash.
 *
 * Only whole spans between checkpoints are deleted, and only after they were verified against the signed
 * checkpoint: a record whose time was changed must not cause itself, and others, to be pruned.
 */
#include <stdio.h>

#include "store/log.h"

enum {
	/* Records per transaction, so that neither it nor the WAL grows with the log: of gb_audit_prune, and of
	 * gb_audit_prune_some, where other work waits for its end. */
	STEP = 10000,
	SHORT_STEP = 1024,
	SHORT_VACUUM_PAGES = 1024, /* returned to the file system in one short step */
	ROW_BYTES = 64,            /* overhead of a record */
};

struct plan {
	struct gb_mark start; /* the newest record to delete */
	uint64_t count;
	/* Position of the walk, which may be beyond .start. */
	uint64_t seq, walked;
	struct gb_hash hash;
};

static bool read_pragma(struct gb_db *db, const char *sql, uint64_t *ret, struct gb_err *err) {
	gb_auto_stmt sqlite3_stmt *stmt = NULL;
	bool row;
	if (!gb_db_prepare(db, sql, &stmt, err) || !gb_db_step(db, stmt, &row, err))
		return false;
	*ret = row ? (uint64_t)sqlite3_column_int64(stmt, 0) : 0;
	return true;
}

/* The number of bytes of the file that are in use. */
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

/* Find the start of the log: its signed start mark, or the genesis. */
static bool find_beginning(struct gb_audit *audit, struct plan *plan, struct gb_err *err) {
	struct gb_mark start = {0};
	bool is_present;
	gb_chain_genesis(&audit->chain, &start.hash);
	if (!gb_log_read_mark(audit->db, "audit_start", &start, &is_present, err))
		return false;
	if (is_present && !gb_mark_check(&start, GB_MARK_START, &audit->chain))
		return gb_fail(
		    err, GB_EFORMAT, 0, "the start mark of an earlier pruning is not signed by the key");
	plan->seq = start.seq;
	plan->hash = start.hash;
	return true;
}

/* Verify one record. At a valid checkpoint, all records up to it may be deleted. */
static bool walk(struct gb_audit *audit, sqlite3_stmt *row, struct plan *plan, struct gb_err *err) {
	struct gb_hash hash;
	struct gb_mark mark;
	const void *body = sqlite3_column_blob(row, 1);
	gb_chain_link(
	    &plan->hash, plan->seq + 1, body ? body : "", (size_t)sqlite3_column_bytes(row, 1), &hash);
	plan->hash = hash;
	plan->walked++;
	if ((uint64_t)sqlite3_column_int64(row, 0) != ++plan->seq)
		return gb_fail(err, GB_EFORMAT, 0, "record %llu is missing", (unsigned long long)plan->seq);
	if (sqlite3_column_type(row, 2) == SQLITE_NULL)
		return true;
	mark.seq = plan->seq;
	mark.time_ms = sqlite3_column_int64(row, 3);
	if (!gb_log_blob(row, 2, mark.hash.bytes, sizeof mark.hash.bytes) ||
	    !gb_log_blob(row, 4, mark.signature, sizeof mark.signature) || !gb_hash_eq(&mark.hash, &hash) ||
	    !gb_mark_check(&mark, GB_MARK_CHECKPOINT, &audit->chain))
		return gb_fail(err, GB_EFORMAT, 0,
		    "the records up to %llu do not match their signed checkpoint",
		    (unsigned long long)plan->seq);
	plan->start = mark;
	plan->count = plan->walked;
	return true;
}

/* From the oldest record on, while it is too old or the file too large. The newest record stays: the head
 * refers to it. */
static bool make_plan(
    struct gb_audit *audit, uint64_t head_seq, uint64_t max, struct plan *plan, struct gb_err *err) {
	gb_auto_stmt sqlite3_stmt *stmt = NULL;
	uint64_t size = 0, keep = audit->options.keep_bytes;
	int64_t before =
	    audit->options.keep_ms ? gb_audit_now(audit) - (int64_t)audit->options.keep_ms : INT64_MIN;
	if ((keep && !read_size(audit->db, &size, err)) || !find_beginning(audit, plan, err) ||
	    !gb_db_prepare(audit->db,
		"SELECT r.seq, r.body, c.hash, c.time, c.signature FROM audit_record r"
		" LEFT JOIN audit_checkpoint c ON c.seq = r.seq ORDER BY r.seq",
		&stmt, err))
		return false;
	for (bool row; plan->count < max;) {
		if (!gb_db_step(audit->db, stmt, &row, err))
			return false;
		uint64_t n = (uint64_t)sqlite3_column_bytes(stmt, 1) + ROW_BYTES;
		bool too_large = keep && size > keep;
		if (!row || plan->seq + 1 >= head_seq || !(too_large || is_old(stmt, before)))
			return true;
		if (!walk(audit, stmt, plan, err))
			return false;
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

/* Append a record about the pruning. */
static bool record_pruning(
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

static bool prune_in_transaction(
    struct gb_audit *audit, uint64_t max, struct gb_mark *head, struct plan *plan, struct gb_err *err) {
	if (!gb_log_trusted_head(audit, head, err) || !make_plan(audit, head->seq, max, plan, err))
		return false;
	if (plan->count == 0)
		return true;
	return write_start(audit, &plan->start, err) &&
	       delete_up_to(audit, "DELETE FROM audit_record WHERE seq <= ?", plan->start.seq, err) &&
	       delete_up_to(audit, "DELETE FROM audit_checkpoint WHERE seq <= ?", plan->start.seq, err) &&
	       record_pruning(audit, head, plan, err);
}

static bool prune_step(struct gb_audit *audit, uint64_t max, uint64_t *ret_count, struct gb_err *err) {
	struct plan plan = {0};
	struct gb_mark head;
	if (!gb_db_begin(audit->db, err))
		return false;
	bool ok = prune_in_transaction(audit, max, &head, &plan, err);
	*ret_count = plan.count;
	if (!ok || plan.count == 0) {
		gb_db_rollback(audit->db);
		return ok;
	}
	if (!gb_db_commit(audit->db, err))
		return false;
	gb_log_set_head(audit, &head);
	return true;
}

bool gb_audit_prune(struct gb_audit *audit, uint64_t *ret_pruned, struct gb_err *err) {
	uint64_t total = 0, count;
	audit->since_prune = 0;
	audit->was_pruned = true;
	if (audit->options.keep_ms || audit->options.keep_bytes)
		do {
			if (!prune_step(audit, STEP, &count, err))
				return gb_wrap(err, "prune the audit log");
			total += count;
		} while (count >= STEP);
	/* Return the free pages to the file system; a failure is harmless, since they can be reused. */
	if (total)
		gb_db_exec(audit->db, "PRAGMA incremental_vacuum", NULL);
	*ret_pruned = total;
	return true;
}

static bool vacuum_some(struct gb_audit *audit, bool *ret_more, struct gb_err *err) {
	char sql[60];
	uint64_t unused;
	if (!read_pragma(audit->db, "PRAGMA freelist_count", &unused, err))
		return false;
	*ret_more = unused > SHORT_VACUUM_PAGES;
	snprintf(sql, sizeof sql, "PRAGMA incremental_vacuum(%d)", SHORT_VACUUM_PAGES);
	return unused == 0 || gb_db_exec(audit->db, sql, err);
}

bool gb_audit_prune_some(struct gb_audit *audit, bool *ret_more, struct gb_err *err) {
	uint64_t count = 0;
	if (audit->options.keep_ms || audit->options.keep_bytes) {
		if (!prune_step(audit, SHORT_STEP, &count, err))
			return gb_wrap(err, "prune the audit log");
	}
	*ret_more = count > 0;
	/* Free pages can be reused: return them to the file system when nothing more is deleted. */
	if (count == 0 && !vacuum_some(audit, ret_more, err))
		return gb_wrap(err, "prune the audit log");
	if (!*ret_more) {
		audit->since_prune = 0;
		audit->was_pruned = true;
	}
	return true;
}

void gb_audit_set_busy(struct gb_audit *audit, unsigned busy_ms) {
	audit->options.busy_ms = busy_ms;
	gb_db_set_busy(audit->db, busy_ms);
}

void gb_audit_keep(struct gb_audit *audit, uint64_t keep_ms, uint64_t keep_bytes) {
	audit->options.keep_ms = keep_ms;
	audit->options.keep_bytes = keep_bytes;
}
