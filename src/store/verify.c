/* Verifies the log from the start to the head, one record at a time; only signed data is trusted. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "store/log.h"

enum { PROGRESS_EVERY = 4096 };

struct verifier {
	struct gb_db *db;
	const struct gb_audit_expected *expected;
	gb_audit_progress progress;
	void *progress_data;
	struct gb_audit_report *report;
	struct gb_err *err;      /* of reading the log, which counts as damage */
	struct gb_err key_error; /* of reading the key file */

	struct gb_chain chain;
	struct gb_mark head, start, file;
	struct gb_mark checkpoint; /* the next one */
	bool has_checkpoint;
	uint64_t last_checkpoint;
	sqlite3_stmt *records, *checkpoints;

	uint64_t seq; /* of the newest good record */
	struct gb_hash hash;
	int64_t time_ms;
	uint64_t begun, ended;
};

const char *gb_audit_problem_name(enum gb_audit_problem problem) {
	static const char *const names[] = {
	    [GB_AUDIT_WHOLE] = "whole",
	    [GB_AUDIT_CHANGED] = "changed",
	    [GB_AUDIT_REMOVED] = "removed",
	    [GB_AUDIT_SWAPPED] = "swapped",
	    [GB_AUDIT_TAIL_CUT] = "tail_cut",
	    [GB_AUDIT_ADDED] = "added",
	    [GB_AUDIT_KEY] = "key",
	    [GB_AUDIT_CHECKPOINT] = "checkpoint",
	    [GB_AUDIT_MARK] = "mark",
	    [GB_AUDIT_DAMAGED] = "damaged",
	    [GB_AUDIT_UNEXPECTED] = "unexpected",
	};
	return names[problem];
}

#define LLU(number) ((unsigned long long)(number))

/* Report a problem; the caller stops at the first one. Returns false. */
__attribute__((format(printf, 4, 5))) static bool report_problem(
    struct verifier *v, enum gb_audit_problem problem, uint64_t seq, const char *format, ...) {
	va_list ap;
	v->report->problem = problem;
	v->report->seq = seq;
	va_start(ap, format);
	vsnprintf(v->report->message, sizeof v->report->message, format, ap);
	va_end(ap);
	return false;
}

static bool report_damage(struct verifier *v) {
	return report_problem(v, GB_AUDIT_DAMAGED, v->seq + 1, "cannot be read after record %llu: %.200s",
	    LLU(v->seq), v->err->message);
}

/* --- key and marks --- */

static bool check_key(struct verifier *v, int dir) {
	struct gb_key key;
	bool is_present;
	if (!gb_log_read_chain(v->db, &v->chain, &is_present, v->err))
		return report_damage(v);
	memcpy(v->report->public_key, v->chain.public_key, sizeof v->report->public_key);
	if (!is_present)
		return report_problem(
		    v, GB_AUDIT_MARK, 0, "it does not contain the public key that it was begun with");
	if (v->expected && v->expected->has_key &&
	    memcmp(v->expected->public_key, v->chain.public_key, sizeof v->chain.public_key) != 0)
		return report_problem(
		    v, GB_AUDIT_KEY, 0, "it was begun with a different key than the expected one");
	struct gb_err err = {0};
	if (!gb_key_read(dir, GB_AUDIT_KEY_FILE, &key, &err)) {
		/* A malformed key file was replaced. An unreadable one is reported only if everything else is
		 * good, so that it does not hide a worse problem. */
		v->key_error = err;
		return err.code != GB_EFORMAT || report_problem(v, GB_AUDIT_KEY, 0, "%.200s", err.message);
	}
	v->report->key_compared = true;
	bool same = memcmp(key.public_key, v->chain.public_key, sizeof key.public_key) == 0;
	gb_key_wipe(&key);
	return same ||
	       report_problem(v, GB_AUDIT_KEY, 0,
		   "'%s' is a different key than the one that the log was begun with", GB_AUDIT_KEY_FILE);
}

static bool check_head(struct verifier *v) {
	bool is_present;
	if (!gb_log_read_mark(v->db, "audit_head", &v->head, &is_present, v->err))
		return report_damage(v);
	if (!is_present)
		return report_problem(v, GB_AUDIT_MARK, 0, "the signed head is missing");
	if (!gb_mark_check(&v->head, GB_MARK_HEAD, &v->chain))
		return report_problem(v, GB_AUDIT_MARK, 0,
		    "the head is not signed by the key: it was changed, or signed by another key");
	v->report->head = v->head;
	return true;
}

