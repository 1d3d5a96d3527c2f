#include "sandbox/linux/cell_group.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/watchdog.h"
#include "sandbox/linux/cgroup_files.h"

enum {
	/* Idle groups that are kept for reuse. Creating and removing one costs a quarter of a millisecond. */
	IDLE_MAX = 64,
	/* A group with more memory still charged to it (mostly page cache) is removed instead. */
	IDLE_BYTES = 4 << 20,
	NAME_BYTES = 64,
	WEIGHT_LOW = 2,
};

struct gb_cell_group {
	struct gb_list link; /* in the parent's list of idle ones */
	struct gb_cgroup *parent;
	unsigned long long number;
	uint64_t memory_bytes; /* limit of its run */
	uint32_t processes;    /* limit of its run */
	bool yields;
};

/* "cell.7", or "cell.7/NAME". */
static const char *path_of(const struct gb_cell_group *group, const char *name, char text[NAME_BYTES]) {
	snprintf(text, NAME_BYTES, "cell.%llu%s%s", group->number, name ? "/" : "", name ? name : "");
	return text;
}

static bool write_number(const struct gb_cell_group *group, enum gb_cgroup_file file, uint64_t number) {
	char path[NAME_BYTES];
	const char *name = gb_cgroup_file_name(group->parent, file);
	int dir = gb_cgroup_dir_of(group->parent, file);
	return name && dir >= 0 && gb_cgroup_write_number(dir, path_of(group, name, path), number);
}

static uint64_t read_number(
    const struct gb_cell_group *group, enum gb_cgroup_file file, const char *key, uint64_t otherwise) {
	char path[NAME_BYTES];
	uint64_t number;
	int dir = gb_cgroup_dir_of(group->parent, file);
	path_of(group, gb_cgroup_file_name(group->parent, file), path);
	return gb_cgroup_read_number(dir, path, key, &number) ? number : otherwise;
}

/* --- limits --- */

/* Version 1 requires that the limit on memory plus swap is never below the limit on memory. Kernels that do
 * not count swap, or sockets, have no such file. */
static bool limit_memory(struct gb_cell_group *group, uint64_t memory_bytes) {
	const uint64_t bytes = memory_bytes + group->parent->cell_extra_bytes;
	bool v1 = group->parent->version == 1, raised = memory_bytes > group->memory_bytes;
	if (v1 && raised)
		(void)write_number(group, GB_CGROUP_SWAP_MAX, bytes);
	if (!write_number(group, GB_CGROUP_MEMORY_MAX, bytes))
		return false;
	if (v1 && !raised)
		(void)write_number(group, GB_CGROUP_SWAP_MAX, bytes);
	if (!v1)
		(void)write_number(group, GB_CGROUP_SWAP_MAX, 0);
	/* Version 1 counts TCP buffers separately. */
	(void)write_number(group, GB_CGROUP_TCP_MAX, memory_bytes);
	group->memory_bytes = memory_bytes;
	return true;
}

void gb_cell_group_limit(struct gb_cell_group *group, uint64_t memory_bytes) {
	struct gb_watch watch;
	if (group->memory_bytes == memory_bytes)
		return;
	gb_watch_begin(&watch);
	(void)limit_memory(group, memory_bytes);
	gb_watch_exclude(&watch);
}

bool gb_cell_group_yield_cpu(struct gb_cell_group *group, bool yields) {
	if (gb_cgroup_dir_of(group->parent, GB_CGROUP_CPU_WEIGHT) < 0)
		return false;
	if (group->yields == yields)
		return true;
	group->yields = yields;
	/* Kernels before 5.15 have weights only. */
	const uint64_t usual = group->parent->version == 1 ? 1024 : 100;
	if (!write_number(group, GB_CGROUP_CPU_IDLE, yields))
		(void)write_number(group, GB_CGROUP_CPU_WEIGHT, yields ? WEIGHT_LOW : usual);
	return true;
}

bool gb_cell_group_oom_killed(const struct gb_cell_group *group) {
	return read_number(group, GB_CGROUP_MEMORY_EVENTS, "oom_kill", 0) > 0;
}

/* --- create, reuse, remove --- */

/* The kernel makes and removes groups, and changes their limits, one at a time on the whole machine. That other
 * processes do so at the same time can let the host sleep for a moment. */

static void remove_group(struct gb_cell_group *group) {
	char path[NAME_BYTES];
	struct gb_watch watch;
	gb_watch_begin(&watch);
	for (unsigned i = 0; i < group->parent->n_dirs; i++)
		unlinkat(group->parent->dirs[i].fd, path_of(group, NULL, path), AT_REMOVEDIR);
	gb_watch_exclude(&watch);
	free(group);
}

