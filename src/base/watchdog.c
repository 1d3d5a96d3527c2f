#include "base/watchdog.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

bool gb_watchdog_on;
static uint64_t cpu_max_ns;
static bool counts_sleep;

/* What this thread has been excused, in all. */
static _Thread_local struct gb_watch excused;

void gb_watchdog_init(void) {
	const char *ms = getenv("GB_LOOP_WATCHDOG"), *times = getenv("GB_TIMES");
	unsigned long factor = times ? strtoul(times, NULL, 10) : 1;
	cpu_max_ns = (ms ? strtoul(ms, NULL, 10) : 0) * (factor ? factor : 1) * 1000000;
	counts_sleep = getenv("GB_LOOP_WATCHDOG_SLEEP");
	gb_watchdog_on = cpu_max_ns;
}

static struct gb_watch used_so_far(void) {
	struct rusage usage;
	struct timespec cpu;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
	getrusage(RUSAGE_THREAD, &usage);
	return (struct gb_watch){.cpu_ns = (uint64_t)cpu.tv_sec * 1000000000 + (uint64_t)cpu.tv_nsec,
	    .switches = usage.ru_nvcsw,
	    .faults = usage.ru_majflt};
}

void gb_watch_start(struct gb_watch *watch) {
	*watch = used_so_far();
	watch->cpu_ns -= excused.cpu_ns;
	watch->switches -= excused.switches;
	watch->faults -= excused.faults;
}

/* Without what was excused since @watch was started. */
static struct gb_watch used_since(const struct gb_watch *watch) {
	struct gb_watch used = used_so_far();
	used.cpu_ns -= excused.cpu_ns + watch->cpu_ns;
	used.switches -= excused.switches + watch->switches;
	used.faults -= excused.faults + watch->faults;
	return used;
}

void gb_watch_forgive(const struct gb_watch *watch) {
	const struct gb_watch used = used_since(watch);
	excused.cpu_ns += used.cpu_ns;
	excused.switches += used.switches;
	excused.faults += used.faults;
}

void gb_watch_check(const struct gb_watch *watch, const char *what) {
	const struct gb_watch used = used_since(watch);
	bool slept = counts_sleep && used.switches > 0 && !used.faults;
	if (!slept && used.cpu_ns <= cpu_max_ns)
		return;
	fprintf(stderr,
	    "GB_LOOP_WATCHDOG: %s held up the event loop: it slept %ld times and used %.1f ms of CPU time\n",
	    what, used.switches, (double)used.cpu_ns / 1e6);
	abort();
}
