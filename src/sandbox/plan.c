#include "sandbox/plan.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sandbox/protocol.h"

/* What root becomes inside; also what Linux shows for ids that have no mapping. */
enum { NOBODY = 65534 };

/* What the cells of a zygote can have together, below what it needs to go on making some: a thousand of them
 * idle leave two threads for each. How many one cell can have is up to the address space that it was given.
 */
enum { CELL_THREADS = 3072, CELL_FILES = 256 };

static const struct gb_rlimit standing_rlimits[] = {
    {RLIMIT_CORE, 0},
    {RLIMIT_FSIZE, 0},
    {RLIMIT_MEMLOCK, 0},
    {RLIMIT_MSGQUEUE, 0},
    {RLIMIT_NICE, 0},
    {RLIMIT_RTPRIO, 0},
    {RLIMIT_SIGPENDING, 16},
    /* Also bounds the descriptors that are on their way to the host; a cell gets far fewer. */
    {RLIMIT_NOFILE, 4096},
    {RLIMIT_STACK, 8u << 20},
    /* Of this user in this user namespace: how many cells one zygote can have. */
    {RLIMIT_NPROC, 4096},
};
static_assert(
    (int)CELL_FILES <= (int)GB_FD_CONTROL, "no cell has a descriptor of the control socket's number");
static_assert(GB_COUNT(standing_rlimits) <= GB_PLAN_RLIMITS_MAX, "room in the plan");

const char *gb_layer_name(enum gb_layer layer) {
	static const char *const names[GB_LAYER_COUNT] = {
	    "user namespace",
	    "pid namespace",
	    "network namespace",
	    "ipc namespace",
	    "uts namespace",
	    "mount namespace",
	    "resource limits",
	    "capabilities",
	    "landlock",
	    "seccomp",
	    "cgroup",
	};
	return layer && layer < GB_LAYER_ALL ? names[__builtin_ctz(layer)] : "wall";
}

bool gb_plan_init(struct gb_plan *plan, struct gb_err *err) {
	memset(plan, 0, sizeof *plan);
	plan->size = sizeof *plan;
	plan->layers = GB_LAYER_ALL;
	plan->cpu = -1;
	plan->uid = geteuid() == 0 ? NOBODY : geteuid();
	plan->gid = geteuid() == 0 ? NOBODY : getegid();
	plan->n_rlimits = GB_COUNT(standing_rlimits);
	memcpy(plan->rlimits, standing_rlimits, sizeof standing_rlimits);
	return gb_landlock_rights(&plan->landlock, NULL, err) &&
	       gb_seccomp_filter(&plan->filter, false, EPERM, err);
}

static bool add_path(struct gb_furniture *furniture, const char *path, struct gb_err *err) {
	struct stat st;
	if (stat(path, &st) != 0)
		return true;
	if (furniture->n_paths == GB_PLAN_PATHS_MAX || strlen(path) >= GB_PLAN_PATH_BYTES)
		return gb_fail(err, GB_EINVAL, 0, "too much to be read in the sandbox: '%s'", path);
	struct gb_plan_path *slot = &furniture->paths[furniture->n_paths++];
	memcpy(slot->path, path, strlen(path) + 1);
	slot->is_file = !S_ISDIR(st.st_mode);
	slot->is_device = S_ISCHR(st.st_mode);
	return true;
}

bool gb_plan_init_furnished(
    struct gb_plan *plan, const char *const *paths, uint64_t box_bytes, struct gb_err *err) {
	if (!gb_plan_init(plan, err) || !gb_seccomp_filter(&plan->filter, true, EPERM, err))
		return false;
	struct gb_furniture *furniture = &plan->furniture;
	for (size_t i = 0; paths[i]; i++)
		if (!add_path(furniture, paths[i], err))
			return false;
	furniture->box_bytes = box_bytes;
	furniture->max_threads = CELL_THREADS;
	furniture->max_files = CELL_FILES;
	for (uint32_t i = 0; i < plan->n_rlimits; i++)
		if (plan->rlimits[i].resource == RLIMIT_FSIZE)
			plan->rlimits[i].limit = box_bytes;
	return furniture->n_paths > 0 || gb_fail(err, GB_ENOENT, 0, "none of the system files is there");
}
