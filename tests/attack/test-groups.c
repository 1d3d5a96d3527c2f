/* Control groups: their owner, their limits, and what a cell can take from others through counters that the
 * kernel keeps per user. */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <time.h>

#include "../e2e/engine.h"
#include "base/cleanup.h"
#include "processes.h"
#include "sandbox/linux/cgroup_files.h"
#include "tap.h"

static struct gb_cgroup *make_group(uint64_t memory, bool cells, struct gb_err *err) {
	struct gb_cgroup *group = NULL;
	const struct gb_cgroup_limits limits = {.memory_bytes = memory, .processes = 4096, .cells = cells};
	return gb_cgroup_create(&limits, &group, err) ? group : NULL;
}

/* Skips where this user may make none. */
#define NEED_GROUPS()                                                                                        \
	do {                                                                                                 \
		static struct gb_err why_;                                                                   \
		struct gb_cgroup *group_ = make_group(64 << 20, true, &why_);                                \
		if (!group_)                                                                                 \
			SKIP(why_.message);                                                                  \
		gb_cgroup_destroy(group_);                                                                   \
	} while (0)

/* --- owners of groups --- */

/* Run @act in a pid namespace of its own. True if it returned true. */
static bool elsewhere(bool (*act)(void)) {
	pid_t outer = fork();
	if (outer == 0) {
		if (unshare(CLONE_NEWPID | (geteuid() ? CLONE_NEWUSER : 0)) != 0)
			_exit(2);
		pid_t inner = fork();
		if (inner == 0)
			_exit(act() ? 0 : 1);
		int status = -1;
		waitpid(inner, &status, 0);
		_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 3);
	}
	int status = -1;
	waitpid(outer, &status, 0);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool make_one(void) {
	struct gb_cgroup *group = make_group(64 << 20, true, NULL);
	gb_cgroup_destroy(group);
	return group;
}

static bool exists(const struct gb_cgroup *group) {
	return access(group->dirs[0].path, F_OK) == 0;
}

TEST(group_of_a_live_host_is_not_removed_from_another_pid_namespace) {
	NEED_GROUPS();
	struct gb_cgroup *group = make_group(64 << 20, true, NULL);
	if (!CHECK(group))
		return;
	CHECK(elsewhere(make_one));
	CHECK(exists(group));
	/* Without the lock it counts as left by a host that has ended, and is removed. */
	for (unsigned i = 0; i < group->n_dirs; i++)
		CHECK(flock(group->dirs[i].fd, LOCK_UN) == 0);
	CHECK(elsewhere(make_one));
	CHECK(!exists(group));
	gb_cgroup_destroy(group);
}

static bool make_many(void) {
	enum { TIMES = 100 };
	for (int i = 0; i < TIMES; i++)
		if (!make_one())
			return false;
	return true;
}

TEST(hosts_in_different_pid_namespaces_start_beside_each_other) {
	NEED_GROUPS();
	enum { HOSTS = 3 };
	pid_t hosts[HOSTS];
	for (int i = 0; i < HOSTS; i++)
		if ((hosts[i] = fork()) == 0)
			_exit(elsewhere(make_many) ? 0 : 1);
	for (int i = 0; i < HOSTS; i++) {
		int status = -1;
		waitpid(hosts[i], &status, 0);
		CHECK_INT(status, 0);
	}
}

/* --- limits that a group enforces --- */

static uint64_t limit_of(const struct gb_cgroup *group) {
	uint64_t limit = 0;
	CHECK(gb_cgroup_read_number(gb_cgroup_dir_of(group, GB_CGROUP_MEMORY_MAX),
	    gb_cgroup_file_name(group, GB_CGROUP_MEMORY_MAX), NULL, &limit));
	return limit;
}

/* Fork into @outer. 0 in the child. */
static pid_t fork_into(struct gb_cgroup *outer) {
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) != 0)
		return -1;
	pid_t pid = fork();
	if (pid == 0) {
		close(ends[1]);
		/* Wait until the parent has moved this process. */
		return read(ends[0], &(char){0}, 1) == 1 ? 0 : (_exit(9), 0);
	}
	bool moved = gb_cgroup_attach(outer, pid, NULL) && write(ends[1], "", 1) == 1;
	close(ends[0]);
	close(ends[1]);
	return CHECK(moved) ? pid : -1;
}

static void expect_end_of(pid_t pid) {
	int status = -1;
	waitpid(pid, &status, 0);
	CHECK_INT(status, 0);
}

