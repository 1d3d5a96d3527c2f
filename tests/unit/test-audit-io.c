/* Fault injection: each write and sync of the audit log fails once, in every way. No acknowledged record is
 * lost, no missing record is acknowledged, and the log continues as soon as it can. */
#include "audit.h"
#include "tap.h"

/* --- a VFS with injected faults --- */

/* SQLite has one table of methods for databases and one for the files beside them. */
struct patched {
	sqlite3_io_methods methods;
	const sqlite3_io_methods *real;
};

static struct faults {
	unsigned countdown; /* to the operation that fails; 0: none */
	bool persistent;    /* all later operations fail too */
	int error;
	unsigned hits;
	struct patched patched[4];
	sqlite3_vfs vfs, *real_vfs;
} faults;

static bool should_fail(void) {
	if (faults.countdown == 0 || (faults.countdown > 1 && faults.countdown--))
		return false;
	faults.hits++;
	if (!faults.persistent)
		faults.countdown = 0;
	return true;
}

static const sqlite3_io_methods *real(const sqlite3_file *file) {
	return ((const struct patched *)file->pMethods)->real;
}

static int on_write(sqlite3_file *file, const void *bytes, int n, sqlite3_int64 at) {
	return should_fail() ? faults.error : real(file)->xWrite(file, bytes, n, at);
}

static int on_sync(sqlite3_file *file, int flags) {
	return should_fail() ? SQLITE_IOERR_FSYNC : real(file)->xSync(file, flags);
}

static int on_truncate(sqlite3_file *file, sqlite3_int64 size) {
	return should_fail() ? SQLITE_IOERR_TRUNCATE : real(file)->xTruncate(file, size);
}

static int on_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *ret_flags) {
	int rc = faults.real_vfs->xOpen(faults.real_vfs, name, file, flags, ret_flags);
	if (rc != SQLITE_OK || !file->pMethods)
		return rc;
	for (size_t i = 0; i < GB_COUNT(faults.patched); i++) {
		struct patched *patched = &faults.patched[i];
		if (!patched->real) {
			*patched = (struct patched){.methods = *file->pMethods, .real = file->pMethods};
			patched->methods.xWrite = on_write;
			patched->methods.xSync = on_sync;
			patched->methods.xTruncate = on_truncate;
		}
		if (patched->real == file->pMethods) {
			file->pMethods = &patched->methods;
			return rc;
		}
	}
	return rc;
}

__attribute__((constructor)) static void install(void) {
	/* The faults are injected, so a RAM disk is enough, and faster. */
	if (access("/dev/shm", W_OK) == 0)
		setenv("TMPDIR", "/dev/shm", 0);
	faults.real_vfs = sqlite3_vfs_find(NULL);
	faults.vfs = *faults.real_vfs;
	faults.vfs.zName = "faults";
	faults.vfs.xOpen = on_open;
	sqlite3_vfs_register(&faults.vfs, 1);
}

static void arm(unsigned at, bool persistent, int error) {
	faults.countdown = at;
	faults.persistent = persistent;
	faults.error = error;
	faults.hits = 0;
}

static void disarm(void) {
	faults.countdown = 0;
}

/* --- use of a log, with one fault --- */

enum { GROUPS = 6, GROUP = 3 };

static void on_written(void *data, uint64_t seq) {
	*(unsigned *)data += seq != 0;
}

static bool append_group(struct gb_audit *audit, unsigned *acknowledged) {
	for (unsigned i = 0; i < GROUP; i++) {
		struct gb_audit_record record = a_record("run", "1");
		CHECK(gb_audit_append(audit, &record, on_written, acknowledged, NULL));
	}
	return gb_audit_commit(audit, NULL);
}

/* After a failed open, a later one must succeed. */
static struct gb_audit *open_or_retry(const char *folder) {
	struct gb_audit *audit = NULL;
	struct gb_err err = {0};
	if (gb_audit_open(folder, NULL, &audit, &err))
		return audit;
	CHECK(faults.hits > 0 && err.code != GB_OK);
	disarm();
	if (!CHECK(gb_audit_open(folder, NULL, &audit, &err)))
		printf("# %s\n", err.message);
	return audit;
}

/* Returns whether the fault was triggered. */
static bool run_with_fault(unsigned at, bool persistent, int error) {
	auto_folder char folder[FOLDER];
	struct gb_audit_ticket ticket;
	struct gb_audit_record record = a_record("run", "1");
	unsigned acknowledged = 0, expected = 0;
	folder_create(folder);
	arm(at, persistent, error);
	struct gb_audit *audit = open_or_retry(folder);
	for (unsigned i = 0; audit && i < GROUPS; i++) {
		unsigned before = acknowledged;
		expected += GROUP;
		if (append_group(audit, &acknowledged)) {
			CHECK_INT(acknowledged, before + GROUP);
			continue;
		}
		CHECK(faults.hits > 0);
		CHECK_INT(acknowledged, before);
		if (persistent)
			CHECK(!gb_audit_begin(audit, &record, &ticket, NULL));
		disarm();
		CHECK(gb_audit_begin(audit, &record, &ticket, NULL));
		gb_audit_cancel(audit, &ticket);
		CHECK_INT(acknowledged, expected);
	}
	unsigned hits = faults.hits;
	gb_audit_close(audit, NULL); /* a failed checkpoint is no loss */
	bool triggered = hits > 0 || faults.hits > 0;
	disarm();
	struct gb_audit_report report = verified(folder);
	if (!CHECK_INT(report.problem, GB_AUDIT_WHOLE))
		printf("# fault at operation %u: %s\n", at, report.message);
	CHECK_INT(report.records, acknowledged);
	CHECK_INT(acknowledged, expected);
	return triggered;
}

static void fail_at_every_operation(bool persistent, int error) {
	unsigned at = 1;
	while (at < 2000 && run_with_fault(at, persistent, error))
		at++;
	printf("# %u operations failed in turn\n", at - 1);
	CHECK(at > 20 && at < 2000);
}

TEST(one_failed_write_loses_nothing) {
	fail_at_every_operation(false, SQLITE_IOERR_WRITE);
}

TEST(persistent_write_failure_loses_nothing) {
	fail_at_every_operation(true, SQLITE_IOERR_WRITE);
}

TEST(disk_full_once_loses_nothing) {
	fail_at_every_operation(false, SQLITE_FULL);
}

TEST(persistently_full_disk_loses_nothing) {
	fail_at_every_operation(true, SQLITE_FULL);
}
