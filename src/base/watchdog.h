/*
 * A check for tests: no callback of an event loop may block, or compute for long. With GB_LOOP_WATCHDOG=50 in
 * the environment, gb_loop_dispatch aborts the process and names the callback if the callback used more than
 * 50 ms of CPU time, or if its thread slept for more than 200 ms (both times GB_TIMES, on slow machines). A thread
 * sleeps when it waits for something other than a CPU: the kernel reports the time that it waited for a CPU
 * (/proc/thread-self/schedstat), which does not count. A sleep is not reported if a page had to be read from the
 * disk meanwhile. In an emulated machine (GB_EMULATED, set by scripts/vm) there is no limit: its times mean nothing.
 *
 *	struct gb_watch watch;
 *	gb_watch_begin(&watch);
 *	source->on_ready(source, events);
 *	gb_watch_end(&watch, "on_ready");
 *
 * Shorter sleeps are allowed because the kernel itself makes threads wait for its locks, for tens of milliseconds on a
 * busy machine; a wait for a process, a database or a client has no such limit. Without the variable each
 * of these functions only reads one flag.
 */
#ifndef GB_BASE_WATCHDOG_H
#define GB_BASE_WATCHDOG_H

#include <stdbool.h>
#include <stdint.h>

struct gb_watch {
	uint64_t cpu_ns, slept_ns;
	long faults, switches; /* page faults that read the disk; voluntary context switches */
};

extern bool gb_watchdog_on;

/* Read the environment. */
void gb_watchdog_init(void);

void gb_watch_start(struct gb_watch *watch);
void gb_watch_check(const struct gb_watch *watch, const char *what);
void gb_watch_subtract(const struct gb_watch *watch);

static inline void gb_watch_begin(struct gb_watch *watch) {
	if (__builtin_expect(gb_watchdog_on, false))
		gb_watch_start(watch);
}

static inline void gb_watch_end(const struct gb_watch *watch, const char *what) {
	if (__builtin_expect(gb_watchdog_on, false))
		gb_watch_check(watch, what);
}

/* Instead of gb_watch_end, inside a callback: do not count what happened since gb_watch_begin, which is known to
 * block. Each use is a place where the loop can still be delayed, and has a comment that says why. */
static inline void gb_watch_exclude(const struct gb_watch *watch) {
	if (__builtin_expect(gb_watchdog_on, false))
		gb_watch_subtract(watch);
}

#endif
