/* Tests of the Python worker that do not fit into a table: timing, signals, several cells, leftovers. */
#include "e2e/python.h"

#include <time.h>

#include "sandbox/linux/protocol.h"
#include "tap.h"

static struct gb_values *pool;
static const struct gb_value *session;

__attribute__((constructor)) static void set_up(void) {
	pool = gb_values_create(0);
	session = gb_value_from_json(pool, "{\"session\":true}", 16, NULL);
	python_init("stdlib");
}

static bool run_in(struct cell *cell, const char *source, struct outcome *outcome) {
	cell_send(cell, &(struct job){.source = source, .settings = session});
	return cell_receive(cell, outcome);
}

/* Run and ignore the result. */
static void run_quietly(struct cell *cell, const char *source) {
	struct outcome outcome;
	CHECK(run_in(cell, source, &outcome));
	outcome_finish(&outcome);
}

static char *value_of(const char *source, bool primed) {
	struct cell cell = cell_start(primed);
	struct outcome outcome;
	cell_send(&cell, &(struct job){.source = source});
	char *json = cell_receive(&cell, &outcome) ? gb_value_to_json(outcome.value, 0, NULL, NULL) : NULL;
	outcome_finish(&outcome);
	cell_end(&cell);
	return json;
}

TEST(cells_have_different_random_numbers) {
	const char *source = "import random, uuid, tempfile, secrets\n"
			     "[random.random(), str(uuid.uuid4()), next(tempfile._get_candidate_names())]";
	char *a = value_of(source, false), *b = value_of(source, false);
	char *c = value_of(source, true), *d = value_of(source, true);
	CHECK(a && b && c && d && strcmp(a, b) != 0 && strcmp(c, d) != 0 && strcmp(a, c) != 0);
	free(a);
	free(b);
	free(c);
	free(d);
}

TEST(priming_leaves_nothing_behind) {
	char *names = value_of("sorted(k for k in globals())", true);
	CHECK_STR(
	    names, "[\"__builtins__\",\"__doc__\",\"__loader__\",\"__name__\",\"__package__\",\"__spec__\"]");
	free(names);
	char *lines = value_of("import linecache\n[k for k in linecache.cache if k.startswith('<')]", true);
	CHECK_STR(lines, "[\"<runCode>\"]");
	free(lines);
}

/* Interrupt job number @job repeatedly until it reacts, as the host does. */
static bool interrupt(struct cell *cell, int job, struct outcome *outcome) {
	bool any;
	for (int i = 0; i < 600 && !outcome->ended; i++) {
		sigqueue(cell->pid, i ? GB_SIGNAL_AGAIN : SIGINT, (union sigval){.sival_int = job});
		if (!cell_step(cell, outcome, 100, &any))
			break;
	}
	return outcome->ended;
}

/* Start @source in a session, interrupt it after its first output, and check that the session continues. */
static void check_interrupt(const char *source, const char *name) {
	struct cell cell = cell_start(false);
	struct outcome outcome;
	run_quietly(&cell, "x = 41");
	cell_send(&cell, &(struct job){.source = source, .settings = session});
	CHECK(cell_hear(&cell, &outcome));
	if (CHECK(interrupt(&cell, 2, &outcome))) {
		CHECK_INT(outcome.status, GB_WIRE_ERROR);
		CHECK_STR(outcome.error[0], name);
	}
	outcome_finish(&outcome);
	if (CHECK(run_in(&cell, "x + 1", &outcome)))
		CHECK(gb_value_as_number(outcome.value) == 42);
	outcome_finish(&outcome);
	cell_end(&cell);
}

TEST(an_interrupt_stops_a_loop) {
	check_interrupt("print(1)\nwhile True: pass", "KeyboardInterrupt");
}

TEST(an_interrupt_stops_a_sleep) {
	check_interrupt("import time\nprint(1)\ntime.sleep(100)", "KeyboardInterrupt");
}

TEST(an_interrupt_stops_an_event_loop) {
	check_interrupt("import asyncio\nprint(1)\nawait asyncio.sleep(100)", "KeyboardInterrupt");
}

TEST(an_interrupt_stops_a_wait_for_a_thread) {
	check_interrupt("import threading\nprint(1)\nthreading.Event().wait()", "KeyboardInterrupt");
}

TEST(an_interrupt_can_be_caught) {
	check_interrupt(
	    "import time\ntry:\n  print(1)\n  while True: time.time()\nexcept KeyboardInterrupt:\n  raise "
	    "ValueError('caught')",
	    "ValueError");
}

TEST(an_interrupt_stops_a_host_call) {
	struct cell cell = cell_start(false);
	struct outcome outcome;
	struct gb_value *globals = gb_value_object(pool);
	gb_value_put_key(globals, "slowly", gb_value_function(pool, HOST_SLOWLY, "slowly"));
	cell_send(&cell, &(struct job){.source = "slowly(1)", .settings = session, .globals = globals});
	outcome_init(&outcome);
	/* The host call is not answered meanwhile. */
	for (bool any = true; any && !cell.n_later && cell_step(&cell, &outcome, 60000, &any);)
		;
	CHECK(interrupt(&cell, 1, &outcome));
	CHECK_STR(outcome.error[0], "KeyboardInterrupt");
	CHECK_STR(outcome.error[3], "interrupted");
	outcome_finish(&outcome);
	/* A late answer is ignored. */
	cell_answer_later(&cell);
	if (CHECK(run_in(&cell, "slowly('again')", &outcome)))
		CHECK_STR(gb_value_bytes(outcome.value, NULL), "again");
	outcome_finish(&outcome);
	cell_end(&cell);
}