static bool check_start(struct verifier *v) {
	bool is_present;
	gb_chain_genesis(&v->chain, &v->hash);
	if (!gb_log_read_mark(v->db, "audit_start", &v->start, &is_present, v->err))
		return report_damage(v);
	if (!is_present)
		return true;
	if (!gb_mark_check(&v->start, GB_MARK_START, &v->chain))
		return report_problem(
		    v, GB_AUDIT_MARK, 0, "the start mark left by pruning is not signed by the key");
	v->seq = v->last_checkpoint = v->report->pruned = v->start.seq;
	v->hash = v->start.hash;
	return true;
}

static bool next_checkpoint(struct verifier *v) {
	if (!gb_db_step(v->db, v->checkpoints, &v->has_checkpoint, v->err))
		return report_damage(v);
	if (!v->has_checkpoint)
		return true;
	uint64_t seq = (uint64_t)sqlite3_column_int64(v->checkpoints, 0);
	if (!gb_mark_from_row(v->checkpoints, &v->checkpoint) ||
	    !gb_mark_check(&v->checkpoint, GB_MARK_CHECKPOINT, &v->chain))
		return report_problem(v, GB_AUDIT_CHECKPOINT, seq,
		    "the checkpoint at record %llu is not signed by the key", LLU(seq));
	return true;
}

/* Marks that refer to the start of the remaining log must have its hash. */
static bool check_marks_at_start(struct verifier *v) {
	if (v->file.seq == v->seq && !gb_hash_eq(&v->file.hash, &v->hash))
		return report_problem(
		    v, GB_AUDIT_MARK, v->seq, "'%s' does not match the start of the log", GB_AUDIT_HEAD_FILE);
	if (v->expected && v->expected->has_head && v->expected->seq == v->seq &&
	    !gb_hash_eq(&v->hash, &v->expected->hash))
		return report_problem(v, GB_AUDIT_UNEXPECTED, v->seq,
		    "record %llu did not have the expected hash", LLU(v->seq));
	if (v->has_checkpoint && v->checkpoint.seq <= v->seq)
		return report_problem(v, GB_AUDIT_CHECKPOINT, v->checkpoint.seq,
		    "there is a checkpoint at record %llu, which was pruned", LLU(v->checkpoint.seq));
	return true;
}

/* --- the records --- */

/* Whether @row contains the record that belongs at position @expected_seq. Either the whole row or only its
 * body may have been moved. */
static bool would_link(
    struct verifier *v, sqlite3_stmt *row, uint64_t expected_seq, const struct gb_hash *in_place) {
	struct gb_hash hash, own;
	const void *body = sqlite3_column_blob(row, 1);
	if (!body || !gb_log_blob(row, 2, own.bytes, sizeof own.bytes))
		return false;
	gb_chain_link(&v->hash, expected_seq, body, (size_t)sqlite3_column_bytes(row, 1), &hash);
	return gb_hash_eq(&hash, &own) || gb_hash_eq(&hash, in_place);
}

/* A record is wrong: search the following rows once for the right one. */
static bool find_moved(struct verifier *v, uint64_t expected_seq, uint64_t *ret_place) {
	struct gb_hash in_place = {{0}};
	struct gb_err err;
	(void)gb_log_blob(v->records, 2, in_place.bytes, sizeof in_place.bytes);
	for (bool row; gb_db_step(v->db, v->records, &row, &err) && row;)
		if (would_link(v, v->records, expected_seq, &in_place)) {
			*ret_place = (uint64_t)sqlite3_column_int64(v->records, 0);
			return true;
		}
	return false;
}

static bool report_wrong_record(struct verifier *v, uint64_t seq) {
	uint64_t place;
	if (find_moved(v, seq, &place))
		return report_problem(
		    v, GB_AUDIT_SWAPPED, seq, "records %llu and %llu were swapped", LLU(seq), LLU(place));
	return report_problem(
	    v, GB_AUDIT_CHANGED, seq, "record %llu was changed: its bytes do not match its hash", LLU(seq));
}

