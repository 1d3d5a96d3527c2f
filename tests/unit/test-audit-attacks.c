/* Tampering with the log: each change is detected, and nothing is appended to a changed log. */
#include <sodium.h>

#include "unit/audit-checks.h"

static int64_t clock_ms;
static int64_t fake_clock(void) {
	return clock_ms;
}

enum { MANY = 100000 };
static char many[FOLDER]; /* a log of many records, created once */

static void remove_many(void) {
	folder_destroy(many);
}

static const char *many_records(void) {
	struct gb_err err = {0};
	if (!*many) {
		folder_create(many);
		atexit(remove_many);
		if (!CHECK(make_log(many, MANY, 1000, &err)))
			printf("# %s\n", err.message);
	}
	return many;
}

static void copy_many(char folder[FOLDER]) {
	folder_create(folder);
	copy_log(many_records(), folder);
}

TEST(a_hundred_thousand_records_verify) {
	struct gb_audit_report report = verified(many_records());
	CHECK_INT(report.problem, GB_AUDIT_WHOLE);
	CHECK_INT(report.records, MANY);
	CHECK_INT(report.head.seq, MANY);
}

static const struct attack {
	const char *name, *sql;
	enum gb_audit_problem problem;
	uint64_t seq;
} attacks[] = {
    {"a changed byte is found",
	"UPDATE audit_record SET body = CAST(substr(body, 1, 20) || x'41' || substr(body, 22) AS BLOB) WHERE "
	"seq = 54321",
	GB_AUDIT_CHANGED, 54321},
    {"a changed hash is found", "UPDATE audit_record SET hash = zeroblob(32) WHERE seq = 54321",
	GB_AUDIT_CHANGED, 54321},
    {"a removed record is found", "DELETE FROM audit_record WHERE seq = 54321", GB_AUDIT_REMOVED, 54321},
    {"the first record removed is found", "DELETE FROM audit_record WHERE seq = 1", GB_AUDIT_REMOVED, 1},
    {"two swapped records are found",
	"UPDATE audit_record SET seq = -1 WHERE seq = 54321; UPDATE audit_record SET seq = 54321 WHERE seq = "
	"60000;"
	"UPDATE audit_record SET seq = 60000 WHERE seq = -1",
	GB_AUDIT_SWAPPED, 54321},
    {"two swapped bodies are found",
	"CREATE TEMP TABLE t AS SELECT seq, body FROM audit_record WHERE seq IN (54321, 54322);"
	"UPDATE audit_record SET body = (SELECT body FROM t WHERE t.seq = 54322) WHERE seq = 54321;"
	"UPDATE audit_record SET body = (SELECT body FROM t WHERE t.seq = 54321) WHERE seq = 54322",
	GB_AUDIT_SWAPPED, 54321},
    {"a cut tail is found", "DELETE FROM audit_record WHERE seq > 99990", GB_AUDIT_TAIL_CUT, 99991},
    {"everything cut is found", "DELETE FROM audit_record", GB_AUDIT_TAIL_CUT, 1},
    {"a tail cut back to a checkpoint is found",
	"DELETE FROM audit_record WHERE seq > 99840; DELETE FROM audit_checkpoint WHERE seq > 99840;"
	"UPDATE audit_head SET (seq, hash, time, signature) = (SELECT seq, hash, time, signature FROM "
	"audit_checkpoint WHERE seq = 99840)",
	GB_AUDIT_MARK, 0},
    {"a record that was removed with the rest moved up is found",
	"DELETE FROM audit_record WHERE seq = 99990;"
	"UPDATE audit_record SET seq = -(seq - 1) WHERE seq > 99990; UPDATE audit_record SET seq = -seq "
	"WHERE seq < 0",
	GB_AUDIT_CHANGED, 99990},
    {"an added record is found",
	"INSERT INTO audit_record SELECT 100001, body, hash FROM audit_record WHERE seq = 100000",
	GB_AUDIT_ADDED, 100001},
    {"a record with a negative number is found",
	"INSERT INTO audit_record SELECT -5, body, hash FROM audit_record WHERE seq = 9", GB_AUDIT_ADDED, 1},
    {"a record of another type is found", "UPDATE audit_record SET body = 'text' WHERE seq = 54321",
	GB_AUDIT_CHANGED, 54321},
    {"an empty record is found", "UPDATE audit_record SET body = x'' WHERE seq = 54321", GB_AUDIT_CHANGED,
	54321},
    {"a changed checkpoint is found", "UPDATE audit_checkpoint SET hash = zeroblob(32) WHERE seq = 51200",
	GB_AUDIT_CHECKPOINT, 51200},
    {"a removed checkpoint is found", "DELETE FROM audit_checkpoint WHERE seq = 51200", GB_AUDIT_CHECKPOINT,
	51200},
    {"a moved checkpoint is found",
	"DELETE FROM audit_checkpoint WHERE seq = 51200; UPDATE audit_checkpoint SET seq = 51200 WHERE seq = "
	"51456",
	GB_AUDIT_CHECKPOINT, 51200},
    {"a changed head is found",
	"UPDATE audit_head SET seq = 99999, hash = (SELECT hash FROM audit_record WHERE seq = 99999)",
	GB_AUDIT_MARK, 0},
    {"a removed head is found", "DELETE FROM audit_head", GB_AUDIT_MARK, 0},
    {"another public key is found", "UPDATE audit_chain SET public_key = randomblob(32)", GB_AUDIT_KEY, 0},
    {"another chain id is found", "UPDATE audit_chain SET id = randomblob(16)", GB_AUDIT_MARK, 0},
    {"a trigger is found",
	"CREATE TRIGGER t AFTER INSERT ON audit_record BEGIN DELETE FROM audit_record WHERE seq = new.seq; "
	"END",
	GB_AUDIT_DAMAGED, 0},
    {"a view in the place of the records is found",
	"ALTER TABLE audit_record RENAME TO kept; CREATE VIEW audit_record AS SELECT * FROM kept WHERE seq < "
	"99000",
	GB_AUDIT_DAMAGED, 0},
};

