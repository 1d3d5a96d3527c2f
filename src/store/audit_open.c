#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "store/log.h"
#include "store/state.h"

/* A row has only the record's bytes and their hash: a copy of a field in a column would not be signed. */
static const char *const migrations[] = {
    "CREATE TABLE audit_chain(one INTEGER PRIMARY KEY CHECK (one = 1), id BLOB NOT NULL, public_key BLOB NOT "
    "NULL);"
    "CREATE TABLE audit_record(seq INTEGER PRIMARY KEY, body BLOB NOT NULL, hash BLOB NOT NULL);"
    "CREATE TABLE audit_checkpoint(seq INTEGER PRIMARY KEY, hash BLOB NOT NULL, time INTEGER NOT NULL,"
    " signature BLOB NOT NULL);"
    "CREATE TABLE audit_head(one INTEGER PRIMARY KEY CHECK (one = 1), seq INTEGER NOT NULL, hash BLOB NOT "
    "NULL,"
    " time INTEGER NOT NULL, signature BLOB NOT NULL);"
    "CREATE TABLE audit_start(one INTEGER PRIMARY KEY CHECK (one = 1), seq INTEGER NOT NULL, hash BLOB NOT "
    "NULL,"
    " time INTEGER NOT NULL, signature BLOB NOT NULL)",
};

const struct gb_db_options gb_audit_db_options = {
    .migrations = migrations,
    .n_migrations = GB_COUNT(migrations),
    .read_only = true,
};

/* --- rows --- */

bool gb_log_blob(sqlite3_stmt *stmt, int column, void *ret, size_t n) {
	if (sqlite3_column_type(stmt, column) != SQLITE_BLOB ||
	    (size_t)sqlite3_column_bytes(stmt, column) != n)
		return false;
	const void *bytes = sqlite3_column_blob(stmt, column);
	if (!bytes)
		return false;
	memcpy(ret, bytes, n);
	return true;
}

bool gb_mark_from_row(sqlite3_stmt *stmt, struct gb_mark *ret_mark) {
	struct gb_mark mark = {
	    .seq = (uint64_t)sqlite3_column_int64(stmt, 0), .time_ms = sqlite3_column_int64(stmt, 2)};
	if (sqlite3_column_type(stmt, 0) != SQLITE_INTEGER ||
	    sqlite3_column_type(stmt, 2) != SQLITE_INTEGER || mark.seq > INT64_MAX ||
	    !gb_log_blob(stmt, 1, mark.hash.bytes, sizeof mark.hash.bytes) ||
	    !gb_log_blob(stmt, 3, mark.signature, sizeof mark.signature))
		return false;
	*ret_mark = mark;
	return true;
}

void gb_mark_to_row(sqlite3_stmt *stmt, const struct gb_mark *mark) {
	sqlite3_bind_int64(stmt, 1, (sqlite3_int64)mark->seq);
	sqlite3_bind_blob(stmt, 2, mark->hash.bytes, sizeof mark->hash.bytes, SQLITE_TRANSIENT);
	sqlite3_bind_int64(stmt, 3, mark->time_ms);
	sqlite3_bind_blob(stmt, 4, mark->signature, sizeof mark->signature, SQLITE_TRANSIENT);
}

bool gb_log_read_mark(
    struct gb_db *db, const char *table, struct gb_mark *ret_mark, bool *ret_is_present, struct gb_err *err) {
	gb_auto_stmt sqlite3_stmt *stmt = NULL;
	char sql[100];
	snprintf(sql, sizeof sql, "SELECT seq, hash, time, signature FROM %s", table);
	if (!gb_db_prepare(db, sql, &stmt, err) || !gb_db_step(db, stmt, ret_is_present, err))
		return false;
	/* An unreadable mark becomes a zero mark, whose signature is invalid. */
	if (*ret_is_present && !gb_mark_from_row(stmt, ret_mark))
		*ret_mark = (struct gb_mark){0};
	return true;
}

bool gb_log_read_chain(
    struct gb_db *db, struct gb_chain *ret_chain, bool *ret_is_present, struct gb_err *err) {
	gb_auto_stmt sqlite3_stmt *stmt = NULL;
	if (!gb_db_prepare(db, "SELECT id, public_key FROM audit_chain", &stmt, err) ||
	    !gb_db_step(db, stmt, ret_is_present, err))
		return false;
	if (!*ret_is_present)
		return true;
	if (!gb_log_blob(stmt, 0, ret_chain->id, sizeof ret_chain->id) ||
	    !gb_log_blob(stmt, 1, ret_chain->public_key, sizeof ret_chain->public_key))
		memset(ret_chain, 0, sizeof *ret_chain);
	return true;
}

