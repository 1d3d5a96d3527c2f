/* Cells in which programs live, side by side: what one does, the other does not feel. */
#include "engine.h"
#include "tap.h"

static struct gb_engine *engine;

static struct gb_run *begin(const char *script) {
	/* One zygote, so that they are neighbours indeed. */
	if (!engine)
		engine = engine_with((struct gb_engine_options){.shards = 1, .ready = 1u << GB_SHELL});
	return CHECK(engine)
		   ? start(engine,
			 (struct gb_run_options){.source = script, .language = GB_SHELL, .timeout_ms = 60000})
		   : NULL;
}

static void expect(struct gb_run *run, const char *text) {
	const struct gb_result *result = run ? gb_run_wait(run) : NULL;
	if (CHECK(result) && !CHECK_STR(result->stdout_text, text))
		tap_quote("", result->stderr_text);
	gb_run_destroy(run);
}

static void let_it_begin(struct gb_run *run) {
	struct gb_err err = {0};
	for (int i = 0; i < 40 && !gb_run_settled(run); i++)
		gb_engine_dispatch(engine, 10, &err);
}

TEST(a_fork_bomb_takes_nothing_from_its_neighbour) {
	struct gb_run *bomb = begin("f() { f | f & }; f 2>/dev/null; sleep 1000");
	let_it_begin(bomb);
	expect(begin("for i in $(seq 30); do (sleep 0.01) & done; wait; echo all"), "all\n");
	gb_run_terminate(bomb, NULL);
	gb_run_destroy(bomb);
}

TEST(a_bomb_is_as_large_as_it_may_be) {
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

TEST(processes_of_others_are_not_to_be_seen) {
	struct gb_run *other = begin("exec -a neighbour sleep 1000");
	let_it_begin(other);
	expect(begin("cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -c [n]eighbour; kill -9 -1; echo here"),
	    "0\nhere\n");
	CHECK(!gb_run_settled(other));
	gb_run_terminate(other, NULL);
	gb_run_destroy(other);
}

TEST(networks_and_names_are_apart) {
	static const char listen_abstract[] =
	    "python3 -c \"import socket, time; s = socket.socket(socket.AF_UNIX); s.bind('\\0gb-test'); "
	    "s.listen(); "
	    "t = socket.socket(); t.bind(('127.0.0.1', 4711)); t.listen(); open('/tmp/ready', 'w'); "
	    "time.sleep(1000)\"";
	static const char connect_abstract[] =
	    "python3 - <<'END'\nimport socket\nfor family, address in ((socket.AF_UNIX, '\\0gb-test'), "
	    "(socket.AF_INET, "
	    "('127.0.0.1', 4711))):\n    try:\n        socket.socket(family).connect(address)\n        "
	    "print('connected')\n"
	    "    except ConnectionRefusedError:\n        print('refused')\nEND\n";
	struct gb_run *other = begin(listen_abstract);
	let_it_begin(other);
	expect(begin(connect_abstract), "refused\nrefused\n");
	gb_run_terminate(other, NULL);
	gb_run_destroy(other);
	/* The same in one cell, where they find each other. */
	char both[sizeof listen_abstract + sizeof connect_abstract + 64];
	snprintf(both, sizeof both, "%s & until [ -e /tmp/ready ]; do sleep 0.01; done\n%s", listen_abstract,
	    connect_abstract);
	expect(begin(both), "connected\nconnected\n");
}

TEST(files_are_apart) {
	struct gb_run *other =
	    begin("echo mine > /tmp/f; echo mine > /dev/shm/f; echo mine > /box/f; sleep 1000");
	let_it_begin(other);
	expect(begin("ls /tmp /dev/shm /box | grep -c '^f$'"), "0\n");
	gb_run_terminate(other, NULL);
	gb_run_destroy(other);
}

TEST(nobody_takes_a_user_namespace) {
	expect(begin("unshare --user true 2>/dev/null && echo taken; unshare --user --mount true 2>/dev/null "
		     "&& echo taken\n"
		     "python3 -c 'import ctypes; print(ctypes.CDLL(None).unshare(0x10000000))'"),
	    "-1\n");
}

TEST(memory_that_is_shared_counts) {
	struct gb_run *run = begin(
	    "python3 -c \"import mmap, time\nkept = []\nfor i in range(6):\n    kept.append(mmap.mmap(-1, "
	    "100 << 20))\n    kept[-1].write(b'x' * (100 << 20))\nprint('had it')\ntime.sleep(1000)\"");
	const struct gb_result *result = run ? gb_run_wait(run) : NULL;
	if (CHECK(result))
		CHECK_INT(result->status, GB_MEMORY);
	gb_run_destroy(run);
	/* What belongs to no process is not to be had. */
	expect(begin("python3 -c 'import os; os.memfd_create(\"x\")' 2>&1 | tail -1"),
	    "PermissionError: [Errno 1] Operation not permitted\n");
}

TEST(the_keepers_limits_are_its_own) {
	expect(
	    begin("for what in '--nofile=10:10' '--data=1:1'; do prlimit --pid 1 $what 2>/dev/null && "
		  "echo changed; done\n"
		  "renice -n 5 -p 1 >/dev/null 2>&1 && echo changed; taskset -p 1 1 >/dev/null 2>&1 && "
		  "echo changed\n"
		  /* The kernel reads 32 bits of a pid. */
		  "python3 -c 'import ctypes; limit = (ctypes.c_uint64 * 2)(10, 10)\n"
		  "libc = ctypes.CDLL(None)\n"
		  "for pid in (1, 1 << 32 | 1, 1 << 63 | 1):\n"
		  "    if libc.syscall(302, ctypes.c_uint64(pid), 7, limit, None) == 0: print(\"changed\")'\n"
		  "prlimit --pid $$ --core=0:0 && ulimit -n 100 && echo own"),
	    "own\n");
}

TEST(nothing_else_is_left_to_do) {
	gb_engine_destroy(engine);
}