static void run_attack(void) {
	const struct attack *attack = tap.data;
	auto_folder char folder[FOLDER];
	struct gb_audit *audit;
	struct gb_err err = {0};
	copy_many(folder);
	CHECK(tamper(folder, attack->sql));
	CHECK_REPORT(folder, attack->problem, attack->seq);
	if (attack->problem != GB_AUDIT_MARK && attack->problem != GB_AUDIT_KEY &&
	    attack->problem != GB_AUDIT_DAMAGED)
		return;
	/* A log with invalid marks cannot be opened. */
	CHECK(!gb_audit_open(folder, NULL, &audit, &err));
	CHECK_INT(err.code, GB_EFORMAT);
}

__attribute__((constructor)) static void add_attacks(void) {
	for (size_t i = 0; i < GB_COUNT(attacks); i++)
		tap_add(attacks[i].name, run_attack, &attacks[i]);
}

static void genesis_of(sqlite3 *db, struct gb_hash *ret) {
	sqlite3_stmt *get = NULL;
	struct gb_chain chain;
	sqlite3_prepare_v2(db, "SELECT id, public_key FROM audit_chain", -1, &get, NULL);
	CHECK(sqlite3_step(get) == SQLITE_ROW);
	memcpy(chain.id, sqlite3_column_blob(get, 0), sizeof chain.id);
	memcpy(chain.public_key, sqlite3_column_blob(get, 1), sizeof chain.public_key);
	sqlite3_finalize(get);
	gb_chain_genesis(&chain, ret);
}