static struct gb_cell_group *make_group(struct gb_cgroup *parent) {
	struct gb_cell_group *group = calloc(1, sizeof *group);
	if (!group)
		return NULL;
	char path[NAME_BYTES];
	gb_list_init(&group->link);
	group->parent = parent;
	group->number = ++parent->n_cells;
	for (unsigned i = 0; i < parent->n_dirs; i++)
		if (mkdirat(parent->dirs[i].fd, path_of(group, NULL, path), 0755) != 0) {
			remove_group(group);
			return NULL;
		}
	/* A run is the whole cell: if the kernel kills one process for lack of memory, it must kill all. */
	(void)write_number(group, GB_CGROUP_KILL_ALL, 1);
	return group;
}

static struct gb_cell_group *take_group(
    struct gb_cgroup *parent, uint64_t memory_bytes, uint32_t processes, struct gb_err *err) {
	struct gb_cell_group *group = gb_list_first(struct gb_cell_group, &parent->idle, link);
	if (group) {
		gb_list_remove(&group->link);
		parent->n_idle--;
	} else if (!(group = make_group(parent))) {
		gb_fail(err, GB_EWALL, errno, "cgroup: make a group for a cell in %s", parent->dirs[0].path);
		return NULL;
	}
	if ((group->memory_bytes != memory_bytes && !limit_memory(group, memory_bytes)) ||
	    (group->processes != processes && !write_number(group, GB_CGROUP_PIDS_MAX, processes))) {
		gb_fail(err, GB_EWALL, errno, "cgroup: limit a cell in %s", parent->dirs[0].path);
		remove_group(group);
		return NULL;
	}
	group->processes = processes;
	(void)gb_cell_group_yield_cpu(group, false);
	return group;
}

struct gb_cell_group *gb_cell_group_take(
    struct gb_cgroup *parent, uint64_t memory_bytes, uint32_t processes, struct gb_err *err) {
	struct gb_watch watch;
	gb_watch_begin(&watch);
	struct gb_cell_group *group = take_group(parent, memory_bytes, processes, err);
	gb_watch_exclude(&watch);
	return group;
}

void gb_cell_group_give_back(struct gb_cell_group *group) {
	if (!group)
		return;
	struct gb_cgroup *parent = group->parent;
	if (parent->n_idle == IDLE_MAX || gb_cell_group_oom_killed(group) ||
	    read_number(group, GB_CGROUP_MEMORY_USAGE, NULL, UINT64_MAX) > IDLE_BYTES) {
		remove_group(group);
		return;
	}
	gb_list_prepend(&parent->idle, &group->link);
	parent->n_idle++;
}

void gb_cell_groups_finish(struct gb_cgroup *group) {
	for (struct gb_cell_group *cell; (cell = gb_list_first(struct gb_cell_group, &group->idle, link));) {
		gb_list_remove(&cell->link);
		remove_group(cell);
	}
}

/* --- descriptors for the cell --- */

static bool open_file(const struct gb_cell_group *group, int dir, const char *name, int flags, int *ret) {
	char path[NAME_BYTES];
	*ret = openat(dir, path_of(group, name, path), flags | O_CLOEXEC);
	return *ret >= 0;
}

size_t gb_cell_group_open(const struct gb_cell_group *group, int fds[GB_GROUP_FDS_MAX], struct gb_err *err) {
	static const enum gb_cgroup_file kept[GB_GROUP_KEPT] = {
	    GB_CGROUP_MEMORY_USAGE, GB_CGROUP_MEMORY_STAT, GB_CGROUP_MEMORY_EVENTS};
	const struct gb_cgroup *parent = group->parent;
	size_t n = 0;
	bool ok = true;
	for (unsigned i = 0; i < parent->n_dirs && ok; i++, n += ok)
		ok = open_file(group, parent->dirs[i].fd, "cgroup.procs", O_RDWR, &fds[n]);
	for (unsigned i = 0; i < GB_GROUP_KEPT && ok; i++, n += ok)
		ok = open_file(group, gb_cgroup_dir_of(parent, kept[i]), gb_cgroup_file_name(parent, kept[i]),
		    O_RDONLY, &fds[n]);
	if (ok)
		return n;
	gb_fail(err, GB_EWALL, errno, "cgroup: open the group of a cell in %s", parent->dirs[0].path);
	while (n)
		close(fds[--n]);
	return 0;
}
