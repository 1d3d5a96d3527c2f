#include "sandbox/linux/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sandbox/linux/cell_group.h"
#include "sandbox/linux/cgroup_files.h"

/* The names of the files that are used, and their controllers. */
static const struct {
	const char *names[2]; /* version 1, version 2 */
	enum gb_controller controller;
} files[GB_CGROUP_FILES] = {
    [GB_CGROUP_MEMORY_MAX] = {{"memory.limit_in_bytes", "memory.max"}, GB_CONTROLLER_MEMORY},
    /* Version 1 counts memory and swap together. */
    [GB_CGROUP_SWAP_MAX] = {{"memory.memsw.limit_in_bytes", "memory.swap.max"}, GB_CONTROLLER_MEMORY},
    /* Version 2 counts socket buffers as memory of the group. */
    [GB_CGROUP_TCP_MAX] = {{"memory.kmem.tcp.limit_in_bytes", NULL}, GB_CONTROLLER_MEMORY},
    [GB_CGROUP_MEMORY_USAGE] = {{"memory.usage_in_bytes", "memory.current"}, GB_CONTROLLER_MEMORY},
    [GB_CGROUP_MEMORY_STAT] = {{"memory.stat", "memory.stat"}, GB_CONTROLLER_MEMORY},
    [GB_CGROUP_MEMORY_EVENTS] = {{"memory.oom_control", "memory.events"}, GB_CONTROLLER_MEMORY},
    [GB_CGROUP_KILL_ALL] = {{NULL, "memory.oom.group"}, GB_CONTROLLER_MEMORY},
    [GB_CGROUP_PIDS_MAX] = {{"pids.max", "pids.max"}, GB_CONTROLLER_PIDS},
    [GB_CGROUP_CPU_IDLE] = {{"cpu.idle", "cpu.idle"}, GB_CONTROLLER_CPU},
    [GB_CGROUP_CPU_WEIGHT] = {{"cpu.shares", "cpu.weight"}, GB_CONTROLLER_CPU},
};

static const struct {
	const char *name;
	bool optional;
} controllers[GB_CONTROLLERS] = {
    [GB_CONTROLLER_MEMORY] = {"memory", false},
    [GB_CONTROLLER_PIDS] = {"pids", false},
    [GB_CONTROLLER_CPU] = {"cpu", true},
};

const char *gb_cgroup_file_name(const struct gb_cgroup *group, enum gb_cgroup_file file) {
	return files[file].names[group->version - 1];
}

int gb_cgroup_dir_of(const struct gb_cgroup *group, enum gb_cgroup_file file) {
	int dir = group->dir_of[files[file].controller];
	return dir < 0 ? -1 : group->dirs[dir].fd;
}

static bool write_number(const struct gb_cgroup *group, enum gb_cgroup_file file, uint64_t number) {
	return gb_cgroup_write_number(
	    gb_cgroup_dir_of(group, file), gb_cgroup_file_name(group, file), number);
}

static void reset(struct gb_cgroup *group, int version) {
	for (unsigned i = 0; i < group->n_dirs; i++)
		gb_cgroup_remove_dir(&group->dirs[i]);
	group->n_dirs = 0;
	group->version = version;
	for (unsigned i = 0; i < GB_CONTROLLERS; i++)
		group->dir_of[i] = -1;
}

static bool add_dir(struct gb_cgroup *group, const char *parent) {
	if (!gb_cgroup_make_dir(parent, &group->dirs[group->n_dirs]))
		return false;
	group->n_dirs++;
	return true;
}

/* --- limits --- */

static uint64_t three_quarters(uint64_t bytes) {
	return bytes == UINT64_MAX ? bytes : bytes / 4 * 3;
}

