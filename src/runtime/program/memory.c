#include "runtime/program/memory.h"

#include <stdlib.h>

#include "runtime/program/memory_parts.h"

static struct {
	bool has_group;
	uint64_t kills;            /* OOM kills before this run */
	uint64_t keeper_initial;   /* bytes that the keeper used before its first job */
	uint64_t keeper_allowance; /* bytes of the keeper that are not charged to the run */
} memory;

/* The keeper is pid 1 of its namespace and is this process. */
static bool read_keeper(uint64_t *ret) {
	struct gb_task self;
	bool ok = gb_task_read("self", &self) == GB_PROC_READ;
	*ret = ok ? self.pages + self.tables : 0;
	return ok;
}

bool gb_memory_init(void) {
	memory.has_group = gb_group_init();
	return memory.has_group || read_keeper(&memory.keeper_initial);
}

void gb_memory_begin(uint64_t job_bytes) {
	/* The job as read, as a copy, and as queued for the program. */
	enum { COPIES = 4 };
	memory.kills = memory.has_group ? gb_group_kills() : 0;
	memory.keeper_allowance = memory.keeper_initial + COPIES * job_bytes;
	gb_descriptors_reset();
}

static uint64_t add_saturating(uint64_t a, uint64_t b) {
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* Memory that is not in the processes themselves, which use @pages. */
static uint64_t count_other(uint64_t limit, uint64_t pages) {
	uint64_t keeper;
	if (!read_keeper(&keeper))
		return GB_MEMORY_UNKNOWN;
	keeper = keeper > memory.keeper_allowance ? keeper - memory.keeper_allowance : 0;
	uint64_t sum = add_saturating(keeper, gb_descriptors_used(limit)), all = add_saturating(sum, pages);
	return add_saturating(sum, gb_sockets_used(limit > all ? limit - all : 0));
}

struct gb_memory gb_memory_measure(uint64_t limit) {
	if (memory.has_group) {
		uint64_t used = gb_group_used(limit);
		return (struct gb_memory){used, used == GB_MEMORY_UNKNOWN ? 0 : used};
	}
	struct gb_tasks tasks = {0};
	bool ok = gb_tasks_count(limit, false, &tasks);
	uint64_t rest = ok ? count_other(limit, tasks.used) : GB_MEMORY_UNKNOWN;
	if (ok && add_saturating(tasks.used, rest) > limit)
		ok = gb_tasks_count(limit, true, &tasks);
	return (struct gb_memory){ok ? add_saturating(tasks.used, rest) : GB_MEMORY_UNKNOWN, tasks.pages};
}

bool gb_memory_was_killed(void) {
	return memory.has_group && gb_group_kills() > memory.kills;
}

bool gb_memory_has_others(pid_t program) {
	DIR *proc = opendir("/proc");
	bool found = false, others = false;
	if (!proc)
		return true;
	for (const char *pid; (pid = gb_proc_next(proc));)
		if (strtol(pid, NULL, 10) == program)
			found = true;
		else
			others = true;
	closedir(proc);
	/* If @program is not listed, this is not a /proc of our namespace. */
	return others || !found;
}