bool gb_log_read_hash(
    struct gb_db *db, uint64_t seq, struct gb_hash *ret_hash, bool *ret_is_present, struct gb_err *err) {
	gb_auto_stmt sqlite3_stmt *stmt = NULL;
	if (!gb_db_prepare(db, "SELECT hash FROM audit_record WHERE seq = ?", &stmt, err))
		return false;
	sqlite3_bind_int64(stmt, 1, (sqlite3_int64)seq);
	if (!gb_db_step(db, stmt, ret_is_present, err))
		return false;
	if (*ret_is_present && !gb_log_blob(stmt, 0, ret_hash->bytes, sizeof ret_hash->bytes))
		memset(ret_hash, 0, sizeof *ret_hash);
	return true;
}

/* --- the head file: always overwritten in place, so that no older version remains --- */

struct head_bytes {
	char magic[16];
	uint64_t seq, time; /* big endian */
	uint8_t hash[GB_HASH_BYTES];
	uint8_t signature[GB_SIGNATURE_BYTES];
};

static const char head_magic[16] = "glovebox head 1";

bool gb_head_file_write(int fd, struct gb_mark mark, const struct gb_chain *chain, const struct gb_key *key) {
	struct head_bytes bytes;
	gb_mark_sign(&mark, GB_MARK_HEAD_FILE, chain, key);
	memcpy(bytes.magic, head_magic, sizeof bytes.magic);
	bytes.seq = htobe64(mark.seq);
	bytes.time = htobe64((uint64_t)mark.time_ms);
	memcpy(bytes.hash, mark.hash.bytes, sizeof bytes.hash);
	memcpy(bytes.signature, mark.signature, sizeof bytes.signature);
	return pwrite(fd, &bytes, sizeof bytes, 0) == sizeof bytes;
}

static bool read_head_bytes(int fd, const struct gb_chain *chain, struct gb_mark *ret_mark) {
	struct head_bytes bytes;
	struct gb_mark mark;
	if (pread(fd, &bytes, sizeof bytes, 0) != sizeof bytes ||
	    memcmp(bytes.magic, head_magic, sizeof head_magic) != 0)
		return false;
	mark.seq = be64toh(bytes.seq);
	mark.time_ms = (int64_t)be64toh(bytes.time);
	memcpy(mark.hash.bytes, bytes.hash, sizeof bytes.hash);
	memcpy(mark.signature, bytes.signature, sizeof bytes.signature);
	if (!gb_mark_check(&mark, GB_MARK_HEAD_FILE, chain))
		return false;
	*ret_mark = mark;
	return true;
}

bool gb_head_file_read(int fd, const struct gb_chain *chain, struct gb_mark *ret_mark, struct gb_err *err) {
	for (int attempt = 0; attempt < 5; attempt++) {
		if (read_head_bytes(fd, chain, ret_mark))
			return true;
		usleep(2000); /* another process may be writing it */
	}
	return gb_fail(err, GB_EFORMAT, 0, "'%s' is not signed by the key", GB_AUDIT_HEAD_FILE);
}

/* --- creating a log --- */

static bool insert_chain(struct gb_audit *audit, struct gb_err *err) {
	gb_auto_stmt sqlite3_stmt *stmt = NULL;
	randombytes_buf(audit->chain.id, sizeof audit->chain.id);
	memcpy(audit->chain.public_key, audit->key.public_key, sizeof audit->chain.public_key);
	if (!gb_db_prepare(
		audit->db, "INSERT INTO audit_chain(one, id, public_key) VALUES (1, ?, ?)", &stmt, err))
		return false;
	sqlite3_bind_blob(stmt, 1, audit->chain.id, sizeof audit->chain.id, SQLITE_STATIC);
	sqlite3_bind_blob(stmt, 2, audit->chain.public_key, sizeof audit->chain.public_key, SQLITE_STATIC);
	return gb_db_run(audit->db, stmt, err);
}