/* The memory limit that @parent and the groups above it impose. In version 1 the kernel reports it. */
static uint64_t allowed_by(int version, const char *parent) {
	uint64_t least = UINT64_MAX, limit;
	char path[PATH_MAX];
	snprintf(path, sizeof path, "%s", parent);
	for (char *slash; *path; *slash = '\0') {
		gb_auto_fd int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (version == 1) {
			bool told = dir >= 0 && gb_cgroup_read_number(
						    dir, "memory.stat", "hierarchical_memory_limit", &limit);
			return told ? limit : least;
		}
		if (dir >= 0 && gb_cgroup_read_number(dir, "memory.max", NULL, &limit) && limit < least)
			least = limit;
		if (!(slash = strrchr(path, '/')))
			break;
	}
	return least;
}

/* The limit is lower than that of the host's own group, so that the kernel does not kill the host when cells
 * use too much. */
static bool limit(struct gb_cgroup *group, const char *parent, const struct gb_cgroup_limits *limits) {
	uint64_t most = three_quarters(allowed_by(group->version, parent)), memory = limits->memory_bytes;
	memory = memory < most ? memory : most;
	if (!write_number(group, GB_CGROUP_MEMORY_MAX, memory) ||
	    !write_number(group, GB_CGROUP_PIDS_MAX, limits->processes))
		return false;
	/* Fails if the kernel does not count swap. */
	(void)write_number(group, GB_CGROUP_SWAP_MAX, group->version == 1 ? memory : 0);
	return true;
}

/* --- create --- */

/* Zygotes get a group of their own beside those of cells, since version 2 allows processes only in leaf
 * groups. */
static bool prepare_for_cells_v2(struct gb_cgroup *group) {
	int dir = group->dirs[0].fd;
	if (!gb_cgroup_write(dir, "cgroup.subtree_control", "+memory +pids") ||
	    mkdirat(dir, GB_CGROUP_ZYGOTES, 0755) != 0)
		return false;
	if (!gb_cgroup_write(dir, "cgroup.subtree_control", "+cpu"))
		group->dir_of[GB_CONTROLLER_CPU] = -1;
	return true;
}

/* Verify that a group for a cell can be created. */
static bool try_cell_group(struct gb_cgroup *group) {
	struct gb_cell_group *cell = gb_cell_group_take(group, 1 << 20, 1, NULL);
	if (cell)
		gb_cell_group_give_back(cell);
	return cell;
}

static bool complete(struct gb_cgroup *group, const char *parent, const struct gb_cgroup_limits *limits) {
	if (!limit(group, parent, limits))
		return false;
	if (!limits->cells)
		return true;
	group->has_cells = (group->version == 1 || prepare_for_cells_v2(group)) && try_cell_group(group);
	return group->has_cells;
}

/* Version 2 enables controllers only in children of a group without processes of its own. So if a child of
 * the host's group does not work, a sibling may. */
static bool try_v2(struct gb_cgroup *group, const struct gb_cgroup_limits *limits) {
	char parent[PATH_MAX];
	if (!gb_cgroup_find_own(NULL, parent, sizeof parent))
		return false;
	for (int up = 0; up < 2; up++) {
		reset(group, 2);
		gb_auto_fd int dir = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		(void)gb_cgroup_write(dir, "cgroup.subtree_control", "+memory +pids");
		bool cpu = gb_cgroup_write(dir, "cgroup.subtree_control", "+cpu");
		for (unsigned i = 0; i < GB_CONTROLLERS; i++)
			group->dir_of[i] = i == GB_CONTROLLER_CPU && !cpu ? -1 : 0;
		if (add_dir(group, parent) && complete(group, parent, limits))
			return true;
		char *slash = strrchr(parent, '/');
		if (!slash || slash == parent)
			break;
		*slash = '\0';
	}
	return false;
}

/* Each controller has a hierarchy of its own or shares one; a process is in exactly one folder of each
 * hierarchy. */
static bool add_dir_v1(struct gb_cgroup *group, unsigned controller, char parents[][PATH_MAX]) {
	char parent[PATH_MAX];
	if (!gb_cgroup_find_own(controllers[controller].name, parent, sizeof parent))
		return false;
	for (unsigned i = 0; i < group->n_dirs; i++)
		if (strcmp(parents[i], parent) == 0) {
			group->dir_of[controller] = (int)i;
			return true;
		}
	memcpy(parents[group->n_dirs], parent, sizeof parent);
	if (!add_dir(group, parent))
		return false;
	group->dir_of[controller] = (int)group->n_dirs - 1;
	return true;
}

