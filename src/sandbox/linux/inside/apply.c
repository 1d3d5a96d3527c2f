#include "sandbox/linux/inside/apply.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sandbox/linux/inside/room.h"
#include "sandbox/linux/inside/verify.h"
#include "sandbox/linux/landlock.h"

/* Each step returns NULL on success, else its own name, with errno set. */

static const char *become_unprivileged(const struct gb_plan *plan) {
	/* In the namespace of an unprivileged user, setgroups is disabled. The groups then remain but have no
	 * effect, since no file of the host is reachable. */
	bool dropped = syscall(SYS_setgroups, 0, NULL) == 0;
	if (!dropped && errno != EPERM)
		return "drop supplementary groups";
	/* Verified here, since later the two cases cannot be distinguished. */
	if (dropped && getgroups(0, NULL) != 0) {
		errno = 0;
		return "setgroups did not drop supplementary groups";
	}
	if (syscall(SYS_setresgid, plan->gid, plan->gid, plan->gid) != 0)
		return "change group";
	if (syscall(SYS_setresuid, plan->uid, plan->uid, plan->uid) != 0)
		return "change user";
	return NULL;
}

static const char *replace_host_name(const struct gb_plan *plan) {
	(void)plan;
	static const char name[] = "glovebox";
	if (sethostname(name, sizeof name - 1) != 0)
		return "set host name";
	return setdomainname("", 0) != 0 ? "set domain name" : NULL;
}

/* A limit is lowered, never raised: the host's own limit may be lower. */
static bool lower_limit(int resource, uint64_t limit) {
	struct rlimit old;
	if (getrlimit((__rlimit_resource_t)resource, &old) != 0)
		return false;
	rlim_t lower = old.rlim_max < limit ? old.rlim_max : limit;
	return setrlimit((__rlimit_resource_t)resource, &(struct rlimit){lower, lower}) == 0;
}

static const char *limit_resources(const struct gb_plan *plan) {
	for (uint32_t i = 0; i < plan->n_rlimits; i++)
		if (!lower_limit(plan->rlimits[i].resource, plan->rlimits[i].limit))
			return "set a limit";
	return NULL;
}

static const char *keep_capabilities(uint32_t kept) {
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct caps[2] = {{.effective = kept, .permitted = kept}};
	return syscall(SYS_capset, &head, caps) != 0 ? "drop capabilities" : NULL;
}

uint32_t gb_plan_zygote_capabilities(const struct gb_plan *plan) {
	/* For starting cells: to create their mounts, and to bring up their network. */
	const uint32_t mounts = 1u << CAP_SYS_ADMIN, net = 1u << CAP_NET_ADMIN;
	const bool has_network = plan->room == GB_ROOM_PROGRAMS || GB_PLAN_PASSES_SOCKETS(plan);
	return plan->room == GB_ROOM_NONE ? 0 : has_network ? mounts | net : mounts;
}

unsigned long gb_plan_securebits(void) {
	return SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP | SECBIT_NO_SETUID_FIXUP_LOCKED |
	       SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;
}

static const char *drop_capabilities(const struct gb_plan *plan) {
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0)
		return "clear ambient capabilities";
	for (unsigned cap = 0; cap < 64 && prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
		if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) != 0)
			return "empty the bounding set";
	if (prctl(PR_SET_SECUREBITS, gb_plan_securebits(), 0, 0, 0) != 0)
		return "lock securebits";
	return keep_capabilities(gb_plan_zygote_capabilities(plan));
}

static const char *admit_path(int ruleset, const char *path, uint64_t access) {
	gb_auto_fd int fd = open(path, O_PATH | O_CLOEXEC);
	const struct gb_landlock_path_beneath rule = {.allowed_access = access, .parent_fd = fd};
	if (fd < 0 || syscall(SYS_landlock_add_rule, ruleset, GB_LANDLOCK_RULE_PATH_BENEATH, &rule, 0) != 0)
		return "admit a path";
	return NULL;
}

/* Landlock rights of a cell to a path of the plan. */
static uint64_t access_to(const struct gb_plan_path *path, bool programs) {
	if (path->is_device)
		return GB_LANDLOCK_FS_DEVICE | (programs ? GB_LANDLOCK_FS_IOCTL_DEV : 0);
	uint64_t access = GB_LANDLOCK_FS_READ | (path->is_program ? GB_LANDLOCK_FS_EXECUTE : 0);
	return path->is_file ? access & (GB_LANDLOCK_FS_FILE | GB_LANDLOCK_FS_EXECUTE) : access;
}

