#include "store/db.h"

#include <errno.h>

#include "audit.h"
#include "store/state.h"
#include "tap.h"

static const char *const migrations[] = {
    "CREATE TABLE thing(id INTEGER PRIMARY KEY, name TEXT NOT NULL)",
    "ALTER TABLE thing ADD COLUMN price INTEGER NOT NULL DEFAULT 0; CREATE INDEX by_name ON thing(name)",
};

static struct gb_db_options version(size_t n) {
	return (struct gb_db_options){.migrations = migrations, .n_migrations = n, .busy_ms = 50};
}

static bool open_version(const char *folder, size_t n, struct gb_db **ret_db, struct gb_err *err) {
	struct gb_db_options options = version(n);
	return gb_db_open(file_in(folder, "x.db"), &options, ret_db, err);
}

static bool create_database(const char *folder) {
	struct gb_db *db;
	bool ok = open_version(folder, 2, &db, NULL) &&
		  gb_db_exec(db, "INSERT INTO thing(name) VALUES ('a'), ('b')", NULL);
	if (ok)
		gb_db_close(db);
	return ok;
}

static int count(struct gb_db *db, const char *sql) {
	gb_auto_stmt sqlite3_stmt *stmt = NULL;
	bool row = false;
	if (!gb_db_prepare(db, sql, &stmt, NULL) || !gb_db_step(db, stmt, &row, NULL) || !row)
		return -1;
	return sqlite3_column_int(stmt, 0);
}

TEST(migrations_update_the_schema_and_keep_the_data) {
	auto_folder char folder[FOLDER];
	struct gb_db *db;
	struct gb_err err = {0};
	folder_create(folder);
	CHECK(open_version(folder, 1, &db, &err));
	CHECK(gb_db_exec(db, "INSERT INTO thing(name) VALUES ('old')", &err));
	gb_db_close(db);
	CHECK(open_version(folder, 2, &db, &err));
	CHECK_INT(count(db, "SELECT count(*) FROM thing WHERE price = 0"), 1);
	CHECK_INT(count(db, "SELECT count(*) FROM schema_version"), 2);
	CHECK(gb_db_check_schema(db, &err) == true);
	gb_db_close(db);
	CHECK_STR(err.message, "");
}

TEST(failed_migration_is_rolled_back) {
	auto_folder char folder[FOLDER];
	static const char *const bad[] = {"CREATE TABLE fine(x); CREATE TABLE not fine"};
	struct gb_db_options options = {.migrations = bad, .n_migrations = 1};
	struct gb_db *db;
	folder_create(folder);
	CHECK(!gb_db_open(file_in(folder, "x.db"), &options, &db, NULL));
	options.n_migrations = 0;
	CHECK(gb_db_open(file_in(folder, "x.db"), &options, &db, NULL));
	CHECK_INT(count(db, "SELECT count(*) FROM sqlite_schema"), 0);
	gb_db_close(db);
}

TEST(newer_schema_version_is_rejected) {
	auto_folder char folder[FOLDER];
	struct gb_db *db;
	struct gb_err err = {0};
	folder_create(folder);
	CHECK(create_database(folder));
	CHECK(!open_version(folder, 1, &db, &err));
	CHECK_INT(err.code, GB_EFORMAT);
	CHECK(strstr(err.message, "use a newer Glovebox") != NULL);
}

TEST(opening_read_only_does_not_migrate) {
	auto_folder char folder[FOLDER];
	struct gb_db_options options = version(2);
	struct gb_db *db;
	struct gb_err err = {0};
	folder_create(folder);
	options.read_only = true;
	CHECK(!gb_db_open(file_in(folder, "x.db"), &options, &db, &err));
	CHECK_INT(err.code, GB_ENOENT);
	CHECK(open_version(folder, 1, &db, NULL));
	gb_db_close(db);
	CHECK(!gb_db_open(file_in(folder, "x.db"), &options, &db, &err));
	CHECK(strstr(err.message, "open it for writing once") != NULL);
}

TEST(database_of_another_program_is_rejected) {
	auto_folder char folder[FOLDER];
	struct gb_db *db;
	struct gb_err err = {0};
	folder_create(folder);
	CHECK(tamper(folder, "CREATE TABLE theirs(x)"));
	CHECK(chmod(file_in(folder, "audit.db"), 0600) == 0);
	struct gb_db_options options = version(2);
	CHECK(!gb_db_open(file_in(folder, "audit.db"), &options, &db, &err));
	CHECK_INT(err.code, GB_EFORMAT);
	CHECK(strstr(err.message, "belongs to another program") != NULL);
}

TEST(owner_and_mode_are_checked) {
	auto_folder char folder[FOLDER];
	struct gb_db *db;
	struct gb_err err = {0};
	folder_create(folder);
	CHECK(create_database(folder));
	CHECK(chmod(file_in(folder, "x.db"), 0640) == 0);
	CHECK(!open_version(folder, 2, &db, &err));
	CHECK_INT(err.code, GB_EINVAL);
	CHECK(strstr(err.message, "has mode 0640: others could read or write it; chmod 600 it") != NULL);
	CHECK(chmod(file_in(folder, "x.db"), 0600) == 0);
	CHECK(symlink("x.db", file_in(folder, "link.db")) == 0);
	struct gb_db_options options = version(2);
	CHECK(!gb_db_open(file_in(folder, "link.db"), &options, &db, &err));
	CHECK(strstr(err.message, "is a symbolic link") != NULL);
	CHECK(!gb_db_open("/dev/null", &options, &db, &err));
	CHECK(strstr(err.message, "not a regular file") != NULL);
	if (geteuid() != 0)
		SKIP("only root can give a file away");
	CHECK(chown(file_in(folder, "x.db"), 65534, 65534) == 0);
	CHECK(!open_version(folder, 2, &db, &err));
	CHECK(strstr(err.message, "belongs to user 65534, but this process runs as user 0") != NULL);
}

