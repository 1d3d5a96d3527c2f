#include "store/turns.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "store/db.h"
#include "store/record.h"
#include "store/state.h"

#define TURNS_DB "turns.db"

static const int64_t day_ms = 86400000;

static const char *const migrations[] = {
    "CREATE TABLE turn(id BLOB PRIMARY KEY, calls INTEGER NOT NULL, at INTEGER NOT NULL) WITHOUT ROWID;"
    "CREATE INDEX turn_at ON turn(at)",
};
static const struct gb_db_options db_options = {
    .migrations = migrations, .n_migrations = GB_COUNT(migrations)};

struct gb_turns {
	struct gb_db *db;
};

static int64_t now_ms(void) {
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void gb_turns_close(struct gb_turns *turns) {
	if (!turns)
		return;
	gb_db_close(turns->db);
	free(turns);
}

bool gb_turns_open(const char *dir, struct gb_turns **ret, struct gb_err *err) {
	char path[GB_STATE_PATH + 32];
	struct gb_turns *turns = calloc(1, sizeof *turns);
	if (!turns)
		return gb_fail(err, GB_ENOMEM, 0, "the count of calls");
	snprintf(path, sizeof path, "%s/%s", dir, TURNS_DB);
	if (!gb_state_prepare(dir, err) || !gb_db_open(path, &db_options, &turns->db, err) ||
	    !gb_db_check_schema(turns->db, err)) {
		gb_turns_close(turns);
		return gb_wrap(err, "open the count of calls in a turn");
	}
	*ret = turns;
	return true;
}

void gb_turns_set_busy(struct gb_turns *turns, unsigned busy_ms) {
	gb_db_set_busy(turns->db, busy_ms);
}

static struct gb_hash hash_turn(const struct gb_turn *turn) {
	const char *const texts[] = {turn->face, turn->conversation, turn->turn};
	crypto_generichash_state state;
	struct gb_hash hash;
	crypto_generichash_init(&state, NULL, 0, sizeof hash.bytes);
	for (size_t i = 0; i < GB_COUNT(texts); i++)
		crypto_generichash_update(&state, (const uint8_t *)texts[i], strlen(texts[i]) + 1);
	crypto_generichash_final(&state, hash.bytes, sizeof hash.bytes);
	return hash;
}

/* Delete turns that are a day old, and the oldest beyond the maximum. Turns from the future (the clock was
 * ahead) are deleted as well, so that they do not stay for ever. */
static bool delete_old(struct gb_db *db, int64_t now, struct gb_err *err) {
	gb_auto_stmt sqlite3_stmt *stmt = NULL;
	if (!gb_db_prepare(db,
		"DELETE FROM turn WHERE at < ?1 OR at > ?2 OR at < (SELECT at FROM turn ORDER BY at DESC "
		"LIMIT 1 OFFSET ?3)",
		&stmt, err))
		return false;
	sqlite3_bind_int64(stmt, 1, now - day_ms);
	sqlite3_bind_int64(stmt, 2, now + day_ms);
	sqlite3_bind_int64(stmt, 3, GB_TURNS_MAX - 1);
	return gb_db_run(db, stmt, err);
}

static bool read_calls(struct gb_db *db, const struct gb_hash *hash, int64_t *ret_calls, struct gb_err *err) {
	gb_auto_stmt sqlite3_stmt *stmt = NULL;
	bool row;
	if (!gb_db_prepare(db, "SELECT calls FROM turn WHERE id = ?", &stmt, err))
		return false;
	sqlite3_bind_blob(stmt, 1, hash->bytes, sizeof hash->bytes, SQLITE_STATIC);
	if (!gb_db_step(db, stmt, &row, err))
		return false;
	*ret_calls = row ? sqlite3_column_int64(stmt, 0) : 0;
	return true;
}

static bool write_calls(
    struct gb_db *db, const struct gb_hash *hash, int64_t calls, int64_t now, struct gb_err *err) {
	gb_auto_stmt sqlite3_stmt *stmt = NULL;
	if (!gb_db_prepare(db, "INSERT OR REPLACE INTO turn VALUES (?, ?, ?)", &stmt, err))
		return false;
	sqlite3_bind_blob(stmt, 1, hash->bytes, sizeof hash->bytes, SQLITE_STATIC);
	sqlite3_bind_int64(stmt, 2, calls);
	sqlite3_bind_int64(stmt, 3, now);
	return gb_db_run(db, stmt, err);
}

static bool count_call(
    struct gb_db *db, const struct gb_hash *hash, unsigned max, bool *ret_granted, struct gb_err *err) {
	int64_t now = now_ms(), calls;
	if (!delete_old(db, now, err) || !read_calls(db, hash, &calls, err))
		return false;
	*ret_granted = calls >= 0 && calls < (int64_t)max;
	return !*ret_granted || write_calls(db, hash, calls + 1, now, err);
}

bool gb_turns_take(
    struct gb_turns *turns, const struct gb_turn *turn, unsigned max, bool *ret_granted, struct gb_err *err) {
	struct gb_hash hash = hash_turn(turn);
	if (!gb_db_begin(turns->db, err))
		return gb_wrap(err, "count the calls of a turn");
	if (count_call(turns->db, &hash, max, ret_granted, err) && gb_db_commit(turns->db, err))
		return true;
	gb_db_rollback(turns->db);
	return gb_wrap(err, "count the calls of a turn");
}

bool gb_turns_give_back(struct gb_turns *turns, const struct gb_turn *turn, struct gb_err *err) {
	struct gb_hash hash = hash_turn(turn);
	gb_auto_stmt sqlite3_stmt *stmt = NULL;
	if (!gb_db_prepare(
		turns->db, "UPDATE turn SET calls = calls - 1 WHERE id = ? AND calls > 0", &stmt, err))
		return gb_wrap(err, "give back a call of a turn");
	sqlite3_bind_blob(stmt, 1, hash.bytes, sizeof hash.bytes, SQLITE_STATIC);
	return gb_db_run(turns->db, stmt, err) || gb_wrap(err, "give back a call of a turn");
}