/* Rights to /box. In a folder of the host, code must not make pipes and sockets, which programs of the host could open
 * as if they were files. */
static uint64_t access_to_box(const struct gb_plan *plan, uint64_t own) {
	if (!GB_PLAN_HAS_WORKDIR(plan))
		return own;
	if (plan->contents.workdir.is_writable)
		return own & ~(GB_LANDLOCK_FS_SOCKET | GB_LANDLOCK_FS_FIFO);
	return GB_LANDLOCK_FS_READ | (own & GB_LANDLOCK_FS_EXECUTE);
}

/* Only rights that the ruleset handles can be granted. */
static const char *admit_contents(int ruleset, const struct gb_plan *plan) {
	const bool programs = plan->room == GB_ROOM_PROGRAMS;
	const uint64_t known = plan->landlock.fs,
		       own = GB_LANDLOCK_FS_OWN |
			     (programs ? GB_LANDLOCK_FS_EXECUTE | GB_LANDLOCK_FS_SOCKET : 0);
	const struct {
		const char *path;
		uint64_t access;
		bool everywhere;
	} own_paths[] = {
	    {"/box", access_to_box(plan, own), true},
	    {"/tmp", own, true},
	    {"/dev/shm", own, false},
	    {"/dev/pts", GB_LANDLOCK_FS_TERMINAL, false},
	    {"/proc", GB_LANDLOCK_FS_READ, false},
	    {"/", GB_LANDLOCK_FS_READ_DIR, false},
	    {"/etc", GB_LANDLOCK_FS_READ, false},
	};
	const char *failed = NULL;
	for (uint32_t i = 0; i < plan->contents.n_paths && !failed; i++) {
		const struct gb_plan_path *path = &plan->contents.paths[i];
		failed = admit_path(ruleset, path->to, access_to(path, programs) & known);
	}
	for (size_t i = 0; i < GB_COUNT(own_paths) && !failed; i++)
		if (own_paths[i].everywhere || programs ||
		    (GB_PLAN_PASSES_SOCKETS(plan) && strcmp(own_paths[i].path, "/etc") == 0))
			failed = admit_path(ruleset, own_paths[i].path, own_paths[i].access & known);
	return failed;
}

static const char *restrict_by_landlock(const struct gb_plan *plan) {
	struct gb_landlock_ruleset_attr attr = {plan->landlock.fs, plan->landlock.net, plan->landlock.scoped};
	/* Older kernels have a shorter struct and accept a longer one only if the rest is zero, as it is
	 * then. */
	/* The kernel ignores the cookie. The filter admits the call only with the cookie, that is, at the
	 * start of a cell. */
	gb_auto_fd int ruleset =
	    (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof attr, 0, plan->contents.cookie);
	if (ruleset < 0)
		return "create a ruleset";
	const char *failed = plan->room != GB_ROOM_NONE ? admit_contents(ruleset, plan) : NULL;
	if (failed)
		return failed;
	return syscall(SYS_landlock_restrict_self, ruleset, 0) != 0 ? "restrict self" : NULL;
}

static const char *pin_to_cpu(const struct gb_plan *plan) {
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET((size_t)plan->cpu, &set);
	/* An optimization, not a layer: ignore the error if the host may not use that CPU. */
	(void)sched_setaffinity(0, sizeof set, &set);
	return NULL;
}

