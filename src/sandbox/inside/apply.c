#include "sandbox/inside/apply.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sandbox/landlock.h"

/* Each step returns NULL when it is done, else its own name, with errno set. */

static const char *become_unprivileged(const struct gb_plan *plan) {
	/* An ordinary user's namespace has setgroups switched off; then the groups stay, and stay powerless:
	 * no file is in reach. */
	if (syscall(SYS_setgroups, 0, NULL) != 0 && errno != EPERM)
		return "drop supplementary groups";
	if (syscall(SYS_setresgid, plan->gid, plan->gid, plan->gid) != 0)
		return "change group";
	if (syscall(SYS_setresuid, plan->uid, plan->uid, plan->uid) != 0)
		return "change user";
	return NULL;
}

static const char *forget_host_name(const struct gb_plan *plan) {
	(void)plan;
	static const char name[] = "glovebox";
	if (sethostname(name, sizeof name - 1) != 0)
		return "set host name";
	return setdomainname("", 0) != 0 ? "set domain name" : NULL;
}

static bool is_furnished(const struct gb_plan *plan) {
	return plan->furniture.n_paths > 0;
}

/* Make @path, relative to the folder we are in, with the folders above it. */
static const char *make_place(const char *path, bool is_file) {
	char copy[GB_PLAN_PATH_BYTES];
	size_t n = strnlen(path, sizeof copy - 1);
	memcpy(copy, path, n);
	copy[n] = '\0';
	for (size_t i = 1; i <= n; i++) {
		if (copy[i] != '/' && copy[i] != '\0')
			continue;
		char kept = copy[i];
		copy[i] = '\0';
		bool last = kept == '\0';
		int failed = last && is_file ? mknod(copy, S_IFREG | 0444, 0) : mkdir(copy, 0555);
		if (failed && errno != EEXIST)
			return "make a place in the root";
		copy[i] = kept;
	}
	return NULL;
}

/* What can be read in the new root is the host's own, seen through a mount that cannot write. */
static const char *bind_path(const struct gb_plan_path *path) {
	const char *to = path->path + 1;
	const char *failed = make_place(to, path->is_file);
	if (failed)
		return failed;
	if (mount(path->path, to, NULL, MS_BIND | MS_REC, NULL) != 0)
		return "bring a system folder into the root";
	struct {
		uint64_t set, clear, propagation, userns_fd;
	} attr = {.set = 1 /* rdonly */ | 2 /* nosuid */ | (path->is_device ? 0 : 4 /* nodev */)};
	enum { AT_RECURSIVE_ = 0x8000 };
	if (syscall(SYS_mount_setattr, AT_FDCWD, to, AT_RECURSIVE_, &attr, sizeof attr) != 0)
		return "make a system folder read-only";
	return NULL;
}

static const char *furnish(const struct gb_plan *plan) {
	for (uint32_t i = 0; i < plan->furniture.n_paths; i++) {
		const char *failed = bind_path(&plan->furniture.paths[i]);
		if (failed)
			return failed;
	}
	if (mkdir("box", 0700) != 0 || mkdir("tmp", 0700) != 0)
		return "make /box and /tmp";
	if (symlink("usr/lib", "lib") != 0 || symlink("usr/lib64", "lib64") != 0)
		return "make /lib";
	return NULL;
}

/* The new root is a tmpfs: empty and without room for a single file, or with just the places where other
 * mounts are; and read-only on top. */
static const char *enter_own_root(const struct gb_plan *plan) {
	const unsigned long flags = MS_NOSUID | MS_NODEV | MS_NOEXEC;
	const char *room =
	    is_furnished(plan) ? "size=256k,nr_inodes=256,mode=0555" : "size=4k,nr_inodes=1,mode=0555";
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
		return "make mounts private";
	/* Any folder can carry the new root; /proc is there, since the host wrote our id maps through it. */
	if (mount("glovebox", "/proc", "tmpfs", flags, room) != 0)
		return "mount the root";
	if (chdir("/proc") != 0)
		return "enter the root";
	const char *failed = is_furnished(plan) ? furnish(plan) : NULL;
	if (failed)
		return failed;
	if (syscall(SYS_pivot_root, ".", ".") != 0)
		return "pivot_root";
	if (umount2(".", MNT_DETACH) != 0)
		return "let go of the old root";
	if (chdir("/") != 0)
		return "enter the root";
	if (mount(NULL, "/", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | flags, NULL) != 0)
		return "make the root read-only";
	return NULL;
}

static const char *limit_resources(const struct gb_plan *plan) {
	for (uint32_t i = 0; i < plan->n_rlimits; i++) {
		struct rlimit old, limit = {plan->rlimits[i].limit, plan->rlimits[i].limit};
		if (getrlimit((__rlimit_resource_t)plan->rlimits[i].resource, &old) != 0)
			return "read a limit";
		/* A limit is lowered, never raised: the host may itself live under a lower one. */
		if (old.rlim_max < limit.rlim_max)
			limit = (struct rlimit){old.rlim_max, old.rlim_max};
		if (setrlimit((__rlimit_resource_t)plan->rlimits[i].resource, &limit) != 0)
			return "set a limit";
	}
	return NULL;
}

static const char *keep_capabilities(uint32_t kept) {
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct caps[2] = {{.effective = kept, .permitted = kept}};
	return syscall(SYS_capset, &head, caps) != 0 ? "drop capabilities" : NULL;
}

static const char *drop_capabilities(const struct gb_plan *plan) {
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0)
		return "clear ambient capabilities";
	for (unsigned cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
		if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) != 0)
			return "empty the bounding set";
	if (prctl(PR_SET_SECUREBITS,
		SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |
		    SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE |
		    SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED,
		0, 0, 0) != 0)
		return "lock securebits";
	return keep_capabilities(is_furnished(plan) ? 1u << CAP_SYS_ADMIN : 0);
}

