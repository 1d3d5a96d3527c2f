/* The audit log under faults of the machine: kills, a full disk, read-only files, many
 * writers. */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "audit.h"
#include "base/io.h"
#include "tap.h"

static unsigned env_number(const char *name, unsigned otherwise) {
	const char *text = getenv(name);
	return text && *text ? (unsigned)strtoul(text, NULL, 10) : otherwise;
}

static bool is_whole(const char *folder, struct gb_audit_report *ret_report) {
	*ret_report = verified(folder);
	if (ret_report->problem != GB_AUDIT_WHOLE)
		printf("# %s at %llu: %s\n", gb_audit_problem_name(ret_report->problem),
		    (unsigned long long)ret_report->seq, ret_report->message);
	return ret_report->problem == GB_AUDIT_WHOLE;
}

/* --- kills --- */

/* An acknowledgement: the run and the number of its record. */
struct told {
	uint64_t seq;
	unsigned run;
};

struct promise {
	int fd;
	unsigned run;
};

static void tell(void *data, uint64_t seq) {
	struct promise *promise = data;
	struct told told = {.seq = seq, .run = promise->run};
	if (seq == 0 || !gb_write_all(promise->fd, &told, sizeof told))
		_exit(3);
}

/* Runs until it is killed. */
static void work(const char *folder, int fd, unsigned first) {
	struct gb_audit *audit;
	struct gb_audit_options options = {.keep_bytes = first % 3 ? 0 : 300 << 10};
	if (!gb_audit_open(folder, &options, &audit, NULL))
		_exit(2);
	for (unsigned at = first;; at += 16) {
		struct promise promises[16];
		unsigned group = 1 + at / 16 % 16;
		for (unsigned i = 0; i < group; i++) {
			char id[32];
			struct gb_audit_ticket ticket;
			promises[i] = (struct promise){fd, at + i};
			snprintf(id, sizeof id, "run-%u", at + i);
			struct gb_audit_record record = a_record(id, "export default 1");
			if (!gb_audit_begin(audit, &record, &ticket, NULL) ||
			    !gb_audit_finish(audit, &ticket, &record, tell, &promises[i], NULL))
				_exit(4);
		}
		if (!gb_audit_commit(audit, NULL))
			_exit(5);
	}
}

struct check {
	const struct told *told;
	size_t n, at;
	uint64_t pruned;
	unsigned missing;
};

static bool compare(
    void *data, uint64_t seq, const struct gb_hash *hash, const struct gb_audit_record *record) {
	struct check *check = data;
	char id[32];
	while (check->at < check->n && check->told[check->at].seq < seq)
		check->missing += check->told[check->at++].seq > check->pruned;
	if (check->at == check->n || check->told[check->at].seq != seq)
		return true;
	snprintf(id, sizeof id, "run-%u", check->told[check->at++].run);
	check->missing += !gb_str_eq(record->run_id, gb_str_from(id));
	return true;
}

static unsigned count_missing(const char *folder, const struct told *told, size_t n, uint64_t pruned) {
	struct check check = {.told = told, .n = n, .pruned = pruned};
	struct gb_audit_filter filter = {0};
	CHECK(gb_audit_each(folder, &filter, compare, &check, NULL));
	for (; check.at < n; check.at++)
		check.missing += told[check.at].seq > pruned;
	return check.missing;
}

/* Let @pid run for a random time, collecting its acknowledgements. */
static size_t listen_and_kill(pid_t pid, int fd, struct told *told, size_t n, size_t max) {
	struct told one;
	struct timespec life = {.tv_nsec = (random() % 60000 + 200) * 1000};
	bool was_killed = false;
	uint64_t end = gb_now_ns() + (uint64_t)life.tv_nsec;
	for (;;) {
		struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
		if (!was_killed && gb_now_ns() >= end) {
			kill(pid, SIGKILL);
			was_killed = true;
		}
		if (poll(&poll_fd, 1, was_killed ? -1 : 1) <= 0)
			continue;
		if (!gb_read_all(fd, &one, sizeof one))
			return n;
		if (n < max)
			told[n++] = one;
	}
}

