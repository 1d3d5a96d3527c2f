#include "store/audit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "store/log.h"

enum {
	TICKET_SPARE = 16 << 10, /* how much a record can grow during its run: output, status, measures */
	RESERVE_STEP = 1 << 20,
	RESERVE_SPARE = 256 << 10,      /* for pages of a transaction other than those of the records */
	PRUNE_EVERY = 1024,             /* records */
	CHECK_FILE_EVERY_NS = 10000000, /* interval of checks that the file is in place */
};

int64_t gb_audit_now(const struct gb_audit *audit) {
	if (audit->options.now_ms)
		return audit->options.now_ms();
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

size_t gb_audit_pending(const struct gb_audit *audit) {
	return audit->n_entries;
}

void gb_audit_head(const struct gb_audit *audit, uint64_t *ret_seq, struct gb_hash *ret_hash) {
	*ret_seq = audit->head.seq;
	*ret_hash = audit->head.hash;
}

/* --- the head: records are appended to it, so its signature is checked --- */

static bool fail_rolled_back(const struct gb_audit *audit, struct gb_err *err) {
	return gb_fail(err, GB_EFORMAT, 0,
	    "'%s' no longer holds record %llu, which was in it: it was rolled back or changed while in use",
	    audit->path, (unsigned long long)audit->head.seq);
}

/* Another process has moved the head: check that the head known to this process is still in the chain. */
static bool check_known(struct gb_audit *audit, const struct gb_mark *head, struct gb_err *err) {
	struct gb_hash hash;
	struct gb_mark start;
	bool is_present;
	if (!audit->has_head || audit->head.seq == 0)
		return true;
	if (head->seq <= audit->head.seq)
		return fail_rolled_back(audit, err);
	if (!gb_log_read_hash(audit->db, audit->head.seq, &hash, &is_present, err))
		return false;
	if (is_present)
		return gb_hash_eq(&hash, &audit->head.hash) || fail_rolled_back(audit, err);
	if (!gb_log_read_mark(audit->db, "audit_start", &start, &is_present, err))
		return false;
	bool was_pruned =
	    is_present && start.seq >= audit->head.seq && gb_mark_check(&start, GB_MARK_START, &audit->chain);
	return was_pruned || fail_rolled_back(audit, err);
}

static bool check_newest(struct gb_audit *audit, const struct gb_mark *head, struct gb_err *err) {
	struct gb_hash hash;
	bool is_present = true;
	if (head->seq == 0)
		gb_chain_genesis(&audit->chain, &hash);
	else if (!gb_log_read_hash(audit->db, head->seq, &hash, &is_present, err))
		return false;
	if (is_present && gb_hash_eq(&hash, &head->hash))
		return true;
	return gb_fail(err, GB_EFORMAT, 0,
	    "record %llu of '%s' is missing or changed: it does not match the signed head",
	    (unsigned long long)head->seq, audit->path);
}

bool gb_log_trusted_head(struct gb_audit *audit, struct gb_mark *ret_head, struct gb_err *err) {
	struct gb_mark head = {0};
	bool is_present;
	if (!gb_db_step(audit->db, audit->get_head, &is_present, err))
		return false;
	bool is_mark = is_present && gb_mark_from_row(audit->get_head, &head);
	sqlite3_reset(audit->get_head);
	bool is_known = is_mark && audit->has_head && head.seq == audit->head.seq &&
			gb_hash_eq(&head.hash, &audit->head.hash);
	if (!is_known) {
		if (!is_mark || !gb_mark_check(&head, GB_MARK_HEAD, &audit->chain))
			return gb_fail(
			    err, GB_EFORMAT, 0, "the head of '%s' is not signed by the key", audit->path);
		if (!check_known(audit, &head, err) || !check_newest(audit, &head, err))
			return false;
	}
	*ret_head = head;
	return true;
}

bool gb_log_write_head(struct gb_audit *audit, struct gb_mark *head, struct gb_err *err) {
	gb_mark_sign(head, GB_MARK_HEAD, &audit->chain, &audit->key);
	gb_mark_to_row(audit->set_head, head);
	return gb_db_run(audit->db, audit->set_head, err);
}

bool gb_log_write_checkpoint(struct gb_audit *audit, const struct gb_mark *at, struct gb_err *err) {
	struct gb_mark mark = *at;
	gb_mark_sign(&mark, GB_MARK_CHECKPOINT, &audit->chain, &audit->key);
	gb_mark_to_row(audit->insert_checkpoint, &mark);
	return gb_db_run(audit->db, audit->insert_checkpoint, err);
}

bool gb_log_insert(
    struct gb_audit *audit, struct gb_mark *head, const void *body, size_t n, struct gb_err *err) {
	struct gb_hash hash;
	gb_chain_link(&head->hash, head->seq + 1, body, n, &hash);
	head->seq++;
	head->hash = hash;
	sqlite3_bind_int64(audit->insert_record, 1, (sqlite3_int64)head->seq);
	sqlite3_bind_blob(audit->insert_record, 2, body, (int)n, SQLITE_STATIC);
	sqlite3_bind_blob(audit->insert_record, 3, hash.bytes, sizeof hash.bytes, SQLITE_STATIC);
	bool ok = gb_db_run(audit->db, audit->insert_record, err);
	sqlite3_clear_bindings(audit->insert_record);
	return ok &&
	       (head->seq % GB_AUDIT_CHECKPOINT_EVERY != 0 || gb_log_write_checkpoint(audit, head, err));
}

void gb_log_set_head(struct gb_audit *audit, const struct gb_mark *head) {
	audit->head = *head;
	audit->head_file_is_old = !gb_head_file_write(audit->head_file, *head, &audit->chain, &audit->key);
}

/* --- the queue --- */

static bool make_room(struct gb_audit *audit, struct gb_err *err) {
	if (audit->n_entries == GB_AUDIT_QUEUE_RECORDS)
		return gb_fail(err, GB_EBUSY, 0,
		    "%d records wait to be written to the audit log; commit them first",
		    GB_AUDIT_QUEUE_RECORDS);
	if (audit->n_entries < audit->cap_entries)
		return true;
	size_t cap = audit->cap_entries ? audit->cap_entries * 2 : 64;
	struct gb_audit_entry *entries = reallocarray(audit->entries, cap, sizeof *entries);
	if (!entries)
		return gb_fail(err, GB_ENOMEM, 0, "queue an audit record");
	audit->entries = entries;
	audit->cap_entries = cap;
	return true;
}

bool gb_audit_append(struct gb_audit *audit, const struct gb_audit_record *original, gb_audit_done done,
    void *data, struct gb_err *err) {
	struct gb_audit_record record = *original;
	size_t at = audit->bodies.len;
	if (!make_room(audit, err))
		return false;
	record.time_ms = gb_audit_now(audit);
	gb_audit_encode(&audit->bodies, &record);
	if (gb_buf_failed(&audit->bodies)) {
		audit->bodies.failed = false;
		audit->bodies.len = at;
		return gb_fail(err, GB_EBUSY, 0, "the queue of the audit log is full; commit it first");
	}
	audit->entries[audit->n_entries++] =
	    (struct gb_audit_entry){.at = at, .n = audit->bodies.len - at, .done = done, .data = data};
	return true;
}

/* --- writing --- */

/* SQLite continues writing to a deleted file, and those records would be lost. */
static bool check_in_place(const struct gb_audit *audit, struct gb_err *err) {
	struct stat st;
	struct statvfs fs;
	if (stat(audit->path, &st) != 0 || st.st_dev != audit->dev || st.st_ino != audit->ino)
		return gb_fail(err, GB_ENOENT, 0, "'%s' was removed or replaced while in use", audit->path);
	if (fstatvfs(audit->head_file, &fs) == 0 && fs.f_flag & ST_RDONLY)
		return gb_fail(err, GB_ESYSTEM, EROFS, "write '%s'", audit->path);
	return true;
}

static bool write_queue(struct gb_audit *audit, struct gb_mark *head, struct gb_err *err) {
	if (!gb_log_trusted_head(audit, head, err))
		return false;
	head->time_ms = gb_audit_now(audit);
	for (size_t i = audit->n_written; i < audit->n_entries; i++) {
		struct gb_audit_entry *entry = &audit->entries[i];
		if (!gb_log_insert(audit, head, audit->bodies.data + entry->at, entry->n, err))
			return false;
		entry->seq = head->seq;
	}
	return gb_log_write_head(audit, head, err);
}

static bool try_commit(struct gb_audit *audit, struct gb_err *err) {
	struct gb_mark head;
	if (!check_in_place(audit, err) || !gb_db_begin(audit->db, err))
		return false;
	if (!write_queue(audit, &head, err)) {
		gb_db_rollback(audit->db);
		return false;
	}
	if (!gb_db_commit(audit->db, err))
		return false;
	gb_log_set_head(audit, &head);
	return true;
}

/* Empty the queue first: the callbacks may append. */
static void run_callbacks(struct gb_audit *audit) {
	gb_auto_free struct gb_audit_entry *entries = gb_take_pointer(&audit->entries);
	size_t n = audit->n_entries, n_written = audit->n_written;
	audit->n_entries = audit->cap_entries = audit->n_written = 0;
	gb_buf_clear(&audit->bodies);
	for (size_t i = 0; i < n; i++)
		if (entries[i].done)
			entries[i].done(entries[i].data, i < n_written ? entries[i].seq : 0);
}

static bool write_all(struct gb_audit *audit, struct gb_err *err) {
	struct gb_err first = {0};
	if (try_commit(audit, &first))
		return true;
	if (gb_db_is_full(&first) && audit->reserve >= 0 && audit->reserved_bytes) {
		/* The space was reserved for this case. */
		(void)!ftruncate(audit->reserve, 0);
		audit->reserved_bytes = 0;
		if (try_commit(audit, &first))
			return true;
	}
	if (err)
		*err = first;
	return gb_wrap(err, "record in the audit log");
}

bool gb_audit_write(struct gb_audit *audit, struct gb_err *err) {
	if (audit->n_written == audit->n_entries)
		return true;
	audit->must_retry = !write_all(audit, err);
	if (!audit->must_retry)
		audit->n_written = audit->n_entries;
	return !audit->must_retry;
}

bool gb_audit_is_prune_due(const struct gb_audit *audit) {
	return !audit->was_pruned || audit->since_prune >= PRUNE_EVERY;
}

bool gb_audit_commit(struct gb_audit *audit, struct gb_err *err) {
	if (audit->n_entries == 0)
		return true;
	size_t n = audit->n_entries;
	if (!gb_audit_write(audit, err))
		return false;
	run_callbacks(audit);
	audit->since_prune += n;
	if (audit->options.prunes_later || !gb_audit_is_prune_due(audit))
		return true;
	/* A failure to prune is not reported: the records are written. */
	uint64_t pruned;
	gb_audit_prune(audit, &pruned, NULL);
	return true;
}

/* --- tickets --- */

static bool open_reserve(struct gb_audit *audit, struct gb_err *err) {
	if (audit->reserve >= 0)
		return true;
	audit->reserve = openat(audit->dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (audit->reserve >= 0)
		return true;
	char name[40]; /* not every file system supports O_TMPFILE */
	snprintf(name, sizeof name, "audit.reserve.%d", (int)getpid());
	audit->reserve = openat(audit->dir, name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (audit->reserve < 0)
		return gb_fail(err, GB_ESYSTEM, errno, "reserve space beside '%s'", audit->path);
	unlinkat(audit->dir, name, 0);
	return true;
}

static bool reserve_space(struct gb_audit *audit, size_t bytes, struct gb_err *err) {
	size_t needed = audit->ticket_bytes + audit->bodies.len + bytes + RESERVE_SPARE;
	if (needed > GB_AUDIT_QUEUE_BYTES)
		return gb_fail(
		    err, GB_EBUSY, 0, "too many runs wait to be recorded; try again when some have ended");
	if (needed <= audit->reserved_bytes)
		return true;
	if (!open_reserve(audit, err))
		return false;
	needed = (needed + RESERVE_STEP - 1) / RESERVE_STEP * RESERVE_STEP;
	int error = posix_fallocate(audit->reserve, 0, (off_t)needed);
	if (error)
		return gb_fail(err, GB_ESYSTEM, error,
		    "reserve %zu bytes for the audit log beside '%s'; free some space", needed, audit->path);
	audit->reserved_bytes = needed;
	return true;
}

static bool can_record(struct gb_audit *audit, struct gb_err *err) {
	if (audit->must_retry && !gb_audit_commit(audit, err))
		return false;
	if (audit->head_file_is_old)
		gb_log_set_head(audit, &audit->head);
	if (audit->head_file_is_old)
		return gb_fail(
		    err, GB_ESYSTEM, errno, "write '%s' beside '%s'", GB_AUDIT_HEAD_FILE, audit->path);
	uint64_t now = gb_now_ns();
	if (now - audit->checked_ns < CHECK_FILE_EVERY_NS)
		return true;
	if (!check_in_place(audit, err))
		return false;
	audit->checked_ns = now;
	return true;
}

size_t gb_audit_needed(const struct gb_audit_record *intent) {
	/* The size of a record is dominated by its texts; an estimate that is too large costs nothing. */
	size_t bytes =
	    TICKET_SPARE + (intent->code.n < GB_AUDIT_CODE_MAX ? intent->code.n : GB_AUDIT_CODE_MAX);
	for (size_t i = 0; i < gb_audit_n_fields; i++) {
		const struct gb_str *text = gb_audit_at(intent, &gb_audit_fields[i]);
		bool is_text =
		    gb_audit_fields[i].type == GB_AUDIT_TEXT || gb_audit_fields[i].type == GB_AUDIT_JSON;
		if (is_text && text != &intent->code)
			bytes += text->n < gb_audit_text_max(&gb_audit_fields[i])
				     ? text->n
				     : gb_audit_text_max(&gb_audit_fields[i]);
	}
	return bytes;
}

bool gb_audit_reserve(
    struct gb_audit *audit, size_t bytes, struct gb_audit_ticket *ret_ticket, struct gb_err *err) {
	if (!can_record(audit, err) || !reserve_space(audit, bytes, err))
		return gb_wrap(err, "not run, since it could not be recorded");
	audit->ticket_bytes += bytes;
	*ret_ticket = (struct gb_audit_ticket){.bytes = bytes};
	return true;
}

bool gb_audit_begin(struct gb_audit *audit, const struct gb_audit_record *intent,
    struct gb_audit_ticket *ret_ticket, struct gb_err *err) {
	return gb_audit_reserve(audit, gb_audit_needed(intent), ret_ticket, err);
}

bool gb_audit_ahead(struct gb_audit *audit, struct gb_audit_ticket *ticket,
    const struct gb_audit_record *intent, gb_audit_done done, void *data, struct gb_err *err) {
	struct gb_audit_record record = *intent;
	record.kind = GB_STR("execution_begin");
	/* The space of the ticket is for the final record. */
	if (!reserve_space(audit, ticket->bytes, err) || !gb_audit_append(audit, &record, done, data, err))
		return false;
	ticket->was_begun = true;
	return true;
}

bool gb_audit_begin_ahead(struct gb_audit *audit, const struct gb_audit_record *intent, gb_audit_done done,
    void *data, struct gb_audit_ticket *ret_ticket, struct gb_err *err) {
	struct gb_audit_ticket ticket = {0};
	if (!gb_audit_begin(audit, intent, &ticket, err))
		return false;
	if (!gb_audit_ahead(audit, &ticket, intent, done, data, err)) {
		gb_audit_cancel(audit, &ticket);
		return false;
	}
	*ret_ticket = ticket;
	return true;
}

void gb_audit_cancel(struct gb_audit *audit, struct gb_audit_ticket *ticket) {
	audit->ticket_bytes -= ticket->bytes;
	*ticket = (struct gb_audit_ticket){0};
}

bool gb_audit_finish(struct gb_audit *audit, struct gb_audit_ticket *ticket,
    const struct gb_audit_record *original, gb_audit_done done, void *data, struct gb_err *err) {
	struct gb_audit_record record = *original;
	record.was_begun = ticket->was_begun;
	if (!gb_audit_append(audit, &record, done, data, err))
		return false;
	gb_audit_cancel(audit, ticket);
	return true;
}

/* --- closing --- */

static bool last_checkpoint(struct gb_audit *audit, struct gb_err *err) {
	struct gb_mark head;
	if (audit->head.seq == audit->opened_at || audit->head.seq % GB_AUDIT_CHECKPOINT_EVERY == 0)
		return true;
	if (!gb_db_begin(audit->db, err))
		return false;
	if (gb_log_trusted_head(audit, &head, err) && gb_log_write_checkpoint(audit, &head, err))
		return gb_db_commit(audit->db, err);
	gb_db_rollback(audit->db);
	return false;
}

bool gb_audit_close(struct gb_audit *audit, struct gb_err *err) {
	if (!audit)
		return true;
	bool ok = gb_audit_commit(audit, err);
	while (audit->n_entries) /* callbacks may have appended, or nothing could be written */
		if (!ok || !(ok = gb_audit_commit(audit, err)))
			run_callbacks(audit);
	if (ok && audit->has_head)
		ok = last_checkpoint(audit, err);
	sqlite3_stmt **statements[] = {
	    &audit->insert_record, &audit->insert_checkpoint, &audit->set_head, &audit->get_head};
	for (size_t i = 0; i < GB_COUNT(statements); i++)
		gb_stmt_finish(statements[i]);
	gb_db_close(audit->db);
	if (audit->head_file >= 0)
		fsync(audit->head_file);
	gb_close_fd(&audit->head_file);
	gb_close_fd(&audit->reserve);
	gb_close_fd(&audit->dir);
	gb_key_wipe(&audit->key);
	gb_buf_finish(&audit->bodies);
	free(audit->entries);
	free(audit);
	return ok;
}
