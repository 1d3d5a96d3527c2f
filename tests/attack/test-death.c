/* Zygotes, workers and hosts that are killed or stopped at critical moments. */
#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "engine/engine.h"
#include "processes.h"
#include "sandbox/linux/shard.h"
#include "tap.h"

enum { LONG_MS = 300000, SHORT_MS = 300, BEGUN_MS = 5000, WAIT_MAX_MS = 300000, MANY = 20, BUSY = 10 };

/* Zygotes are children that are no threads of ours and send no SIGCHLD. */
static void find_zygotes(struct processes *ret) {
	processes_children(getpid(), ret);
}

/* Wait until there are @n cells. */
static bool await_descendants(struct gb_engine *engine, pid_t root, size_t n, struct processes *ret) {
	uint64_t deadline = gb_now_ns() + (uint64_t)LONG_MS * 1000000;
	do {
		if (engine)
			gb_engine_dispatch(engine, 5, NULL);
		else
			usleep(5000);
		processes_descendants(root, ret);
	} while (ret->n < n && gb_now_ns() < deadline);
	return ret->n >= n;
}

/* Wait until @zygote has @n cells. */
static bool await_cells(struct gb_engine *engine, pid_t zygote, size_t n, struct processes *ret) {
	uint64_t deadline = gb_now_ns() + (uint64_t)WAIT_MAX_MS * 1000000;
	do {
		gb_engine_dispatch(engine, 5, NULL);
		processes_children(zygote, ret);
	} while (ret->n != n && gb_now_ns() < deadline);
	return ret->n == n;
}

static void check_settled(struct gb_run *run, enum gb_status status, const char *code) {
	const struct gb_result *result = run ? gb_run_wait(run) : NULL;
	if (!CHECK(result))
		return;
	bool ok = CHECK_STR(gb_status_name(result->status), gb_status_name(status));
	if (!CHECK_STR(result->error.code, code) || !ok)
		printf("#   %s\n", result->error.message);
	gb_run_destroy(run);
}

/* --- zygotes --- */

static void kill_zygotes_under_runs(const char *behaviour) {
	struct gb_engine *engine = hostile_engine(0);
	struct gb_run *runs[MANY];
	struct processes zygotes, all;
	if (!CHECK(engine))
		return;
	size_t fds = count_open_fds();
	find_zygotes(&zygotes);
	CHECK(zygotes.n > 0);
	for (int i = 0; i < MANY; i++)
		CHECK((runs[i] = hostile_start(engine, behaviour, LONG_MS)));
	CHECK(await_descendants(engine, getpid(), zygotes.n + MANY, &all));
	for (size_t i = 0; i < zygotes.n; i++)
		CHECK(kill(zygotes.pids[i], SIGKILL) == 0);
	for (int i = 0; i < MANY; i++)
		check_settled(runs[i], GB_FAILURE, "sandbox_lost");
	CHECK_INT(processes_await_end(&all, WAIT_MAX_MS), 0);
	for (int i = 0; i < MANY; i++)
		CHECK(engine_works(engine));
	struct processes fresh;
	find_zygotes(&fresh);
	CHECK_INT(fresh.n, zygotes.n);
	for (int i = 0; i < WAIT_MAX_MS / 5 && count_open_fds() != fds; i++)
		gb_engine_dispatch(engine, 5, NULL);
	CHECK_INT(count_open_fds(), fds);
	gb_engine_destroy(engine);
	CHECK_INT(processes_alive(&fresh), 0);
}

TEST(zygotes_die_under_busy_runs) {
	kill_zygotes_under_runs("busy");
}

TEST(zygotes_die_under_waiting_runs) {
	kill_zygotes_under_runs("silent");
}

/* Orders that were given and not carried out are lost with it too, or go to the next one. */
TEST(zygote_dies_before_its_runs_have_begun) {
	struct gb_engine *engine = hostile_engine(1);
	struct gb_run *runs[MANY];
	struct processes zygotes;
	if (!CHECK(engine))
		return;
	find_zygotes(&zygotes);
	CHECK_INT(zygotes.n, 1);
	CHECK(kill(zygotes.pids[0], SIGSTOP) == 0);
	for (int i = 0; i < MANY; i++)
		CHECK((runs[i] = hostile_start(engine, "ok", LONG_MS)));
	CHECK(kill(zygotes.pids[0], SIGKILL) == 0);
	for (int i = 0; i < MANY; i++)
		check_settled(runs[i], GB_FAILURE, "sandbox_lost");
	CHECK(engine_works(engine));
	gb_engine_destroy(engine);
}

