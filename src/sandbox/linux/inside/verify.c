#include "sandbox/linux/inside/verify.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/magic.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sandbox/linux/inside/room.h"
#include "sandbox/linux/protocol.h"

/* Each verification returns NULL if the layer was observed, else a description of the failure. */

static bool is_denied(long returned, int error) {
	return returned < 0 && errno == error;
}

/* --- the zygote's layers --- */

static const char *verify_user(const struct gb_plan *plan) {
	uid_t uids[3] = {(uid_t)-1, (uid_t)-1, (uid_t)-1};
	gid_t gids[3] = {(gid_t)-1, (gid_t)-1, (gid_t)-1};
	if (getresuid(&uids[0], &uids[1], &uids[2]) != 0 || getresgid(&gids[0], &gids[1], &gids[2]) != 0)
		return "ids could not be read";
	for (size_t i = 0; i < GB_COUNT(uids); i++)
		if (uids[i] != plan->uid || gids[i] != plan->gid)
			return "ids did not change to the plan's";
	/* An id without a mapping also reads as 65534, which can be the plan's id. If calls are answered with
	 * success without effect, these two are as well. */
	return syscall(SYS_setresuid, 0, 0, 0) == 0 || syscall(SYS_setresgid, 0, 0, 0) == 0
		   ? "did not deny becoming root"
		   : NULL;
}

static const char *verify_pid(const struct gb_plan *plan) {
	(void)plan;
	return syscall(SYS_getpid) != 1 ? "the zygote is not the first process" : NULL;
}

/* The zygote's network has no device that is up. */
static const char *verify_net(const struct gb_plan *plan) {
	(void)plan;
	gb_auto_fd int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	const struct sockaddr_in loopback = {
	    .sin_family = AF_INET, .sin_port = htons(9), .sin_addr = {htonl(INADDR_LOOPBACK)}};
	if (fd < 0)
		return NULL; /* without sockets there is no network */
	return is_denied(connect(fd, (const struct sockaddr *)&loopback, sizeof loopback), ENETUNREACH)
		   ? NULL
		   : "did not deny a route to 127.0.0.1";
}

/* From inside, a new namespace cannot be distinguished from an unused one. The host compares it with its
 * own. */
static const char *verified_by_host(const struct gb_plan *plan) {
	(void)plan;
	return NULL;
}

static const char *verify_uts(const struct gb_plan *plan) {
	(void)plan;
	struct utsname name = {.nodename = "?", .domainname = "?"};
	if (uname(&name) != 0 || strcmp(name.nodename, "glovebox") != 0)
		return "the host name did not change";
	return name.domainname[0] ? "the domain name did not change" : NULL;
}

static bool is_tmpfs(const char *path, uint64_t bytes, uint64_t files, unsigned long flags) {
	struct statfs fs = {0};
	return statfs(path, &fs) == 0 && fs.f_type == TMPFS_MAGIC &&
	       (uint64_t)fs.f_blocks * (uint64_t)fs.f_bsize >= bytes &&
	       (uint64_t)fs.f_blocks * (uint64_t)fs.f_bsize < bytes + (uint64_t)fs.f_bsize &&
	       fs.f_files == files && ((unsigned long)fs.f_flags & flags) == flags;
}

static bool is_root(const char *path) {
	struct stat root = {.st_ino = 1}, st = {.st_ino = 2};
	return stat("/", &root) == 0 && stat(path, &st) == 0 && st.st_dev == root.st_dev &&
	       st.st_ino == root.st_ino;
}

static const char *verify_bound_paths(const struct gb_room_contents *contents) {
	for (uint32_t i = 0; i < contents->n_paths; i++) {
		const struct gb_plan_path *path = &contents->paths[i];
		unsigned long flags = ST_RDONLY | ST_NOSUID | (path->is_device ? 0 : ST_NODEV);
		struct statfs fs = {0};
		if (statfs(path->to, &fs) != 0 || ((unsigned long)fs.f_flags & flags) != flags)
			return "a system folder is not read-only";
	}
	const struct gb_plan_workdir *workdir = &contents->workdir;
	const int wanted = R_OK | X_OK | (workdir->is_writable ? W_OK : 0);
	if (*workdir->from && faccessat(AT_FDCWD, "/box", wanted, AT_EACCESS) != 0)
		return workdir->is_writable ? "the sandbox's user cannot write the working directory"
					    : "the sandbox's user cannot read the working directory";
	/* Cells verify Landlock by its refusal to open this file, so the file must open without Landlock. */
	gb_auto_fd int canary = open(GB_ROOM_CANARY, O_RDONLY | O_CLOEXEC);
	return canary < 0 ? "the file that Landlock is observed by does not open" : NULL;
}

