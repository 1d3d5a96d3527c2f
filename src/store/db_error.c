#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "store/db.h"

/* The first problem that quick_check reports, which is more specific than "malformed". */
static void find_damage(struct gb_db *db, char *found, size_t n) {
	sqlite3_stmt *check = NULL;
	snprintf(found, n, "%s", "its structure is corrupt");
	if (sqlite3_prepare_v2(gb_db_handle(db), "PRAGMA quick_check(1)", -1, &check, NULL) == SQLITE_OK &&
	    sqlite3_step(check) == SQLITE_ROW) {
		const unsigned char *text = sqlite3_column_text(check, 0);
		if (text && strcmp((const char *)text, "ok") != 0)
			snprintf(found, n, "%.120s", (const char *)text);
	}
	sqlite3_finalize(check);
	for (char *c = found; *c; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			*c = ' ';
}

static bool is_disk_full(int sys_errno) {
	return sys_errno == ENOSPC || sys_errno == EDQUOT || sys_errno == EFBIG;
}

bool gb_db_is_full(const struct gb_err *err) {
	return err->code == GB_ESYSTEM && is_disk_full(err->sys_errno);
}

static bool fail_full(const char *path, int sys_errno, const char *what, struct gb_err *err) {
	return gb_fail(err, GB_ESYSTEM, is_disk_full(sys_errno) ? sys_errno : ENOSPC,
	    "%s: no space to write '%s' (committed data is safe; free some space and try again)", what, path);
}

static bool fail_damaged(struct gb_db *db, int rc, const char *what, struct gb_err *err) {
	char found[160] = "it is not an SQLite file";
	if (rc != SQLITE_NOTADB)
		find_damage(db, found, sizeof found);
	return gb_fail(err, GB_EFORMAT, 0,
	    "%s: '%s' is damaged: %s; move it away (keep it) or restore a copy", what, gb_db_path(db), found);
}

/* The errno of a failed write. sqlite3_system_errno may be that of a later call, so ask the file objects of
 * the database and its WAL. */
static int system_errno(sqlite3 *sqlite) {
	static const int files[] = {SQLITE_FCNTL_JOURNAL_POINTER, SQLITE_FCNTL_FILE_POINTER};
	int sys_errno = sqlite3_system_errno(sqlite);
	for (size_t i = 0; i < GB_COUNT(files) && !is_disk_full(sys_errno); i++) {
		sqlite3_file *file = NULL;
		int last = 0;
		if (sqlite3_file_control(sqlite, "main", files[i], &file) == SQLITE_OK && file &&
		    file->pMethods &&
		    file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &last) == SQLITE_OK && last)
			sys_errno = last;
	}
	return sys_errno;
}

static bool fail_io(struct gb_db *db, const char *what, struct gb_err *err) {
	int sys_errno = system_errno(gb_db_handle(db));
	if (is_disk_full(sys_errno))
		return fail_full(gb_db_path(db), sys_errno, what, err);
	return gb_fail(
	    err, GB_ESYSTEM, sys_errno ? sys_errno : EIO, "%s: read or write '%s'", what, gb_db_path(db));
}

bool gb_db_fail(struct gb_db *db, int rc, const char *what, struct gb_err *err) {
	sqlite3 *sqlite = gb_db_handle(db);
	const char *path = gb_db_path(db);
	switch (rc & 0xff) {
	case SQLITE_FULL:
		return fail_full(path, sqlite3_system_errno(sqlite), what, err);
	case SQLITE_READONLY:
		return gb_fail(err, GB_ESYSTEM, EROFS,
		    "%s: '%s' or its folder cannot be written; check owner, mode and mount", what, path);
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return gb_fail(
		    err, GB_EBUSY, 0, "%s: another process keeps '%s' locked; try again", what, path);
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return fail_damaged(db, rc & 0xff, what, err);
	case SQLITE_IOERR:
		return fail_io(db, what, err);
	case SQLITE_CANTOPEN:
	case SQLITE_PERM:
		return gb_fail(err, GB_ESYSTEM, sqlite3_system_errno(sqlite),
		    "%s: open '%s' and the files beside it", what, path);
	case SQLITE_NOMEM:
		return gb_fail(err, GB_ENOMEM, 0, "%s: out of memory", what);
	case SQLITE_CONSTRAINT:
		return gb_fail(err, GB_EFORMAT, 0, "%s: '%s' violates a constraint: %.200s", what, path,
		    sqlite3_errmsg(sqlite));
	default:
		return gb_fail(err, GB_ESYSTEM, 0, "%s: '%s': %.200s", what, path, sqlite3_errmsg(sqlite));
	}
}
