/* Two cells with programs at the same time: a program in one cell does not affect the other. Where
 * two cells are needed to show that, the same two scripts run again in sandboxes without the protection, and
 * there they affect each other. */
#include <sys/resource.h>

#include "e2e/engine.h"
#include "e2e/shared-root.h"
#include "e2e/without.h"
#include "tap.h"

enum { LONG_MS = 600000 };

/* One zygote, so that both cells come from the same one; no warm cells, so that only these two exist. */
static const struct gb_engine_options one_zygote = {.shards = 1, .warm = GB_NONE};

static struct gb_engine *engine;

static struct gb_run *begin(const char *script) {
	if (!engine)
		engine = engine_with((struct gb_engine_options){.shards = 1, .ready = 1u << GB_SHELL});
	return CHECK(engine) ? start(engine,
				   (struct gb_run_options){
				       .source = script, .language = GB_SHELL, .timeout_ms = LONG_MS})
			     : NULL;
}

static void expect(struct gb_run *run, const char *text) {
	const struct gb_result *result = run ? gb_run_wait(run) : NULL;
	if (CHECK(result) && !CHECK_STR(result->stdout_text, text))
		tap_quote("", result->stderr_text);
	gb_run_destroy(run);
}

/* --- two cells --- */

/* A run and its output so far. */
struct neighbour {
	struct gb_run *run;
	char text[4096]; /* the beginning */
	unsigned n_lines;
};

static void on_output(struct gb_run *run, int stream, const char *bytes, size_t n, void *data) {
	struct neighbour *neighbour = data;
	(void)run;
	size_t had = strlen(neighbour->text), room = sizeof neighbour->text - 1 - had;
	if (stream == 1)
		memcpy(neighbour->text + had, bytes, n < room ? n : room);
	for (size_t i = 0; i < n; i++)
		neighbour->n_lines += stream == 1 && bytes[i] == '\n';
}

static bool await_lines(struct gb_engine *where, const struct neighbour *neighbour, unsigned n) {
	while (!gb_run_settled(neighbour->run) && neighbour->n_lines < n)
		if (!gb_engine_dispatch(where, -1, NULL))
			return false;
	return neighbour->n_lines >= n;
}

static uint64_t memory_bytes; /* of the runs below; 0: the usual limit */

/* Start a script that writes a line when it is ready, and wait for that line. */
static bool begin_neighbour(
    struct gb_engine *where, struct gb_session *session, const char *script, struct neighbour *ret) {
	*ret = (struct neighbour){0};
	ret->run = start(where, (struct gb_run_options){.source = script,
				    .language = GB_SHELL,
				    .session = session,
				    .timeout_ms = LONG_MS,
				    .memory_bytes = memory_bytes,
				    .on_output = on_output,
				    .data = ret});
	bool ok = CHECK(ret->run) && CHECK(await_lines(where, ret, 1));
	const struct gb_result *result = ret->run ? gb_run_result(ret->run) : NULL;
	if (!ok && result)
		printf("#   %s %s\n", result->error.message, result->stderr_text);
	return ok;
}

static void end_neighbour(struct neighbour *neighbour) {
	if (neighbour->run)
		gb_run_terminate(neighbour->run, NULL);
	gb_run_destroy(neighbour->run);
}

/* Check that @probe writes @text while @script runs. */
static void check_beside(struct gb_engine *where, const char *script, const char *probe, const char *text) {
	struct neighbour neighbour;
	if (!CHECK(where))
		return;
	if (begin_neighbour(where, NULL, script, &neighbour))
		expect(start(where,
			   (struct gb_run_options){
			       .source = probe, .language = GB_SHELL, .timeout_ms = LONG_MS}),
		    text);
	end_neighbour(&neighbour);
}

/* In a shared root both shells use the same /dev/shm, and the second one would find the pipes of the first.
 */
#define LEAVE_NO_PIPES "rm -f /dev/shm/.glovebox-*\n"

/* --- processes: how many --- */