static const char *verify_mount(const struct gb_plan *plan) {
	const bool empty = plan->room == GB_ROOM_NONE;
	if (!is_tmpfs("/", empty ? GB_ROOM_NONE_BYTES : GB_ROOM_ROOT_BYTES,
		empty ? GB_ROOM_NONE_FILES : GB_ROOM_ROOT_FILES,
		ST_RDONLY | ST_NOSUID | ST_NODEV | ST_NOEXEC))
		return "the root is not the read-only one that was mounted";
	/* If another mount covers the root, "/.." leads to that mount. */
	if (!is_root("/.."))
		return "the old root is still mounted";
	if (!is_root("."))
		return "the working directory is outside the root";
	if (!is_denied(mkdir("/verify", 0700), EROFS))
		return "did not deny making a folder in the root";
	return empty ? NULL : verify_bound_paths(&plan->contents);
}

/* Both values must be equal and at most @limit. A getrlimit call without effect leaves two different
 * values. */
static bool is_limited(int resource, uint64_t limit) {
	struct rlimit now = {1, 2};
	return getrlimit((__rlimit_resource_t)resource, &now) == 0 && now.rlim_cur == now.rlim_max &&
	       now.rlim_max <= limit;
}

static const char *verify_rlimits(const struct gb_plan *plan) {
	for (uint32_t i = 0; i < plan->n_rlimits; i++)
		if (!is_limited(plan->rlimits[i].resource, plan->rlimits[i].limit))
			return "a limit was not lowered";
	return NULL;
}

static bool has_only_capabilities(uint32_t kept) {
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct caps[2];
	memset(caps, 0xff, sizeof caps);
	return syscall(SYS_capget, &head, caps) == 0 && caps[0].effective == kept &&
	       caps[0].permitted == kept && caps[0].inheritable == 0 && caps[1].effective == 0 &&
	       caps[1].permitted == 0 && caps[1].inheritable == 0;
}

static const char *verify_capabilities(const struct gb_plan *plan) {
	if (!has_only_capabilities(gb_plan_zygote_capabilities(plan)))
		return "capabilities were not dropped";
	if (prctl(PR_CAPBSET_READ, 0, 0, 0, 0) < 0)
		return "the bounding set could not be read";
	for (unsigned cap = 0; cap < 64; cap++)
		if (prctl(PR_CAPBSET_READ, cap, 0, 0, 0) > 0)
			return "the bounding set is not empty";
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		return "no_new_privs is not set";
	if (prctl(PR_GET_SECUREBITS, 0, 0, 0, 0) != (int)gb_plan_securebits())
		return "securebits are not set";
	if (prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) != 0)
		return "the process can still be dumped";
	return is_denied(chroot("/"), EPERM) ? NULL : "did not deny changing the root";
}

static const char *verify_landlock(const struct gb_plan *plan) {
	(void)plan;
	gb_auto_fd int fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return is_denied(fd, EACCES) ? NULL : "did not deny opening /";
}

/* --- seccomp --- */

/* Calls without side effects that no room's filter admits. More than one, since an outer filter may already
 * refuse some. */
static const struct {
	long nr, args[2];
} unlisted_calls[] = {
    {SYS_personality, {0xffffffff, 0}}, /* queries only */
    {SYS_ioprio_get, {1 /* a process */, 0 /* itself */}},
    {SYS_get_mempolicy, {0, 0}},
};
static unsigned worked_before; /* one bit for each call */

static bool call_works(size_t i) {
	const long *args = unlisted_calls[i].args;
	return syscall(unlisted_calls[i].nr, args[0], args[1], 0, 0, 0) >= 0;
}

void gb_verify_before_filter(void) {
	worked_before = 0;
	for (size_t i = 0; i < GB_COUNT(unlisted_calls); i++)
		worked_before |= call_works(i) ? 1u << i : 0;
}

static const char *verify_seccomp(const struct gb_plan *plan) {
	(void)plan;
	if (!worked_before)
		return "no system call is left to observe the filter by";
	for (size_t i = 0; i < GB_COUNT(unlisted_calls); i++)
		if ((worked_before & 1u << i) && !call_works(i))
			return NULL;
	return "the filter did not deny a call that is not on its list";
}

/* --- a cell's layers --- */

/* In a room that is not empty, a cell is the first process of its pid namespace; in an empty room the zygote
 * is. */
static const char *verify_cell_pid(const struct gb_plan *plan) {
	bool first = syscall(SYS_getpid) == 1;
	bool expected = plan->room != GB_ROOM_NONE && (plan->layers & GB_LAYER_MOUNT);
	return first == expected ? NULL : "the cell has the wrong process number";
}