/* Rewrites everything that is not signed: the record, its hash, and all later hashes. */
static void rewrite_from(const char *folder, uint64_t seq, uint64_t last) {
	sqlite3 *db = NULL;
	sqlite3_stmt *get = NULL, *set = NULL;
	struct gb_hash hash;
	CHECK(sqlite3_open(file_in(folder, "audit.db"), &db) == SQLITE_OK);
	sqlite3_exec(db, "BEGIN", NULL, NULL, NULL);
	sqlite3_prepare_v2(db, "SELECT hash, body FROM audit_record WHERE seq = ?", -1, &get, NULL);
	sqlite3_prepare_v2(db, "UPDATE audit_record SET hash = ?, body = ? WHERE seq = ?", -1, &set, NULL);
	sqlite3_bind_int64(get, 1, (sqlite3_int64)seq - 1);
	if (seq > 1 && sqlite3_step(get) == SQLITE_ROW)
		memcpy(hash.bytes, sqlite3_column_blob(get, 0), sizeof hash.bytes);
	else
		genesis_of(db, &hash);
	for (uint64_t at = seq; at <= last; at++) {
		struct gb_audit_record record;
		gb_auto_buf struct gb_buf body;
		gb_buf_init(&body, GB_AUDIT_BODY_MAX);
		sqlite3_reset(get);
		sqlite3_bind_int64(get, 1, (sqlite3_int64)at);
		sqlite3_step(get);
		CHECK(gb_audit_decode(
		    sqlite3_column_blob(get, 1), (size_t)sqlite3_column_bytes(get, 1), &record));
		record.time_ms = 1;
		if (at == seq)
			record.code = GB_STR("nothing to see here");
		gb_audit_encode(&body, &record);
		struct gb_hash previous = hash;
		gb_chain_link(&previous, at, body.data, body.len, &hash);
		sqlite3_bind_blob(set, 1, hash.bytes, sizeof hash.bytes, SQLITE_TRANSIENT);
		sqlite3_bind_blob(set, 2, body.data, (int)body.len, SQLITE_TRANSIENT);
		sqlite3_bind_int64(set, 3, (sqlite3_int64)at);
		sqlite3_step(set);
		sqlite3_reset(set);
	}
	sqlite3_finalize(get);
	sqlite3_finalize(set);
	sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
	CHECK(sqlite3_close(db) == SQLITE_OK);
}

TEST(rewritten_chain_is_detected_at_the_next_checkpoint) {
	auto_folder char folder[FOLDER];
	copy_many(folder);
	rewrite_from(folder, 99500, MANY);
	CHECK_REPORT(folder, GB_AUDIT_CHANGED, 99329); /* 99328 is a checkpoint */
}

TEST(rewritten_tail_is_detected_and_cannot_be_opened) {
	auto_folder char folder[FOLDER];
	struct gb_audit *audit;
	struct gb_err err = {0};
	copy_many(folder);
	CHECK(tamper(folder, "DELETE FROM audit_checkpoint WHERE seq > 99840"));
	rewrite_from(folder, 99900, MANY);
	CHECK_REPORT(folder, GB_AUDIT_CHANGED, 99841);
	CHECK(tamper(
	    folder, "UPDATE audit_head SET hash = (SELECT hash FROM audit_record WHERE seq = 100000)"));
	CHECK(!gb_audit_open(folder, NULL, &audit, &err));
	CHECK_REPORT(folder, GB_AUDIT_MARK, 0);
}

/* Records with faked old times must not be pruned, which would sign a new start. */
TEST(records_with_faked_times_are_not_pruned) {
	auto_folder char folder[FOLDER];
	struct gb_audit *audit;
	struct gb_audit_options options = {.now_ms = fake_clock, .keep_ms = 1000};
	struct gb_err err = {0};
	folder_create(folder);
	clock_ms = 1000000;
	CHECK(gb_audit_open(folder, &options, &audit, NULL));
	CHECK(append_many(audit, 1, 600, 50, NULL));
	CHECK(gb_audit_close(audit, NULL));
	rewrite_from(folder, 1, 599);
	CHECK(!gb_audit_open(folder, &options, &audit, &err));
	if (!CHECK(strstr(err.message, "records up to 256 do not match their signed checkpoint") != NULL))
		printf("# %s\n", err.message);
	CHECK_INT(verified(folder).pruned, 0);
}

TEST(replaced_key_is_detected) {
	auto_folder char folder[FOLDER], other[FOLDER];
	struct gb_audit *audit;
	struct gb_err err = {0};
	copy_many(folder);
	folder_create(other);
	CHECK(make_log(other, 1, 1, NULL));
	copy_file(other, folder, "audit.key");
	CHECK_REPORT(folder, GB_AUDIT_KEY, 0);
	CHECK(!gb_audit_open(folder, NULL, &audit, &err));
	CHECK(strstr(err.message, "another key") != NULL);
}