static const char *admit_path(int ruleset, const char *path, uint64_t access) {
	gb_auto_fd int fd = open(path, O_PATH | O_CLOEXEC);
	const struct gb_landlock_path_beneath rule = {.allowed_access = access, .parent_fd = fd};
	if (fd < 0 || syscall(SYS_landlock_add_rule, ruleset, GB_LANDLOCK_RULE_PATH_BENEATH, &rule, 0) != 0)
		return "admit a path";
	return NULL;
}

/* Only rights that the ruleset handles can be granted. */
static const char *admit_furniture(int ruleset, const struct gb_plan *plan) {
	const uint64_t known = plan->landlock.fs;
	const char *failed = NULL;
	for (uint32_t i = 0; i < plan->furniture.n_paths && !failed; i++) {
		const struct gb_plan_path *path = &plan->furniture.paths[i];
		uint64_t access = path->is_device ? GB_LANDLOCK_FS_DEVICE
				  : path->is_file ? GB_LANDLOCK_FS_READ & GB_LANDLOCK_FS_FILE
						  : GB_LANDLOCK_FS_READ;
		failed = admit_path(ruleset, path->path, access & known);
	}
	if (!failed)
		failed = admit_path(ruleset, "/box", GB_LANDLOCK_FS_OWN & known);
	return failed ? failed : admit_path(ruleset, "/tmp", GB_LANDLOCK_FS_OWN & known);
}

static const char *restrict_by_landlock(const struct gb_plan *plan) {
	struct gb_landlock_ruleset_attr attr = {plan->landlock.fs, plan->landlock.net, plan->landlock.scoped};
	/* Older kernels know a shorter struct and take a longer one only if the rest is zero, as it is then.
	 */
	gb_auto_fd int ruleset = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof attr, 0);
	if (ruleset < 0)
		return "create a ruleset";
	const char *failed = is_furnished(plan) ? admit_furniture(ruleset, plan) : NULL;
	if (failed)
		return failed;
	return syscall(SYS_landlock_restrict_self, ruleset, 0) != 0 ? "restrict self" : NULL;
}

static const char *pin_to_cpu(const struct gb_plan *plan) {
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET((size_t)plan->cpu, &set);
	/* A hint for speed, not a wall: a host that may not use that CPU runs where it may. */
	(void)sched_setaffinity(0, sizeof set, &set);
	return NULL;
}

bool gb_plan_apply(const struct gb_plan *plan, struct gb_wall_failure *ret_failure) {
	static const struct {
		enum gb_layer layer;
		const char *(*raise)(const struct gb_plan *);
	} steps[] = {
	    {GB_LAYER_USER, become_unprivileged},
	    {GB_LAYER_UTS, forget_host_name},
	    {GB_LAYER_MOUNT, enter_own_root},
	    {GB_LAYER_RLIMIT, limit_resources},
	    {GB_LAYER_CAPS, drop_capabilities},
	    {GB_LAYER_LANDLOCK, restrict_by_landlock},
	};
	if (plan->cpu >= 0)
		pin_to_cpu(plan);
	/* Landlock and seccomp demand it of processes without capabilities; it is also a wall of its own. */
	if (plan->layers && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
		*ret_failure = (struct gb_wall_failure){GB_LAYER_CAPS, errno, "set no_new_privs"};
		return false;
	}
	for (size_t i = 0; i < GB_COUNT(steps); i++) {
		/* Who is under Landlock can mount nothing: cells that still have to, raise it themselves. */
		bool now = steps[i].layer != GB_LAYER_LANDLOCK || !is_furnished(plan);
		const char *failed = now && (plan->layers & steps[i].layer) ? steps[i].raise(plan) : NULL;
		if (failed) {
			*ret_failure = (struct gb_wall_failure){steps[i].layer, errno, failed};
			return false;
		}
	}
	/* Nobody of the same user may look into this process through /proc or ptrace. */
	if (plan->layers & GB_LAYER_CAPS)
		(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	return true;
}

bool gb_filter_load(const struct gb_filter *filter) {
	struct sock_fprog program = {.len = filter->n, .filter = (struct sock_filter *)filter->code};
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}

static const char *mount_own(const char *where, uint64_t bytes) {
	char options[64];
	snprintf(options, sizeof options, "size=%llu,nr_inodes=16384,mode=0700", (unsigned long long)bytes);
	return mount("glovebox", where, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, options) != 0
		   ? "mount a cell's own folder"
		   : NULL;
}

static const char *limit_cell(const struct gb_furniture *furniture) {
	const struct rlimit threads = {furniture->max_threads, furniture->max_threads},
			    files = {furniture->max_files, furniture->max_files};
	return setrlimit(RLIMIT_NPROC, &threads) != 0 || setrlimit(RLIMIT_NOFILE, &files) != 0
		   ? "lower a cell's limits"
		   : NULL;
}

const char *gb_plan_apply_cell(const struct gb_plan *plan) {
	const char *failed = NULL;
	if (plan->layers & GB_LAYER_MOUNT) {
		failed = mount_own("/box", plan->furniture.box_bytes);
		if (!failed)
			failed = mount_own("/tmp", plan->furniture.box_bytes);
		if (!failed && chdir("/box") != 0)
			failed = "enter /box";
	}
	if (!failed && (plan->layers & GB_LAYER_RLIMIT))
		failed = limit_cell(&plan->furniture);
	if (!failed && (plan->layers & GB_LAYER_CAPS))
		failed = keep_capabilities(0);
	if (!failed && (plan->layers & GB_LAYER_LANDLOCK))
		failed = restrict_by_landlock(plan);
	return failed;
}
