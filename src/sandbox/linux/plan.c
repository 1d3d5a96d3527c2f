#include "sandbox/linux/plan.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sandbox/linux/protocol.h"

/* The user and group 'nobody': the id of the sandbox if the host is root. Linux also shows it for ids without
 * a mapping. */
enum { UNPRIVILEGED_ID = 65534 };

/* Limits of a cell. The kernel counts them in the cell's own user namespace, so cells do not share them. */
enum { CELL_THREADS = 1024, CELL_FILES = 256, CELL_SIGNALS = 16 };
enum { CELL_PROCESSES = 256, CELL_PROGRAM_FILES = 1024, CELL_PROGRAM_SIGNALS = 256 };
/* Limits of all cells of a zygote together: the kernel also counts child user namespaces against these. */
enum { ALL_PROCESSES = 65536, ALL_SIGNALS = 65536 };

static const struct gb_rlimit standing_rlimits[] = {
    /* Not 0: where kernel.core_pattern is a pipe the kernel ignores a limit of 0, and gives the memory of a
     * guest that crashes to a program that runs as root on the host. It makes an exception for exactly 1, and
     * writes no file that small. The filter keeps guests from changing it. Two cases remain: an unprivileged
     * user whose own hard limit is 0 cannot raise it to 1, and where core_pattern is a socket (since Linux
     * 6.16) the kernel ignores the limit. Making a process undumpable does not help, since exec makes it
     * dumpable again. */
    {RLIMIT_CORE, 1},
    {RLIMIT_FSIZE, 0},
    {RLIMIT_MEMLOCK, 0},
    {RLIMIT_MSGQUEUE, 0},
    {RLIMIT_NICE, 0},
    {RLIMIT_RTPRIO, 0},
    {RLIMIT_SIGPENDING, CELL_SIGNALS},
    /* Also bounds descriptors in flight to the host; the limit of a cell is far lower. */
    {RLIMIT_NOFILE, 4096},
    {RLIMIT_STACK, 8u << 20},
    {RLIMIT_NPROC, ALL_PROCESSES},
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

/* Everything except the room and its filter. */
static bool init_layers(struct gb_plan *plan, struct gb_err *err) {
	memset(plan, 0, sizeof *plan);
	plan->size = sizeof *plan;
	plan->layers = GB_LAYER_ALL;
	plan->cpu = -1;
	plan->uid = geteuid() == 0 ? UNPRIVILEGED_ID : geteuid();
	plan->host_gid = geteuid() == 0 ? UNPRIVILEGED_ID : getegid();
	/* Users in containers often have the group 0, which must not be that of root in the sandbox. */
	plan->gid = plan->host_gid == 0 ? UNPRIVILEGED_ID : plan->host_gid;
	plan->n_rlimits = GB_COUNT(standing_rlimits);
	memcpy(plan->rlimits, standing_rlimits, sizeof standing_rlimits);
	return gb_landlock_rights(&plan->landlock, NULL, err);
}

bool gb_plan_init(struct gb_plan *plan, struct gb_err *err) {
	const struct gb_seccomp_options filter = {.room = GB_ROOM_NONE, .denied_errno = EPERM};
	return init_layers(plan, err) && gb_seccomp_filter(&plan->filter, &filter, err);
}

bool gb_plan_init_fetching(struct gb_plan *plan, struct gb_err *err) {
	const struct gb_seccomp_options filter = {
	    .room = GB_ROOM_NONE, .denied_errno = EPERM, .network = true};
	if (!init_layers(plan, err) || !gb_seccomp_filter(&plan->filter, &filter, err))
		return false;
	plan->network = true;
	return true;
}

/* Whether @path names a descriptor of this process. *ret_real is set to the path of its file, which another process
 * may have replaced meanwhile. */
static bool is_descriptor(const char *path, char ret_real[PATH_MAX]) {
	static const char folder[] = "/proc/self/fd/";
	ssize_t n = strncmp(path, folder, strlen(folder)) == 0 ? readlink(path, ret_real, PATH_MAX - 1) : -1;
	if (n > 0)
		ret_real[n] = '\0';
	return n > 0;
}

bool gb_plan_add_path(struct gb_plan *plan, const char *from, const char *to, struct gb_err *err) {
	struct gb_room_contents *contents = &plan->contents;
	struct stat st;
	char real[PATH_MAX];
	if (stat(from, &st) != 0)
		return true;
	to = to ? to : from;
	const bool exactly = is_descriptor(from, real);
	from = exactly ? real : from;
	if (contents->n_paths == GB_PLAN_PATHS_MAX || strlen(from) >= GB_PLAN_HOST_PATH_BYTES ||
	    strlen(to) >= GB_PLAN_PATH_BYTES)
		return gb_fail(err, GB_EINVAL, 0, "too much to be read in the sandbox: '%s'", from);
	struct gb_plan_path *slot = &contents->paths[contents->n_paths++];
	memcpy(slot->from, from, strlen(from) + 1);
	memcpy(slot->to, to, strlen(to) + 1);
	slot->is_file = !S_ISDIR(st.st_mode);
	slot->is_device = S_ISCHR(st.st_mode);
	slot->device = exactly ? st.st_dev : 0;
	slot->inode = exactly ? st.st_ino : 0;
	return true;
}

bool gb_plan_set_workdir(struct gb_plan *plan, int fd, bool writable, struct gb_err *err) {
	struct gb_plan_workdir *workdir = &plan->contents.workdir;
	struct stat st;
	char path[32], real[PATH_MAX];
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	if (fstat(fd, &st) != 0 || !is_descriptor(path, real))
		return gb_fail(err, GB_ESYSTEM, errno, "the working directory");
	if (!S_ISDIR(st.st_mode) || strlen(real) >= sizeof workdir->from || real[0] != '/')
		return gb_fail(err, GB_EINVAL, 0, "the working directory cannot be mounted: '%.200s'", real);
	memcpy(workdir->from, real, strlen(real) + 1);
	workdir->device = st.st_dev;
	workdir->inode = st.st_ino;
	workdir->is_writable = writable;
	return true;
}

bool gb_plan_add_program(struct gb_plan *plan, const char *from, const char *to, struct gb_err *err) {
	uint32_t before = plan->contents.n_paths;
	if (!gb_plan_add_path(plan, from, to, err))
		return false;
	if (plan->contents.n_paths > before)
		plan->contents.paths[before].is_program = true;
	return true;
}

bool gb_plan_add_paths(struct gb_plan *plan, const char *const *paths, struct gb_err *err) {
	for (size_t i = 0; paths[i]; i++)
		if (!gb_plan_add_path(plan, paths[i], NULL, err))
			return false;
	return true;
}

static void set_rlimit(struct gb_plan *plan, int resource, uint64_t limit) {
	for (uint32_t i = 0; i < plan->n_rlimits; i++)
		if (plan->rlimits[i].resource == resource)
			plan->rlimits[i].limit = limit;
}

/* The cell's own user namespace, against which its resources are counted. Programs can read /proc, where the
 * name of their control group would reveal how many cells were created before. */
static uint64_t cell_namespaces(enum gb_room room) {
	bool hide_group = room == GB_ROOM_PROGRAMS && access("/proc/self/ns/cgroup", F_OK) == 0;
	return CLONE_NEWUSER | (hide_group ? CLONE_NEWCGROUP : 0);
}

/* The kernel counts descriptors in flight per user and compares the sum with the sending process's own limit
 * on open files. With half of the host's limit, programs in a cell are refused before the host is. */
static uint32_t program_files(void) {
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur / 2 >= CELL_PROGRAM_FILES)
		return CELL_PROGRAM_FILES;
	return (uint32_t)(limit.rlim_cur / 2);
}

