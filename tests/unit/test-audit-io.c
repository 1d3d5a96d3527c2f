/* Every single write and sync of the audit log fails once, in every way: nothing that was acknowledged is
 * lost, nothing is acknowledged that is not there, and the log goes on as soon as it can. */
#include "audit.h"
#include "tap.h"

/* --- a file system that fails when told to --- */

/* SQLite has one table of methods for databases and one for the files beside them. */
struct patched {
	sqlite3_io_methods methods;
	const sqlite3_io_methods *real;
};

static struct faults {
	unsigned countdown; /* to the operation that fails; 0: none */
	bool stays;         /* and all after it */
	int with;
	unsigned hits;
	struct patched patched[4];
	sqlite3_vfs vfs, *real_vfs;
} faults;

static bool fails(void) {
	if (faults.countdown == 0 || (faults.countdown > 1 && faults.countdown--))
		return false;
	faults.hits++;
	if (!faults.stays)
		faults.countdown = 0;
	return true;
}

static const sqlite3_io_methods *real(const sqlite3_file *file) {
	return ((const struct patched *)file->pMethods)->real;
}

static int on_write(sqlite3_file *file, const void *bytes, int n, sqlite3_int64 at) {
	return fails() ? faults.with : real(file)->xWrite(file, bytes, n, at);
}

static int on_sync(sqlite3_file *file, int flags) {
	return fails() ? SQLITE_IOERR_FSYNC : real(file)->xSync(file, flags);
}

static int on_truncate(sqlite3_file *file, sqlite3_int64 size) {
	return fails() ? SQLITE_IOERR_TRUNCATE : real(file)->xTruncate(file, size);
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
	/* What fails is ours; what works need not wait for a disk. */
	if (access("/dev/shm", W_OK) == 0)
		setenv("TMPDIR", "/dev/shm", 0);
	faults.real_vfs = sqlite3_vfs_find(NULL);
	faults.vfs = *faults.real_vfs;
	faults.vfs.zName = "faults";
	faults.vfs.xOpen = on_open;
	sqlite3_vfs_register(&faults.vfs, 1);
}

static void arm(unsigned at, bool stays, int with) {
	faults.countdown = at;
	faults.stays = stays;
	faults.with = with;
	faults.hits = 0;
}

static void disarm(void) {
	faults.countdown = 0;
}

/* --- a life of a log, with a fault in it --- */

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

/* An open that fails leaves what a later one can finish or use. */
static struct gb_audit *open_at_last(const char *folder) {
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

/* Returns whether the fault came. */
static bool live(unsigned at, bool stays, int with) {
	auto_folder char folder[FOLDER];
	struct gb_audit_ticket ticket;
	struct gb_audit_record record = a_record("run", "1");
	unsigned acknowledged = 0, expected = 0;
	folder_create(folder);
	arm(at, stays, with);
	struct gb_audit *audit = open_at_last(folder);
	for (unsigned i = 0; audit && i < GROUPS; i++) {
		unsigned before = acknowledged;
		expected += GROUP;
		if (append_group(audit, &acknowledged)) {
			CHECK_INT(acknowledged, before + GROUP);
			continue;
		}
		CHECK(faults.hits > 0);
		CHECK_INT(acknowledged, before);
		if (stays)
			CHECK(!gb_audit_begin(audit, &record, &ticket, NULL));
		disarm();
		CHECK(gb_audit_begin(audit, &record, &ticket, NULL));
		gb_audit_cancel(audit, &ticket);
		CHECK_INT(acknowledged, expected);
	}
	unsigned hits = faults.hits;
	gb_audit_close(audit, NULL); /* a checkpoint that could not be written there is no loss */
	bool came = hits > 0 || faults.hits > 0;
	disarm();
	struct gb_audit_report report = verified(folder);
	if (!CHECK_INT(report.problem, GB_AUDIT_WHOLE))
		printf("# fault at operation %u: %s\n", at, report.message);
	CHECK_INT(report.records, acknowledged);
	CHECK_INT(acknowledged, expected);
	return came;
}

static void fail_everywhere(bool stays, int with) {
	unsigned at = 1;
	while (at < 2000 && live(at, stays, with))
		at++;
	printf("# %u operations failed in turn\n", at - 1);
	CHECK(at > 20 && at < 2000);
}

TEST(a_write_that_fails_once_loses_nothing) {
	fail_everywhere(false, SQLITE_IOERR_WRITE);
}

TEST(writes_that_fail_from_then_on_lose_nothing) {
	fail_everywhere(true, SQLITE_IOERR_WRITE);
}

TEST(a_disk_that_is_full_once_loses_nothing) {
	fail_everywhere(false, SQLITE_FULL);
}

TEST(a_disk_that_is_full_from_then_on_loses_nothing) {
	fail_everywhere(true, SQLITE_FULL);
}