TEST(zygotes_die_while_nothing_runs) {
	struct gb_engine *engine = hostile_engine(0);
	if (!CHECK(engine))
		return;
	/* More often than the engine would put up with if no run ended in between. */
	for (int round = 0; round < 8; round++) {
		struct processes zygotes;
		find_zygotes(&zygotes);
		CHECK(zygotes.n > 0);
		for (size_t i = 0; i < zygotes.n; i++)
			kill(zygotes.pids[i], SIGKILL);
		CHECK_INT(processes_await_end(&zygotes, WAIT_MAX_MS), 0);
		/* On both of two shards. */
		struct gb_run *runs[MANY] = {0};
		gb_engine_dispatch(engine, 50, NULL);
		for (int i = 0; i < MANY; i++)
			CHECK((runs[i] = hostile_start(engine, "ok", LONG_MS)));
		for (int i = 0; i < MANY; i++)
			check_settled(runs[i], GB_SUCCESS, "");
	}
	gb_engine_destroy(engine);
}

TEST(engine_recovers_from_repeatedly_killed_zygotes) {
	struct gb_engine *engine = hostile_engine(1);
	if (!CHECK(engine))
		return;
	/* Until the engine gives up starting them by itself. */
	const struct gb_shard *shard = &engine->pools[GB_RUNTIME_JS]->shards[0];
	for (int round = 0; round < 20 && !shard->broken; round++) {
		struct processes zygotes;
		while (!shard->ready && !shard->broken && gb_engine_dispatch(engine, 1000, NULL))
			;
		if (shard->broken)
			break;
		find_zygotes(&zygotes);
		CHECK_INT(zygotes.n, 1);
		kill(zygotes.pids[0], SIGKILL);
		while (shard->ready && !shard->broken && gb_engine_dispatch(engine, 1000, NULL))
			;
	}
	CHECK(shard->broken);
	CHECK(engine_works(engine));
	gb_engine_destroy(engine);
}

/* The run waits for the next zygote, although the engine would not start one by itself. */
TEST(runs_may_be_started_while_a_zygote_dies) {
	struct gb_engine *engine = hostile_engine(1);
	if (!CHECK(engine))
		return;
	const struct gb_shard *shard = &engine->pools[GB_RUNTIME_JS]->shards[0];
	for (int death = 1; death <= 5; death++) {
		struct processes zygotes;
		while (!shard->ready && gb_engine_dispatch(engine, 1000, NULL))
			;
		find_zygotes(&zygotes);
		CHECK_INT(zygotes.n, 1);
		kill(zygotes.pids[0], SIGKILL);
		/* Its death is handled one turn later. */
		while (shard->ready && gb_engine_dispatch(engine, 1000, NULL))
			;
		CHECK_INT(shard->deaths, death - 1);
	}
	check_settled(hostile_start(engine, "ok", LONG_MS), GB_SUCCESS, "");
	gb_engine_destroy(engine);
}

TEST(runs_of_a_stopped_zygote_time_out_and_the_engine_can_be_destroyed) {
	struct gb_engine *engine = hostile_engine(1);
	struct gb_run *runs[MANY];
	struct processes zygotes, all;
	if (!CHECK(engine))
		return;
	find_zygotes(&zygotes);
	CHECK_INT(zygotes.n, 1);
	/* Half of them have begun when it stops. */
	for (int i = 0; i < MANY / 2; i++)
		CHECK((runs[i] = hostile_start(engine, "busy", BEGUN_MS)));
	CHECK(await_descendants(engine, getpid(), 1 + MANY / 2, &all));
	CHECK(kill(zygotes.pids[0], SIGSTOP) == 0);
	for (int i = MANY / 2; i < MANY; i++)
		CHECK((runs[i] = hostile_start(engine, "ok", SHORT_MS)));
	for (int i = 0; i < MANY; i++)
		check_settled(runs[i], GB_TERMINATED, "timeout");
	gb_engine_destroy(engine);
	CHECK_INT(processes_alive(&all), 0);
}

