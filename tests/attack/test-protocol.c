/*
 * A compromised worker: whatever it sends or does not send, the host reports what happened, stays within its
 * memory, and the next run works. hostile.c is the worker.
 */
#include <inttypes.h>
#include <signal.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "processes.h"
#include "tap.h"

enum { TIMEOUT_MS = 400, LONG_MS = 60000, MEMORY_BOUND_MB = 16, WAIT_MAX_MS = 60000 };

/* A run must leave no descriptors and processes behind. */
struct inventory {
	size_t processes;
	size_t fds;
};

static struct inventory take_inventory(void) {
	struct processes all;
	processes_descendants(getpid(), &all);
	return (struct inventory){all.n, count_open_fds()};
}

/* Ended cells are reaped while the engine is at work. */
static void check_inventory(struct gb_engine *engine, const struct inventory *before) {
	uint64_t deadline = gb_now_ns() + (uint64_t)WAIT_MAX_MS * 1000000;
	struct inventory now = take_inventory();
	while ((now.processes != before->processes || now.fds != before->fds) && gb_now_ns() < deadline) {
		gb_engine_dispatch(engine, 5, NULL);
		now = take_inventory();
	}
	CHECK_INT(now.processes, before->processes);
	CHECK_INT(now.fds, before->fds);
}

static void check_result(
    const char *behaviour, const struct gb_result *result, enum gb_status status, const char *code) {
	if (!CHECK(result))
		return;
	bool ok = CHECK_STR(gb_status_name(result->status), gb_status_name(status));
	ok &= CHECK_STR(result->error.code, code);
	if (status == GB_SUCCESS && result->status == GB_SUCCESS)
		ok &= CHECK(gb_value_as_number(result->value) == 42);
	if (!ok)
		printf("#   %s: %s\n", behaviour, result->error.message);
}

struct expectation {
	const char *title;
	const char *behaviour; /* with a star before it: with every number until the worker has no more */
	enum gb_status status;
	const char *code;
	uint64_t timeout_ms; /* 0: long enough */
	unsigned memory_mb;  /* that the host may use meanwhile; 0: a little */
};

/* True if the worker knows this behaviour with this number. */
static bool try_behaviour(struct gb_engine *engine, const struct inventory *before,
    const struct expectation *e, const char *behaviour) {
	size_t mark = memory_mark();
	(void)mark;
	struct gb_run *run = hostile_start(engine, behaviour, e->timeout_ms ? e->timeout_ms : LONG_MS);
	const struct gb_result *result = run ? gb_run_wait(run) : NULL;
	bool no_more = result && strstr(result->error.message, "exit status 3");
	if (!no_more)
		check_result(behaviour, result, e->status, e->code);
	gb_run_destroy(run);
#ifndef __SANITIZE_ADDRESS__
	size_t bound = e->memory_mb ? e->memory_mb : MEMORY_BOUND_MB;
	if (!CHECK(memory_peak_above(mark) <= bound << 20))
		printf("#   %zu MiB for %s\n", memory_peak_above(mark) >> 20, behaviour);
#endif
	CHECK(engine_works(engine));
	check_inventory(engine, before);
	return !no_more;
}

static void try_numbers(
    struct gb_engine *engine, const struct inventory *before, const struct expectation *e) {
	char behaviour[64];
	int n = 0;
	for (bool more = true; more && !tap.failures; n++) {
		snprintf(behaviour, sizeof behaviour, "%s %d", e->behaviour + 1, n);
		more = try_behaviour(engine, before, e, behaviour);
	}
	CHECK(n > 5);
}

static void run_expectation(void) {
	const struct expectation *e = tap.data;
	struct inventory before = take_inventory();
	struct gb_engine *engine = hostile_engine(1);
	if (!CHECK(engine))
		return;
	const struct inventory idle = take_inventory();
	if (e->behaviour[0] == '*')
		try_numbers(engine, &idle, e);
	else
		try_behaviour(engine, &idle, e, e->behaviour);
	gb_engine_destroy(engine);
	const struct inventory after = take_inventory();
	CHECK_INT(after.processes, before.processes);
	CHECK_INT(after.fds, before.fds);
	CHECK_INT(count_own_cgroups(), 0);
}

