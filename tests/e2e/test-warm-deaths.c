/* Warm cells that are killed while idle: no run is lost. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "e2e/engine.h"
#include "tap.h"

enum { TIMES = 20, WARM = 2, PIDS_MAX = 64, TURNS_MAX = 20, FIRST_TURNS_MAX = 100000 };

/* The live children of @parent. */
static size_t children_of(int parent, int *ret) {
	DIR *proc = opendir("/proc");
	size_t n = 0;
	for (struct dirent *entry; proc && (entry = readdir(proc));) {
		int pid = atoi(entry->d_name);
		if (pid > 0 && n < PIDS_MAX && parent_of(pid) == parent)
			ret[n++] = pid;
	}
	if (proc)
		closedir(proc);
	return n;
}

/* Zygotes are children of this process, cells are children of zygotes, and programs are children of cells. */
enum depth { CELLS = 1, PROGRAMS = 2 };

static size_t find_below(int parent, enum depth depth, int *ret) {
	int children[PIDS_MAX];
	size_t n = 0, n_children = children_of(parent, children);
	for (size_t i = 0; i < n_children; i++) {
		int found[PIDS_MAX];
		size_t n_found =
		    depth > 1 ? find_below(children[i], depth - 1, found) : children_of(children[i], found);
		for (size_t k = 0; k < n_found && n < PIDS_MAX; k++)
			ret[n++] = found[k];
	}
	return n;
}

/* Until it is dead: a process with a pending signal can still complete the system call in which it reads a job. */
static void kill_and_wait(int pid) {
	struct pollfd end = {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};
	kill(pid, SIGKILL);
	if (end.fd < 0)
		return;
	while (poll(&end, 1, -1) < 0 && errno == EINTR)
		;
	close(end.fd);
}

/* Kill all warm cells; returns their number. The engine does not know of it yet when this returns. In round 0
 * this waits until all are there. Dead cells are replaced after the next run, so later there may be none at the
 * moment. */
static size_t kill_warm(struct gb_engine *engine, enum depth depth, int round) {
	int found[PIDS_MAX];
	size_t n = 0, wanted = round == 0 ? WARM : 1;
	int turns = round == 0 ? FIRST_TURNS_MAX : TURNS_MAX;
	for (int i = 0; i < turns && (n = find_below(getpid(), depth, found)) < wanted; i++)
		gb_engine_dispatch(engine, 5, NULL);
	for (size_t i = 0; i < n; i++)
		kill_and_wait(found[i]);
	return n;
}

static struct gb_engine *engine_of(enum gb_language language) {
	return engine_with((struct gb_engine_options){.shards = 1, .warm = WARM, .ready = 1u << language});
}

static bool succeeds(struct gb_run *run) {
	const struct gb_result *result = run ? gb_run_wait(run) : NULL;
	bool ok = result && result->status == GB_SUCCESS;
	if (result && !ok)
		printf("#   %s: %s\n", result->error.code, result->error.message);
	gb_run_destroy(run);
	return ok;
}

static void check_runs_without(enum depth depth, enum gb_language language, const char *source) {
	struct gb_engine *engine = engine_of(language);
	size_t killed = 0;
	int failed = 0;
	for (int i = 0; engine && i < TIMES; i++) {
		killed += kill_warm(engine, depth, i);
		failed +=
		    !succeeds(start(engine, (struct gb_run_options){.source = source, .language = language}));
	}
	CHECK_INT(failed, 0);
	CHECK(killed >= WARM);
	gb_engine_destroy(engine);
}

static void check_runs(enum gb_language language, const char *source) {
	check_runs_without(CELLS, language, source);
}

TEST(javascript_runs_survive_dead_warm_cells) {
	check_runs(GB_JAVASCRIPT, "export default 1");
}

TEST(python_runs_survive_dead_warm_cells) {
	check_runs(GB_PYTHON, "1");
}

TEST(shell_scripts_survive_dead_warm_cells) {
	check_runs(GB_SHELL, "echo 1");
}

TEST(node_runs_survive_dead_warm_cells) {
	if (system("command -v node >/dev/null") == 0)
		check_runs(GB_NODE, "console.log(1)");
}

/* The program is killed, the keeper of its cell stays alive. */
TEST(runs_survive_dead_programs_in_warm_cells) {
	check_runs_without(PROGRAMS, GB_SHELL, "echo 1");
	if (system("command -v node >/dev/null") == 0)
		check_runs_without(PROGRAMS, GB_NODE, "console.log(1)");
}

/* A job larger than a socket buffer. */
TEST(large_jobs_survive_dead_warm_cells) {
	static char source[4 << 20];
	memset(source, ' ', sizeof source - 1);
	source[0] = '1';
	check_runs(GB_PYTHON, source);
}

static void check_sessions(enum gb_language language, const char *source, bool noticed) {
	struct gb_engine *engine = engine_of(language);
	size_t killed = 0;
	int failed = 0;
	for (int i = 0; engine && i < TIMES; i++) {
		struct gb_session *session = NULL;
		struct gb_err err = {0};
		if (noticed) {
			/* Killed between the opening of a session and its first run. */
			CHECK(gb_session_open(engine, language, NULL, &session, &err));
			killed += kill_warm(engine, CELLS, i);
			for (int k = 0; k < 20; k++)
				gb_engine_dispatch(engine, 1, NULL);
		} else {
			killed += kill_warm(engine, CELLS, i);
			CHECK(gb_session_open(engine, language, NULL, &session, &err));
		}
		failed +=
		    !succeeds(start(engine, (struct gb_run_options){.source = source, .session = session}));
		failed +=
		    !succeeds(start(engine, (struct gb_run_options){.source = source, .session = session}));
		gb_session_close(session);
	}
	CHECK_INT(failed, 0);
	CHECK(killed >= WARM);
	gb_engine_destroy(engine);
}

TEST(sessions_survive_dead_warm_cells) {
	check_sessions(GB_PYTHON, "1", false);
	check_sessions(GB_SHELL, "echo 1", false);
	check_sessions(GB_JAVASCRIPT, "1", true);
	check_sessions(GB_SHELL, "echo 1", true);
}

/* A job whose code kills its own sandbox is not run again. */
TEST(code_that_kills_its_sandbox_runs_once) {
	struct gb_engine *engine = engine_of(GB_PYTHON);
	struct gb_run *run =
	    start(engine, (struct gb_run_options){.source = "import os; os.abort()", .language = GB_PYTHON});
	const struct gb_result *result = run ? gb_run_wait(run) : NULL;
	CHECK(result && result->status == GB_FAILURE);
	CHECK_STR(result ? result->error.code : "", "crashed");
	gb_run_destroy(run);
	gb_engine_destroy(engine);
}
