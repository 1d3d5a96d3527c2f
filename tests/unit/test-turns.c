#include "store/turns.h"

#include <sys/wait.h>

#include "audit.h"
#include "tap.h"

static struct gb_turns *open_in(const char *folder) {
	struct gb_turns *turns = NULL;
	struct gb_err err = {0};
	if (!CHECK(gb_turns_open(folder, &turns, &err)))
		printf("# %s\n", err.message);
	return turns;
}

static bool count_call(struct gb_turns *turns, const char *conversation, const char *name, unsigned max) {
	bool granted = false;
	struct gb_err err = {0};
	CHECK(gb_turns_take(turns, &(struct gb_turn){"face", conversation, name}, max, &granted, &err));
	return granted;
}

TEST(calls_per_turn_are_limited) {
	auto_folder char folder[FOLDER];
	folder_create(folder);
	struct gb_turns *turns = open_in(folder);
	CHECK(count_call(turns, "c", "1", 2) && count_call(turns, "c", "1", 2));
	CHECK(!count_call(turns, "c", "1", 2));
	CHECK(count_call(turns, "c", "1", 3));
	CHECK(count_call(turns, "c", "2", 1) && count_call(turns, "d", "1", 1));
	/* The boundaries between the texts are part of the id. */
	CHECK(count_call(turns, "c1", "", 1) && count_call(turns, "", "c1", 1));
	gb_turns_close(turns);
}

TEST(a_call_that_did_not_run_is_given_back) {
	auto_folder char folder[FOLDER];
	folder_create(folder);
	struct gb_turns *turns = open_in(folder);
	const struct gb_turn turn = {"face", "c", "1"}, other = {"face", "c", "2"};
	struct gb_err err = {0};
	CHECK(count_call(turns, "c", "1", 1));
	CHECK(gb_turns_give_back(turns, &other, &err)); /* has no calls: no effect */
	CHECK(!count_call(turns, "c", "1", 1));
	CHECK(gb_turns_give_back(turns, &turn, &err));
	CHECK(gb_turns_give_back(turns, &turn, &err)); /* the count does not become negative */
	CHECK(count_call(turns, "c", "1", 1) && !count_call(turns, "c", "1", 1));
	gb_turns_close(turns);
}

TEST(count_survives_a_restart) {
	auto_folder char folder[FOLDER];
	folder_create(folder);
	struct gb_turns *turns = open_in(folder);
	CHECK(count_call(turns, "c", "1", 1));
	gb_turns_close(turns);
	turns = open_in(folder);
	CHECK(!count_call(turns, "c", "1", 1));
	gb_turns_close(turns);
}

TEST(processes_share_the_count) {
	enum { PROCESSES = 4, TRIES = 20, MAX = 30 };
	auto_folder char folder[FOLDER];
	folder_create(folder);
	gb_turns_close(open_in(folder));
	int granted = 0;
	for (int i = 0; i < PROCESSES; i++)
		if (fork() == 0) {
			struct gb_turns *turns = open_in(folder);
			int mine = 0;
			for (int k = 0; k < TRIES; k++)
				mine += count_call(turns, "c", "1", MAX);
			gb_turns_close(turns);
			_exit(mine);
		}
	for (int i = 0, status; i < PROCESSES && wait(&status) > 0; i++)
		granted += WEXITSTATUS(status);
	CHECK_INT(granted, MAX);
}

static long count_rows(const char *folder) {
	sqlite3 *db = NULL;
	sqlite3_stmt *stmt = NULL;
	long n = -1;
	if (sqlite3_open(file_in(folder, "turns.db"), &db) == SQLITE_OK &&
	    sqlite3_prepare_v2(db, "SELECT count(*) FROM turn", -1, &stmt, NULL) == SQLITE_OK &&
	    sqlite3_step(stmt) == SQLITE_ROW)
		n = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	sqlite3_close(db);
	return n;
}

static void change(const char *folder, const char *sql) {
	sqlite3 *db = NULL;
	CHECK(sqlite3_open(file_in(folder, "turns.db"), &db) == SQLITE_OK &&
	      sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK);
	sqlite3_close(db);
}

TEST(turns_older_than_a_day_are_deleted) {
	auto_folder char folder[FOLDER];
	folder_create(folder);
	struct gb_turns *turns = open_in(folder);
	CHECK(count_call(turns, "c", "1", 1) && count_call(turns, "c", "2", 1));
	change(folder, "UPDATE turn SET at = at - 90000000");
	CHECK(count_call(turns, "c", "1", 1));
	CHECK_INT(count_rows(folder), 1);
	/* Turns from the future are deleted as well: the clock was wrong. */
	change(folder, "UPDATE turn SET at = at + 90000000");
	CHECK(count_call(turns, "c", "3", 1));
	CHECK_INT(count_rows(folder), 1);
	gb_turns_close(turns);
}

TEST(number_of_turns_is_limited) {
	auto_folder char folder[FOLDER];
	folder_create(folder);
	struct gb_turns *turns = open_in(folder);
	CHECK(count_call(turns, "c", "1", 1));
	change(folder, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12000) "
		       "INSERT INTO turn SELECT randomblob(32), 1, (SELECT max(at) FROM turn) - i FROM n");
	CHECK(!count_call(turns, "c", "1", 1));
	CHECK_INT(count_rows(folder), GB_TURNS_MAX);
	gb_turns_close(turns);
}

TEST(call_is_not_granted_if_counting_fails) {
	auto_folder char folder[FOLDER];
	folder_create(folder);
	struct gb_turns *turns = open_in(folder);
	bool granted = false;
	struct gb_err err = {0};
	change(folder, "DROP TABLE turn");
	CHECK(!gb_turns_take(turns, &(struct gb_turn){"face", "c", "1"}, 5, &granted, &err));
	CHECK(!granted);
	gb_turns_close(turns);
	turns = NULL;
	CHECK(!gb_turns_open(folder, &turns, &err));
}