static bool try_v1(struct gb_cgroup *group, const struct gb_cgroup_limits *limits) {
	char parents[GB_CONTROLLERS][PATH_MAX];
	reset(group, 1);
	for (unsigned i = 0; i < GB_CONTROLLERS; i++) {
		/* The cpu controller is used only for cells with groups of their own. */
		bool wanted = limits->cells || !controllers[i].optional;
		if (wanted && !add_dir_v1(group, i, parents) && !controllers[i].optional)
			return false;
	}
	return complete(group, parents[0], limits);
}

bool gb_cgroup_create(const struct gb_cgroup_limits *limits, struct gb_cgroup **ret, struct gb_err *err) {
	gb_auto_free struct gb_cgroup *group = calloc(1, sizeof *group);
	if (!group)
		return gb_fail(err, GB_ENOMEM, 0, "cgroup");
	gb_list_init(&group->idle);
	group->cell_extra_bytes = limits->cell_extra_bytes;
	if (!try_v2(group, limits) && !try_v1(group, limits)) {
		reset(group, 1);
		return gb_fail(err, GB_EWALL, 0,
		    "cgroup: user %u may not create a group with memory and pids controllers; delegate one "
		    "(systemd: Delegate=yes, or systemd-run --user --scope)",
		    geteuid());
	}
	*ret = gb_take_pointer(&group);
	return true;
}

void gb_cgroup_destroy(struct gb_cgroup *group) {
	if (!group)
		return;
	gb_cell_groups_finish(group);
	reset(group, group->version);
	free(group);
}

int gb_cgroup_version(const struct gb_cgroup *group) {
	return group->version;
}

bool gb_cgroup_has_cells(const struct gb_cgroup *group) {
	return group && group->has_cells;
}

/* --- processes --- */

/* @in_zygotes if zygotes have a group of their own, else @here. */
static const char *own_path(const struct gb_cgroup *group, const char *in_zygotes, const char *here) {
	return group->version == 2 && group->has_cells ? in_zygotes : here;
}

bool gb_cgroup_attach(struct gb_cgroup *group, pid_t pid, struct gb_err *err) {
	const char *name = own_path(group, GB_CGROUP_ZYGOTES "/cgroup.procs", "cgroup.procs");
	for (unsigned i = 0; i < group->n_dirs; i++)
		if (!gb_cgroup_write_number(group->dirs[i].fd, name, (uint64_t)pid))
			return gb_fail(err, GB_EWALL, errno, "cgroup: attach to %s", group->dirs[i].path);
	return true;
}

/* Without a group of the engine, cells are in the host's own group. */
static uint64_t oom_kills_in_host_group(void) {
	char path[PATH_MAX];
	uint64_t n = 0;
	bool v1 = gb_cgroup_find_own("memory", path, sizeof path);
	if (!v1 && !gb_cgroup_find_own(NULL, path, sizeof path))
		return 0;
	gb_auto_fd int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const char *name = files[GB_CGROUP_MEMORY_EVENTS].names[v1 ? 0 : 1];
	return dir >= 0 && gb_cgroup_read_number(dir, name, "oom_kill", &n) ? n : 0;
}

uint64_t gb_cgroup_oom_kills(const struct gb_cgroup *group) {
	uint64_t n = 0;
	if (!group)
		return oom_kills_in_host_group();
	const char *name = own_path(
	    group, GB_CGROUP_ZYGOTES "/memory.events", gb_cgroup_file_name(group, GB_CGROUP_MEMORY_EVENTS));
	return gb_cgroup_read_number(gb_cgroup_dir_of(group, GB_CGROUP_MEMORY_EVENTS), name, "oom_kill", &n)
		   ? n
		   : 0;
}
