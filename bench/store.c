/*
 * Records per second in the audit log, compared to plain SQLite: the same bytes, the same groups, the same
 * durability, alternating in the same run.
 *
 *	bench-store [DIR]	a temporary folder in DIR, default: $TMPDIR or /tmp
 *
 * For each group size: the best of several rounds, and the ratio to plain SQLite. At
 * the end, the rate of verification.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "store/audit.h"
#include "store/db.h"

enum { ROUNDS = 7, PATH_BYTES = 400 };

static const struct size {
	unsigned group, records; /* records per commit, and per round */
} sizes[] = {{1, 200}, {10, 2000}, {100, 10000}, {1000, 20000}};

static const char *const tables[] = {"CREATE TABLE bare(seq INTEGER PRIMARY KEY, body BLOB NOT NULL)"};

struct bench {
	char folder[PATH_BYTES];
	struct gb_audit *audit;
	struct gb_db *bare;
	sqlite3_stmt *insert;
	struct gb_audit_record record;
	struct gb_buf body; /* the same record, for SQLite */
	struct gb_err err;
};

static void fail(const struct bench *bench) {
	fprintf(stderr, "bench-store: %s\n", bench->err.message);
	exit(1);
}

/* The code of a small run. */
static const char code[] = "import { search } from 'shop';\n"
			   "export default (await search('gloves')).filter((item) => item.price < 20);\n";

static void set_up(struct bench *bench, const char *below) {
	const char *tmp = getenv("TMPDIR");
	char path[PATH_BYTES + 16];
	snprintf(bench->folder, sizeof bench->folder, "%.300s/bench-store-XXXXXX",
	    below ? below
	    : tmp ? tmp
		  : "/tmp");
	if (!mkdtemp(bench->folder)) {
		perror("bench-store: make a folder");
		exit(1);
	}
	snprintf(path, sizeof path, "%s/bare.db", bench->folder);
	struct gb_db_options options = {
	    .migrations = tables, .n_migrations = GB_COUNT(tables), .durable = true};
	if (!gb_audit_open(bench->folder, NULL, &bench->audit, &bench->err) ||
	    !gb_db_open(path, &options, &bench->bare, &bench->err) ||
	    !gb_db_prepare(bench->bare, "INSERT INTO bare(body) VALUES (?)", &bench->insert, &bench->err))
		fail(bench);
	bench->record = (struct gb_audit_record){
	    .kind = GB_STR("code_execution"),
	    .run_id = GB_STR("0123456789abcdef0123456789abcdef"),
	    .session_id = GB_STR("0123456789abcdef"),
	    .conversation_id = GB_STR("fedcba9876543210"),
	    .runtime = GB_STR("js"),
	    .runtime_version = GB_STR("0.16.2"),
	    .status = GB_STR("success"),
	    .exit_code = {true, 0},
	    .time_ms = 1700000000000,
	    .started_ms = 1700000000000,
	    .finished_ms = 1700000000001,
	    .duration_ns = 412345,
	    .memory_bytes = 1234567,
	    .code = {code, sizeof code - 1},
	    .output_summary = GB_STR("[ { name: \"gloves\", price: 12 } ]"),
	    .limits = GB_STR("{\"timeoutMs\":30000,\"memoryBytes\":67108864,\"outputBytes\":1048576}"),
	    .permissions = GB_STR("{\"network\":[],\"files\":\"none\"}"),
	    .layers = GB_STR("[\"user\",\"mount\",\"pid\",\"net\",\"landlock\",\"seccomp\",\"limits\"]"),
	    .decision = GB_STR("auto"),
	};
	gb_hash_bytes(code, sizeof code - 1, &bench->record.input_hash.hash);
	bench->record.input_hash.is_set = true;
	bench->record.output_hash = bench->record.input_hash;
	gb_buf_init(&bench->body, 1 << 20);
	gb_audit_encode(&bench->body, &bench->record);
}

static void tear_down(struct bench *bench) {
	gb_stmt_finish(&bench->insert);
	gb_db_close(bench->bare);
	gb_buf_finish(&bench->body);
	DIR *dir = opendir(bench->folder);
	for (struct dirent *entry; dir && (entry = readdir(dir));)
		unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
	rmdir(bench->folder);
}

static double audit_round(struct bench *bench, const struct size *size) {
	uint64_t start = gb_now_ns();
	for (unsigned i = 0; i < size->records; i++) {
		struct gb_audit_ticket ticket;
		if (!gb_audit_begin(bench->audit, &bench->record, &ticket, &bench->err) ||
		    !gb_audit_finish(bench->audit, &ticket, &bench->record, NULL, NULL, &bench->err) ||
		    ((i + 1) % size->group == 0 && !gb_audit_commit(bench->audit, &bench->err)))
			fail(bench);
	}
	return size->records / ((double)(gb_now_ns() - start) / 1e9);
}

static double bare_round(struct bench *bench, const struct size *size) {
	uint64_t start = gb_now_ns();
	for (unsigned i = 0; i < size->records; i++) {
		if (i % size->group == 0 && !gb_db_begin(bench->bare, &bench->err))
			fail(bench);
		sqlite3_bind_blob(bench->insert, 1, bench->body.data, (int)bench->body.len, SQLITE_STATIC);
		if (!gb_db_run(bench->bare, bench->insert, &bench->err) ||
		    ((i + 1) % size->group == 0 && !gb_db_commit(bench->bare, &bench->err)))
			fail(bench);
	}
	return size->records / ((double)(gb_now_ns() - start) / 1e9);
}

static void measure(struct bench *bench, const struct size *size) {
	double ours = 0, bare = 0;
	for (unsigned i = 0; i < ROUNDS; i++) {
		double a = audit_round(bench, size), b = bare_round(bench, size);
		ours = a > ours ? a : ours;
		bare = b > bare ? b : bare;
	}
	printf("%8u %14.0f %14.0f %9.0f %%\n", size->group, ours, bare, 100 * ours / bare);
}

int main(int argc, char **argv) {
	struct bench bench = {0};
	struct gb_audit_report report;
	set_up(&bench, argc > 1 && *argv[1] ? argv[1] : NULL);
	printf("records of %zu bytes; best of %d rounds, in turns\n", bench.body.len, ROUNDS);
	printf("%8s %14s %14s %11s\n", "group", "audit/s", "SQLite/s", "part");
	for (size_t i = 0; i < GB_COUNT(sizes); i++)
		measure(&bench, &sizes[i]);
	if (!gb_audit_close(bench.audit, &bench.err))
		fail(&bench);
	uint64_t start = gb_now_ns();
	if (!gb_audit_verify(bench.folder, NULL, NULL, NULL, &report, &bench.err))
		fail(&bench);
	double seconds = (double)(gb_now_ns() - start) / 1e9;
	printf("verified %llu records, %.0f/s: %s\n", (unsigned long long)report.records,
	    (double)report.records / seconds, gb_audit_problem_name(report.problem));
	tear_down(&bench);
	return report.problem != GB_AUDIT_WHOLE;
}
