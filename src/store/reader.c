/* Reads records, without verifying them. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "store/log.h"
#include "value/json.h"

static void close_db(struct gb_db **db) {
	gb_db_close(*db);
}

static bool matches(struct gb_str text, const char *expected) {
	return !expected || gb_str_eq(text, gb_str_from(expected));
}

/* The JSON of a record has no blanks, and a quoted name contains no quotes: the text is found if the host is. */
static bool reached(struct gb_str network, const char *host) {
	if (!host)
		return true;
	gb_auto_buf struct gb_buf wanted;
	gb_buf_init(&wanted, 4096);
	gb_buf_printf(&wanted, "\"host\":");
	gb_json_append_string(&wanted, gb_str_from(host));
	return !gb_buf_failed(&wanted) && network.n && memmem(network.p, network.n, wanted.data, wanted.len);
}

static bool passes(const struct gb_audit_filter *filter, const struct gb_audit_record *record) {
	return (!filter->from_ms || record->time_ms >= filter->from_ms) &&
	       (!filter->to_ms || record->time_ms < filter->to_ms) &&
	       matches(record->session_id, filter->session) &&
	       matches(record->conversation_id, filter->conversation) &&
	       matches(record->runtime, filter->runtime) && matches(record->status, filter->status) &&
	       matches(record->run_id, filter->run) && reached(record->network, filter->host);
}

static bool prepare(
    struct gb_db *db, const struct gb_audit_filter *filter, sqlite3_stmt **ret, struct gb_err *err) {
	char sql[120];
	snprintf(sql, sizeof sql, "SELECT seq, body, hash FROM audit_record %sORDER BY seq%s",
	    filter->seq ? "WHERE seq = ?1 " : "", filter->newest_first ? " DESC" : "");
	if (!gb_db_prepare(db, sql, ret, err))
		return false;
	if (filter->seq)
		sqlite3_bind_int64(*ret, 1, (sqlite3_int64)filter->seq);
	return true;
}

static bool read_row(
    sqlite3_stmt *row, uint64_t *ret_seq, struct gb_hash *ret_hash, struct gb_audit_record *ret_record) {
	if (sqlite3_column_type(row, 1) != SQLITE_BLOB ||
	    !gb_log_blob(row, 2, ret_hash->bytes, sizeof ret_hash->bytes))
		return false;
	*ret_seq = (uint64_t)sqlite3_column_int64(row, 0);
	const void *body = sqlite3_column_blob(row, 1);
	return body && gb_audit_decode(body, (size_t)sqlite3_column_bytes(row, 1), ret_record);
}

bool gb_audit_exists(const char *dir, bool *ret_exists, struct gb_err *err) {
	static const char *const files[] = {GB_AUDIT_DB, GB_AUDIT_KEY_FILE, GB_AUDIT_HEAD_FILE};
	char path[GB_AUDIT_PATH];
	struct stat st;
	bool exists = false;
	for (size_t i = 0; i < GB_COUNT(files) && !exists; i++) {
		snprintf(path, sizeof path, "%s/%s", dir, files[i]);
		exists = lstat(path, &st) == 0;
		if (!exists && errno != ENOENT)
			return gb_fail(err, GB_ESYSTEM, errno, "examine '%s'", path);
	}
	*ret_exists = exists;
	return true;
}

bool gb_audit_each(const char *dir, const struct gb_audit_filter *filter, gb_audit_visit visit, void *data,
    struct gb_err *err) {
	char path[GB_AUDIT_PATH];
	__attribute__((cleanup(close_db))) struct gb_db *db = NULL;
	gb_auto_stmt sqlite3_stmt *stmt = NULL;
	snprintf(path, sizeof path, "%s/%s", dir, GB_AUDIT_DB);
	if (!gb_db_open(path, &gb_audit_db_options, &db, err) || !gb_db_check_schema(db, err) ||
	    !prepare(db, filter, &stmt, err))
		return gb_wrap(err, "read the audit log");
	struct gb_audit_record record;
	struct gb_hash hash;
	uint64_t seq, visited = 0;
	for (bool row; !filter->limit || visited < filter->limit;) {
		if (!gb_db_step(db, stmt, &row, err))
			return gb_wrap(err, "read the audit log");
		if (!row)
			return true;
		if (!read_row(stmt, &seq, &hash, &record))
			return gb_fail(err, GB_EFORMAT, 0,
			    "record %lld cannot be read; for details run 'glovebox audit verify'",
			    (long long)sqlite3_column_int64(stmt, 0));
		if (!passes(filter, &record))
			continue;
		visited++;
		if (!visit(data, seq, &hash, &record))
			return true;
	}
	return true;
}