static const char *verify_program_mounts(void) {
	struct statfs fs = {0};
	if (statfs("/dev/pts", &fs) != 0 || fs.f_type != DEVPTS_SUPER_MAGIC)
		return "/dev/pts is not the cell's own";
	if (!is_tmpfs("/dev/shm", GB_SHM_BYTES, GB_ROOM_OWN_FILES, ST_NOSUID | ST_NODEV | ST_NOEXEC))
		return "/dev/shm is not the cell's own";
	if (!gb_room_has_proc())
		return NULL;
	/* In the zygote's /proc this process has another number. */
	char self[8] = "";
	ssize_t n = readlink("/proc/self", self, sizeof self);
	if (n != 1 || self[0] != '1')
		return "/proc is not the cell's own";
	return statfs("/proc", &fs) == 0 && (fs.f_flags & ST_RDONLY) ? NULL : "/proc is not read-only";
}

/* The host's folder, with the flags that it was mounted with; or one of the cell's own. */
static bool has_box(const struct gb_plan *plan, unsigned long flags) {
	const struct gb_plan_workdir *workdir = &plan->contents.workdir;
	struct statfs fs = {0};
	struct stat st = {0};
	if (!GB_PLAN_HAS_WORKDIR(plan))
		return is_tmpfs("/box", plan->contents.box_bytes, GB_ROOM_OWN_FILES, flags);
	flags |= workdir->is_writable ? 0 : ST_RDONLY;
	return stat("/box", &st) == 0 && st.st_dev == workdir->device && st.st_ino == workdir->inode &&
	       statfs("/box", &fs) == 0 && ((unsigned long)fs.f_flags & flags) == flags;
}

static const char *verify_cell_mount(const struct gb_plan *plan) {
	static_assert((int)ST_NOSUID == (int)MS_NOSUID && (int)ST_NODEV == (int)MS_NODEV &&
			  (int)ST_NOEXEC == (int)MS_NOEXEC,
	    "statfs reports mount flags under the same numbers");
	const unsigned long flags = gb_room_own_flags(plan);
	if (!has_box(plan, flags) || !is_tmpfs("/tmp", plan->contents.box_bytes, GB_ROOM_OWN_FILES, flags))
		return "/box or /tmp is not the one that was mounted";
	char folder[8] = "";
	if (syscall(SYS_getcwd, folder, sizeof folder) < 0 || strcmp(folder, "/box") != 0)
		return "the working directory is not /box";
	return plan->room == GB_ROOM_PROGRAMS ? verify_program_mounts() : NULL;
}

/* The mount namespace belongs to the zygote's user namespace: a process that has left that user namespace
 * cannot mount, although it has all capabilities in its own. */
static const char *verify_cell_user(const struct gb_plan *plan) {
	unsigned long flags = MS_REMOUNT | MS_BIND | gb_room_own_flags(plan);
	return is_denied(mount(NULL, "/box", NULL, flags, NULL), EPERM)
		   ? NULL
		   : "the user namespace is still the zygote's";
}

static const char *verify_cell_rlimits(const struct gb_plan *plan) {
	const bool empty = plan->room == GB_ROOM_NONE;
	const struct gb_room_contents *contents = &plan->contents;
	return is_limited(RLIMIT_NPROC, empty ? 0 : contents->max_processes) &&
		       is_limited(RLIMIT_NOFILE, empty ? GB_EMPTY_ROOM_FILES(plan) : contents->max_files) &&
		       (empty || is_limited(RLIMIT_SIGPENDING, contents->max_signals))
		   ? NULL
		   : "a limit was not lowered";
}

/* Not every room's filter admits capget, so try to regain a capability instead. */
static const char *verify_cell_capabilities(const struct gb_plan *plan) {
	(void)plan;
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct caps[2] = {{.permitted = 1u << CAP_SYS_ADMIN}};
	return is_denied(syscall(SYS_capset, &head, caps), EPERM) ? NULL : "capabilities were not dropped";
}

static const char *verify_cell_landlock(const struct gb_plan *plan) {
	(void)plan;
	gb_auto_fd int fd = open(GB_ROOM_CANARY, O_RDONLY | O_CLOEXEC);
	return is_denied(fd, EACCES) ? NULL : "did not deny opening " GB_ROOM_CANARY;
}

/* --- the table --- */

typedef const char *verification(const struct gb_plan *plan);

/* One row for each layer. A plan with a layer whose function is missing is refused. */
static const struct {
	verification *zygote; /* once, after all layers were raised */
	verification *cell;   /* for layers that a cell raises itself */
} rows[] = {
#define LAYER(name) [__builtin_ctz(GB_LAYER_##name)]
    LAYER(USER) = {verify_user, verify_cell_user},
    LAYER(PID) = {verify_pid, verify_cell_pid},
    LAYER(NET) = {verify_net, NULL},
    LAYER(IPC) = {verified_by_host, NULL},
    LAYER(UTS) = {verify_uts, NULL},
    LAYER(MOUNT) = {verify_mount, verify_cell_mount},
    LAYER(RLIMIT) = {verify_rlimits, verify_cell_rlimits},
    LAYER(CAPS) = {verify_capabilities, verify_cell_capabilities},
    LAYER(LANDLOCK) = {verify_landlock, verify_cell_landlock},
    LAYER(SECCOMP) = {verify_seccomp, NULL},
    LAYER(CGROUP) = {verified_by_host, NULL},
#undef LAYER
};
static_assert(GB_COUNT(rows) == GB_LAYER_COUNT, "every layer has a row");