TEST(log_of_another_key_is_detected_with_an_expected_key) {
	auto_folder char folder[FOLDER];
	struct gb_audit_report report = verified(many_records());
	struct gb_audit_expected expected = {.has_key = true};
	memcpy(expected.public_key, report.public_key, sizeof expected.public_key);
	folder_create(folder);
	CHECK(make_log(folder, 10, 1, NULL));
	CHECK_REPORT(folder, GB_AUDIT_WHOLE, 0);
	CHECK(gb_audit_verify(folder, &expected, NULL, NULL, &report, NULL));
	CHECK_INT(report.problem, GB_AUDIT_KEY);
	CHECK(gb_audit_verify(many, &expected, NULL, NULL, &report, NULL));
	CHECK_INT(report.problem, GB_AUDIT_WHOLE);
}

/* An older copy of the database alone, with its own signed head. */
TEST(older_database_is_detected_by_the_head_file) {
	auto_folder char folder[FOLDER], older[FOLDER];
	struct gb_audit *audit;
	struct gb_err err = {0};
	folder_create(folder);
	folder_create(older);
	CHECK(make_log(folder, 40, 1, NULL));
	copy_log(folder, older);
	CHECK(make_log(folder, 40, 1, NULL));
	copy_file(older, folder, "audit.db");
	CHECK_REPORT(folder, GB_AUDIT_TAIL_CUT, 41);
	CHECK(!gb_audit_open(folder, NULL, &audit, &err));
	CHECK(strstr(err.message, "its tail was cut") != NULL);
}

TEST(older_copy_of_all_files_is_detected_with_an_expected_head) {
	auto_folder char folder[FOLDER], older[FOLDER];
	folder_create(folder);
	folder_create(older);
	CHECK(make_log(folder, 40, 1, NULL));
	copy_log(folder, older);
	CHECK(make_log(folder, 40, 1, NULL));
	struct gb_audit_report report = verified(folder);
	struct gb_audit_expected expected = {
	    .has_head = true, .seq = report.head.seq, .hash = report.head.hash};
	CHECK_REPORT(older, GB_AUDIT_WHOLE, 0); /* not detectable from the files alone */
	CHECK(gb_audit_verify(older, &expected, NULL, NULL, &report, NULL));
	CHECK_INT(report.problem, GB_AUDIT_TAIL_CUT);
	CHECK(make_log(older, 40, 1, NULL)); /* as many records, but different ones */
	CHECK(gb_audit_verify(older, &expected, NULL, NULL, &report, NULL));
	CHECK_INT(report.problem, GB_AUDIT_UNEXPECTED);
	CHECK(make_log(folder, 40, 1, NULL)); /* longer, with the same beginning */
	CHECK(gb_audit_verify(folder, &expected, NULL, NULL, &report, NULL));
	CHECK_INT(report.problem, GB_AUDIT_WHOLE);
}

TEST(missing_or_changed_head_file_is_detected) {
	auto_folder char folder[FOLDER];
	struct gb_audit *audit;
	folder_create(folder);
	CHECK(make_log(folder, 40, 1, NULL));
	gb_auto_fd int fd = open(file_in(folder, "audit.head"), O_RDWR | O_CLOEXEC);
	CHECK(pwrite(fd, "x", 1, 40) == 1);
	CHECK_REPORT(folder, GB_AUDIT_MARK, 0);
	CHECK(!gb_audit_open(folder, NULL, &audit, NULL));
	CHECK(unlink(file_in(folder, "audit.head")) == 0);
	CHECK_REPORT(folder, GB_AUDIT_MARK, 0);
	CHECK(!gb_audit_open(folder, NULL, &audit, NULL));
}

TEST(missing_log_is_not_created_again) {
	auto_folder char folder[FOLDER];
	struct gb_audit *audit;
	struct gb_err err = {0};
	folder_create(folder);
	CHECK(make_log(folder, 4, 1, NULL));
	CHECK(unlink(file_in(folder, "audit.db")) == 0);
	CHECK(!gb_audit_open(folder, NULL, &audit, &err));
	CHECK(strstr(err.message, "its key exists") != NULL);
}

TEST(log_without_its_key_cannot_be_opened) {
	auto_folder char folder[FOLDER];
	struct gb_audit *audit;
	struct gb_err err = {0};
	folder_create(folder);
	CHECK(make_log(folder, 4, 1, NULL));
	CHECK(unlink(file_in(folder, "audit.key")) == 0);
	CHECK(!gb_audit_open(folder, NULL, &audit, &err));
	CHECK(strstr(err.message, "its key 'audit.key' is missing") != NULL);
	CHECK(!verified(folder).key_compared);
	CHECK_REPORT(folder, GB_AUDIT_KEY, 0);
	CHECK_INT(verified(folder).records, 4);
}

