/*
 * A SQLite file of ours: opened with care, brought to its newest schema, and with errors that say what to do.
 *
 *	static const char *const migrations[] = {
 *	    "CREATE TABLE approval(id INTEGER PRIMARY KEY, ...)",	// version 1
 *	    "ALTER TABLE approval ADD COLUMN ...",			// version 2; never change a released one
 *	};
 *	struct gb_db_options options = {.migrations = migrations, .n_migrations = GB_COUNT(migrations)};
 *	gb_db_open("/state/approvals.db", &options, &db, &err);
 *	gb_auto_stmt sqlite3_stmt *find = NULL;
 *	gb_db_prepare(db, "SELECT ... WHERE id = ?", &find, &err);
 *	sqlite3_bind_int64(find, 1, 7);
 *	bool row;
 *	while (gb_db_step(db, find, &row, &err) && row) ...
 *	gb_db_close(db);
 *
 * One connection, one thread, WAL: readers never wait, writers of several processes take turns. Nobody but
 * the owner may be able to read or write the file. What the file holds is not believed: its schema cannot call
 * functions of its own choice.
 */
#ifndef GB_STORE_DB_H
#define GB_STORE_DB_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct gb_db;

struct gb_db_options {
	const char *const *migrations; /* each may hold several statements */
	size_t n_migrations;           /* the schema's version */
	bool read_only;                /* and not made when it is missing */
	bool durable; /* a commit is on the disk when it returns; else power loss may take the newest ones */
	unsigned busy_ms; /* how long to wait for other writers; 0: ten seconds */
};

/* Fails with GB_ENOENT (read-only and missing), GB_EINVAL (owner, mode, not a file), GB_EFORMAT (damaged, not
 * ours, or from a newer version), GB_EBUSY, GB_ESYSTEM. */
bool gb_db_open(
    const char *path, const struct gb_db_options *options, struct gb_db **ret_db, struct gb_err *err);
void gb_db_close(struct gb_db *db);

sqlite3 *gb_db_handle(struct gb_db *db);
const char *gb_db_path(const struct gb_db *db);

/* One or more statements without results. */
bool gb_db_exec(struct gb_db *db, const char *sql, struct gb_err *err);
bool gb_db_prepare(struct gb_db *db, const char *sql, sqlite3_stmt **ret_stmt, struct gb_err *err);
/* Advance: *ret_row says whether there is a row. On failure the statement is reset. */
bool gb_db_step(struct gb_db *db, sqlite3_stmt *stmt, bool *ret_row, struct gb_err *err);
/* Run a statement that returns no row, and reset it for the next time. */
bool gb_db_run(struct gb_db *db, sqlite3_stmt *stmt, struct gb_err *err);

/* A transaction that writes, from its start: waits for its turn. */
bool gb_db_begin(struct gb_db *db, struct gb_err *err);
/* On failure it has been rolled back. */
bool gb_db_commit(struct gb_db *db, struct gb_err *err);
/* Nothing if none is open. */
void gb_db_rollback(struct gb_db *db);

/* Does the schema hold exactly what the migrations make: no view in a table's place, no trigger? */
bool gb_db_check_schema(struct gb_db *db, struct gb_err *err);

/* Describe SQLite's answer @rc (db_error.c): what failed, why, what to do next. Returns false. */
bool gb_db_fail(struct gb_db *db, int rc, const char *what, struct gb_err *err);
/* Did this failure mean that there is no room? Then freeing some and trying again may help. */
bool gb_db_is_full(const struct gb_err *err);

void gb_stmt_finish(sqlite3_stmt **stmt);
#define gb_auto_stmt __attribute__((cleanup(gb_stmt_finish)))

#endif