static bool check_marks_at(struct verifier *v, uint64_t seq) {
	if (seq == v->file.seq && !gb_hash_eq(&v->hash, &v->file.hash))
		return report_problem(v, GB_AUDIT_CHANGED, v->last_checkpoint + 1,
		    "records %llu to %llu do not match the signature in '%s'", LLU(v->last_checkpoint + 1),
		    LLU(seq), GB_AUDIT_HEAD_FILE);
	if (v->expected && v->expected->has_head && seq == v->expected->seq &&
	    !gb_hash_eq(&v->hash, &v->expected->hash))
		return report_problem(
		    v, GB_AUDIT_UNEXPECTED, seq, "record %llu does not have the expected hash", LLU(seq));
	if (!v->has_checkpoint || v->checkpoint.seq != seq)
		return seq % GB_AUDIT_CHECKPOINT_EVERY != 0 ||
		       report_problem(
			   v, GB_AUDIT_CHECKPOINT, seq, "the checkpoint at record %llu is missing", LLU(seq));
	if (!gb_hash_eq(&v->checkpoint.hash, &v->hash))
		return report_problem(v, GB_AUDIT_CHANGED, v->last_checkpoint + 1,
		    "records %llu to %llu were rewritten: they do not match the checkpoint at %llu",
		    LLU(v->last_checkpoint + 1), LLU(seq), LLU(seq));
	v->last_checkpoint = seq;
	return next_checkpoint(v);
}

static void update_report(struct verifier *v, const struct gb_audit_record *record) {
	if (v->report->records == 0)
		v->report->first_ms = record->time_ms;
	else if (record->time_ms < v->time_ms)
		v->report->clock_back++;
	v->time_ms = v->report->last_ms = record->time_ms;
	v->report->records++;
	v->begun += gb_str_eq(record->kind, GB_STR("execution_begin"));
	v->ended += record->was_begun;
}

static bool check_record(struct verifier *v) {
	uint64_t seq = (uint64_t)sqlite3_column_int64(v->records, 0), expected_seq = v->seq + 1;
	if (seq > expected_seq && seq <= INT64_MAX)
		return report_problem(v, GB_AUDIT_REMOVED, expected_seq,
		    "record %llu was removed: %llu follows %llu", LLU(expected_seq), LLU(seq), LLU(v->seq));
	if (seq != expected_seq)
		return report_problem(v, GB_AUDIT_ADDED, expected_seq,
		    "a record with the number %lld was added before record %llu", (long long)seq,
		    LLU(expected_seq));
	struct gb_hash hash, stored;
	struct gb_audit_record record;
	const void *body = sqlite3_column_blob(v->records, 1);
	size_t n = (size_t)sqlite3_column_bytes(v->records, 1);
	if (sqlite3_column_type(v->records, 1) != SQLITE_BLOB || !body ||
	    !gb_log_blob(v->records, 2, stored.bytes, sizeof stored.bytes))
		return report_wrong_record(v, seq);
	gb_chain_link(&v->hash, seq, body, n, &hash);
	if (!gb_hash_eq(&hash, &stored) || !gb_audit_decode(body, n, &record))
		return report_wrong_record(v, seq);
	v->seq = seq;
	v->hash = hash;
	update_report(v, &record);
	return check_marks_at(v, seq);
}

static bool check_records(struct verifier *v) {
	uint64_t all = v->head.seq > v->start.seq ? v->head.seq - v->start.seq : 0;
	for (bool row;;) {
		if (!gb_db_step(v->db, v->records, &row, v->err))
			return report_damage(v);
		if (!row)
			return true;
		if (v->seq == v->head.seq)
			return report_problem(v, GB_AUDIT_ADDED, v->seq + 1,
			    "records after %llu were added: the signed head ends there", LLU(v->seq));
		if (!check_record(v))
			return false;
		if (v->progress && v->report->records % PROGRESS_EVERY == 0)
			v->progress(v->progress_data, v->report->records, all);
	}
}

/* --- the end of the log --- */