TEST(interrupted_creation_is_completed) {
	auto_folder char folder[FOLDER];
	folder_create(folder);
	CHECK(make_log(folder, 0, 1, NULL));
	CHECK(rename(file_in(folder, "audit.key"), file_in(folder, "audit.key.new")) == 0);
	CHECK(unlink(file_in(folder, "audit.head")) == 0);
	CHECK(make_log(folder, 3, 1, NULL));
	CHECK_REPORT(folder, GB_AUDIT_WHOLE, 0);
	CHECK_INT(verified(folder).records, 3);
}

TEST(rollback_during_use_stops_the_log) {
	auto_folder char folder[FOLDER];
	struct gb_audit *audit, *other;
	struct gb_err err = {0};
	struct gb_audit_record record = a_record("run", "1");
	struct gb_audit_ticket ticket;
	folder_create(folder);
	CHECK(make_log(folder, 10, 1, NULL));
	CHECK(gb_audit_open(folder, NULL, &audit, NULL));
	CHECK(tamper(folder, "CREATE TABLE kept AS SELECT * FROM audit_head"));
	CHECK(append_many(audit, 11, 5, 1, NULL));
	CHECK(tamper(folder,
	    "DELETE FROM audit_record WHERE seq > 10; UPDATE audit_head SET (seq, hash, time, signature) ="
	    "(SELECT seq, hash, time, signature FROM kept); DROP TABLE kept"));
	CHECK(!append_many(audit, 16, 1, 1, &err));
	if (!CHECK(strstr(err.message, "rolled back") != NULL))
		printf("# %s\n", err.message);
	CHECK(!gb_audit_begin(audit, &record, &ticket, &err));
	CHECK(!gb_audit_close(audit, NULL));
	CHECK(!gb_audit_open(folder, NULL, &other, &err));
	CHECK_REPORT(folder, GB_AUDIT_TAIL_CUT, 11);
}

TEST(oversized_record_is_not_loaded) {
	auto_folder char folder[FOLDER];
	folder_create(folder);
	CHECK(make_log(folder, 5, 1, NULL));
	CHECK(tamper(folder, "UPDATE audit_record SET body = zeroblob(200000000) WHERE seq = 3"));
	CHECK_REPORT(folder, GB_AUDIT_DAMAGED, 3);
}

/* Random changes of bytes never cause a crash, and changed content never verifies as whole. */
TEST(randomly_changed_file_is_read_safely) {
	auto_folder char folder[FOLDER], broken[FOLDER];
	folder_create(folder);
	folder_create(broken);
	CHECK(make_log(folder, 600, 100, NULL));
	struct records before = read_records(folder, (struct gb_audit_filter){0});
	unsigned n_whole = 0;
	struct stat st;
	CHECK(stat(file_in(folder, "audit.db"), &st) == 0);
	srandom(1);
	for (unsigned i = 0; i < 400; i++) {
		copy_log(folder, broken);
		gb_auto_fd int fd = open(file_in(broken, "audit.db"), O_RDWR | O_CLOEXEC);
		for (long n = random() % 4; n >= 0; n--) {
			uint8_t byte = (uint8_t)random();
			off_t at = i % 2 ? random() % st.st_size
					 : random() % 200 + random() % (st.st_size / 4096) * 4096;
			CHECK(pwrite(fd, &byte, 1, at) == 1);
		}
		if (i % 20 == 0)
			CHECK(ftruncate(fd, random() % st.st_size) == 0);
		struct gb_audit_report report = verified(broken);
		unlink(file_in(broken, "audit.db-wal"));
		unlink(file_in(broken, "audit.db-shm"));
		if (report.problem != GB_AUDIT_WHOLE)
			continue;
		n_whole++; /* an unused byte, or one that did not change */
		struct records after = read_records(broken, (struct gb_audit_filter){0});
		CHECK_INT(after.n, before.n);
		CHECK_STR(after.json, before.json);
	}
	printf("# %u of 400 changes touched nothing that counts\n", n_whole);
	CHECK(n_whole < 200);
}