static const char fork_until_it_fails[] = "python3 - <<'END'\n"
					  "import os, signal\n"
					  "try:\n"
					  "    while os.fork():\n"
					  "        pass\n"
					  "except BlockingIOError:\n"
					  "    print('fork: EAGAIN', flush=True)\n"
					  "signal.pause()\n"
					  "END\n";

/* Waits for a line before it forks, because with a shared count it could not be started after the bomb. */
static const char fork_thirty_times[] = "python3 -c '\n"
					"import os, signal\n"
					"print(\"ready\", flush=True)\n"
					"input()\n"
					"n = 0\n"
					"try:\n"
					"    while n < 30:\n"
					"        if os.fork() == 0:\n"
					"            signal.pause()\n"
					"        n += 1\n"
					"except BlockingIOError:\n"
					"    pass\n"
					"print(\"forked\", n, flush=True)\n"
					"os.kill(0, signal.SIGKILL)\n'\n";

static void check_forks_beside_a_bomb(struct gb_engine *where, const char *text) {
	struct gb_session *session = NULL;
	struct neighbour bomb = {0}, probe = {0};
	if (!CHECK(where) || !CHECK(gb_session_open(where, GB_SHELL, NULL, &session, NULL)))
		return;
	if (begin_neighbour(where, session, fork_thirty_times, &probe) &&
	    begin_neighbour(where, NULL, fork_until_it_fails, &bomb) &&
	    CHECK_STR(bomb.text, "fork: EAGAIN\n") && CHECK(gb_session_send(session, "\n", 1, NULL)) &&
	    CHECK(gb_run_wait(probe.run)) && !CHECK(strstr(probe.text, text)))
		tap_quote("", probe.text);
	end_neighbour(&bomb);
	end_neighbour(&probe);
	gb_session_close(session);
}

/* A cell's own user namespace belongs to GB_LAYER_USER, without which an ordinary user has no sandbox at all.
 * So each cell keeps its own, and the limit for all cells of a zygote together becomes as low as
 * that of one cell: the count is then shared, as it would be without the cell's user namespace. */
static void count_all_cells_together(struct gb_plan *plan, unsigned layers) {
	(void)layers;
	for (uint32_t i = 0; i < plan->n_rlimits; i++)
		if (plan->rlimits[i].resource == RLIMIT_NPROC)
			plan->rlimits[i].limit = plan->contents.max_processes;
}

TEST(fork_bomb_does_not_take_processes_from_another_cell) {
	struct gb_engine *full = engine_without(GB_SHELL, 0, one_zygote),
			 *weak = engine_behind(GB_SHELL, count_all_cells_together, 0, one_zygote);
	check_forks_beside_a_bomb(full, "forked 30");
	check_forks_beside_a_bomb(weak, "forked 0");
	gb_engine_destroy(full);
	gb_engine_destroy(weak);
}

/* --- processes: seeing and ending them --- */

static const char be_visible[] =
    LEAVE_NO_PIPES "exec -a neighbour bash -c 'while :; do echo here; sleep 0.01; done'";
static const char look_for_it[] =
    "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' ' | grep -q '[n]eighbour' && echo seen || echo unseen";

/* GB_LAYER_MOUNT includes the pid namespace of each cell; that of their zygote is another layer and stays. */
static void see_without_protection(void) {
	struct gb_engine *weak = engine_without(GB_SHELL, GB_LAYER_MOUNT, one_zygote);
	check_beside(weak, be_visible, look_for_it, "seen\n");
	gb_engine_destroy(weak);
}

TEST(processes_of_another_cell_cannot_be_seen) {
	struct gb_engine *full = engine_without(GB_SHELL, 0, one_zygote);
	check_beside(full, be_visible, look_for_it, "unseen\n");
	gb_engine_destroy(full);
	in_shared_root(see_without_protection);
}