static const struct expectation expectations[] = {
    {"a worker that behaves well", "ok", GB_SUCCESS, "", 0, 0},
    {"a worker that never answers", "silent", GB_TERMINATED, "timeout", TIMEOUT_MS, 0},
    {"a worker that computes for ever", "busy", GB_TERMINATED, "timeout", TIMEOUT_MS, 0},
    {"a worker that answers twice", "twice", GB_SUCCESS, "", 0, 0},
    {"a worker that answers and lives on", "linger", GB_SUCCESS, "", 0, 0},
    {"a worker that logs without end", "flood-logs", GB_TERMINATED, "output_limit", 0, 0},
    {"a worker that answers and then logs without end", "flood-after-result", GB_SUCCESS, "", 0, 0},
    {"a log line as long as a result may be", "flood-one-frame 16777216", GB_TERMINATED, "output_limit", 0,
	24},
    {"a frame that is longer than any may be", "flood-one-frame 33554432", GB_FAILURE, "protocol", 0, 0},
    {"a frame of length zero", "length 0", GB_FAILURE, "protocol", 0, 0},
    {"a frame of four gigabytes", "length 4294967295", GB_FAILURE, "protocol", 0, 0},
    {"a frame of two gigabytes", "length 2147483648", GB_FAILURE, "protocol", 0, 0},
    {"a frame that is announced and never sent", "length 1000", GB_TERMINATED, "timeout", TIMEOUT_MS, 0},
    {"a frame of type 0", "type 0", GB_FAILURE, "protocol", 0, 0},
    {"a frame of type 1, which is a job", "type 1", GB_FAILURE, "protocol", 0, 0},
    {"a frame of type 4", "type 4", GB_FAILURE, "protocol", 0, 0},
    {"a wait for input in a run without a terminal", "type 10", GB_FAILURE, "protocol", 0, 0},
    {"output of a terminal in a run without one", "type 11", GB_FAILURE, "protocol", 0, 0},
    {"a frame of type 255", "type 255", GB_FAILURE, "protocol", 0, 0},
    {"a result cut short anywhere", "*cut-result", GB_FAILURE, "protocol", 0, 0},
    {"an error cut short anywhere", "*cut-error", GB_FAILURE, "protocol", 0, 0},
    {"a log line cut short anywhere", "*cut-log", GB_FAILURE, "protocol", 0, 0},
    {"right items in wrong places", "*wrong-types", GB_FAILURE, "protocol", 0, 0},
    {"arrays in arrays, a million deep", "nest-arrays 1000000", GB_FAILURE, "result_size", 0, 0},
    {"maps in maps, a hundred thousand deep", "nest-maps 100000", GB_FAILURE, "result_size", 0, 0},
    {"tags on tags, a million of them", "nest-tags 1000000", GB_FAILURE, "protocol", 0, 0},
    {"more values than a result may have", "many-items 8000000", GB_FAILURE, "result_size", 0, 200},
    {"a result with another behind it", "trail 1", GB_FAILURE, "protocol", 0, 0},
    {"a result with a megabyte behind it", "trail 500000", GB_FAILURE, "protocol", 0, 0},
    {"a worker that closes its socket and lives on", "close-and-live", GB_FAILURE, "crashed", GB_NO_TIMEOUT,
	0},
    {"an answer that comes byte by byte", "drip", GB_SUCCESS, "", 0, 0},
    {"half an answer", "half-a-frame", GB_FAILURE, "no_answer", 0, 0},
    {"a worker that ends without an answer", "exit 0", GB_FAILURE, "no_answer", 0, 0},
    {"a worker that ends with an error", "exit 1", GB_FAILURE, "no_answer", 0, 0},
    {"a worker that writes where nothing is", "crash 0", GB_FAILURE, "crashed", 0, 0},
    {"a worker that executes what is no instruction", "crash 1", GB_FAILURE, "crashed", 0, 0},
    {"a worker that aborts", "crash 2", GB_FAILURE, "crashed", 0, 0},
#ifdef __x86_64__
    {"a worker that traps", "crash 3", GB_FAILURE, "crashed", 0, 0},
    {"a worker that makes a 32 bit system call", "crash 4", GB_FAILURE, "crashed", 0, 0},
#endif
    {"a worker that uses up its CPU time", "use-up-cpu 1", GB_TERMINATED, "cpu_limit", 0, 0},
};

__attribute__((constructor)) static void add_expectations(void) {
	for (size_t i = 0; i < GB_COUNT(expectations); i++)
		tap_add(expectations[i].title, run_expectation, &expectations[i]);
}