/* The signal contains the number of its job, as sent by the host. */
TEST(a_late_interrupt_is_ignored) {
	struct cell cell = cell_start(false);
	struct outcome outcome;
	run_quietly(&cell, "import asyncio\nasyncio.run(asyncio.sleep(0))");
	sigqueue(cell.pid, SIGINT, (union sigval){.sival_int = 1});
	if (CHECK(run_in(&cell, "sum(range(100000))", &outcome)))
		CHECK_INT(outcome.status, GB_WIRE_SUCCESS);
	outcome_finish(&outcome);
	cell_end(&cell);
}

TEST(interrupts_at_any_moment_keep_the_session_intact) {
	struct cell cell = cell_start(false);
	struct outcome outcome;
	for (int i = 0; i < 100; i++) {
		cell_send(
		    &cell, &(struct job){.source = "for i in range(3000): print(i)", .settings = session});
		usleep((useconds_t)(i * 37 % 2000));
		kill(cell.pid, SIGINT);
		if (!CHECK(cell_receive(&cell, &outcome)))
			break;
		outcome_finish(&outcome);
	}
	if (CHECK(run_in(&cell, "7", &outcome)))
		CHECK_INT(outcome.status, GB_WIRE_SUCCESS);
	outcome_finish(&outcome);
	cell_end(&cell);
}

TEST(output_is_sent_while_the_code_runs) {
	struct cell cell = cell_start(false);
	struct outcome outcome;
	cell_send(&cell, &(struct job){.source = "print('working', end='')\nx = 0\nwhile True: x += 1"});
	CHECK(cell_hear(&cell, &outcome));
	CHECK_INT(outcome.out.len, 7);
	outcome_finish(&outcome);
	cell_end(&cell);
}

/* Except for output sent by the timer, if the run takes long. */
TEST(output_of_a_short_run_is_sent_in_one_write) {
	struct cell cell = cell_start(true);
	struct outcome outcome;
	cell_send(&cell, &(struct job){.source = "for i in range(200): print(i)\n'done'"});
	if (CHECK(cell_receive(&cell, &outcome)))
		CHECK(outcome.n_output_frames <= 20);
	outcome_finish(&outcome);
	cell_end(&cell);
}

TEST(peak_memory_is_reported) {
#ifdef __SANITIZE_ADDRESS__
	SKIP("the malloc of a sanitizer is not counted");
#endif
	struct cell cell = cell_start(false);
	struct outcome outcome;
	cell_send(&cell, &(struct job){.source = "x = bytearray(10 << 20)\ndel x\n1"});
	if (CHECK(cell_receive(&cell, &outcome)))
		CHECK(outcome.peak >= 10 << 20 && outcome.peak < 14 << 20);
	outcome_finish(&outcome);
	cell_end(&cell);
}

TEST(a_lent_function_is_served_between_jobs) {
	struct cell cell = cell_start(false);
	struct outcome outcome;
	struct gb_value *globals = gb_value_object(pool);
	gb_value_put_key(globals, "all", gb_value_function(pool, HOST_ALL, "all"));
	cell_send(
	    &cell, &(struct job){
		       .source = "seen = []\nall(seen.append)\n1", .settings = session, .globals = globals});
	CHECK(cell_receive(&cell, &outcome));
	outcome_finish(&outcome);
	struct gb_value *args = gb_value_array(cell.pool);
	gb_value_push(args, gb_value_number(cell.pool, 5));
	cell_apply(&cell, 0, args, UINT32_MAX);
	if (CHECK(run_in(&cell, "seen[0]", &outcome)))
		CHECK(gb_value_as_number(outcome.value) == 5);
	outcome_finish(&outcome);
	cell_end(&cell);
}

TEST(a_cell_exits_at_end_of_stream_without_a_job) {
	struct cell cell = cell_start(true);
	shutdown(cell.fd, SHUT_RDWR);
	int status;
	CHECK(waitpid(cell.pid, &status, 0) == cell.pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
	close(cell.fd);
}

TEST(a_large_value_is_transferred_both_ways) {
	struct cell cell = cell_start(false);
	struct outcome outcome;
	struct gb_value *globals = gb_value_object(pool);
	char *bytes = calloc(1, 3 << 20);
	gb_value_put_key(globals, "v", gb_value_buffer(pool, bytes, 3 << 20));
	cell_send(&cell, &(struct job){.source = "v + b'x'", .globals = globals});
	size_t n = 0;
	if (CHECK(cell_receive(&cell, &outcome)))
		gb_value_bytes(outcome.value, &n);
	CHECK_INT(n, (3 << 20) + 1);
	outcome_finish(&outcome);
	cell_end(&cell);
	free(bytes);
}