/* Check whether a neighbour survives a probe that kills every process that it can. */
static void check_kill(struct gb_engine *where, bool survives) {
	struct neighbour neighbour;
	if (!CHECK(where))
		return;
	if (begin_neighbour(where, NULL, be_visible, &neighbour)) {
		struct gb_run *probe =
		    start(where, (struct gb_run_options){
				     .source = "kill -9 -1", .language = GB_SHELL, .timeout_ms = LONG_MS});
		CHECK(probe && gb_run_wait(probe));
		gb_run_destroy(probe);
		/* Some lines may have been written before the kill. */
		CHECK_INT(await_lines(where, &neighbour, neighbour.n_lines + 10), survives);
		if (!survives && CHECK(gb_run_settled(neighbour.run)))
			CHECK_STR(gb_run_result(neighbour.run)->error.code, "crashed");
	}
	end_neighbour(&neighbour);
}

/* Landlock stops signals as well where the kernel knows that scope, so it is left out on both sides: the
 * difference is the pid namespace of each cell. */
static void kill_without_protection(void) {
	struct gb_engine *weak = engine_without(GB_SHELL, GB_LAYER_MOUNT | GB_LAYER_LANDLOCK, one_zygote);
	check_kill(weak, false);
	gb_engine_destroy(weak);
}

TEST(processes_of_another_cell_cannot_be_killed) {
	struct gb_engine *full = engine_without(GB_SHELL, 0, one_zygote),
			 *no_landlock = engine_without(GB_SHELL, GB_LAYER_LANDLOCK, one_zygote);
	check_kill(full, true);
	check_kill(no_landlock, true);
	gb_engine_destroy(full);
	gb_engine_destroy(no_landlock);
	in_shared_root(kill_without_protection);
}

/* --- networks --- */

/* The name has the test's process id, since without a network namespace it is a name on this machine. */
static void check_connections(struct gb_engine *where, const char *text) {
	char listener[512], probe[768];
	struct neighbour neighbour;
	snprintf(listener, sizeof listener,
	    "python3 -c '\n"
	    "import signal, socket\n"
	    "s = socket.socket(socket.AF_UNIX); s.bind(\"\\0gb-test-%d\"); s.listen()\n"
	    "t = socket.socket(); t.bind((\"127.0.0.1\", 0)); t.listen()\n"
	    "print(t.getsockname()[1], flush=True)\n"
	    "signal.pause()'\n",
	    (int)getpid());
	if (!CHECK(where))
		return;
	if (begin_neighbour(where, NULL, listener, &neighbour)) {
		snprintf(probe, sizeof probe,
		    "python3 -c '\n"
		    "import socket\n"
		    "for family, address in ((socket.AF_UNIX, \"\\0gb-test-%d\"), (socket.AF_INET, "
		    "(\"127.0.0.1\", %d))):\n"
		    "    try:\n"
		    "        socket.socket(family).connect(address)\n"
		    "        print(\"connected\")\n"
		    "    except ConnectionRefusedError:\n"
		    "        print(\"refused\")'\n",
		    (int)getpid(), atoi(neighbour.text));
		expect(start(where, (struct gb_run_options){.source = probe,
					.language = GB_SHELL,
					.timeout_ms = LONG_MS,
					.memory_bytes = memory_bytes}),
		    text);
	}
	end_neighbour(&neighbour);
}

/* Landlock stops abstract names as well where the kernel knows that scope, so it is left out on both sides:
 * the difference is the network namespace of each cell. */
TEST(sockets_of_another_cell_cannot_be_reached) {
	struct gb_engine *full = engine_without(GB_SHELL, 0, one_zygote),
			 *no_landlock = engine_without(GB_SHELL, GB_LAYER_LANDLOCK, one_zygote),
			 *weak = engine_without(GB_SHELL, GB_LAYER_LANDLOCK | GB_LAYER_NET, one_zygote);
	check_connections(full, "refused\nrefused\n");
	check_connections(no_landlock, "refused\nrefused\n");
	memory_bytes = MEMORY_BESIDE_HOST_SOCKETS;
	check_connections(weak, "connected\nconnected\n");
	memory_bytes = 0;
	gb_engine_destroy(full);
	gb_engine_destroy(no_landlock);
	gb_engine_destroy(weak);
}

/* --- files --- */