TEST(engine_limit_is_below_the_limit_of_the_group_of_its_host) {
	NEED_GROUPS();
	struct gb_cgroup *outer = make_group(256 << 20, true, NULL),
			 *free_one = make_group(1 << 30, true, NULL);
	if (CHECK(outer && free_one)) {
		CHECK_INT(limit_of(free_one), 1 << 30);
		pid_t pid = fork_into(outer);
		if (pid == 0) {
			struct gb_cgroup *inner = make_group(1 << 30, true, NULL);
			bool ok = inner && limit_of(inner) == (192 << 20);
			gb_cgroup_destroy(inner);
			_exit(ok ? 0 : 1);
		}
		expect_end_of(pid);
	}
	gb_cgroup_destroy(outer);
	gb_cgroup_destroy(free_one);
}

/* Takes 40 MiB at a time, up to 800. */
#define TAKE_MEMORY                                                                                          \
	"python3 -c 'kept = []\n"                                                                            \
	"for i in range(20): kept.append(b\"x\" * (40 << 20))\n"                                             \
	"print(\"had it\")'"

/* In a host whose group may have 256 MiB: what one run does must not end the host, nor a session beside it.
 */
static bool survive_a_greedy_neighbour(void) {
	struct gb_session *session = NULL;
	struct gb_engine *engine =
	    engine_with((struct gb_engine_options){.shards = 1, .ready = 1u << GB_SHELL});
	if (!engine || !gb_session_open(engine, GB_SHELL, NULL, &session, NULL))
		return false;
	struct gb_run *first = start(engine, (struct gb_run_options){.session = session, .source = "mine=1"});
	bool ok = first && gb_run_wait(first)->status == GB_SUCCESS;
	gb_run_destroy(first);
	struct gb_run *greedy = start(engine,
	    (struct gb_run_options){
		.source = TAKE_MEMORY, .language = GB_SHELL, .memory_bytes = 1 << 30, .timeout_ms = 300000});
	ok = ok && greedy && gb_run_wait(greedy)->status == GB_MEMORY;
	if (greedy && !ok)
		printf("# greedy: %s %s\n", gb_status_name(gb_run_result(greedy)->status),
		    gb_run_result(greedy)->error.message);
	gb_run_destroy(greedy);
	struct gb_run *second =
	    start(engine, (struct gb_run_options){.session = session, .source = "echo $mine"});
	ok = ok && second && strcmp(gb_run_wait(second)->stdout_text, "1\n") == 0;
	gb_run_destroy(second);
	gb_session_close(session);
	gb_engine_destroy(engine);
	return ok;
}

TEST(run_that_reaches_the_limit_of_an_outer_group_ends_alone_with_status_memory) {
	NEED_GROUPS();
	struct gb_cgroup *outer = make_group(256 << 20, true, NULL);
	if (CHECK(outer)) {
		pid_t pid = fork_into(outer);
		if (pid == 0) {
			bool ok = survive_a_greedy_neighbour();
			fflush(stdout);
			_exit(ok ? 0 : 1);
		}
		expect_end_of(pid);
	}
	gb_cgroup_destroy(outer);
	/* Where there is enough, the same run succeeds. */
	struct gb_engine *engine =
	    engine_with((struct gb_engine_options){.shards = 1, .ready = 1u << GB_SHELL});
	struct gb_run *run = engine ? start(engine, (struct gb_run_options){.source = TAKE_MEMORY,
							.language = GB_SHELL,
							.memory_bytes = 1 << 30,
							.timeout_ms = 300000})
				    : NULL;
	if (CHECK(run))
		CHECK_STR(gb_run_wait(run)->stdout_text, "had it\n");
	gb_run_destroy(run);
	gb_engine_destroy(engine);
}

/* --- which processes are in it --- */

static bool is_in_a_cells_group(pid_t pid) {
	char path[64], line[512];
	bool in = false;
	snprintf(path, sizeof path, "/proc/%d/cgroup", (int)pid);
	FILE *file = fopen(path, "re");
	while (file && fgets(line, sizeof line, file))
		in = in || strstr(line, "/cell.");
	if (file)
		fclose(file);
	return in;
}

/* Until @pid is in a cell's group or has ended. A cell that is being prepared joins its group a moment after
 * it was created. */
static bool joins_a_cells_group(pid_t pid) {
	enum { HANGS_MS = 60000 };
	for (int i = 0; i < HANGS_MS; i++) {
		if (is_in_a_cells_group(pid) || kill(pid, 0) != 0)
			return true;
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	}
	return false;
}

static void on_output(struct gb_run *run, int stream, const char *bytes, size_t n, void *data) {
	(void)run, (void)stream, (void)bytes;
	*(size_t *)data += n;
}

/* Until @run has written something, or has ended. */
static void await_output(struct gb_engine *engine, struct gb_run *run, const size_t *written) {
	while (run && !*written && !gb_run_settled(run) && gb_engine_dispatch(engine, -1, NULL))
		;
}