static bool check_end(struct verifier *v) {
	if (v->seq < v->head.seq)
		return report_problem(v, GB_AUDIT_TAIL_CUT, v->seq + 1,
		    "the tail was cut: the log ends at record %llu and its signed head is %llu", LLU(v->seq),
		    LLU(v->head.seq));
	if (!gb_hash_eq(&v->hash, &v->head.hash))
		return report_problem(v, GB_AUDIT_CHANGED, v->last_checkpoint + 1,
		    "records %llu to %llu were rewritten: they do not match the signed head",
		    LLU(v->last_checkpoint + 1), LLU(v->seq));
	if (v->file.seq > v->seq)
		return report_problem(v, GB_AUDIT_TAIL_CUT, v->seq + 1,
		    "the tail was cut: the log ends at record %llu and '%s' is signed for %llu", LLU(v->seq),
		    GB_AUDIT_HEAD_FILE, LLU(v->file.seq));
	if (v->has_checkpoint)
		return report_problem(v, GB_AUDIT_TAIL_CUT, v->seq + 1,
		    "the tail was cut: there is a signed checkpoint at record %llu", LLU(v->checkpoint.seq));
	if (v->expected && v->expected->has_head && v->expected->seq > v->seq)
		return report_problem(v, GB_AUDIT_TAIL_CUT, v->seq + 1,
		    "the tail was cut: the log ends at record %llu and record %llu is expected", LLU(v->seq),
		    LLU(v->expected->seq));
	if (v->expected && v->expected->has_head && v->expected->seq < v->start.seq)
		return report_problem(v, GB_AUDIT_UNEXPECTED, v->expected->seq,
		    "the expected record %llu was pruned; expect a newer one", LLU(v->expected->seq));
	v->report->unfinished = v->begun > v->ended ? v->begun - v->ended : 0;
	return true;
}

/* A caller that passes the key that it stored elsewhere has a better reference than the file. */
static bool check_key_was_read(struct verifier *v) {
	return v->report->key_compared || (v->expected && v->expected->has_key) ||
	       report_problem(v, GB_AUDIT_KEY, 0,
		   "the key cannot be compared: %.150s. Restore '%s' from a copy, or pass the public key "
		   "that "
		   "was noted elsewhere with --expect-key",
		   v->key_error.message, GB_AUDIT_KEY_FILE);
}

static bool check_all(struct verifier *v, int dir) {
	/* The head file is read first, so that the database can be ahead of it, never behind. */
	gb_auto_fd int head_file =
	    openat(dir, GB_AUDIT_HEAD_FILE, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	int error = errno;
	if (!gb_db_check_schema(v->db, v->err))
		return report_problem(v, GB_AUDIT_DAMAGED, 0, "%.250s", v->err->message);
	if (!check_key(v, dir))
		return false;
	if (head_file < 0)
		return report_problem(v, GB_AUDIT_MARK, 0, "'%s' cannot be read: %s", GB_AUDIT_HEAD_FILE,
		    strerrordesc_np(error));
	if (!gb_head_file_read(head_file, &v->chain, &v->file, v->err))
		return report_problem(v, GB_AUDIT_MARK, 0, "%.250s", v->err->message);
	/* Read from one snapshot, even if other processes append meanwhile. */
	if (!gb_db_exec(v->db, "BEGIN", v->err) ||
	    !gb_db_prepare(
		v->db, "SELECT seq, body, hash FROM audit_record ORDER BY seq", &v->records, v->err) ||
	    !gb_db_prepare(v->db, "SELECT seq, hash, time, signature FROM audit_checkpoint ORDER BY seq",
		&v->checkpoints, v->err))
		return report_damage(v);
	return check_head(v) && check_start(v) && next_checkpoint(v) && check_marks_at_start(v) &&
	       check_records(v) && check_end(v) && check_key_was_read(v);
}

bool gb_audit_verify(const char *dir, const struct gb_audit_expected *expected, gb_audit_progress progress,
    void *data, struct gb_audit_report *ret_report, struct gb_err *err) {
	char path[GB_AUDIT_PATH];
	struct gb_err read_err = {0};
	struct gb_audit_report report = {.problem = GB_AUDIT_WHOLE};
	struct verifier v = {.expected = expected,
	    .progress = progress,
	    .progress_data = data,
	    .report = &report,
	    .err = &read_err};
	if (!gb_chain_init(err))
		return false;
	gb_auto_fd int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return gb_fail(
		    err, errno == ENOENT ? GB_ENOENT : GB_ESYSTEM, errno, "open the folder '%s'", dir);
	if ((size_t)snprintf(path, sizeof path, "%s/%s", dir, GB_AUDIT_DB) >= sizeof path)
		return gb_fail(err, GB_ELIMIT, 0, "the folder's path is too long");
	if (gb_db_open(path, &gb_audit_db_options, &v.db, &read_err)) {
		check_all(&v, fd);
	} else if (read_err.code == GB_EFORMAT) {
		report_problem(&v, GB_AUDIT_DAMAGED, 0, "%.250s", read_err.message);
	} else {
		if (err)
			*err = read_err;
		return gb_wrap(err, "read the audit log");
	}
	gb_stmt_finish(&v.records);
	gb_stmt_finish(&v.checkpoints);
	gb_db_close(v.db);
	*ret_report = report;
	return true;
}