/* Limits of a cell in the room. */
static bool fill_room(
    struct gb_room_contents *contents, const struct gb_room_options *options, struct gb_err *err) {
	const bool programs = options->room == GB_ROOM_PROGRAMS;
	contents->box_bytes = options->box_bytes;
	contents->max_processes = programs ? CELL_PROCESSES : CELL_THREADS;
	contents->max_files = programs ? program_files() : CELL_FILES;
	contents->max_signals = programs ? CELL_PROGRAM_SIGNALS : CELL_SIGNALS;
	contents->namespaces = cell_namespaces(options->room);
	return getrandom(&contents->cookie, sizeof contents->cookie, 0) == sizeof contents->cookie ||
	       gb_fail(err, GB_ESYSTEM, errno, "draw a random number");
}

bool gb_plan_init_room(struct gb_plan *plan, const struct gb_room_options *options, struct gb_err *err) {
	const bool programs = options->room == GB_ROOM_PROGRAMS;
	if (!init_layers(plan, err) || !fill_room(&plan->contents, options, err))
		return false;
	plan->room = options->room;
	plan->grouped = programs && options->grouped;
	plan->network = options->network;
	plan->bare = options->bare;
	const bool sockets = options->network && !options->bare;
	/* Exceeding this limit kills a program. With twice the size of the folder, a full folder (ENOSPC) is
	 * reported first. */
	set_rlimit(plan, RLIMIT_FSIZE, options->box_bytes * (programs ? 2 : 1));
	set_rlimit(plan, RLIMIT_SIGPENDING, ALL_SIGNALS);
	if (programs || sockets)
		/* each cell has a network namespace of its own, without other hosts */
		plan->landlock.net = 0;
	const struct gb_seccomp_options filter = {.room = options->room,
	    .cookie = plan->contents.cookie,
	    .denied_errno = EPERM,
	    /* Without a group, pages of shared memory that no process maps are not counted. */
	    .grouped = plan->grouped,
	    .network = sockets,
	    .workdir = options->workdir};
	return gb_seccomp_filter(&plan->filter, &filter, err);
}
