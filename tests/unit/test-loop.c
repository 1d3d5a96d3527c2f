#include "base/loop.h"

#include <signal.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/watchdog.h"
#include "tap.h"

static struct gb_loop loop;
static unsigned n_called;

struct thing {
	struct gb_source source;
	struct thing *victim;
};

static void on_ready(struct gb_source *source, uint32_t events) {
	struct thing *thing = (struct thing *)source;
	CHECK(events & GB_LOOP_IN);
	n_called++;
	if (thing->victim)
		gb_loop_remove(&loop, &thing->victim->source);
}

static int ready_fd(void) {
	return eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
}

TEST(events_are_delivered) {
	CHECK(gb_loop_init(&loop, NULL));
	struct thing thing = {0};
	int fd = ready_fd();
	CHECK(gb_loop_add(&loop, &thing.source, fd, GB_LOOP_IN, on_ready, NULL));
	n_called = 0;
	CHECK_INT(gb_loop_dispatch(&loop, 0), 1);
	CHECK_INT(n_called, 1);
	gb_loop_remove(&loop, &thing.source);
	gb_loop_remove(&loop, &thing.source);
	CHECK_INT(gb_loop_dispatch(&loop, 0), 0);
	close(fd);
	gb_loop_finish(&loop);
}

TEST(a_source_removed_by_another_callback_is_not_called) {
	CHECK(gb_loop_init(&loop, NULL));
	struct thing a = {0}, b = {0};
	a.victim = &b;
	b.victim = &a;
	int one = ready_fd(), two = ready_fd();
	CHECK(gb_loop_add(&loop, &a.source, one, GB_LOOP_IN, on_ready, NULL));
	CHECK(gb_loop_add(&loop, &b.source, two, GB_LOOP_IN, on_ready, NULL));
	n_called = 0;
	CHECK_INT(gb_loop_dispatch(&loop, 0), 2);
	CHECK_INT(n_called, 1);
	close(one);
	close(two);
	gb_loop_finish(&loop);
}

TEST(a_closed_descriptor_cannot_be_added) {
	CHECK(gb_loop_init(&loop, NULL));
	struct thing thing = {0};
	struct gb_err err = {0};
	CHECK(!gb_loop_add(&loop, &thing.source, -1, GB_LOOP_IN, on_ready, &err));
	CHECK_INT(err.code, GB_ESYSTEM);
	gb_loop_remove(&loop, &thing.source); /* it was never added */
	gb_loop_finish(&loop);
}

/* --- the watchdog --- */

static void sleep_long(struct gb_source *source, uint32_t events) {
	(void)source, (void)events;
	usleep(300000);
}

static void compute(struct gb_source *source, uint32_t events) {
	(void)source, (void)events;
	for (clock_t until = clock() + CLOCKS_PER_SEC / 5; clock() < until;)
		;
}

static void sleep_excluded(struct gb_source *source, uint32_t events) {
	(void)events;
	struct gb_watch watch;
	gb_watch_begin(&watch);
	sleep_long(source, events);
	gb_watch_exclude(&watch);
}

/* How a process ends that dispatches @callback; *ret_text is what it prints. */
static int watch_callback(
    void (*callback)(struct gb_source *, uint32_t), const char *limit, char ret_text[256]) {
	int ends[2], status = 0;
	memset(ret_text, 0, 256);
	if (!CHECK(pipe(ends) == 0))
		return -1;
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		struct gb_loop watched;
		struct gb_source source;
		dup2(ends[1], STDERR_FILENO);
		setenv("GB_LOOP_WATCHDOG", limit, 1);
		unsetenv("GB_TIMES");
		unsetenv("GB_EMULATED");
		signal(SIGABRT, SIG_DFL);
		gb_loop_init(&watched, NULL);
		gb_loop_add(&watched, &source, eventfd(1, EFD_CLOEXEC), GB_LOOP_IN, callback, NULL);
		gb_loop_dispatch(&watched, 0);
		_exit(0);
	}
	close(ends[1]);
	CHECK(waitpid(pid, &status, 0) == pid);
	if (read(ends[0], ret_text, 255) < 0)
		*ret_text = '\0';
	close(ends[0]);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

TEST(watchdog_aborts_in_a_callback_that_sleeps_or_computes_for_long) {
	char text[256];
	CHECK_INT(watch_callback(sleep_long, "50", text), SIGABRT);
	CHECK(strstr(text, "test-loop.c: callback") && !strstr(text, "slept 0."));
	CHECK_INT(watch_callback(compute, "50", text), SIGABRT);
	CHECK_INT(watch_callback(compute, "5000", text), 0);
	CHECK_INT(watch_callback(sleep_excluded, "50", text), 0);
	CHECK_INT(watch_callback(sleep_long, "0", text), 0);
	CHECK_STR(text, "");
}