/* Counts without the counted items must cost no memory. */
TEST(heads_that_announce_missing_items) {
	struct gb_engine *engine = hostile_engine(1);
	if (!CHECK(engine))
		return;
	const struct inventory idle = take_inventory();
	for (int i = 0; i < 12; i++) {
		char behaviour[32];
		const struct expectation e = {.status = GB_FAILURE, .code = "protocol"};
		snprintf(behaviour, sizeof behaviour, "announce %d", i);
		try_behaviour(engine, &idle, &e, behaviour);
	}
	gb_engine_destroy(engine);
}

/* Any outcome is valid, but there must be one, and the host must survive. */
static void bend_every_bit(const char *what) {
	struct gb_engine *engine = hostile_engine(1);
	bool more = CHECK(engine);
	const struct inventory before = take_inventory();
	int n = 0;
	for (; more; n++) {
		char behaviour[32];
		snprintf(behaviour, sizeof behaviour, "%s %d", what, n);
		struct gb_run *run = hostile_start(engine, behaviour, LONG_MS);
		const struct gb_result *result = run ? gb_run_wait(run) : NULL;
		more = CHECK(result) && !strstr(result->error.message, "exit status 3");
		gb_run_destroy(run);
	}
	CHECK(n > 100);
	if (engine) {
		check_inventory(engine, &before);
		CHECK(engine_works(engine));
	}
	gb_engine_destroy(engine);
}

TEST(result_with_any_bit_flipped) {
	bend_every_bit("bend-result");
}

TEST(error_with_any_bit_flipped) {
	bend_every_bit("bend-error");
}

TEST(log_line_with_any_bit_flipped) {
	bend_every_bit("bend-log");
}

static void count_log(struct gb_run *run, const struct gb_log *log, void *data) {
	(void)run;
	(void)log;
	++*(size_t *)data;
}

TEST(million_log_lines_within_the_limits_arrive) {
	struct gb_engine *engine = hostile_engine(1);
	if (!CHECK(engine))
		return;
	size_t n = 0;
	struct gb_run *run = NULL;
	const struct gb_run_options options = {.source = "many-logs 1000000",
	    .output_bytes = 64 << 20,
	    .timeout_ms = LONG_MS,
	    .on_log = count_log,
	    .data = &n};
	if (CHECK(gb_run_start(engine, &options, &run, NULL)))
		check_result("many-logs", gb_run_wait(run), GB_SUCCESS, "");
	CHECK_INT(n, 1000000);
	gb_run_destroy(run);
	CHECK(engine_works(engine));
	gb_engine_destroy(engine);
}

/* The job is larger than the socket buffer, and the worker does not read it. */
TEST(worker_that_does_not_read_its_job) {
	enum { JOB = 4 << 20 };
	struct gb_engine *engine = hostile_engine(1);
	gb_auto_free char *source = malloc(JOB + 1);
	if (!CHECK(engine) || !CHECK(source))
		return;
	memset(source, ' ', JOB);
	source[JOB] = '\0';
	const struct inventory idle = take_inventory();
	const struct expectation e = {.status = GB_TERMINATED, .code = "timeout", .timeout_ms = TIMEOUT_MS};
	try_behaviour(engine, &idle, &e, source);
	gb_engine_destroy(engine);
}

/* A run that floods the host does not delay the results of others. */
TEST(hostile_runs_beside_ordinary_runs) {
	static const char *const behaviours[] = {
	    "flood-logs", "silent", "busy", "crash 0", "nest-arrays 1000000", "length 0"};
	enum { EACH = 4 };
	struct gb_run *runs[GB_COUNT(behaviours) * EACH] = {0};
	struct gb_engine *engine = hostile_engine(0);
	if (!CHECK(engine))
		return;
	const struct inventory before = take_inventory();
	for (size_t i = 0; i < GB_COUNT(runs); i++)
		CHECK((runs[i] = hostile_start(engine, behaviours[i % GB_COUNT(behaviours)], 1500)));
	for (int i = 0; i < 20; i++)
		CHECK(engine_works(engine));
	for (size_t i = 0; i < GB_COUNT(runs); i++) {
		const struct gb_result *result = runs[i] ? gb_run_wait(runs[i]) : NULL;
		CHECK(result && result->status != GB_SUCCESS);
		gb_run_destroy(runs[i]);
	}
	check_inventory(engine, &before);
	gb_engine_destroy(engine);
}
