#include "store/db.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"

enum { DEFAULT_BUSY_MS = 10000, VALUE_MAX = 64 << 20 };

struct gb_db {
	sqlite3 *sqlite;
	char *path;
	struct gb_db_options options;
};

sqlite3 *gb_db_handle(struct gb_db *db) {
	return db->sqlite;
}

const char *gb_db_path(const struct gb_db *db) {
	return db->path;
}

void gb_stmt_finish(sqlite3_stmt **stmt) {
	sqlite3_finalize(*stmt);
	*stmt = NULL;
}

void gb_db_close(struct gb_db *db) {
	if (!db)
		return;
	/* The last process to close it merges the WAL into the file. */
	sqlite3_close_v2(db->sqlite);
	free(db->path);
	free(db);
}

static void close_db(struct gb_db **db) {
	gb_db_close(*db);
}

/* --- statements --- */

bool gb_db_prepare(struct gb_db *db, const char *sql, sqlite3_stmt **ret_stmt, struct gb_err *err) {
	sqlite3_stmt *stmt = NULL;
	int rc = sqlite3_prepare_v3(db->sqlite, sql, -1, SQLITE_PREPARE_PERSISTENT, &stmt, NULL);
	if (rc != SQLITE_OK)
		return gb_db_fail(db, rc, "prepare", err);
	*ret_stmt = stmt;
	return true;
}

bool gb_db_step(struct gb_db *db, sqlite3_stmt *stmt, bool *ret_row, struct gb_err *err) {
	int rc = sqlite3_step(stmt);
	if (rc != SQLITE_ROW && rc != SQLITE_DONE) {
		gb_db_fail(db, sqlite3_extended_errcode(db->sqlite),
		    sqlite3_stmt_readonly(stmt) ? "read" : "write", err);
		sqlite3_reset(stmt);
		return false;
	}
	*ret_row = rc == SQLITE_ROW;
	return true;
}

bool gb_db_run(struct gb_db *db, sqlite3_stmt *stmt, struct gb_err *err) {
	bool row;
	if (!gb_db_step(db, stmt, &row, err))
		return false;
	sqlite3_reset(stmt);
	return true;
}

bool gb_db_exec(struct gb_db *db, const char *sql, struct gb_err *err) {
	int rc = sqlite3_exec(db->sqlite, sql, NULL, NULL, NULL);
	return rc == SQLITE_OK || gb_db_fail(db, sqlite3_extended_errcode(db->sqlite), "write", err);
}

bool gb_db_begin(struct gb_db *db, struct gb_err *err) {
	return gb_db_exec(db, "BEGIN IMMEDIATE", err);
}

bool gb_db_commit(struct gb_db *db, struct gb_err *err) {
	if (gb_db_exec(db, "COMMIT", err))
		return true;
	gb_db_rollback(db);
	return false;
}

void gb_db_rollback(struct gb_db *db) {
	if (!sqlite3_get_autocommit(db->sqlite))
		sqlite3_exec(db->sqlite, "ROLLBACK", NULL, NULL, NULL);
}

/* --- the file --- */

/* SQLite gives the files beside the database the same mode, so checking this one is enough. */
static bool check_file(const char *path, const struct gb_db_options *options, struct gb_err *err) {
	int flags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | (options->read_only ? O_RDONLY : O_RDWR | O_CREAT);
	gb_auto_fd int fd = open(path, flags, 0600);
	struct stat st;
	if (fd < 0 && errno == ELOOP)
		return gb_fail(
		    err, GB_EINVAL, 0, "'%s' is a symbolic link; give the path of the file itself", path);
	if (fd < 0)
		return gb_fail(err, errno == ENOENT ? GB_ENOENT : GB_ESYSTEM, errno, "open '%s'", path);
	if (fstat(fd, &st) != 0)
		return gb_fail(err, GB_ESYSTEM, errno, "examine '%s'", path);
	if (!S_ISREG(st.st_mode))
		return gb_fail(err, GB_EINVAL, 0, "'%s' is not a regular file", path);
	if (options->read_only)
		return true;
	if (st.st_uid != geteuid())
		return gb_fail(err, GB_EINVAL, 0,
		    "'%s' belongs to user %u, but this process runs as user %u; change one of them", path,
		    (unsigned)st.st_uid, (unsigned)geteuid());
	if (st.st_mode & 077)
		return gb_fail(err, GB_EINVAL, 0,
		    "'%s' has mode %04o: others could read or write it; chmod 600 it", path,
		    (unsigned)st.st_mode & 07777);
	return true;
}

static bool has_wal(const char *path) {
	char wal[4200];
	struct stat st;
	snprintf(wal, sizeof wal, "%s-wal", path);
	return stat(wal, &st) == 0 && st.st_size > 0;
}

/* On a read-only file system a database can be read only if its WAL is empty. */
static bool open_immutable(struct gb_db *db, struct gb_err *err) {
	char *uri = sqlite3_mprintf("file:%s?immutable=1", db->path);
	if (!uri)
		return gb_fail(err, GB_ENOMEM, 0, "open '%s'", db->path);
	sqlite3_close_v2(db->sqlite);
	db->sqlite = NULL;
	int rc = strpbrk(db->path, "?#%")
		     ? SQLITE_CANTOPEN
		     : sqlite3_open_v2(uri, &db->sqlite, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL);
	sqlite3_free(uri);
	return rc == SQLITE_OK || gb_db_fail(db, rc, "open", err);
}