TEST(acknowledged_records_survive_a_kill) {
	enum { MOST = 2000000 };
	auto_folder char folder[FOLDER];
	struct gb_audit_report report = {0};
	unsigned kills = env_number("GB_MANY_KILLS", 20), bad = 0;
	size_t n = 0;
	gb_auto_free struct told *told = calloc(MOST, sizeof *told);
	folder_create(folder);
	srandom((unsigned)time(NULL));
	for (unsigned i = 0; i < kills && bad == 0; i++) {
		int fds[2], status;
		CHECK(pipe(fds) == 0);
		pid_t pid = fork();
		if (pid == 0) {
			close(fds[0]);
			work(folder, fds[1], i * 1000000);
		}
		close(fds[1]);
		n = listen_and_kill(pid, fds[0], told, n, MOST);
		close(fds[0]);
		CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
		/* A kill before the log was created leaves no log. */
		if (n == 0 && access(file_in(folder, "audit.key"), F_OK) != 0)
			continue;
		bad += !CHECK(is_whole(folder, &report));
		bad += !CHECK_INT(count_missing(folder, told, n, report.pruned), 0);
	}
	printf("# %u kills, %zu records acknowledged, %llu in the log, %llu pruned\n", kills, n,
	    (unsigned long long)report.records, (unsigned long long)report.pruned);
	CHECK(make_log(folder, 10, 1, NULL));
	CHECK(is_whole(folder, &report));
}

TEST(a_wal_truncated_after_a_kill_is_detected) {
	auto_folder char folder[FOLDER];
	folder_create(folder);
	pid_t pid = fork();
	if (pid == 0) {
		struct gb_audit *audit;
		if (gb_audit_open(folder, NULL, &audit, NULL) && append_many(audit, 1, 50, 1, NULL))
			kill(getpid(), SIGKILL);
		_exit(1);
	}
	int status;
	CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
	struct stat st;
	CHECK(stat(file_in(folder, "audit.db-wal"), &st) == 0 && st.st_size > 4096);
	/* The rest has an older head with a valid signature. */
	CHECK(truncate(file_in(folder, "audit.db-wal"), st.st_size / 2) == 0);
	unlink(file_in(folder, "audit.db-shm"));
	struct gb_audit_report report = verified(folder);
	CHECK_INT(report.problem, GB_AUDIT_TAIL_CUT);
	CHECK(report.records > 0 && report.records < 50);
}

/* --- full disk --- */

static void on_written(void *data, uint64_t seq) {
	*(unsigned *)data += seq != 0;
}

/* Append until it fails with @err. *@n counts acknowledged records, also later ones. */
static void fill(struct gb_audit *audit, unsigned max, unsigned *n, struct gb_err *err) {
	static char code[3000];
	memset(code, 'x', sizeof code - 1);
	for (unsigned i = 0; i < max; i++) {
		struct gb_audit_record record = a_record("run", code);
		if (!gb_audit_append(audit, &record, on_written, n, err) || !gb_audit_commit(audit, err))
			break;
	}
}

/* Checks for every kind of missing space; @make_room frees some. */
static void check_no_room(const char *folder, struct gb_audit *audit, void (*make_room)(const char *)) {
	struct gb_err err = {0};
	struct gb_audit_report report;
	struct gb_audit_ticket ticket;
	struct gb_audit_record record = a_record("run", "1");
	unsigned n = 0;
	fill(audit, 100000, &n, &err);
	CHECK(n > 0 && n < 100000);
	printf("# after %u records: %s\n", n, err.message);
	CHECK(strstr(err.message, "no space to write") != NULL);
	CHECK_INT(gb_audit_pending(audit), 1);
	CHECK(!gb_audit_begin(audit, &record, &ticket, &err));
	CHECK(strstr(err.message, "not run, since it could not be recorded") != NULL);
	CHECK(is_whole(folder, &report));
	CHECK_INT(report.records, n);
	unsigned before = n;
	make_room(folder);
	if (!CHECK(gb_audit_begin(audit, &record, &ticket, &err))) /* and writes the pending record */
		printf("# %s\n", err.message);
	CHECK_INT(n, before + 1);
	CHECK(gb_audit_finish(audit, &ticket, &record, NULL, NULL, NULL));
	CHECK(gb_audit_close(audit, &err));
	CHECK(is_whole(folder, &report));
	CHECK_INT(report.records, n + 1); /* the pending record has been acknowledged too */
}

static void raise_limit(const char *folder) {
	struct rlimit limit;
	getrlimit(RLIMIT_FSIZE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_FSIZE, &limit);
}

