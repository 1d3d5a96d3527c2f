/* Shared by cgroup.c and cell_group.c: the names of control group files in versions 1 and 2. */
#ifndef GB_SANDBOX_LINUX_CGROUP_FILES_H
#define GB_SANDBOX_LINUX_CGROUP_FILES_H

#include "base/list.h"
#include "sandbox/linux/cgroup.h"
#include "sandbox/linux/cgroup_tree.h"

enum gb_controller { GB_CONTROLLER_MEMORY, GB_CONTROLLER_PIDS, GB_CONTROLLER_CPU, GB_CONTROLLERS };

/* Version 2 has one folder for all controllers, version 1 one for each. */
struct gb_cgroup {
	int version;
	unsigned n_dirs;
	struct gb_cgroup_dir dirs[GB_CONTROLLERS];
	int dir_of[GB_CONTROLLERS]; /* index into dirs; -1: there is no such controller */
	bool has_cells;
	uint64_t cell_extra_bytes;
	uint64_t n_cells; /* created so far; used to name them */
	struct gb_list idle;
	unsigned n_idle;
};

enum gb_cgroup_file {
	GB_CGROUP_MEMORY_MAX,
	GB_CGROUP_SWAP_MAX,
	GB_CGROUP_TCP_MAX,
	GB_CGROUP_MEMORY_USAGE,
	GB_CGROUP_MEMORY_STAT,
	GB_CGROUP_MEMORY_EVENTS,
	GB_CGROUP_KILL_ALL,
	GB_CGROUP_PIDS_MAX,
	GB_CGROUP_CPU_IDLE,
	GB_CGROUP_CPU_WEIGHT,
	GB_CGROUP_FILES,
};

/* Its name in the version of @group; NULL if that has none. */
const char *gb_cgroup_file_name(const struct gb_cgroup *group, enum gb_cgroup_file file);
/* The folder of the engine's group where its controller's files are; -1: there is none. */
int gb_cgroup_dir_of(const struct gb_cgroup *group, enum gb_cgroup_file file);

/* The group that zygotes are in: version 2 allows processes only in groups without child groups. */
#define GB_CGROUP_ZYGOTES "zygotes"

/* Remove the idle groups that are kept for later cells. */
void gb_cell_groups_finish(struct gb_cgroup *group);

#endif