static bool write_beginning(struct gb_audit *audit, struct gb_mark *head, struct gb_err *err) {
	if (!gb_db_begin(audit->db, err))
		return false;
	head->time_ms = gb_audit_now(audit);
	bool ok = insert_chain(audit, err);
	if (ok) {
		gb_chain_genesis(&audit->chain, &head->hash);
		ok = gb_log_write_head(audit, head, err);
	}
	if (!ok)
		gb_db_rollback(audit->db);
	return ok && gb_db_commit(audit->db, err);
}

static bool open_db(struct gb_audit *audit, struct gb_err *err) {
	struct gb_db_options options = gb_audit_db_options;
	options.read_only = false;
	options.durable = true;
	options.busy_ms = audit->options.busy_ms;
	return gb_db_open(audit->path, &options, &audit->db, err) && gb_db_check_schema(audit->db, err) &&
	       gb_db_prepare(audit->db, "INSERT INTO audit_record(seq, body, hash) VALUES (?, ?, ?)",
		   &audit->insert_record, err) &&
	       gb_db_prepare(audit->db,
		   "INSERT OR REPLACE INTO audit_checkpoint(seq, hash, time, signature) VALUES (?, ?, ?, ?)",
		   &audit->insert_checkpoint, err) &&
	       gb_db_prepare(audit->db,
		   "INSERT OR REPLACE INTO audit_head(one, seq, hash, time, signature) VALUES (1, ?, ?, ?, "
		   "?)",
		   &audit->set_head, err) &&
	       gb_db_prepare(
		   audit->db, "SELECT seq, hash, time, signature FROM audit_head", &audit->get_head, err);
}

