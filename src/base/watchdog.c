#include "base/watchdog.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"

bool gb_watchdog_on;
static uint64_t limit_ns; /* of CPU time */

/* How much longer than it computes a callback may sleep. */
enum { SLEEP_FACTOR = 4 };

/* Sum of everything that is not counted in this thread. */
static _Thread_local struct gb_watch excluded;

void gb_watchdog_init(void) {
	const char *ms = getenv("GB_LOOP_WATCHDOG"), *times = getenv("GB_TIMES");
	unsigned long factor = times ? strtoul(times, NULL, 10) : 1;
	/* An emulated CPU counts the time that the host's CPU spent elsewhere as time of the thread. */
	bool emulated = getenv("GB_EMULATED");
	limit_ns = (ms && !emulated ? strtoul(ms, NULL, 10) : 0) * (factor ? factor : 1) * 1000000;
	gb_watchdog_on = limit_ns;
}

/* How long this thread was runnable and waited for a CPU. */
static uint64_t cpu_wait_ns(void) {
	char text[64];
	unsigned long long wait = 0;
	gb_auto_fd int fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
	text[n > 0 ? n : 0] = '\0';
	/* Without the file no sleep can be told from waiting for a CPU. */
	return sscanf(text, "%*u %llu", &wait) == 1 ? wait : UINT64_MAX;
}

static struct gb_watch used_so_far(void) {
	struct rusage usage;
	struct timespec cpu;
	/* Waiting for a CPU is read last, and the clock first: a delay between them makes the sleep shorter. */
	uint64_t now = gb_now_ns();
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
	getrusage(RUSAGE_THREAD, &usage);
	uint64_t cpu_ns = (uint64_t)cpu.tv_sec * 1000000000 + (uint64_t)cpu.tv_nsec, wait = cpu_wait_ns();
	return (struct gb_watch){.cpu_ns = cpu_ns,
	    .slept_ns = wait == UINT64_MAX ? 0 : now - cpu_ns - wait,
	    .faults = usage.ru_majflt,
	    .switches = usage.ru_nvcsw};
}

void gb_watch_start(struct gb_watch *watch) {
	*watch = used_so_far();
	watch->cpu_ns -= excluded.cpu_ns;
	watch->slept_ns -= excluded.slept_ns;
	watch->faults -= excluded.faults;
	watch->switches -= excluded.switches;
}

/* What was used since @watch was started, without what is not counted. */
static struct gb_watch used_since(const struct gb_watch *watch) {
	struct gb_watch used = used_so_far();
	used.cpu_ns -= excluded.cpu_ns + watch->cpu_ns;
	used.slept_ns -= excluded.slept_ns + watch->slept_ns;
	used.faults -= excluded.faults + watch->faults;
	used.switches -= excluded.switches + watch->switches;
	/* The three times are not read at the same moment. */
	if (used.slept_ns > INT64_MAX)
		used.slept_ns = 0;
	return used;
}

void gb_watch_subtract(const struct gb_watch *watch) {
	const struct gb_watch used = used_since(watch);
	excluded.cpu_ns += used.cpu_ns;
	excluded.slept_ns += used.slept_ns;
	excluded.faults += used.faults;
	excluded.switches += used.switches;
}

void gb_watch_check(const struct gb_watch *watch, const char *what) {
	const struct gb_watch used = used_since(watch);
	/* A virtual machine that was stopped looks like a sleep without a context switch. */
	bool slept = used.slept_ns > SLEEP_FACTOR * limit_ns && used.switches > 0 && !used.faults;
	if (!slept && used.cpu_ns <= limit_ns)
		return;
	fprintf(stderr,
	    "GB_LOOP_WATCHDOG: %s delayed the event loop: it slept %.1f ms and used %.1f ms of CPU time\n",
	    what, (double)used.slept_ns / 1e6, (double)used.cpu_ns / 1e6);
	abort();
}
