/* Shared by the tests of the audit log: temporary folders, records, and tampering with SQL. */
#ifndef GB_TESTS_AUDIT_H
#define GB_TESTS_AUDIT_H

#include <dirent.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "store/audit.h"

enum { FOLDER = 200 };

/* A new, empty folder below $TMPDIR or /tmp. */
static inline void folder_create(char folder[FOLDER]) {
	const char *tmp = getenv("TMPDIR");
	snprintf(folder, FOLDER, "%.150s/glovebox-audit-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(folder))
		abort();
}

static inline void folder_destroy(char folder[FOLDER]) {
	DIR *dir = opendir(folder);
	for (struct dirent *entry; dir && (entry = readdir(dir));)
		unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
	rmdir(folder);
}
static inline void folder_leave(char (*folder)[FOLDER]) {
	folder_destroy(*folder);
}
#define auto_folder __attribute__((cleanup(folder_leave)))

static inline const char *file_in(const char *folder, const char *name) {
	static char path[4][FOLDER + 40];
	static unsigned turn;
	turn = (turn + 1) % 4;
	snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
	return path[turn];
}

static inline void copy_file(const char *from, const char *to, const char *name) {
	gb_auto_fd int in = open(file_in(from, name), O_RDONLY | O_CLOEXEC);
	gb_auto_fd int out = open(file_in(to, name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	char block[1 << 16];
	for (ssize_t n; in >= 0 && (n = read(in, block, sizeof block)) > 0;)
		if (write(out, block, (size_t)n) != n)
			abort();
}

/* Copies all files of a closed log. */
static inline void copy_log(const char *from, const char *to) {
	copy_file(from, to, "audit.db");
	copy_file(from, to, "audit.key");
	copy_file(from, to, "audit.head");
}

/* Changes the database as an attacker who can write the file but does not have the key. */
static inline bool tamper(const char *folder, const char *sql) {
	sqlite3 *db = NULL;
	char *message = NULL;
	bool ok = sqlite3_open(file_in(folder, "audit.db"), &db) == SQLITE_OK &&
		  sqlite3_exec(db, sql, NULL, NULL, &message) == SQLITE_OK;
	if (message)
		printf("# %s\n", message);
	sqlite3_free(message);
	sqlite3_close(db);
	return ok;
}

static inline struct gb_audit_record a_record(const char *run_id, const char *code) {
	return (struct gb_audit_record){
	    .kind = GB_STR("code_execution"),
	    .run_id = gb_str_from(run_id),
	    .session_id = GB_STR("session-1"),
	    .conversation_id = GB_STR("conversation-1"),
	    .runtime = GB_STR("js"),
	    .runtime_version = GB_STR("0.16.2"),
	    .status = GB_STR("success"),
	    .exit_code = {true, 0},
	    .code = gb_str_from(code),
	    .limits = GB_STR("{\"timeoutMs\":5000}"),
	    .decision = GB_STR("auto"),
	    .duration_ns = 410000,
	    .memory_bytes = 123456,
	};
}

/* Appends @n records, "run-<first>" and so on, and commits after every @group records. */
static inline bool append_many(
    struct gb_audit *audit, unsigned first, unsigned n, unsigned group, struct gb_err *err) {
	for (unsigned i = 0; i < n; i++) {
		char id[32], code[64];
		snprintf(id, sizeof id, "run-%u", first + i);
		snprintf(code, sizeof code, "export default %u", first + i);
		struct gb_audit_record record = a_record(id, code);
		if (!gb_audit_append(audit, &record, NULL, NULL, err))
			return false;
		if ((i + 1) % group == 0 && !gb_audit_commit(audit, err))
			return false;
	}
	return gb_audit_commit(audit, err);
}

static inline bool make_log(const char *folder, unsigned n, unsigned group, struct gb_err *err) {
	struct gb_audit *audit;
	if (!gb_audit_open(folder, NULL, &audit, err))
		return false;
	bool ok = append_many(audit, 1, n, group, err);
	return gb_audit_close(audit, err) && ok;
}

static inline struct gb_audit_report verified(const char *folder) {
	struct gb_audit_report report = {.problem = GB_AUDIT_DAMAGED};
	struct gb_err err = {0};
	if (!gb_audit_verify(folder, NULL, NULL, NULL, &report, &err))
		snprintf(report.message, sizeof report.message, "not examined: %.250s", err.message);
	return report;
}

#endif