void gb_db_set_busy(struct gb_db *db, unsigned busy_ms) {
	db->options.busy_ms = busy_ms;
	if (busy_ms == GB_DB_NO_WAIT)
		busy_ms = 0;
	else if (!busy_ms)
		busy_ms = DEFAULT_BUSY_MS;
	sqlite3_busy_timeout(db->sqlite, (int)busy_ms);
}

/* The schema and contents of the file must not make SQLite do anything but read and write rows. */
static bool harden(struct gb_db *db, struct gb_err *err) {
	sqlite3_extended_result_codes(db->sqlite, 1);
	gb_db_set_busy(db, db->options.busy_ms);
	sqlite3_db_config(db->sqlite, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(db->sqlite, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_limit(db->sqlite, SQLITE_LIMIT_ATTACHED, 0);
	sqlite3_limit(db->sqlite, SQLITE_LIMIT_LENGTH, VALUE_MAX);
	return gb_db_exec(
	    db, "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0; PRAGMA temp_store = MEMORY", err);
}

/* SQLite rolls back a journal that it finds beside the file, and then deletes the file that the journal names
 * as its super-journal, wherever that is. Our databases never have one: no other database is attached. */
static bool check_journal(const struct gb_db *db, struct gb_err *err) {
	static const uint8_t magic[] = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};
	uint8_t end[sizeof magic];
	char path[PATH_MAX];
	struct stat st;
	if (snprintf(path, sizeof path, "%s-journal", db->path) >= (int)sizeof path || lstat(path, &st) != 0)
		return true;
	gb_auto_fd int fd =
	    S_ISREG(st.st_mode) ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;
	bool has_super_journal = fd >= 0 && st.st_size >= (off_t)sizeof end &&
				 pread(fd, end, sizeof end, st.st_size - (off_t)sizeof end) == sizeof end &&
				 memcmp(end, magic, sizeof magic) == 0;
	if (fd >= 0 && !has_super_journal)
		return true;
	return gb_fail(err, GB_EINVAL, 0, "'%s' was not written by Glovebox; move it away", path);
}

static bool open_connection(struct gb_db *db, struct gb_err *err) {
	if (!db->options.read_only && !check_journal(db, err))
		return false;
	int flags = db->options.read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
	int rc = sqlite3_open_v2(db->path, &db->sqlite, flags | SQLITE_OPEN_NOMUTEX, NULL);
	if (!db->sqlite)
		return gb_fail(err, GB_ENOMEM, 0, "open '%s'", db->path);
	if (rc != SQLITE_OK)
		return gb_db_fail(db, rc, "open", err);
	if (!harden(db, err))
		return false;
	/* The first read opens the files beside the database. */
	rc = sqlite3_exec(db->sqlite, "SELECT count(*) FROM sqlite_schema", NULL, NULL, NULL);
	if (rc == SQLITE_OK)
		return true;
	int kind = sqlite3_errcode(db->sqlite) & 0xff;
	bool no_access = kind == SQLITE_CANTOPEN || kind == SQLITE_READONLY;
	if (db->options.read_only && no_access && !has_wal(db->path))
		return open_immutable(db, err) && harden(db, err);
	return gb_db_fail(db, sqlite3_extended_errcode(db->sqlite), "open", err);
}

/* --- migrations --- */

static bool read_number(struct gb_db *db, const char *sql, sqlite3_int64 *ret, struct gb_err *err) {
	gb_auto_stmt sqlite3_stmt *stmt = NULL;
	bool row;
	if (!gb_db_prepare(db, sql, &stmt, err) || !gb_db_step(db, stmt, &row, err))
		return false;
	*ret = row ? sqlite3_column_int64(stmt, 0) : 0;
	return true;
}

/* 0 for an empty file. */
static bool read_version(struct gb_db *db, sqlite3_int64 *ret_version, struct gb_err *err) {
	sqlite3_int64 is_ours = 0, is_used = 0;
	if (!read_number(
		db, "SELECT count(*) FROM sqlite_schema WHERE name = 'schema_version'", &is_ours, err) ||
	    !read_number(db, "SELECT count(*) FROM sqlite_schema", &is_used, err))
		return false;
	if (is_ours)
		return read_number(db, "SELECT max(version) FROM schema_version", ret_version, err);
	if (is_used || (db->options.read_only && db->options.n_migrations))
		return gb_fail(err, GB_EFORMAT, 0,
		    "'%s' is not a Glovebox database: it is empty, or belongs to another program", db->path);
	*ret_version = 0;
	return true;
}

static bool insert_version(struct gb_db *db, size_t version, struct gb_err *err) {
	gb_auto_stmt sqlite3_stmt *insert = NULL;
	if (!gb_db_prepare(db, "INSERT INTO schema_version(version, applied) VALUES (?, ?)", &insert, err))
		return false;
	sqlite3_bind_int64(insert, 1, (sqlite3_int64)version);
	sqlite3_bind_int64(insert, 2, time(NULL));
	return gb_db_run(db, insert, err);
}

static bool migrate_in_transaction(struct gb_db *db, struct gb_err *err) {
	sqlite3_int64 version = 0; /* read again: another process may have migrated it first */
	if (!read_version(db, &version, err))
		return false;
	if (version == 0 && !gb_db_exec(db,
				"CREATE TABLE IF NOT EXISTS schema_version(version INTEGER PRIMARY KEY, "
				"applied INTEGER NOT NULL)",
				err))
		return false;
	for (size_t i = (size_t)version; i < db->options.n_migrations; i++)
		if (!gb_db_exec(db, db->options.migrations[i], err) || !insert_version(db, i + 1, err))
			return false;
	return true;
}

static bool migrate(struct gb_db *db, struct gb_err *err) {
	sqlite3_int64 version = 0, newest = (sqlite3_int64)db->options.n_migrations;
	if (!read_version(db, &version, err))
		return false;
	if (version > newest || version < 0)
		return gb_fail(err, GB_EFORMAT, 0,
		    "'%s' has schema version %lld and this program supports %lld: use a newer Glovebox",
		    db->path, (long long)version, (long long)newest);
	if (version == newest)
		return true;
	if (db->options.read_only)
		return gb_fail(err, GB_EFORMAT, 0,
		    "'%s' has schema version %lld, older than this program's %lld: open it for writing once",
		    db->path, (long long)version, (long long)newest);
	if (!gb_db_begin(db, err))
		return false;
	if (migrate_in_transaction(db, err))
		return gb_db_commit(db, err);
	gb_db_rollback(db);
	return false;
}

static bool set_up_writing(struct gb_db *db, struct gb_err *err) {
	/* auto_vacuum takes effect only before the first table exists; it lets a pruned file shrink. */
	if (!gb_db_exec(db,
		"PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL; PRAGMA foreign_keys = ON;"
		"PRAGMA secure_delete = ON; PRAGMA journal_size_limit = 67108864",
		err))
		return false;
	return gb_db_exec(
	    db, db->options.durable ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL", err);
}

bool gb_db_open(
    const char *path, const struct gb_db_options *options, struct gb_db **ret_db, struct gb_err *err) {
	if (!check_file(path, options, err))
		return false;
	__attribute__((cleanup(close_db))) struct gb_db *db = calloc(1, sizeof *db);
	if (!db || !(db->path = strdup(path)))
		return gb_fail(err, GB_ENOMEM, 0, "open '%s'", path);
	db->options = *options;
	sqlite3_int64 version; /* do not modify a file that is not a Glovebox database */
	if (!open_connection(db, err) || !read_version(db, &version, err) ||
	    (!options->read_only && !set_up_writing(db, err)) || !migrate(db, err))
		return false;
	*ret_db = gb_take_pointer(&db);
	return true;
}

/* --- checking the schema --- */

static const char list_schema[] = "SELECT type || ' ' || name || ' ' || tbl_name || ' ' || ifnull(sql, '') "
				  "FROM sqlite_schema ORDER BY type, name";

static bool create_model(struct gb_db *db, sqlite3 **ret_model) {
	if (sqlite3_open_v2(":memory:", ret_model, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) !=
		SQLITE_OK ||
	    sqlite3_exec(*ret_model,
		"CREATE TABLE schema_version(version INTEGER PRIMARY KEY, applied INTEGER NOT NULL)", NULL,
		NULL, NULL) != SQLITE_OK)
		return false;
	for (size_t i = 0; i < db->options.n_migrations; i++)
		if (sqlite3_exec(*ret_model, db->options.migrations[i], NULL, NULL, NULL) != SQLITE_OK)
			return false;
	return true;
}

static bool same_rows(sqlite3_stmt *a, sqlite3_stmt *b) {
	for (;;) {
		int ra = sqlite3_step(a), rb = sqlite3_step(b);
		if (ra != rb || (ra != SQLITE_ROW && ra != SQLITE_DONE))
			return false;
		if (ra == SQLITE_DONE)
			return true;
		const char *ta = (const char *)sqlite3_column_text(a, 0),
			   *tb = (const char *)sqlite3_column_text(b, 0);
		if (!ta || !tb || strcmp(ta, tb) != 0)
			return false;
	}
}

bool gb_db_check_schema(struct gb_db *db, struct gb_err *err) {
	sqlite3 *model = NULL;
	gb_auto_stmt sqlite3_stmt *actual = NULL;
	sqlite3_stmt *expected = NULL;
	if (!gb_db_prepare(db, list_schema, &actual, err))
		return false;
	bool same = create_model(db, &model) &&
		    sqlite3_prepare_v2(model, list_schema, -1, &expected, NULL) == SQLITE_OK &&
		    same_rows(actual, expected);
	sqlite3_finalize(expected);
	sqlite3_close_v2(model);
	return same || gb_fail(err, GB_EFORMAT, 0, "the schema of '%s' was modified", db->path);
}
