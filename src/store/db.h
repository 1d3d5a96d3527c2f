/*
 * An SQLite database: checked when opened, migrated to the newest schema, with errors that suggest a remedy.
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
 * One connection, one thread, WAL: readers never wait, writers of several processes are serialised. The file
 * must be readable and writable by its owner only. Its contents are not trusted: the schema cannot call
 * application functions.
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
	bool read_only;                /* not created if it is missing */
	bool durable;     /* a commit is on the disk when it returns; otherwise power loss may undo it */
	unsigned busy_ms; /* how long to wait for other writers; 0: ten seconds; GB_DB_NO_WAIT: not at all */
};

#define GB_DB_NO_WAIT ((unsigned)-1)

/* Fails with GB_ENOENT (read-only and missing), GB_EINVAL (owner, mode, not a file), GB_EFORMAT (damaged, not
 * a Glovebox database, or from a newer version), GB_EBUSY, GB_ESYSTEM. */
bool gb_db_open(
    const char *path, const struct gb_db_options *options, struct gb_db **ret_db, struct gb_err *err);
void gb_db_close(struct gb_db *db);

/* Change .busy_ms of the options. */
void gb_db_set_busy(struct gb_db *db, unsigned busy_ms);

sqlite3 *gb_db_handle(struct gb_db *db);
const char *gb_db_path(const struct gb_db *db);

/* Run one or more statements that return no rows. */
bool gb_db_exec(struct gb_db *db, const char *sql, struct gb_err *err);
bool gb_db_prepare(struct gb_db *db, const char *sql, sqlite3_stmt **ret_stmt, struct gb_err *err);
/* Advance; *ret_row: there is a row. On failure the statement is reset. */
bool gb_db_step(struct gb_db *db, sqlite3_stmt *stmt, bool *ret_row, struct gb_err *err);
/* Run a statement that returns no row, and reset it for reuse. */
bool gb_db_run(struct gb_db *db, sqlite3_stmt *stmt, struct gb_err *err);

/* Begin a write transaction; waits for other writers. */
bool gb_db_begin(struct gb_db *db, struct gb_err *err);
/* On failure the transaction was rolled back. */
bool gb_db_commit(struct gb_db *db, struct gb_err *err);
/* No effect if no transaction is open. */
void gb_db_rollback(struct gb_db *db);

/* Check that the schema is exactly what the migrations create: no view in place of a table, no trigger. */
bool gb_db_check_schema(struct gb_db *db, struct gb_err *err);

/* Describe the SQLite error @rc (db_error.c): what failed, why, what to do next. Returns false. */
bool gb_db_fail(struct gb_db *db, int rc, const char *what, struct gb_err *err);
/* Whether the failure means that the disk is full. Then freeing space and trying again may help. */
bool gb_db_is_full(const struct gb_err *err);

void gb_stmt_finish(sqlite3_stmt **stmt);
#define gb_auto_stmt __attribute__((cleanup(gb_stmt_finish)))

#endif