/* A run that goes on after it has written its first line. */
static struct gb_run *start_and_await(struct gb_engine *engine, const char *script, size_t *written) {
	*written = 0;
	struct gb_run *run = engine ? start(engine, (struct gb_run_options){.source = script,
							.language = GB_SHELL,
							.timeout_ms = 300000,
							.on_output = on_output,
							.data = written})
				    : NULL;
	await_output(engine, run, written);
	CHECK(run && !gb_run_settled(run));
	return run;
}

TEST(every_process_of_a_cell_with_programs_is_in_the_cells_group) {
	NEED_GROUPS();
	size_t written;
	struct gb_engine *engine =
	    engine_with((struct gb_engine_options){.shards = 1, .warm = GB_NONE, .ready = 1u << GB_SHELL});
	struct gb_run *run =
	    start_and_await(engine, "sleep 1000 & (sleep 1000) & echo ready; cat | sleep 1000", &written);
	static struct processes zygotes, all;
	processes_children(getpid(), &zygotes);
	processes_descendants(getpid(), &all);
	CHECK_INT(zygotes.n, 1);
	CHECK(all.n > 5);
	/* The zygote comes first, and is in the engine's group. */
	for (size_t i = 0; i < all.n; i++) {
		if (all.pids[i] == zygotes.pids[0])
			CHECK(!is_in_a_cells_group(all.pids[i]));
		else
			CHECK(joins_a_cells_group(all.pids[i]));
	}
	gb_run_destroy(run);
	gb_engine_destroy(engine);
	CHECK_INT(count_own_cgroups(), 0);
}

/* --- counters that the kernel keeps for a user --- */

/* Runs @attack, which says when it can take no more, and meanwhile @neighbour in a cell of its own. */
static void expect_neighbour_untouched(const char *attack, const char *neighbour, const char *expected) {
	size_t written;
	struct gb_engine *engine =
	    engine_with((struct gb_engine_options){.shards = 1, .warm = GB_NONE, .ready = 1u << GB_SHELL});
	struct gb_run *attacker = start_and_await(engine, attack, &written);
	for (int i = 0; i < 3 && engine; i++) {
		struct gb_run *run = start(engine,
		    (struct gb_run_options){.source = neighbour, .language = GB_SHELL, .timeout_ms = 300000});
		if (CHECK(run))
			CHECK_STR(gb_run_wait(run)->stdout_text, expected);
		gb_run_destroy(run);
	}
	CHECK(attacker && !gb_run_settled(attacker));
	gb_run_destroy(attacker);
	gb_engine_destroy(engine);
}

#define PYTHON(text) "exec python3 -c '" text "'"

/* Descriptors that are on their way are counted for the user of all cells, and each process compares the sum
 * with its own limit. The neighbour is refused too when it sends some, which shows that they are used up; but
 * it starts. */
TEST(descriptors_in_flight_do_not_prevent_other_runs_from_starting) {
	expect_neighbour_untouched(PYTHON("import socket, time, array\n"
					  "fds = array.array(\"i\", [0] * 100)\n"
					  "pairs = []\n"
					  "try:\n"
					  "    while True:\n"
					  "        pairs.append(socket.socketpair())\n"
					  "        for i in range(100): pairs[-1][0].sendmsg([b\"x\"], [(1, "
					  "1, fds)], socket.MSG_DONTWAIT)\n"
					  "except OSError as error: print(error.errno, flush=True)\n"
					  "time.sleep(1000)"),
	    PYTHON("import socket, array\n"
		   "pair = socket.socketpair()\n"
		   "try: pair[0].sendmsg([b\"x\"], [(1, 1, array.array(\"i\", [0]))])\n"
		   "except OSError as error: print(error.errno)"),
	    "109\n");
}

#define OPEN_TERMINALS                                                                                       \
	"import os, sys\n"                                                                                   \
	"kept = []\n"                                                                                        \
	"try:\n"                                                                                             \
	"    while len(kept) < 200: kept.append(os.openpty())\n"                                             \
	"except OSError: pass\n"                                                                             \
	"print(len(kept), flush=True)\n"

TEST(number_of_terminals_of_a_cell_is_limited) {
	expect_neighbour_untouched(
	    PYTHON(OPEN_TERMINALS "import time; time.sleep(1000)"), PYTHON(OPEN_TERMINALS), "64\n");
	/* The same outside. */
	char line[16] = "";
	FILE *pipe = popen("/usr/bin/python3 -c '" OPEN_TERMINALS "'", "re");
	CHECK(pipe && fgets(line, sizeof line, pipe));
	if (pipe)
		pclose(pipe);
	CHECK_STR(line, "200\n");
}