TEST(a_file_size_limit_loses_no_records) {
	auto_folder char folder[FOLDER];
	struct gb_audit *audit;
	struct rlimit limit;
	folder_create(folder);
	signal(SIGXFSZ, SIG_IGN);
	CHECK(gb_audit_open(folder, NULL, &audit, NULL));
	getrlimit(RLIMIT_FSIZE, &limit);
	limit.rlim_cur = 3 << 20;
	CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	check_no_room(folder, audit, raise_limit);
	signal(SIGXFSZ, SIG_DFL);
}

static void remove_ballast(const char *folder) {
	unlink(file_in(folder, "ballast"));
}

/* In a mount namespace of its own, so that no mount is left behind. */
static bool mount_small(const char *folder) {
	return unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	       mount("tmpfs", folder, "tmpfs", 0, "size=12m,mode=0700") == 0;
}

static void on_a_full_disk(const char *folder) {
	struct gb_audit *audit;
	gb_auto_fd int ballast = open(file_in(folder, "ballast"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	CHECK(posix_fallocate(ballast, 0, 4 << 20) == 0);
	gb_close_fd(&ballast);
	CHECK(gb_audit_open(folder, NULL, &audit, NULL));
	check_no_room(folder, audit, remove_ballast);
}

/* The end of a started run can be recorded after the disk has become full. */
static void on_a_disk_that_fills_up(const char *folder) {
	struct gb_audit *audit;
	struct gb_err err = {0};
	struct gb_audit_report report;
	struct gb_audit_ticket tickets[20], another;
	struct gb_audit_record record = a_record("run", "1");
	unsigned n = 0;
	CHECK(gb_audit_open(folder, NULL, &audit, NULL));
	for (unsigned i = 0; i < 20; i++)
		CHECK(gb_audit_begin(audit, &record, &tickets[i], NULL));
	gb_auto_fd int ballast = open(file_in(folder, "ballast"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	static char block[4096];
	while (write(ballast, block, sizeof block) > 0) {
	}
	CHECK_INT(errno, ENOSPC);
	for (unsigned i = 0; i < 20; i++)
		CHECK(gb_audit_finish(audit, &tickets[i], &record, on_written, &n, &err));
	if (!CHECK(gb_audit_commit(audit, &err)))
		printf("# %s\n", err.message);
	CHECK_INT(n, 20);
	/* Until the reserved space is used up too. */
	while (write(ballast, block, sizeof block) > 0) {
	}
	CHECK(!gb_audit_begin(audit, &record, &another, &err));
	printf("# %s\n", err.message);
	CHECK(strstr(err.message, "not run") != NULL);
	CHECK(is_whole(folder, &report));
	CHECK_INT(report.records, 20);
	remove_ballast(folder);
	gb_close_fd(&ballast);
	CHECK(gb_audit_close(audit, NULL));
}

/* Run @body in a child with a small file system; its failed checks fail this test. */
static bool in_small_file_system(void (*body)(const char *)) {
	auto_folder char folder[FOLDER];
	folder_create(folder);
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		if (!mount_small(folder))
			_exit(99);
		body(folder);
		fflush(stdout);
		_exit(tap.failures > 98 ? 98 : (int)tap.failures);
	}
	int status = 0;
	waitpid(pid, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 99)
		return false;
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	return true;
}

TEST(a_full_disk_loses_no_records) {
	if (!in_small_file_system(on_a_full_disk))
		SKIP("may not mount");
}

TEST(the_end_of_a_started_run_is_recorded_on_a_full_disk) {
	if (!in_small_file_system(on_a_disk_that_fills_up))
		SKIP("may not mount");
}

/* --- read-only, removed and damaged files --- */

static void on_read_only_ground(const char *folder) {
	struct gb_audit *audit;
	struct gb_err err = {0};
	struct gb_audit_report report;
	struct gb_audit_ticket ticket;
	struct gb_audit_record record = a_record("run", "1");
	CHECK(make_log(folder, 5, 1, NULL));
	CHECK(mount(NULL, folder, NULL, MS_REMOUNT | MS_RDONLY, NULL) == 0);
	CHECK(!gb_audit_open(folder, NULL, &audit, &err));
	printf("# %s\n", err.message);
	CHECK(strstr(err.message, "Read-only") != NULL);
	CHECK(is_whole(folder, &report));
	CHECK_INT(report.records, 5);
	CHECK(mount(NULL, folder, NULL, MS_REMOUNT, NULL) == 0);
	CHECK(gb_audit_open(folder, NULL, &audit, NULL));
	CHECK(append_many(audit, 6, 5, 1, NULL));
	CHECK(gb_audit_begin(audit, &record, &ticket, NULL));
	gb_audit_cancel(audit, &ticket);
	/* A file system cannot become read-only while files are open for writing, a file can be made
	 * immutable. */
	CHECK(gb_audit_close(audit, NULL));
}

TEST(a_read_only_log_can_be_read_and_not_written) {
	if (!in_small_file_system(on_read_only_ground))
		SKIP("may not mount");
}

TEST(a_log_removed_or_replaced_while_in_use_is_detected) {
	auto_folder char folder[FOLDER];
	struct gb_audit *audit;
	struct gb_err err = {0};
	struct gb_audit_ticket ticket;
	struct gb_audit_record record = a_record("run", "1");
	folder_create(folder);
	CHECK(gb_audit_open(folder, NULL, &audit, NULL));
	CHECK(append_many(audit, 1, 5, 1, NULL));
	CHECK(rename(file_in(folder, "audit.db"), file_in(folder, "moved.db")) == 0);
	usleep(20000); /* the check is not made at every call */
	CHECK(!gb_audit_begin(audit, &record, &ticket, &err));
	CHECK(strstr(err.message, "removed or replaced while in use") != NULL);
	CHECK(!append_many(audit, 6, 1, 1, &err));
	CHECK(rename(file_in(folder, "moved.db"), file_in(folder, "audit.db")) == 0);
	CHECK(gb_audit_begin(audit, &record, &ticket, &err));
	CHECK(gb_audit_close(audit, NULL));
	CHECK_INT(verified(folder).records, 6);
}

TEST(a_corrupted_database_is_reported) {
	auto_folder char folder[FOLDER];
	struct gb_audit *audit;
	struct gb_err err = {0};
	folder_create(folder);
	CHECK(make_log(folder, 2000, 100, NULL));
	gb_auto_fd int fd = open(file_in(folder, "audit.db"), O_RDWR | O_CLOEXEC);
	static char rubbish[40 * 4096];
	memset(rubbish, 0xa5, sizeof rubbish);
	CHECK(pwrite(fd, rubbish, sizeof rubbish, 20 * 4096) == sizeof rubbish);
	struct gb_audit_report report = verified(folder);
	CHECK_INT(report.problem, GB_AUDIT_DAMAGED);
	CHECK(report.records > 0 && report.seq == report.records + 1);
	printf("# %s\n", report.message);
	CHECK(pwrite(fd, rubbish, 4096, 0) == 4096);
	CHECK(!gb_audit_open(folder, NULL, &audit, &err));
	CHECK_INT(err.code, GB_EFORMAT);
	printf("# %s\n", err.message);
	CHECK(strstr(err.message, "is damaged") != NULL);
	CHECK_INT(verified(folder).problem, GB_AUDIT_DAMAGED);
}

/* --- many writers --- */

enum { WRITERS = 4, EACH = 500, TIMES = 20 };

/* Opens the log several times: each open checks the log while other processes append. */
static void write_beside_others(const char *folder, unsigned who) {
	struct gb_audit *audit;
	struct gb_err err = {0};
	const struct gb_audit_options options = {.busy_ms = 60000};
	for (unsigned i = 0; i < TIMES; i++)
		if (!gb_audit_open(folder, &options, &audit, &err) ||
		    !append_many(audit, who * 100000 + i * 1000, EACH / TIMES, 1 + who * 3, &err) ||
		    !gb_audit_close(audit, &err)) {
			printf("# writer %u: %s\n", who, err.message);
			fflush(stdout);
			_exit(1);
		}
	_exit(0);
}

TEST(many_writers_create_and_append_concurrently) {
	auto_folder char folder[FOLDER];
	struct gb_audit_report report;
	folder_create(folder);
	fflush(stdout);
	for (unsigned i = 0; i < WRITERS; i++)
		if (fork() == 0)
			write_beside_others(folder, i);
	/* A concurrent verification sees a valid log. */
	for (unsigned i = 0; i < 20; i++) {
		struct gb_err err = {0};
		if (gb_audit_verify(folder, NULL, NULL, NULL, &report, &err) && report.records)
			CHECK(report.problem == GB_AUDIT_WHOLE);
		usleep(5000);
	}
	for (unsigned i = 0; i < WRITERS; i++) {
		int status;
		CHECK(wait(&status) > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0);
	}
	CHECK(is_whole(folder, &report));
	CHECK_INT(report.records, WRITERS * EACH);
}