bool gb_plan_apply(const struct gb_plan *plan, struct gb_wall_failure *ret_failure) {
	static const struct {
		enum gb_layer layer;
		const char *(*raise)(const struct gb_plan *);
	} steps[] = {
	    {GB_LAYER_USER, become_unprivileged},
	    {GB_LAYER_UTS, replace_host_name},
	    {GB_LAYER_MOUNT, gb_room_enter},
	    {GB_LAYER_RLIMIT, limit_resources},
	    {GB_LAYER_CAPS, drop_capabilities},
	    {GB_LAYER_LANDLOCK, restrict_by_landlock},
	};
	if (plan->cpu >= 0)
		pin_to_cpu(plan);
	/* Landlock and seccomp require it of processes without capabilities; it also is a protection of its
	 * own. */
	if (plan->layers && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
		*ret_failure = (struct gb_wall_failure){GB_LAYER_CAPS, errno, "set no_new_privs", false};
		return false;
	}
	if ((plan->layers & GB_LAYER_MOUNT) && plan->room != GB_ROOM_NONE)
		gb_room_open(plan);
	for (size_t i = 0; i < GB_COUNT(steps); i++) {
		/* Landlock forbids mounting, so in a room that is not empty the cells raise it themselves,
		 * after mounting. */
		bool now = steps[i].layer != GB_LAYER_LANDLOCK || plan->room == GB_ROOM_NONE;
		const char *failed = now && (plan->layers & steps[i].layer) ? steps[i].raise(plan) : NULL;
		if (failed) {
			*ret_failure = (struct gb_wall_failure){steps[i].layer, errno, failed, false};
			return false;
		}
	}
	/* Processes of the same user must not inspect this one through /proc or ptrace. */
	if ((plan->layers & GB_LAYER_CAPS) && prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) {
		*ret_failure = (struct gb_wall_failure){GB_LAYER_CAPS, errno, "set not dumpable", false};
		return false;
	}
	return true;
}

void gb_seccomp_place(struct gb_seccomp *filter, const void *address) {
	const uint32_t first = (uint32_t)((uintptr_t)address >> 32) - GB_SECCOMP_REGIONS / 2;
	for (unsigned i = 0; i < filter->n; i++) {
		struct sock_filter *in = &filter->code[i];
		if (in->code == (BPF_JMP | BPF_JEQ | BPF_K) &&
		    in->k - (uint32_t)GB_SECCOMP_REGION < GB_SECCOMP_REGIONS)
			in->k = first + (in->k - (uint32_t)GB_SECCOMP_REGION);
	}
}

bool gb_seccomp_load(const struct gb_seccomp *filter) {
	struct sock_fprog program = {.len = filter->n, .filter = (struct sock_filter *)filter->code};
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}

static const char *limit_cell(const struct gb_plan *plan) {
	const struct gb_room_contents *contents = &plan->contents;
	bool ok;
	if (plan->room == GB_ROOM_NONE) {
		const struct rlimit none = {0, 0},
				    files = {GB_EMPTY_ROOM_FILES(plan), GB_EMPTY_ROOM_FILES(plan)};
		ok = setrlimit(RLIMIT_NPROC, &none) == 0 && setrlimit(RLIMIT_NOFILE, &files) == 0;
	} else {
		ok = lower_limit(RLIMIT_NPROC, contents->max_processes) &&
		     lower_limit(RLIMIT_NOFILE, contents->max_files) &&
		     lower_limit(RLIMIT_SIGPENDING, contents->max_signals);
	}
	return ok ? NULL : "lower a cell's limits";
}

/* Enter a user namespace of the cell's own, without id mappings: the kernel counts per-user resources there,
 * so that no cell can use up those of others. The filter admits the call only with the cookie. */
static const char *enter_own_user_namespace(const struct gb_plan *plan) {
	return syscall(SYS_unshare, plan->contents.namespaces, plan->contents.cookie) != 0
		   ? "take a user namespace"
		   : NULL;
}

static const char *drop_last_capabilities(const struct gb_plan *plan) {
	(void)plan;
	return keep_capabilities(0);
}

bool gb_plan_apply_cell(const struct gb_plan *plan, struct gb_wall_failure *ret_failure) {
	static const struct {
		enum gb_layer layer;
		bool empty_room;
		const char *(*raise)(const struct gb_plan *); /* NULL: clone raised it */
	} steps[] = {
	    {GB_LAYER_PID, true, NULL},
	    {GB_LAYER_MOUNT, false, gb_room_prepare_cell},
	    {GB_LAYER_USER, false, enter_own_user_namespace},
	    {GB_LAYER_RLIMIT, true, limit_cell},
	    {GB_LAYER_CAPS, false, drop_last_capabilities},
	    {GB_LAYER_LANDLOCK, false, restrict_by_landlock},
	};
	for (size_t i = 0; i < GB_COUNT(steps); i++) {
		bool wanted = plan->room != GB_ROOM_NONE || steps[i].empty_room;
		if (!wanted || !(plan->layers & steps[i].layer))
			continue;
		const char *failed = steps[i].raise ? steps[i].raise(plan) : NULL;
		if (failed) {
			*ret_failure = (struct gb_wall_failure){steps[i].layer, errno, failed, false};
			return false;
		}
		if (!gb_verify_cell(plan, steps[i].layer, ret_failure))
			return false;
	}
	return true;
}