static const char write_files[] = LEAVE_NO_PIPES
    "echo mine > /tmp/f && echo mine > /dev/shm/f && echo mine > /box/f && echo written; sleep 1000";
static const char count_files[] = "cat /tmp/f /dev/shm/f /box/f 2>/dev/null | grep -c mine";

static void read_without_protection(void) {
	struct gb_engine *weak = engine_without(GB_SHELL, GB_LAYER_MOUNT, one_zygote);
	check_beside(weak, write_files, count_files, "3\n");
	gb_engine_destroy(weak);
}

TEST(files_of_another_cell_cannot_be_read) {
	struct gb_engine *full = engine_without(GB_SHELL, 0, one_zygote);
	check_beside(full, write_files, count_files, "0\n");
	gb_engine_destroy(full);
	in_shared_root(read_without_protection);
}

/* --- one cell --- */

TEST(cell_can_have_almost_256_processes) {
	expect(begin("python3 - <<'END'\n"
		     "import os, signal\n"
		     "n = 0\n"
		     "try:\n"
		     "    while n < 400:\n"
		     "        if os.fork() == 0:\n"
		     "            signal.pause()\n"
		     "        n += 1\n"
		     "except BlockingIOError:\n"
		     "    print(n > 200, n < 256)\n"
		     "END\n"),
	    "True True\n");
}

TEST(user_namespace_cannot_be_created) {
	expect(begin("unshare --user true 2>/dev/null && echo taken; unshare --user --mount true 2>/dev/null "
		     "&& echo taken\n"
		     "python3 -c 'import ctypes; print(ctypes.CDLL(None).unshare(0x10000000))'"),
	    "-1\n");
}

TEST(shared_memory_counts_as_memory) {
	struct gb_run *run = begin(
	    "python3 -c \"import mmap, time\nkept = []\nfor i in range(6):\n    kept.append(mmap.mmap(-1, "
	    "100 << 20))\n    kept[-1].write(b'x' * (100 << 20))\nprint('had it')\ntime.sleep(1000)\"");
	const struct gb_result *result = run ? gb_run_wait(run) : NULL;
	/* Without a control group to count it, it is refused. */
	if (CHECK(result) && result->status != GB_MEMORY &&
	    !CHECK(result->status == GB_FAILURE && strstr(result->stderr_text, "PermissionError")))
		tap_quote("", result->stderr_text);
	gb_run_destroy(run);
	/* Memory that belongs to no process cannot be allocated. */
	expect(begin("python3 -c 'import os; os.memfd_create(\"x\")' 2>&1 | tail -1"),
	    "PermissionError: [Errno 1] Operation not permitted\n");
}

TEST(limits_of_the_keeper_cannot_be_changed) {
	static const char change[] =
	    "cpus=$(taskset -p $$ | sed 's/.* //')\n"
	    /* The kernel reads 32 bits of a pid. */
	    "by_number() { python3 -c 'import ctypes, sys; limit = (ctypes.c_uint64 * 2)(100, 100)\n"
	    "sys.exit(ctypes.CDLL(None).syscall(302, ctypes.c_uint64(1 << 32 | 1), 7, limit, None) != 0)'; "
	    "}\n"
	    "for what in 'prlimit --pid 1 --nofile=100:100' by_number "
	    "'renice -n 19 -p 1' \"taskset -p $cpus 1\"; do\n"
	    "    $what >/dev/null 2>&1 && echo changed || echo refused\n"
	    "done";
	struct gb_engine *weak = engine_without(GB_SHELL, GB_LAYER_SECCOMP, one_zygote);
	expect(begin(change), "refused\nrefused\nrefused\nrefused\n");
	if (CHECK(weak))
		expect(start(weak,
			   (struct gb_run_options){
			       .source = change, .language = GB_SHELL, .timeout_ms = LONG_MS}),
		    "changed\nchanged\nchanged\nchanged\n");
	gb_engine_destroy(weak);
	expect(begin("prlimit --pid $$ --core=0:0 && ulimit -n 100 && echo own"), "own\n");
}

__attribute__((destructor)) static void tear_down(void) {
	gb_engine_destroy(engine);
}