TEST(stopped_zygote_works_after_it_is_continued) {
	struct gb_engine *engine = hostile_engine(1);
	struct processes zygotes;
	if (!CHECK(engine))
		return;
	find_zygotes(&zygotes);
	CHECK(kill(zygotes.pids[0], SIGSTOP) == 0);
	struct gb_run *late = hostile_start(engine, "busy", SHORT_MS);
	check_settled(late, GB_TERMINATED, "timeout");
	CHECK(kill(zygotes.pids[0], SIGCONT) == 0);
	CHECK(engine_works(engine));
	/* A run that timed out before it began must not run now. */
	CHECK(await_cells(engine, zygotes.pids[0], 0, &(struct processes){0}));
	gb_engine_destroy(engine);
}

/* --- workers --- */

TEST(killed_worker_is_reported_as_crashed) {
	static const int signals[] = {SIGKILL, SIGTERM, SIGSEGV, SIGABRT, SIGHUP, SIGINT};
	struct gb_engine *engine = hostile_engine(1);
	if (!CHECK(engine))
		return;
	for (size_t i = 0; i < GB_COUNT(signals); i++) {
		struct processes zygotes, cells;
		find_zygotes(&zygotes);
		/* The last one may not have been reaped yet. */
		CHECK(await_cells(engine, zygotes.pids[0], 0, &cells));
		struct gb_run *run = hostile_start(engine, i % 2 ? "busy" : "silent", LONG_MS);
		if (CHECK(await_cells(engine, zygotes.pids[0], 1, &cells)))
			CHECK(kill(cells.pids[0], signals[i]) == 0);
		check_settled(run, GB_FAILURE, "crashed");
		CHECK(engine_works(engine));
	}
	gb_engine_destroy(engine);
}

/* The host cannot open a pidfd for a new cell. */
TEST(no_process_is_left_after_the_host_ran_out_of_descriptors) {
	enum { FDS = 40, RUNS_MAX = 2 * FDS };
	struct gb_run *runs[RUNS_MAX];
	struct processes all;
	struct rlimit limit;
	struct gb_engine *engine = hostile_engine(1);
	if (!CHECK(engine))
		return;
	CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
	CHECK(setrlimit(RLIMIT_NOFILE, &(struct rlimit){FDS, limit.rlim_max}) == 0);
	size_t n = 0;
	const struct gb_run_options options = {.source = "busy", .timeout_ms = 3 * SHORT_MS};
	while (n < RUNS_MAX && gb_run_start(engine, &options, &runs[n], NULL))
		n++;
	CHECK(n > FDS / 2);
	for (uint64_t end = gb_now_ns() + SHORT_MS * 1000000ull; gb_now_ns() < end;)
		gb_engine_dispatch(engine, 5, NULL);
	CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
	for (size_t i = 0; i < n; i++) {
		const struct gb_result *result = gb_run_wait(runs[i]);
		/* Not "was not run": it was. */
		CHECK(result && (result->status == GB_TERMINATED || result->status == GB_FAILURE));
		gb_run_destroy(runs[i]);
	}
	uint64_t deadline = gb_now_ns() + (uint64_t)LONG_MS * 1000000;
	do {
		gb_engine_dispatch(engine, 5, NULL);
		processes_descendants(getpid(), &all);
	} while (all.n > 1 && gb_now_ns() < deadline);
	CHECK(all.n <= 1);
	gb_engine_destroy(engine);
}

/* --- hosts --- */

/* Become a host with an engine and busy runs; tell when they run. */
__attribute__((noreturn)) static void be_host(int ready, bool with_child) {
	struct processes all;
	struct gb_engine *engine = hostile_engine(2);
	for (int i = 0; engine && i < BUSY; i++)
		if (!hostile_start(engine, i % 2 ? "busy" : "silent", LONG_MS))
			_exit(1);
	struct processes zygotes;
	find_zygotes(&zygotes);
	if (!engine || !await_descendants(engine, getpid(), zygotes.n + BUSY, &all))
		_exit(1);
	/* A process that keeps copies of all descriptors of the host. */
	pid_t child = with_child ? fork() : -1;
	if (child != 0 && write(ready, &child, sizeof child) != sizeof child)
		_exit(1);
	for (;;)
		pause();
}

