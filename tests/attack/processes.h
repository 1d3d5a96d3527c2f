/* For tests of robustness: processes, descriptors, memory, and an engine whose worker is attack-worker. */
#ifndef GB_TESTS_PROCESSES_H
#define GB_TESTS_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "glovebox/glovebox.h"

enum { MAX_PROCESSES = 512 };

struct processes {
	pid_t pids[MAX_PROCESSES];
	size_t n;
};

/* The living children of @parent. */
void processes_children(pid_t parent, struct processes *ret);
/* All descendants of @parent. */
void processes_descendants(pid_t parent, struct processes *ret);
/* How many of them still live; zombies do not. */
size_t processes_alive(const struct processes *processes);
/* Wait until none does, at most @timeout_ms. How many are left. */
size_t processes_await_end(const struct processes *processes, int timeout_ms);

size_t count_open_fds(void);
/* How much memory is in use; and how much more than that has been, at most, since then. */
size_t memory_mark(void);
size_t memory_peak_above(size_t mark);
/* Control groups that this process has made and not removed. */
size_t count_own_cgroups(void);

/* An engine that runs attack-worker, or NULL, with the reason printed. No cells are kept warm, so that what
 * is there can be counted. */
struct gb_engine *hostile_engine(unsigned shards);
/* Start a run that behaves like @behaviour; NULL if it cannot be. */
struct gb_run *hostile_start(struct gb_engine *engine, const char *behaviour, uint64_t timeout_ms);
/* Does a run that behaves well give 42? */
bool engine_works(struct gb_engine *engine);

#endif