static bool exists(int dir, const char *name) {
	struct stat st;
	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Called under the lock. The key gets its final name last: while it is named "new", creation can be repeated,
 * and a key with its final name but without a log shows that the log was removed. */
static bool create(struct gb_audit *audit, int dir, struct gb_err *err) {
	bool is_present;
	struct gb_mark head = {0};
	bool was_begun = exists(dir, GB_AUDIT_KEY_NEW);
	if (!was_begun && exists(dir, GB_AUDIT_DB))
		return gb_fail(err, GB_ENOENT, 0,
		    "the log '%s' exists, but its key '%s' is missing: restore the key, or move the log away "
		    "(keep it) to begin a new one",
		    audit->path, GB_AUDIT_KEY_FILE);
	if (!(was_begun && gb_key_load(dir, GB_AUDIT_KEY_NEW, &audit->key, NULL)) &&
	    !gb_key_create(dir, GB_AUDIT_KEY_NEW, &audit->key, err))
		return false;
	if (!open_db(audit, err) || !gb_log_read_chain(audit->db, &audit->chain, &is_present, err))
		return false;
	if (!is_present && !write_beginning(audit, &head, err))
		return false;
	if (is_present && !gb_log_read_mark(audit->db, "audit_head", &head, &is_present, err))
		return false;
	gb_auto_fd int head_file =
	    openat(dir, GB_AUDIT_HEAD_FILE, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (head_file < 0 || !gb_head_file_write(head_file, head, &audit->chain, &audit->key) ||
	    fsync(head_file) != 0 || renameat(dir, GB_AUDIT_KEY_NEW, dir, GB_AUDIT_KEY_FILE) != 0 ||
	    fsync(dir) != 0)
		return gb_fail(err, GB_ESYSTEM, errno, "begin an audit log beside '%s'", audit->path);
	return true;
}

/* --- opening an existing log --- */

static bool check_chain_key(struct gb_audit *audit, struct gb_err *err) {
	bool is_present;
	if (!gb_log_read_chain(audit->db, &audit->chain, &is_present, err))
		return false;
	if (!is_present)
		return gb_fail(err, GB_EFORMAT, 0, "'%s' was emptied", audit->path);
	if (memcmp(audit->chain.public_key, audit->key.public_key, sizeof audit->key.public_key) != 0)
		return gb_fail(err, GB_EFORMAT, 0, "'%s' was begun with another key than '%s'", audit->path,
		    GB_AUDIT_KEY_FILE);
	return true;
}

/* Check that the record named by the head file is still in the database. */
static bool check_head_file(struct gb_audit *audit, const struct gb_mark *file, struct gb_err *err) {
	struct gb_hash hash;
	bool is_present;
	if (!gb_log_read_hash(audit->db, file->seq, &hash, &is_present, err))
		return false;
	if (file->seq > audit->head.seq || (is_present && !gb_hash_eq(&hash, &file->hash)))
		return gb_fail(err, GB_EFORMAT, 0,
		    "the log had %llu records according to '%s' and now ends at %llu: its tail was cut",
		    (unsigned long long)file->seq, GB_AUDIT_HEAD_FILE, (unsigned long long)audit->head.seq);
	return true;
}

/* Other processes may append meanwhile. The head file is read first, so that the database can be ahead of it,
 * never behind. */
static bool check_marks(struct gb_audit *audit, struct gb_err *err) {
	struct gb_mark file;
	if (!check_chain_key(audit, err) || !gb_head_file_read(audit->head_file, &audit->chain, &file, err))
		return false;
	/* One transaction, so that the head and its record are read from one snapshot. */
	if (!gb_db_exec(audit->db, "BEGIN", err))
		return false;
	bool ok = gb_log_trusted_head(audit, &audit->head, err) && check_head_file(audit, &file, err);
	gb_db_rollback(audit->db);
	return ok;
}

static bool check_existing(struct gb_audit *audit, struct gb_err *err) {
	return check_marks(audit, err) ||
	       gb_wrap(err, "the audit log was modified (for details run 'glovebox audit verify')");
}

static bool open_existing(struct gb_audit *audit, int dir, struct gb_err *err) {
	if (!exists(dir, GB_AUDIT_DB))
		return gb_fail(err, GB_ENOENT, 0,
		    "the log '%s' is missing, but its key exists: restore the log, or move '%s' away to "
		    "begin a "
		    "new one",
		    audit->path, GB_AUDIT_KEY_FILE);
	return gb_key_load(dir, GB_AUDIT_KEY_FILE, &audit->key, err) && (audit->db || open_db(audit, err));
}

static bool store_file_identity(struct gb_audit *audit, struct gb_err *err) {
	struct stat st;
	if (stat(audit->path, &st) != 0)
		return gb_fail(err, GB_ESYSTEM, errno, "examine '%s'", audit->path);
	audit->dev = st.st_dev;
	audit->ino = st.st_ino;
	return true;
}

static bool open_in(struct gb_audit *audit, int dir, struct gb_err *err) {
	gb_auto_fd int lock = openat(dir, GB_AUDIT_LOCK, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (lock < 0 || flock(lock, LOCK_EX) != 0)
		return gb_fail(err, GB_ESYSTEM, errno, "lock '%s' beside '%s'", GB_AUDIT_LOCK, audit->path);
	if (!exists(dir, GB_AUDIT_KEY_FILE) && !create(audit, dir, err))
		return false;
	if (!open_existing(audit, dir, err))
		return false;
	audit->head_file = openat(dir, GB_AUDIT_HEAD_FILE, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (audit->head_file < 0)
		return gb_fail(
		    err, GB_EFORMAT, errno, "open '%s' beside '%s'", GB_AUDIT_HEAD_FILE, audit->path);
	if (!store_file_identity(audit, err) || !check_existing(audit, err))
		return false;
	audit->has_head = true;
	audit->opened_at = audit->head.seq;
	return true;
}

bool gb_audit_open(const char *dir, const struct gb_audit_options *options, struct gb_audit **ret_audit,
    struct gb_err *err) {
	if (!gb_chain_init(err) || !gb_state_prepare(dir, err))
		return false;
	struct gb_audit *audit = calloc(1, sizeof *audit);
	if (!audit)
		return gb_fail(err, GB_ENOMEM, 0, "open the audit log");
	audit->options = options ? *options : (struct gb_audit_options){0};
	audit->head_file = audit->reserve = -1;
	gb_buf_init(&audit->bodies, GB_AUDIT_QUEUE_BYTES);
	snprintf(audit->path, sizeof audit->path, "%s/%s", dir, GB_AUDIT_DB);
	audit->dir = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (audit->dir < 0)
		gb_fail(err, GB_ESYSTEM, errno, "open the folder '%s'", dir);
	uint64_t pruned;
	if (audit->dir < 0 || !open_in(audit, audit->dir, err) ||
	    (!audit->options.prunes_later && !gb_audit_prune(audit, &pruned, err))) {
		gb_audit_close(audit, NULL);
		return false;
	}
	*ret_audit = audit;
	return true;
}