static bool observe(verification *verify, const struct gb_plan *plan, enum gb_layer layer,
    struct gb_wall_failure *ret_failure) {
	const char *seen = verify ? verify(plan) : "this layer has no verification";
	if (seen)
		*ret_failure = (struct gb_wall_failure){layer, 0, seen, true};
	return !seen;
}

bool gb_verify_zygote(const struct gb_plan *plan, struct gb_wall_failure *ret_failure) {
	/* Seccomp is raised last; in a room that is not empty, cells raise Landlock themselves. */
	unsigned later = GB_LAYER_SECCOMP | (plan->room == GB_ROOM_NONE ? 0 : GB_LAYER_LANDLOCK);
	for (size_t i = 0; i < GB_COUNT(rows); i++) {
		enum gb_layer layer = (enum gb_layer)(1u << i);
		if ((plan->layers & ~later & layer) && !observe(rows[i].zygote, plan, layer, ret_failure))
			return false;
	}
	return true;
}

bool gb_verify_filter(struct gb_wall_failure *ret_failure) {
	return observe(rows[__builtin_ctz(GB_LAYER_SECCOMP)].zygote, NULL, GB_LAYER_SECCOMP, ret_failure);
}

bool gb_verify_cell(const struct gb_plan *plan, enum gb_layer layer, struct gb_wall_failure *ret_failure) {
	return observe(rows[__builtin_ctz(layer)].cell, plan, layer, ret_failure);
}

/* --- descriptors and session --- */

bool gb_verify_closed(const int *fds, size_t n, struct gb_wall_failure *ret_failure) {
	struct pollfd polled[GB_VERIFY_FDS_MAX];
	if (n > GB_VERIFY_FDS_MAX)
		n = GB_VERIFY_FDS_MAX;
	for (size_t i = 0; i < n; i++)
		polled[i] = (struct pollfd){.fd = fds[i]};
	bool closed = ppoll(polled, n, &(struct timespec){0}, NULL) == (int)n;
	for (size_t i = 0; i < n; i++)
		closed = closed && (polled[i].revents & POLLNVAL);
	if (!closed)
		*ret_failure = (struct gb_wall_failure){
		    GB_LAYER_ALL, 0, "a descriptor of the zygote is still open", true};
	return closed;
}

static bool is_null(int fd) {
	struct stat st = {0};
	return fstat(fd, &st) == 0 && S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3);
}

struct entry {
	uint64_t inode, offset;
	uint16_t length;
	uint8_t type;
	char name[];
};

/* @name as a number, or -1. */
static int descriptor(const char *name) {
	int fd = 0;
	for (; *name >= '0' && *name <= '9' && fd < 1 << 24; name++)
		fd = fd * 10 + (*name - '0');
	return *name ? -1 : fd;
}

/* Only the descriptors that a zygote starts with may be open, and the one that lists them. */
static const char *verify_descriptors(void) {
	gb_auto_fd int list = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_Alignas(struct entry) char block[4096];
	if (list < 0)
		return "list the open descriptors";
	for (long n; (n = syscall(SYS_getdents64, list, block, sizeof block)) != 0;) {
		if (n < 0)
			return "list the open descriptors";
		for (long at = 0; at < n;) {
			const struct entry *entry = (const struct entry *)(block + at);
			int fd = descriptor(entry->name);
			if (fd > STDERR_FILENO && fd != list && fd != GB_FD_HOST && fd != GB_FD_CONTROL)
				return "a descriptor of the host is still open";
			at += entry->length;
		}
	}
	return NULL;
}

bool gb_verify_inherited(struct gb_wall_failure *ret_failure) {
#ifdef __SANITIZE_ADDRESS__
	const int last_null = STDOUT_FILENO; /* see spawn.c */
#else
	const int last_null = STDERR_FILENO;
#endif
	const char *seen = verify_descriptors();
	for (int fd = 0; fd <= last_null && !seen; fd++)
		seen = is_null(fd) ? NULL : "a standard stream is not /dev/null";
	/* Through /dev/tty a process can access the terminal of its session. */
	if (!seen && getsid(0) != getpid())
		seen = "the session is still the host's";
	if (seen)
		*ret_failure = (struct gb_wall_failure){GB_LAYER_ALL, 0, seen, true};
	return !seen;
}