static void kill_host(bool with_child, int sig) {
	struct processes all;
	int pair[2];
	pid_t child = 0;
	/* Orphans of the host become our children, and not those of init, so that we can reap them. */
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	if (!CHECK(pipe(pair) == 0))
		return;
	pid_t host = fork();
	if (host == 0)
		be_host(pair[1], with_child);
	close(pair[1]);
	if (CHECK(read(pair[0], &child, sizeof child) == sizeof child)) {
		processes_descendants(host, &all);
		for (size_t i = 0; i < all.n; i++)
			if (all.pids[i] == child)
				all.pids[i] = all.pids[--all.n];
		CHECK(all.n > BUSY);
	} else {
		all.n = 0;
	}
	close(pair[0]);
	CHECK(kill(host, sig) == 0);
	CHECK(waitpid(host, NULL, 0) == host);
	CHECK_INT(processes_await_end(&all, WAIT_MAX_MS), 0);
	if (child > 0)
		CHECK(kill(child, SIGKILL) == 0);
	while (waitpid(-1, NULL, __WALL) > 0 || errno == EINTR)
		;
	prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
}

TEST(no_process_outlives_a_killed_host) {
	kill_host(false, SIGKILL);
}

TEST(no_process_outlives_a_crashed_host) {
	kill_host(false, SIGSEGV);
}

TEST(no_process_outlives_a_host_whose_descriptors_another_process_holds) {
	kill_host(true, SIGKILL);
}

enum { ENDING = 440, WAITING = 8 };

__attribute__((noreturn)) static void be_deaf_host(int ready, rlim_t fds) {
	struct processes all;
	setrlimit(RLIMIT_NOFILE, &(struct rlimit){fds, fds});
	struct gb_engine *engine = hostile_engine(1);
	for (int i = 0; engine && i < ENDING + WAITING; i++)
		if (!hostile_start(engine, "silent", LONG_MS))
			_exit(1);
	if (!engine || !await_descendants(engine, getpid(), 1 + ENDING + WAITING, &all))
		_exit(1);
	pid_t child = fork();
	if (child != 0 && write(ready, &child, sizeof child) != sizeof child)
		_exit(1);
	for (;;)
		pause();
}

/* The reports of its zygote exceed the socket buffer, no process reads them, and the socket stays open. */
TEST(no_process_outlives_a_host_that_did_not_read_reports) {
	struct processes all, zygotes, cells;
	struct rlimit limit;
	int pair[2];
	pid_t child = 0;
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_max < 2048)
		SKIP("needs 2048 descriptors");
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	if (!CHECK(pipe(pair) == 0))
		return;
	pid_t host = fork();
	if (host == 0)
		be_deaf_host(pair[1], limit.rlim_max);
	close(pair[1]);
	CHECK(read(pair[0], &child, sizeof child) == sizeof child);
	close(pair[0]);
	processes_descendants(host, &all);
	for (size_t i = 0; i < all.n; i++)
		if (all.pids[i] == child)
			all.pids[i] = all.pids[--all.n];
	/* The host sleeps from here on: end cells under its zygote. */
	processes_children(host, &zygotes);
	processes_children(zygotes.pids[0] == child ? zygotes.pids[1] : zygotes.pids[0], &cells);
	CHECK_INT(cells.n, ENDING + WAITING);
	for (size_t i = 0; i < ENDING && i < cells.n; i++)
		CHECK(kill(cells.pids[i], SIGKILL) == 0);
	for (int i = 0; i < LONG_MS / 10 && processes_alive(&all) > WAITING + 1; i++)
		usleep(10000);
	CHECK_INT(processes_alive(&all), WAITING + 1);
	CHECK(kill(host, SIGKILL) == 0);
	CHECK_INT(processes_await_end(&all, WAIT_MAX_MS), 0);
	if (child > 0)
		CHECK(kill(child, SIGKILL) == 0);
	while (waitpid(-1, NULL, __WALL) > 0 || errno == EINTR)
		;
	prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
}

/* Groups of hosts that were killed are removed by the next. */
TEST(no_control_group_is_left) {
	struct gb_engine *engine = hostile_engine(1);
	CHECK(engine);
	gb_engine_destroy(engine);
	CHECK_INT(count_own_cgroups(), 0);
}