TEST(file_that_is_not_sqlite_is_reported_as_damaged) {
	auto_folder char folder[FOLDER];
	struct gb_db *db;
	struct gb_err err = {0};
	folder_create(folder);
	CHECK(create_database(folder));
	gb_auto_fd int fd = open(file_in(folder, "x.db"), O_RDWR | O_CLOEXEC);
	CHECK(pwrite(fd, "not a database at all", 21, 0) == 21);
	CHECK(!open_version(folder, 2, &db, &err));
	CHECK_INT(err.code, GB_EFORMAT);
	CHECK(strstr(err.message, "is damaged: it is not an SQLite file; move it away") != NULL);
}

TEST(damaged_page_is_reported) {
	auto_folder char folder[FOLDER];
	struct gb_db *db;
	struct gb_err err = {0};
	folder_create(folder);
	CHECK(create_database(folder));
	/* The root page of the table. count(*) would use the index, so read a column that is only in the
	 * table. */
	CHECK(open_version(folder, 2, &db, NULL));
	int root = count(db, "SELECT rootpage FROM sqlite_schema WHERE name = 'thing'");
	gb_db_close(db);
	gb_auto_fd int fd = open(file_in(folder, "x.db"), O_RDWR | O_CLOEXEC);
	char garbage[4096];
	memset(garbage, 0x5a, sizeof garbage);
	CHECK(pwrite(fd, garbage, sizeof garbage, (off_t)(root - 1) * 4096) == sizeof garbage);
	CHECK(open_version(folder, 2, &db, &err));
	gb_auto_stmt sqlite3_stmt *stmt = NULL;
	bool row = true;
	CHECK(
	    !gb_db_prepare(db, "SELECT price FROM thing", &stmt, &err) || !gb_db_step(db, stmt, &row, &err));
	CHECK_INT(err.code, GB_EFORMAT);
	if (!CHECK(strstr(err.message, "is damaged: ") != NULL))
		printf("# %s\n", err.message);
	gb_stmt_finish(&stmt);
	gb_db_close(db);
}

TEST(locked_database_is_reported_as_busy) {
	auto_folder char folder[FOLDER];
	struct gb_db *a, *b;
	struct gb_err err = {0};
	folder_create(folder);
	CHECK(open_version(folder, 2, &a, NULL) && open_version(folder, 2, &b, NULL));
	CHECK(gb_db_begin(a, NULL));
	CHECK(!gb_db_begin(b, &err));
	CHECK_INT(err.code, GB_EBUSY);
	CHECK(gb_db_exec(a, "INSERT INTO thing(name) VALUES ('a')", NULL) && gb_db_commit(a, NULL));
	CHECK(gb_db_begin(b, NULL));
	gb_db_rollback(b);
	CHECK_INT(count(b, "SELECT count(*) FROM thing"), 1);
	gb_db_close(a);
	gb_db_close(b);
}

TEST(modified_schema_is_detected) {
	auto_folder char folder[FOLDER];
	struct gb_db *db;
	struct gb_err err = {0};
	folder_create(folder);
	static const char *const one[] = {"CREATE TABLE thing(id INTEGER PRIMARY KEY)"};
	struct gb_db_options options = {.migrations = one, .n_migrations = 1};
	CHECK(gb_db_open(file_in(folder, "y.db"), &options, &db, NULL));
	CHECK(gb_db_check_schema(db, &err));
	CHECK(gb_db_exec(db, "CREATE VIEW v AS SELECT 1", &err));
	CHECK(!gb_db_check_schema(db, &err));
	gb_db_close(db);
}

TEST(state_folder_is_found_and_created) {
	auto_folder char folder[FOLDER];
	char path[GB_STATE_PATH];
	struct gb_err err = {0};
	struct stat st;
	folder_create(folder);
	unsetenv("GLOVEBOX_STATE_DIR");
	unsetenv("XDG_STATE_HOME");
	setenv("HOME", "/home/someone", 1);
	CHECK(gb_state_find(path, &err));
	CHECK_STR(path, "/home/someone/.local/state/glovebox");
	setenv("XDG_STATE_HOME", "/state", 1);
	CHECK(gb_state_find(path, &err));
	CHECK_STR(path, "/state/glovebox");
	setenv("GLOVEBOX_STATE_DIR", "here", 1);
	CHECK(!gb_state_find(path, &err));
	CHECK_STR(err.message, "$GLOVEBOX_STATE_DIR is not an absolute path");
	setenv("GLOVEBOX_STATE_DIR", file_in(folder, "a"), 1);
	CHECK(gb_state_find(path, &err));
	CHECK_STR(path, file_in(folder, "a"));
	CHECK(gb_state_prepare(file_in(folder, "a/b"), &err));
	CHECK(stat(file_in(folder, "a/b"), &st) == 0 && (st.st_mode & 0777) == 0700);
	CHECK(chmod(file_in(folder, "a/b"), 0770) == 0);
	CHECK(!gb_state_prepare(file_in(folder, "a/b"), &err));
	CHECK(strstr(err.message, "others could write there; chmod 700 it") != NULL);
	CHECK(rmdir(file_in(folder, "a/b")) == 0 && rmdir(file_in(folder, "a")) == 0);
}
